import { describe, expect, test } from 'vitest'

import { protectedResourceMetadata } from '../../src/index.ts'

test('the document has the members of RFC 9728, and no other', () => {
  const { body } = protectedResourceMetadata({
    resource: 'https://api.test',
    authorizationServers: ['https://auth.test'],
    scopes: ['locations:read', 'locations:write'],
    name: 'Locations',
    documentation: 'https://api.test/docs',
  })
  expect(JSON.parse(body)).toEqual({
    resource: 'https://api.test',
    authorization_servers: ['https://auth.test'],
    scopes_supported: ['locations:read', 'locations:write'],
    bearer_methods_supported: ['header'],
    resource_name: 'Locations',
    resource_documentation: 'https://api.test/docs',
  })
})

test('further members are those of RFC 9728, which say what they may be', () => {
  const members = {
    dpop_bound_access_tokens_required: true,
    dpop_signing_alg_values_supported: ['ES256'],
    tls_client_certificate_bound_access_tokens: true,
    authorization_details_types_supported: ['payment'],
    resource_signing_alg_values_supported: ['PS256'],
    jwks_uri: 'https://api.test/jwks',
    resource_policy_uri: 'https://api.test/policy',
    'resource_tos_uri#de': 'https://api.test/agb',
    'resource_name#fr-CH': 'Emplacements',
    'resource_documentation#ja': 'https://api.test/ja',
  }
  const { body } = protectedResourceMetadata({ resource: 'https://api.test', members })
  expect(JSON.parse(body)).toEqual({
    ...members,
    resource: 'https://api.test',
    bearer_methods_supported: ['header'],
  })
})

test('what a function of the user signs is in the document, which it gets without it', () => {
  const signed: unknown[] = []
  const { body } = protectedResourceMetadata({
    resource: 'https://api.test',
    name: 'Locations',
    sign: (document) => {
      signed.push(document)
      return 'a.b.c'
    },
  })
  const said = {
    resource: 'https://api.test',
    bearer_methods_supported: ['header'],
    resource_name: 'Locations',
  }
  expect(signed).toMatchObject([said])
  expect(JSON.parse(body)).toEqual({ ...said, signed_metadata: 'a.b.c' })
})

test.each<[title: string, options: object, complaint: string]>([
  ['a list', { members: ['a'] }, 'members must be an object'],
  ['a misspelt one', { members: { dpop_required: true } }, '"dpop_required" is none of RFC 9728'],
  ['one with an option', { members: { resource: 'https://b.test' } }, '"resource" is none'],
  [
    'a text for a truth',
    { members: { dpop_bound_access_tokens_required: 'true' } },
    'true or false',
  ],
  ['a text for a list', { members: { dpop_signing_alg_values_supported: 'ES256' } }, 'a list'],
  ['a list for a text', { members: { jwks_uri: ['https://a.test'] } }, 'must be a string'],
  ['a signature that is a promise', { sign: async () => 'a.b.c' }, 'what sign returns must be'],
])('%s among the members is a mistake', (_title, options, complaint) => {
  expect(() => protectedResourceMetadata({ resource: 'https://api.test', ...options })).toThrow(
    complaint,
  )
})

test('what is not stated is left out', () => {
  const { body } = protectedResourceMetadata({ resource: 'https://api.test' })
  expect(JSON.parse(body)).toEqual({
    resource: 'https://api.test',
    bearer_methods_supported: ['header'],
  })
})

test.each([
  ['https://api.test', '', ''],
  ['https://api.test/', '', ''],
  ['https://api.test/mcp', '/mcp', ''],
  ['https://api.test/mcp/', '/mcp/', ''],
  ['https://api.test/mcp?tenant=1', '/mcp', '?tenant=1'],
  ['https://api.test:8443/a/b', '/a/b', ''],
])('of %s the metadata are at the well-known path, followed by %j', (resource, path, query) => {
  const wellKnown = `/.well-known/oauth-protected-resource${path}`
  expect(protectedResourceMetadata({ resource })).toMatchObject({
    path: wellKnown,
    url: `${new URL(resource).origin}${wellKnown}${query}`,
  })
})

test('its scopes are a copy of those that were stated', () => {
  const scopes = ['read']
  const metadata = protectedResourceMetadata({ resource: 'https://api.test', scopes })
  scopes.push('write')
  expect(metadata.scopes).toEqual(['read'])
  expect(protectedResourceMetadata({ resource: 'https://api.test' }).scopes).toBeUndefined()
})

describe('refused at start-up', () => {
  test.each<[string, object, RegExp]>([
    ['no resource', { scopes: ['a'] }, /resource must be stated/],
    ['a resource that is no URL', { resource: 'api' }, /resource is not an absolute URL/],
    [
      'one of an unset variable',
      { resource: 'undefined/v1' },
      /is an environment variable unset\?$/,
    ],
    ['one that is no text', { resource: 1 }, /resource must be an https URL/],
    ['one without TLS', { resource: 'http://api.test' }, /resource must be an https URL/],
    ['one with a fragment', { resource: 'https://api.test/#a' }, /without a fragment/],
    ['one with an empty fragment', { resource: 'https://api.test/#' }, /without a fragment/],
    ['one with a user name', { resource: 'https://ada@api.test/' }, /without a user name/],
    ['one with a password', { resource: 'https://:secret@api.test/' }, /or a password/],
    ['another scheme', { resource: 'ws://localhost' }, /resource must be an https URL/],
    [
      'two scopes as one beside a good one',
      { resource: 'https://a.test', scopes: ['a', 'b c'] },
      /scopes must be a list of scopes/,
    ],
    ['a scope that is no list', { resource: 'https://a.test', scopes: 'a' }, /scopes must be/],
    [
      'two scopes in one text',
      { resource: 'https://a.test', scopes: ['a b'] },
      /scopes must be a list of scopes/,
    ],
    [
      'a scope with a quote',
      { resource: 'https://a.test', scopes: ['a"'] },
      /scopes must be a list of scopes/,
    ],
    [
      'a misspelt option',
      { resource: 'https://a.test', scope: ['a'] },
      /^protectedResourceMetadata: unknown option "scope"/,
    ],
  ])('%s', (_title, options, message) => {
    const act = () => protectedResourceMetadata(options as { resource: string })
    expect(act).toThrow(TypeError)
    expect(act).toThrow(message)
  })

  test('not the loopback without TLS', () => {
    for (const resource of ['http://127.0.0.1:3000', 'http://localhost', 'http://[::1]']) {
      expect(protectedResourceMetadata({ resource }).url).toContain(resource)
    }
  })
})

import {
  acr,
  all,
  anyScope,
  byIssuer,
  claim,
  createVerifier,
  localKeys,
  scope,
  type Verifier,
  type VerifierOptions,
} from '@portcullis/core'
import { byForm, introspected } from '@portcullis/introspection'
import { createTestIssuer, stubVerifier } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { type EndpointOptions, expressEndpoint, fetchEndpoint } from '../src/index.ts'

const RESOURCE = 'https://mcp.test/mcp'
const ISSUER = 'https://auth.test'
const keys = localKeys((await createTestIssuer()).publicJwk)
const stated = { resource: RESOURCE, authorizationServers: [ISSUER] }

const BY_CLIENT = { audience: { clientIds: ['app1'], scope: 'files/read' } }

const OTHER = 'https://other.test'
const TENANTS = { template: 'https://id.test/{tenantid}', claim: 'tid', tenants: 'any' } as const
const ofIssuer = (issuer: VerifierOptions['issuer']) =>
  createVerifier({ keys, issuer, audience: null })
const anybody = introspected({
  issuer: null,
  endpoint: 'https://auth.test/introspect',
  audience: null,
  clientId: 'api',
  clientSecret: 'secret',
})
const jwt = (audience: VerifierOptions['audience']) =>
  createVerifier({ keys, issuer: ISSUER, audience })
const opaque = (audience: VerifierOptions['audience']) =>
  introspected({ issuer: ISSUER, audience, clientId: 'api', clientSecret: 'secret' })

const FORMS = [
  [
    'expressEndpoint',
    (options: object, verifier: unknown = jwt(RESOURCE), handler: unknown = () => {}) =>
      expressEndpoint(verifier as Verifier, options as EndpointOptions, handler as never),
  ],
  [
    'fetchEndpoint',
    (options: object, verifier: unknown = jwt(RESOURCE), handler: unknown = () => {}) =>
      fetchEndpoint(verifier as Verifier, options as EndpointOptions, handler as never),
  ],
] as const

describe.each(FORMS)('%s', (name, create) => {
  test.each<[string, object, RegExp]>([
    ['no resource', { authorizationServers: [ISSUER] }, /resource must be stated/],
    ['no authorization server', { resource: RESOURCE }, /authorizationServers must be stated/],
    [
      'an empty list of them',
      { ...stated, authorizationServers: [] },
      /Endpoint: authorizationServers/,
    ],
    [
      'a gap in it',
      { ...stated, authorizationServers: Array.of(undefined, ISSUER) },
      /authorizationServers must/,
    ],
    ['a number in it', { ...stated, authorizationServers: [1] }, /must be a string/],
    ['one in a text', { ...stated, authorizationServers: ISSUER }, /must be a list of issuer/],
    [
      'one over http',
      { ...stated, authorizationServers: ['http://keycloak:8080/realms/a'] },
      /authorizationServers must begin with https: \(http: is for the loopback alone\)$/,
    ],
    ['one that is no URL', { ...stated, authorizationServers: ['auth'] }, /absolute URL/],
    ['one behind a right one', { ...stated, authorizationServers: [ISSUER, 'auth'] }, /absolute/],
    ['a resource over http', { ...stated, resource: 'http://mcp.test/mcp' }, /https/],
    ['a resource with a fragment', { ...stated, resource: `${RESOURCE}#a` }, /fragment/],
    ['a resource that is no URL', { ...stated, resource: 'mcp' }, /absolute URL/],
    ['a URL object as the resource', { ...stated, resource: new URL(RESOURCE) }, /resource must/],
    ['a misspelt option', { ...stated, scop: 'tools' }, /unknown option "scop"/],
    ['a scope that is a list', { ...stated, scope: ['tools'] }, /scope must be/],
    ['a scope with two spaces', { ...stated, scope: 'a  b' }, /scope must be/],
    ['offline_access as the scope', { ...stated, scope: 'a offline_access' }, /offline_access/],
    ['an empty audience', { ...stated, audience: '' }, /audience must be a string/],
    ['no audience', { ...stated, audience: null }, /audience must be a string/],
    ['an empty list of audiences', { ...stated, audience: [] }, /audience must be a string/],
    [
      'null among audiences',
      { ...stated, audience: [RESOURCE, null] },
      /audience must be a string/,
    ],
    [
      'a gap among audiences',
      { ...stated, audience: Array.of(undefined, 'a') },
      /audience must be/,
    ],
    [
      'clients without a scope',
      { ...stated, audience: { clientIds: ['a'] } },
      /must have clientIds/,
    ],
    ['a scope without clients', { ...stated, audience: { scope: 'a' } }, /must have clientIds/],
    [
      'clients with an inherited scope',
      { ...stated, audience: { __proto__: { scope: 'a' }, clientIds: ['a'] } },
      /must have clientIds/,
    ],
    ['no client', { ...stated, audience: { clientIds: [], scope: 'a' } }, /must have clientIds/],
    [
      'clients of an issuer that is no text',
      { ...stated, audience: { clientIds: ['a'], scope: 'a', issuer: ['b'] } },
      /must have clientIds/,
    ],
    [
      'clients with more',
      { ...stated, audience: { clientIds: ['a'], scope: 'a', any: true } },
      /must have clientIds/,
    ],
    [
      'a server with the path of its metadata',
      { ...stated, authorizationServers: [`${ISSUER}/.well-known/openid-configuration`] },
      /the issuer must be without/,
    ],
    [
      'a server with a query',
      { ...stated, authorizationServers: [`${ISSUER}?a`] },
      /neither a query nor a fragment/,
    ],
    ['optional', { ...stated, optional: true }, /unknown option "optional"/],
    ['credentials', { ...stated, credentials: { header: 'a' } }, /unknown option "credentials"/],
    ['a requirement that is a text', { ...stated, requirement: 'tools' }, /requirement must/],
    [
      'a requirement with another reason',
      { ...stated, requirement: { ...scope('a'), reason: 'other' } },
      /reason/,
    ],
    ['tools in a list', { ...stated, tools: [scope('a')] }, /tools must/],
    ['a tool that needs a text', { ...stated, tools: { write: 'files:write' } }, /tools must/],
    [
      'a tool with a wrong requirement',
      { ...stated, tools: { write: { ...scope('a'), scope: '"' } } },
      /scope/,
    ],
    [
      'members that have an option of their own',
      { ...stated, members: { resource_name: 'a' } },
      /members must be right: "resource_name"/,
    ],
    ['a signature that is made already', { ...stated, sign: 'a.b.c' }, /sign must be a function/],
    ['a sign that signs nothing', { ...stated, sign: () => '' }, /what sign returns/],
    ['scopes in a text', { ...stated, scopes: 'a b' }, /Endpoint: scopes must/],
    ['a list of scopes in one', { ...stated, scopes: ['a b'] }, /scopes must/],
    ['offline_access', { ...stated, scopes: ['a', 'offline_access'] }, /offline_access/],
    [
      'offline_access as a requirement',
      { ...stated, requirement: scope('a offline_access') },
      /: requirement must not contain offline_access/,
    ],
    [
      'offline_access as a part of one',
      { ...stated, requirement: all(acr('gold'), all(scope('offline_access'), scope('a'))) },
      /: requirement must not contain offline_access/,
    ],
    [
      'offline_access as a part of one that somebody has made',
      { ...stated, requirement: { ...scope('a'), parts: [scope('offline_access')] } },
      /: requirement must not contain offline_access/,
    ],
    [
      'offline_access for a tool',
      { ...stated, tools: { read: scope('a'), write: anyScope('a offline_access') } },
      /: tools must not contain offline_access/,
    ],
    ['a path without a slash', { ...stated, path: 'mcp' }, /path must/],
    ['a path with a query', { ...stated, path: '/mcp?a' }, /path must/],
    ['a path with a fragment', { ...stated, path: '/mcp#a' }, /path must/],
    ['a path that is no text', { ...stated, path: 1 }, /path must/],
    ['no claim of a client', { ...stated, clientIdClaims: [] }, /clientIdClaims must/],
    ['sessions: true', { ...stated, sessions: true }, /sessions must/],
    ['no sessions at all', { ...stated, sessions: { max: 0 } }, /sessions must/],
    ['no sessions of a user', { ...stated, sessions: { max: 1, maxPerUser: 0 } }, /sessions must/],
    ['too many sessions', { ...stated, sessions: { max: 1_000_001 } }, /sessions must/],
    ['a number of sessions', { ...stated, sessions: 1 }, /sessions must/],
    ['a misspelt limit', { ...stated, sessions: { maximum: 1 } }, /sessions must/],
    ['an inherited limit', { ...stated, sessions: { toString: 1 } }, /sessions must/],
    ['an owner that is a text', { ...stated, owner: 'sub' }, /owner must be a function/],
    ['no function', { ...stated, onForeignSession: true }, /onForeignSession must/],
    ['no function for ends', { ...stated, onSessionEnd: 'a' }, /onSessionEnd must be a function/],
    ['no body', { ...stated, maxBodySize: 0 }, /maxBodySize must/],
    ['an endless body', { ...stated, maxBodySize: Infinity }, /maxBodySize must/],
    ['more than 64 MiB', { ...stated, maxBodySize: 67_108_865 }, /maxBodySize must/],
    ['no clock', { ...stated, clock: Date }, /clock must/],
    ['proofs that are none', { ...stated, dpop: {} }, /dpop/],
    ['a realm with a line break', { ...stated, realm: 'a\r\nb' }, /realm/],
  ])('%s is a TypeError', (_title, options, message) => {
    expect(() => create(options)).toThrow(TypeError)
    expect(() => create(options)).toThrow(message)
  })

  test('the message names the function', () => {
    expect(() => create({})).toThrow(new RegExp(`^${name}: `))
    expect(() => create(stated, {})).toThrow(`${name}: the first argument must be a verifier`)
    expect(() => create(stated, undefined, {})).not.toThrow(/first/)
    expect(() => create(stated, jwt(RESOURCE), {})).toThrow(`${name}: the third argument`)
    expect(() => create([])).toThrow(/options must be an object/)
  })

  test.each<[string, unknown]>([
    ['of JWTs', jwt(null)],
    ['of JWTs, beside the resource', jwt([RESOURCE, null])],
    ['of opaque tokens, beside the resource', opaque([RESOURCE, null])],
    ['of opaque tokens', opaque(null)],
    ['of byForm, of which one has it', byForm({ jwt: jwt(RESOURCE), opaque: opaque(null) })],
    ['of byIssuer, of which one has it', byIssuer({ [ISSUER]: jwt(null) })],
    ['of byIssuer in byIssuer', byIssuer({ [ISSUER]: byIssuer({ [ISSUER]: jwt(null) }) })],
  ])('audience: null of a verifier %s is a TypeError', (_title, verifier) => {
    expect(() => create(stated, verifier)).toThrow(
      `${name}: the verifier accepts tokens for any server: state its audience, which is the resource`,
    )
  })

  test.each<[string, unknown]>([
    ['another one', jwt('https://other.test')],
    ['one with a slash more', jwt(`${RESOURCE}/`)],
    ['one in other letters', jwt('https://MCP.test/mcp')],
    ['another one of opaque tokens', opaque('api')],
    ['another one beside a right one', byForm({ jwt: jwt(RESOURCE), opaque: opaque('api') })],
  ])('an audience that no token for the resource has is a TypeError: %s', (_title, verifier) => {
    expect(() => create(stated, verifier)).toThrow(/its audience must name the resource exactly/)
  })

  test.each<[string, object, unknown]>([
    ['the stated audience', { audience: 'api' }, jwt('api')],
    ['one of several', { audience: ['api', 'other'] }, opaque(['other', 'more'])],
    ['any token, where a client may stand for it', BY_CLIENT, jwt(null)],
    ['a token without one, where a client may stand for it', BY_CLIENT, jwt([RESOURCE, null])],
    ['the resource, where a client may stand for it', BY_CLIENT, jwt(RESOURCE)],
  ])('a verifier that accepts %s fits', (_title, options, verifier) => {
    expect(create({ ...stated, ...options }, verifier)).toBeTypeOf('function')
  })

  const two = byIssuer({ [ISSUER]: jwt(null), [OTHER]: ofIssuer(OTHER) })
  test.each<[string, unknown]>([
    ['two issuers of byIssuer', two],
    ['issuers that a function finds', byIssuer(() => jwt(null))],
    ['a list of issuers', ofIssuer([ISSUER, OTHER])],
    ['the tenants of a provider', createVerifier({ keys, issuer: TENANTS, audience: null })],
    [
      'JWTs of one issuer and opaque tokens of another',
      byForm({ jwt: ofIssuer(OTHER), opaque: opaque(null) }),
    ],
    ['JWTs and opaque tokens of whomever', byForm({ jwt: ofIssuer(null), opaque: anybody })],
    ['whom it does not say', { verify: async () => ({}), ready: async () => {} }],
  ])('clients without their issuer, of a verifier of %s, are a TypeError', (_title, verifier) => {
    expect(() => create({ ...stated, ...BY_CLIENT }, verifier)).toThrow(
      /the audience must have the issuer of clientIds/,
    )
    const audience = { ...BY_CLIENT.audience, issuer: ISSUER }
    expect(create({ ...stated, audience }, verifier)).toBeTypeOf('function')
  })

  test.each<[string, unknown]>([
    ['one of byIssuer', byIssuer({ [ISSUER]: jwt(null) })],
    ['whoever has its keys', ofIssuer(null)],
    ['JWTs and opaque tokens', byForm({ jwt: jwt(null), opaque: opaque(null) })],
  ])('clients need no issuer where there is one: %s', (_title, verifier) => {
    expect(create({ ...stated, ...BY_CLIENT }, verifier)).toBeTypeOf('function')
  })

  test.each<[string, object]>([
    ['of all requests', { requirement: claim('roles', 'admin') }],
    ['of a tool', { tools: { write: claim(['roles', 'api'], 'admin') } }],
    ['as a part', { requirement: all(scope('a'), all(claim('roles', 'admin'), scope('b'))) }],
  ])(
    'a requirement %s of a claim that tenants decide is a TypeError at start-up',
    (_title, options) => {
      const issuer = { ...TENANTS, decidedByTenants: ['roles'] }
      const verifier = createVerifier({ keys, issuer, audience: RESOURCE })
      expect(() => create({ ...stated, ...options }, verifier)).toThrow(
        `${name}: no token meets a requirement of "roles"`,
      )
      const listed = createVerifier({ keys, issuer: TENANTS, audience: RESOURCE })
      expect(create({ ...stated, ...options }, listed)).toBeTypeOf('function')
    },
  )

  test.each<[string, object, unknown, RegExp]>([
    [
      'the resource, which is not listed',
      { audience: 'api' },
      jwt(RESOURCE),
      /refuses every token/,
    ],
    ['any token, beside a stated audience', { audience: 'api' }, jwt(null), /for any server/],
    ['a token without one', { audience: 'api' }, jwt(['api', null]), /for any server/],
    ['another API, where a client may stand for it', BY_CLIENT, jwt('api'), /refuses every/],
  ])('a verifier that accepts %s is a TypeError', (_title, options, verifier, message) => {
    expect(() => create({ ...stated, ...options }, verifier)).toThrow(message)
  })

  test.each<[string, unknown]>([
    ['several audiences', jwt(['api', RESOURCE])],
    ['opaque tokens', opaque(RESOURCE)],
    ['byForm', byForm({ jwt: jwt(RESOURCE), opaque: opaque(RESOURCE) })],
    ['byIssuer', byIssuer({ [ISSUER]: jwt(RESOURCE) })],
    ['byIssuer with a function, which says nothing yet', byIssuer(() => undefined)],
    ['a stub', stubVerifier()],
    ['one that is not ours', { verify: async () => await Promise.reject(new Error()) }],
  ])('a verifier may be %s', (_title, verifier) => {
    expect(create(stated, verifier)).toBeTypeOf('function')
  })

  test('the limits may be as wide as they can be', () => {
    const sessions = { max: 1_000_000, maxPerUser: 1_000_000 }
    const options = { ...stated, sessions, maxBodySize: 67_108_864, path: '/' }
    expect(create(options)).toBeTypeOf('function')
  })

  test('on this machine the resource and the authorization server may be http', () => {
    const local = 'http://127.0.0.1:3000/mcp'
    const options = { resource: local, authorizationServers: ['http://localhost:4010'] }
    expect(create(options, jwt(local))).toBeTypeOf('function')
  })
})

import { inspect } from 'node:util'

import type { AuthInfo as AuthInfo1 } from '@modelcontextprotocol/sdk/server/auth/types.js'
import type { AuthInfo as AuthInfo2 } from '@modelcontextprotocol/server'
import { type Auth, createVerifier } from '@portcullis/core'
import { createTestIssuer, stubVerifier } from '@portcullis/testing'
import { expect, test } from 'vitest'

import { authInfoOf } from '../src/auth-info.ts'
import type { AuthInfo } from '../src/index.ts'
import { createOwners } from '../src/owner.ts'

const RESOURCE = 'https://mcp.test/mcp'
const parts = {
  resource: RESOURCE,
  metadataUrl: 'https://mcp.test/.well-known/oauth-protected-resource/mcp',
}
const ownersOf = (clientIdClaims = ['client_id', 'azp']) =>
  createOwners(stubVerifier(), { clientIdClaims, owner: undefined })
const header = { alg: 'RS512' }

function authOf(claims: Record<string, unknown>, token = 'a.b.c'): Auth {
  return { claims, header, token }
}

function infoOf(claims: Record<string, unknown>, clientIdClaims?: string[]): AuthInfo {
  const auth = authOf(claims)
  return authInfoOf(auth, ownersOf(clientIdClaims)(auth).client, parts)
}

test('everything that the SDK has a place for is there', () => {
  const claims = { client_id: 'robot', azp: 'other', sub: 'ada', scope: 'a b', exp: 1_767_225_600 }
  const info = infoOf(claims)
  expect(info).toMatchObject({
    clientId: 'robot',
    scopes: ['a', 'b'],
    expiresAt: 1_767_225_600,
    resource: new URL(RESOURCE),
    resourceMetadataUrl: parts.metadataUrl,
    extra: claims,
  })
  expect(info.token).toBe('a.b.c')
})

test('both majors of the SDK take it as their own', () => {
  const info: AuthInfo = infoOf({})
  const first: AuthInfo1 = info
  const second: AuthInfo2 = info
  expect(first).toBe(second)
})

test('a copy, a log line and JSON of it do not have the token', () => {
  const info = infoOf({ sub: 'ada' })
  expect(JSON.stringify(info)).not.toContain('a.b.c')
  expect(inspect(info, { depth: null })).not.toContain('a.b.c')
  expect({ ...info }).not.toHaveProperty('token')
  expect(() => Reflect.set(info, 'token', 'other')).not.toThrow()
  expect(info.token).toBe('a.b.c')
})

test.each([
  ['azp, without client_id', { azp: 'robot', sub: 'ada' }, 'robot'],
  ['a number', { client_id: 42 }, '42'],
  ['nothing of sub, which may be a user', { sub: 'robot' }, ''],
  ['no client that is not text', { client_id: { toString: () => 'robot' } }, ''],
])('as the client counts %s', (_case, claims, clientId) => {
  const info = infoOf(claims)
  expect(info).toMatchObject({ clientId, scopes: [] })
  expect(info).not.toHaveProperty('expiresAt')
})

test('another claim may name the client', () => {
  const info = infoOf({ cid: 'robot', client_id: 'other' }, ['cid'])
  expect(info.clientId).toBe('robot')
})

test('each request has its own, and what a tool changes in it changes no claim', () => {
  const claims = Object.freeze({ sub: 'ada' })
  const info = infoOf(claims)
  info.extra['sub'] = 'eve'
  info.scopes.push('admin')
  info.resource.pathname = '/other'
  expect(infoOf(claims)).toMatchObject({
    extra: { sub: 'ada' },
    scopes: [],
    resource: new URL(RESOURCE),
  })
})

test('what strangers put on Object.prototype is in none of it', () => {
  const planted = { expiresAt: 1, token: 'planted', role: 'admin', exp: 1, client_id: 'planted' }
  Object.assign(Object.prototype, planted)
  try {
    const info = infoOf({ sub: 'ada' })
    expect([info.clientId, info.expiresAt, info.token]).toEqual(['', undefined, 'a.b.c'])
    expect(info.extra['role']).toBeUndefined()
  } finally {
    for (const name of Object.keys(planted)) Reflect.deleteProperty(Object.prototype, name)
  }
})

test('a member __proto__ that a schema has made, or a verifier of others, is not in extra', () => {
  const claims = JSON.parse('{"sub":"ada","__proto__":{"role":"admin"}}') as Record<string, unknown>
  const { extra } = infoOf(claims)
  expect(Object.keys(extra)).toEqual(['sub'])
  expect(Object.assign({}, extra)).not.toHaveProperty('role')
})

test('with a schema, extra is what it has made, and all else is as it was signed', async () => {
  const issuer = await createTestIssuer({ audience: RESOURCE })
  const schema = {
    '~standard': {
      version: 1 as const,
      vendor: 'test',
      validate: () => ({ value: { who: 'ada' } }),
    },
  }
  const verifier = createVerifier({ ...issuer.verifierOptions, schema })
  const claims = { sub: 'ada', client_id: 'robot', scope: 'tools' }
  const auth = await verifier.verify(await issuer.token({ claims }))
  const { client } = ownersOf()(auth)
  expect(authInfoOf(auth, client, parts)).toMatchObject({
    clientId: 'robot',
    scopes: ['tools'],
    extra: { who: 'ada' },
  })
  expect(authInfoOf(auth, client, parts).expiresAt).toBeGreaterThan(1)
})

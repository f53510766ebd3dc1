import { constants, generateKeyPairSync, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'

import { getRequestListener } from '@hono/node-server'
import { authenticate } from '@portcullis/express'
import { expressEndpoint, fetchEndpoint } from '@portcullis/mcp'
import { dpopClient } from '@portcullis/testing'
import express from 'express'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { root } from '../../docs/entries.ts'
import { serve } from '../bound-tokens/serve.ts'
import type { Application } from '../frameworks/contract/frameworks/framework.ts'
import { frameworks } from '../frameworks/contract/frameworks/index.ts'
import {
  certificate,
  client,
  clock,
  fapiApi,
  guarding,
  issuer,
  RESOURCE,
  revocations,
  send,
  type Sent,
  tokens,
  verifier,
} from './api.ts'
import { NEGATIVE, proven, verdictOf } from './dpop-conditions.ts'

// FAPI 2.0 Security Profile, the half of the resource server: each requirement, and each condition that the modules of the OpenID
// Foundation's suite have for its endpoint. The modules are named; the cases are our own.

const [framework] = frameworks
if (framework === undefined) throw new Error('there is no framework')
const app = await framework.createApp(fapiApi())
afterAll(async () => await app[Symbol.asyncDispose]())

const ask = async (sent: Sent) => await send(app.url, sent)
const { byKey, byCertificate, unbound } = tokens

const withCertificate = (token: string): Sent => ({
  headers: { authorization: `Bearer ${token}`, ...certificate },
})

const refused = (error: string) => ({
  status: 401,
  challenge: expect.stringContaining(error) as unknown,
})
const ACCEPTED = { status: 200, challenge: undefined }

describe('section 5.3.4, requirements for resource servers', () => {
  test('1: the token is taken from the header Authorization, under either scheme', async () => {
    expect(await ask(await proven())).toEqual(ACCEPTED)
    expect(await ask(withCertificate(byCertificate))).toEqual(ACCEPTED)
    expect(() =>
      authenticate(verifier, {
        ...guarding(),
        dpop: undefined,
        credentials: { header: 'x-token' },
      }),
    ).toThrow(TypeError)
  })

  test('2: a token in the query, or in a form, is not read', async () => {
    const { headers } = withCertificate(byCertificate)
    const { authorization: _left, ...others } = headers
    const target = `/accounts?access_token=${byCertificate}`
    expect(await ask({ headers: others, target })).toMatchObject({ status: 401 })
    // Beside one in the header it counts for nothing.
    expect(await ask({ headers, target: '/accounts?access_token=another' })).toEqual(ACCEPTED)
  })

  test('3: validity and integrity', async () => {
    const [header = '', payload = '', signature = ''] = byCertificate.split('.')
    const flipped = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`
    for (const token of [`${header}.${payload}.${flipped}`, 'no-token', `${header}.${payload}`]) {
      expect(await ask(withCertificate(token))).toEqual(refused('error="invalid_token"'))
    }
  })

  test('3: expiration', async () => {
    const claims = { exp: clock.now() - 60, cnf: cnfOf(byCertificate), scope: 'accounts' }
    const expired = await issuer.token({ claims })
    expect(await ask(withCertificate(expired))).toEqual(refused('error="invalid_token"'))
  })

  test('3: revocation status', async () => {
    const claims = { jti: 'revoked', cnf: cnfOf(byCertificate), scope: 'accounts' }
    const token = await issuer.token({ claims })
    expect(await ask(withCertificate(token))).toEqual(ACCEPTED)
    const { 'x5t#S256': x5tS256 } = cnfOf(token)
    const possession = { x5tS256 }
    await revocations.revoke(await verifier.verify(token, { possession }))
    expect(await ask(withCertificate(token))).toEqual(refused('error="invalid_token"'))
  })

  test('4: authorization that is not sufficient', async () => {
    const answer = await ask({ ...withCertificate(byCertificate), target: '/payments' })
    expect(answer.status).toBe(403)
    expect(answer.challenge).toContain('error="insufficient_scope"')
    expect(answer.challenge).toContain('scope="payments"')
  })

  test('5: a token that is bound to nothing, or to somebody else', async () => {
    expect(await ask(withCertificate(unbound))).toEqual(refused('error="invalid_token"'))
    expect(await ask(await proven({}, unbound))).toEqual(refused('error="invalid_token"'))
    const stolen = { headers: { authorization: `Bearer ${byCertificate}` } }
    expect(await ask(stolen)).toEqual(refused('error="invalid_token"'))
  })
})

function cnfOf(token: string): Readonly<Record<'x5t#S256', string>> {
  const [, payload = ''] = token.split('.')
  const { cnf } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as {
    cnf: ReturnType<typeof cnfOf>
  }
  return cnf
}

async function headersOf(signer: typeof client): Promise<Sent> {
  const token = await issuer.token({ boundTo: signer, claims: { scope: 'accounts' } })
  const headers = await signer.headers({ url: RESOURCE, token })
  return { headers: { ...headers } }
}

const encoded = (members: object) => Buffer.from(JSON.stringify(members)).toString('base64url')

describe('section 5.4.1, cryptography', () => {
  test.each([
    ['PS256', true],
    ['ES256', true],
    ['EdDSA', true],
    ['Ed25519', true],
    ['RS256', false],
    ['PS384', false],
    ['ES384', false],
    ['RS512', false],
  ] as const)('1: proofs signed with %s', async (algorithm, isAccepted) => {
    const answer = await ask(await headersOf(await dpopClient({ clock, algorithm })))
    expect(answer).toEqual(isAccepted ? ACCEPTED : refused('invalid_dpop_proof'))
  })

  test('1: the challenge names no other algorithm', async () => {
    const { challenge } = await ask({ headers: {} })
    expect(challenge).toMatch(/algs="ES256 Ed25519 EdDSA PS256"/)
  })

  test('1: none, of a token and of a proof', async () => {
    const none = Buffer.from('{"alg":"none"}').toString('base64url')
    const [, payload = ''] = byCertificate.split('.')
    expect(await ask(withCertificate(`${none}.${payload}.`))).toEqual(refused('invalid_token'))
    expect(await ask(withCertificate(`${none}.${payload}.AAAA`))).toEqual(refused('invalid_token'))
  })

  test('2 and 3: an RSA key of 1024 bits, and an elliptic curve of 192', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
    const claims = { jti: 'a', iat: clock.now(), htm: 'GET', htu: RESOURCE }
    const rsa = publicKey.export({ format: 'jwk' })
    const input = `${encoded({ typ: 'dpop+jwt', alg: 'PS256', jwk: rsa })}.${encoded(claims)}`
    const padding = constants.RSA_PKCS1_PSS_PADDING
    const signature = sign('sha256', Buffer.from(input), {
      key: privateKey,
      padding,
      saltLength: 32,
    })
    const curve = { kty: 'EC', crv: 'P-192', x: 'A'.repeat(32), y: 'A'.repeat(32) }
    const ofCurve = encoded({ typ: 'dpop+jwt', alg: 'ES256', jwk: curve })
    for (const dpop of [
      `${input}.${signature.toString('base64url')}`,
      `${ofCurve}.${encoded(claims)}.${'A'.repeat(86)}`,
    ]) {
      const answer = await ask({ headers: { authorization: `DPoP ${byKey}`, dpop } })
      expect(answer).toEqual(refused('has no public key that can be used'))
    }
  })
})

describe('section 5.3.2.1, which the profile of a guard takes for proofs as well', () => {
  test.each([
    ['10 seconds ahead', 10, true],
    ['30 seconds ahead', 30, true],
    ['61 seconds ahead', 61, false],
  ])('iat and nbf %s', async (_title, ahead, isAccepted) => {
    for (const name of ['iat', 'nbf']) {
      const answer = await ask(await proven({ claims: { [name]: clock.now() + ahead } }))
      expect(answer).toEqual(isAccepted ? ACCEPTED : refused('invalid_dpop_proof'))
    }
  })
})

describe.each(frameworks)('FAPI2SPFinalDpopNegativeTests, $name', ({ createApp }) => {
  let url = ''
  let other: Application | undefined
  beforeAll(async () => {
    other = await createApp(fapiApi())
    url = other.url
  })
  afterAll(async () => await other?.[Symbol.asyncDispose]())

  test.each(NEGATIVE)('%s: %s', async (_name, expected, sent) => {
    expect(verdictOf(await send(url, await sent(url)))).toBe(expected)
  })
})

test('FAPI2SPFinalEnsureDpopProofWithIat10SecondsAfterSucceeds: iat a few seconds ahead', async () => {
  expect(await ask(await proven({ claims: { iat: clock.now() + 8 } }))).toEqual(ACCEPTED)
})

test('FAPI2SPFinalEnsureDpopProofWithIat10SecondsBeforeSucceeds: iat ten seconds ago', async () => {
  expect(await ask(await proven({ claims: { iat: clock.now() - 10 } }))).toEqual(ACCEPTED)
})

test('FAPI2SPFinalCheckDpopProofNbfExp: a proof with nbf now and exp in five minutes', async () => {
  const claims = { nbf: clock.now(), exp: clock.now() + 300 }
  expect(await ask(await proven({ claims }))).toEqual(ACCEPTED)
})

test('FAPI2SPFinalAccessTokenTypeHeaderCaseSensitivity: the scheme in another case', async () => {
  const { dpop = '' } = (await proven()).headers
  expect(await ask({ headers: { authorization: `dPOp ${byKey}`, dpop } })).toEqual(ACCEPTED)
  const { headers } = withCertificate(byCertificate)
  const authorization = `bEARER ${byCertificate}`
  expect(await ask({ headers: { ...headers, authorization } })).toEqual(ACCEPTED)
})

describe.each(Object.entries({ expressEndpoint: overExpress, fetchEndpoint: overFetch }))(
  'a server of MCP, %s',
  (_name, create) => {
    test('takes a bound token alone', async () => {
      await using api = await serve(create)
      const headers = async (sent: Promise<Sent>) =>
        (await send(api.url, { ...(await sent), target: '/accounts' })).status
      expect(await headers(proven())).toBe(200)
      expect(await headers(Promise.resolve(bearer(unbound)))).toBe(401)
    })
  },
)

const bearer = (token: string): Sent => ({ headers: { authorization: `Bearer ${token}` } })

function mcpOptions() {
  const { profile, dpop } = guarding()
  const { issuer: server, audience } = issuer.verifierOptions
  const authorizationServers = [String(server)]
  return {
    profile,
    dpop,
    resource: RESOURCE,
    audience: String(audience),
    authorizationServers,
    sessions: false as const,
  }
}

function overExpress(): RequestListener {
  return express().use(
    expressEndpoint(verifier, mcpOptions(), (_request, response) => response.end('{}')),
  )
}

function overFetch(): RequestListener {
  const endpoint = fetchEndpoint(verifier, mcpOptions(), () => new Response('{}'))
  const handle = async (request: Request) => await endpoint(request)
  const listener = getRequestListener(handle, { overrideGlobalObjects: false })
  return (request, response) => void listener(request, response)
}

test('the page names each of these modules and requirements', () => {
  const page = readFileSync(join(root, 'packages/core/FAPI.md'), 'utf8')
  const source = readFileSync(new URL(import.meta.url), 'utf8')
  const modules = new Set(source.match(/\bFAPI2SPFinal\w+/g))
  expect([...modules].filter((name) => !page.includes(name))).toEqual([])
})

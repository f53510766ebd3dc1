import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { dpopProofs, scope } from '@portcullis/core'
import { calculateJwkThumbprint } from 'jose'
import request, { type Response as Answer } from 'supertest'
import { describe, expect, test } from 'vitest'

import type { AppSpec, Listener } from './frameworks/framework.ts'
import { adapters, frameworks } from './frameworks/index.ts'
import { sendRaw } from './raw.ts'
import { token, verifier } from './tokens.ts'

// What every adapter must do with tokens that are bound to a key: the same verdict, wherever its routers are mounted.

const ORIGIN = 'https://api.example.com'

interface Client {
  readonly jkt: string
  /** A new proof for a request. */
  proof(method: string, path: string, accessToken: string): string
}

const encode = (members: object) => Buffer.from(JSON.stringify(members)).toString('base64url')

async function createClient(): Promise<Client> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk = publicKey.export({ format: 'jwk' })
  return {
    jkt: await calculateJwkThumbprint(jwk),
    proof(method, path, accessToken) {
      const claims = {
        jti: randomUUID(),
        iat: Math.floor(Date.now() / 1000),
        htm: method,
        htu: `${ORIGIN}${path}`,
        ath: createHash('sha256').update(accessToken).digest('base64url'),
      }
      const input = `${encode({ typ: 'dpop+jwt', alg: 'ES256', jwk })}.${encode(claims)}`
      const key = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const
      return `${input}.${sign('sha256', Buffer.from(input), key).toString('base64url')}`
    },
  }
}

const [client, thief] = await Promise.all([createClient(), createClient()])
const bound = await token({ claims: { cnf: { jkt: client.jkt } } })
const unbound = await token()

const byKey = (proof: string, accessToken = bound) => ({
  authorization: `DPoP ${accessToken}`,
  dpop: proof,
})

const handle = () => ({})

function specWith(required = false): AppSpec {
  const options = { dpop: dpopProofs({ origin: ORIGIN, required }) }
  return {
    guards: [{ verifier, options }],
    routes: [
      { path: '/', handle },
      { path: '/write', requirements: [scope('write')], handle },
    ],
    routers: { '/v1': { routes: [{ path: '/a', handle }] } },
  }
}

/** A guard below a path, which is where routers change the URL. */
function mountedSpec(): AppSpec {
  const options = { dpop: dpopProofs({ origin: ORIGIN }) }
  const guards = [{ verifier, options }]
  return { routers: { '/v1': { guards, routes: [{ path: '/a', handle }] } } }
}

function expectRefusal(answer: Answer, status: number, challenge: RegExp): void {
  expect(answer.status).toBe(status)
  expect(answer.headers['www-authenticate']).toMatch(challenge)
  expect(answer.headers['cache-control']).toBe('no-store')
}

const BINDING =
  /error="invalid_token", error_description="The access token is bound to another key"/

describe.each(frameworks)('$name', ({ createApp }) => {
  test('takes a bound token with its proof, below a router as well, and a bearer token beside it', async () => {
    await using app = await createApp(specWith())
    const send = request(app.url)
    const accepted = await send.get('/').set(byKey(client.proof('GET', '/', bound)))
    expect(accepted.status).toBe(200)
    const below = await send.post('/v1/a?b=1').set(byKey(client.proof('POST', '/v1/a', bound)))
    expect(below.status).toBe(200)
    const bearer = await send.get('/').set('authorization', `Bearer ${unbound}`)
    expect(bearer.status).toBe(200)
    const refused = await send.get('/write').set(byKey(client.proof('GET', '/write', bound)))
    expectRefusal(refused, 403, /^DPoP realm="api", error="insufficient_scope".*, Bearer realm/)
  })

  test('takes one where the guard is mounted, for the path that the client asked for', async () => {
    await using app = await createApp(mountedSpec())
    const send = request(app.url)
    const accepted = await send.get('/v1/a').set(byKey(client.proof('GET', '/v1/a', bound)))
    expect(accepted.status).toBe(200)
    const refused = await send.get('/v1/a').set(byKey(client.proof('GET', '/a', bound)))
    expectRefusal(refused, 401, /^DPoP .*error="invalid_dpop_proof".*another URL/)
  })

  test('refuses a stolen token', async () => {
    await using app = await createApp(specWith())
    const send = request(app.url)
    const asBearer = await send.get('/').set('authorization', `Bearer ${bound}`)
    expectRefusal(asBearer, 401, BINDING)
    expect(asBearer.headers['www-authenticate']).toMatch(/^Bearer .*, DPoP realm="api", algs="/)
    const proof = client.proof('GET', '/', bound)
    const withProof = { authorization: `Bearer ${bound}`, dpop: proof }
    expectRefusal(await send.get('/').set(withProof), 401, BINDING)
    const ofThief = byKey(thief.proof('GET', '/', bound))
    expectRefusal(await send.get('/').set(ofThief), 401, BINDING)
    const withoutProof = await send.get('/').set('authorization', `DPoP ${bound}`)
    expectRefusal(withoutProof, 401, /^DPoP .*error="invalid_dpop_proof"/)
    const ofUnbound = byKey(client.proof('GET', '/', unbound), unbound)
    expectRefusal(await send.get('/').set(ofUnbound), 401, BINDING)
  })

  test('refuses a proof that was used, or made for another request', async () => {
    await using app = await createApp(specWith())
    const send = request(app.url)
    const proof = byKey(client.proof('GET', '/', bound))
    expect((await send.get('/').set(proof)).status).toBe(200)
    expectRefusal(await send.get('/').set(proof), 401, /^DPoP .*has been used before/)
    const ofPost = byKey(client.proof('POST', '/', bound))
    expectRefusal(await send.get('/').set(ofPost), 401, /^DPoP .*for another method/)
    const elsewhere = byKey(client.proof('GET', '/elsewhere', bound))
    expectRefusal(await send.get('/').set(elsewhere), 401, /^DPoP .*for another URL/)
    const ofAnother = byKey(client.proof('GET', '/', unbound))
    expectRefusal(await send.get('/').set(ofAnother), 401, /^DPoP .*for another access token/)
  })

  test('takes one proof for a request that passes two guards', async () => {
    const options = { dpop: dpopProofs({ origin: ORIGIN }) }
    const guards = [{ verifier, options }]
    await using app = await createApp({
      guards,
      routers: { '/v1': { guards, routes: [{ path: '/a', handle }] } },
    })
    const send = request(app.url)
    const proof = byKey(client.proof('GET', '/v1/a', bound))
    expect((await send.get('/v1/a').set(proof)).status).toBe(200)
    expectRefusal(await send.get('/v1/a').set(proof), 401, /has been used before/)
  })

  test('refuses two tokens and two proofs, as 400', async () => {
    await using app = await createApp(specWith())
    const [one, two] = [client.proof('GET', '/', bound), client.proof('GET', '/', bound)]
    const authorization = `Authorization: DPoP ${bound}`
    for (const headers of [
      [authorization, `DPoP: ${one}`, `dpop: ${two}`],
      [authorization, `DPoP: ${one}, ${two}`],
      [authorization, `authorization: Bearer ${unbound}`, `DPoP: ${one}`],
      [`${authorization}, Bearer ${unbound}`, `DPoP: ${one}`],
    ]) {
      const { status, challenge } = await sendRaw(app.port, headers)
      expect(status).toBe(400)
      expect(challenge).toContain('error="invalid_request"')
    }
  })

  test('takes bound tokens alone where that is required', async () => {
    await using app = await createApp(specWith(true))
    const send = request(app.url)
    const bearer = await send.get('/').set('authorization', `Bearer ${unbound}`)
    expectRefusal(bearer, 401, /^DPoP realm="api", error="invalid_token"/)
    expect(bearer.headers['www-authenticate']).not.toContain('Bearer')
    const accepted = await send.get('/').set(byKey(client.proof('GET', '/', bound)))
    expect(accepted.status).toBe(200)
  })
})

/** What a listener answers to a proof for this path. */
async function statusOf(listener: Listener, asked: string, path: string): Promise<number> {
  const server = createServer((incoming, response) => void listener(incoming, response)).listen(
    0,
    '127.0.0.1',
  )
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it listens on a port
  try {
    const { status } = await fetch(`http://127.0.0.1:${port}${asked}`, {
      headers: byKey(client.proof('GET', path, bound)),
    })
    return status
  } finally {
    server.close()
  }
}

describe.each(adapters.filter(({ moved }) => moved.length > 0))(
  '$frameworks.0.name',
  ({ moved }) => {
    test.each(moved)('$title', async ({ createListener, answers }) => {
      const listener = await createListener(verifier, (prefix = '') => ({
        dpop: dpopProofs({ origin: ORIGIN + prefix }),
      }))
      for (const [asked, proven, status] of answers) {
        expect(await statusOf(listener, asked, proven), `${asked}, proof for ${proven}`).toBe(
          status,
        )
      }
    })
  },
)

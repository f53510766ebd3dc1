import { once } from 'node:events'
import { createServer } from 'node:http'

import { check, createVerifier, localKeys } from '@portcullis/core'
import { authenticate, authorize } from '@portcullis/express'
import { redisRevocations } from '@portcullis/redis'
import { createClient } from '@redis/client'
import express, { type RequestHandler } from 'express'

import { answerParent } from './answer-parent.ts'
import { AUDIENCE, ISSUER, type PublicJwk } from './inputs.ts'

// A process that asks whether tokens were revoked, in one of several ways: node revocations-child.ts WAY REDIS_URL JWK.

/** When it heard of a revocation: nanoseconds of the clock that all processes of a machine share, as text. */
export interface Heard {
  readonly heardAt: string
}

type Way = (url: string, jwk: PublicJwk) => Promise<readonly RequestHandler[]>

const WAYS: Readonly<Record<string, Way>> = {
  'no guard': async () => [],
  'guard alone': async (_url, jwk) => [authenticate(createVerifier(rules(jwk)))],
  'a replica': async (url, jwk) => {
    const revocations = redisRevocations({ url })
    const verifier = createVerifier({ ...rules(jwk), revocations })
    await verifier.ready()
    revocations.subscribe(() => {
      const heard: Heard = { heardAt: String(process.hrtime.bigint()) }
      process.send?.(heard)
    })
    return [authenticate(verifier)]
  },
  'a check that asks nobody': async (_url, jwk) => [
    authenticate(createVerifier(rules(jwk))),
    authorize(check(async ({ claims }) => typeof claims['jti'] === 'string')),
  ],
  'a check with client-side caching': async (url, jwk) => {
    // README of @redis/client, "Client Side Caching".
    const client = createClient({ url, RESP: 3, clientSideCache: { ttl: 0, maxEntries: 0 } })
    return await askingBy(client, jwk)
  },
  'a check with a GET': async (url, jwk) => await askingBy(createClient({ url }), jwk),
}

export const WAY_NAMES: readonly string[] = Object.keys(WAYS)

interface Asked {
  on(event: 'error', listener: () => void): unknown
  connect(): Promise<unknown>
  get(key: string): Promise<unknown>
}

async function askingBy(client: Asked, jwk: PublicJwk): Promise<readonly RequestHandler[]> {
  client.on('error', () => {})
  await client.connect()
  const isKept = check(
    async ({ claims }) => (await client.get(`revoked:${String(claims['jti'])}`)) === null,
  )
  return [authenticate(createVerifier(rules(jwk))), authorize(isKept)]
}

function rules(jwk: PublicJwk) {
  return { keys: localKeys({ ...jwk }), issuer: ISSUER, audience: AUDIENCE }
}

async function serve(way: string, url: string, jwk: PublicJwk): Promise<void> {
  const handlers = await WAYS[way]?.(url, jwk)
  if (handlers === undefined) throw new Error(`there is no ${way}`)
  const app = express().set('etag', false).set('x-powered-by', false)
  app.get('/', ...handlers, (_request, response) => {
    response.json({ ok: true })
  })
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  answerParent(server)
}

const [way, url = '', jwk = ''] = process.argv.slice(2)
if (process.send !== undefined && way !== undefined) {
  await serve(way, url, JSON.parse(jwk) as PublicJwk /* written by revocations.ts */)
}

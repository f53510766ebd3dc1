import { createServer, type Server } from 'node:http'

import { serve as serveHono } from '@hono/node-server'
import { createVerifier, type KeysSnapshot, remoteKeys } from '@portcullis/core'
import { receiveLogout } from '@portcullis/events'
import { redisRevocations } from '@portcullis/redis'

import { guarded as express } from '../../publishing/packed/consumer/guards/express.ts'
import { guarded as fastify } from '../../publishing/packed/consumer/guards/fastify.ts'
import type { Guarded } from '../../publishing/packed/consumer/guards/guarded.ts'
import { guarded as hono } from '../../publishing/packed/consumer/guards/hono.ts'
import { guarded as koa } from '../../publishing/packed/consumer/guards/koa.ts'
import { guarded as nest } from '../../publishing/packed/consumer/guards/nest.ts'
import { serve } from '../flow/processes.ts'
import { isAt, measure } from './child.ts'
import { POLICY } from './oracle.ts'

// A program: a guarded API of one framework, which is told of log-outs. SETTINGS says with what.

const GUARDED: Readonly<Record<string, Guarded>> = { express, fastify, hono, koa, nest }

export interface Settings {
  readonly framework: string
  readonly keyUrl: string
  readonly issuer: string
  readonly audience: string
  readonly clientId: string
  readonly redis: string
  readonly stream: string
  /** What the process that it replaces had. */
  readonly snapshot: KeysSnapshot | null
}

const settings = JSON.parse(process.env['SETTINGS'] ?? '{}') as Settings // made by workers.ts
const { framework, keyUrl, issuer, audience, clientId, redis, stream, snapshot } = settings

/** Seconds by which the clock is wrong. */
let offset = 0
const clock = {
  now: () => Date.now() / 1000 + offset,
  monotonic: () => performance.now() / 1000,
  after(seconds: number, act: () => void) {
    const timer = setTimeout(act, seconds * 1000).unref()
    return () => {
      clearTimeout(timer)
    }
  },
}
const keys = remoteKeys(keyUrl, {
  clock,
  maxAge: POLICY.maxAge,
  staleWhileRevalidate: POLICY.staleWhileRevalidate,
  staleIfError: POLICY.staleIfError,
  snapshot,
})
const revocations = redisRevocations({ url: redis, stream, maxStaleness: POLICY.maxStaleness })
const verifier = createVerifier({ keys, issuer, audience, revocations, clock })

/** The newest refusals, to find out what was behind a wrong one. */
const refusals: string[] = []
const create = GUARDED[framework]
if (create === undefined) throw new Error(`no framework ${framework}`)
const app = await create(verifier, (reason) => {
  refusals.push(`${new Date().toISOString()} ${reason}`)
  if (refusals.length > 200) refusals.shift()
})
const api =
  'fetch' in app
    ? (serveHono({
        ...app,
        port: 0,
        hostname: '127.0.0.1',
        overrideGlobalObjects: false,
      }) as Server)
    : app

const logout = receiveLogout({ keys, issuer, clientId, revocations, revokes: 'session', clock })
const inbox = createServer((request, response) => void logout(request, response))
inbox.listen(0, '127.0.0.1')

const portOf = async (server: Server) => {
  await isAt(() => server.listening)
  const address = server.address()
  return typeof address === 'object' ? address?.port : undefined
}

serve({
  ports: async () => ({ api: await portOf(api), inbox: await portOf(inbox) }),
  ready: async () => {
    await verifier.ready()
  },
  snapshot: () => keys.toSnapshot(),
  step(seconds: number) {
    offset = seconds
  },
  why: () => ({ refusals, keys: keys.status(), revocations: revocations.status() }),
  measure,
})

import { createServer, type Server } from 'node:http'

import { serve as serveHono } from '@hono/node-server'
import { createVerifier, type KeysSnapshot, remoteKeys } from '@portcullis/core'
import { receiveLogout } from '@portcullis/events'
import { redisRevocations } from '@portcullis/redis'

import type { Guarded } from '../../publishing/packed/consumer/guards/guarded.ts'
import { serve } from '../flow/processes.ts'
import { isAt, measure } from './child.ts'
import { POLICY } from './oracle.ts'

// A program: a guarded API of one framework, which is told of log-outs. SETTINGS says with what.

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
const guards = new URL('../../publishing/packed/consumer/guards/', import.meta.url)
const { guarded } = (await import(new URL(`${framework}.ts`, guards).href)) as { guarded: Guarded } // as guarded.ts says
const app = await guarded(verifier, (reason) => {
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

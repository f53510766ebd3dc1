import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'

import {
  createTestIssuer,
  dpopClient,
  eventTransmitter,
  introspectionService,
  tokenService,
} from '@portcullis/testing'

import { startRedis } from '../redis/redis-server.ts'
import { createStream } from '../redis/scene.ts'
import { fastClock } from './fast-clock.ts'
import { CLIENT, DIRECT, LOGIN, ORIGIN, type Settings } from './settings.ts'

// A cluster of two with everything that it depends on, and those who call it.

export interface Scene extends AsyncDisposable {
  /** The port of the metrics. */
  readonly metrics: number
  /** A few calls of each kind; in a flood also tokens that are none. */
  call(isFlood: boolean): Promise<void>
  rotateKey(): Promise<void>
  /** Kills a worker; the primary starts another one. */
  replaceWorker(): void
  /** The issuer and Redis hang, and the partner publishes a key that cannot be used. */
  breakAll(): void
  repairAll(): void
}

interface Ports {
  readonly api: number
  readonly metrics: number
}

export async function createScene(): Promise<Scene> {
  const start = Date.now() / 1000
  const clock = fastClock(start)
  const issuer = await createTestIssuer({ clock, lifetime: 86_400 })
  // Logs in about every second of real time.
  const logins = { [LOGIN.loginId]: { password: LOGIN.password, lifetime: 120 } }
  const service = await tokenService(issuer, { logins }).listen()
  const opaqueTokens = introspectionService(issuer)
  const introspection = await opaqueTokens.listen()
  const partner = await createPartner(issuer.publicJwk)
  const redis = await startRedis({ isPersistent: true })
  await createStream(redis)
  const direct = await createTestIssuer({ issuer: DIRECT, lifetime: 3600 })
  const { endpoint, issuer: name, clientId, clientSecret = '' } = introspection.verifierOptions
  const settings: Settings = {
    start,
    keyUrl: service.keyUrl,
    partnerUrl: partner.url,
    authUrl: service.authUrl,
    redisUrl: redis.url,
    directKey: { ...direct.publicJwk },
    introspection: { endpoint, issuer: name, audience: null, clientId, clientSecret },
  }
  const child = fork(fileURLToPath(new URL('cluster.ts', import.meta.url)), [], {
    execArgv: ['--conditions=@portcullis/source'],
    // Express prints no errors then.
    env: { ...process.env, SETTINGS: JSON.stringify(settings), NODE_ENV: 'test' },
  })
  const exited = once(child, 'exit')
  const ended = exited.then(() => {
    throw new Error('the cluster has ended')
  })
  const [ports] = (await Promise.race([once(child, 'message'), ended])) as [Ports]
  // When it ends later, that is the end of the scene.
  ended.catch(() => {})

  const opaque = opaqueTokens.issue()
  const token = await issuer.token({ claims: { jti: 'one' } })
  const dpop = await dpopClient()
  const boundToken = await direct.token({ boundTo: { jkt: dpop.jkt } })
  const transmitter = eventTransmitter(direct, { audience: CLIENT })
  const send = sender(`http://127.0.0.1:${ports.api}`)
  let sessions = 0
  let outage: { restore(): void } | undefined

  return {
    metrics: ports.metrics,
    async call(isFlood) {
      const forged = isFlood ? Array.from({ length: 40 }, (_, at) => bearer(`${at}.b.c`)) : []
      const proof = { url: `${ORIGIN}/bound`, token: boundToken }
      sessions += 1
      const logoutToken = await transmitter.logoutToken({ sid: `session ${sessions}` })
      send('/bound', { headers: await dpop.headers(proof) })
      send('/partner', bearer(token))
      send('/opaque', bearer(opaque))
      send('/onwards', {})
      send('/logout', { method: 'POST', body: new URLSearchParams({ logout_token: logoutToken }) })
      for (const each of [bearer(token), bearer(token), ...forged]) send('/', each)
    },
    async rotateKey() {
      // The token that is sent is of the former one, so both are published.
      await issuer.rotate({ publish: 'both' })
    },
    replaceWorker: () => void child.send('replace'),
    breakAll() {
      outage = issuer.outage('hang')
      redis.pause()
      partner.isBroken = true
    },
    repairAll() {
      outage?.restore()
      redis.resume()
      partner.isBroken = false
    },
    async [Symbol.asyncDispose]() {
      if (child.connected) child.disconnect()
      await exited
      await redis[Symbol.asyncDispose]()
      await partner.close()
      await service.close()
      await introspection.close()
    },
  }
}

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

interface Call extends Pick<RequestInit, 'method' | 'body'> {
  readonly headers?: Readonly<Record<string, string>>
}

/** Requests that wait, of each path. What is more is not sent: something hangs. */
const MOST = 64

function sender(url: string): (path: string, init: Call) => void {
  const waiting = new Map<string, number>()
  const add = (path: string, by: number) => waiting.set(path, (waiting.get(path) ?? 0) + by)
  return (path, init) => {
    if ((waiting.get(path) ?? 0) >= MOST) return
    add(path, 1)
    // Each on a connection of its own, so that both workers are asked. One of them may have been killed.
    const { headers = {}, ...others } = init
    fetch(url + path, { ...others, headers: { ...headers, connection: 'close' } })
      .then(async (response) => await response.arrayBuffer())
      .catch(() => undefined)
      .finally(() => add(path, -1))
  }
}

/** A key document of somebody else, with an entry that cannot be used while it is broken. */
async function createPartner(jwk: object) {
  const partner = { isBroken: false, url: '', close }
  const server = createServer((_request, response) => {
    const broken = partner.isBroken ? [{ kty: 'RSA', n: 'AQAB', e: 'AQAB' }] : []
    response.end(JSON.stringify({ keys: [jwk, ...broken] }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it listens on a port
  partner.url = `http://127.0.0.1:${port}/`
  async function close(): Promise<void> {
    server.close()
    server.closeAllConnections()
  }
  return partner
}

import { AuthError, createVerifier, type Verifier } from '@portcullis/core'
import {
  redisRevocations,
  type RedisRevocations,
  type RedisRevocationsOptions,
} from '@portcullis/redis'
import { createTestIssuer } from '@portcullis/testing'

import { type Proxy, startProxy } from './proxy.ts'
import { type RedisServer, type ServerOptions, startRedis } from './redis-server.ts'
import { until } from './waiting.ts'

export const STREAM = 'portcullis:revocations'
/** Seconds. Short, so that tests that wait for it are; an answer may take a quarter of it, also on a busy machine. */
export const MAX_STALENESS = 2
export const ISSUER = 'https://auth.test'

const issuer = await createTestIssuer({ algorithm: 'ES256', issuer: ISSUER, lifetime: 3600 })

/** A token that can be revoked by itself. */
export interface Issued {
  readonly token: string
  readonly claims: { readonly iss: string; readonly jti: string; readonly exp: number }
}

let issued = 0

/** @param claims Besides the usual ones, or in their place. */
export async function issue(
  claims: { exp?: number; [name: string]: unknown } = {},
): Promise<Issued> {
  const jti = `token ${(issued += 1)}`
  const { exp = Math.floor(Date.now() / 1000) + 3600 } = claims
  const token = await issuer.token({ claims: { ...claims, jti, exp } })
  return { token, claims: { iss: ISSUER, jti, exp } }
}

export const KEY = JSON.stringify(issuer.publicJwk)

/** What one process of an API has: its replica, and a verifier that asks it. */
export interface Member extends AsyncDisposable {
  readonly revocations: RedisRevocations
  readonly verifier: Verifier
  /** `accepted`, or the reason of the refusal. */
  verdict(token: Issued): Promise<string>
  /** Waits until that is the verdict. */
  comesTo(verdict: string, token: Issued): Promise<void>
  /**
   * Presents a token until it is refused, and says for what, and how old what is known was before it was accepted for the last
   * time: seconds.
   */
  acceptedUntil(token: Issued): Promise<{ readonly reason: string; readonly age: number }>
}

export function join(url: string, options: Partial<RedisRevocationsOptions> = {}): Member {
  const { client, clock } = options
  const store = client === undefined ? { url } : { client }
  const revocations = redisRevocations({
    stream: STREAM,
    maxStaleness: MAX_STALENESS,
    ...options,
    ...store,
  })
  const verifier = createVerifier({
    ...issuer.verifierOptions,
    ...(clock === undefined ? {} : { clock }),
    revocations,
  })

  async function verdict({ token }: Issued): Promise<string> {
    try {
      await verifier.verify(token)
      return 'accepted'
    } catch (error) {
      if (error instanceof AuthError) return error.reason
      throw error
    }
  }

  return {
    revocations,
    verifier,
    verdict,
    comesTo: async (wanted, token) => {
      await until(`${token.claims.jti} is ${wanted}`, async () => (await verdict(token)) === wanted)
    },
    async acceptedUntil(token) {
      let age = 0
      let reason = ''
      await until('refused', async () => {
        const before = revocations.status().age ?? Infinity
        reason = await verdict(token)
        if (reason === 'accepted') age = before
        return reason !== 'accepted'
      })
      return { reason, age }
    },
    async [Symbol.asyncDispose]() {
      await revocations.close()
    },
  }
}

/** A server that knows one revoked token, a way to it that can be disturbed, and a process that reads it. */
export interface Scene extends AsyncDisposable {
  readonly server: RedisServer
  readonly proxy: Proxy
  readonly reader: Member
  readonly revoked: Issued
  readonly valid: Issued
}

export async function createScene(
  serverOptions: ServerOptions = {},
  options: Partial<RedisRevocationsOptions> = {},
): Promise<Scene> {
  const owned: AsyncDisposable[] = []
  const own = <Owned extends AsyncDisposable>(each: Owned): Owned => {
    owned.unshift(each)
    return each
  }
  const dispose = async () => {
    for (const each of owned) await each[Symbol.asyncDispose]()
  }
  try {
    const server = own(await startRedis(serverOptions))
    await createStream(server)
    const proxy = own(await startProxy(server.port))
    const reader = own(join(proxy.url, options))
    const [revoked, valid] = [await issue(), await issue()]
    await until('current', () => reader.revocations.status().state === 'current')
    await reader.revocations.revoke(revoked.claims)
    return { server, proxy, reader, revoked, valid, [Symbol.asyncDispose]: dispose }
  } catch (error) {
    await dispose()
    throw error
  }
}

/** As the README of the package says: an operator's program writes nothing else. */
export async function createStream(
  server: RedisServer,
  { id = 'first', replaces }: { readonly id?: string; readonly replaces?: string } = {},
): Promise<void> {
  const former = replaces === undefined ? [] : ['replaces', replaces]
  await server.command('XADD', STREAM, '0-1', 'v', 1, 'type', 'identity', 'id', id, ...former)
}

/** Revokes a token as a service does that has nothing of ours. */
export async function append(
  server: RedisServer,
  { claims: { iss, jti, exp } }: Issued,
  id = '*',
): Promise<string> {
  const record = ['v', 1, 'type', 'token', 'iss', iss, 'jti', jti, 'exp', exp]
  return String(await server.command('XADD', STREAM, 'NOMKSTREAM', id, ...record))
}

const APPEND = `
for index = tonumber(ARGV[1]), tonumber(ARGV[2]) do
  redis.call('XADD', KEYS[1], '*', 'v', '1', 'type', 'token', 'iss', ARGV[3], 'jti', 'many ' .. index, 'exp', ARGV[4])
end`

/** Revokes many tokens, by a script: the server writes them faster than they could be sent. */
export async function appendMany(server: RedisServer, count: number): Promise<void> {
  const exp = Math.floor(Date.now() / 1000) + 3600
  const batch = 20_000
  for (let first = 1; first <= count; first += batch) {
    const last = Math.min(count, first + batch - 1)
    await server.command('EVAL', APPEND, 1, STREAM, first, last, ISSUER, exp)
  }
}

/** @param seconds How far it is ahead. */
export function shiftedClock(seconds: number) {
  return {
    now: () => Date.now() / 1000 + seconds,
    monotonic: () => performance.now() / 1000,
    after(delay: number, fn: () => void) {
      const timer = setTimeout(fn, delay * 1000).unref()
      return () => {
        clearTimeout(timer)
      }
    },
  }
}

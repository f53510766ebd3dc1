import { backgroundClock } from '@portcullis/kit/time'

import { compactStream } from '../../../packages/redis/src/program/commands.ts'
import { openConnection } from '../../../packages/redis/src/store/connection.ts'
import { redisTransport } from '../../../packages/redis/src/store/redis-transport.ts'
import { openStream } from '../../../packages/redis/src/store/stream.ts'
import { type Proxy, startProxy } from './proxy.ts'
import { startRedis } from './redis-server.ts'
import {
  append,
  createStream,
  ISSUER,
  issue,
  type Issued,
  join,
  type Member,
  MAX_STALENESS,
  STREAM,
} from './scene.ts'
import { until } from './waiting.ts'

// A server, a reader whose way to it is disturbed, a writer whose way is not, and a watch on every verdict of the reader.

export interface World extends AsyncDisposable {
  /** The reader's way. */
  readonly proxy: Proxy
  revoke(token: number): Promise<void>
  revokeSubject(token: number): Promise<void>
  revokeLapsed(count: number): Promise<void>
  compact(): Promise<void>
  /** With its data. */
  restart(): Promise<void>
  /** From any state: the reader, and one that starts now, come to know everything. */
  heal(): Promise<void>
  /** What contradicts a promise, in words. */
  faults(): readonly string[]
}

const TOKENS = 12
const SUBJECTS = 3
/** Seconds: the event loop may be late when it looks at the clock. */
const LATE = 0.05

interface Watched {
  readonly issued: Issued
  readonly subject: string
  readonly iat: number
  /** When a revocation of it was asked for, and when it was recorded: seconds of the monotonic clock. */
  askedAt: number
  recordedAt: number
  /** Whether the reader has refused it as revoked. */
  isKnown: boolean
}

const now = () => performance.now() / 1000

async function record(affected: readonly Watched[], write: () => Promise<void>): Promise<void> {
  for (const token of affected) token.askedAt = Math.min(token.askedAt, now())
  await write()
  for (const token of affected) token.recordedAt = Math.min(token.recordedAt, now())
}

export async function createWorld(): Promise<World> {
  const server = await startRedis({ isPersistent: true })
  await createStream(server)
  const proxy = await startProxy(server.port)
  const reader = join(proxy.url)
  const writer = join(server.url)
  const known = await issue()
  for (const member of [reader, writer]) await member.comesTo('accepted', known)
  const tokens = await Promise.all(
    Array.from({ length: TOKENS }, async (_, index): Promise<Watched> => {
      const subject = `subject ${index % SUBJECTS}`
      const iat = Math.floor(Date.now() / 1000) - 10
      const issued = await issue({ sub: subject, iat })
      return { issued, subject, iat, askedAt: Infinity, recordedAt: Infinity, isKnown: false }
    }),
  )
  const found = new Set<string>()

  function watch(): void {
    for (const [index, token] of tokens.entries()) {
      const { iss, jti, exp } = token.issued.claims
      const claims = { iss, jti, exp, iat: token.iat, sub: token.subject }
      const asked = now()
      const status = reader.revocations.statusOf(claims, Date.now() / 1000)
      if (status === 'revoked') {
        token.isKnown = true
        if (token.askedAt === Infinity) found.add(`token ${index} was revoked by nobody`)
      } else if (token.isKnown) found.add(`token ${index} was forgotten`)
      else if (status === 'valid' && asked - token.recordedAt > MAX_STALENESS + LATE) {
        found.add(`token ${index} was accepted ${asked - token.recordedAt} s after it was revoked`)
      }
    }
  }
  const watching = setInterval(watch, 3)

  return {
    proxy,
    async revoke(index) {
      const token = tokens[index % TOKENS]
      if (token === undefined) return
      await record([token], async () => await writer.revocations.revoke(token.issued.claims))
    },
    async revokeSubject(index) {
      const sub = `subject ${index % SUBJECTS}`
      const affected = tokens.filter(({ subject }) => subject === sub)
      await record(
        affected,
        async () => await writer.revocations.revokeBefore({ iss: ISSUER, sub }),
      )
    },
    async revokeLapsed(count) {
      const exp = Math.floor(Date.now() / 1000) - 3600
      for (let index = 0; index < count; index += 1) await append(server, await issue({ exp }))
    },
    async compact() {
      const connection = openConnection(redisTransport({ url: server.url }), backgroundClock)
      await compactStream(openStream(STREAM, connection, 10), backgroundClock.now())
      connection.close()
    },
    async restart() {
      await server.restart()
      await until('the writer is back', async () => {
        return writer.revocations.status().state === 'current'
      })
    },
    async heal() {
      proxy.mode = 'pass'
      proxy.delay = 0
      const last = await issue()
      await writer.revocations.revoke(last.claims)
      await reader.comesTo('revoked', last)
      await reader.comesTo('accepted', known)
      watch()
      await using newcomer = join(server.url)
      await newcomer.comesTo('revoked', last)
      await newcomer.comesTo('accepted', known)
      for (const [index, { issued, recordedAt, askedAt }] of tokens.entries()) {
        for (const [name, member] of Object.entries({ reader, newcomer })) {
          const verdict = await settled(member, issued)
          const isWrong =
            (recordedAt < Infinity && verdict !== 'revoked') ||
            (askedAt === Infinity && verdict !== 'accepted')
          if (isWrong) found.add(`${name}: token ${index} is ${verdict} in the end`)
        }
      }
    },
    faults: () => [...found],
    async [Symbol.asyncDispose]() {
      clearInterval(watching)
      await reader[Symbol.asyncDispose]()
      await writer[Symbol.asyncDispose]()
      await proxy[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}

/** On a busy machine a replica may be too old for a moment. */
async function settled(member: Member, issued: Issued): Promise<string> {
  let verdict = ''
  await until('settled', async () => {
    verdict = await member.verdict(issued)
    return verdict !== 'stale'
  })
  return verdict
}

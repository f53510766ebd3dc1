import { randomUUID } from 'node:crypto'

import {
  type Claims,
  localRevocations,
  type Revocations,
  type RevocationEntry,
  type RevocationStatus,
  type RevocationWriter,
} from '@portcullis/core'
import { issuedBeforeEntry, marked, revokedTokenEntry } from '@portcullis/core/verifier'
import { instant } from '@portcullis/kit/time'

import type { Connect } from '../store/connection.ts'
import { RevocationStoreError } from '../store/errors.ts'
import { pacing, pauseAfter, sentinelPacing } from '../store/pacing.ts'
import { redisTransport } from '../store/redis-transport.ts'
import { checkRuntime } from '../store/runtime.ts'
import { whileWaiting } from '../store/time.ts'
import { createAcknowledged } from './acknowledged.ts'
import { createAhead } from './ahead.ts'
import { type LoadTrigger, publish, type RevocationsMessage } from './diagnostics.ts'
import { INITIAL_STATE, type ReplicaState } from './following.ts'
import {
  checkRedisRevocationsOptions,
  type RedisRevocationsOptions,
  type RedisRevocationsSettings,
} from './options.ts'
import { createOthers } from './others.ts'
import { createOurs } from './ours.ts'
import { startReading } from './reader.ts'
import { readiness, wordOf } from './readiness.ts'
import { afterFailure } from './replica-state.ts'
import { nameOf, standingOf } from './restoring.ts'
import {
  createStateLog,
  logLoad,
  type RedisRevocationsStatus,
  statusOf,
  whyUnknown,
} from './status.ts'
import { createWriteBack } from './write-back.ts'
import { createRecorder, createWriter } from './writer.ts'

// The revocations that several processes share: answers from its own copy, which a reader keeps up to date, and records by a writer.

/** The revocations of all processes that follow one stream. */
export interface RedisRevocations extends Revocations, RevocationWriter {
  statusOf(claims: Claims, now: number, digest?: string): RevocationStatus
  /**
   * Resolves when the stream has been read. With `whenStale: 'accept'` it resolves after one attempt, also after a failed
   * one.
   *
   * @throws RevocationStoreError if an attempt fails, or if the stream cannot be relied on. The process keeps trying.
   */
  ready(): Promise<void>
  subscribe(listener: () => void): () => void
  /** What is wrong in the state that `status()` has now; `undefined` in the state `current`. */
  whyUnknown(): string | undefined
  status(): RedisRevocationsStatus
  /** Ends both connections. Tokens that are known to be revoked are still refused. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * A copy (replica) of the revocations in a Redis stream, for `createVerifier({ revocations })`. It connects at once, and does
 * not keep the process alive.
 *
 * Does NOT make the stream: an operator does that once, with `portcullis-revocations create`.
 *
 * @throws TypeError for a wrong or misspelt option, and on Cloudflare Workers.
 */
export function redisRevocations(options: RedisRevocationsOptions): RedisRevocations {
  checkRuntime(
    'redisRevocations',
    'revocations of your own, whose statusOf asks a store at each request',
  )
  const settings = checkRedisRevocationsOptions(options)
  const { source, clock, maxStaleness } = settings
  const pace = { clock, ...sentinelPacing(maxStaleness, pacing(maxStaleness).answer) }
  return replicatedRevocations(settings, redisTransport(source, pace))
}

type Told = Pick<RevocationsMessage, 'event'> & Partial<RevocationsMessage>

const NOTHING_ELSE = {
  trigger: undefined,
  records: undefined,
  duration: undefined,
  reason: undefined,
  detail: undefined,
}

/** Entries of one reply: about 200 KB, and the event loop is free again after some 15 ms. */
const PAGE = 2000

const WITHOUT_DIGEST =
  'revoke: the token has no jti, and statusOf is called without its digest, the third argument: pass it on, or see revokeBefore'

export function replicatedRevocations(
  settings: Omit<RedisRevocationsSettings, 'source'>,
  connect: Connect,
  random: () => number = Math.random,
  page: number = PAGE,
): RedisRevocations {
  const { stream, identity, acknowledge, maxStaleness, whenStale, max, clock } = settings
  const process = randomUUID()
  const index = localRevocations({ max, clock })
  const others = createOthers(max, clock)
  const ahead = createAhead(index, max, clock)
  const ours = createOurs(index, max, clock)
  const known = [index, ours, others, ahead]
  const writer = createWriter(connect, stream, clock, acknowledge?.replicas ?? 0)
  const acknowledged = createAcknowledged()
  const record = createRecorder(writer, ours, ahead.hasRoomFor, failed, onAppended)
  const watchers = new Set<() => void>()
  let state: ReplicaState = { ...INITIAL_STATE, identity }
  let lastWord: RevocationsMessage['state'] = 'loading'
  /** Then a token that is revoked by its digest may still be accepted, by whoever asks so. */
  let isAskedWithoutDigest = false

  const logState = createStateLog()

  const status = () => statusOf(state, index.size, stream, instant(clock), maxStaleness)

  const word = () => wordOf(state, instant(clock), maxStaleness)

  /** The only assignment of the state. */
  function replace(next: ReplicaState, told?: Told): void {
    state = next
    if (told !== undefined || word() !== lastWord) tell({ event: 'state', ...told })
    lastWord = word()
    logState(status)
    for (const watcher of watchers) watcher()
    writeBack.look()
  }

  function onAppended(id: string, appended: readonly string[]): void {
    acknowledged.add(id, appended, instant(clock))
  }

  function name(): string | undefined {
    const standing = standingOf(process, state, maxStaleness)
    return standing && nameOf(standing)
  }

  function tell(message: Told): void {
    publish(() => ({ ...NOTHING_ELSE, source: revocations, state: word(), ...message }))
  }

  function onLoad(trigger: LoadTrigger, records: number, duration: number): void {
    tell({ event: 'load', trigger, records, duration })
    logLoad(trigger, records, duration)
  }

  function failed(error: RevocationStoreError): number {
    const { reason, message: detail } = error
    replace(afterFailure(state, error, instant(clock)), { event: 'failure', reason, detail })
    return pauseAfter(state.failures, maxStaleness, random())
  }

  function onFull(): void {
    failed(new RevocationStoreError('full'))
  }

  async function append(entry: RevocationEntry): Promise<void> {
    if (state.isClosed) throw new RevocationStoreError('closed')
    await record(entry)
  }

  async function ready(): Promise<void> {
    const { reports, lastFailure } = state
    await new Promise<void>((resolve, reject) => {
      function judge(): void {
        const verdict = readiness(state, word(), { reports, lastFailure }, whenStale)
        if (verdict === undefined) return
        watchers.delete(judge)
        if (verdict === 'ready') resolve()
        else reject(verdict)
      }
      watchers.add(judge)
      judge()
    })
  }

  async function close(): Promise<void> {
    if (state.isClosed) return
    replace({ ...state, isClosed: true })
    writer.close()
    writeBack.close()
    endReading()
  }

  const revocations: RedisRevocations = marked({
    statusOf(claims, now, digest) {
      if (typeof digest !== 'string') isAskedWithoutDigest = true
      for (const each of known) {
        if (each.statusOf(claims, now, digest) === 'revoked') return 'revoked'
      }
      return whenStale === 'accept' || word() === 'current' ? 'valid' : 'unknown'
    },
    ready: async () => await whileWaiting(ready()),
    subscribe(listener) {
      const ends = known.map((each) => each.subscribe(listener))
      return () => {
        for (const end of ends) end()
      }
    },
    async revoke(token) {
      const entry = revokedTokenEntry('revoke', token)
      if (isAskedWithoutDigest && entry.type === 'digest') throw new TypeError(WITHOUT_DIGEST)
      await append(entry)
    },
    revokeBefore: async (whose, given = {}) =>
      await append(issuedBeforeEntry('revokeBefore', whose, given, clock.now())),
    whyUnknown: () => whyUnknown(status()),
    status,
    close,
    [Symbol.asyncDispose]: close,
  })

  const parts = { ours, clock, maxStaleness, random, state: () => state, replace }
  const writeBack = createWriteBack({ ...parts, connect, key: stream, process, onAppended })
  const { read: onRead, look } = acknowledged
  const endReading = startReading(
    connect,
    stream,
    { ...parts, index, others, ahead, page, name, onRead, look, onLoad, onFull },
    failed,
  )
  return revocations
}

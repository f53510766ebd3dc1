import type { Clock } from '@portcullis/core'

import {
  type Connect,
  type Connection,
  LONGEST_REST,
  MOST_WAITING,
  openConnection,
} from '../store/connection.ts'
import { RevocationStoreError, storeError } from '../store/errors.ts'
import { pauseAfter } from '../store/pacing.ts'
import { ReplayStoreError, replayStoreError } from './errors.ts'
import { isAnswer, SCRIPT, SCRIPT_HASH } from './script.ts'

// Asks the store about used proofs: when a connection is made, used, checked and given up.

/** Seconds. An operator may change how the store frees memory while it runs. */
const LONGEST_TRUST = 60
/** The longest pause after failures, and the time between questions to sentinels, are a quarter of it. Seconds. */
export const PACE = 10

export interface ReplayStore {
  /** @param words Of the script; without them only the store is looked at. @throws ReplayStoreError */
  ask(words?: readonly string[]): Promise<'new' | 'replayed' | 'full' | undefined>
  close(): void
}

interface Checked {
  readonly connection: Connection
  /** Whether it answered before it was looked at. */
  readonly isReused: boolean
  readonly since: number
  readonly outcome: Promise<void>
}

/**
 * One connection for all, opened by the first. One that the server has ended is replaced at once, and after a failure there is a pause, in
 * which whoever asks is told at once. A proof is never sent twice: the store may have remembered it, and would say that it was replayed.
 */
export function createReplayStore(
  connect: Connect,
  clock: Clock,
  timeout: number,
  random: () => number,
): ReplayStore {
  let checked: Checked | undefined
  let usedAt = -Infinity
  let failures = 0
  let pausedUntil = -Infinity
  let lastFailure = new ReplayStoreError('unreachable')
  let isClosed = false
  /** How many ask: they wait for the connection and its check, too. */
  let asking = 0

  function connected(): Checked {
    const now = clock.monotonic()
    const isOver = now - usedAt > LONGEST_REST || checked?.connection.hasEnded() === true
    if (checked !== undefined && isOver) drop(checked.connection)
    usedAt = now
    if (checked === undefined || now - checked.since > LONGEST_TRUST) {
      const isReused = checked !== undefined
      const connection = checked?.connection ?? openConnection(connect, clock)
      const outcome = checkMemory(connection, timeout)
      // Whoever asks is told.
      outcome.catch(() => undefined)
      checked = { connection, isReused, since: now, outcome }
    }
    return checked
  }

  function drop(connection: Connection): void {
    connection.close()
    if (checked?.connection === connection) checked = undefined
  }

  function failed(error: unknown, connection: Connection): ReplayStoreError {
    const failure = storeError(error)
    const told = error instanceof ReplayStoreError ? error : replayStoreError(failure)
    // All that waited for one connection fail with it: that is one failure.
    if (checked?.connection === connection && told.reason !== 'out_of_memory') {
      drop(connection)
      failures += 1
      pausedUntil = clock.monotonic() + pauseAfter(failures, PACE, random())
      lastFailure = told
    }
    return told
  }

  async function runBy(connection: Connection, words: readonly string[]) {
    try {
      return await run(connection, words, timeout)
    } catch (error) {
      throw failed(error, connection)
    }
  }

  /** A connection that can be used. One that broke before anything of a proof was sent by it is replaced, once. */
  async function usable(): Promise<Connection> {
    const first = connected()
    const isSound = await first.outcome.then(
      () => !first.connection.hasEnded(),
      (error: unknown) => {
        if (first.isReused && storeError(error).reason === 'unreachable') return false
        throw failed(error, first.connection)
      },
    )
    if (isSound) return first.connection
    drop(first.connection)
    const second = connected()
    try {
      await second.outcome
    } catch (error) {
      throw failed(error, second.connection)
    }
    return second.connection
  }

  return {
    async ask(words) {
      if (isClosed) throw new ReplayStoreError('closed')
      if (clock.monotonic() < pausedUntil) throw lastFailure
      // One place is left for the look at the memory of the store.
      if (asking >= MOST_WAITING - 1) throw new ReplayStoreError('busy')
      asking += 1
      try {
        const connection = await usable()
        const answer = words === undefined ? undefined : await runBy(connection, words)
        failures = 0
        return answer
      } finally {
        asking -= 1
      }
    },
    close() {
      isClosed = true
      if (checked !== undefined) drop(checked.connection)
    },
  }
}

/** The script is sent as a whole only to a store that does not have it. */
async function run(connection: Connection, words: readonly string[], timeout: number) {
  const reply = await connection
    .ask(['EVALSHA', SCRIPT_HASH, ...words], timeout)
    .catch(async (error: unknown) => {
      const isMissing = error instanceof RevocationStoreError && error.detail === 'NOSCRIPT'
      if (!isMissing) throw error
      return await connection.ask(['EVAL', SCRIPT, ...words], timeout)
    })
  if (!isAnswer(reply)) throw new ReplayStoreError('unsupported')
  return reply
}

/** A store that frees memory by removing keys forgets proofs, and says so to nobody. */
async function checkMemory(connection: Connection, timeout: number): Promise<void> {
  const reply = await connection.ask(['INFO', 'memory'], timeout)
  const text = typeof reply === 'string' ? reply : ''
  const limit = /^maxmemory:(?<octets>\d+)\r?$/m.exec(text)?.groups?.['octets']
  const policy = /^maxmemory_policy:(?<name>[\w-]+)\r?$/m.exec(text)?.groups?.['name']
  if (limit === undefined || policy === undefined) throw new ReplayStoreError('unsupported')
  if (limit !== '0' && policy !== 'noeviction') throw new ReplayStoreError('evicting', policy)
}

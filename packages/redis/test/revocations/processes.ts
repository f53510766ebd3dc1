import { type ManualClock, manualClock } from '@portcullis/testing'
import { onTestFinished } from 'vitest'

import { run } from '../../src/program/program.ts'
import {
  type RedisRevocations,
  replicatedRevocations,
} from '../../src/revocations/redis-revocations.ts'
import type { Connect } from '../../src/store/connection.ts'
import { readRecord } from '../../src/store/record.ts'
import { type FakeStore, fakeStore, KEY } from '../store/fake-store.ts'

export const ISS = 'https://auth.test'
export const MAX_STALENESS = 10

interface Processes {
  readonly clock: ManualClock
  readonly store: FakeStore
  /** A process that begins to follow the store. */
  start: (options?: {
    identity?: string
    acknowledge?: { readonly replicas: number }
    /** Its way to the store, where it is another. */
    connect?: Connect
    random?: () => number
    whenStale?: 'refuse' | 'accept'
    max?: number
    /** Entries of a page. */
    page?: number
  }) => RedisRevocations
}

/** A store, and processes that follow it. */
export function processes(): Processes {
  const clock = manualClock()
  const store = fakeStore(clock)
  return {
    clock,
    store,
    start({ identity, acknowledge, connect, random, whenStale = 'refuse', max = 1000, page } = {}) {
      const settings = {
        stream: KEY,
        identity,
        acknowledge,
        maxStaleness: MAX_STALENESS,
        whenStale,
        max,
        clock,
      }
      const way = connect ?? store.connect
      const started = replicatedRevocations(settings, way, random ?? (() => 1), page)
      onTestFinished(async () => {
        await started.close()
      })
      return started
    },
  }
}

/** The same with a stream, and a process that has read it. */
export async function following(): Promise<Processes & { readonly replica: RedisRevocations }> {
  const made = processes()
  made.store.create('first')
  const replica = made.start()
  await replica.ready()
  return { ...made, replica }
}

interface Operated {
  readonly code: number
  readonly said: string
  /** What the first line that is printed says. */
  readonly data: Readonly<Record<string, unknown>>
}

/** Runs `portcullis-revocations` with a store. */
export function operatorOf(store: FakeStore): (command: string) => Promise<Operated> {
  return async (command) => {
    const printed: string[] = []
    const said: string[] = []
    const code = await run(command.split(' '), {
      environment: { REDIS_URL: 'redis://127.0.0.1' },
      input: (async function* () {})(),
      connect: () => store.connect,
      print: (line) => printed.push(line),
      say: (line) => said.push(line),
    })
    const data = JSON.parse(printed[0] ?? '{}') as Readonly<Record<string, unknown>>
    return { code, said: said.join('\n'), data }
  }
}

export function tokenRecord(jti: string, exp?: number): readonly string[] {
  const end = exp === undefined ? [] : ['exp', String(exp)]
  return ['v', '1', 'type', 'token', 'iss', ISS, 'jti', jti, ...end]
}

/** The way of one process to the store. */
export interface Way {
  readonly connect: Connect
  /** The commands that its user may not send. */
  readonly forbidden: Set<string>
  isDown: boolean
  /** Then the store does not hear of the end of a connection, and goes on to list it. */
  isHalfOpen: boolean
  cut(): void
}

export function wayTo(store: FakeStore): Way {
  const open = new Set<() => void>()
  const way: Way = {
    forbidden: new Set(),
    isDown: false,
    isHalfOpen: false,
    cut() {
      for (const end of open) end()
    },
    connect() {
      const transport = store.connect()
      let lose: (error: Error) => void
      const lost = new Promise<never>((_, reject) => {
        lose = reject
      })
      lost.catch(() => undefined)
      function end(): void {
        open.delete(end)
        lose(new Error('Socket closed unexpectedly'))
        if (!way.isHalfOpen) transport.destroy()
      }
      open.add(end)
      return {
        async send(command) {
          if (way.isDown) throw new Error('Socket closed unexpectedly')
          if (way.forbidden.has(command[0] ?? ''))
            throw new Error('NOPERM this user has no permissions')
          return await Promise.race([transport.send(command), lost])
        },
        destroy: end,
      }
    },
  }
  return way
}

/** Of the tokens that the stream has revoked, as often as it has. */
export function jtiListIn(store: FakeStore): readonly string[] {
  const entries = store.data.get(KEY)?.entries ?? []
  return entries.flatMap(({ fields }) => {
    const record = readRecord(fields)
    return record.kind === 'revocation' && record.entry.type === 'token' ? [record.entry.jti] : []
  })
}

export function jtisIn(store: FakeStore): ReadonlySet<string> {
  return new Set(jtiListIn(store))
}

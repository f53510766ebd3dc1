import { type ManualClock, manualClock } from '@portcullis/testing'
import { onTestFinished } from 'vitest'

import {
  type RedisRevocations,
  replicatedRevocations,
} from '../../src/revocations/redis-revocations.ts'
import { type FakeStore, fakeStore, KEY } from '../store/fake-store.ts'

export const ISS = 'https://auth.test'
export const MAX_STALENESS = 10

interface Processes {
  readonly clock: ManualClock
  readonly store: FakeStore
  /** A process that begins to follow the store. */
  start: (options?: {
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
    start({ whenStale = 'refuse', max = 1000, page } = {}) {
      const settings = { stream: KEY, maxStaleness: MAX_STALENESS, whenStale, max, clock }
      const started = replicatedRevocations(settings, store.connect, () => 1, page)
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

export function tokenRecord(jti: string, exp?: number): readonly string[] {
  const end = exp === undefined ? [] : ['exp', String(exp)]
  return ['v', '1', 'type', 'token', 'iss', ISS, 'jti', jti, ...end]
}

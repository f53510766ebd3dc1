import { type ManualClock, manualClock } from '@portcullis/testing'
import { describe, expect, onTestFinished, test } from 'vitest'

import {
  beginFlight,
  flightOrPause,
  flightStep,
  lend,
  outcomeOf,
  type WaitUntil,
} from '../../src/calls/flight.ts'
import { createWaitingRoom, type Place } from '../../src/waiting.ts'
import { REFUSALS } from '../refusals.ts'

const ENDED = new Error('This promise was created by a request that has since ended')

async function forever(): Promise<never> {
  return await new Promise<never>(() => {})
}

function fails(): never {
  throw new TypeError('Illegal invocation')
}

function begin(
  work: () => Promise<string>,
  {
    waitUntil,
    endsWithRequest = true,
    clock = manualClock(),
  }: { waitUntil?: WaitUntil; endsWithRequest?: boolean; clock?: ManualClock } = {},
) {
  return beginFlight(work, { clock, timeout: 5, waitUntil, endsWithRequest })
}

describe('whether who must wait joins', () => {
  test.each([
    ['nobody waits', 0, false, false, 5, 'replace'],
    ['nobody waits, and the runtime lets it go on', 0, true, false, 5, 'join'],
    ['somebody waits', 1, false, false, 5, 'join'],
    ['somebody waits, to its last moment', 1, false, false, 0.001, 'join'],
    ['somebody has heard that it never settles', 1, false, true, 5, 'replace'],
    ['the same of one that the runtime was to let go on', 1, true, true, 5, 'replace'],
    ['it should have ended', 1, true, false, 0, 'replace'],
  ] as const)('%s', (_title, waiting, isHeld, isLost, left, word) => {
    expect(flightStep({ waiting, isHeld, isLost, left }, true)).toBe(word)
    // Where nothing ends with a request, one is joined as long as it is under way.
    expect(flightStep({ waiting, isHeld, isLost, left }, false)).toBe('join')
  })
})

describe('a flight', () => {
  test('counts as waited for until the last one has left', async () => {
    const clock = manualClock()
    const flight = begin(forever, { clock })
    expect(flight.isOrphaned()).toBe(true)
    const room = createWaitingRoom(clock, 5, REFUSALS)
    const leaving = new AbortController()
    const wait = async (signal: AbortSignal | undefined) =>
      await room.wait(
        { arrived: undefined, tokenSize: 0, signal },
        async (place: Place) => await flight.wait(place),
      )
    const first = wait(leaving.signal)
    const second = wait(undefined)
    expect(flight.isOrphaned()).toBe(false)
    leaving.abort(new Error('left'))
    await expect(first).rejects.toThrow('left')
    expect(flight.isOrphaned()).toBe(false)
    await Promise.all([expect(second).rejects.toThrow('late after 5 s'), clock.advance(5)])
    expect(flight.isOrphaned()).toBe(true)
  })

  test('that ends with an error of the platform has no outcome, and is waited for by nobody else', async () => {
    const flight = begin(async () => await Promise.reject(ENDED))
    const stays = flight.wait()
    expect(await flight.wait()).toBeUndefined()
    expect(flight.isOrphaned()).toBe(true)
    expect(await stays).toBeUndefined()
  })

  test('is replaced a second after it has begun, and no sooner', async () => {
    const clock = manualClock()
    await clock.advance(100)
    const orphan = begin(forever, { clock })
    const next = begin(forever, { clock, waitUntil: () => true })
    const another = () => next
    expect(flightOrPause(orphan, clock, another)).toBe(1)
    await clock.advance(0.75)
    expect(flightOrPause(orphan, clock, another)).toBe(0.25)
    await clock.advance(0.25)
    expect(flightOrPause(orphan, clock, another)).toBe(next)
    expect(flightOrPause(undefined, clock, another)).toBe(next)
    expect(flightOrPause(next, clock, fails)).toBe(next)
  })

  test('is waited for a second longer than it may take, where nobody hears that it has ended', async () => {
    const clock = manualClock()
    const flight = begin(forever, { clock })
    const waiting = flight.wait()
    await clock.advance(5.9)
    expect([flight.isOrphaned(), flight.untilGivenUp()]).toEqual([false, expect.closeTo(0.1)])
    await clock.advance(0.1)
    expect(await waiting).toBeUndefined()
    expect(flight.isOrphaned()).toBe(true)
    // Whoever comes later hears so at once.
    const late = flight.wait()
    await clock.advance(0)
    expect(await late).toBeUndefined()
  })

  test('keeps no timer for somebody who has left, and none where nothing ends with a request', async () => {
    const manual = manualClock()
    let timers = 0
    const clock: ManualClock = {
      ...manual,
      after(seconds, run) {
        timers++
        const cancel = manual.after(seconds, run)
        return () => {
          timers--
          cancel()
        }
      },
    }
    const cancels: (() => void)[] = []
    void begin(forever, { clock }).wait({ whenLeft: (cancel) => cancels.push(cancel) })
    expect(timers).toBe(1)
    for (const cancel of cancels) cancel()
    expect(timers).toBe(0)
    expect(await begin(async () => await Promise.resolve('keys'), { clock }).wait()).toBe('keys')
    expect(timers).toBe(0)
    void begin(forever, { clock, endsWithRequest: false }).wait()
    expect(timers).toBe(0)
  })

  test('that ends so while nobody waits is no unhandled rejection', async () => {
    const unhandled: unknown[] = []
    const onUnhandled = (reason: unknown) => unhandled.push(reason)
    process.on('unhandledRejection', onUnhandled)
    onTestFinished(() => void process.off('unhandledRejection', onUnhandled))
    begin(async () => await Promise.reject(ENDED))
    await new Promise<void>((resolve) => void setImmediate(() => setImmediate(resolve)))
    expect(unhandled).toEqual([])
  })

  test('that fails elsewhere tells whoever waits: it is a fault of ours, and no end of a request', async () => {
    const fault = new TypeError('a bug')
    const flight = begin(async () => await Promise.reject(fault), { endsWithRequest: false })
    await expect(flight.wait()).rejects.toBe(fault)
  })

  test('is given to the runtime, which learns nothing of its outcome and of no error', async () => {
    for (const work of [async () => 'secret', async () => await Promise.reject(ENDED)]) {
      const given: Promise<unknown>[] = []
      const flight = begin(work, { waitUntil: (each) => given.push(each) })
      expect(flight.isOrphaned()).toBe(false)
      expect(given).toHaveLength(1)
      expect(await given[0]).toBeUndefined()
    }
  })

  test('is not held by a function that fails, at once or later', async () => {
    expect(begin(forever, { waitUntil: fails }).isOrphaned()).toBe(true)
    const later = begin(forever, { waitUntil: async () => await Promise.reject(ENDED) })
    expect(later.isOrphaned()).toBe(false)
  })
})

const place = (hasLeft: boolean): Place => ({ hasLeft, whenLeft() {} })

describe('somebody who looks again', () => {
  test('waits for the next one where a flight was lost', async () => {
    const clock = manualClock()
    const flights = [
      begin(async () => await Promise.reject(ENDED)),
      begin(async () => 'outcome'),
    ].values()
    expect(await outcomeOf(() => flights.next().value ?? fails(), clock, place(false))).toBe(
      'outcome',
    )
  })

  test('does not look once they have left', async () => {
    expect(await outcomeOf(fails, manualClock(), place(true))).toBeUndefined()
  })

  test('has no need of a place', async () => {
    expect(await outcomeOf(() => begin(async () => 'outcome'), manualClock())).toBe('outcome')
  })
})

test('a function is lent for one call: what begins later is not held by it', () => {
  const given: unknown[] = []
  const { waitUntil, takeBack } = lend((work) => given.push(work))
  expect(begin(forever, waitUntil === undefined ? {} : { waitUntil }).isOrphaned()).toBe(false)
  takeBack()
  expect(begin(forever, waitUntil === undefined ? {} : { waitUntil }).isOrphaned()).toBe(true)
  expect(given).toHaveLength(1)
  expect(lend(undefined).waitUntil).toBeUndefined()
})

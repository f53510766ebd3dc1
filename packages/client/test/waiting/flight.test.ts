import { manualClock } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { createClosing } from '../../src/waiting/abort.ts'
import { beginFlight, flightStep } from '../../src/waiting/flight.ts'
import { failureOf, hang } from '../login-service.ts'

describe('whether who must wait joins', () => {
  test.each([
    ['nobody waits', 0, false, 5, 'replace'],
    ['somebody waits', 1, false, 5, 'join'],
    ['somebody has heard that it never settles', 1, true, 5, 'replace'],
    ['it should have ended', 1, false, 0, 'replace'],
  ] as const)('%s: %4$s', (_title, waiting, isLost, left, word) => {
    expect(flightStep({ waiting, isLost, left }, true)).toBe(word)
    // Where nothing ends with a request, one is joined as long as it is under way.
    expect(flightStep({ waiting, isLost, left }, false)).toBe('join')
  })
})

const begin = (work: () => Promise<string>, endsWithRequest = true) => {
  const clock = manualClock()
  return { clock, flight: beginFlight(work, { clock, longest: 5, endsWithRequest }) }
}

describe('a flight', () => {
  test('that ends with an error of the platform has no outcome', async () => {
    const { flight } = begin(async () => await Promise.reject(new Error('has since ended')))
    expect(await flight.wait()).toBeUndefined()
    expect(flight.isOrphaned()).toBe(true)
  })

  test('is waited for a second longer than it may take, where nobody hears that it has ended', async () => {
    const { clock, flight } = begin(hang)
    const waiting = flight.wait()
    await clock.advance(5.9)
    expect(flight.isOrphaned()).toBe(false)
    await clock.advance(0.1)
    expect(await waiting).toBeUndefined()
    expect(flight.isOrphaned()).toBe(true)
  })

  test('counts whoever waits until their signal ends that', async () => {
    const { flight } = begin(hang)
    const leaving = new AbortController()
    const left = failureOf(flight.wait(leaving.signal))
    expect(flight.isOrphaned()).toBe(false)
    leaving.abort()
    expect(await left).toMatchObject({ code: 'aborted' })
    expect(flight.isOrphaned()).toBe(true)
  })
})

test('the end of a client is told once, also to whoever asks afterwards, and not to who took it back', () => {
  const closing = createClosing()
  const told: string[] = []
  closing.onClose(() => told.push('before'))
  closing.onClose(() => told.push('taken back'))()
  expect(closing.isClosed).toBe(false)
  closing.close()
  closing.close()
  closing.onClose(() => told.push('after'))
  expect([closing.isClosed, told]).toEqual([true, ['before', 'after']])
})

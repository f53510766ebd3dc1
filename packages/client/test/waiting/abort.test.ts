import { beginFlight } from '@portcullis/kit/calls'
import { manualClock } from '@portcullis/testing'
import { expect, test } from 'vitest'

import { createClosing, waitFor } from '../../src/waiting/abort.ts'
import { failureOf, hang } from '../login-service.ts'

function begin(work: () => Promise<string>) {
  const clock = manualClock()
  const options = { clock, timeout: 5, waitUntil: undefined, endsWithRequest: true }
  return beginFlight(work, options)
}

test('a flight counts whoever waits until their signal ends that', async () => {
  const flight = begin(hang)
  const leaving = new AbortController()
  const left = failureOf(waitFor(flight, leaving.signal))
  expect(flight.isOrphaned()).toBe(false)
  leaving.abort()
  expect(await left).toMatchObject({ code: 'aborted' })
  expect(flight.isOrphaned()).toBe(true)
})

test('a flight has its outcome for whoever waits, and none where it ends with an error of the platform', async () => {
  expect(
    await waitFor(
      begin(async () => 'outcome'),
      undefined,
    ),
  ).toBe('outcome')
  const lost = begin(async () => await Promise.reject(new Error('has since ended')))
  expect(await waitFor(lost, new AbortController().signal)).toBeUndefined()
  expect(lost.isOrphaned()).toBe(true)
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

import { expect, test } from 'vitest'

import { createTally } from '../../src/try/tally.ts'

const call = { at: 0, status: 200, took: 0.01 }

test('genuine and forged tokens are counted apart, for each guard', () => {
  const tally = createTally(60)
  tally.answered('portcullis', { ...call, kind: 'old' })
  tally.answered('portcullis', { ...call, kind: 'new' })
  tally.answered('portcullis', { ...call, kind: 'forged', status: 401 })
  tally.answered('jose', { ...call, kind: 'new', status: 401 })
  tally.answered('jose', { ...call, kind: 'forged' })
  expect(tally.of('portcullis')).toMatchObject({
    accepted: 2,
    refused: 0,
    forgedRefused: 1,
    forgedAccepted: 0,
  })
  expect(tally.of('jose')).toMatchObject({
    accepted: 0,
    refused: 1,
    forgedRefused: 0,
    forgedAccepted: 1,
  })
})

test('the first token of the new key is the one that was sent first, in whatever order answers come', () => {
  const tally = createTally(60)
  expect(tally.of('jose').firstOfNewKey).toBeUndefined()
  tally.answered('jose', { kind: 'new', at: 20.5, status: 200, took: 0.01 })
  tally.answered('jose', { kind: 'new', at: 20.25, status: 401, took: 0.5 })
  tally.answered('jose', { kind: 'new', at: 20.75, status: 200, took: 0.01 })
  expect(tally.of('jose').firstOfNewKey).toEqual({ status: 401, seconds: 0.5 })
})

test('requests for keys are counted, and those of the flood once more', () => {
  const tally = createTally(60)
  for (let number = 0; number < 2; number++) tally.keysAsked('portcullis')
  tally.floodBegins()
  for (let number = 0; number < 2; number++) tally.keysAsked('portcullis')
  expect(tally.of('portcullis')).toMatchObject({ keyRequests: 4, keyRequestsInFlood: 2 })
  expect(tally.of('jose')).toMatchObject({ keyRequests: 0, keyRequestsInFlood: 0 })
})

test('a course has a part for each second, and one refused token marks it', () => {
  const tally = createTally(4)
  tally.answered('jose', { ...call, kind: 'old', at: 0.5 })
  tally.answered('jose', { ...call, kind: 'old', at: 2, status: 503 })
  tally.answered('jose', { ...call, kind: 'old', at: 2.5 })
  // Sent just before the end.
  tally.answered('jose', { ...call, kind: 'old', at: 4 })
  tally.answered('jose', { ...call, kind: 'forged', at: 1.5, status: 401 })
  expect(tally.of('jose').course).toEqual(['accepted', 'none', 'refused', 'accepted'])
})

test.each([
  [0.5, 1],
  [3600, 60],
])('a course of %d seconds has %d parts', (seconds, parts) => {
  expect(createTally(seconds).of('jose').course).toHaveLength(parts)
})

test('what was read before does not change', () => {
  const tally = createTally(4)
  const before = tally.of('jose')
  tally.answered('jose', { ...call, kind: 'old' })
  expect(before).toMatchObject({ accepted: 0, course: ['none', 'none', 'none', 'none'] })
})

import { localRevocations, type RevocationEntry } from '@portcullis/core'
import { manualClock } from '@portcullis/testing'
import { expect, test } from 'vitest'

import { createOurs } from '../../src/revocations/ours.ts'

// What belongs to the followed stream, and finds no room in the index.

const token = (jti: string, exp?: number): RevocationEntry => ({
  type: 'token',
  jti,
  ...(exp === undefined ? {} : { exp }),
})

function crowded() {
  const clock = manualClock()
  const index = localRevocations({ max: 2, clock })
  const ours = createOurs(index, 2, clock)
  index.load([token('first', clock.now() + 1)])
  ours.take(['a', 'b', 'c'].map((jti) => token(jti)))
  const places = () =>
    ['first', 'a', 'b', 'c'].map((jti) => [
      jti,
      index.statusOf({ jti }, clock.now()),
      ours.statusOf({ jti }, clock.now()),
    ])
  const known = () =>
    [...ours.entries()].flatMap((entry) => ('jti' in entry ? [entry.jti] : [])).toSorted()
  return { clock, index, ours, places, known }
}

test('the index takes as much as it has room for, and the rest is refused and written back all the same', () => {
  const { ours, places, known } = crowded()
  expect(places()).toEqual([
    ['first', 'revoked', 'valid'],
    ['a', 'revoked', 'valid'],
    ['b', 'valid', 'revoked'],
    ['c', 'valid', 'revoked'],
  ])
  expect([ours.isFull, known()]).toEqual([true, ['a', 'b', 'c', 'first']])
})

test('what has lapsed leaves room for as many, and the rest waits on', async () => {
  const { clock, ours, places, known } = crowded()
  await clock.advance(700)
  await ours.retry()
  expect(places()).toEqual([
    ['first', 'valid', 'valid'],
    ['a', 'revoked', 'valid'],
    ['b', 'revoked', 'valid'],
    ['c', 'valid', 'revoked'],
  ])
  expect([ours.isFull, known()]).toEqual([true, ['a', 'b', 'c']])
})

test('it is full no more as soon as all has found room', async () => {
  const clock = manualClock()
  const index = localRevocations({ max: 1, clock })
  const ours = createOurs(index, 1, clock)
  index.load([token('first', clock.now() + 1)])
  ours.take([token('a')])
  await clock.advance(700)
  await ours.retry()
  expect([ours.isFull, index.size]).toEqual([false, 1])
})

test('whoever watches is told of what finds no room, and not of nothing', () => {
  const clock = manualClock()
  const index = localRevocations({ max: 1, clock })
  const ours = createOurs(index, 1, clock)
  let told = 0
  for (const each of [index, ours]) {
    each.subscribe(() => {
      told += 1
    })
  }
  ours.take([])
  expect(told).toBe(0)
  ours.take([token('a'), token('b')])
  expect(told).toBe(2)
  ours.keep([token('c')])
  expect(told).toBe(3)
})

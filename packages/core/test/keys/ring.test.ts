import type { Instant } from '@portcullis/kit/time'
import { describe, expect, test } from 'vitest'

import { afterQuestion, type CacheState, INITIAL_STATE } from '../../src/keys/cache-state.ts'
import {
  type FetchedRing,
  retiredKeys,
  type RetiredKey,
  withoutEndedOverlaps,
} from '../../src/keys/ring.ts'
import { at, keyOf, names, policy, succeed } from './states.ts'

const A = keyOf('A')
const B = keyOf('B')
const known = succeed(INITIAL_STATE, 0, [A])

function ringOf({ ring }: CacheState): FetchedRing {
  if (ring === undefined) throw new Error('there is no ring')
  return ring
}

function retiredIn(
  { ring, retired }: CacheState,
  now: Instant,
  under: { overlap: number },
): readonly RetiredKey[] {
  return retiredKeys(ring, retired, now, under)
}

describe('an overlap', () => {
  const lenient = { ...policy, overlap: 60 }
  const rotated = succeed(succeed(INITIAL_STATE, 0, [A], 'age', lenient), 10, [B], 'age', lenient)

  function trusted(state: CacheState, now: number): string[] {
    return names(withoutEndedOverlaps(ringOf(state), at(now), lenient).keys)
  }

  function retiredNames(state: CacheState, now: number): string[] {
    return names(retiredIn(state, at(now), lenient).map(({ key }) => key))
  }

  test('keeps a key trusted that long after the first document that lacked it', () => {
    const refreshed = succeed(rotated, 50, [B], 'age', lenient)
    expect(trusted(refreshed, 69.9)).toEqual(['B', 'A'])
    expect(retiredNames(refreshed, 69.9)).toEqual([])
    expect(trusted(refreshed, 70)).toEqual(['B'])
    expect(retiredNames(refreshed, 70)).toEqual(['A'])
  })

  test('a key whose overlap has ended has been missing since it left, and nobody has asked for it', () => {
    expect(retiredIn(rotated, at(70), lenient)).toEqual([
      { key: A, missingSince: at(10), questions: 0, answeredAt: undefined },
    ])
  })

  test('ends for each key in its own time', () => {
    const state = ['A', 'B', 'C'].reduce<CacheState>(
      (before, name, position) => succeed(before, position * 20, [keyOf(name)], 'age', lenient),
      INITIAL_STATE,
    )
    expect([79.9, 80, 99.9, 100].map((now) => trusted(state, now))).toEqual([
      ['C', 'B', 'A'],
      ['C', 'B'],
      ['C', 'B'],
      ['C'],
    ])
    expect([79.9, 80, 100].map((now) => retiredNames(state, now))).toEqual([[], ['A'], ['B', 'A']])
  })

  test('keys that left before are behind those whose overlap has ended', () => {
    const [first, second] = [keyOf('first'), keyOf('second')]
    const state = [first, second, A, B].reduce<CacheState>(
      (before, key, position) => succeed(before, position * 70, [key], 'age', lenient),
      INITIAL_STATE,
    )
    expect(retiredNames(state, 1000)).toEqual(['A', 'second', 'first'])
  })

  test('a ring that is the same is the same object, while overlaps last and once they are over', () => {
    const ring = ringOf(rotated)
    expect(withoutEndedOverlaps(ring, at(20), lenient)).toBe(ring)
    const over = withoutEndedOverlaps(ring, at(70), lenient)
    expect(withoutEndedOverlaps(ring, at(80), lenient)).toBe(over)
    expect(withoutEndedOverlaps(ringOf(known), at(9999), lenient)).toBe(known.ring)
  })

  test('a wall clock that is set back does not make it longer', () => {
    const now = { wall: -1e6, monotonic: 70 }
    expect(withoutEndedOverlaps(ringOf(rotated), now, lenient).keys).toEqual([B])
  })

  test('is for the eight keys that left last', () => {
    const state = [...Array(12).keys()].reduce<CacheState>(
      (before, position) => succeed(before, position, [keyOf(`${position}`)], 'age', lenient),
      INITIAL_STATE,
    )
    expect(trusted(state, 11)).toEqual(['11', '10', '9', '8', '7', '6', '5', '4', '3'])
  })

  test('without one there is nothing to end', () => {
    const state = succeed(known, 10, [B])
    expect(retiredIn(state, at(9999), policy)).toBe(state.retired)
    expect(retiredIn(INITIAL_STATE, at(0), policy)).toEqual([])
  })

  test('questions for a retired key are counted after its overlap has ended as well', () => {
    const refreshed = succeed(rotated, 75, [B], 'suspicion', lenient)
    const [asked] = retiredIn(afterQuestion(refreshed, A), at(76), lenient)
    expect(asked).toMatchObject({ key: A, questions: 1, answeredAt: at(75) })
  })
})

test('a key that is published under another kid is found by that one, and has not left', () => {
  const state = succeed(succeed(INITIAL_STATE, 0, [keyOf('A', 'old')]), 10, [keyOf('A', 'new')])
  expect(ringOf(state).keys.map(({ kid }) => kid)).toEqual(['new'])
  expect(state.retired).toEqual([])
})

describe('the issuer of an entry', () => {
  const ofOne = { ...keyOf('A'), issuer: 'https://id.example/{tenantid}/v2.0' }
  const ofOther = { ...keyOf('A'), issuer: 'https://id.example/other/v2.0' }
  const both = succeed(INITIAL_STATE, 0, [ofOne, ofOther])

  test('is a part of its trust: one of two entries leaves, and the other one stays the same object', () => {
    const state = succeed(both, 10, [{ ...ofOther }])
    expect(ringOf(state).keys).toEqual([ofOther])
    expect(ringOf(state).keys[0]).toBe(ofOther)
    expect(retiredIn(state, at(10), policy).map(({ key }) => key)).toEqual([ofOne])
  })

  test('an entry whose issuer has changed is another key', () => {
    const state = succeed(succeed(INITIAL_STATE, 0, [ofOne]), 10, [ofOther])
    expect(ringOf(state).keys).toEqual([ofOther])
    expect(retiredIn(state, at(10), policy).map(({ key }) => key)).toEqual([ofOne])
  })

  test('an entry that has come back is retired no longer', () => {
    const state = succeed(succeed(both, 10, [ofOther]), 20, [ofOne, ofOther])
    expect(retiredIn(state, at(20), policy)).toEqual([])
  })

  test('two entries of the same issuer under two kids are one trust', () => {
    const renamed = { ...ofOne, kid: 'k2' }
    const state = succeed(succeed(INITIAL_STATE, 0, [ofOne, renamed]), 10, [renamed])
    expect(retiredIn(state, at(10), policy)).toEqual([])
  })
})

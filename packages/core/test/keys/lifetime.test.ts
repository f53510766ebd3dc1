import { describe, expect, test } from 'vitest'

import { INITIAL_STATE } from '../../src/keys/cache-state.ts'
import { lifetime, withdrawnKeyTrust } from '../../src/keys/lifetime.ts'
import { keyOf, policy, succeed } from './states.ts'

describe('the lifetime', () => {
  test.each<[string, number | undefined, number | undefined, number]>([
    ['nothing is stated or announced', undefined, undefined, 300],
    ['stated', 120, undefined, 120],
    ['announced', undefined, 1200, 1200],
    ['announced too short', undefined, 1, 60],
    ['announced as nothing', undefined, 0, 60],
    ['announced as less than nothing', undefined, -3940, 60],
    ['announced too long', undefined, 86_400, 3600],
    ['announced without an end', undefined, Infinity, 3600],
    ['a longer announcement does not extend what is stated', 120, 1200, 120],
    ['a shorter one shortens it', 1000, 120, 120],
    ['what is stated may be under 60', 10, 0, 10],
    ['what is stated may be over 3600, but not if less is announced', 86_400, 86_400, 3600],
    ['what is stated may be over 3600', 86_400, undefined, 86_400],
  ])('%s', (_title, maxAge, announced, seconds) => {
    expect(lifetime(announced, { ...policy, maxAge })).toBeCloseTo(seconds)
  })

  test('is spread by a tenth', () => {
    expect(lifetime(undefined, { ...policy, spread: 0 })).toBeCloseTo(270)
    expect(lifetime(undefined, { ...policy, spread: 1 })).toBeCloseTo(330)
  })
})

test('how long a withdrawn key is trusted: the ring, and the overlap', () => {
  const { ring } = succeed(INITIAL_STATE, 0, [keyOf('A')])
  expect(ring && withdrawnKeyTrust(ring, { ...policy, overlap: 60 })).toEqual({
    endpointUp: 300 + 300 + 60,
    endpointDown: 300 + 3600 + 60,
  })
})

test('a stale ring is used however the refresh behind it ends, so that counts where it is longer', () => {
  const { ring } = succeed(INITIAL_STATE, 0, [keyOf('A')])
  const under = { ...policy, staleWhileRevalidate: 600, staleIfError: 0 }
  expect(ring && withdrawnKeyTrust(ring, under)).toEqual({ endpointUp: 900, endpointDown: 900 })
})

import { describe, expect, test } from 'vitest'

import { localReplays, type LocalReplaysOptions } from '../../src/dpop/local-replays.ts'
import { NOW } from './proof-maker.ts'

/** How long a proof is acceptable with the defaults of `dpopProofs`. Seconds. */
const WINDOW = 65

function proofOf(jti: string, made = NOW, jkt = 'key') {
  return { jkt, jti, expires: made + WINDOW }
}

describe('a proof', () => {
  test('is new once, and replayed until it has expired', () => {
    const replays = localReplays()
    expect(replays.remember(proofOf('a'), NOW)).toBe('new')
    for (const later of [0, 1, 16, 32, 64, WINDOW]) {
      expect(replays.remember(proofOf('a'), NOW + later)).toBe('replayed')
    }
  })

  test('of another key is another one', () => {
    const replays = localReplays()
    expect(replays.remember(proofOf('a', NOW, 'one'), NOW)).toBe('new')
    expect(replays.remember(proofOf('a', NOW, 'two'), NOW)).toBe('new')
    expect(replays.remember(proofOf('a', NOW, 'one'), NOW)).toBe('replayed')
  })

  test('is not mixed up with one whose names only look like it when they are joined', () => {
    const replays = localReplays()
    expect(replays.remember({ jkt: 'a.b', jti: 'c', expires: NOW + 65 }, NOW)).toBe('new')
    expect(replays.remember({ jkt: 'a', jti: 'b.c', expires: NOW + 65 }, NOW)).toBe('new')
    expect(replays.remember({ jkt: 'a.', jti: 'b.c', expires: NOW + 65 }, NOW)).toBe('new')
  })

  test('made anew with a used jti is replayed, at whatever time it says it was made', () => {
    const replays = localReplays()
    expect(replays.remember(proofOf('a'), NOW)).toBe('new')
    expect(replays.remember(proofOf('a', NOW + 40), NOW + 40)).toBe('replayed')
    expect(replays.remember(proofOf('a', NOW - 40), NOW)).toBe('replayed')
  })

  test('is checked in one step: of two at once one is new', async () => {
    const replays = localReplays()
    const answers = await Promise.all(
      [1, 2].map(async () => await Promise.resolve(replays.remember(proofOf('a'), NOW))),
    )
    expect(answers).toEqual(['new', 'replayed'])
  })
})

test('a proof that expires with the proofs around it is known in that very second', () => {
  const replays = localReplays()
  const expires = Math.ceil(NOW / 16) * 16
  expect(replays.remember({ ...proofOf('a'), expires }, NOW)).toBe('new')
  expect(replays.remember({ ...proofOf('a'), expires }, expires)).toBe('replayed')
})

describe('at the bound', () => {
  test('of all keys together, there is room for none', () => {
    const replays = localReplays({ max: 2 })
    expect(replays.remember(proofOf('a', NOW, 'one'), NOW)).toBe('new')
    expect(replays.remember(proofOf('a', NOW, 'two'), NOW)).toBe('new')
    expect(replays.remember(proofOf('a', NOW, 'three'), NOW)).toBe('full')
    expect(replays.size).toBe(2)
  })

  test('new proofs are full, known ones still replayed, and nothing is forgotten', () => {
    const replays = localReplays({ max: 2 })
    expect(replays.remember(proofOf('a'), NOW)).toBe('new')
    expect(replays.remember(proofOf('b'), NOW)).toBe('new')
    expect(replays.remember(proofOf('c'), NOW)).toBe('full')
    expect(replays.remember(proofOf('a'), NOW)).toBe('replayed')
    expect(replays.remember(proofOf('b'), NOW)).toBe('replayed')
    expect(replays.remember(proofOf('c'), NOW)).toBe('full')
    expect(replays.size).toBe(2)
  })

  test('of one key, other keys find room', () => {
    const replays = localReplays({ max: 3, maxPerKey: 1 })
    expect(replays.remember(proofOf('a', NOW, 'one'), NOW)).toBe('new')
    expect(replays.remember(proofOf('b', NOW, 'one'), NOW)).toBe('full')
    expect(replays.remember(proofOf('c', NOW + 30, 'one'), NOW + 30)).toBe('full')
    expect(replays.remember(proofOf('b', NOW, 'two'), NOW)).toBe('new')
  })

  test('there is room again once proofs have expired, and no sooner', () => {
    const replays = localReplays({ max: 2, maxPerKey: 1 })
    expect(replays.remember(proofOf('a'), NOW)).toBe('new')
    expect(replays.remember(proofOf('b', NOW + WINDOW), NOW + WINDOW)).toBe('full')
    const later = NOW + WINDOW + 17
    expect(replays.remember(proofOf('b', later), later)).toBe('new')
    expect(replays.size).toBe(1)
  })
})

describe('a clock that is set', () => {
  test('forward and back again does not make a proof new', () => {
    const replays = localReplays()
    expect(replays.remember(proofOf('a'), NOW)).toBe('new')
    expect(replays.remember(proofOf('b', NOW + 3600), NOW + 3600)).toBe('new')
    expect(replays.remember(proofOf('a'), NOW)).toBe('unavailable')
    expect(replays.remember(proofOf('b', NOW + 3600), NOW)).toBe('replayed')
  })

  test('forward and back again costs new proofs no longer than the window', () => {
    const replays = localReplays()
    replays.remember(proofOf('a'), NOW)
    replays.remember(proofOf('b', NOW + 3600), NOW + 3600)
    expect(replays.remember(proofOf('c'), NOW)).toBe('unavailable')
    expect(replays.remember(proofOf('d', NOW + 16), NOW + 16)).toBe('new')
  })

  test('back after it was ahead for longer than the window: refused until it shows that time again', () => {
    const replays = localReplays()
    replays.remember(proofOf('a', NOW + 3600), NOW + 3600)
    replays.remember(proofOf('b', NOW + 3700), NOW + 3700)
    // It may have been sent while the clock was ahead, and was forgotten then.
    expect(replays.remember(proofOf('c'), NOW)).toBe('unavailable')
    expect(replays.remember(proofOf('d', NOW + 3500), NOW + 3500)).toBe('unavailable')
    expect(replays.remember(proofOf('e', NOW + 3680), NOW + 3680)).toBe('new')
  })

  test('forward while nothing is remembered costs nothing when it is set back', () => {
    const replays = localReplays()
    replays.remember(proofOf('a', NOW + 3600), NOW + 3600)
    expect(replays.remember(proofOf('b'), NOW)).toBe('new')
  })

  test('back makes nothing new that had expired', () => {
    const replays = localReplays()
    replays.remember(proofOf('a'), NOW)
    expect(replays.remember(proofOf('b', NOW + 90), NOW + 90)).toBe('new')
    expect(replays.remember(proofOf('a'), NOW + 30)).toBe('unavailable')
  })

  test('back keeps what is remembered', () => {
    const replays = localReplays()
    replays.remember(proofOf('a'), NOW)
    expect(replays.remember(proofOf('a'), NOW - 3600)).toBe('replayed')
    expect(replays.remember(proofOf('a'), NOW)).toBe('replayed')
  })

  test('to no number makes nothing be forgotten', () => {
    const replays = localReplays()
    replays.remember(proofOf('a'), NOW)
    expect(replays.remember(proofOf('a'), NaN)).toBe('replayed')
    expect(replays.remember({ jkt: 'key', jti: 'b', expires: NaN }, NOW)).toBe('unavailable')
  })
})

test('a flood of ten times as many proofs as it has room for: it takes what it has room for, refuses the others, and forgets none', () => {
  const MAX = 20_000
  const replays = localReplays({ max: MAX, maxPerKey: MAX })
  const answers = { new: 0, replayed: 0, full: 0, unavailable: 0 }
  for (let count = 0; count < 10 * MAX; count++) {
    const jkt = `key ${count % 5000}`
    answers[replays.remember(proofOf(`jti ${count}`, NOW + (count % 60), jkt), NOW + 55)]++
  }
  expect(answers).toEqual({ new: MAX, replayed: 0, full: 9 * MAX, unavailable: 0 })
  expect(replays.size).toBe(MAX)
  const first = Array.from({ length: MAX }, (_, count) =>
    replays.remember(proofOf(`jti ${count}`, NOW, `key ${count % 5000}`), NOW + 55),
  )
  expect(new Set(first)).toEqual(new Set(['replayed']))
  const later = NOW + 500
  expect(replays.remember(proofOf('later', later), later)).toBe('new')
  expect(replays.size).toBe(1)
})

describe('the options', () => {
  test.each<[LocalReplaysOptions, string]>([
    [{ max: 0 }, 'localReplays: max must be a number of proofs from 1 to 10000000'],
    [{ max: 1.5 }, 'localReplays: max must be'],
    [{ max: Infinity }, 'localReplays: max must be'],
    [{ maxPerKey: 20_000_000 }, 'localReplays: maxPerKey must be'],
    [
      { maxperkey: 1 } as object,
      'localReplays: unknown option "maxperkey", known are max, maxPerKey',
    ],
  ])('%j is refused at start-up', (options, complaint) => {
    expect(() => localReplays(options)).toThrow(new RegExp(`^${complaint}`))
  })
})

import { describe, expect, test } from 'vitest'

import type { Algorithm } from '../../src/algorithms/algorithms.ts'
import {
  afterFailure,
  afterHelp,
  afterQuestion,
  afterSuccess,
  type CacheState,
  INITIAL_STATE,
} from '../../src/keys/cache-state.ts'
import type { VerificationKey } from '../../src/keys/key-source.ts'
import { INITIAL_PACE, nextAttempt } from '../../src/keys/pace.ts'
import { freshness } from '../../src/keys/rotation.ts'
import { at, documentOf, down, fail, keyOf, names, policy, succeed } from './states.ts'

/** What an RSA key that states nothing is prepared for. */
const RSA: readonly Algorithm[] = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512']
const A = keyOf('A')
const B = keyOf('B')

test('at first nothing is known, and an attempt may start', () => {
  expect(INITIAL_STATE).toEqual({
    ring: undefined,
    retired: [],
    last: undefined,
    pace: INITIAL_PACE,
  })
})

describe('a success', () => {
  test('replaces the whole ring, and retires what left', () => {
    const state = succeed(succeed(INITIAL_STATE, 0, [A]), 10, [B])
    expect(state.ring?.keys).toEqual([B])
    expect(state.retired).toEqual([
      { key: A, missingSince: at(10), questions: 0, answeredAt: undefined },
    ])
  })

  test('is always fresh', () => {
    const state = succeed(succeed(INITIAL_STATE, 0, [A]), 5000, [A])
    expect(freshness(state.ring, at(5000), policy)).toBe('fresh')
  })

  test('is as old as the start of its attempt, and keys that left have been missing since then', () => {
    const known = succeed(INITIAL_STATE, 0, [A])
    const attempt = { trigger: 'age', startedAt: at(10), settledAt: at(14) } as const
    const options = { ringEnd: undefined, overlap: 0, spread: 0.5 }
    const state = afterSuccess(known, attempt, documentOf([B]), options)
    expect(state.ring?.fetchedAt).toEqual(at(10))
    expect(state.retired[0]?.missingSince).toEqual(at(10))
    expect(state.last).toEqual({ ...attempt, failure: undefined })
    expect(nextAttempt(state.pace, 'age', 0.5)).toBe(11)
  })

  test('keeps what the document says of its age and its entries', () => {
    const attempt = { trigger: 'age', startedAt: at(0), settledAt: at(0) } as const
    const skipped = { count: 3, entries: [] }
    const document = { keys: [A], bare: true, skipped, maxAge: 77, freshnessLifetime: 70 }
    const options = { ringEnd: undefined, overlap: 0, spread: 0.5 }
    expect(afterSuccess(INITIAL_STATE, attempt, document, options).ring).toMatchObject(document)
  })

  test('keeps the objects of keys that stay, and the very list if nothing changed', () => {
    const first = succeed(INITIAL_STATE, 0, [A, B])
    const again = succeed(first, 10, [keyOf('A'), keyOf('B')])
    expect(again.ring?.keys).toBe(first.ring?.keys)
    const fewer = succeed(first, 10, [keyOf('B')])
    expect(fewer.ring?.keys[0]).toBe(B)
    const turned = succeed(first, 10, [keyOf('B'), keyOf('A')])
    expect(turned.ring?.keys).toEqual([B, A])
    expect(turned.ring?.keys).not.toBe(first.ring?.keys)
  })

  test('one of two keys is replaced', () => {
    const state = succeed(succeed(INITIAL_STATE, 0, [A, B]), 10, [A, keyOf('C')])
    expect(names(state.ring?.keys)).toEqual(['A', 'C'])
    expect(state.retired.map(({ key }) => key)).toEqual([B])
  })

  test.each([
    ['a new kid', keyOf('A', 'old'), keyOf('A', 'new')],
    ['a further algorithm', keyOf('A'), keyOf('A', undefined, ['RS512', 'RS256'])],
  ])('%s of a known key is taken over, and nothing is retired', (_title, before, after) => {
    const state = succeed(succeed(INITIAL_STATE, 0, [before]), 10, [after])
    expect(state.ring?.keys).toEqual([after])
    expect(state.ring?.keys[0]).toBe(after)
    expect(state.retired).toEqual([])
  })

  test('a key that was listed twice is retired once', () => {
    const state = succeed(succeed(INITIAL_STATE, 0, [keyOf('A'), keyOf('A')]), 10, [B])
    expect(state.retired.map(({ key }) => key)).toEqual([A])
  })

  test('a document that becomes bare is another list, of the same keys', () => {
    const set = succeed(INITIAL_STATE, 0, [A])
    const attempt = { trigger: 'age', startedAt: at(10), settledAt: at(10) } as const
    const options = { ringEnd: undefined, overlap: 0, spread: 0.5 }
    const bare = afterSuccess(set, attempt, { ...documentOf([A]), bare: true }, options)
    expect(bare.ring?.keys).not.toBe(set.ring?.keys)
    expect(bare.ring?.keys).toEqual(set.ring?.keys)
    expect(bare.retired).toEqual([])
  })

  test('new material under an old kid is a new key', () => {
    const [one, other] = [keyOf('A', 'k'), keyOf('B', 'k')]
    const state = succeed(succeed(INITIAL_STATE, 0, [one]), 10, [other])
    expect(state.ring?.keys).toEqual([other])
    expect(state.retired.map(({ key }) => key)).toEqual([one])
  })

  test('an entry that stops permitting an algorithm has left, for that one', () => {
    const wide = keyOf('A', undefined, ['RS512', 'RS256'])
    const narrow = keyOf('A', undefined, ['RS256'])
    const state = succeed(succeed(INITIAL_STATE, 0, [wide]), 10, [narrow])
    expect(state.ring?.keys).toEqual([narrow])
    expect(state.retired.map(({ key }) => key)).toEqual([wide])
  })

  test.each<[string, readonly VerificationKey[], readonly VerificationKey[], boolean]>([
    ['states another algorithm', [keyOf('A', 'k', ['RS256'])], [keyOf('A', 'k', ['PS256'])], true],
    ['states an algorithm no more', [keyOf('A', 'k', ['RS256'])], [keyOf('A', 'k', RSA)], true],
    ['states one for the first time', [keyOf('A', 'k', RSA)], [keyOf('A', 'k', ['RS256'])], true],
    ['states RS512 no more, and is for it', [keyOf('A', 'k')], [keyOf('A', 'k', RSA)], false],
    ['states RS512, and was for more', [keyOf('A', 'k', RSA)], [keyOf('A', 'k')], true],
    [
      'states an algorithm no more, which another entry states',
      [keyOf('A', 'k', ['RS256'])],
      [keyOf('A', 'k', RSA), keyOf('A', 'k', ['RS256'])],
      false,
    ],
    [
      'stated an algorithm is gone, while another one is for it in lists alone',
      [keyOf('A', 'k', RSA), keyOf('A', 'k', ['RS256'])],
      [keyOf('A', 'k', RSA)],
      true,
    ],
  ])('an entry that %s has left if any verifier took it for more', (_, old, now, hasLeft) => {
    const state = succeed(succeed(INITIAL_STATE, 0, old), 10, now)
    expect(state.ring?.keys).toEqual(now)
    expect(state.retired).toHaveLength(hasLeft ? 1 : 0)
    const saved = state.ring?.keys.map(({ stated }) => stated)
    expect(saved).toEqual(now.map(({ stated }) => stated))
  })

  test('one modulus listed for two algorithms is two entries of one key', () => {
    const entries = [keyOf('A', 'x', ['RS512']), keyOf('A', 'y', ['RS256'])]
    const both = keyOf('A', 'x', ['RS512', 'RS256'])
    const state = succeed(succeed(INITIAL_STATE, 0, [both]), 10, entries)
    expect(state.ring?.keys).toEqual(entries)
    expect(state.retired).toEqual([])
  })
})

describe('retired keys', () => {
  test('one that comes back is trusted again', () => {
    const state = succeed(succeed(succeed(INITIAL_STATE, 0, [A]), 10, [B]), 20, [A])
    expect(state.ring?.keys).toEqual([A])
    expect(state.retired.map(({ key }) => key)).toEqual([B])
  })

  test('one that leaves a second time has been missing since then, and nobody has asked for it', () => {
    const gone = succeed(succeed(INITIAL_STATE, 0, [A]), 10, [B])
    const asked = afterQuestion(succeed(gone, 30, [B]), A)
    const again = succeed(succeed(asked, 40, [A]), 50, [B])
    expect(again.retired[0]).toEqual({
      key: A,
      missingSince: at(50),
      questions: 0,
      answeredAt: undefined,
    })
  })

  test('the last 4 that left are known, newest first, each once', () => {
    const state = ['A', 'B', 'C', 'D', 'E', 'F', 'E', 'F'].reduce<CacheState>(
      (before, name, position) => succeed(before, position * 10, [keyOf(name)]),
      INITIAL_STATE,
    )
    expect(names(state.retired.map(({ key }) => key))).toEqual(['E', 'D', 'C', 'B'])
  })

  test('keep what was asked while other attempts go by', () => {
    const gone = succeed(succeed(INITIAL_STATE, 0, [A]), 10, [B])
    const asked = afterQuestion(succeed(gone, 30, [B]), A)
    const later = succeed(succeed(asked, 40, [B]), 50, [keyOf('C')])
    expect(later.retired[1]).toMatchObject({ key: A, missingSince: at(10), questions: 1 })
  })
})

describe('a question for a retired key', () => {
  const gone = succeed(succeed(INITIAL_STATE, 0, [A]), 10, [B])

  test('counts from the start of the attempt that answered it', () => {
    const state = afterQuestion(succeed(gone, 30, [B]), A)
    expect(state.retired[0]).toMatchObject({ questions: 1, answeredAt: at(30) })
  })

  test('counts once for each attempt, however many tokens asked', () => {
    const once = afterQuestion(succeed(gone, 30, [B]), A)
    expect(afterQuestion(once, A).retired[0]).toMatchObject({ questions: 1 })
    const twice = afterQuestion(succeed(once, 60, [B]), A)
    expect(twice.retired[0]).toMatchObject({ questions: 2, answeredAt: at(60) })
  })

  test('changes nothing about another key, or about one that is back', () => {
    const state = succeed(gone, 30, [keyOf('C')])
    expect(afterQuestion(state, B).retired[1]).toEqual(state.retired[1])
    const back = succeed(gone, 30, [A])
    expect(afterQuestion(back, A).retired).toEqual(back.retired)
  })
})

describe('an overlap', () => {
  const lenient = { ...policy, overlap: 60 }

  test('keeps the very list while nothing changes', () => {
    const under = { ...policy, overlap: 60 }
    const rotated = succeed(succeed(INITIAL_STATE, 0, [A], 'age', under), 10, [B], 'age', under)
    const again = succeed(rotated, 20, [keyOf('B')], 'age', under)
    expect(names(again.ring?.keys)).toEqual(['B', 'A'])
    expect(again.ring?.keys).toBe(rotated.ring?.keys)
  })

  test('keeps a key behind those of the document, with the ring that there is without it', () => {
    const rotated = succeed(succeed(INITIAL_STATE, 0, [A], 'age', lenient), 10, [B], 'age', lenient)
    expect(rotated.ring?.keys).toEqual([B, A])
    expect(rotated.ring?.overlapping).toMatchObject([
      { key: A, missingSince: at(10), ringWithout: { keys: [B], bare: false } },
    ])
    expect(rotated.retired).toEqual([])
  })

  test('counts from the first document that lacked the key', () => {
    const rotated = succeed(succeed(INITIAL_STATE, 0, [A], 'age', lenient), 10, [B], 'age', lenient)
    const refreshed = succeed(rotated, 50, [B], 'age', lenient)
    expect(refreshed.ring?.overlapping[0]?.missingSince).toEqual(at(10))
  })

  test('the key that left last is in front, and each ring lacks those that left before it too', () => {
    const state = [A, B, keyOf('C')].reduce<CacheState>(
      (before, key, position) => succeed(before, position * 20, [key], 'age', lenient),
      INITIAL_STATE,
    )
    expect(names(state.ring?.keys)).toEqual(['C', 'B', 'A'])
    const rings = state.ring?.overlapping.map(({ ringWithout }) => names(ringWithout.keys))
    expect(rings).toEqual([['C'], ['C', 'B']])
  })

  test('ends with a document that comes later: the key is retired, missing since it first was', () => {
    const rotated = succeed(succeed(INITIAL_STATE, 0, [A], 'age', lenient), 10, [B], 'age', lenient)
    const state = succeed(rotated, 70, [B], 'age', lenient)
    expect(state.ring?.keys).toEqual([B])
    expect(state.ring?.overlapping).toEqual([])
    expect(state.retired).toEqual([
      { key: A, missingSince: at(10), questions: 0, answeredAt: undefined },
    ])
  })

  test('two keys served in turn are both trusted', () => {
    const state = [A, B, A, B].reduce<CacheState>(
      (before, key, position) => succeed(before, position * 40, [key], 'age', lenient),
      INITIAL_STATE,
    )
    expect(state.ring?.keys).toEqual([B, A])
  })

  test.each([
    ['is as long as ever right before the ring could not be used without a fetch', 599, 599],
    ['counts from then on, if nobody asked for an attempt after it', 620, 600],
  ])('%s', (_title, now, from) => {
    const known = succeed(INITIAL_STATE, 0, [A], 'age', lenient)
    const late = succeed(known, now, [B], 'age', lenient)
    expect(late.ring?.keys).toEqual([B, A])
    expect(late.ring?.overlapping[0]).toMatchObject({
      missingSince: at(now),
      overlapFrom: at(from),
    })
  })

  test.each([660, 4000, 1e6])(
    'is over for a key whose ring was not used for longer than that: the document comes after %i s',
    (now) => {
      const known = succeed(INITIAL_STATE, 0, [A], 'age', lenient)
      const late = succeed(known, now, [B], 'age', lenient)
      expect(late.ring?.keys).toEqual([B])
      expect(late.retired).toMatchObject([{ key: A, missingSince: at(now) }])
    },
  )

  test('holds the 8 keys that left last, and the next are retired', () => {
    const all = Array.from({ length: 12 }, (_, index) => `key ${index}`)
    const state = all.reduce<CacheState>(
      (before, name, index) => succeed(before, index, [keyOf(name)], 'age', lenient),
      INITIAL_STATE,
    )
    expect(names(state.ring?.keys)).toEqual(all.toReversed().slice(0, 9))
    expect(names(state.retired.map(({ key }) => key))).toEqual(all.toReversed().slice(9))
  })
})

describe('a failure', () => {
  const known = succeed(INITIAL_STATE, 0, [A])

  test('leaves the ring and what was retired as they are', () => {
    const state = succeed(known, 10, [B])
    const failed = fail(state, 20)
    expect(failed.ring).toBe(state.ring)
    expect(failed.retired).toBe(state.retired)
    expect(failed.last.failure).toBe(down)
  })

  test('takes the pause that the endpoint names, counted from its answer', () => {
    const attempt = { trigger: 'age', startedAt: at(10), settledAt: at(14) } as const
    const draws = { spread: 0.5, random: 0.5 }
    const failed = afterFailure(known, attempt, { ...down, retryAfter: 20 }, draws)
    expect(nextAttempt(failed.pace, 'age', 0.5)).toBe(34)
    expect(nextAttempt(afterFailure(known, attempt, down, draws).pace, 'age', 0.5)).toBe(14)
  })
})

describe('a suspicion that helped', () => {
  test('is given back', () => {
    const spent = [1, 2, 3, 4].reduce<CacheState>(
      (state, now) => succeed(state, now, [A], 'suspicion'),
      INITIAL_STATE,
    )
    expect(nextAttempt(spent.pace, 'suspicion', 0.5)).toBeGreaterThan(6)
    expect(nextAttempt(afterHelp(spent).pace, 'suspicion', 0.5)).toBe(5)
  })

  test('is not given back for what another attempt brought', () => {
    const asked = succeed(INITIAL_STATE, 1, [A], 'suspicion')
    const aged = succeed(asked, 2, [B])
    expect(afterHelp(aged)).toBe(aged)
    expect(afterHelp(INITIAL_STATE)).toBe(INITIAL_STATE)
  })
})

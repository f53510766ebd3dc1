import { describe, expect, test } from 'vitest'

import { createMemory, type HeldAnswer, nameOf } from '../src/memory.ts'

const askedAt = { wall: 1000, monotonic: 0 }
const FAILURE = {
  reason: 'bad_answer',
  detail: 'odd',
  concerns: 'token',
  retryAfter: undefined,
} as const
const FAILING = { failures: 1, failure: FAILURE, pauseEnd: 1, answers: 0 }

const answerOf = (size: number, exp?: number): HeldAnswer => ({
  claims: {},
  header: { alg: 'opaque' },
  size,
  askedAt,
  exp,
  renewAt: 15,
})

describe('how many answers are held', () => {
  // Tokens of four characters, which are as much as one octet of an answer.
  test.each([
    ['of the mean size: as many as may be', 1000, 1000, 2047, 0],
    ['of more: the first ones go', 1000, 1000, 2048, 1],
    ['of the longest: four at least', 4, 4, 65_535, 0],
    ['of more than that: the first ones go', 4, 4, 65_536, 1],
    ['one more than max: the first one goes', 4, 5, 1, 1],
  ])('%s', (_title, max, count, size, lost) => {
    const memory = createMemory(max)
    const tokens = Array.from({ length: count }, (_, each) => `t${String(each).padStart(3, '0')}`)
    for (const token of tokens) memory.remember(token, nameOf(token), answerOf(size))
    expect(tokens.filter((token) => memory.find(token) === undefined)).toEqual(
      tokens.slice(0, lost),
    )
  })
})

test('of one token there is one word at a time: active, not active or a bad answer', () => {
  const memory = createMemory(1)
  const found = () => [memory.find('t'), memory.findInactive('n'), memory.findFailing('n')]
  const held = answerOf(1)
  memory.rememberFailing('n', FAILING)
  expect(found()).toEqual([undefined, undefined, FAILING])
  memory.rememberInactive('t', 'n', askedAt)
  expect(found()).toEqual([undefined, askedAt, undefined])
  memory.rememberFailing('n', FAILING)
  memory.remember('t', 'n', held)
  expect(found()).toEqual([held, undefined, undefined])
  memory.rememberInactive('t', 'n', askedAt)
  expect(found()).toEqual([undefined, askedAt, undefined])
})

const every = (_name: string) => true

function filled(max = 9) {
  const memory = createMemory(max)
  for (const token of ['a', 'b', 'c']) memory.remember(token, `of ${token}`, answerOf(1))
  return { memory, newest: (isFree = every, now = 1000) => memory.newest(now, isFree)?.token }
}

describe('the newest answer of a token whose own last call did not fail', () => {
  test('is the last one that came, however often others are used', () => {
    const { memory, newest } = filled()
    expect(newest()).toBe('c')
    memory.find('a')
    expect(newest()).toBe('c')
    memory.remember('a', 'of a', answerOf(1))
    expect(memory.newest(1000, every)).toEqual({ name: 'of a', token: 'a' })
  })

  test('is none that is asked about now, but stays for the next time', () => {
    const { newest } = filled()
    expect(newest((name) => name !== 'of c')).toBe('b')
    expect(newest(() => false)).toBeUndefined()
    expect(newest()).toBe('c')
  })

  test('is none that has failed or is not active, until it has another answer', () => {
    const { memory, newest } = filled()
    memory.rememberFailing('of c', FAILING)
    expect(newest()).toBe('b')
    memory.rememberInactive('b', 'of b', askedAt)
    expect(newest()).toBe('a')
    memory.remember('c', 'of c', answerOf(1))
    expect(newest()).toBe('c')
  })

  test('is none that has expired, or was pushed out', () => {
    const { memory, newest } = filled(3)
    memory.remember('d', 'of d', answerOf(1, 1001))
    expect(newest()).toBe('d')
    expect(newest(every, 1001)).toBe('c')
    for (const token of ['e', 'f', 'g']) memory.remember(token, `of ${token}`, answerOf(1, 1001))
    expect(newest(every, 1001)).toBeUndefined()
  })
})

test('tokens that are not active, and those with bad answers, are bounded as well', () => {
  const memory = createMemory(2)
  for (const name of ['a', 'b', 'c']) {
    memory.rememberInactive(name, name, askedAt)
    memory.rememberFailing(name, FAILING)
  }
  expect(['a', 'b', 'c'].map((name) => memory.findInactive(name))).toEqual([
    undefined,
    askedAt,
    askedAt,
  ])
  expect(['a', 'b', 'c'].map((name) => memory.findFailing(name))).toEqual([
    undefined,
    FAILING,
    FAILING,
  ])
})

test('a token is called by a text that says nothing of it', () => {
  expect(nameOf('a')).toBe('ypeBEsobvcr6wjGzmiPcTaeG7_gUfE5yuYB3ha_uSLs')
})

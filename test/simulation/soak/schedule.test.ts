import { expect, test } from 'vitest'

import { CALM, scheduleOf, TRACKS } from './schedule.ts'

const SEEDS = [1, 2, 3, 20_261_123]

test.each(SEEDS)(
  'a minute of seed %i has something of each track, in calm at both ends',
  (seed) => {
    const schedule = scheduleOf(seed, 60)
    expect(new Set(schedule.map(({ track }) => track))).toEqual(new Set(Object.keys(TRACKS)))
    for (const { begins, ends } of schedule) {
      expect(begins).toBeGreaterThan(CALM)
      expect(ends).toBeGreaterThan(begins)
      expect(ends).toBeLessThan(60 - CALM)
    }
  },
)

test('an hour has every kind, and what is of one track never overlaps', () => {
  const schedule = scheduleOf(7, 3600)
  for (const [track, kinds] of Object.entries(TRACKS)) {
    const own = schedule.filter((each) => each.track === track)
    expect(new Set(own.map(({ kind }) => kind))).toEqual(new Set(kinds))
    for (const [at, { begins }] of own.entries()) {
      expect(begins).toBeGreaterThan(own[at - 1]?.ends ?? 0)
    }
  }
})

test('a seed has one schedule, and another seed another one', () => {
  expect(scheduleOf(5, 600)).toEqual(scheduleOf(5, 600))
  expect(scheduleOf(5, 600)).not.toEqual(scheduleOf(6, 600))
})

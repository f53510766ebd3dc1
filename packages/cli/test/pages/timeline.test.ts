import type { KeyPhases } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { timelineOf } from '../../src/pages/timeline.ts'
import type { LoggedEvent } from '../../src/serve/event-log.ts'

function key(thumbprint: string, from: number, until?: number): KeyPhases {
  const phases = [{ from, until }]
  return { thumbprint, publicJwk: {}, published: phases, signing: phases }
}

function fetched(id: number, time: number, userAgent?: string): LoggedEvent {
  const named = { loginId: undefined, clientId: undefined, userAgent }
  const of = { endpoint: 'keys', status: 200, ...named } as const
  return { type: 'request', id, time, ...of }
}

describe('the places of keys', () => {
  test('are in percent of the time that is shown, up to now', () => {
    const { keys } = timelineOf(1000, [key('a', 900, 950), key('b', 950)], [], 100)
    expect(keys.map(({ key: { thumbprint }, signing }) => [thumbprint, signing])).toEqual([
      ['b', [{ at: 50, width: 50 }]],
      ['a', [{ at: 0, width: 50 }]],
    ])
  })

  test('begin at the left edge for what began before', () => {
    const { keys } = timelineOf(1000, [key('a', 100)], [], 100)
    expect(keys[0]?.published).toEqual([{ at: 0, width: 100 }])
  })

  test('leave out keys that were not in use, and say how many', () => {
    const shown = timelineOf(1000, [key('a', 100, 200), key('b', 200)], [], 100)
    expect(shown.keys.map(({ key: { thumbprint } }) => thumbprint)).toEqual(['b'])
    expect(shown.hiddenKeys).toBe(1)
  })

  test('are of eight keys at most: the newest', () => {
    const many = Array.from({ length: 100 }, (_, number) => key(String(number), 900 + number))
    const { keys, hiddenKeys } = timelineOf(1000, many, [], 100)
    expect(keys.map(({ key: { thumbprint } }) => thumbprint)[0]).toBe('99')
    expect([keys.length, hiddenKeys]).toEqual([8, 92])
  })

  test('show a minute at least, also of a service that has just started', () => {
    const { from, to, keys } = timelineOf(1000, [key('a', 1000)], [], undefined)
    expect([from, to]).toEqual([940, 1000])
    expect(keys[0]?.signing).toEqual([{ at: 100, width: 0 }])
  })

  test('show all from the first key on, if all is asked for', () => {
    expect(timelineOf(10_000, [key('a', 1000, 2000), key('b', 2000)], [], undefined).from).toBe(
      1000,
    )
  })
})

describe('the fetches', () => {
  test('of each client have a row, the client that came last first', () => {
    const events = [
      fetched(1, 950, 'a'),
      fetched(2, 960, 'b'),
      fetched(3, 970, 'a'),
      fetched(4, 975),
    ]
    const { clients } = timelineOf(1000, [key('k', 900)], events, 100)
    expect(clients.map(({ name, marks }) => [name, marks.map(({ at }) => at)])).toEqual([
      ['a client without a name', [75]],
      ['a', [50, 70]],
      ['b', [60]],
    ])
  })

  test('before that time are not shown', () => {
    const { clients } = timelineOf(1000, [key('k', 100)], [fetched(1, 200, 'a')], 100)
    expect(clients).toEqual([])
  })

  test('of a flood are 150 of each of six clients', () => {
    const events = Array.from({ length: 5000 }, (_, id) => fetched(id, 950, `client ${id % 10}`))
    const { clients } = timelineOf(1000, [key('k', 900)], events, 100)
    expect(clients.map(({ marks }) => marks.length)).toEqual([150, 150, 150, 150, 150, 150])
  })
})

test.each([60, 300, 3600, 86_400, 5_000_000])('an axis of %i s has one to seven ticks', (span) => {
  const { ticks } = timelineOf(1_795_248_003, [key('k', 0)], [], span)
  expect(ticks.length).toBeGreaterThan(0)
  expect(ticks.length).toBeLessThan(8)
})

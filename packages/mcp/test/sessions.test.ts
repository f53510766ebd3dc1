import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import { describe, expect, test } from 'vitest'

import { createSessions as create, type SessionLimits } from '../src/sessions.ts'

/** Sessions whose owners are written as `user/client`. */
interface Sessions {
  statusOf(id: string, owner: string): string
  begin(id: string, owner: string): void
  end(id: string): void
}

const accountOf = (owner: string) => owner.replace(/\/.*/, '')

const written = (owner: string) => ({ id: owner, account: accountOf(owner) })

function createSessions(
  limits: SessionLimits,
  onEnd?: (id: string, why: string) => void,
): Sessions {
  const sessions = create(limits, onEnd)
  return {
    statusOf: (id, owner) => sessions.statusOf(id, written(owner)),
    begin(id, owner) {
      sessions.begin(id, written(owner))
    },
    end(id) {
      sessions.end(id)
    },
  }
}

describe('sessions', () => {
  test('are of whoever has begun them, until they are ended', () => {
    const sessions = createSessions({ max: 10, maxPerUser: 10 })
    expect(sessions.statusOf('s', 'ada')).toBe('unknown')
    sessions.begin('s', 'ada')
    sessions.begin('s', 'ada')
    expect([sessions.statusOf('s', 'ada'), sessions.statusOf('s', 'eve')]).toEqual(['own', 'other'])
    sessions.end('s')
    sessions.end('s')
    expect(sessions.statusOf('s', 'ada')).toBe('unknown')
    sessions.begin('s', 'eve')
    expect(sessions.statusOf('s', 'eve')).toBe('own')
  })

  test('an id is not given to a second owner', () => {
    const sessions = createSessions({ max: 10, maxPerUser: 10 })
    sessions.begin('s', 'ada')
    expect(() => {
      sessions.begin('s', 'eve')
    }).toThrow('the id of a session to a second user')
    expect([sessions.statusOf('s', 'ada'), sessions.statusOf('s', 'eve')]).toEqual(['own', 'other'])
  })

  test('of one owner those go first that were not used for the longest time', () => {
    const sessions = createSessions({ max: 100, maxPerUser: 2 })
    sessions.begin('a', 'ada')
    sessions.begin('b', 'ada')
    expect(sessions.statusOf('a', 'ada')).toBe('own') // used
    sessions.begin('c', 'ada')
    expect(['a', 'b', 'c'].map((id) => sessions.statusOf(id, 'ada'))).toEqual([
      'own',
      'unknown',
      'own',
    ])
  })

  test('a user with too many pushes out no session of another, also where there is no room left', () => {
    const sessions = createSessions({ max: 3, maxPerUser: 2 })
    sessions.begin('a', 'ada')
    for (let each = 0; each < 10; each++) sessions.begin(`e${each}`, 'eve')
    expect(sessions.statusOf('a', 'ada')).toBe('own')
  })

  test('a user with 101 clients has as many sessions as a user with one, and pushes out nobody', () => {
    const sessions = createSessions({ max: 1000, maxPerUser: 100 })
    sessions.begin('a', 'ada')
    for (let each = 0; each < 101 * 100; each++) sessions.begin(`e${each}`, `eve/${each % 101}`)
    expect(sessions.statusOf('a', 'ada')).toBe('own')
    const known = Array.from({ length: 101 * 100 }, (_, each) =>
      sessions.statusOf(`e${each}`, `eve/${each % 101}`),
    ).filter((status) => status === 'own')
    expect(known).toHaveLength(100)
  })

  test('one client of a user does not see what another has begun', () => {
    const sessions = createSessions({ max: 10, maxPerUser: 10 })
    sessions.begin('s', 'ada/one')
    expect(['one', 'two'].map((each) => sessions.statusOf('s', `ada/${each}`))).toEqual([
      'own',
      'other',
    ])
  })

  test('whoever asks for the session of somebody else does not keep it from being forgotten', () => {
    const sessions = createSessions({ max: 100, maxPerUser: 2 })
    sessions.begin('a', 'ada')
    sessions.begin('b', 'ada')
    expect(sessions.statusOf('a', 'eve')).toBe('other')
    sessions.begin('c', 'ada')
    expect(sessions.statusOf('a', 'ada')).toBe('unknown')
  })

  test('of all owners together there are never more than may be', () => {
    const sessions = createSessions({ max: 5, maxPerUser: 100 })
    for (let each = 0; each < 50; each++) sessions.begin(`s${each}`, `owner${each % 7}`)
    const known = Array.from({ length: 50 }, (_, each) =>
      sessions.statusOf(`s${each}`, `owner${each % 7}`),
    ).filter((status) => status === 'own')
    expect(known).toHaveLength(5)
  })

  test('a flood of ids that nobody has given out leaves nothing behind', () => {
    const sessions = createSessions({ max: 2, maxPerUser: 2 })
    sessions.begin('s', 'ada')
    for (let each = 0; each < 10_000; each++) sessions.statusOf(`invented${each}`, 'eve')
    expect(sessions.statusOf('s', 'ada')).toBe('own')
  })

  test('of owners whose sessions are all over nothing is kept', () => {
    const sessions = createSessions({ max: 10, maxPerUser: 10 })
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void // what the flag exposes
    collect()
    const before = process.memoryUsage().heapUsed
    for (let each = 0; each < 50_000; each++) sessions.begin(`s${each}`, `owner${each}`)
    collect()
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(4_000_000)
    expect(sessions.statusOf('s49999', 'owner49999')).toBe('own')
  })

  test('whoever wants to hear of their end is told once, and why', () => {
    const ends: unknown[] = []
    const sessions = createSessions({ max: 3, maxPerUser: 2 }, (...end) => ends.push(end))
    sessions.begin('a', 'ada')
    sessions.begin('b', 'ada')
    sessions.begin('c', 'ada')
    sessions.begin('c', 'ada')
    sessions.begin('d', 'eve')
    sessions.begin('e', 'bob')
    sessions.end('d')
    sessions.end('d')
    sessions.end('invented')
    expect(ends).toEqual([
      ['a', 'maxPerUser'],
      ['b', 'max'],
      ['d', 'deleted'],
    ])
  })

  test('any sequence does what a plain list would do', () => {
    const random = randomOf(20_261_125)
    for (let run = 0; run < 200; run++) {
      const limits = { max: 1 + random(6), maxPerUser: 1 + random(3) }
      const [told, expected] = [[] as string[], [] as string[]]
      const sessions = createSessions(limits, (...end) => told.push(end.join(' ')))
      const model = createModel(limits, (...end) => expected.push(end.join(' ')))
      for (let step = 0; step < 60; step++) {
        const [id, owner, action] = [`s${random(8)}`, `o${random(3)}/${random(2)}`, random(3)]
        const outcomes = [sessions, model].map((each) => outcomeOf(each, action, id, owner))
        expect(outcomes[0]).toBe(outcomes[1])
        expect(told).toEqual(expected)
      }
    }
  })
})

function outcomeOf(sessions: Sessions, action: number, id: string, owner: string): unknown {
  try {
    if (action === 0) return sessions.statusOf(id, owner)
    return action === 1 ? sessions.end(id) : sessions.begin(id, owner)
  } catch {
    return 'refused'
  }
}

/** The same, as simple as it can be. */
function createModel(
  { max, maxPerUser }: SessionLimits,
  onEnd: (id: string, why: string) => void,
): Sessions {
  /** The least recently used first. */
  let known: readonly { readonly id: string; readonly owner: string }[] = []
  const ownerOf = (id: string) => known.find((each) => each.id === id)?.owner
  const others = (id: string) => known.filter((each) => each.id !== id)
  function forget(id: string | undefined, why: string): void {
    if (id === undefined || ownerOf(id) === undefined) return
    known = others(id)
    onEnd(id, why)
  }
  return {
    statusOf(id, owner) {
      const found = ownerOf(id)
      if (found !== owner) return found === undefined ? 'unknown' : 'other'
      known = [...others(id), { id, owner }]
      return 'own'
    },
    begin(id, owner) {
      const found = ownerOf(id)
      if (found !== undefined && found !== owner) throw new Error('of another owner')
      const own = known.filter((each) => accountOf(each.owner) === accountOf(owner))
      if (found === undefined && own.length >= maxPerUser) forget(own[0]?.id, 'maxPerUser')
      if (found === undefined && known.length >= max) forget(known[0]?.id, 'max')
      known = [...others(id), { id, owner }]
    },
    end(id) {
      forget(id, 'deleted')
    },
  }
}

/** A linear congruential generator, so that a failure can be repeated. */
function randomOf(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

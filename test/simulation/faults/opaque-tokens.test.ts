import { describe, expect, test } from 'vitest'

import { active, createTraffic, type Reply, type Traffic } from './opaque-traffic.ts'
import { playUsers } from './opaque-users.ts'

// What other people's tokens, and an endpoint that is slow or down, do to genuine tokens. Every run of a seed is the same.

const ROUND_TRIP = 0.1

/** Seconds: 30, and a fifth that is drawn. */
const LONGEST_PAUSE = 36

/** What real issuers answer about a token that they do not know, where it is not `active: false`; and what an outage looks like. */
const FAILURES: Readonly<Record<string, () => Response>> = {
  '401': () => new Response('', { status: 401 }),
  '403': () => new Response('', { status: 403 }),
  '500': () => new Response('', { status: 500 }),
  'a reset': () => {
    throw connectionError('ECONNRESET')
  },
}

const EACH = Object.entries(FAILURES).map(([name, fail], index) => ({
  name,
  fail,
  seed: index + 1,
}))

function connectionError(code: string): Error {
  return Object.assign(new TypeError('fetch failed'), { code })
}

function failing(traffic: Traffic, fail: () => Response): Reply {
  return { after: ROUND_TRIP * (0.5 + traffic.random()), with: fail }
}

/** New tokens, each of which comes once. */
function newTokens(traffic: Traffic, kind: string, perSecond: number): void {
  let count = 0
  traffic.arrive(perSecond, () => {
    count += 1
    traffic.present(kind, `${kind}-${count}`)
  })
}

/** Users who present their token about once a second. */
function users(traffic: Traffic, count: number): void {
  traffic.arrive(count, () => {
    traffic.present('user', `user-${Math.floor(traffic.random() * count)}`)
  })
}

describe('tokens about which the issuer fails, each by itself', () => {
  test.each(EACH)(
    'with $name: two invented ones a second refuse at most 1 % of 20 genuine new ones',
    async ({ fail, seed }) => {
      const traffic = createTraffic(seed)
      traffic.reply = (token) =>
        token.startsWith('invented') ? failing(traffic, fail) : active(traffic, ROUND_TRIP)
      newTokens(traffic, 'invented', 2)
      newTokens(traffic, 'genuine', 20)
      await traffic.clock.advance(60)
      const { total, unavailable } = traffic.take('genuine')
      expect(total).toBeGreaterThan(1000)
      expect(unavailable / total).toBeLessThanOrEqual(0.01)
    },
  )

  test.each(EACH)(
    'with $name: one that has ended and comes twice a second refuses no user whose token is held',
    async ({ fail, seed }) => {
      const traffic = createTraffic(seed)
      let hasEnded = false
      traffic.reply = (token) =>
        token === 'ended' && hasEnded ? failing(traffic, fail) : active(traffic, ROUND_TRIP)
      users(traffic, 20)
      traffic.arrive(2, () => {
        traffic.present('ended', 'ended')
      })
      await traffic.clock.advance(40)
      hasEnded = true
      traffic.take('user')
      await traffic.clock.advance(120)
      const { total, unavailable } = traffic.take('user')
      expect(total).toBeGreaterThan(2000)
      expect(unavailable).toBe(0)
      expect(traffic.take('ended').unavailable).toBeGreaterThan(100)
    },
  )

  test.each([1, 2, 3])(
    'four that hang a second refuse none of 20 genuine new ones (seed %i)',
    async (seed) => {
      const traffic = createTraffic(seed)
      traffic.reply = (token) => ({
        ...active(traffic, ROUND_TRIP),
        ...(token.startsWith('invented') && { after: 'never' as const }),
      })
      newTokens(traffic, 'invented', 4)
      newTokens(traffic, 'genuine', 20)
      await traffic.clock.advance(60)
      const { total, unavailable } = traffic.take('genuine')
      expect(total).toBeGreaterThan(1000)
      expect(unavailable).toBe(0)
    },
  )
})

/** Whether the issuer still knows a token that it gave out so long ago. */
function lasting(traffic: Traffic, seconds: number, fail: () => Response) {
  const begun = new Map<string, number>()
  traffic.reply = (token) => {
    const now = traffic.clock.monotonic()
    const since = begun.get(token) ?? now
    begun.set(token, since)
    const isKnown = !token.startsWith('invented') && now - since < seconds
    return isKnown ? active(traffic, ROUND_TRIP) : failing(traffic, fail)
  }
}

describe('tokens that were good, and about which the issuer fails since they have ended', () => {
  test.each(EACH)(
    'with $name: 50 that have ended overnight, and two invented ones a second, refuse at most 1 % of the first new ones',
    async ({ fail, seed }) => {
      const traffic = createTraffic(seed)
      for (let count = 0; count < 50; count++) traffic.present('early', `early-${count}`)
      await traffic.clock.advance(3600)
      lasting(traffic, 600, fail)
      const { reply } = traffic
      traffic.reply = (token) => (token.startsWith('early') ? failing(traffic, fail) : reply(token))
      newTokens(traffic, 'invented', 2)
      await traffic.clock.advance(60)
      newTokens(traffic, 'genuine', 2)
      await traffic.clock.advance(120)
      const { total, unavailable } = traffic.take('genuine')
      expect(total).toBeGreaterThan(150)
      expect(unavailable / total).toBeLessThanOrEqual(0.01)
    },
  )

  test.each(EACH)(
    'with $name: new ones that end within a second, and two invented ones a second, refuse none whose token is held, and at most 1 % of new ones',
    async ({ fail, seed }) => {
      const traffic = createTraffic(seed)
      lasting(traffic, 1, fail)
      const { reply } = traffic
      traffic.reply = (token) =>
        token.startsWith('user') ? active(traffic, ROUND_TRIP) : reply(token)
      users(traffic, 5)
      newTokens(traffic, 'genuine', 2)
      newTokens(traffic, 'invented', 2)
      await traffic.clock.advance(300)
      const [held, fresh] = [traffic.take('user'), traffic.take('genuine')]
      expect([held.total > 1000, held.unavailable]).toEqual([true, 0])
      expect(fresh.total).toBeGreaterThan(400)
      expect(fresh.unavailable / fresh.total).toBeLessThanOrEqual(0.01)
    },
  )
})

describe('more new tokens than there are calls for', () => {
  test.each([
    { invented: 75, genuine: 75, roundTrip: 0.1, fair: 100 / 150 },
    { invented: 150, genuine: 150, roundTrip: 0.1, fair: 100 / 300 },
    { invented: 80, genuine: 20, roundTrip: 0.3, fair: 16 / 0.3 / 100 },
  ])(
    '$invented invented and $genuine genuine ones a second, each call $roundTrip s: genuine ones get 80 % of their fair share',
    async ({ invented, genuine, roundTrip, fair }) => {
      const traffic = createTraffic(1)
      traffic.reply = (token) => ({
        ...active(traffic, roundTrip),
        ...(token.startsWith('invented') && { with: () => Response.json({ active: false }) }),
      })
      newTokens(traffic, 'invented', invented)
      newTokens(traffic, 'genuine', genuine)
      await traffic.clock.advance(6)
      traffic.take('genuine')
      await traffic.clock.advance(10)
      const { total, accepted } = traffic.take('genuine')
      expect(accepted / total).toBeGreaterThanOrEqual(0.8 * fair)
    },
  )
})

describe('an outage', () => {
  const OUTAGES: Readonly<Record<string, (traffic: Traffic) => Reply>> = {
    'answers 500': (traffic) => failing(traffic, () => new Response('', { status: 500 })),
    'answers 401': (traffic) => failing(traffic, () => new Response('', { status: 401 })),
    hangs: () => ({ after: 'never', with: () => Response.error() }),
    'takes no connection': (traffic) =>
      failing(traffic, () => {
        throw connectionError('ECONNREFUSED')
      }),
    'answers 429': (traffic) => failing(traffic, () => new Response('', { status: 429 })),
  }

  /**
   * Where it may be the fault of tokens, one that waits is asked about after each 0.4 s, so that no genuine one is refused for others.
   * Of one that hangs, nothing is known before two calls have taken their 5 s, one after the other.
   */
  const IN_A_MINUTE: Readonly<Record<string, number>> = {
    'answers 500': 140,
    'answers 401': 140,
    hangs: 75,
  }
  /** As above, after 16 that fail; of those that hang, as many again before the first has failed. */
  const IN_TEN_SECONDS: Readonly<Record<string, number>> = {
    'answers 500': 44,
    'answers 401': 44,
    hangs: 52,
  }

  test.each(Object.keys(OUTAGES))(
    'of an endpoint that %s is known within a few calls, and its end as well',
    async (name) => {
      const traffic = createTraffic(1)
      users(traffic, 20)
      await traffic.clock.advance(60)
      const { reply } = traffic
      const before = traffic.asked.length
      traffic.reply = () => OUTAGES[name]?.(traffic) ?? reply('')
      await traffic.clock.advance(60)
      expect(traffic.asked.length - before).toBeLessThanOrEqual(IN_A_MINUTE[name] ?? 16)
      traffic.reply = reply
      await traffic.clock.advance(LONGEST_PAUSE)
      traffic.take('user')
      await traffic.clock.advance(20)
      const { total, unavailable } = traffic.take('user')
      expect([total > 300, unavailable]).toEqual([true, 0])
    },
  )

  test.each(Object.keys(OUTAGES))(
    'of an endpoint that %s is known within a few calls to a process that starts in it',
    async (name) => {
      const traffic = createTraffic(1)
      const { reply } = traffic
      traffic.reply = () => OUTAGES[name]?.(traffic) ?? reply('')
      newTokens(traffic, 'genuine', 20)
      await traffic.clock.advance(10)
      expect(traffic.asked.length).toBeLessThanOrEqual(IN_TEN_SECONDS[name] ?? 24)
      traffic.reply = reply
      await traffic.clock.advance(LONGEST_PAUSE)
      traffic.take('genuine')
      await traffic.clock.advance(20)
      const { total, unavailable } = traffic.take('genuine')
      expect([total > 300, unavailable]).toEqual([true, 0])
    },
  )
})

describe('many users of one process', () => {
  test('8,000 of them at 0.2 s for each call get no 503, whatever each draws', async () => {
    const { busiest, calls, atOnce, refused } = await playUsers({ count: 8000, roundTrip: 0.2 })
    expect(refused).toBe(0)
    // 76 on average: users times the round trip, divided by 0.7 of maxAge.
    expect(busiest).toBeLessThan(110)
    // Nobody waits for a renewal: each user has waited once, for the first answer.
    expect(atOnce).toBeGreaterThan(4 * calls)
  })
})

import { describe, expect, test } from 'vitest'

import { active, createTraffic, type Traffic } from './opaque-traffic.ts'

// What other people's tokens do to genuine ones, and an endpoint that is slow. Every run of a seed is the same.

/** New tokens, each of which comes once. */
function newTokens(traffic: Traffic, kind: string, perSecond: number): void {
  let count = 0
  traffic.arrive(perSecond, () => {
    count += 1
    traffic.present(kind, `${kind}-${count}`)
  })
}

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

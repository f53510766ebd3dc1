import { instant } from '@portcullis/kit/time'
import { manualClock } from '@portcullis/testing'

import { checkIntrospectedOptions } from '../../../packages/introspection/src/checked-options.ts'
import { renewalAge } from '../../../packages/introspection/src/decisions.ts'
import { createProver } from '../../../packages/introspection/src/prover.ts'
import type { Question } from '../../../packages/introspection/src/question.ts'
import { seededRandom } from '../../bench/random.ts'

// More users than requests over HTTP can be simulated of in a moment: the prover of `introspected`, with calls that are only a wait.

/** Seconds. */
const TICK = 0.02
const JOINING = 120
const WATCHED = 60
/** How often each user comes. */
const INTERVAL = 5

interface Seen {
  /** The most calls at the same time. */
  readonly busiest: number
  readonly calls: number
  /** Requests that were answered at once. */
  readonly atOnce: number
  readonly refused: number
}

/** Users join one after the other, each with a token that is active, and come again and again. */
export async function playUsers({
  count,
  roundTrip,
}: {
  readonly count: number
  readonly roundTrip: number
}): Promise<Seen> {
  const clock = manualClock()
  const random = seededRandom(1)
  const seen = { busiest: 0, calls: 0, atOnce: 0, refused: 0 }
  let running = 0
  const options = checkIntrospectedOptions({
    issuer: 'https://issuer.test',
    audience: null,
    clientId: 'api',
    clock,
  })
  const call: Question = async (_, askedAt) => {
    running += 1
    seen.calls += 1
    seen.busiest = Math.max(seen.busiest, running)
    await new Promise<void>((resolve) => {
      clock.after(roundTrip, resolve)
    })
    running -= 1
    const renewAt = renewalAge(options, random())
    const held = {
      claims: {},
      header: { alg: 'opaque' },
      size: 9,
      askedAt,
      exp: undefined,
      renewAt,
    }
    return { word: 'active', held }
  }
  const prover = createProver(options, { locate: async () => '' }, undefined, call, random)

  async function present(user: number): Promise<void> {
    const token = `token-${user}`
    const arrived = instant(clock)
    if (prover.recall(token, arrived, undefined) === undefined) {
      try {
        await prover.prove(token, { arrived, signal: undefined, waitUntil: undefined })
      } catch {
        seen.refused += 1
      }
    } else seen.atOnce += 1
  }

  let owed = 0
  for (let time = 0; time < JOINING + WATCHED; time += TICK) {
    const joined = Math.min(count, Math.floor((count * time) / JOINING))
    const before = Math.min(count, Math.floor((count * (time - TICK)) / JOINING))
    for (let user = Math.max(0, before); user < joined; user++) void present(user)
    owed += (joined * TICK) / INTERVAL
    for (; owed >= 1; owed--) void present(Math.floor(random() * joined))
    await clock.advance(TICK)
  }
  return seen
}

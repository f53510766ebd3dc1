import { localReplays } from '@portcullis/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'

import { MODEL_LIMIT, modelRuns } from '../../model-runs.ts'

// Random proofs and steps of the clock, against a plain list of every proof that was ever accepted.

const RUNS = 3000

const START = 1_767_225_600
/** As `dpopProofs` has them by default. Seconds. */
const MAX_AGE = 60
const TOLERANCE = 5
/** Proofs are forgotten at the end of a span of so many seconds. */
const SPAN = 16

/** Plain, so that a sequence that fails prints as one can read it. Seconds. */
type Event =
  | { readonly pass: number }
  /** The clock is set. */
  | { readonly step: number }
  | { readonly key: string; readonly jti: string; readonly age: number }
  /** A proof that was sent before, by its place among all. */
  | { readonly again: number }

const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ pass: fc.constantFrom(0.5, 1, 5, 15, 16, 17, 59, 65, 66, 90) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ step: fc.constantFrom(-3600, -120, -66, -30, -5, -1, 1, 30, 70, 3600) }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      key: fc.constantFrom('a', 'b', 'c'),
      jti: fc.constantFrom('1', '2', '3', '4', '5', '6'),
      age: fc.constantFrom(-6, -5, 0, 1, 30, 59, 60, 65, 66),
    }),
  },
  { weight: 6, arbitrary: fc.record({ again: fc.nat(30) }) },
)
const sequence = fc.array(event, { minLength: 1, maxLength: 60, size: 'max' })
const bounds = fc.record({
  max: fc.constantFrom(1, 2, 5, 1000),
  maxPerKey: fc.constantFrom(1, 2, 5, 1000),
})

interface Sent {
  readonly jkt: string
  readonly jti: string
  readonly iat: number
}

interface World {
  readonly faults: readonly string[]
  play(event: Event): void
}

function createWorld({ max, maxPerKey }: { max: number; maxPerKey: number }): World {
  const replays = localReplays({ max, maxPerKey })
  const sent: Sent[] = []
  const accepted: Sent[] = []
  const faults: string[] = []
  let now = START
  let latest = START

  function send(proof: Sent): void {
    const { jkt, jti, iat } = proof
    // What `dpopProofs` refuses before.
    if (now > iat + MAX_AGE + TOLERANCE || iat > now + TOLERANCE) return
    sent.push(proof)
    latest = Math.max(latest, now)
    const expires = expiryOf(proof)
    const answer = replays.remember({ jkt, jti, expires }, now)
    const complain = (promise: string) => faults.push(`${answer}, at ${now}: ${promise}`)
    const sameName = accepted.filter((each) => each.jkt === jkt && each.jti === jti)
    // Forgotten at the end of their span, and never before: so at most these count against the bounds.
    const mayCount = accepted.filter((each) => now <= expiryOf(each) + SPAN)
    const mustCount = accepted.filter((each) => latest <= expiryOf(each))
    const ofKey = (list: readonly Sent[]) => list.filter((each) => each.jkt === jkt).length
    switch (answer) {
      case 'new':
        if (sameName.some((each) => each.iat === iat)) complain('no proof is accepted twice')
        if (sameName.some((each) => latest <= expiryOf(each))) complain('no jti within its window')
        if (mustCount.length >= max || ofKey(mustCount) >= maxPerKey) complain('bounded')
        accepted.push(proof)
        break
      case 'replayed':
        if (sameName.length === 0) complain('it was accepted before')
        break
      case 'full':
        if (mayCount.length < max && ofKey(mayCount) < maxPerKey) complain('there is no room')
        break
      case 'unavailable':
        if (latest <= expires) complain('only after the clock was set back')
        break
      default:
        complain('it is one of the words')
    }
    if (replays.size > max) complain('no more than there is room for')
  }

  return {
    faults,
    play(each) {
      if ('pass' in each) now += each.pass
      else if ('step' in each) now += each.step
      else if ('again' in each) {
        const proof = sent[each.again % Math.max(sent.length, 1)]
        if (proof !== undefined) send(proof)
      } else send({ jkt: each.key, jti: each.jti, iat: now - each.age })
    },
  }
}

function expiryOf({ iat }: Sent): number {
  return iat + MAX_AGE + TOLERANCE
}

test(
  'whatever the clock does: no proof is accepted twice, and none is refused but for a reason',
  () => {
    fc.assert(
      fc.property(bounds, sequence, (given, events) => {
        const world = createWorld(given)
        for (const each of events) world.play(each)
        expect(world.faults).toEqual([])
      }),
      modelRuns(RUNS, 20_260_102),
    )
  },
  MODEL_LIMIT,
)

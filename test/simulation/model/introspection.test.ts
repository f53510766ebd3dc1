import fc from 'fast-check'
import { expect, test } from 'vitest'

import { MODEL_LIMIT, modelRuns } from '../../model-runs.ts'
import {
  createIntrospectionWorld,
  type IntrospectionWorld,
  MAX_AGE,
  MAX_CALLS,
  MAX_RATE,
  MAX_RENEWALS,
  type Mode,
  type Poison,
  TIMEOUT,
  type TimeEvent,
  type Verdict,
} from './introspection-world.ts'

// Opaque tokens, and an issuer that hangs, is slow, breaks or answers wrongly, to all or about one token, while tokens end there, invented
// ones come in floods, callers leave and clocks are set. The sequences that could go wrong are in the tests of the package; here are random ones.

const RUNS = 400

/** How long after a failure the endpoint counts as down, if nothing is asked: the longest pause, and two calls. */
const LONGEST_OUTAGE = 60 + 2 * TIMEOUT

const GENUINE = ['ada', 'bob', 'cyd', 'dan', 'eve']

/** Plain, so that a sequence that fails prints as one can read it. */
type Event =
  | { readonly verify: string; readonly times: number; readonly abortAfter: number | undefined }
  | { readonly flood: number }
  | { readonly end: string }
  | { readonly poison: string; readonly how: Poison }
  | { readonly mode: Mode }
  | { readonly connection: 'ended' }
  | { readonly time: TimeEvent }

const passing: fc.Arbitrary<TimeEvent> = fc.record({
  pass: fc.constantFrom(0.1, 0.5, 1, 2, 4.9, 5, 6, MAX_AGE - 1, MAX_AGE, 45, 80),
})

/** A clock that is set back while the machine is suspended hides how long that was: no run has both. */
const disturbances: Readonly<Record<string, fc.Arbitrary<TimeEvent>>> = {
  suspended: fc.record({ suspend: fc.constantFrom(2, 10, MAX_AGE, 300) }),
  set: fc.record({ set: fc.constantFrom(0, -100, 100, -3, 3, 5000) }),
}

function eventOf(disturbance: string): fc.Arbitrary<Event> {
  const { [disturbance]: disturbed = passing } = disturbances
  return fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        verify: fc.constantFrom(...GENUINE, 'invented'),
        times: fc.constantFrom(1, 1, 2, 5),
        abortAfter: fc.constantFrom(undefined, undefined, undefined, 0, 1, 6),
      }),
    },
    { weight: 2, arbitrary: fc.record({ flood: fc.constantFrom(1, 5, 30) }) },
    { weight: 1, arbitrary: fc.record({ end: fc.constantFrom(...GENUINE) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        poison: fc.constantFrom(...GENUINE),
        how: fc.constantFrom<Poison>('refuses', 'breaks', 'resets', 'hangs'),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        mode: fc.constantFrom<Mode>(
          'well',
          'well',
          'slow',
          'hang',
          'broken',
          'gone',
          'busy',
          'wrong',
          'odd',
        ),
      }),
    },
    { weight: 2, arbitrary: fc.constant<Event>({ connection: 'ended' }) },
    { weight: 6, arbitrary: fc.record({ time: passing }) },
    { weight: 2, arbitrary: fc.record({ time: disturbed }) },
  )
}

async function play(world: IntrospectionWorld, each: Event, invented: () => string): Promise<void> {
  if ('verify' in each) {
    for (let count = 0; count < each.times; count++) world.verify(each.verify, each.abortAfter)
  } else if ('flood' in each) {
    for (let count = 0; count < each.flood; count++) world.verify(invented())
  } else if ('end' in each) world.end(each.end)
  else if ('poison' in each) world.poison(each.poison, each.how)
  else if ('mode' in each) world.mode = each.mode
  else if ('connection' in each) world.hasEndedConnection = true
  else await world.happen(each.time)
}

/**
 * The verdicts that must not be.
 *
 * @param staleIfError Seconds.
 */
function wrongVerdicts(world: IntrospectionWorld, staleIfError: number): readonly Verdict[] {
  return world.verdicts.filter((verdict) => {
    const { token, word, settledAt, failedAgo } = verdict
    const isGenuine = GENUINE.includes(token)
    const end = world.ended.get(token) ?? Infinity
    const longest = MAX_AGE + (failedAgo <= LONGEST_OUTAGE ? staleIfError : 0)
    // It was active at some moment that is no longer ago than an answer may be used.
    if (word === 'accepted') return !isGenuine || settledAt - end > longest
    // No outage, flood or clock makes a genuine token a bad one.
    if (word === 'invalid_token inactive') return isGenuine && settledAt < end
    if (isHarmedByOthers(world, verdict)) return true
    return !/^introspection_unavailable |^Error: aborted$/.test(word)
  })
}

/** Whether a token that was accepted before is refused, while all that fails are single tokens of others. */
function isHarmedByOthers({ poisoned }: IntrospectionWorld, verdict: Verdict): boolean {
  const { token, word, wasKnown, calmFor } = verdict
  const isOutage = /^introspection_unavailable (?:unreachable|bad_answer)$/.test(word)
  return isOutage && wasKnown && calmFor > LONGEST_OUTAGE && !poisoned.has(token)
}

/** Whether some part of the time has more calls for invented tokens than the rate allows. */
function exceedsRate({ seen: { inventedAt } }: IntrospectionWorld): boolean {
  return inventedAt.some((since, index) => {
    const until = inventedAt[index + 4 * MAX_CALLS] ?? Infinity
    return (until - since) * MAX_RATE < 3 * MAX_CALLS - 0.01
  })
}

/**
 * From any state: the issuer is well again, the longest pause over, and so are the answers that an outage allowed. Who was waiting then,
 * and what each token gets.
 */
async function heal(world: IntrospectionWorld, invented: string, staleIfError: number) {
  world.mode = 'well'
  // Without an answer before, it would be an outage.
  world.hasEndedConnection = false
  await world.happen({ pass: Math.max(LONGEST_OUTAGE, MAX_AGE + staleIfError) })
  const waiting = world.waiting()
  // Whether the endpoint is back is asked with a token that was good before: each that no longer is costs one more pause.
  for (let each = 0; each < world.poisoned.size; each++) {
    for (const token of GENUINE) world.verify(token)
    await world.happen({ pass: LONGEST_OUTAGE })
  }
  const before = world.verdicts.length
  for (const token of [...GENUINE, invented]) {
    world.verify(token)
    // Where no good token is left, one that fails gives all calls a pause of 2 s.
    await world.happen({ pass: TIMEOUT })
  }
  const words = new Map(world.verdicts.slice(before).map(({ token, word }) => [token, word]))
  return { waiting, words }
}

test.each([
  ['suspended', 0],
  ['set', 0],
  ['suspended', 30],
  ['set', 30],
])(
  'whatever happens, while the machine is %s and staleIfError is %i: nothing that has ended is accepted for longer, one call for each token, no caller is left waiting, and no known token pays for others',
  async (disturbance, staleIfError) => {
    const events = fc.array(eventOf(disturbance), { minLength: 3, maxLength: 40 })
    await fc.assert(
      fc.asyncProperty(events, async (sequence) => {
        const world = createIntrospectionWorld(GENUINE, staleIfError)
        let count = 0
        const invented = () => `invented-${count++}`
        for (const each of sequence) await play(world, each, invented)
        const { waiting, words } = await heal(world, invented(), staleIfError)
        expect(waiting).toBe(0)
        const sound = GENUINE.filter((token) => !world.poisoned.has(token))
        const active = sound.filter((token) => !world.ended.has(token))
        expect(active.filter((token) => words.get(token) !== 'accepted')).toEqual([])
        expect([...words.values()].filter((word) => word === 'invalid_token inactive').length).toBe(
          sound.length + 1 - active.length,
        )
        expect(wrongVerdicts(world, staleIfError)).toEqual([])
        expect(world.seen.ofOne).toBeLessThanOrEqual(1)
        // As many again that last long, and a probe for each kind of tokens.
        expect(world.seen.ofInvented).toBeLessThanOrEqual(2 * MAX_CALLS)
        expect(world.seen.ofGenuine).toBeLessThanOrEqual(2 * MAX_CALLS + 2 * MAX_RENEWALS + 2)
        expect(exceedsRate(world)).toBe(false)
      }),
      modelRuns(RUNS / 4, 20_261_123, 1 / 4),
    )
  },
  MODEL_LIMIT,
)

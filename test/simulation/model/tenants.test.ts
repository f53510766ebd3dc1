import { AuthError } from '@portcullis/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'

import { MODEL_LIMIT, modelRuns } from '../../model-runs.ts'
import { JUDGING } from './tenant-verifier.ts'
import {
  createTenantWorld,
  MAX_AGE,
  MISS_AGE,
  type Mode,
  type Name,
  NAMES,
  SECOND_REFUSAL,
  TIMEOUT,
  type TenantWorld,
} from './tenants.ts'

// Random sequences of events for a `byIssuer` of a function, in virtual time, against what is promised whatever happens.

const RUNS = 1000

/** Plain, so that a sequence that fails prints as one can read it. Seconds. */
type Event =
  | { readonly wait: number }
  | { readonly mode: Mode }
  | { readonly tenant: Name; readonly exists: boolean }
  | { readonly token: Name; readonly kind: 'good' | 'forged' | 'again'; readonly mayLeave: boolean }
  | { readonly judging: 'slow' | 'quick' }
  /** Whether the errors of verifiers are those of a second copy of core. */
  | { readonly errors: 'ours' | 'theirs' }
  | { readonly leave: true }
  /** A token of each issuer, at once. */
  | { readonly flood: true }
  | { readonly step: number }

const anyName = fc.constantFrom(...NAMES)
const waits = [0.1, 0.9, 1, 2, 5, 6, 19, 20, 40, 49, 50, 51, 99, 100, 101, 200]
const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ wait: fc.constantFrom(...waits) }) },
  {
    weight: 10,
    arbitrary: fc.record({
      token: anyName,
      kind: fc.constantFrom('good' as const, 'again' as const, 'forged' as const),
      mayLeave: fc.boolean(),
    }),
  },
  { weight: 4, arbitrary: fc.record({ tenant: anyName, exists: fc.boolean() }) },
  {
    weight: 4,
    arbitrary: fc.record({
      mode: fc.constantFrom<Mode>(
        'up',
        'up',
        'slow',
        'down',
        'hanging',
        'late',
        'garbage',
        'second copy',
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ judging: fc.constantFrom('slow' as const, 'quick' as const) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ errors: fc.constantFrom('ours' as const, 'theirs' as const) }),
  },
  { weight: 1, arbitrary: fc.constant<Event>({ leave: true }) },
  { weight: 1, arbitrary: fc.constant<Event>({ flood: true }) },
  { weight: 1, arbitrary: fc.record({ step: fc.constantFrom(-500, -30, 30, 500) }) },
)
const sequence = fc.array(event, { minLength: 1, maxLength: 40, size: 'max' })

test(
  'whatever happens: no verifier outlives its time or its tenant, calls are limited, nobody waits for ever, and all heals',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(1, 2, 100), sequence, async (max, events) => {
        const world = createTenantWorld({ max })
        await play(world, events)
        await heal(world)
        expect(world.faults).toEqual([])
      }),
      modelRuns(RUNS, 20_260_101),
    )
  },
  MODEL_LIMIT,
)

test('a call that was due while the clock was ahead, and waits for its turn: it begins after the clock was set back', async () => {
  const world = createTenantWorld({ max: 100 })
  await play(world, [
    { token: 'e', kind: 'good', mayLeave: false },
    { mode: 'late' },
    // The answer for this issuer is over, and others are asked for first.
    { step: 500 },
    { flood: true },
    { step: -500 },
    { mode: 'up' },
  ])
  expect(world.callsFor('e')).toBe(1)
  await world.clock.advance(TIMEOUT)
  expect(world.callsFor('e')).toBe(2)
  await heal(world)
  expect(world.faults).toEqual([])
})

test('a tenant that goes while its verifier judges a token, and the miss is over by a clock that is set forward: not accepted', async () => {
  const world = createTenantWorld({ max: 100 })
  await play(world, [
    { token: 'a', kind: 'good', mayLeave: false },
    { judging: 'slow' },
    { tenant: 'a', exists: false },
    // The verifier is due: a token that it judges has the function called as well.
    { wait: 50 },
    { token: 'a', kind: 'good', mayLeave: false },
    { step: 30 },
    { wait: JUDGING },
  ])
  expect(world.callsFor('a')).toBe(3)
  await heal(world)
  expect(world.faults).toEqual([])
})

test('an answer that is pushed out while an older verifier judges a token: the older one does not come back', async () => {
  const world = createTenantWorld({ max: 1 })
  const good = { kind: 'good', mayLeave: false } as const
  await play(world, [
    { mode: 'slow' },
    { judging: 'slow' },
    { token: 'c', ...good },
    { token: 'a', kind: 'forged', mayLeave: false },
    { tenant: 'c', exists: true },
    { wait: 20 },
    { token: 'f', ...good },
    // The verifier of c is due: the function is called again, and answers with another one.
    { step: 30 },
    { token: 'e', ...good },
    { token: 'c', ...good },
    { flood: true },
    { wait: 50 },
  ])
  await heal(world)
  expect(world.faults).toEqual([])
})

test('a second copy of core, which makes the verifiers and then the refusals: 503, refusals as ever, and all heals', async () => {
  const world = createTenantWorld({ max: 100 })
  await play(world, [{ mode: 'second copy' }])
  const first = world.present('a', 'good')
  await world.clock.advance(TIMEOUT)
  expect(await first).toBe('keys_unavailable')
  await play(world, [{ mode: 'up' }, { errors: 'theirs' }, { wait: 2 }])
  expect(await world.present('a', 'forged')).toBe('invalid_token')
  await heal(world)
  expect(world.faults).toEqual([])
})

async function play(world: TenantWorld, events: readonly Event[]): Promise<void> {
  const exits: AbortController[] = []
  for (const name of NAMES.slice(0, 3)) world.setTenant(name, true)
  for (const each of events) {
    await happen(world, each, exits)
    // What goes on without time goes on now.
    await world.clock.advance(0)
  }
}

async function happen(world: TenantWorld, each: Event, exits: AbortController[]): Promise<void> {
  const { clock } = world
  if ('wait' in each) await clock.advance(each.wait)
  else if ('mode' in each) world.mode = each.mode
  else if ('tenant' in each) world.setTenant(each.tenant, each.exists)
  else if ('judging' in each) world.isSlowToJudge = each.judging === 'slow'
  else if ('errors' in each) world.refusal = each.errors === 'ours' ? AuthError : SECOND_REFUSAL
  else if ('leave' in each) exits.shift()?.abort(new Error('left'))
  else if ('step' in each) world.step(each.step)
  else if ('flood' in each) for (const name of NAMES) void world.present(name, 'good')
  else if (each.mayLeave) {
    const exit = new AbortController()
    exits.push(exit)
    void world.present(each.token, each.kind, exit.signal)
  } else void world.present(each.token, each.kind)
}

/** From any state: the function is well. */
async function heal(world: TenantWorld): Promise<void> {
  world.mode = 'up'
  world.isSlowToJudge = false
  // What is under way ends, and everybody who waits gets an answer.
  await world.clock.advance(TIMEOUT + TIMEOUT + 10)
  expect(world.pending()).toBe(0)
  await world.clock.advance(Math.max(MAX_AGE, MISS_AGE) + 1)
  for (const name of NAMES) {
    expect([name, await world.present(name, 'good')]).toEqual([
      name,
      world.has(name) ? 'accepted' : 'invalid_token',
    ])
  }
}

import fc from 'fast-check'

import type { Mode, Route } from './endpoint.ts'
import { type KeyName, NAMES, RSA, type Signer, SIGNERS, signToken } from './keys.ts'
import type { World } from './world.ts'

/** One thing that happens. Plain, so that a sequence that fails prints as one can read it. Seconds. */
export type Event =
  | { readonly wait: number }
  | { readonly publish: readonly KeyName[]; readonly replica: 'both' | 'first' | 'second' }
  | { readonly endpoint: Mode }
  | { readonly route: Route }
  | { readonly connection: 'ended' }
  | { readonly headers: Readonly<Record<string, string>> }
  | { readonly token: Signer; readonly iat: 'now' | 'old' | 'none'; readonly verifier: number }
  | { readonly again: number; readonly verifier: number }
  /** Tokens in one synchronous run: most of their signatures are checked on the thread pool. */
  | { readonly burst: readonly Signer[]; readonly verifier: number }
  /** Forged tokens, four a second. */
  | { readonly flood: number }
  | { readonly step: number }
  | { readonly abort: true }
  /** Those who wait give up, and what they have begun ends with them. */
  | { readonly end: true }
  | { readonly refresh: true }
  | { readonly save: true }
  | { readonly restart: 'with snapshot' | 'with nothing' }

const signer = fc.constantFrom(...SIGNERS)
const verifier = fc.nat(3)
const keyNames = fc.oneof(
  { weight: 2, arbitrary: fc.subarray([...NAMES], { minLength: 1, maxLength: 2 }) },
  // One after the other, they are one key whose `alg` changes.
  { weight: 1, arbitrary: fc.constantFrom(...RSA).map((name): KeyName[] => [name]) },
)

const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ token: signer, iat: iatOf(), verifier }) },
  { weight: 2, arbitrary: fc.record({ again: fc.nat(20), verifier }) },
  {
    weight: 6,
    arbitrary: fc.record({
      wait: fc.constantFrom(0.01, 0.5, 1, 2, 4, 5, 15, 16, 60, 290, 400, 700, 3700, 4000),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      publish: keyNames,
      replica: fc.constantFrom('both', 'both', 'first', 'second'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      endpoint: fc.constantFrom<Mode>('up', 'up', 'slow', 'down', 'hanging', 'garbage'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ route: fc.constantFrom<Route>('first', 'second', 'in turn') }),
  },
  { weight: 2, arbitrary: fc.constant<Event>({ connection: 'ended' }) },
  {
    weight: 1,
    arbitrary: fc.record({
      headers: fc.constantFrom<Readonly<Record<string, string>>>(
        {},
        { 'cache-control': 'max-age=3600' },
        { 'cache-control': 'no-store' },
        { 'retry-after': '20' },
        { 'retry-after': '3600' },
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ burst: fc.array(signer, { minLength: 5, maxLength: 9 }), verifier }),
  },
  { weight: 2, arbitrary: fc.record({ flood: fc.constantFrom(1, 5, 20, 40) }) },
  { weight: 1, arbitrary: fc.record({ step: fc.constantFrom(-7200, -20, 20, 1000, 7200) }) },
  { weight: 1, arbitrary: fc.constant<Event>({ abort: true }) },
  { weight: 1, arbitrary: fc.constant<Event>({ end: true }) },
  { weight: 1, arbitrary: fc.constant<Event>({ refresh: true }) },
  { weight: 2, arbitrary: fc.constant<Event>({ save: true }) },
  {
    weight: 2,
    arbitrary: fc.record({
      restart: fc.constantFrom<'with snapshot' | 'with nothing'>(
        'with snapshot',
        'with snapshot',
        'with nothing',
      ),
    }),
  },
)

function iatOf() {
  return fc.constantFrom<'now' | 'old' | 'none'>('now', 'now', 'old', 'none')
}

export const sequence = fc.array(event, { minLength: 1, maxLength: 30, size: 'max' })

/** What has happened that later events refer to. */
interface Memory {
  readonly tokens: { readonly token: string; readonly signer: Signer }[]
  readonly controllers: AbortController[]
}

export async function play(world: World, events: readonly Event[]): Promise<void> {
  const memory: Memory = { tokens: [], controllers: [] }
  for (const each of events) {
    await happen(world, each, memory)
    // What goes on without time goes on now.
    await world.clock.advance(0)
  }
}

async function happen(world: World, happening: Event, memory: Memory): Promise<void> {
  const { clock, endpoint } = world
  if ('wait' in happening) await clock.advance(happening.wait)
  else if ('publish' in happening) {
    const { publish, replica } = happening
    if (replica !== 'second') endpoint.published[0] = publish
    if (replica !== 'first') endpoint.published[1] = publish
  } else if ('endpoint' in happening) endpoint.mode = happening.endpoint
  else if ('route' in happening) endpoint.route = happening.route
  else if ('connection' in happening) endpoint.hasEnded = true
  else if ('headers' in happening) endpoint.headers = happening.headers
  else if ('flood' in happening) await flood(world, happening.flood)
  else if ('step' in happening) world.step(happening.step)
  else if ('refresh' in happening) world.refresh()
  else if ('save' in happening) world.save()
  else if ('restart' in happening) world.restart(happening.restart === 'with snapshot')
  else if ('abort' in happening) memory.controllers.shift()?.abort(new Error('gave up'))
  else if ('end' in happening) {
    for (const each of memory.controllers.splice(0)) each.abort(new Error('gave up'))
    world.cut()
  } else presentAll(world, happening, memory)
}

type TokenEvent = Extract<Event, { verifier: number }>

function presentAll(world: World, happening: TokenEvent, memory: Memory): void {
  const { tokens, controllers } = memory
  if ('again' in happening) {
    const known = tokens[happening.again % Math.max(1, tokens.length)]
    if (known !== undefined) void world.present(happening.verifier, known.token, known.signer)
    return
  }
  const now = world.clock.now()
  const signers = 'burst' in happening ? happening.burst : [happening.token]
  const iat =
    'burst' in happening || happening.iat === 'now'
      ? now
      : happening.iat === 'old'
        ? now - 3600
        : undefined
  for (const each of signers) {
    const token = signToken(each, iat === undefined ? {} : { iat })
    const controller = new AbortController()
    tokens.push({ token, signer: each })
    controllers.push(controller)
    void world.present(happening.verifier, token, each, controller.signal)
  }
}

export async function flood(world: World, seconds: number): Promise<void> {
  for (let step = 0; step < seconds * 4; step++) {
    void world.present(0, signToken('stranger', { iat: world.clock.now() }), 'stranger')
    await world.clock.advance(0.25)
  }
}

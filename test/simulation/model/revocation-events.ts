import type { JsonObject } from '@portcullis/core'
import fc from 'fast-check'

import type { Setting, Stated, World } from './revocation-world.ts'

// Few names, so that they meet often. Times are relative, in seconds, and become absolute when the event happens.

export const setting: fc.Arbitrary<Setting> = fc.record({
  max: fc.constantFrom(1, 2, 5, 1000),
  isSlow: fc.boolean(),
  remembered: fc.constantFrom(0, 1, 1000),
})

type Event =
  | { readonly revoke: Stated }
  | { readonly load: readonly Stated[] }
  | { readonly logOut: number }
  | { readonly present: JsonObject }
  | { readonly again: number }
  | { readonly wait: number }
  | { readonly step: number }
  | { readonly restart: true }

const iss = fc.constantFrom(undefined, undefined, '__proto__')
const name = fc.constantFrom('a', 'a', '__proto__')
/** From now. */
const offset = fc.constantFrom(-700, -100, -1, -0.5, 0, 0.5, 1, 100, 700)
const end = fc.option(offset, { nil: undefined })

const token = fc.record({ type: fc.constant('token' as const), iss, jti: name, exp: end })
const owner = fc.oneof(
  fc.record({ sub: name }),
  fc.record({ client_id: name }),
  fc.record({ sid: name }),
  fc.constant({}),
)
const issuedBefore = fc
  .tuple(owner, fc.record({ iss, time: offset, until: end }))
  .map(([whose, rest]) => Object.assign({ type: 'issued_before' as const }, whose, rest))

const entry = fc.oneof(token, issuedBefore) as fc.Arbitrary<Stated>

const claims = fc.record(
  {
    iss,
    jti: name,
    sub: name,
    client_id: name,
    azp: name,
    sid: name,
    iat: fc.constantFrom(-700, -100, -1, -0.5, 0, 0.5, 1),
    exp: fc.constantFrom(-4, 1, 100, 700),
  },
  { requiredKeys: ['exp'] },
)

export const sequence: fc.Arbitrary<readonly Event[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ revoke: entry }) },
    { weight: 1, arbitrary: fc.record({ load: fc.array(entry, { maxLength: 6 }) }) },
    { weight: 2, arbitrary: fc.record({ logOut: fc.nat(20) }) },
    { weight: 6, arbitrary: fc.record({ present: claims }) },
    { weight: 6, arbitrary: fc.record({ again: fc.nat(20) }) },
    { weight: 3, arbitrary: fc.record({ wait: fc.constantFrom(0.5, 1, 99, 600, 1300) }) },
    {
      weight: 1,
      arbitrary: fc.record({ step: fc.constantFrom(-100_000, -1000, -1, 1, 1000, 100_000) }),
    },
    { weight: 1, arbitrary: fc.record({ restart: fc.constant(true as const) }) },
  ),
  { minLength: 5, maxLength: 60 },
)

export async function play(world: World, events: readonly Event[]): Promise<void> {
  for (const each of events) {
    await happen(world, each)
  }
}

async function happen(world: World, event: Event): Promise<void> {
  const { clock } = world
  if ('wait' in event) await clock.advance(event.wait)
  else if ('step' in event) clock.set(clock.now() + event.step)
  else if ('again' in event) await world.presentAgain(event.again)
  else if ('logOut' in event) await world.logOut(event.logOut)
  else if ('restart' in event) world.restart()
  else if ('revoke' in event) await world.write(absolute(event.revoke, clock.now()))
  else if ('load' in event) world.load(event.load.map((each) => absolute(each, clock.now())))
  else await world.present(absolute(event.present, clock.now()))
}

const TIMES: ReadonlySet<string> = new Set(['exp', 'iat', 'time', 'until'])

/** Without what is `undefined`, as JSON is. */
function absolute<Members extends object>(members: Members, now: number): Members {
  const stated = (Object.entries(members) as [string, unknown][]).filter(
    ([, value]) => value !== undefined,
  )
  const moved = stated.map(([key, value]): [string, unknown] => [
    key,
    TIMES.has(key) ? Number(value) + now : value,
  ])
  return Object.fromEntries(moved) as Members
}

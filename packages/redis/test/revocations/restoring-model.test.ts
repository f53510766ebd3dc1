import { type ManualClock, manualClock } from '@portcullis/testing'
import fc from 'fast-check'
import { expect, test } from 'vitest'

import { MODEL_LIMIT, modelRuns } from '../../../../test/model-runs.ts'
import {
  type RedisRevocations,
  replicatedRevocations,
} from '../../src/revocations/redis-revocations.ts'
import { type FakeStore, fakeStore, KEY } from '../store/fake-store.ts'
import {
  ISS,
  jtisIn,
  MAX_STALENESS,
  operatorOf,
  tokenRecord,
  type Way,
  wayTo,
} from './processes.ts'

// Random losses of the store, with a fleet and an operator who follows the runbook, against what is promised: no process accepts what a
// living one knows to be revoked, but for as long as news may take.

const FLEET = 3

type Event =
  | { readonly kind: 'pass'; readonly seconds: number }
  | {
      readonly kind: 'revoke' | 'restart' | 'deny' | 'allow' | 'cut' | 'down' | 'half-open'
      readonly at: number
    }
  | { readonly kind: 'finish'; readonly after: number }
  /** All that the runbook knows, in a row. */
  | { readonly kind: 'loss'; readonly before: number; readonly after: number }
  | { readonly kind: 'empty' | 'replace' | 'create again' | 'fail over' | 'keep' }
  /** The stream of another environment is there for a while, in which something is revoked. */
  | { readonly kind: 'stranger' }

const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .constantFrom(0.01, 0.3, 2.5, 4, 11, 30)
      .map((seconds): Event => ({ kind: 'pass', seconds })),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'revoke',
        'revoke',
        'revoke',
        'restart',
        'deny',
        'allow',
        'cut',
        'down',
        'half-open',
      ),
      at: fc.nat(FLEET - 1),
    }),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom(0, 1, 3, MAX_STALENESS)
      .map((after): Event => ({ kind: 'finish', after })),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('loss' as const),
      before: fc.constantFrom(0, 2.5, MAX_STALENESS),
      after: fc.constantFrom(0, 1, 3, MAX_STALENESS),
    }),
  },
  {
    weight: 6,
    arbitrary: fc
      .constantFrom(
        'empty',
        'empty',
        'replace',
        'replace',
        'create again',
        'fail over',
        'keep',
        'stranger',
      )
      .map((kind): Event => ({ kind })),
  },
)

interface Process {
  readonly revocations: RedisRevocations
  readonly way: Way
}

interface World {
  readonly clock: ManualClock
  readonly store: FakeStore
  readonly fleet: Process[]
  readonly operate: ReturnType<typeof operatorOf>
  /** The `jti` of each revocation that was acknowledged. */
  readonly acknowledged: Set<string>
  /** All identities that the stream has had: what an operator finds in `status()` of the processes. */
  readonly identities: Set<string>
  kept: FakeStore['data']
  failedOverAt: number
}

function startProcess(clock: ManualClock, store: FakeStore, identity: string): Process {
  const way = wayTo(store)
  const settings = {
    stream: KEY,
    identity,
    maxStaleness: MAX_STALENESS,
    whenStale: 'refuse',
    max: 1000,
    clock,
  } as const
  return { way, revocations: replicatedRevocations(settings, way.connect, () => 0.5, 3) }
}

function createWorld(): World {
  const clock = manualClock()
  const store = fakeStore(clock)
  store.create('first')
  return {
    clock,
    store,
    fleet: Array.from({ length: FLEET }, () => startProcess(clock, store, 'first')),
    operate: operatorOf(store),
    acknowledged: new Set(),
    identities: new Set(['first']),
    kept: store.data,
    failedOverAt: -Infinity,
  }
}

async function play(world: World, next: Event): Promise<void> {
  const { store } = world
  if (next.kind === 'pass') await pass(world, next.seconds)
  else if ('at' in next) await playOne(world, next)
  else if (next.kind === 'empty') store.data = new Map()
  else if (next.kind === 'keep') world.kept = store.data
  else if (next.kind === 'stranger') {
    const { data } = store
    store.data = new Map()
    store.create('theirs')
    store.add(tokenRecord('theirs'))
    // Until each that reads has seen whose it is, and that ours is back: what is read between, no answer says of which stream.
    await pass(world, MAX_STALENESS)
    store.data = data
    await pass(world, MAX_STALENESS)
  } else if (next.kind === 'fail over') {
    // Another server: what was read over one connection and is in no report was somebody else's.
    store.cut()
    store.data = world.kept
    world.failedOverAt = world.clock.monotonic()
  } else if (next.kind === 'finish') await finish(world, next.after)
  else if (next.kind === 'loss') {
    store.data = new Map()
    await pass(world, next.before)
    await replace(world)
    await finish(world, next.after)
  }
  // As Helm does.
  else if (next.kind === 'create again') await world.operate('create --identity first')
  else await replace(world)
}

async function replace({ operate, identities }: World): Promise<void> {
  const former = [...identities].map((id) => `--replaces ${id}`)
  const { data } = await operate(`create ${former.join(' ')}`)
  if (typeof data['id'] === 'string') identities.add(data['id'])
}

const isConnected = ({ revocations }: Process) => revocations.status().failures === 0

/** As the runbook says: not while a connection reads that has said nothing. What connected processes know is in the stream then. */
async function finish(world: World, after: number): Promise<void> {
  const { operate, fleet, acknowledged, store } = world
  // After a fail-over each process first looks at what it is connected to.
  await pass(world, Math.max(after, world.failedOverAt + MAX_STALENESS - world.clock.monotonic()))
  const seen = await operate('restore')
  if (seen.data['unnamedReaders'] !== 0) return
  const { code, data } = await operate(`restore --finish --processes ${FLEET}`)
  if (code !== 0) return
  const pending = data['pending'] as readonly { readonly state: string }[]
  expect(new Set(pending.map(({ state }) => state))).not.toContain('writing')
  if (pending.length > 0) return
  const held = jtisIn(store)
  for (const each of fleet.filter(isConnected)) {
    const known = [...acknowledged].filter((jti) => verdict(each, jti) === 'revoked')
    expect(known.filter((jti) => !held.has(jti))).toEqual([])
  }
}

/** Tries again, as it is told to: what a process has appended and not read it looks for now and then, and writes back meanwhile. */
async function ended(world: World): Promise<unknown> {
  for (let tries = 1; ; tries += 1) {
    const outcome = await world.operate(`restore --finish --processes ${FLEET}`)
    if (outcome.code === 0 || tries === 5) return outcome
    await pass(world, MAX_STALENESS / 2)
  }
}

async function playOne(
  { clock, store, fleet, acknowledged, identities }: World,
  { kind, at }: Extract<Event, { at: number }>,
): Promise<void> {
  const process = fleet[at]
  if (process === undefined) return
  const { revocations, way } = process
  if (kind === 'revoke') {
    const jti = `t${acknowledged.size}-${at}-${clock.monotonic()}`
    revocations.revoke({ iss: ISS, jti }).then(
      () => acknowledged.add(jti),
      () => undefined,
    )
  } else if (kind === 'restart') {
    await revocations.close()
    // The manifest states an identity that there was.
    fleet[at] = startProcess(clock, store, [...identities].at(-1) ?? 'first')
  } else if (kind === 'deny') way.forbidden.add('XADD')
  else if (kind === 'allow') {
    way.forbidden.clear()
    way.isDown = false
    way.isHalfOpen = false
  } else {
    way.isDown ||= kind !== 'cut'
    way.isHalfOpen = kind === 'half-open'
    way.cut()
  }
}

async function pass(world: World, seconds: number): Promise<void> {
  const end = world.clock.monotonic() + seconds
  look(world)
  while (world.clock.monotonic() < end) {
    await world.clock.advance(Math.min(0.5, end - world.clock.monotonic()))
    look(world)
  }
}

function verdict({ revocations }: Process, jti: string): unknown {
  return revocations.statusOf({ iss: ISS, jti }, 1)
}

/** At every moment: who has known a revocation knows it for ever, and `valid` is only said by who is current. */
function look({ fleet }: World): void {
  for (const each of fleet) {
    const isCurrent = each.revocations.status().state === 'current'
    expect(verdict(each, 'never')).toBe(isCurrent ? 'valid' : 'unknown')
  }
}

test(
  'whatever happens: what a living process knows is in the stream when a restoration is ended, and a new process refuses it',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 40 }), async (events) => {
        const world = createWorld()
        const { store, fleet, acknowledged, clock } = world
        try {
          await pass(world, 1)
          for (const each of events) await play(world, each)
          await pass(world, 5)
          for (const { way } of fleet) {
            way.forbidden.clear()
            way.isDown = false
            way.isHalfOpen = false
          }
          // What was half-open ends at last.
          store.cut()
          store.data = new Map()
          await pass(world, MAX_STALENESS)
          await replace(world)
          await pass(world, 3 * MAX_STALENESS)
          expect(await ended(world)).toMatchObject({ code: 0, data: { pending: [] } })
          const { revocations: newcomer } = startProcess(clock, store, 'first')
          await pass(world, MAX_STALENESS)
          const all = [...fleet.map(({ revocations }) => revocations), newcomer]
          expect(all.map((each) => each.status().state)).toEqual(all.map(() => 'current'))
          const known = [...acknowledged].filter((jti) =>
            fleet.some((each) => verdict(each, jti) === 'revoked'),
          )
          const accepted = known.filter(
            (jti) => newcomer.statusOf({ iss: ISS, jti }, 1) !== 'revoked',
          )
          expect(accepted).toEqual([])
          expect(jtisIn(store)).not.toContain('theirs')
          await newcomer.close()
        } finally {
          for (const { revocations } of fleet) await revocations.close()
        }
      }),
      modelRuns(250, 20_260_101),
    )
  },
  MODEL_LIMIT,
)

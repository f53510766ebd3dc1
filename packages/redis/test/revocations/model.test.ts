import { type ManualClock, manualClock } from '@portcullis/testing'
import fc from 'fast-check'
import { expect, test } from 'vitest'

import { MODEL_LIMIT, modelRuns } from '../../../../test/model-runs.ts'
import { createCompaction } from '../../src/program/compaction.ts'
import {
  type RedisRevocations,
  replicatedRevocations,
} from '../../src/revocations/redis-revocations.ts'
import { isLater } from '../../src/store/entry-id.ts'
import { MARK_ID } from '../../src/store/record.ts'
import { type FakeStore, fakeStore, KEY } from '../store/fake-store.ts'
import { ISS, MAX_STALENESS, tokenRecord } from './processes.ts'

// Random sequences of events, in virtual time, against what is promised of a replica whatever happens.

type Event =
  | { readonly kind: 'pass'; readonly seconds: number }
  | { readonly kind: 'mode'; readonly mode: FakeStore['mode'] }
  | { readonly kind: 'delay'; readonly seconds: number }
  | { readonly kind: 'set'; readonly by: number }
  /** The key is away, or a copy is in its place that lacks the last entries, from one command to a later one. */
  | {
      readonly kind: 'away'
      readonly after: number
      readonly commands: number
      readonly isBehind: boolean
    }
  | {
      readonly kind:
        | 'revoke'
        | 'append'
        | 'repeat'
        | 'foreign'
        | 'unreadable'
        | 'mend'
        | 'compact'
        | 'cut'
        | 'keep'
        | 'fork'
        | 'fail over'
        | 'trim'
        | 'lose'
        | 'create'
        | 'replace'
        | 'restore'
        | 'finish'
    }

const simple = fc.constantFrom<Event>(
  ...(
    ['revoke', 'append', 'append', 'repeat', 'repeat', 'foreign', 'unreadable', 'mend'] as const
  ).map((kind) => ({ kind })),
  ...(
    [
      'compact',
      'cut',
      'keep',
      'fork',
      'fork',
      'fail over',
      'fail over',
      'trim',
      'lose',
      'create',
      'replace',
      'restore',
      'finish',
    ] as const
  ).map((kind) => ({ kind })),
)

const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 4, arbitrary: simple },
  {
    weight: 4,
    arbitrary: fc
      .constantFrom(0.01, 0.3, 1, 2.5, 4, 11)
      .map((seconds): Event => ({ kind: 'pass', seconds })),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom<FakeStore['mode']>('up', 'up', 'up', 'unreachable', 'silent', 'full', 'loading')
      .map((mode): Event => ({ kind: 'mode', mode })),
  },
  fc.constantFrom(0, 0, 0.1, 1, 2).map((seconds): Event => ({ kind: 'delay', seconds })),
  fc.constantFrom(-3600, 60, 3600).map((by): Event => ({ kind: 'set', by })),
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('away' as const),
      after: fc.integer({ min: 1, max: 8 }),
      commands: fc.integer({ min: 1, max: 6 }),
      isBehind: fc.boolean(),
    }),
  },
)

/** Entries of a page: few, so that the stream has several. */
const PAGE = 3

/** A store, a process that follows it, and what is promised of both. */
interface World {
  readonly clock: ManualClock
  readonly store: FakeStore
  readonly replica: RedisRevocations
  /** What must be refused for ever: `jti`s of which a revocation was acknowledged here, or was refused here once. */
  readonly certain: Set<string>
  /** What the stream has held at each moment, by the monotonic clock. */
  readonly held: { readonly at: number; readonly jtis: ReadonlySet<string> }[]
  kept: FakeStore['data']
  streams: number
  tokens: number
}

function createWorld(): World {
  const clock = manualClock()
  const store = fakeStore(clock)
  store.create('stream-0')
  const whenStale = 'refuse'
  const settings = {
    stream: KEY,
    maxStaleness: MAX_STALENESS,
    whenStale,
    max: 1000,
    clock,
  } as const
  const replica = replicatedRevocations(settings, store.connect, () => 0.5, PAGE)
  return {
    clock,
    store,
    replica,
    certain: new Set(),
    held: [],
    kept: store.data,
    streams: 0,
    tokens: 0,
  }
}

function jtisIn(data: FakeStore['data']): ReadonlySet<string> {
  const { entries = [] } = data.get(KEY) ?? {}
  const tokens = entries.filter(({ fields }) => fields.includes('jti'))
  return new Set(tokens.map(({ fields }) => fields[fields.indexOf('jti') + 1] ?? ''))
}

async function play(world: World, next: Event): Promise<void> {
  const { clock, store, replica, certain } = world
  switch (next.kind) {
    case 'pass':
      await pass(world, next.seconds)
      return
    case 'mode':
      store.mode = next.mode
      return
    case 'delay':
      store.delay = next.seconds
      return
    case 'set':
      clock.set(clock.now() + next.by)
      return
    case 'away':
      leave(world, next)
      return
    case 'revoke': {
      const jti = nextToken(world)
      replica.revoke({ iss: ISS, jti }).then(
        () => certain.add(jti),
        () => undefined,
      )
      return
    }
    case 'append':
      if (store.data.has(KEY)) store.add(tokenRecord(nextToken(world)))
      return
    case 'repeat':
      if (store.data.has(KEY) && world.tokens > 0) store.add(tokenRecord(`t${world.tokens - 1}`))
      return
    case 'foreign':
      if (store.data.has(KEY)) store.add(['hello', 'world'])
      return
    case 'unreadable':
      if (store.data.has(KEY)) store.add(['v', '2'])
      return
    default:
      disturb(world, next.kind)
  }
}

function leave(
  { store, clock, held }: World,
  { after, commands, isBehind }: Extract<Event, { kind: 'away' }>,
): void {
  let performed = 0
  let before = store.data
  store.before = () => {
    performed += 1
    if (performed === after) {
      before = store.data
      store.data = isBehind ? shortened(before) : new Map()
      // What a copy lacks, nobody can know at that moment. That there is no stream, everybody can.
      if (isBehind) held.push({ at: clock.monotonic(), jtis: jtisIn(store.data) })
    } else if (performed === after + commands) store.data = before
  }
}

function shortened(data: FakeStore['data']): FakeStore['data'] {
  const stream = data.get(KEY)
  if (stream === undefined) return data
  const entries = stream.entries.slice(0, Math.ceil(stream.entries.length / 2))
  const last = entries.at(-1)?.id ?? '0-0'
  const added = stream.added - stream.entries.length + entries.length
  const maxDeleted = isLater(stream.maxDeleted, last) ? last : stream.maxDeleted
  return new Map([[KEY, { ...stream, entries, last, added, maxDeleted }]])
}

function disturb(world: World, kind: string): void {
  const { store, clock } = world
  const entries = store.data.get(KEY)?.entries ?? []
  if (kind === 'compact') store.delete(...createCompaction(clock.now()).superfluous(entries))
  else if (kind === 'mend') {
    store.delete(...entries.filter(({ fields }) => fields[1] === '2').map(({ id }) => id))
  } else if (kind === 'cut') store.cut()
  else if (kind === 'keep') world.kept = store.data
  else if (kind === 'fork') world.kept = fork(world)
  else if (kind === 'fail over') {
    store.cut()
    const former = store.data
    store.data = world.kept
    world.kept = former
  } else if (kind === 'trim' && entries.length > 1) store.trim(entries.length - 1)
  else if (kind === 'lose') {
    store.cut()
    store.data = new Map()
  } else if (kind === 'finish') store.delete(MARK_ID)
  else if (!store.data.has(KEY) && MAKING.has(kind)) {
    const former = Array.from({ length: world.streams + 1 }, (_, at) => `stream-${at}`)
    world.streams += 1
    const replaces = kind === 'create' ? [] : former
    store.create(`stream-${world.streams}`, replaces, kind === 'restore')
  }
}

/** As `create` makes a stream, as an earlier version made one that replaces others, and as this one does. */
const MAKING: ReadonlySet<string> = new Set(['create', 'replace', 'restore'])

/** Another primary, whose clock is a second behind, takes an entry that the store does not get. */
function fork(world: World): FakeStore['data'] {
  const stream = world.kept.get(KEY)
  const id = `${Math.floor((world.clock.now() - 1) * 1000)}-0`
  if (stream === undefined || !isLater(id, stream.last)) return world.kept
  const { entries, added } = stream
  const more = [...entries, { id, fields: tokenRecord(nextToken(world)) }]
  return new Map([[KEY, { ...stream, entries: more, last: id, added: added + 1 }]])
}

function nextToken(world: World): string {
  world.tokens += 1
  return `t${world.tokens - 1}`
}

/** Time passes, in steps that are finer than anything that is promised. */
async function pass(world: World, seconds: number): Promise<void> {
  const { clock } = world
  const end = clock.monotonic() + seconds
  look(world)
  while (clock.monotonic() < end) {
    await clock.advance(Math.min(0.25, end - clock.monotonic()))
    look(world)
  }
}

/** What is promised at every moment. */
function look({ clock, store, replica, certain, held }: World): void {
  const now = clock.monotonic()
  held.push({ at: now, jtis: jtisIn(store.data) })
  const { state, age } = replica.status()
  const verdictOf = (jti: string) => replica.statusOf({ iss: ISS, jti }, 1)
  for (const jti of certain) expect(verdictOf(jti)).toBe('revoked')
  expect(verdictOf('never')).toBe(state === 'current' ? 'valid' : 'unknown')
  if (state !== 'current' || age === undefined) return
  expect(age).toBeLessThanOrEqual(MAX_STALENESS)
  // Whatever the stream has held ever since its age, the replica knows.
  const since = held.filter(({ at }) => at >= now - age - 0.25)
  const [first, ...others] = since
  for (const jti of first?.jtis ?? []) {
    if (others.every(({ jtis }) => jtis.has(jti))) {
      expect(verdictOf(jti)).toBe('revoked')
      certain.add(jti)
    }
  }
}

test(
  'whatever happens: what is known stays refused, nothing is valid by a replica that is too old, and all heals',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 40 }), async (events) => {
        const world = createWorld()
        const { store, replica, certain } = world
        try {
          for (const each of events) await play(world, each)
          await pass(world, 5)
          store.mode = 'up'
          store.delay = 0
          store.before = () => undefined
          store.data = new Map()
          disturb(world, 'restore')
          await pass(world, 2 * MAX_STALENESS)
          expect(['current', 'restoring']).toContain(replica.status().state)
          disturb(world, 'finish')
          await pass(world, MAX_STALENESS)
          expect(replica.status()).toMatchObject({ state: 'current', failures: 0 })
          // Everything that must be refused was written back.
          const held = jtisIn(store.data)
          expect([...certain].filter((jti) => !held.has(jti))).toEqual([])
          expect(store.open()).toBeLessThanOrEqual(2)
        } finally {
          await replica.close()
        }
      }),
      modelRuns(300, 20_260_101),
    )
  },
  MODEL_LIMIT,
)

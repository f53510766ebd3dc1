import { channel } from 'node:diagnostics_channel'

import type { RedisRevocationsStatus, RevocationsMessage } from '@portcullis/redis'

import { type RedisServer, startRedis } from '../simulation/redis/redis-server.ts'
import {
  append,
  appendMany,
  createScene,
  createStream,
  issue,
  type Issued,
  join,
  type Member,
  type Scene,
  shiftedClock,
  STREAM,
} from '../simulation/redis/scene.ts'
import { until } from '../simulation/redis/waiting.ts'
import { markdownTable } from './table.ts'

// What can happen to a store, and how soon a process notices it: a real server and a process for each. Times are seconds.

/** How old a replica may be. */
const MAX_STALENESS = 3
const LONGEST_START = 120
const OPTIONS = { maxStaleness: MAX_STALENESS, max: 2_000_000 }

/** What was seen of one fault. */
interface Seen {
  /** Until the replica said so on the channel of diagnostics. */
  readonly noticed?: number | undefined
  /** Its words while the fault lasted. */
  readonly words?: string
  /** When a valid token was accepted for the last time. Without it, it was accepted throughout. */
  readonly acceptedUntil?: number
  /** Until a token that was revoked during the fault was refused for that. */
  readonly refused?: number
  /** After the end of the fault, until a valid token was accepted. */
  readonly healed?: number
}

type Play = (scene: Scene) => Promise<Seen>

/** A fault that makes the process refuse valid tokens, until it has ended. */
function outage(strike: (scene: Scene) => unknown, heal: (scene: Scene) => unknown): Play {
  return async (scene) => {
    const { reader, valid } = scene
    using heard = hear(reader)
    await strike(scene)
    const { last } = await reader.acceptedUntil(valid)
    await until('said', () => reader.revocations.status().state !== 'current')
    const { state } = reader.revocations.status()
    const noticed = heard.first()
    await expectRevoked(scene)
    await heal(scene)
    const healed = await reader.comesTo('accepted', valid)
    await expectRevoked(scene)
    return { noticed, words: state, acceptedUntil: last, healed }
  }
}

/** A fault that nobody is refused for: a token that is revoked meanwhile is refused in time. */
function disturbance(
  strike: (scene: Scene) => unknown,
  writeTo: (scene: Scene) => RedisServer = ({ server }) => server,
): Play {
  return async (scene) => {
    const { reader, valid } = scene
    using heard = hear(reader)
    const words = new Set<RedisRevocationsStatus['state']>()
    const watching = setInterval(() => words.add(reader.revocations.status().state), 5)
    await strike(scene)
    const fresh = await issue()
    await append(writeTo(scene), fresh)
    const refused = await reader.comesTo('revoked', fresh)
    clearInterval(watching)
    await reader.comesTo('accepted', valid)
    await expectRevoked(scene)
    const noticed = heard.first()
    return { noticed, words: [...words].join(', '), refused }
  }
}

function hear({ revocations }: Member) {
  const start = performance.now()
  let first: number | undefined
  const listen = (message: unknown) => {
    const { source } = message as RevocationsMessage // by its channel
    if (source === revocations) first ??= (performance.now() - start) / 1000
  }
  channel('portcullis:revocations').subscribe(listen)
  return {
    first: () => first,
    [Symbol.dispose]: () => channel('portcullis:revocations').unsubscribe(listen),
  }
}

async function expectRevoked({ reader, revoked }: Scene): Promise<void> {
  const verdict = await reader.verdict(revoked)
  if (verdict !== 'revoked') throw new Error(`a revoked token is ${verdict}`)
}

function replacedBy({ port }: RedisServer): Play {
  return outage(
    (scene) => lead(scene, port),
    (scene) => lead(scene, scene.server.port),
  )
}

function lead(scene: Scene, port: number): void {
  scene.proxy.target = port
  scene.proxy.cut()
}

const OUTAGES: Readonly<Record<string, Play>> = {
  'killed; restarted with its data': outage(
    async ({ server }) => await server.kill(),
    async ({ server }) => await server.restart(),
  ),
  'SIGSTOP; SIGCONT': outage(
    ({ server }) => server.pause(),
    ({ server }) => server.resume(),
  ),
  'restarted without its data; `create --replaces`': outage(
    async ({ server }) => await server.restart({ withData: false }),
    async ({ server }) => await createStream(server, { id: 'second', replaces: 'first' }),
  ),
  'replaced by an empty one; led back': async (scene) => {
    await using empty = await startRedis()
    return await replacedBy(empty)(scene)
  },
  'replaced by another stream; led back': async (scene) => {
    await using other = await startRedis()
    await createStream(other, { id: 'other' })
    return await replacedBy(other)(scene)
  },
  'slow by 2 s (1 s each way); fast again': outage(
    ({ proxy }) => (proxy.delay = 1),
    ({ proxy }) => (proxy.delay = 0),
  ),
  'a record of a later version; deleted': outage(
    async ({ server }) => await server.command('XADD', STREAM, '5000000000000-0', 'v', 2),
    async ({ server }) => await server.command('XDEL', STREAM, '5000000000000-0'),
  ),
}

const DISTURBANCES: Readonly<Record<string, Play>> = {
  'restarted with its data': disturbance(async ({ server }) => await server.restart()),
  'fail-over to a replica that lacks the last entry': async (scene) => {
    await using replica = await startRedis({ replicaOf: scene.server.port })
    await until('copied', async () => (await replica.command('XLEN', STREAM)) === 2)
    await replica.command('REPLICAOF', 'NO', 'ONE')
    const lost = await issue()
    await append(scene.server, lost)
    await scene.reader.comesTo('revoked', lost)
    const strike = async () => {
      await scene.server.kill()
      lead(scene, replica.port)
    }
    const seen = await disturbance(strike, () => replica)(scene)
    if ((await scene.reader.verdict(lost)) !== 'revoked') throw new Error('it was forgotten')
    return seen
  },
  'memory full (OOM): `revoke` is rejected; then there is room': async (scene) => {
    const { server, reader } = scene
    await server.command('CONFIG', 'SET', 'maxmemory', 1)
    const start = performance.now()
    await reader.revocations.revoke((await issue()).claims).catch(() => undefined)
    const noticed = (performance.now() - start) / 1000
    await server.command('CONFIG', 'SET', 'maxmemory', 0)
    return { ...(await disturbance(() => undefined)(scene)), noticed }
  },
  'cut in the middle of a reply': disturbance(({ proxy }) => void proxy.cutNextReply(100)),
  'records of somebody else': disturbance(
    async ({ server }) => await server.command('XADD', STREAM, '*', 'hello', 'world'),
  ),
}

/** A process whose clock is ahead: what is revoked elsewhere. */
function shifted(seconds: number): Play {
  return async ({ server, proxy }) => {
    const clock = shiftedClock(seconds)
    await using member = join(proxy.url, { ...OPTIONS, clock })
    const [fresh, valid] = [await issue(), await issue()]
    await member.comesTo('accepted', valid)
    await append(server, fresh)
    return {
      words: member.revocations.status().state,
      refused: await member.comesTo('revoked', fresh),
    }
  }
}

const CLOCKS: Readonly<Record<string, Play>> = {
  'the clock of the reader is a minute ahead': shifted(60),
  'the clock of the reader is a minute behind': shifted(-60),
}

/** A process that starts where there are many records. */
function many(records: number): Play {
  return async ({ server, reader }) => {
    await reader.revocations.close()
    await appendMany(server, records)
    const [last, valid] = [await issue(), await issue()]
    await append(server, last)
    await using member = join(server.url, OPTIONS)
    const becomes = async (wanted: string, token: Issued) => {
      const isSo = async () => (await member.verdict(token)) === wanted
      return await until(wanted, isSo, LONGEST_START)
    }
    const refused = await becomes('revoked', last)
    return { words: 'loading', refused, healed: refused + (await becomes('accepted', valid)) }
  }
}

const HEADER = [
  'What happens',
  'The replica says so after',
  'Its state',
  'A valid token is accepted until',
  'A token revoked meanwhile is refused after',
  'Afterwards, valid tokens are accepted after',
]

/**
 * The table of time to notice.
 *
 * @param records How many there are where there are many.
 */
export async function faultTable(records: number): Promise<string> {
  const plays = Object.entries({ ...OUTAGES, ...DISTURBANCES, ...CLOCKS })
  const rows: string[][] = []
  // One after the other: they are not to wait for each other.
  for (const [name, play] of plays) rows.push([name, ...cells(await seenOf(play))])
  rows.push([`${records} records, a process starts`, ...cells(await seenOf(many(records)))])
  return `maxStaleness ${MAX_STALENESS} s. Seconds:\n\n${markdownTable(HEADER, rows)}`
}

async function seenOf(play: Play): Promise<Seen> {
  await using scene = await createScene({ isPersistent: true }, OPTIONS)
  return await play(scene)
}

function shown(value: number | undefined, otherwise: string): string {
  return value?.toFixed(2) ?? otherwise
}

function cells({ noticed, words, acceptedUntil, refused, healed }: Seen): string[] {
  return [
    shown(noticed, '-'),
    words ?? '',
    shown(acceptedUntil, healed === undefined ? 'throughout' : '-'),
    shown(refused, '-'),
    shown(healed, '-'),
  ]
}

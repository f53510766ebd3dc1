import { type Standing, standingIn } from '../revocations/restoring.ts'
import { RevocationStoreError } from '../store/errors.ts'
import { longestUntilWriteBack } from '../store/pacing.ts'
import { type Contribution, MARK_ID, readRecord } from '../store/record.ts'
import type { Stream } from '../store/stream.ts'
import { BEGINNING, CommandError, readAll } from './commands.ts'

// How an operator ends the restoration of a stream that replaces another: who has written back what they knew, and who has not.

/** What the stream and its connections say of the restoration. */
interface Seen {
  readonly contributions: readonly Contribution[]
  readonly standings: readonly Standing[]
  /** Connections that wait for entries of some stream and say nothing. */
  readonly unnamed: number
}

/** What is printed. */
interface Restoration {
  /** How many processes have written back what they knew, and how many entries. */
  readonly contributed: { readonly processes: number; readonly entries: number }
  /** Those of them that did not have all of the former stream when they last followed it, and in which state they were. */
  readonly incomplete: readonly { readonly process: string; readonly former: string }[]
  /** Those that are connected and know something that may not be in the stream. */
  readonly pending: readonly {
    readonly process: string
    readonly state: Standing['word']
    readonly former: string
    /** Seconds. So long it takes at most until it begins to write back, if its connection works. */
    readonly within: number
  }[]
  /** Those that are connected and wait for the end, since they have never read the former stream. */
  readonly joined: number
  /** Further connections that read a stream. Processes of earlier versions are such ones, and write nothing back. */
  readonly unnamedReaders: number
}

const DONE: ReadonlySet<Standing['word']> = new Set(['written', 'joined'])

/** A process has one connection that reads, its newest one. What lasts of former ones may be half-open. @param identities Of the stream, and those before. */
function connectedIn({ standings }: Seen, identities: readonly string[]): readonly Standing[] {
  const ours = standings.filter((each) => identities.includes(each.identity))
  return [...new Map(ours.map((each) => [each.process, each])).values()]
}

function restorationOf(
  { contributions, unnamed }: Seen,
  connected: readonly Standing[],
  identity: string,
): Restoration {
  // Each says how many it has written in all.
  const latest = [...new Map(contributions.map((each) => [each.process, each])).values()]
  return {
    contributed: {
      processes: latest.length,
      entries: latest.reduce((sum, { entries }) => sum + entries, 0),
    },
    incomplete: latest
      .filter(({ former }) => former !== 'current')
      .map(({ process, former }) => ({ process, former })),
    // What somebody has written into one of those streams is lost with it.
    pending: connected
      .filter((each) => each.identity !== identity || !DONE.has(each.word))
      .map(({ process, word, former, maxStaleness }) => ({
        process,
        state: word,
        former,
        within: longestUntilWriteBack(maxStaleness),
      })),
    joined: connected.filter((each) => each.identity === identity && each.word === 'joined').length,
    unnamedReaders: unnamed,
  }
}

const LOST = 'what no process had read when the former stream was lost'

/**
 * @param running How many processes there are, for an operator who ends it: which of them are not connected, nobody else can know. Then
 *   those that know nothing of the former stream count as complete.
 */
export async function restoreStream(stream: Stream, running: number | undefined): Promise<object> {
  const { identity, isRestoring } = await stream.report(BEGINNING)
  if (identity === undefined) throw new RevocationStoreError('no_stream')
  if (!isRestoring) {
    throw new CommandError(
      `the stream ${identity.id} is not being restored: there is nothing to end`,
    )
  }
  const seen = await look(stream)
  const connected = connectedIn(seen, [identity.id, ...identity.replaces])
  const restoration = restorationOf(seen, connected, identity.id)
  if (running !== undefined) {
    checkEnd(restoration, connected.length, running)
    await stream.delete([MARK_ID])
  }
  return {
    identity: identity.id,
    replaces: identity.replaces,
    ended: running !== undefined,
    ...restoration,
    lost: LOST,
  }
}

function checkEnd({ pending }: Restoration, connected: number, running: number): void {
  const busy = pending.filter(({ state }) => state !== 'failed')
  if (busy.length > 0) {
    throw new CommandError(
      `${busy.length} processes still write back what they know: it was not ended. They begin within ` +
        `${Math.max(...busy.map(({ within }) => within))} s; \`restore\` names them`,
    )
  }
  if (connected < running) {
    throw new CommandError(
      `${running - connected} of ${running} processes are not connected, and may know what was revoked: it was not ended. ` +
        'After Redis was away, each comes back within its maxStaleness',
    )
  }
}

async function look(stream: Stream): Promise<Seen> {
  const contributions: Contribution[] = []
  await readAll(stream, (entries) => {
    for (const { fields } of entries) {
      const record = readRecord(fields)
      if (record.kind === 'contribution') contributions.push(record.contribution)
    }
  })
  // Redis lists them in any order.
  const clients = (await stream.clients()).toSorted((one, other) => idIn(one) - idIn(other))
  const named = clients.map((line) => / name=(?<name>\S*) /.exec(line)?.groups?.['name'] ?? '')
  const standings = named.flatMap((name) => standingIn(name) ?? [])
  const unnamed = clients.filter(
    (line, at) => / cmd=xread /.test(line) && standingIn(named[at] ?? '') === undefined,
  )
  return { contributions, standings, unnamed: unnamed.length }
}

/** A later connection has a larger one. */
function idIn(line: string): number {
  return Number(/^id=(?<id>\d+) /.exec(line)?.groups?.['id'] ?? 0)
}

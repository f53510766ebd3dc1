import { CommandError, EXIT } from '../surroundings/exit-code.ts'
import { pause } from '../surroundings/interruption.ts'
import type { Context } from '../surroundings/terminal.ts'
import { createStage, type Stage } from './stage.ts'
import { FORGED, INTERVAL, type Story } from './story.ts'
import { createTally, GUARDS, type Kind, type Tally } from './tally.ts'

// Plays the story of `try`: sends the same calls to both guards, replaces the key, and counts. What is counted has happened.

/** Calls under way: a slow machine gets no more than it answers. */
const MOST_AT_ONCE = 100

export interface Playing {
  readonly tally: Tally
  /** Seconds since the start; not more than the story has. */
  readonly elapsed: () => number
  /** When the new key signed, if it does. Seconds since the start. */
  readonly rotatedAt: () => number | undefined
  readonly floodedAt: () => number | undefined
}

/** @param show Called several times in a second. @throws CommandError after Ctrl-C; then nothing is left that runs. */
export async function play(
  story: Story,
  context: Pick<Context, 'clock' | 'fetch' | 'signal'>,
  show: (playing: Playing) => void,
): Promise<Playing> {
  const { clock, fetch, signal } = context
  const tally = createTally(story.seconds)
  const end = new AbortController()
  let start = clock.monotonic()
  const since = () => clock.monotonic() - start
  const ended = AbortSignal.any([signal, end.signal])
  await using stage = await createStage({ clock, fetch, signal: ended }, (guard) => {
    tally.keysAsked(guard)
  })
  start = clock.monotonic()
  let rotatedAt: number | undefined
  let floodedAt: number | undefined
  const playing: Playing = {
    tally,
    elapsed: () => Math.min(since(), story.seconds),
    rotatedAt: () => rotatedAt,
    floodedAt: () => floodedAt,
  }
  const calls = createCalls(stage, tally, since)
  let forged = 0
  try {
    // On a machine that is too busy it lasts longer, so that everything happens, and in this order.
    for (let at = 0; at < story.seconds || floodedAt === undefined; at = since()) {
      if (rotatedAt === undefined && at >= story.rotatesAt) {
        await stage.rotate(story.kid)
        rotatedAt = since()
      }
      const token = await stage.token()
      calls.send(rotatedAt === undefined ? 'old' : 'new', token)
      const isNewKeyTried = GUARDS.every((guard) => tally.of(guard).firstOfNewKey !== undefined)
      if (floodedAt === undefined && isNewKeyTried && at >= story.floodFrom) {
        floodedAt = at
        tally.floodBegins()
      }
      const due = floodedAt === undefined ? 0 : Math.ceil((since() - floodedAt) * FORGED)
      for (; forged < due; forged++) calls.send('forged', stage.forge(token))
      show(playing)
      await pause(INTERVAL - (since() % INTERVAL), context)
    }
    await calls.settled()
    show(playing)
    return playing
  } finally {
    end.abort()
    await calls.settled().catch(() => undefined) // what was under way when it was interrupted
  }
}

function createCalls(stage: Stage, tally: Tally, since: () => number) {
  const underWay = new Set<Promise<void>>()
  let hasFailed = false
  async function call(guard: (typeof GUARDS)[number], kind: Kind, token: string): Promise<void> {
    const at = since()
    const status = await stage.call(guard, token)
    tally.answered(guard, { kind, at, status, took: since() - at })
  }
  return {
    /** Makes the same call to both guards. @throws CommandError if an earlier one got no answer */
    send(kind: Kind, token: string): void {
      if (hasFailed)
        throw new CommandError(EXIT.undecided, 'the API on this machine does not answer')
      if (kind === 'forged' && underWay.size >= MOST_AT_ONCE) return
      for (const guard of GUARDS) {
        const calling = call(guard, kind, token)
        underWay.add(calling)
        void calling.then(
          () => underWay.delete(calling),
          () => (hasFailed = true),
        )
      }
    },
    async settled(): Promise<void> {
      await Promise.all(underWay)
    },
  }
}

import { type Command, InvalidArgumentError, Option } from 'commander'

import { seconds as readSeconds } from '../input/seconds.ts'
import { printableJson } from '../surroundings/printable.ts'
import type { Context, Terminal } from '../surroundings/terminal.ts'
import { wrapped } from '../surroundings/wrapped.ts'
import { conclusion, eventsOf, linesOf, times } from '../try/lines.ts'
import { play, type Playing } from '../try/play.ts'
import { NEW_KIDS, type NewKid, type Story, storyOf } from '../try/story.ts'
import { GUARDS } from '../try/tally.ts'

// The command `try`: plays a minute in the life of a guarded API, and shows it in a terminal, in plain lines or as JSON.

interface TryOptions {
  readonly seconds: number
  readonly kid: NewKid
  readonly json?: boolean
}

const DEFAULT_SECONDS = 60
/** Shorter, nothing would be between one event and the next. */
const SHORTEST = 3
const LONGEST = 3600

export function registerTry(command: Command, context: Context): void {
  command
    .option('--seconds <time>', 'how long it lasts', lengthOfStory, DEFAULT_SECONDS)
    .addOption(
      new Option('--kid <kid>', 'of the new key: that of the old one, its own, or none')
        .choices(NEW_KIDS)
        .default('same'),
    )
    .option('--json', 'print what was counted as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  portcullis try\n  portcullis try --kid new\n\nIt takes free ports of this machine, asks nothing of the network, and ends by\nitself. Ctrl-C ends it at once.',
    )
    .action(async ({ seconds, kid, json }: TryOptions) => {
      const story = storyOf(seconds, kid)
      if (json === true) {
        const playing = await play(story, context, () => undefined)
        context.terminal.print(printableJson(resultOf(story, playing), 2))
        return
      }
      await showStory(story, context)
    })
}

async function showStory(story: Story, context: Context): Promise<void> {
  const { terminal } = context
  const show = terminal.canRewrite(HEIGHT) ? rewriting(story, terminal) : plainly(story, terminal)
  const playing = await play(story, context, show)
  terminal.print()
  for (const sentence of conclusion(story, playing)) {
    terminal.print(wrapped(sentence, Math.min(terminal.columns, WIDTH), 0))
  }
}

/** Lines that are shown at once, with one for the cursor. */
const HEIGHT = 21
const WIDTH = 76

function rewriting(story: Story, terminal: Terminal): (playing: Playing) => void {
  return (playing) => {
    terminal.rewrite(linesOf(story, playing))
  }
}

function plainly(story: Story, terminal: Terminal): (playing: Playing) => void {
  const events = eventsOf(story)
  const period = story.seconds / 6
  let [told, next] = [0, period]
  return (playing) => {
    const elapsed = playing.elapsed()
    for (; told < events.length && (events[told]?.[0] ?? Infinity) <= elapsed; told++) {
      terminal.print(`${Math.round(elapsed)} s: ${events[told]?.[1]}`)
    }
    if (elapsed < next) return
    while (next <= elapsed) next += period
    terminal.print(`${Math.round(elapsed)} s: ${summary(playing)}`)
  }
}

function summary({ tally }: Playing): string {
  return GUARDS.map((guard) => {
    const { accepted, refused, keyRequests } = tally.of(guard)
    return `${guard} accepted ${accepted} and refused ${refused} genuine tokens, asked for keys ${times(keyRequests)}`
  }).join('; ')
}

function resultOf(story: Story, { tally, rotatedAt, floodedAt }: Playing): object {
  return {
    schemaVersion: 1,
    seconds: story.seconds,
    kid: story.kid,
    rotatedAt: rotatedAt(),
    floodedAt: floodedAt(),
    ...Object.fromEntries(
      GUARDS.map((guard) => {
        const { course: _, ...counts } = tally.of(guard)
        return [guard, counts]
      }),
    ),
  }
}

function lengthOfStory(text: string): number {
  const value = readSeconds(text)
  if (value < SHORTEST || value > LONGEST) {
    throw new InvalidArgumentError(`It must be ${SHORTEST} to ${LONGEST} seconds.`)
  }
  return value
}

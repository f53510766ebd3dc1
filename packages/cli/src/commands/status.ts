import { parseJson } from '@portcullis/kit/json'
import type { Command } from 'commander'

import {
  askControl,
  type ControlOptions,
  openControl,
  takesControl,
  unexpected,
} from '../serve/control-client.ts'
import { eventLine, readEvent, type SeenEvent } from '../serve/event-line.ts'
import * as flags from '../serve/flags.ts'
import { CommandError, EXIT } from '../surroundings/exit-code.ts'
import { printableJson } from '../surroundings/printable.ts'
import type { Context } from '../surroundings/terminal.ts'

// The commands that ask a running `portcullis serve` how it is.

interface LogOptions extends ControlOptions {
  readonly follow?: boolean
  readonly json?: boolean
}

export function registerLog(command: Command, context: Context): void {
  takesControl(command)
    .option('-f, --follow', 'go on with each new event, until Ctrl-C')
    .option('--json', 'a line of JSON for each')
    .addHelpText(
      'after',
      '\nExamples:\n  portcullis log -f\n  portcullis log --json > events.jsonl',
    )
    .action(async ({ follow, json, ...where }: LogOptions) => {
      const show = (event: SeenEvent) => {
        context.terminal.print(json === true ? printableJson(event) : eventLine(event))
      }
      if (follow === true) {
        const response = await openControl('stream', where, context)
        for await (const event of eventsOf(response)) show(event)
        throw new CommandError(EXIT.undecided, 'the service has ended')
      }
      const { events } = await askControl('log', undefined, where, context)
      if (!Array.isArray(events)) throw unexpected()
      for (const event of events as readonly unknown[]) show(eventIn(event))
    })
}

/** How long `--wait` rests between two questions. Seconds. */
const PAUSE = 0.25

export function registerHealth(command: Command, context: Context): void {
  takesControl(command)
    .option('--wait <time>', 'ask again until then', flags.duration, 0)
    .addHelpText('after', '\nExamples:\n  portcullis health --wait 10s && npm test')
    .action(async ({ wait, ...where }: ControlOptions & { readonly wait: number }) => {
      const { clock, signal } = context
      const until = clock.monotonic() + wait
      while (!(await isHealthy(where, context))) {
        if (clock.monotonic() >= until || signal.aborted) {
          context.exitWith(EXIT.refused)
          return
        }
        await new Promise<void>((resolve) => {
          clock.after(PAUSE, resolve)
        })
      }
    })
}

async function isHealthy(where: ControlOptions, context: Context): Promise<boolean> {
  try {
    await askControl('health', undefined, where, context)
    return true
  } catch (error) {
    if (error instanceof CommandError && error.exitCode === EXIT.undecided) return false
    throw error
  }
}

/** Characters. An event of ours is far shorter. */
const LONGEST_LINE = 100_000

/** Each event is one line of data. */
async function* eventsOf({ body }: Response): AsyncGenerator<SeenEvent> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > LONGEST_LINE) throw unexpected()
    for (const line of lines) if (line.startsWith('data: ')) yield eventIn(parseJson(line.slice(6)))
  }
}

function eventIn(value: unknown): SeenEvent {
  const event = readEvent(value)
  if (event === undefined) throw unexpected()
  return event
}

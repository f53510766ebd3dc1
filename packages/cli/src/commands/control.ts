import { type Command, Option } from 'commander'

import { seconds } from '../input/seconds.ts'
import { memberOf } from '../input/unread-json.ts'
import {
  askControl,
  type ControlOptions,
  takesControl,
  unexpected,
} from '../serve/control-client.ts'
import * as flags from '../serve/flags.ts'
import { printable } from '../surroundings/printable.ts'
import type { Context } from '../surroundings/terminal.ts'

// The commands that change what a running `portcullis serve` does.

interface MintOptions extends ControlOptions {
  readonly claim?: Readonly<Record<string, unknown>>
  readonly expiresIn?: number
  readonly notBefore?: number
  readonly bad?: string
  readonly kinds?: boolean
}

export function registerMint(command: Command, context: Context): void {
  takesControl(command)
    .option('--claim <name=value>', 'a claim, repeatable; JSON or text', flags.claim)
    .option('--expires-in <time>', 'from now, such as 5m; -5m for one that has expired', seconds)
    .option('--not-before <time>', 'from now, such as 30s', seconds)
    .addOption(
      new Option('--bad <kind>', 'a token that must be refused').conflicts([
        'expiresIn',
        'notBefore',
      ]),
    )
    .option('--kinds', 'list the kinds of bad tokens, with the reasons to refuse them')
    .addHelpText(
      'after',
      "\nExamples:\n  portcullis mint --claim sub=ada --expires-in 5m\n  portcullis mint --bad 'expired'",
    )
    .action(async ({ claim, expiresIn, notBefore, bad, kinds, ...where }: MintOptions) => {
      const { terminal } = context
      if (kinds === true) {
        const { kinds: list } = await askControl('kinds', undefined, where, context)
        if (!Array.isArray(list)) throw unexpected()
        for (const each of list as readonly unknown[]) {
          terminal.print(printable(`${textIn(each, 'reason').padEnd(18)}${textIn(each, 'name')}`))
        }
        return
      }
      const body = { claims: claim, expiresIn, notBefore, kind: bad }
      terminal.print(printable(textIn(await askControl('mint', body, where, context), 'token')))
    })
}

interface RotateOptions extends ControlOptions {
  readonly kid?: string
  readonly publish?: string
  readonly complete?: boolean
  readonly for?: number
}

export function registerRotate(command: Command, context: Context): void {
  takesControl(command)
    .addOption(new Option('--kid <kid>', 'of the new key').choices(['new', 'same', 'none']))
    .addOption(
      new Option('--publish <when>', 'the key document').choices(['now', 'first', 'later', 'both']),
    )
    .option(
      '--for <time>',
      'so long until the second half follows by itself (first, later, both)',
      flags.duration,
    )
    .addOption(
      new Option('--complete', 'do the second half of the last one').conflicts([
        'kid',
        'publish',
        'for',
      ]),
    )
    .addHelpText(
      'after',
      '\nExamples:\n  portcullis rotate\n  portcullis rotate --publish later --for 30s\n  portcullis rotate --publish both && portcullis rotate --complete',
    )
    .action(async ({ kid, publish, complete, for: duration, ...where }: RotateOptions) => {
      const [path, body] =
        complete === true ? ['complete', {}] : ['rotate', { kid, publish, seconds: duration }]
      showKeys(await askControl(path, body, where, context), context)
    })
}

interface FaultOptions extends ControlOptions {
  readonly count?: number
  readonly for?: number
  readonly delay?: number
}

export function registerFault(command: Command, context: Context): void {
  const fault = takesControl(command)
    .argument('<endpoint>', 'keys, token, introspection or metadata')
    .argument('<kind>', 'a status, or hang, reset, truncated, html, empty, slow, ...')
    .option('--count <n>', 'for so many answers', flags.count)
    .option('--for <time>', 'for so long, such as 1m', flags.duration)
    .option('--delay <time>', 'how late a slow answer is', flags.duration)
    .addHelpText(
      'after',
      '\nExamples:\n  portcullis fault keys 503 --for 1m\n  portcullis fault token slow --delay 5s\n  portcullis fault clear',
    )
    .action(async (endpoint: string, kind: string, options: FaultOptions) => {
      const { count: times, for: duration, delay, ...where } = options
      const isStatus = /^\d{3}$/.test(kind)
      const body = {
        endpoint,
        kind: isStatus ? Number(kind) : kind,
        times,
        seconds: duration,
        delay,
      }
      await askControl('fault', body, where, context)
      const limits = [
        ...(duration === undefined ? [] : [`for ${duration} s`]),
        ...(times === undefined ? [] : [`for ${times} ${times === 1 ? 'answer' : 'answers'}`]),
        'until `portcullis fault clear`',
      ]
      context.terminal.say(printable(`${endpoint}: ${kind}, ${limits.join(', or ')}`))
    })
  takesControl(fault.command('clear'))
    .description('end the faults of one endpoint, or all')
    .argument('[endpoint]', 'keys, token, introspection or metadata')
    .action(async (endpoint: string | undefined, _: ControlOptions, clear: Command) => {
      // `fault` has the same options, and takes them wherever they stand.
      const where = clear.optsWithGlobals<ControlOptions>()
      const { cleared } = await askControl('fault/clear', { endpoint }, where, context)
      context.terminal.say(`cleared: ${Number(cleared)}`)
    })
}

function showKeys(state: Readonly<Record<string, unknown>>, { terminal }: Context): void {
  const { keys, pending, pendingSecondsLeft: left } = state
  if (!Array.isArray(keys)) throw unexpected()
  const signing = (keys as readonly unknown[]).find((key) => isOpen(memberOf(key, 'signing')))
  terminal.print(printable(textIn(signing, 'thumbprint')))
  if (typeof pending === 'string') {
    const rest = `what is left of the rotation (${pending})`
    const command = '`portcullis rotate --complete`'
    const when = typeof left === 'number' ? `comes in ${Math.ceil(left)} s, or by` : 'waits for'
    terminal.say(printable(`${rest} ${when} ${command}`))
  }
}

function isOpen(phases: unknown): boolean {
  return Array.isArray(phases) && phases.some((phase) => memberOf(phase, 'until') === undefined)
}

function textIn(value: unknown, name: string): string {
  const text = memberOf(value, name)
  if (typeof text !== 'string') throw unexpected()
  return text
}

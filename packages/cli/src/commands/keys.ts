import { AuthError, type RemoteKeys } from '@portcullis/core'
import type { Command } from 'commander'

import { seconds } from '../input/seconds.ts'
import { algorithmName } from '../input/verifier-flags.ts'
import {
  type KeyOptions,
  type KeyPlace,
  placeIn,
  type RemotePlace,
  statedPlace,
} from '../keys/key-choice.ts'
import { inspected, inspectFile, type KeyInspection } from '../keys/key-inspection.ts'
import { keysJson, printKeys } from '../keys/key-report.ts'
import type { Context } from '../surroundings/context.ts'
import { CommandError, EXIT, type ExitCode, usageError } from '../surroundings/exit-code.ts'
import { pause, untilInterrupted } from '../surroundings/interruption.ts'
import { printable, printableJson } from '../surroundings/printable.ts'

// The command `keys`: fetches or reads a key document, prints what a verifier makes of it, and with `--watch` each later change.

interface KeysOptions extends KeyOptions {
  readonly watch?: boolean
  readonly interval: number
  readonly json?: boolean
}

const EXAMPLES = `
Examples:
  portcullis keys https://auth.example.com/tokenservice/pubkey.json
  portcullis keys --discover https://login.example.com
  portcullis keys key.pem
  AUTH_URL=https://auth.example.com portcullis keys --watch

Exit codes: 0 sound, 1 something should be mended, 2 wrong command line,
3 cannot be fetched
`

export function registerKeys(command: Command, context: Context): void {
  command
    .argument('[place]', 'a URL or a file: JWK, JWKS or PEM; without it the key of AUTH_URL')
    .option('--discover <issuer>', 'an issuer: the keys that its metadata name')
    .option('--watch', 'go on, and print each change, until Ctrl-C')
    .option('--interval <time>', 'how often --watch looks', seconds, 5)
    .option('--timeout <time>', 'how long an answer may take (5s)', seconds)
    .option(
      '--algorithm-name <name=alg>',
      'another name of an algorithm, such as RSA512=RS512; may be repeated',
      algorithmName,
    )
    .option('--allow-insecure', 'permit http: beyond this machine')
    .option('--json', 'print JSON; with --watch a line for each change')
    .addHelpText('after', EXAMPLES)
    .action(async (place: string | undefined, options: KeysOptions) => {
      if (!(options.interval >= 1 && options.interval <= 3600)) {
        throw usageError('--interval must be from 1 to 3600 seconds')
      }
      const stated = placeOf(place, options, context)
      if (stated.kind !== 'file') await showRemote(stated, options, context)
      else if (options.watch === true) throw usageError('--watch needs a URL or --discover')
      else show(await inspectFile(stated.where, options, context), options, context)
    })
}

function placeOf(
  argument: string | undefined,
  { discover }: KeysOptions,
  { env }: Context,
): KeyPlace {
  if (argument !== undefined && discover !== undefined) {
    throw usageError('state one of a place and --discover')
  }
  if (argument !== undefined) return placeIn(argument)
  const place = statedPlace({ ...(discover !== undefined && { discover }) }, { env })
  if (place === undefined) throw usageError('state a URL or a file or --discover, or set AUTH_URL')
  return place
}

async function showRemote(
  place: RemotePlace,
  options: KeysOptions,
  context: Context,
): Promise<void> {
  const looked = inspected(place, options, context)
  const inspection = await looked.inspect()
  if (options.watch !== true) {
    show(inspection, options, context)
    return
  }
  if (options.json !== true) {
    show(inspection, options, context)
    context.terminal.print()
  }
  await watch(looked.keys, options, context)
}

function show(inspection: KeyInspection, { json }: KeysOptions, context: Context): void {
  const { terminal } = context
  if (json === true) terminal.print(printableJson(keysJson(inspection), 2))
  else printKeys(inspection, terminal)
  context.exitWith(exitCodeOf(inspection))
}

function exitCodeOf({ failure, remarks }: KeyInspection): ExitCode {
  // A document that cannot be used is there, and something is wrong with it.
  if (failure !== undefined && failure.reason !== 'bad_document') return EXIT.undecided
  const isSound = failure === undefined && remarks.every(({ level }) => level === 'note')
  return isSound ? EXIT.ok : EXIT.refused
}

/** What is compared from one look to the next. */
interface Look {
  readonly thumbprints: readonly string[]
  readonly failure: string | undefined
}

interface Change {
  readonly type: 'added' | 'removed' | 'failed' | 'recovered'
  readonly text: string
}

/** Prints what changes, until Ctrl-C, which is how it is meant to end. */
async function watch(
  keys: RemoteKeys,
  { interval, json }: KeysOptions,
  context: Context,
): Promise<void> {
  const { terminal, clock, signal } = context
  const tell = ({ type, text }: Change) => {
    const time = new Date(clock.now() * 1000).toISOString()
    terminal.print(
      json === true
        ? printableJson({ schemaVersion: 1, time, type, text })
        : printable(`${time}  ${type.padEnd(9)}  ${text}`),
    )
  }
  // For programs the keys that are there are the first change.
  let before: Look = json === true ? { thumbprints: [], failure: undefined } : lookAt(keys)
  try {
    for (;;) {
      const now = lookAt(keys)
      for (const change of changesBetween(before, now)) tell(change)
      before = now
      await pause(interval, context)
      await untilInterrupted(refreshed(keys), signal)
    }
  } catch (error) {
    const isEnd = error instanceof CommandError && error.exitCode === EXIT.interrupted
    if (!isEnd) throw error
  }
}

async function refreshed(keys: RemoteKeys): Promise<void> {
  try {
    await keys.refresh()
  } catch (error) {
    // What the status says of it is enough.
    if (!(error instanceof AuthError)) throw error
  }
}

function lookAt(keys: RemoteKeys): Look {
  const { thumbprints, lastFailure } = keys.status()
  return { thumbprints, failure: lastFailure?.detail }
}

function changesBetween(before: Look, now: Look): readonly Change[] {
  const changes: Change[] = []
  for (const text of now.thumbprints.filter((each) => !before.thumbprints.includes(each))) {
    changes.push({ type: 'added', text })
  }
  for (const text of before.thumbprints.filter((each) => !now.thumbprints.includes(each))) {
    changes.push({ type: 'removed', text })
  }
  if (now.failure !== before.failure) {
    changes.push(
      now.failure === undefined
        ? { type: 'recovered', text: 'the key URL answers again' }
        : { type: 'failed', text: now.failure },
    )
  }
  return changes
}

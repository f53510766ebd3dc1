import { readBody } from '@portcullis/kit/http'
import { parseJson } from '@portcullis/kit/json'
import type { Command } from 'commander'

import { memberOf } from '../input/unread-json.ts'
import { CommandError, EXIT, usageError } from '../surroundings/exit-code.ts'
import { withinSeconds } from '../surroundings/interruption.ts'
import { printable } from '../surroundings/printable.ts'
import type { Context } from '../surroundings/terminal.ts'
import { CONTROL_PATH, HEALTH, PROGRAM } from './control.ts'
import { isConfidential, statedSecret } from './secret.ts'

// How the other commands talk to a running `portcullis serve`: where it is, the secret, the deadline, and what is wrong if it refuses.

export interface ControlOptions {
  readonly authUrl?: string
  readonly allowInsecure?: boolean
}

/** Seconds. */
const TIMEOUT = 30
const MAX_SHOWN = 2000

export function takesControl(command: Command): Command {
  return command
    .option(
      '--auth-url <url>',
      'where `portcullis serve` listens (default: PORTCULLIS_URL, or http://127.0.0.1:4010)',
    )
    .option('--allow-insecure', 'permit to send PORTCULLIS_SECRET over http: beyond this machine')
}

/** @throws CommandError if the service does not answer, or refuses. */
export async function askControl(
  path: string,
  body: object | undefined,
  options: ControlOptions,
  context: Context,
): Promise<Readonly<Record<string, unknown>>> {
  return await withinSeconds(TIMEOUT, context, async (end) => {
    const response = await asked(path, body, options, context, end)
    const value = parseJson(await textOf(response, context))
    if (typeof value !== 'object' || value === null) throw unanswered(response.url)
    return value as Readonly<Record<string, unknown>> // checked just before
  })
}

/** The same with an answer that need not end: it has to begin in time. */
export async function openControl(path: string, options: ControlOptions, context: Context) {
  return await withinSeconds(
    TIMEOUT,
    context,
    async (end) => await asked(path, undefined, options, context, end),
  )
}

async function asked(
  path: string,
  body: object | undefined,
  options: ControlOptions,
  context: Context,
  end: AbortSignal,
): Promise<Response> {
  const { env, fetch, signal } = context
  const target = targetOf(options.authUrl ?? env['PORTCULLIS_URL'] ?? 'http://127.0.0.1:4010', path)
  const headers = new Headers()
  const secret = secretFor(target, options, context)
  // Before the secret is sent, and before an answer of anybody is taken for a token.
  await checkProgram(target, end, context)
  if (secret !== undefined) headers.set('authorization', `Bearer ${secret}`)
  if (body !== undefined) headers.set('content-type', 'application/json')
  const init: RequestInit = { redirect: 'error', headers, signal: AbortSignal.any([signal, end]) }
  const response = await fetch(
    target,
    body === undefined ? init : { ...init, method: 'POST', body: JSON.stringify(body) },
  ).catch((error: unknown) => {
    if (signal.aborted) throw error
    throw unanswered(target.origin)
  })
  if (!response.ok) throw await refused(response, context)
  return response
}

/** @throws CommandError if another program listens there. */
async function checkProgram(target: URL, end: AbortSignal, context: Context): Promise<void> {
  const { fetch, signal } = context
  const init: RequestInit = { redirect: 'error', signal: AbortSignal.any([signal, end]) }
  const response = await fetch(new URL(`${CONTROL_PATH}${HEALTH}`, target), init).catch(
    (error: unknown) => {
      if (signal.aborted) throw error
      throw unanswered(target.origin)
    },
  )
  if (memberOf(parseJson(await textOf(response, context)), 'program') === PROGRAM) return
  throw new CommandError(
    EXIT.undecided,
    `another program answers at ${printable(target.origin)}: state where \`portcullis serve\` listens, by --auth-url or PORTCULLIS_URL`,
  )
}

function secretFor(target: URL, { allowInsecure }: ControlOptions, { env }: Context) {
  const secret = statedSecret(env)
  if (secret !== undefined && !isConfidential(target) && allowInsecure !== true) {
    throw usageError(
      'the URL of the service must begin with https: (--allow-insecure sends PORTCULLIS_SECRET in the clear)',
    )
  }
  return secret
}

/** Bytes, after decompression. A log of 1,000 events that are as long as they can be has half of it. */
const MAX_OCTETS = 16 * 1024 * 1024

/** The text of an answer, whoever sent it: counted while it is read. @throws CommandError if it is too long, or does not end in time. */
async function textOf({ body, url }: Response, { signal }: Context): Promise<string> {
  const octets = await readBody(body, undefined, MAX_OCTETS).catch((error: unknown) => {
    throw signal.aborted ? error : unanswered(url)
  })
  if (octets !== undefined) return octets.toString()
  throw new CommandError(EXIT.undecided, 'what answers sends more than `portcullis serve` does')
}

function targetOf(url: string, path: string): URL {
  if (!URL.canParse(url) || !/^https?:/.test(url)) {
    throw new CommandError(EXIT.usage, 'the URL of the service must be like http://127.0.0.1:4010')
  }
  return new URL(`${CONTROL_PATH}${path}`, url)
}

function unanswered(origin: string): CommandError {
  return new CommandError(
    EXIT.undecided,
    `no token service of ours answers at ${printable(origin)}; is \`portcullis serve\` running?`,
  )
}

export function unexpected(): CommandError {
  return new CommandError(EXIT.undecided, 'what answers is not this version of `portcullis serve`')
}

async function refused(response: Response, context: Context): Promise<CommandError> {
  const error = memberOf(parseJson(await textOf(response, context)), 'error')
  const said = typeof error === 'string' ? printable(error.slice(0, MAX_SHOWN)) : 'no reason given'
  const exitCode = response.status === 400 ? EXIT.usage : EXIT.undecided
  return new CommandError(exitCode, `${said} (${response.status})`)
}

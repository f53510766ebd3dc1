import type { Command } from 'commander'

import type { Context } from '../context.ts'
import { CommandError, EXIT } from '../exit-code.ts'
import { printable } from '../printable.ts'
import { CONTROL_PATH } from './control.ts'

export interface ControlOptions {
  readonly url?: string
}

/** Seconds for one answer. */
const TIMEOUT = 30
const MAX_SHOWN = 2000

/** Where the service is that a command talks to. */
export function takesControl(command: Command): Command {
  return command.option(
    '--url <url>',
    'where `portcullis serve` listens (default: PORTCULLIS_URL, or http://127.0.0.1:4010)',
  )
}

/** @throws CommandError if the service does not answer, or refuses. */
export async function askControl(
  path: string,
  body: object | undefined,
  options: ControlOptions,
  context: Context,
): Promise<Readonly<Record<string, unknown>>> {
  const end = new AbortController()
  const cancel = context.clock.after(TIMEOUT, () => {
    end.abort()
  })
  try {
    const response = await openControl(path, body, options, context, end.signal)
    const value: unknown = await response.json().catch(() => undefined)
    if (typeof value !== 'object' || value === null) throw unanswered(response.url)
    return value as Readonly<Record<string, unknown>> // checked just before
  } finally {
    cancel()
  }
}

/** The same with an answer that need not end. */
export async function openControl(
  path: string,
  body: object | undefined,
  { url }: ControlOptions,
  { env, fetch, signal }: Context,
  end: AbortSignal = signal,
): Promise<Response> {
  const target = targetOf(url ?? env['PORTCULLIS_URL'] ?? 'http://127.0.0.1:4010', path)
  const secret = env['PORTCULLIS_SECRET'] ?? ''
  const headers = new Headers()
  if (secret !== '') headers.set('authorization', `Bearer ${secret}`)
  if (body !== undefined) headers.set('content-type', 'application/json')
  const init: RequestInit = { redirect: 'error', headers, signal: AbortSignal.any([signal, end]) }
  const response = await fetch(
    target,
    body === undefined ? init : { ...init, method: 'POST', body: JSON.stringify(body) },
  ).catch((error: unknown) => {
    if (signal.aborted) throw error
    throw unanswered(target.origin)
  })
  if (!response.ok) throw await refused(response)
  return response
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

/** What answers is no service of ours, or of another version. */
export function unexpected(): CommandError {
  return new CommandError(EXIT.undecided, 'what answers is not this version of `portcullis serve`')
}

async function refused(response: Response): Promise<CommandError> {
  const value: unknown = await response.json().catch(() => undefined)
  const error: unknown =
    typeof value === 'object' && value !== null ? Reflect.get(value, 'error') : undefined
  const said = typeof error === 'string' ? printable(error.slice(0, MAX_SHOWN)) : 'no reason given'
  const exitCode = response.status === 400 ? EXIT.usage : EXIT.undecided
  return new CommandError(exitCode, `${said} (${response.status})`)
}

import { createPublicKey, type KeyObject } from 'node:crypto'

import {
  type Algorithm,
  type KeySource,
  localKeys,
  type RemoteKeys,
  remoteKeys,
} from '@portcullis/core'
import { parseJson } from '@portcullis/core/json'
import type { Command } from 'commander'

import type { Context } from './context.ts'
import { usageError } from './exit-code.ts'
import type { Fetch } from './surroundings.ts'
import { readTextFile } from './token-input.ts'
import { number } from './verifier-flags.ts'

// Where commands get keys from: AUTH_URL, a URL or a file. It also keeps what the answer says about caching and time.

/** Where the keys are, as the command line says. */
export interface KeyOptions {
  readonly authUrl?: string
  readonly keysUrl?: string
  readonly keysFile?: string
  readonly allowInsecure?: boolean
  /** Seconds. */
  readonly timeout?: number
  readonly algorithmName?: Readonly<Record<string, Algorithm>>
}

/** Keys, and what could be seen when they came. */
export interface ChosenKeys {
  readonly source: KeySource
  /** The URL or the file. */
  readonly where: string
  readonly seen: SeenDocument
}

export interface SeenDocument {
  /** The document as it came. */
  text: string | undefined
  /** What it came in. */
  response: Pick<Response, 'status' | 'headers'> | undefined
  /** How far the clock of the server is ahead of ours, in seconds. */
  clockDifference: number | undefined
}

export const KEY_PATH = '/tokenservice/pubkey.json'

export function takesKeys(command: Command): Command {
  return command
    .option('--auth-url <url>', `the token service: its key is under ${KEY_PATH} (or set AUTH_URL)`)
    .option('--keys-url <url>', 'the URL of a key or a key set')
    .option('--keys-file <path>', 'a file with a key or a key set: JWK, JWKS or PEM')
    .option('--timeout <seconds>', 'how long an answer may take (5)', number)
    .option('--allow-insecure', 'permit http: beyond this machine')
}

/** @throws CommandError without keys, or with several. */
export async function chooseKeys(options: KeyOptions, context: Context): Promise<ChosenKeys> {
  const { authUrl, keysUrl, keysFile } = options
  const stated = [authUrl, keysUrl, keysFile].filter((each) => each !== undefined)
  if (stated.length > 1) throw usageError('state one of --auth-url, --keys-url and --keys-file')
  if (keysFile !== undefined) return await keysInFile(keysFile, options, context)
  const base = authUrl ?? context.env['AUTH_URL']
  const url = keysUrl ?? (base === undefined ? undefined : keyUrlOf(base))
  if (url === undefined) {
    throw usageError('state where the keys are: --auth-url, --keys-url, --keys-file, or AUTH_URL')
  }
  return keysBehind(url, options, context)
}

/** Where a token service has its key. */
export function keyUrlOf(authUrl: string): string {
  return `${authUrl.replace(/\/$/, '')}${KEY_PATH}`
}

/** Keys of a URL or a file, whichever the text is. */
export async function keysAt(
  place: string,
  options: KeyOptions,
  context: Context,
): Promise<ChosenKeys> {
  return isUrl(place)
    ? keysBehind(place, options, context)
    : await keysInFile(place, options, context)
}

export function keysBehind(
  url: string,
  { allowInsecure = false, timeout, algorithmName: algorithmNames }: KeyOptions,
  { fetch, clock }: Context,
): ChosenKeys & { readonly source: RemoteKeys } {
  const seen: SeenDocument = { text: undefined, response: undefined, clockDifference: undefined }
  const observed = observing(fetch, clock, seen)
  const source = orUsage(() =>
    remoteKeys(url, { fetch: observed, clock, allowInsecure, timeout, algorithmNames }),
  )
  return { source, where: url, seen }
}

/** Looks at the answer as it passes, and takes nothing from it. */
function observing(fetch: Fetch, clock: Context['clock'], seen: SeenDocument): Fetch {
  return async (url, init) => {
    seen.text = undefined
    const response = await fetch(url, init)
    seen.response = response
    const date = Date.parse(response.headers.get('date') ?? '') / 1000
    // A stored answer has the date of another moment.
    if (!Number.isNaN(date) && response.headers.get('age') === null) {
      seen.clockDifference = date - clock.now()
    }
    seen.text = await startOf(response.clone().body)
    return response
  }
}

/** Characters. Core reads no longer document either. */
const LONGEST_DOCUMENT = 1024 * 1024

/** The text of a body, which need not end. */
async function startOf(body: ReadableStream<Uint8Array> | null): Promise<string> {
  if (body === null) return ''
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  while (text.length <= LONGEST_DOCUMENT) {
    const { done, value } = await reader.read()
    if (done) return text
    text += decoder.decode(value, { stream: true })
  }
  // Not awaited: it waits for the other half of the answer, which core reads later.
  reader.cancel().catch(() => {
    // Core sees the same failure.
  })
  return text
}

async function keysInFile(
  path: string,
  { algorithmName: algorithmNames }: KeyOptions,
  context: Context,
): Promise<ChosenKeys> {
  const text = await readTextFile(path, context)
  const source = orUsage(() => localKeys(keysIn(text, path), { algorithmNames }))
  return { source, where: path, seen: { text, response: undefined, clockDifference: undefined } }
}

/** Whether a place is a URL, and so no file. */
export function isUrl(place: string): boolean {
  return /^https?:/i.test(place)
}

function keysIn(text: string, path: string): Parameters<typeof localKeys>[0] {
  const value = text.trimStart().startsWith('-----BEGIN ') ? keyIn(text) : parseJson(text)
  if (value === undefined) throw usageError(`the file ${path} is neither JSON nor PEM`)
  return value as Parameters<typeof localKeys>[0] // `localKeys` looks at it
}

function keyIn(pem: string): KeyObject | undefined {
  try {
    return createPublicKey(pem)
  } catch {
    return undefined
  }
}

/** What a factory of core complains of is a mistake of the command line. */
export function orUsage<Value>(make: () => Value): Value {
  try {
    return make()
  } catch (error) {
    if (error instanceof TypeError) throw usageError(error.message)
    throw error
  }
}

/** The same of what takes its time. */
export async function orUsageLater<Value>(made: Promise<Value>): Promise<Value> {
  try {
    return await made
  } catch (error) {
    if (error instanceof TypeError) throw usageError(error.message.replace('createVerifier: ', ''))
    throw error
  }
}

import { createPublicKey, type KeyObject } from 'node:crypto'

import {
  type Algorithm,
  discoverKeys,
  type KeySource,
  localKeys,
  type RemoteKeys,
  remoteKeys,
} from '@portcullis/core'
import { parseJson } from '@portcullis/kit/json'
import type { Command } from 'commander'

import { inFlags } from '../input/flag-names.ts'
import { readTextFile } from '../input/named-file.ts'
import { seconds } from '../input/seconds.ts'
import { usageError } from '../surroundings/exit-code.ts'
import type { Context } from '../surroundings/terminal.ts'
import { nothingSeen, observing, type SeenDocument } from './seen-document.ts'

// Where commands get keys from: AUTH_URL, an issuer, a URL or a file.

export interface KeyOptions {
  readonly authUrl?: string
  readonly discover?: string
  readonly keysUrl?: string
  readonly keysFile?: string
  readonly allowInsecure?: boolean
  /** Seconds. */
  readonly timeout?: number
  readonly algorithmName?: Readonly<Record<string, Algorithm>>
}

export interface RemotePlace {
  readonly kind: 'url' | 'issuer'
  readonly where: string
}

export type KeyPlace = RemotePlace | { readonly kind: 'file'; readonly where: string }

export interface ChosenKeys {
  readonly source: KeySource
  readonly where: string
  readonly seen: SeenDocument
  /** Why they could not be fetched, in core's words. */
  readonly failure: () => string | undefined
}

const KEY_PATH = '/tokenservice/pubkey.json'

export function takesKeys(command: Command): Command {
  return command
    .option('--auth-url <url>', `the token service: its key is under ${KEY_PATH} (or set AUTH_URL)`)
    .option('--discover <issuer>', 'an issuer, whose metadata name its keys; also the accepted iss')
    .option('--keys-url <url>', 'the URL of a key or a key set')
    .option('--keys-file <path>', 'a file with a key or a key set: JWK, JWKS or PEM')
    .option('--timeout <time>', 'how long an answer may take (5s)', seconds)
    .option('--allow-insecure', 'permit http: beyond this machine')
}

export const NO_PLACE =
  'state where the keys are: --auth-url, --discover, --keys-url, --keys-file, or AUTH_URL'

/** By the command line or else `AUTH_URL`; `undefined` if neither says. @throws CommandError for several places. */
export function statedPlace(
  { authUrl, discover, keysUrl, keysFile }: KeyOptions,
  { env }: Pick<Context, 'env'>,
): KeyPlace | undefined {
  const stated = [authUrl, discover, keysUrl, keysFile].filter((each) => each !== undefined)
  if (stated.length > 1) {
    throw usageError('state one of --auth-url, --discover, --keys-url and --keys-file')
  }
  if (keysFile !== undefined) return { kind: 'file', where: keysFile }
  if (discover !== undefined) return { kind: 'issuer', where: discover }
  if (keysUrl !== undefined) return { kind: 'url', where: keysUrl }
  const base = authUrl ?? env['AUTH_URL']
  return base === undefined ? undefined : { kind: 'url', where: keyUrlOf(base) }
}

export function keyUrlOf(authUrl: string): string {
  return `${authUrl.replace(/\/$/, '')}${KEY_PATH}`
}

export function placeIn(text: string): KeyPlace {
  return { kind: /^https?:/i.test(text) ? 'url' : 'file', where: text }
}

export async function keysAt(place: KeyPlace, options: KeyOptions, context: Context) {
  return place.kind === 'file'
    ? await keysInFile(place.where, options, context)
    : await keysBehind(place, options, context)
}

export async function keysBehind(
  { kind, where }: RemotePlace,
  { allowInsecure = false, timeout, algorithmName: algorithmNames }: KeyOptions,
  { fetch, clock }: Context,
): Promise<ChosenKeys & { readonly source: RemoteKeys }> {
  const seen = nothingSeen()
  const hasMetadata = kind === 'issuer'
  const observed = observing(fetch, clock, seen, { hasMetadata })
  const options = { fetch: observed, clock, allowInsecure, timeout, algorithmNames }
  const source = await orUsage(() =>
    hasMetadata ? discoverKeys(where, options) : remoteKeys(where, options),
  )
  return { source, where, seen, failure: () => source.status().lastFailure?.detail }
}

export function keysWords(
  { kind, where }: KeyPlace,
  { allowInsecure, timeout, algorithmName = {} }: KeyOptions,
): readonly string[] {
  const names = Object.entries(algorithmName).map(([name, meant]) => `${name}=${meant}`)
  return [
    'keys',
    ...(kind === 'issuer' ? ['--discover', where] : [where]),
    ...names.flatMap((name) => ['--algorithm-name', name]),
    ...(timeout === undefined ? [] : ['--timeout', String(timeout)]),
    ...(allowInsecure === true ? ['--allow-insecure'] : []),
  ]
}

async function keysInFile(
  path: string,
  { algorithmName: algorithmNames }: KeyOptions,
  context: Context,
): Promise<ChosenKeys> {
  const text = await readTextFile(path, context)
  // `localKeys` looks at it.
  const document = documentIn(text, path) as Parameters<typeof localKeys>[0]
  const source = await orUsage(() => localKeys(document, { algorithmNames }))
  return { source, where: path, seen: { ...nothingSeen(), text }, failure: () => undefined }
}

/** The JSON of a file, or the key that it has as PEM. @throws CommandError for anything else. */
export function documentIn(text: string, path: string): unknown {
  const parsed = parseJson(text)
  if (parsed !== undefined) return parsed
  const key = keyIn(text)
  if (key === undefined) throw usageError(`the file ${path} is neither JSON nor PEM`)
  try {
    return key.export({ format: 'jwk' })
  } catch {
    // Node writes no JWK of it.
    throw usageError(
      `the file ${path} has a key of type ${key.asymmetricKeyType}, which cannot be used`,
    )
  }
}

function keyIn(pem: string): KeyObject | undefined {
  try {
    return createPublicKey(pem)
  } catch {
    return undefined
  }
}

/** What a function of core complains of is a mistake of the command line. */
export async function orUsage<Value>(make: () => Value | Promise<Value>): Promise<Value> {
  try {
    return await make()
  } catch (error) {
    if (error instanceof TypeError) throw usageError(inFlags(error.message))
    throw error
  }
}

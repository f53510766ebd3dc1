import { adviceOn, type Explanation } from '@portcullis/core/explain'

import { CLOCKS_MAY_DIFFER, clockWords, type SeenDocument } from '../keys/seen-document.ts'
import { isKeyedWithPublicKey } from './public-key-mac.ts'
import { findShortKey } from './short-key.ts'

// What `explain` adds to the explanation of core: hints about clocks, short keys and one attack, and what to do for each reason.

export interface CliHint {
  readonly name:
    | 'clock_differs'
    | 'clock_not_seen'
    | 'mac_with_public_key'
    | 'no_metadata'
    | 'opaque_token'
    | 'other_keys_missing'
    | 'short_key'
  readonly text: string
}

interface SeenKeys {
  readonly seen: Pick<SeenDocument, 'text' | 'clockDifference'>
}

export function cliHints(token: string, { seen }: SeenKeys): readonly CliHint[] {
  const hints: CliHint[] = []
  const clock = clockWords('the token service', seen)
  if (clock !== undefined) hints.push({ name: 'clock_differs', text: clock })
  if (isKeyedWithPublicKey(token, seen.text)) {
    hints.push({
      name: 'mac_with_public_key',
      text: 'its MAC is keyed with the public key, which anybody has: this is an attack, or a library that was given the wrong algorithm',
    })
  }
  const shortKey = findShortKey(token, seen.text)
  if (shortKey !== undefined) {
    const { bits, isChecked } = shortKey
    const where = isChecked ? 'of the document ' : ''
    hints.push({
      name: 'short_key',
      text: `a key ${where}of ${bits} bits made the signature, and none shorter than 2048 bits is accepted: the issuer needs a longer one`,
    })
  }
  return hints
}

export function timeHints(
  { refusal, provenClaims }: Explanation,
  { seen }: SeenKeys,
  now: number,
): readonly CliHint[] {
  if (seen.clockDifference !== undefined) return []
  const iat = provenClaims?.['iat']
  const ahead = typeof iat === 'number' ? Math.round(iat - now) : 0
  if (ahead > CLOCKS_MAY_DIFFER && ahead < EARLIEST_MILLISECONDS) {
    const text = `the token was issued ${ahead} s from now: the clock of the token service is ahead of the one of this machine, or this one is behind`
    return [{ name: 'clock_differs', text }]
  }
  if (refusal === undefined || !ABOUT_TIME.has(refusal.reason)) return []
  const text =
    'whether the clock of the token service differs cannot be told without an answer of it: state --auth-url, --discover or --keys-url'
  return [{ name: 'clock_not_seen', text }]
}

const ABOUT_TIME: ReadonlySet<string> = new Set([
  'expired',
  'issued_in_future',
  'not_yet_valid',
  'too_old',
])
/** Seconds. Core has a hint of its own for a time that counts milliseconds. */
const EARLIEST_MILLISECONDS = 1e11

/** Which of the other keys could not be had: whether they made the signature is not known. */
export function otherKeysHints(
  others: readonly { readonly name: string; readonly failure: string | undefined }[],
): readonly CliHint[] {
  return others.flatMap(({ name, failure }) => {
    const text = `the keys of --other ${name} cannot be used: ${failure}`
    return failure === undefined ? [] : [{ name: 'other_keys_missing' as const, text }]
  })
}

/** That an issuer has no metadata is no outage, so to wait does not help. */
export function metadataHints(
  { refusal }: Pick<Explanation, 'refusal'>,
  { metadata }: Pick<SeenDocument, 'metadata'>,
): readonly CliHint[] {
  const isMissing = metadata.size > 0 && [...metadata.values()].every((status) => status === 404)
  if (refusal?.code !== 'keys_unavailable' || !isMissing) return []
  const text =
    'this issuer has no metadata (404 at each place): it has another name, or publishes its keys without them'
  return [{ name: 'no_metadata', text }]
}

const WITHOUT_METADATA =
  'compare the issuer with `iss` of a token. If it publishes no metadata, state --auth-url (a token service with one key) or --keys-url. If you run the API: Use remoteKeys(url) for such an issuer, not discoverKeys(issuer).'

/** @param hints Of this program. One may say more than those of core. */
export function whatToDo(
  explanation: Pick<Explanation, 'refusal' | 'hints'>,
  hints: readonly CliHint[] = [],
): string | undefined {
  if (hints.some(({ name }) => name === 'no_metadata')) return WITHOUT_METADATA
  const advice = adviceOn(explanation)
  if (advice === undefined) return undefined
  const { client, operator } = advice
  const ofApi = operator === 'Nothing' ? [] : [`If you run the API: ${withPackage(operator)}.`]
  return [`${client}.`, ...ofApi].join(' ')
}

/** Core names its own guides, and here nobody knows whose they are. */
function withPackage(advice: string): string {
  return advice.replaceAll(/\b[A-Z-]+\.md#[\w-]+/g, '$& of @portcullis/core')
}

import type { AuthErrorReason, AuthErrorReasons } from '@portcullis/core'
import type { Explanation } from '@portcullis/core/explain'

import type { SeenDocument } from './key-choice.ts'
import { isKeyedWithPublicKey } from './public-key-mac.ts'
import { findShortKey } from './short-key.ts'

/** A further hint, which core has no business with. */
export interface CliHint {
  readonly name: 'clock_differs' | 'clock_not_seen' | 'mac_with_public_key' | 'short_key'
  readonly text: string
}

/** As much of the chosen keys as hints are drawn from. */
interface SeenKeys {
  readonly seen: Pick<SeenDocument, 'text' | 'clockDifference'>
}

/** Seconds. `Date` has no fractions, and an answer takes its time. */
const CLOCKS_MAY_DIFFER = 5

export function cliHints(token: string, { seen }: SeenKeys): readonly CliHint[] {
  const hints: CliHint[] = []
  const difference = Math.round(seen.clockDifference ?? 0)
  if (Math.abs(difference) > CLOCKS_MAY_DIFFER) {
    const side = difference > 0 ? 'ahead of' : 'behind'
    hints.push({
      name: 'clock_differs',
      text: `the clock of the token service is ${Math.abs(difference)} s ${side} the one of this machine`,
    })
  }
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

/** What the times of a token say about clocks, where the clock of the token service cannot be seen. */
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
    'whether the clock of the token service differs cannot be told without an answer of it: state --auth-url or --keys-url'
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

/** What to do, in one sentence; `undefined` for a token that is accepted. */
export function adviceOn(
  { refusal, hints }: Explanation,
  loginCommand: string,
): string | undefined {
  if (refusal === undefined) return undefined
  const names = new Set(hints.map(({ name }) => name))
  if (names.has('previous_key')) return `log in again: ${loginCommand}`
  if (names.has('other_keys')) return 'log in at the token service of this environment.'
  if (names.has('algorithm_not_listed'))
    return 'state --algorithm, and the option algorithms of your verifier.'
  const advice: Partial<Record<AuthErrorReason, string | null>> = ADVICE
  return advice[refusal.reason]?.replace('LOGIN', loginCommand)
}

/** `null` where what is wrong differs from token to token: the findings say it. */
const ADVICE: Readonly<
  Record<
    AuthErrorReasons['invalid_token' | 'keys_unavailable' | 'revocation_unavailable'],
    string | null
  >
> = {
  expired: 'log in again; there is no refresh operation. LOGIN',
  too_old: 'log in again. LOGIN',
  not_yet_valid: 'compare the clocks, or wait until it is valid.',
  issued_in_future: 'compare the clocks of this machine and of the token service.',
  malformed: 'copy the whole token again: three parts with dots between them.',
  too_large: 'ask for a token with fewer claims, or raise maxTokenSize.',
  algorithm: 'ask the token service for a token with an algorithm that its keys are for.',
  critical_header: null,
  unknown_key:
    'log in again; if that does not help, compare the key URL with the one of the issuer. LOGIN',
  signature:
    'log in again; if that does not help, the token is from another issuer or was changed. LOGIN',
  issuer: 'compare iss with the issuer that the API expects.',
  audience: 'ask for a token whose aud means this API.',
  type: 'send the access token, and no other kind of token.',
  binding:
    'send it with a proof of what it is bound to: under the scheme DPoP with a proof of its key, or with its client certificate. The guard needs the option dpop or mutualTls.',
  missing_claim: 'ask the token service for a token with that claim, or require less.',
  claim: null,
  revoked: 'log in again; if that is refused as well, ask who revoked it. LOGIN',
  stale: 'look whether the store of revocations answers, and try again.',
  unreachable: 'look whether the key URL answers: portcullis keys URL',
  timeout: 'look whether the key URL answers: portcullis keys URL',
  bad_document: 'look at the document behind the key URL: portcullis keys URL',
}

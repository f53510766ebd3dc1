import type { Explanation } from '@portcullis/core/explain'

import type { ChosenKeys } from './key-choice.ts'
import { isKeyedWithPublicKey } from './public-key-mac.ts'

/** A further hint, which core has no business with. */
export interface CliHint {
  readonly name: 'clock_differs' | 'mac_with_public_key'
  readonly text: string
}

/** Seconds. `Date` has no fractions, and an answer takes its time. */
const CLOCKS_MAY_DIFFER = 5

export function cliHints(token: string, { seen }: ChosenKeys): readonly CliHint[] {
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
  return hints
}

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
  return ADVICE[refusal.reason]?.replace('LOGIN', loginCommand)
}

const ADVICE: Readonly<Record<string, string>> = {
  expired: 'log in again; there is no refresh operation. LOGIN',
  too_old: 'log in again. LOGIN',
  not_yet_valid: 'compare the clocks, or wait until it is valid.',
  issued_in_future: 'compare the clocks of this machine and of the token service.',
  malformed: 'copy the whole token again: three parts with dots between them.',
  too_large: 'ask for a token with fewer claims, or raise maxTokenSize.',
  algorithm: 'ask the token service for a token with an accepted algorithm.',
  unknown_key:
    'log in again; if that does not help, compare the key URL with the one of the issuer. LOGIN',
  signature:
    'log in again; if that does not help, the token is from another issuer or was changed. LOGIN',
  issuer: 'compare iss with the issuer that the API expects.',
  audience: 'ask for a token whose aud means this API.',
  unreachable: 'look whether the key URL answers: portcullis keys URL',
  timeout: 'look whether the key URL answers: portcullis keys URL',
  bad_document: 'look at the document behind the key URL: portcullis keys URL',
}

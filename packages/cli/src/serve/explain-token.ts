import { type KeySource, localKeys } from '@portcullis/core'
import { explain, type Explanation } from '@portcullis/core/explain'
import type { Clock } from '@portcullis/kit/time'
import type { KeyPhases, TestIssuer } from '@portcullis/testing'

import { cliHints, whatToDo } from '../explain/advice.ts'
import { explanationJson } from '../explain/explanation-report.ts'
import { tokenIn } from '../input/token-input.ts'
import { CommandError } from '../surroundings/exit-code.ts'
import { InputError } from './input.ts'
import type { ServeSettings } from './settings.ts'

// Explains a token as services would judge it: with the keys that are served now, and with those of an earlier fetch.

/** A token, and what services make of it: one that fetches the keys now, and one that has older ones. */
export type ExplainedToken = Awaited<ReturnType<typeof explainToken>>

export interface ServedDocument {
  /** Seconds since 1970-01-01T00:00:00Z. */
  readonly from: number
  readonly document: TestIssuer['keyDocument']
}

interface Background {
  readonly clock: Clock
  readonly rules: Pick<ServeSettings, 'issuer' | 'audience'>
  readonly keys: readonly KeyPhases[]
  readonly served: TestIssuer['keyDocument']
  /** What a service has that has not asked again. */
  readonly inHand: ServedDocument | undefined
  /** With which the key endpoint may have served other keys instead. */
  readonly fault: string | number | undefined
}

const MAX_OTHER_KEYS = 20

/** @throws InputError if there is no token. */
export async function explainToken(
  text: string | undefined,
  { clock, rules, keys, served, inHand, fault }: Background,
  authUrl: string,
) {
  const { token, stripped } = tokenOf(text)
  const { issuer = null, audience = null } = rules
  const explanation = await explain(
    token,
    { keys: keysOf(served), issuer, audience, clock },
    {
      keysInHand: inHand && keysOf(inHand.document),
      otherKeys: keys
        .slice(-MAX_OTHER_KEYS)
        .map(({ thumbprint, publicJwk }) => ({ name: thumbprint, keys: localKeys(publicJwk) })),
    },
  )
  const seen = { text: JSON.stringify(served), clockDifference: undefined }
  const signer = keys.find(({ thumbprint }) => thumbprint === explanation.signer?.thumbprint)
  return {
    token,
    /** What was taken off, in words. */
    stripped,
    explanation,
    /** When it was explained. Seconds since 1970-01-01T00:00:00Z. */
    now: clock.now(),
    hints: [
      // Those that are meant here are of other environments, and all of these are the service's own.
      ...explanation.hints.filter(({ name }) => name !== 'other_keys'),
      ...cliHints(token, { seen }),
    ],
    advice: adviceFor(explanation, signer, authUrl),
    /** Which of the service's keys made the signature, in words. */
    madeBy: whoMade(explanation, signer),
    /** Since when the document of the older keys was served; `undefined` if there are none. */
    inHandFrom: inHand?.from,
    /** The fault for which those may not be what was fetched. */
    inHandFault: fault,
  }
}

export function explainedJson(explained: ExplainedToken): object {
  const { stripped, madeBy, inHandFrom, inHandFault } = explained
  const { inHand } = explained.explanation
  return {
    ...explanationJson({ ...explained, commands: [], where: 'the token service', share: false }),
    stripped,
    madeBy,
    inHand: inHand && {
      from: inHandFrom,
      fault: inHandFault,
      verdict: inHand.verdict,
      reason: inHand.refusal?.reason,
      status: inHand.refusal?.status,
    },
  }
}

function keysOf(document: TestIssuer['keyDocument']): KeySource {
  return localKeys('keys' in document ? { keys: [...document.keys] } : document)
}

function tokenOf(text = ''): ReturnType<typeof tokenIn> {
  try {
    return tokenIn(text)
  } catch (error) {
    throw error instanceof CommandError ? new InputError(error.message) : error
  }
}

function standingOf({ published }: KeyPhases): 'published' | 'withdrawn' | 'not yet published' {
  const last = published.at(-1)
  if (last === undefined) return 'not yet published'
  return last.until === undefined ? 'published' : 'withdrawn'
}

function whoMade({ header }: Explanation, signer: KeyPhases | undefined): string {
  if (header === undefined) return 'It cannot be told: the token cannot be read.'
  if (signer === undefined) {
    return 'None of the keys of this service: another issuer made it, or it was changed afterwards.'
  }
  return `The key ${signer.thumbprint.slice(0, 8)} of this service, which is ${standingOf(signer)}.`
}

function adviceFor(explanation: Explanation, signer: KeyPhases | undefined, authUrl: string) {
  const reason = explanation.refusal?.reason
  const standing = signer && standingOf(signer)
  if (reason === 'signature' || reason === 'unknown_key') {
    if (standing === 'not yet published') {
      return 'publish the key that made it: finish the rotation. Then services accept this token.'
    }
    if (standing === 'withdrawn') return `log in again: ${loginCommand(authUrl)}`
  }
  const advice = whatToDo(explanation)
  return advice?.includes('log in again') === true ? `${advice} ${loginCommand(authUrl)}` : advice
}

export function loginCommand(authUrl: string, loginId = '...', password = '...'): string {
  return `curl -d loginId=${loginId} -d password=${password} ${authUrl}/tokenservice/token/api`
}

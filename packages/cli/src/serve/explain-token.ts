import { type KeySource, localKeys } from '@portcullis/core'
import { explain, type Explanation, type Signer } from '@portcullis/core/explain'
import type { Clock } from '@portcullis/kit/time'
import type { KeyDocument, KeyPhases, OutageKind } from '@portcullis/testing'

import { cliHints, whatToDo } from '../explain/advice.ts'
import { type Explained, explanationJson } from '../explain/explanation-report.ts'
import { tokenIn } from '../input/token-input.ts'
import { nothingSeen } from '../keys/seen-document.ts'
import { CommandError } from '../surroundings/exit-code.ts'
import { InputError } from './input.ts'
import type { ExplainInput } from './requests.ts'
import type { ServeSettings } from './settings.ts'

// Explains a token as services would judge it: with the keys that are served now, and with those of an earlier fetch.

/** A token, and what services make of it: one that fetches the keys now, and one that has older ones. */
export interface ExplainedToken {
  readonly token: string
  /** What was taken off, in words. */
  readonly stripped: readonly string[]
  readonly explanation: Explanation
  /** When it was explained. Seconds since 1970-01-01T00:00:00Z. */
  readonly now: number
  readonly hints: Explained['hints']
  readonly advice: string | undefined
  /** Which of the service's keys made the signature, in words. */
  readonly madeBy: string
  /** Since when the document of the older keys was served; `undefined` if there are none. */
  readonly inHandFrom: number | undefined
  /** The fault for which those may not be what was fetched. */
  readonly inHandFault: OutageKind | undefined
}

/** What the key endpoint serves from a moment on. */
export interface ServedDocument {
  /** Seconds since 1970-01-01T00:00:00Z. */
  readonly from: number
  readonly document: KeyDocument
}

/** What the keys of the service are, and were. */
export interface Background {
  readonly clock: Clock
  readonly rules: Pick<ServeSettings, 'issuer' | 'audience'>
  readonly keys: readonly KeyPhases[]
  readonly served: KeyDocument
  /** What a service has that has not asked again. */
  readonly inHand: ServedDocument | undefined
  /** With which the key endpoint may have served other keys instead. */
  readonly fault: OutageKind | undefined
}

const MAX_OTHER_KEYS = 20

/** Nothing of this is kept. @throws InputError if there is no token. */
export async function explainToken(
  { token: text }: ExplainInput,
  { clock, rules, keys, served, inHand, fault }: Background,
  authUrl: string,
): Promise<ExplainedToken> {
  const { token, stripped } = tokenOf(text)
  const explanation = await explain(
    token,
    {
      keys: keysOf(served),
      issuer: rules.issuer ?? null,
      audience: rules.audience ?? null,
      clock,
    },
    {
      keysInHand: inHand && keysOf(inHand.document),
      otherKeys: keys
        .slice(-MAX_OTHER_KEYS)
        .map(({ thumbprint, publicJwk }) => ({ name: thumbprint, keys: localKeys(publicJwk) })),
    },
  )
  const found = { source: keysOf(served), where: '' }
  const seen = { ...nothingSeen(), text: JSON.stringify(served) }
  const signer = explanation.signer && keysNamed(explanation.signer, keys)
  // Those that are meant here are of other environments, and all of these are the service's own.
  const hints = [
    ...explanation.hints.filter(({ name }) => name !== 'other_keys'),
    ...cliHints(token, { ...found, seen }),
  ]
  const advice = adviceForKey(explanation, signer, authUrl) ?? adviceWithLogin(explanation, authUrl)
  const madeBy = whoMade(explanation, signer)
  const inHandFrom = inHand?.from
  const now = clock.now()
  const inHandFault = fault
  return { token, stripped, explanation, now, hints, advice, madeBy, inHandFrom, inHandFault }
}

/** The same for programs. */
export function explainedJson(explained: ExplainedToken): object {
  const { explanation, hints, advice, stripped, madeBy, inHandFrom, inHandFault } = explained
  const where = 'the token service'
  const { inHand } = explanation
  return {
    // The report knows the hints of core and of the command line, and shows what it is given.
    ...explanationJson({
      explanation,
      hints: explanation.hints,
      advice,
      commands: [],
      where,
      share: false,
    }),
    hints,
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

function keysOf(document: KeyDocument): KeySource {
  return localKeys('keys' in document ? { keys: [...document.keys] } : document)
}

function tokenOf(text: string | undefined): ReturnType<typeof tokenIn> {
  try {
    return tokenIn(text ?? '')
  } catch (error) {
    throw error instanceof CommandError ? new InputError(error.message) : error
  }
}

function keysNamed({ thumbprint }: Signer, keys: readonly KeyPhases[]): KeyPhases | undefined {
  return keys.find((each) => each.thumbprint === thumbprint)
}

type Standing = 'published' | 'withdrawn' | 'not yet published'

function standingOf({ published }: KeyPhases): Standing {
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

function adviceForKey(
  { refusal }: Explanation,
  signer: KeyPhases | undefined,
  authUrl: string,
): string | undefined {
  if (refusal?.reason !== 'signature' && refusal?.reason !== 'unknown_key') return undefined
  if (signer === undefined) return undefined
  const standing = standingOf(signer)
  if (standing === 'not yet published') {
    return 'publish the key that made it: finish the rotation. Then services accept this token.'
  }
  return standing === 'withdrawn' ? `log in again: ${loginCommand(authUrl)}` : undefined
}

function adviceWithLogin(explanation: Explanation, authUrl: string): string | undefined {
  const advice = whatToDo(explanation)
  return advice?.includes('log in again') === true ? `${advice} ${loginCommand(authUrl)}` : advice
}

/** Logs in, in a shell. */
export function loginCommand(authUrl: string, loginId = '...', password = '...'): string {
  return `curl -d loginId=${loginId} -d password=${password} ${authUrl}/tokenservice/token/api`
}

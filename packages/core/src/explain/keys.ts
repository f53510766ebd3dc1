import { type JsonObject, textMember } from '@portcullis/kit/json'

import {
  type AcceptedAlgorithms,
  type Algorithm,
  ALGORITHMS,
  purposesOf,
} from '../algorithms/algorithms.ts'
import { isKeyForTenant, type TenantRule } from '../claims/tenants.ts'
import {
  findCandidates,
  type KeyRing,
  type KeySource,
  type KeySourceMethods,
  methodsOf,
  type VerificationKey,
} from '../keys/key-source.ts'
import { type LocalKeysOptions, readEntry } from '../keys/local-keys.ts'
import { AuthError } from '../refusal/errors.ts'
import { numberOf, shown } from '../refusal/text.ts'
import { isSignedBy } from '../token/signature.ts'
import type { ParsedToken } from '../token/token.ts'
import { unproven } from '../verifier/key-search.ts'
import { failed, type Finding, passed, skipped } from './finding.ts'

// Findings about keys and the signature, for each of the sources that an explanation compares; and about an entry of a key document.

export interface HeldKeys {
  readonly name: string
  readonly source: KeySourceMethods
  readonly ring: KeyRing | AuthError
}

/** @throws The signal's reason. */
export async function heldBy({
  name,
  keys,
  tokenSize,
  signal,
}: {
  readonly name: string
  readonly keys: KeySource
  readonly tokenSize: number
  readonly signal: AbortSignal | undefined
}): Promise<HeldKeys> {
  const source = methodsOf(keys)
  const arrived = source.now()
  try {
    const ring = source.current(arrived) ?? (await source.wait({ arrived, tokenSize, signal }))
    return { name, source, ring }
  } catch (error) {
    if (error instanceof AuthError) return { name, source, ring: error }
    throw error
  }
}

export interface KeyFindings {
  readonly key: VerificationKey | undefined
  readonly refusal: AuthError | undefined
  /** Of the algorithm, the key and the signature. */
  readonly findings: readonly [Finding, Finding, Finding]
}

/** Without an algorithm that is accepted there is nothing to check with. */
export function notTried(algorithm: Finding, refusal?: AuthError): KeyFindings {
  const why = 'not checked: the algorithm is not accepted'
  return {
    key: undefined,
    refusal,
    findings: [algorithm, skipped('key', why), skipped('signature', why)],
  }
}

interface AlgorithmFound {
  readonly algorithm: Algorithm
  readonly accepted: AcceptedAlgorithms
  readonly finding: Finding
}

/** The tenants that a verifier accepts, and what the token says of its own. */
interface Tenants {
  readonly rule: TenantRule | undefined
  readonly claims: JsonObject | undefined
}

/** Looks for the key among the candidates that the verifier would try, and refuses as it does if there is none. */
export function prove(
  parsed: ParsedToken,
  { algorithm, accepted, finding }: AlgorithmFound,
  { source, ring }: HeldKeys,
  { rule, claims }: Tenants,
): KeyFindings {
  if (ring instanceof AuthError) {
    const signature = skipped('signature', 'not checked: no keys')
    return { key: undefined, refusal: ring, findings: [finding, failed('key', ring), signature] }
  }
  const kid = textMember(parsed.header, 'kid')
  const candidates = findCandidates(ring, { algorithm, kid }, accepted)
  const tried = candidates.length
  const makers = candidates.filter((each) => isSignedBy(each, algorithm, parsed))
  const key = makers.find(
    ({ issuer }) => rule === undefined || isKeyForTenant(issuer, claims, rule),
  )
  if (key !== undefined) {
    const findings = [passed('key', nameOf(key)), passed('signature', 'proven')] as const
    return { key, refusal: undefined, findings: [finding, ...findings] }
  }
  const arrived = source.now()
  const [other] = makers
  const refusal = unproven(
    { ring, kid, algorithm, accepted, why: undefined, arrived },
    other && rule && { issuer: other.issuer, template: rule.keyTemplate.text },
  )
  if (refusal.reason === 'algorithm') return notTried(failed('algorithm', refusal), refusal)
  if (tried === 0) {
    const signature = skipped('signature', 'not checked: no key')
    return { key, refusal, findings: [finding, failed('key', refusal), signature] }
  }
  const [only, ...others] = candidates.map(nameOf)
  const names = others.length === 0 ? String(only) : `${numberOf(tried, 'key')} to try`
  return { key, refusal, findings: [finding, passed('key', names), failed('signature', refusal)] }
}

function nameOf({ thumbprint, kid }: VerificationKey): string {
  const short = thumbprint.slice(0, 8)
  return kid === undefined || kid === thumbprint ? short : `${short}, kid ${shown(kid)}`
}

/** The key that made the signature with the algorithm that the header names, whatever a verifier accepts. */
export function makerOf(
  parsed: ParsedToken,
  algorithm: unknown,
  { ring }: HeldKeys,
): VerificationKey | undefined {
  if (ring instanceof AuthError) return undefined
  const named = [...ALGORITHMS.keys()].find((name) => name === algorithm)
  if (named === undefined) return undefined
  return ring.keys.find((key) => isSignedBy(key, named, parsed))
}

/** Whether a verifier can use one entry of a key document. */
export interface KeyExplanation {
  /** RFC 7638. `undefined` if the entry cannot be used. */
  readonly thumbprint: string | undefined
  /** What it verifies where a verifier states no `algorithms`: none if it cannot be used. */
  readonly algorithms: readonly Algorithm[]
  /** What a verifier can state in `algorithms` to have it verify that. */
  readonly listable: readonly Algorithm[]
  /** Why it cannot be used, in words; `undefined` if it can. */
  readonly unusable: string | undefined
}

/**
 * Says whether a verifier can use one entry of a key document, such as a member of the `keys` of a set, and why not. It is for
 * people who look at a document. For a source in use, `keys.status()` lists the entries that are skipped.
 *
 * @throws TypeError for a wrong or misspelt option.
 */
export function explainKey(entry: unknown, options: LocalKeysOptions = {}): KeyExplanation {
  const key = readEntry('explainKey', entry, options)
  return typeof key === 'string'
    ? { thumbprint: undefined, algorithms: [], listable: [], unusable: key }
    : {
        thumbprint: key.thumbprint,
        algorithms: purposesOf(key, undefined),
        listable: [...key.prepared.keys()],
        unusable: undefined,
      }
}

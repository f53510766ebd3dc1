import { type Algorithm, ALGORITHMS } from '../algorithms.ts'
import { otherSignature, unknownKey } from '../details/keys.ts'
import { numberOf, shown } from '../details/text.ts'
import { AuthError } from '../errors.ts'
import { textMember } from '../json.ts'
import {
  findCandidates,
  type KeyRing,
  type KeySource,
  type KeySourceMethods,
  methodsOf,
  type VerificationKey,
} from '../keys/key-source.ts'
import { isSignedBy } from '../signature.ts'
import type { ParsedToken } from '../token.ts'
import { failed, type Finding, passed, skipped } from './finding.ts'

/** The keys of a source at this moment, or why there are none. */
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

/** What keys make of a token. */
export interface Proof {
  readonly key: VerificationKey | undefined
  readonly refusal: AuthError | undefined
  /** Of the key, and of the signature. */
  readonly findings: readonly [Finding, Finding]
}

/** Without an algorithm that is accepted there is nothing to check with. */
export function notTried(): Proof {
  const why = 'not checked: the algorithm is not accepted'
  return {
    key: undefined,
    refusal: undefined,
    findings: [skipped('key', why), skipped('signature', why)],
  }
}

/** Looks for the key among the candidates that the verifier would try, and refuses as it does if there is none. */
export function prove(
  parsed: ParsedToken,
  algorithm: Algorithm,
  { source, ring }: HeldKeys,
): Proof {
  if (ring instanceof AuthError) {
    const findings = [failed('key', ring), skipped('signature', 'not checked: no keys')] as const
    return { key: undefined, refusal: ring, findings }
  }
  const kid = textMember(parsed.header, 'kid')
  const candidates = findCandidates(ring, algorithm, kid)
  const tried = candidates.length
  const key = candidates.find((each) => isSignedBy(each, algorithm, parsed))
  if (key !== undefined) {
    const findings = [passed('key', nameOf(key)), passed('signature', 'proven')] as const
    return { key, refusal: undefined, findings }
  }
  const doubt = { ring, kid, algorithm, tried, why: undefined, arrived: source.now() }
  if (tried === 0) {
    const refusal = new AuthError('invalid_token', 'unknown_key', unknownKey(doubt))
    const findings = [failed('key', refusal), skipped('signature', 'not checked: no key')] as const
    return { key, refusal, findings }
  }
  const refusal = new AuthError('invalid_token', 'signature', otherSignature(doubt))
  const [only, ...others] = candidates.map(nameOf)
  const names = others.length === 0 ? String(only) : `${numberOf(tried, 'key')} to try`
  return { key, refusal, findings: [passed('key', names), failed('signature', refusal)] }
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

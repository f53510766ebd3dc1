import { isJsonObject, member, parseJsonObject, textMember } from '@portcullis/kit/json'
import { checkOptions, isText, ownMembers } from '@portcullis/kit/options'

import { acceptedAlgorithms } from '../algorithms/accepted-algorithms.ts'
import { checkClaims } from '../claims/claims.ts'
import { isTenantRule } from '../claims/tenants.ts'
import { isKeySource, type KeySource, type VerificationKey } from '../keys/key-source.ts'
import { bindingOf, repeatsConfirmation } from '../possession/binding.ts'
import type { AuthError } from '../refusal/errors.ts'
import type { ParsedToken } from '../token/token.ts'
import { checkVerifierOptions, type VerifierOptions } from '../verifier/verifier-options.ts'
import { rulesOf } from '../verifier/verifier-parts.ts'
import { attemptBinding, bindingFindings, claimFindings } from './claims.ts'
import {
  attempt,
  type ExplainOptions,
  type Explanation,
  type Finding,
  type NamedKeys,
  type Verdict,
} from './finding.ts'
import { explainAlgorithm, explainForm, explainType } from './header.ts'
import { hintsOf, type Signer } from './hints.ts'
import { heldBy, type HeldKeys, type KeyFindings, makerOf, notTried, prove } from './keys.ts'
import { attemptRevocations, claimsInForm, revocationFindings } from './revocations.ts'

// The flow of an explanation: goes on after a failed check, where a verifier stops at the first refusal.

/**
 * Explains the verdict of `createVerifier(options).verify(token)`: the result of every check, and not only the first refusal.
 * It uses the same checks as a verifier.
 *
 * For people who look into their own tokens. It shows claims that are not proven, so do not use it to answer requests. It
 * does NOT run a schema, and does NOT fetch newer keys when a signature does not match: pass a new `remoteKeys` to have fresh
 * keys. It asks the revocations about each token that a key proves.
 *
 * @param options The options of `createVerifier`; `remember` is ignored. For `byIssuer`, use the options of the verifier of
 *   that issuer.
 * @throws TypeError for a wrong option; the signal's reason.
 */
export async function explain(
  token: string,
  options: VerifierOptions,
  explainOptions: ExplainOptions = {},
): Promise<Explanation> {
  checkVerifierOptions(options)
  checkExplainOptions(explainOptions)
  const stated = ownMembers(options)
  acceptedAlgorithms(stated.algorithms)
  const { keysInHand, otherKeys = [], possession, signal } = ownMembers(explainOptions)
  const form = explainForm(token, stated)
  if (form.refusal !== undefined) return unreadable(form, keysInHand)
  const held = async (name: string, source: KeySource) =>
    await heldBy({ name, keys: source, tokenSize: token.length, signal })
  const [keys, inHand, ...others] = await Promise.all([
    held('keys', stated.keys),
    keysInHand && held('keysInHand', keysInHand),
    ...otherKeys.map(async (each) => await held(each.name, each.keys)),
  ])
  return await explainParsed(form.value, form.finding, stated, {
    token,
    keys,
    inHand,
    others,
    possession,
    signal,
  })
}

interface AllKeys {
  readonly keys: HeldKeys
  readonly inHand: HeldKeys | undefined
  readonly others: readonly HeldKeys[]
}

async function explainParsed(
  parsed: ParsedToken,
  form: Finding,
  options: VerifierOptions,
  all: AllKeys & Pick<ExplainOptions, 'possession' | 'signal'> & { readonly token: string },
): Promise<Explanation> {
  const now = options.clock === undefined ? all.keys.source.now().wall : options.clock.now()
  const rules = rulesOf(options)
  const algorithm = explainAlgorithm(parsed, options)
  const claims = parseJsonObject(parsed.payload)
  const proveWith = (held: HeldKeys) =>
    algorithm.value === undefined
      ? notTried(algorithm.finding)
      : prove(
          parsed,
          { algorithm: algorithm.value, accepted: options.algorithms, finding: algorithm.finding },
          held,
          { rule: isTenantRule(rules.issuer) ? rules.issuer : undefined, claims },
        )
  const found = proveWith(all.keys)
  const inHand = all.inHand && proveWith(all.inHand)
  const type = explainType(parsed, options, claims)
  // The verdict on claims is that of the whole step, whatever the findings are. Their kind was judged with `typ`.
  const { refusal } = attempt(() => checkClaims(parsed.payload, rules, now, true))
  const binding = claims && bindingOf(claims, repeatsConfirmation(claims, parsed.payload))
  const bound = attemptBinding(claims, binding, all.possession, options)
  const isProven = found.key !== undefined
  const askable = claimsInForm(claims, rules, now)
  const revoked = await attemptRevocations(options, {
    claims: isProven || inHand?.key !== undefined ? askable : undefined,
    token: all.token,
    now,
    signal: all.signal,
  })
  const later = type.refusal ?? refusal ?? bound.refusal ?? revoked.refusal
  const verdictWith = (each: KeyFindings) => verdictOf(algorithm.refusal ?? each.refusal ?? later)
  const signer = signerOf(parsed, { algorithm: algorithm.named, found }, all)
  return {
    ...verdictWith(found),
    inHand: inHand && verdictWith(inHand),
    findings: [
      form,
      ...found.findings,
      type.finding,
      ...claimFindings(claims, rules, now),
      ...bindingFindings(binding, options, bound),
      ...revocationFindings(options, isProven ? askable : undefined, revoked.refusal),
    ],
    hints: hintsOf({
      isProven,
      isProvenInHand: inHand && inHand.key !== undefined,
      isAlgorithmAccepted: algorithm.value !== undefined && found.refusal?.reason !== 'algorithm',
      alg: member(parsed.header, 'alg'),
      kid: textMember(parsed.header, 'kid'),
      signer,
      ring: all.keys.ring,
      claims,
      refusedBinding: bound.refusal && binding,
    }),
    signer,
    header: parsed.header,
    provenClaims: isProven ? claims : undefined,
    unprovenClaims: isProven ? undefined : claims,
  }
}

function unreadable(
  { finding, refusal }: { finding: Finding; refusal: AuthError },
  keysInHand: KeySource | undefined,
): Explanation {
  return {
    ...verdictOf(refusal),
    inHand: keysInHand && verdictOf(refusal),
    findings: [finding],
    hints: [],
    signer: undefined,
    header: undefined,
    provenClaims: undefined,
    unprovenClaims: undefined,
  }
}

function verdictOf(refusal: AuthError | undefined): Verdict {
  if (refusal === undefined) return { verdict: 'accepted', refusal }
  return { verdict: refusal.status === 503 ? 'undecided' : 'refused', refusal }
}

function signerOf(
  parsed: ParsedToken,
  { algorithm, found }: { readonly algorithm: unknown; readonly found: KeyFindings },
  { keys, inHand, others }: AllKeys,
): Signer | undefined {
  if (found.key !== undefined) return signerIn(keys, found.key)
  const places = [keys, ...(inHand === undefined ? [] : [inHand]), ...others]
  for (const place of places) {
    const key = makerOf(parsed, algorithm, place)
    if (key !== undefined) return signerIn(place, key)
  }
  return undefined
}

function signerIn({ name }: HeldKeys, { thumbprint, kid }: VerificationKey): Signer {
  return { thumbprint, kid, foundIn: name }
}

function checkExplainOptions(options: ExplainOptions): void {
  checkOptions('explain', options, {
    keysInHand: isKeySource,
    otherKeys: (value) =>
      Array.isArray(value) && value.every(isNamed)
        ? haveOwnNames(value)
        : 'must be a list of { name, keys }',
    possession: (value) => (isJsonObject(value) ? undefined : 'must be an object'),
    signal: (value) => (value instanceof AbortSignal ? undefined : 'must be an AbortSignal'),
  })
}

/** A {@link Signer} is said to be found in one place. */
function haveOwnNames(named: readonly NamedKeys[]): string | undefined {
  const names = ['keys', 'keysInHand', ...named.map(({ name }) => name)]
  return new Set(names).size === names.length
    ? undefined
    : 'must have different names, and neither keys nor keysInHand'
}

function isNamed(value: unknown): value is NamedKeys {
  const members = Object(value) as object // of a value without members, an object that has none
  return (
    isText(Reflect.get(members, 'name')) === undefined &&
    isKeySource(Reflect.get(members, 'keys')) === undefined
  )
}

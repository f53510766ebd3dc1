import { acceptedAlgorithms, algorithmNamesOf } from '../algorithms/accepted-algorithms.ts'
import type { Auth, Claims, Header } from '../claims/auth.ts'
import { checkClaims, checkTimes, checkType, isTimely } from '../claims/claims.ts'
import type { Possession } from '../claims/possession.ts'
import { applySchema } from '../claims/schema.ts'
import { isRecorded, signedClaims } from '../claims/signed-claims.ts'
import { textMember } from '../ground/json.ts'
import { own, ownMembers } from '../ground/options.ts'
import { systemClock } from '../ground/time.ts'
import { withdrawnKey } from '../keys/details.ts'
import { type Caller, type KeyRing, methodsOf } from '../keys/key-source.ts'
import { bindingOf, checkBinding, possessionOf } from '../possession/binding.ts'
import { AuthError } from '../refusal/errors.ts'
import { verdicts } from '../report/diagnostics.ts'
import { createRevocationCheck } from '../revocation/revocation-check.ts'
import { notText } from '../token/details.ts'
import { observed, type VerdictRecord } from './observed-verdict.ts'
import { setOwnVerifier } from './own-verifiers.ts'
import { createProver } from './prover.ts'
import { setRecall } from './recall.ts'
import { setRevocationWatch } from './revocation-watch.ts'
import { confirmProof, createVerifiedTokens, type Proof } from './verified-tokens.ts'
import {
  checkVerifierOptions,
  rulesOf,
  type SchemaOptions,
  typesOf,
  type VerifierOptions,
} from './verifier-options.ts'

export interface VerifyOptions {
  /** Ends the wait of this caller for keys or revocations. Other callers still wait. */
  signal?: AbortSignal | undefined
  /** What the sender of the token has proven to have. A token that is bound to anything else is refused. */
  possession?: Possession | undefined
}

export interface Verifier<ClaimsType = Claims> {
  /**
   * Verifies one access token and returns what it proves.
   *
   * Checks form, algorithm, key and signature, then typ, exp, nbf, iat, iss, aud and cnf, in this order; then the schema and
   * the revocations, if there are any. Does NOT check scopes (see `scope`).
   *
   * @param token Compact JWS, without the `Bearer ` prefix.
   * @throws AuthError `invalid_token` with a reason; `keys_unavailable` or `revocation_unavailable` if there is no verdict at
   *   the moment; the signal's reason.
   * @see RFC 7519 section 7.2; RFC 8725 section 3; RFC 7800 section 3.1
   */
  verify(token: string, options?: VerifyOptions): Promise<Auth<ClaimsType>>
  /**
   * Resolves when there are keys, and the revocations can answer. Call it at start-up and in readiness probes. It makes at
   * most one attempt to fetch keys.
   *
   * @throws AuthError `keys_unavailable`; or `revocation_unavailable`, whose cause is the error of the `ready` of the
   *   revocations.
   */
  ready(): Promise<void>
}

/**
 * Creates the verifier of one API. `keys`, `issuer` and `audience` must be stated, because it is dangerous to forget them.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 */
export function createVerifier<Output>(
  options: VerifierOptions & SchemaOptions<Output>,
): Verifier<Output>
export function createVerifier(options: VerifierOptions): Verifier
export function createVerifier(
  options: VerifierOptions & Partial<SchemaOptions<unknown>>,
): Verifier<unknown> {
  checkVerifierOptions(options)
  const stated = ownMembers(options)
  const keys = methodsOf(stated.keys)
  const {
    maxTokenSize = 16_384,
    remember = { max: 1000 },
    confirmation = 'require',
    clock,
    schema,
  } = stated
  const revocations =
    stated.revocations && createRevocationCheck(stated.revocations, clock ?? systemClock)
  /** Whether nothing is asked of functions of the user's. */
  const isFinal = schema === undefined && revocations === undefined
  const accepted = acceptedAlgorithms(stated.algorithms)
  const rules = rulesOf(stated)
  const types = typesOf(stated)
  const now = clock === undefined ? () => keys.now().wall : () => clock.now()
  const prove = createProver({
    keys,
    accepted,
    algorithmNames: algorithmNamesOf(stated.algorithmNames),
    maxTokenSize,
    rules,
    types,
    now,
  })
  const verifiedTokens = remember === false ? undefined : createVerifiedTokens(remember.max)

  function verify(token: string, verifyOptions?: VerifyOptions): Promise<Auth<unknown>> {
    if (!verdicts.isObserved()) return judge(token, verifyOptions)
    const judged = async (record: VerdictRecord) => await judge(token, verifyOptions, record)
    return observed(verifier, judged, clock ?? systemClock)
  }

  async function judge(
    token: string,
    verifyOptions: VerifyOptions | undefined,
    record?: VerdictRecord,
  ): Promise<Auth<unknown>> {
    // A caller without types may pass anything.
    if (typeof token !== 'string') {
      throw new AuthError('invalid_token', 'malformed', notText(token))
    }
    const arrived = keys.now()
    const { signal, possession } = readOptions(verifyOptions)
    const caller = { arrived, tokenSize: token.length, signal }
    const known = verifiedTokens?.find(token)
    if (known !== undefined) {
      const ring = keys.current(arrived)
      if (confirmProof(known, ring ?? (await keys.wait(caller)), accepted)) {
        if (record !== undefined) record.remembered = true
        // Reading a clock costs as much as finding the token, so it is read once where that is enough.
        const isCurrent = ring !== undefined && clock === undefined
        checkAgain(known, isCurrent ? arrived.wall : now())
        const auth = checkBinding(known.auth, known.binding, possession, confirmation)
        return isFinal ? auth : await finish(known, auth, caller)
      }
      verifiedTokens?.forget(token)
    }
    const { reading, key, foundIn } = await prove(token, caller)
    const { parsed, algorithm } = reading
    checkType(textMember(parsed.header, 'typ'), types)
    const claims = checkClaims(parsed.payload, rules, now())
    const auth: Auth = Object.freeze({
      claims,
      header: parsed.header as Header /* `checkAlgorithm` has found its `alg` */,
      token,
    })
    const proof = { auth, algorithm, key, foundIn, binding: bindingOf(claims, parsed.payload) }
    // One that is refused from here on is remembered as well: to refuse it again costs no signature check.
    verifiedTokens?.remember(proof)
    const bound = checkBinding(auth, proof.binding, possession, confirmation)
    return isFinal ? bound : await finish(proof, bound, caller)
  }

  /** What is asked at each use. The revocations come last: a schema may take its time, and a token be revoked meanwhile. */
  async function finish(proof: Proof, auth: Auth, caller: Caller): Promise<Auth<unknown>> {
    const result = schema === undefined ? auth : await applySchema(schema, auth)
    let ring = keys.current(keys.now())
    do {
      const time = checkStill(proof, ring ?? (await keys.wait(caller)))
      const answered = revocations?.check(auth.claims, time, caller.signal)
      if (answered === undefined) return result
      await answered
      // If keys have to be waited for once more, the answer will be too old, and is asked for again.
      ring = keys.current(keys.now())
    } while (ring === undefined)
    checkStill(proof, ring)
    return result
  }

  /** After a wait: the key may have left since, and the token have expired. */
  function checkStill(proof: Proof, ring: KeyRing): number {
    if (!confirmProof(proof, ring, accepted)) {
      throw new AuthError('invalid_token', 'signature', withdrawnKey)
    }
    const time = now()
    checkAgain(proof, time)
    return time
  }

  /** What time alone can change about a token that was accepted before. */
  function checkAgain({ auth }: Proof, time: number): void {
    try {
      checkTimes(auth.claims, rules, time)
    } catch (error) {
      verifiedTokens?.forget(auth.token)
      throw error
    }
  }

  async function ready(): Promise<void> {
    const arrived = keys.now()
    if (keys.current(arrived) === undefined) {
      await keys.wait({ arrived, tokenSize: 0, signal: undefined })
    }
    await revocations?.ready()
  }

  setOwnVerifier(verify, {
    checksIssuer: (issuer) => rules.issuer?.includes(issuer) === true,
    maxTokenSize,
  })
  // A guard that subscribers observe, or whose schema may take its time, has `verify` asked about each token.
  setRecall(verify, (token) => {
    if (schema !== undefined || verdicts.isObserved()) return undefined
    const known = verifiedTokens?.find(token)
    // What a token is bound to is compared with what its sender has proven, which nobody knows here. Where it need not be proven,
    // the `Auth` says all the same that it was.
    if (known === undefined || known.binding !== undefined) return undefined
    const arrived = keys.now()
    const ring = keys.current(arrived)
    if (ring === undefined || !confirmProof(known, ring, accepted)) return undefined
    const { claims } = known.auth
    const time = clock === undefined ? arrived.wall : now()
    const isAccepted =
      isTimely(claims, rules, time) && revocations?.isValidNow(claims, time) !== false
    return isAccepted ? known.auth : undefined
  })
  if (revocations !== undefined) {
    setRevocationWatch(verify, (auth, listener) => {
      const look = () => {
        // Of a copy that somebody has made of an `Auth`, nobody knows what the schema removed.
        const isKnown = schema === undefined || isRecorded(auth)
        if (!isKnown || !revocations.isValidNow(signedClaims(auth), now())) listener()
      }
      const end = revocations.subscribe(look)
      look()
      return { renew() {}, end }
    })
  }
  const verifier: Verifier<unknown> = { verify, ready }
  return verifier
}

/** Own members: a polluted prototype must neither end anybody's wait nor prove anything. */
function readOptions(options: VerifyOptions | undefined): VerifyOptions {
  if (options === undefined) return NO_OPTIONS
  return { signal: own(options, 'signal'), possession: possessionOf(own(options, 'possession')) }
}

const NO_OPTIONS: VerifyOptions = Object.freeze({ signal: undefined, possession: undefined })

import { algorithmNamesOf, checkAlgorithmList } from './algorithms.ts'
import type { Auth, Claims, Header } from './auth.ts'
import { checkClaims, checkTimes, checkType, type ClaimRules, isTimely } from './claims.ts'
import { withdrawnKey } from './details/keys.ts'
import { notText } from './details/token.ts'
import { verdicts } from './diagnostics.ts'
import { AuthError } from './errors.ts'
import { textMember } from './json.ts'
import type { Caller, KeyRing } from './keys/key-source.ts'
import { observed, type VerdictRecord } from './observed-verdict.ts'
import { ownMembers } from './options.ts'
import { setOwnVerifier } from './own-verifiers.ts'
import type { Possession } from './possession.ts'
import { createProver } from './prover.ts'
import { setRecall } from './recall.ts'
import { createRevocationCheck } from './revocation-check.ts'
import { setRevocationWatch } from './revocation-watch.ts'
import { applySchema } from './schema.ts'
import { systemClock } from './time.ts'
import { confirmProof, createVerifiedTokens, type Proof } from './verified-tokens.ts'
import {
  checkVerifierOptions,
  type SchemaOptions,
  type VerifierOptions,
} from './verifier-options.ts'

export interface VerifyOptions {
  /** Ends this caller's wait for keys or revocations; what others wait for goes on. */
  signal?: AbortSignal | undefined
  /** What the sender of the token has proven to possess. A token that is bound to anything else is refused. */
  possession?: Possession | undefined
}

export interface Verifier<ClaimsType = Claims> {
  /**
   * Verifies one access token and returns what it proves.
   *
   * Checks form, algorithm, key and signature, then typ, exp, nbf, iat, iss and aud, in that order; at last the schema and
   * the revocations, where there are any. Does NOT check scopes (see `scope`).
   *
   * @param token Compact JWS, without the `Bearer ` prefix.
   * @throws AuthError `invalid_token` with a reason; `keys_unavailable` or `revocation_unavailable` if it cannot be told; the
   *   signal's reason.
   * @see RFC 7519 section 7.2; RFC 8725 section 3
   */
  verify(token: string, options?: VerifyOptions): Promise<Auth<ClaimsType>>
  /**
   * Resolves when there are keys to judge tokens by, and the revocations can answer: for start-up and readiness probes. Makes
   * at most one attempt to fetch keys.
   *
   * @throws AuthError `keys_unavailable`, or `revocation_unavailable` with what the `ready` of the revocations threw as cause.
   */
  ready(): Promise<void>
}

/**
 * Creates the verifier of one API. What would be dangerous to leave out has no default.
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
  const own = ownMembers(options)
  const {
    keys,
    algorithms = ['RS512'],
    type,
    maxTokenSize = 16_384,
    remember = { max: 1000 },
    clock,
    schema,
  } = own
  const revocations =
    own.revocations && createRevocationCheck(own.revocations, clock ?? systemClock)
  /** Whether nothing is asked of functions of the user's. */
  const isFinal = schema === undefined && revocations === undefined
  const rules = rulesOf(own)
  const now = clock === undefined ? () => keys.now().wall : () => clock.now()
  const prove = createProver({
    keys,
    algorithms: checkAlgorithmList(algorithms),
    algorithmNames: algorithmNamesOf(own.algorithmNames),
    maxTokenSize,
    rules,
    type,
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
    const caller = { arrived, tokenSize: token.length, signal: signalOf(verifyOptions) }
    const known = verifiedTokens?.find(token)
    if (known !== undefined) {
      const ring = keys.current(arrived)
      if (confirmProof(known, ring ?? (await keys.wait(caller)))) {
        if (record !== undefined) record.remembered = true
        // Reading a clock costs as much as finding the token, so it is read once where that is enough.
        const isCurrent = ring !== undefined && clock === undefined
        checkAgain(known, isCurrent ? arrived.wall : now())
        return isFinal ? known.auth : await finish(known, caller)
      }
      verifiedTokens?.forget(token)
    }
    const { reading, key, foundIn } = await prove(token, caller)
    const { parsed, algorithm } = reading
    checkType(textMember(parsed.header, 'typ'), type)
    const auth: Auth = Object.freeze({
      claims: checkClaims(parsed.payload, rules, now()),
      header: parsed.header as Header /* `checkAlgorithm` has found its `alg` */,
      token,
    })
    const proof = { auth, algorithm, key, foundIn }
    // One that is revoked is remembered as well: to refuse it again costs no signature check.
    verifiedTokens?.remember(proof)
    return isFinal ? auth : await finish(proof, caller)
  }

  /** What is asked at each use. The revocations come last: a schema may take its time, and a token be revoked meanwhile. */
  async function finish(proof: Proof, caller: Caller): Promise<Auth<unknown>> {
    const { auth } = proof
    const result =
      schema === undefined
        ? auth
        : Object.freeze({ ...auth, claims: await applySchema(schema, auth.claims) })
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
    if (!confirmProof(proof, ring)) {
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
    if (known === undefined) return undefined
    const arrived = keys.now()
    const ring = keys.current(arrived)
    if (ring === undefined || !confirmProof(known, ring)) return undefined
    const { claims } = known.auth
    const time = clock === undefined ? arrived.wall : now()
    const isAccepted =
      isTimely(claims, rules, time) && revocations?.isValidNow(claims, time) !== false
    return isAccepted ? known.auth : undefined
  })
  if (revocations !== undefined) {
    setRevocationWatch(verify, (auth, listener) => {
      const look = () => {
        // A schema may have changed what a token is known by.
        const isValid = schema === undefined && revocations.isValidNow(auth.claims as Claims, now())
        if (!isValid) listener()
      }
      const end = revocations.subscribe(look)
      look()
      return { renew() {}, end }
    })
  }
  const verifier: Verifier<unknown> = { verify, ready }
  return verifier
}

export function rulesOf({
  issuer,
  audience,
  clockTolerance = 5,
  requireExpiry = true,
  maxTokenAge,
  requiredClaims = [],
}: VerifierOptions): ClaimRules {
  return {
    issuer: listed(issuer),
    audience: listed(audience),
    clockTolerance,
    requireExpiry,
    maxTokenAge,
    requiredClaims: [...requiredClaims],
  }
}

/** An own member: a polluted prototype must not end anybody's wait. */
function signalOf(options: VerifyOptions | undefined): AbortSignal | undefined {
  return options !== undefined && Object.hasOwn(options, 'signal') ? options.signal : undefined
}

function listed(value: string | readonly string[] | null): readonly string[] | null {
  return value === null ? null : [value].flat()
}

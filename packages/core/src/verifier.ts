import { algorithmNamesOf, checkAlgorithmList } from './algorithms.ts'
import type { Auth, Claims, Header } from './auth.ts'
import { checkClaims, checkTimes, checkType, type ClaimRules, isTimely } from './claims.ts'
import { withdrawnKey } from './details/keys.ts'
import { notText } from './details/token.ts'
import { verdictMessage, verdicts } from './diagnostics.ts'
import { AuthError } from './errors.ts'
import { textMember } from './json.ts'
import type { Caller } from './keys/key-source.ts'
import { ownMembers } from './options.ts'
import { setOwnVerifier } from './own-verifiers.ts'
import { createProver } from './prover.ts'
import { setRecall } from './recall.ts'
import { applySchema, type Schema } from './schema.ts'
import { type Clock, systemClock } from './time.ts'
import { createVerifiedTokens, isProvenBy, type Proof } from './verified-tokens.ts'
import {
  checkVerifierOptions,
  type SchemaOptions,
  type VerifierOptions,
} from './verifier-options.ts'

export interface VerifyOptions {
  /** Ends this caller's wait for keys; what others wait for goes on. */
  signal?: AbortSignal | undefined
}

export interface Verifier<ClaimsType = Claims> {
  /**
   * Verifies one access token and returns what it proves.
   *
   * Checks form, algorithm, key and signature, then typ, exp, nbf, iat, iss and aud, in that order.
   * Does NOT check scopes (see `scope`) or revocation.
   *
   * @param token Compact JWS, without the `Bearer ` prefix.
   * @throws AuthError `invalid_token` with a reason; `keys_unavailable` if it cannot be told; the signal's reason.
   * @see RFC 7519 section 7.2; RFC 8725 section 3
   */
  verify(token: string, options?: VerifyOptions): Promise<Auth<ClaimsType>>
  /**
   * Resolves when there are keys to judge tokens by: for start-up and readiness probes. Makes at most one attempt.
   *
   * @throws AuthError `keys_unavailable`
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
      if (isProvenBy(known, ring ?? (await keys.wait(caller)))) {
        if (record !== undefined) record.remembered = true
        // Reading a clock costs as much as finding the token, so it is read once where that is enough.
        const isCurrent = ring !== undefined && clock === undefined
        checkAgain(known, isCurrent ? arrived.wall : now())
        return schema === undefined ? known.auth : await withSchema(known, schema, caller)
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
    verifiedTokens?.remember(proof)
    return schema === undefined ? auth : await withSchema(proof, schema, caller)
  }

  async function withSchema<Output>(
    proof: Proof,
    validator: Schema<Output>,
    caller: Caller,
  ): Promise<Auth<Output>> {
    const claims = await applySchema(validator, proof.auth.claims)
    // A schema may take its time: the key may have left since, and the token have expired.
    const ring = keys.current(keys.now()) ?? (await keys.wait(caller))
    if (!isProvenBy(proof, ring)) {
      throw new AuthError('invalid_token', 'signature', withdrawnKey)
    }
    checkAgain(proof, now())
    return Object.freeze({ ...proof.auth, claims })
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
    const isAccepted =
      ring !== undefined &&
      isProvenBy(known, ring) &&
      isTimely(known.auth.claims, rules, clock === undefined ? arrived.wall : now())
    return isAccepted ? known.auth : undefined
  })
  const verifier: Verifier<unknown> = { verify, ready }
  return verifier
}

function rulesOf({
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

/** How a token came to its verdict, for diagnostics. */
interface VerdictRecord {
  remembered: boolean
}

/** An own member: a polluted prototype must not end anybody's wait. */
function signalOf(options: VerifyOptions | undefined): AbortSignal | undefined {
  return options !== undefined && Object.hasOwn(options, 'signal') ? options.signal : undefined
}

/** Publishes acceptances and refusals. An aborted wait is neither. */
async function observed(
  verifier: object,
  judged: (record: VerdictRecord) => Promise<Auth<unknown>>,
  clock: Clock,
): Promise<Auth<unknown>> {
  const start = clock.monotonic()
  const record = { remembered: false }
  const publish = (error?: AuthError) => {
    const duration = clock.monotonic() - start
    verdicts.publish(() => verdictMessage({ verifier, ...record, duration }, error))
  }
  try {
    const auth = await judged(record)
    publish()
    return auth
  } catch (error) {
    if (error instanceof AuthError) publish(error)
    throw error
  }
}

function listed(value: string | readonly string[] | null): readonly string[] | null {
  return value === null ? null : [value].flat()
}

import { type Algorithm, checkAlgorithm, checkAlgorithmList } from './algorithms.ts'
import type { Auth, Claims, Header } from './auth.ts'
import { checkClaims, checkType, type ClaimRules, couldBeAccepted, isOfType } from './claims.ts'
import { verdicts } from './diagnostics.ts'
import { AuthError } from './errors.ts'
import { member } from './json.ts'
import { type Caller, findCandidates, type KeyRing, type KeySource } from './keys/key-source.ts'
import {
  checkOptions,
  hasMethods,
  isBoolean,
  isClock,
  isText,
  isTextList,
  type OptionCheck,
  seconds,
} from './options.ts'
import { applySchema, type Schema } from './schema.ts'
import { isSignedBy } from './signature.ts'
import { type Clock, systemClock } from './time.ts'
import { type ParsedToken, parseToken } from './token.ts'

export interface VerifierOptions {
  /** Where the public keys come from: `remoteKeys(url)` or `localKeys(jwk)`. */
  keys: KeySource
  /**
   * The accepted values of `iss`; `null` accepts any, and none.
   * @see RFC 8725 section 3.8
   */
  issuer: string | readonly string[] | null
  /**
   * The values of `aud` that mean this API; `null` accepts any, and none.
   * @see RFC 8725 section 3.9
   */
  audience: string | readonly string[] | null
  /**
   * The accepted signature algorithms.
   * @default ['RS512']
   * @see RFC 8725 section 3.1
   */
  algorithms?: readonly Algorithm[] | undefined
  /**
   * How far the issuer's clock may differ from ours when judging exp, nbf and iat. Seconds, 0 to 600.
   * @default 5
   * @see RFC 7519 section 4.1.4
   */
  clockTolerance?: number | undefined
  /**
   * Whether a token without `exp` is refused. If not, it is valid for as long as its key.
   * @default true
   */
  requireExpiry?: boolean | undefined
  /** The longest time since `iat`, in seconds; `iat` is then required. */
  maxTokenAge?: number | undefined
  /** Names of claims that every token must have, with whatever value. */
  requiredClaims?: readonly string[] | undefined
  /**
   * The media type that the header's `typ` must name, such as `at+jwt`.
   * @see RFC 8725 section 3.11; RFC 9068 section 4
   */
  type?: string | undefined
  /**
   * The longest token that is looked at. Octets, at most 65536.
   * @default 16384
   */
  maxTokenSize?: number | undefined
  clock?: Clock | undefined
}

export interface SchemaOptions<Output> {
  /**
   * Checks and types the claims, once everything else holds. Runs at each use: what it makes of the claims is neither
   * shared nor frozen. Requirements see that as well, so it should keep the scope.
   */
  schema: Schema<Output>
}

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
  const {
    keys,
    issuer,
    audience,
    algorithms = ['RS512'],
    clockTolerance = 5,
    requireExpiry = true,
    maxTokenAge,
    requiredClaims = [],
    type,
    maxTokenSize = 16_384,
    clock = systemClock,
    schema,
  } = options
  const allowed = checkAlgorithmList(algorithms)
  const rules: ClaimRules = {
    issuer: listed(issuer),
    audience: listed(audience),
    clockTolerance,
    requireExpiry,
    maxTokenAge,
    requiredClaims: [...requiredClaims],
  }

  async function verify(token: string, verifyOptions: VerifyOptions = {}): Promise<Auth<unknown>> {
    return verdicts.isObserved()
      ? await observed(async () => await judge(token, verifyOptions))
      : await judge(token, verifyOptions)
  }

  async function judge(token: string, { signal }: VerifyOptions): Promise<Auth<unknown>> {
    const parsed = parseToken(token, maxTokenSize)
    // Before the keys: a bad algorithm must not cost a fetch.
    const algorithm = checkAlgorithm(member(parsed.header, 'alg'), allowed)
    await prove(token, parsed, algorithm, signal)
    checkType(parsed.header.typ, type)
    const proven = checkClaims(parsed.encodedPayload, rules, clock.now())
    const claims = schema === undefined ? proven : await applySchema(schema, proven)
    return Object.freeze({
      claims,
      header: parsed.header as Header /* `checkAlgorithm` has found its `alg` */,
      token,
    })
  }

  /** Steps 3 and 4: resolves if a trusted key made the signature. */
  async function prove(
    token: string,
    parsed: ParsedToken,
    algorithm: Algorithm,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const caller: Caller = { arrived: keys.now(), tokenSize: token.length, signal }
    const candidates = (ring: KeyRing) => findCandidates(ring, algorithm, parsed.header.kid)
    const findProof = (ring: KeyRing) =>
      candidates(ring).find((key) => isSignedBy(key, algorithm, parsed))
    const ring = await keys.current(caller)
    if (findProof(ring) !== undefined) return
    const couldBe = () =>
      isOfType(parsed.header.typ, type) &&
      couldBeAccepted(parsed.encodedPayload, rules, clock.now())
    const suspicion = { token, ring, couldBeAccepted: couldBe, findProof }
    if ((await keys.suspect(suspicion, caller)) !== undefined) return
    const reason = candidates(ring).length === 0 ? 'unknown_key' : 'signature'
    throw new AuthError('invalid_token', reason)
  }

  async function ready(): Promise<void> {
    await keys.current({ arrived: keys.now(), tokenSize: 0, signal: undefined })
  }

  /** Publishes the verdict. What is no verdict, such as the end of a caller's patience, is not one there either. */
  async function observed(judgement: () => Promise<Auth<unknown>>): Promise<Auth<unknown>> {
    const start = clock.monotonic()
    const publish = (error?: AuthError) => {
      const duration = clock.monotonic() - start
      const { code, reason } = error ?? {}
      verdicts.publish(() => ({ verifier, code, reason, remembered: false, duration }))
    }
    try {
      const auth = await judgement()
      publish()
      return auth
    } catch (error) {
      if (error instanceof AuthError) publish(error)
      throw error
    }
  }

  const verifier: Verifier<unknown> = { verify, ready }
  return verifier
}

function listed(value: string | readonly string[] | null): readonly string[] | null {
  return value === null ? null : [value].flat()
}

const oneOrMore: OptionCheck = (value) =>
  value === null || isText(value) === undefined || isTextList(value) === undefined
    ? undefined
    : 'must be a string, a list of strings, or null to accept any'

function checkVerifierOptions(options: VerifierOptions): void {
  checkOptions('createVerifier', options, {
    keys: (value) =>
      hasMethods(value, 'now', 'current', 'suspect')
        ? undefined
        : 'must be a key source, such as remoteKeys(url)',
    issuer: oneOrMore,
    audience: oneOrMore,
    algorithms: () => undefined, // `checkAlgorithmList` knows the names
    clockTolerance: seconds(0, 600),
    requireExpiry: isBoolean,
    maxTokenAge: seconds(1, 315_360_000),
    requiredClaims: isTextList,
    type: isText,
    maxTokenSize: (value) =>
      Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 65_536
        ? undefined
        : 'must be a number of octets from 1 to 65536',
    clock: isClock,
    schema: (value) =>
      hasMethods(Reflect.get(Object(value), '~standard'), 'validate')
        ? undefined
        : 'must be a validator of the Standard Schema specification',
  })
  if (options.keys === undefined) throw new TypeError('createVerifier: keys must be stated')
  for (const name of ['issuer', 'audience'] as const) {
    if (options[name] === undefined) {
      throw new TypeError(`createVerifier: ${name} must be stated, null to accept any`)
    }
  }
}

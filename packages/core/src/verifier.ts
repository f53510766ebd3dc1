import {
  type Algorithm,
  algorithmNamesOf,
  checkAlgorithm,
  checkAlgorithmList,
  isAlgorithmNames,
} from './algorithms.ts'
import type { Auth, Claims, Header } from './auth.ts'
import {
  checkClaims,
  checkTimes,
  checkType,
  type ClaimRules,
  couldBeAccepted,
  isOfType,
} from './claims.ts'
import { verdicts } from './diagnostics.ts'
import { AuthError } from './errors.ts'
import { isJsonObject, member } from './json.ts'
import {
  type Caller,
  findCandidates,
  type KeyRing,
  type KeySource,
  type Suspicion,
  type VerificationKey,
} from './keys/key-source.ts'
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
import { createSignatureCheck } from './signature.ts'
import { type Clock, systemClock } from './time.ts'
import { createHeaderCache, type ParsedToken, parseToken } from './token.ts'
import { createVerifiedTokens, isProvenBy, type Proof } from './verified-tokens.ts'

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
   * Other names of algorithms that headers state, such as `{ RSA512: 'RS512' }`. For keys that state them there is the
   * same option of the key sources.
   * @default none
   */
  algorithmNames?: Readonly<Record<string, Algorithm>> | undefined
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
  /**
   * How many verified tokens are remembered, fewer if they have more than 2048 characters on average, so that one which
   * comes again costs no signature check. Its key and its times are checked all the same. `false` turns it off.
   * @default { max: 1000 }
   */
  remember?: { readonly max: number } | false | undefined
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
    remember = { max: 1000 },
    clock = systemClock,
    schema,
  } = options
  const allowed = checkAlgorithmList(algorithms)
  const algorithmNames = algorithmNamesOf(options.algorithmNames)
  const rules: ClaimRules = {
    issuer: listed(issuer),
    audience: listed(audience),
    clockTolerance,
    requireExpiry,
    maxTokenAge,
    requiredClaims: [...requiredClaims],
  }
  const headers = createHeaderCache()
  const verifiedTokens = remember === false ? undefined : createVerifiedTokens(remember.max)
  const isSignedBy = createSignatureCheck()

  function verify(token: string, verifyOptions: VerifyOptions = {}): Promise<Auth<unknown>> {
    return verdicts.isObserved() ? observed(token, verifyOptions) : judge(token, verifyOptions)
  }

  async function judge(
    token: string,
    { signal }: VerifyOptions,
    course?: Course,
  ): Promise<Auth<unknown>> {
    // A caller without types may pass anything.
    if (typeof token !== 'string') throw new AuthError('invalid_token', 'malformed')
    const caller = { arrived: keys.now(), tokenSize: token.length, signal }
    const known = verifiedTokens?.find(token)
    if (known !== undefined) {
      const current = keys.current(caller)
      const hasWaited = !('keys' in current)
      if (isProvenBy(known, hasWaited ? await current : current)) {
        if (course !== undefined) course.remembered = true
        // Reading a clock costs as much as finding the token.
        checkAgain(known, hasWaited || keys.clock !== clock ? clock.now() : caller.arrived.wall)
        return schema === undefined ? known.auth : await withSchema(known.auth, schema)
      }
      verifiedTokens?.forget(token)
    }
    const { reading, key, foundIn } = await prove(token, caller)
    const { parsed, algorithm } = reading
    checkType(textOf(parsed, 'typ'), type)
    const auth: Auth = Object.freeze({
      claims: checkClaims(parsed.payload, rules, clock.now()),
      header: parsed.header as Header /* `checkAlgorithm` has found its `alg` */,
      token,
    })
    verifiedTokens?.remember({ auth, algorithm, key, foundIn })
    return schema === undefined ? auth : await withSchema(auth, schema)
  }

  /** What time alone can change about a token that was accepted before. */
  function checkAgain({ auth }: Proof, now: number): void {
    try {
      checkTimes(auth.claims, rules, now)
    } catch (error) {
      verifiedTokens?.forget(auth.token)
      throw error
    }
  }

  /** Step 2, and what its header asks for. Before the keys: what is wrong here must not cost a fetch. */
  function read(token: string): Reading {
    const parsed = parseToken(token, maxTokenSize, headers)
    return {
      parsed,
      algorithm: checkAlgorithm(member(parsed.header, 'alg'), allowed, algorithmNames),
    }
  }

  /** Steps 2 to 4: the trusted key that made the signature. */
  async function prove(token: string, caller: Caller): Promise<Proven> {
    let reading: Reading | undefined = read(token)
    const current = keys.current(caller)
    // Who waits for keys holds the text alone: a buffer keeps alive a slab that is larger by far.
    if (!('keys' in current)) reading = undefined
    const ring = 'keys' in current ? current : await current
    reading ??= read(token)
    const candidates = candidatesOf(reading, ring)
    for (const key of candidates) {
      const isSigned = isSignedBy(key, reading.algorithm, reading.parsed)
      // If it is answered at once, nobody else gets in between.
      if (isSigned === true) return { reading, key, foundIn: ring.keys }
      if (isSigned !== false && (await isSigned) && (await isTrusted(key, reading, caller))) {
        return { reading, key, foundIn: ring.keys }
      }
    }
    reading = undefined
    const newKey = await keys.suspect(suspicionOf(token, ring), caller)
    if (newKey !== undefined) return { reading: read(token), key: newKey, foundIn: undefined }
    throw new AuthError('invalid_token', candidates.length === 0 ? 'unknown_key' : 'signature')
  }

  /** Asked when others have had their turn since the keys were looked at: a key may have left meanwhile. */
  async function isTrusted(
    key: VerificationKey,
    reading: Reading,
    { tokenSize, signal }: Caller,
  ): Promise<boolean> {
    signal?.throwIfAborted()
    const ring = await keys.current({ arrived: keys.now(), tokenSize, signal })
    return candidatesOf(reading, ring).includes(key)
  }

  function suspicionOf(token: string, ring: KeyRing): Suspicion {
    return {
      token,
      ring,
      couldBeAccepted() {
        const { parsed } = read(token)
        return (
          isOfType(textOf(parsed, 'typ'), type) &&
          couldBeAccepted(parsed.payload, rules, clock.now())
        )
      },
      async findProof(newer) {
        const reading = read(token)
        for (const key of candidatesOf(reading, newer)) {
          if (await isSignedBy(key, reading.algorithm, reading.parsed)) return key
        }
        return undefined
      },
    }
  }

  async function ready(): Promise<void> {
    await keys.current({ arrived: keys.now(), tokenSize: 0, signal: undefined })
  }

  /** Publishes the verdict. What is no verdict, such as the end of a caller's patience, is not one there either. */
  async function observed(token: string, verifyOptions: VerifyOptions): Promise<Auth<unknown>> {
    const start = clock.monotonic()
    const course = { remembered: false }
    const publish = (error?: AuthError) => {
      const duration = clock.monotonic() - start
      const { code, reason } = error ?? {}
      verdicts.publish(() => ({ verifier, code, reason, ...course, duration }))
    }
    try {
      const auth = await judge(token, verifyOptions, course)
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

/** A token that has been read, and the one algorithm that its signature may have. */
interface Reading {
  readonly parsed: ParsedToken
  readonly algorithm: Algorithm
}

interface Proven extends Pick<Proof, 'key' | 'foundIn'> {
  readonly reading: Reading
}

function candidatesOf({ parsed, algorithm }: Reading, ring: KeyRing): readonly VerificationKey[] {
  return findCandidates(ring, algorithm, textOf(parsed, 'kid'))
}

function textOf({ header }: ParsedToken, name: 'kid' | 'typ'): string | undefined {
  return (Object.hasOwn(header, name) ? header[name] : undefined) ?? undefined
}

/** How a token came to its verdict, for diagnostics. */
interface Course {
  remembered: boolean
}

async function withSchema<Output>(auth: Auth, schema: Schema<Output>): Promise<Auth<Output>> {
  return Object.freeze({ ...auth, claims: await applySchema(schema, auth.claims) })
}

function listed(value: string | readonly string[] | null): readonly string[] | null {
  return value === null ? null : [value].flat()
}

const oneOrMore: OptionCheck = (value) =>
  value === null || isText(value) === undefined || isTextList(value) === undefined
    ? undefined
    : 'must be a string, a list of strings, or null to accept any'

/** `{ max }` and nothing else. */
function isMax(value: unknown): boolean {
  if (!isJsonObject(value) || Object.keys(value).join(' ') !== 'max') return false
  const { max } = value
  return Number.isInteger(max) && Number(max) >= 1 && Number(max) <= 1_000_000
}

function checkVerifierOptions(options: VerifierOptions): void {
  checkOptions('createVerifier', options, {
    keys: (value) =>
      hasMethods(value, 'now', 'current', 'suspect')
        ? undefined
        : 'must be a key source, such as remoteKeys(url)',
    issuer: oneOrMore,
    audience: oneOrMore,
    algorithms: () => undefined, // `checkAlgorithmList` knows the names
    algorithmNames: isAlgorithmNames,
    clockTolerance: seconds(0, 600),
    requireExpiry: isBoolean,
    maxTokenAge: seconds(1, 315_360_000),
    requiredClaims: isTextList,
    type: isText,
    maxTokenSize: (value) =>
      Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 65_536
        ? undefined
        : 'must be a number of octets from 1 to 65536',
    remember: (value) =>
      value === false || isMax(value)
        ? undefined
        : 'must be false or { max }, a number of tokens from 1 to 1000000',
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

import type { WaitUntil } from '@portcullis/kit/calls'
import { textMember } from '@portcullis/kit/json'
import { own } from '@portcullis/kit/options'

import type { Auth, Claims, Header } from '../claims/auth.ts'
import { checkClaims, checkTimes } from '../claims/claims.ts'
import { checkType, statesKind } from '../claims/kind.ts'
import type { Possession } from '../claims/possession.ts'
import { applySchema } from '../claims/schema.ts'
import { marked } from '../ground/copy.ts'
import { withdrawnKey } from '../keys/details.ts'
import type { Caller, KeyRing } from '../keys/key-source.ts'
import { bindingOf, checkBinding, possessionOf } from '../possession/binding.ts'
import { AuthError } from '../refusal/errors.ts'
import { verdicts } from '../report/diagnostics.ts'
import { notText } from '../token/details.ts'
import { setInternals } from './internals.ts'
import { observed, type VerdictRecord } from './observed-verdict.ts'
import { createRecall } from './recall.ts'
import { createWatch } from './revocation-watch.ts'
import { isStillTrusted, type VerifiedToken } from './verified-tokens.ts'
import {
  checkVerifierOptions,
  checkVerifyOptions,
  type SchemaOptions,
  type VerifierOptions,
} from './verifier-options.ts'
import { partsOf, type VerifierParts } from './verifier-parts.ts'

// The verifier: the flow from a token to what it proves. It alone knows the order of the steps.

export interface VerifyOptions {
  /** Ends the wait of this caller for keys or revocations. Other callers still wait. */
  signal?: AbortSignal | undefined
  /** What the sender of the token has proven to have. A token that is bound to anything else is refused. */
  possession?: Possession | undefined
  /**
   * Lets work go on behind the response, such as a renewal of the keys: `(work) => ctx.waitUntil(work)` on Cloudflare Workers,
   * which end it with the request otherwise. Called during `verify` alone, and not kept.
   */
  waitUntil?: WaitUntil | undefined
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
  return create(options, () => verdicts.isObserved(), true)
}

/**
 * The same for what is signed and no access token, such as an answer of an issuer or an event: no verdict of it is published,
 * because whoever counts those counts requests. A claim that is `null` is absent.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 */
export function createUnobservedVerifier(options: VerifierOptions): Verifier {
  return create(options, () => false, false) as Verifier // without a schema the claims are as they were signed
}

function create(
  options: VerifierOptions & Partial<SchemaOptions<unknown>>,
  isObserved: () => boolean,
  isAccessToken: boolean,
): Verifier<unknown> {
  checkVerifierOptions(options)
  const parts = partsOf(options, isAccessToken)
  const { keys, revocations, rules, maxTokenSize, clock } = parts
  const judge = createJudge(parts)

  function verify(token: string, verifyOptions?: VerifyOptions): Promise<Auth<unknown>> {
    if (!isObserved()) return judge(token, verifyOptions)
    const verdict = async (record: VerdictRecord) => await judge(token, verifyOptions, record)
    return observed(verifier, verdict, clock)
  }

  async function ready(): Promise<void> {
    const arrived = keys.now()
    if (keys.current(arrived) === undefined) {
      await keys.wait({ arrived, tokenSize: 0, signal: undefined })
    }
    await revocations?.ready()
  }

  setInternals(verify, {
    checksIssuer: (issuer) => rules.issuer?.includes(issuer) === true,
    audiences: [rules.audience],
    maxTokenSize,
    recall: createRecall(parts, () => verifier),
    watch: createWatch(parts),
  })
  const verifier: Verifier<unknown> = { verify, ready }
  return verifier
}

type Judge = (
  token: string,
  verifyOptions: VerifyOptions | undefined,
  record?: VerdictRecord,
) => Promise<Auth<unknown>>

/** The steps in their order, which is what makes them safe. */
function createJudge({
  keys,
  accepted,
  rules,
  types,
  confirmation,
  schema,
  revocations,
  prove,
  verifiedTokens,
  now,
  timeAt,
}: VerifierParts): Judge {
  /** Whether nothing is asked of functions of the user's. */
  const isFinal = schema === undefined && revocations === undefined

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
    const { signal, possession, waitUntil } = readOptions(verifyOptions)
    const caller = { arrived, tokenSize: token.length, signal, waitUntil }
    const known = verifiedTokens?.find(token)
    if (known !== undefined) {
      const ring = keys.current(arrived, waitUntil)
      if (isStillTrusted(known, ring ?? (await keys.wait(caller)), accepted)) {
        if (record !== undefined) record.remembered = true
        checkAgain(known, ring === undefined ? now() : timeAt(arrived))
        const auth = checkBinding(known.auth, known.binding, possession, confirmation)
        return isFinal ? auth : await finish(known, auth, caller)
      }
      verifiedTokens?.forget(token)
    }
    const { reading, key, foundIn } = await prove(token, caller)
    const { parsed, algorithm } = reading
    const typ = textMember(parsed.header, 'typ')
    checkType(typ, types)
    const claims = checkClaims(parsed.payload, rules, now(), statesKind(typ, types))
    const header = parsed.header as Header // `checkAlgorithm` has found its `alg`
    const auth: Auth = Object.freeze(marked({ claims, header, token }))
    const verified = { auth, algorithm, key, foundIn, binding: bindingOf(claims, parsed.payload) }
    // One that is refused from here on is remembered as well: to refuse it again costs no signature check.
    verifiedTokens?.remember(verified)
    const bound = checkBinding(auth, verified.binding, possession, confirmation)
    return isFinal ? bound : await finish(verified, bound, caller)
  }

  /** What is asked at each use. The revocations come last: a schema may take its time, and a token be revoked meanwhile. */
  async function finish(
    verified: VerifiedToken,
    auth: Auth,
    caller: Caller,
  ): Promise<Auth<unknown>> {
    const result = schema === undefined ? auth : await applySchema(schema, auth, caller.signal)
    let ring = keys.current(keys.now(), caller.waitUntil)
    do {
      const time = checkStill(verified, ring ?? (await keys.wait(caller)))
      const answered = revocations?.check(auth, time, caller.signal)
      if (answered === undefined) return result
      await answered
      // If keys have to be waited for once more, the answer will be too old, and is asked for again.
      ring = keys.current(keys.now(), caller.waitUntil)
    } while (ring === undefined)
    checkStill(verified, ring)
    return result
  }

  /** After a wait: the key may have left since, and the token have expired. */
  function checkStill(verified: VerifiedToken, ring: KeyRing): number {
    if (!isStillTrusted(verified, ring, accepted)) {
      throw new AuthError('invalid_token', 'signature', withdrawnKey)
    }
    const time = now()
    checkAgain(verified, time)
    return time
  }

  /** What time alone can change about a token that was accepted before. */
  function checkAgain({ auth }: VerifiedToken, time: number): void {
    try {
      checkTimes(auth.claims, rules, time)
    } catch (error) {
      verifiedTokens?.forget(auth.token)
      throw error
    }
  }

  return judge
}

/** Own members: a polluted prototype must neither end anybody's wait nor prove anything. */
function readOptions(options: VerifyOptions | undefined): VerifyOptions {
  checkVerifyOptions(options)
  if (options === undefined) return NO_OPTIONS
  return {
    signal: own(options, 'signal'),
    possession: possessionOf(own(options, 'possession')),
    waitUntil: own(options, 'waitUntil'),
  }
}

const NO_OPTIONS: VerifyOptions = Object.freeze({
  signal: undefined,
  possession: undefined,
  waitUntil: undefined,
})

import type { WaitUntil } from '@portcullis/kit/calls'
import { own, ownMembers } from '@portcullis/kit/options'
import { systemClock } from '@portcullis/kit/time'

import type { Auth, Claims, Header } from '../claims/auth.ts'
import { checkClaimSet, type ClaimRules, checkTimes, isTimely } from '../claims/claims.ts'
import { applySchema, type Schema } from '../claims/schema.ts'
import { marked } from '../ground/copy.ts'
import { type Binding, bindingOf, checkBinding, possessionOf } from '../possession/binding.ts'
import { AuthError } from '../refusal/errors.ts'
import { verdicts } from '../report/diagnostics.ts'
import { createRevocationCheck, type RevocationCheck } from '../revocation/revocation-check.ts'
import { notText, tooLarge } from '../token/details.ts'
import { setInternals } from './internals.ts'
import { observed, publishRemembered, type VerdictRecord } from './observed-verdict.ts'
import { createWatch } from './revocation-watch.ts'
import {
  checkVerifyOptions,
  rulesOf,
  type SchemaOptions,
  type VerifierOptions,
} from './verifier-options.ts'
import type { Verifier, VerifyOptions } from './verifier.ts'

// A verifier of tokens that something else than a key proves: the steps behind the proof are those of every verifier.

/** What somebody has proven of a token. A later proof of the same token is another object. */
export interface ProvenToken {
  /** From `parseUnambiguousObject`: frozen, and no member is repeated. */
  readonly claims: Claims
  /** What the `Auth` will have as its header. Frozen. */
  readonly header: Header
}

/** For whom a token is proven. */
export interface ProvingCaller {
  /** Ends the wait of this caller alone. */
  readonly signal: AbortSignal | undefined
  /** Of the request. */
  readonly waitUntil: WaitUntil | undefined
}

/** Who proves the tokens of a verifier. Nothing that it says of a token is believed beyond the rules of the verifier. */
export interface TokenProver<Proven extends ProvenToken = ProvenToken> {
  /**
   * What was proven of the token before, if that may be used at this moment.
   *
   * @param waitUntil Of the request.
   */
  recall(token: string, waitUntil: WaitUntil | undefined): Proven | undefined
  /**
   * Proves a token of which nothing can be recalled.
   *
   * @throws AuthError if the token is not proven, or if that cannot be told at the moment; the signal's reason.
   */
  prove(token: string, caller: ProvingCaller): Promise<Proven>
  /** Whether a proof may still be used, after a wait: time has passed, and a later one may say otherwise. */
  stands(token: string, proven: Proven): boolean
  /**
   * What this kind of proof asks of the claims beside the rules. It has no effect and looks at no clock.
   *
   * @returns `true` if they name a kind of token that an option states: then `events` among them are no fault.
   * @throws AuthError `invalid_token`
   */
  check(claims: Claims): boolean
  /** The refusal where each proof has ended before the schema and the revocations had answered. */
  late(): AuthError
  /** @throws AuthError if tokens cannot be proven at the moment */
  ready(): Promise<void>
}

/** Options of every verifier that have a meaning for tokens without a key. */
export type ProvenRules = Pick<
  VerifierOptions,
  | 'issuer'
  | 'audience'
  | 'clockTolerance'
  | 'requireExpiry'
  | 'maxTokenAge'
  | 'requiredClaims'
  | 'maxTokenSize'
  | 'revocations'
  | 'confirmation'
  | 'clock'
> &
  Partial<SchemaOptions<unknown>>

/** A proof that the rules have accepted. Its times and its binding are looked at each time. */
interface Judged {
  readonly auth: Auth
  readonly binding: Binding | undefined
}

/** How often one token is judged, if each time its proof has ended by the time that the functions of the user have answered. */
const ROUNDS = 3

interface Parts {
  readonly rules: ClaimRules
  readonly maxTokenSize: number
  readonly confirmation: 'require' | 'ignore'
  readonly schema: Schema<unknown> | undefined
  readonly revocations: RevocationCheck | undefined
  readonly now: () => number
}

/**
 * Creates a verifier of tokens that something else than a key proves. Claims, times, `cnf`, schema and revocations are judged as
 * those of a JWT are; guards, `watchToken` and diagnostics know it as one of ours.
 *
 * @param rules Checked: see `ruleChecks` and `checkStated`.
 */
export function createProvenVerifier<Proven extends ProvenToken>(
  prover: TokenProver<Proven>,
  rules: ProvenRules,
): Verifier<unknown> {
  const stated = ownMembers(rules)
  const clock = stated.clock ?? systemClock
  const parts: Parts = {
    rules: rulesOf(stated),
    maxTokenSize: stated.maxTokenSize ?? 16_384,
    confirmation: stated.confirmation ?? 'require',
    schema: stated.schema,
    revocations: stated.revocations && createRevocationCheck(stated.revocations, clock),
    now: () => clock.now(),
  }
  const { revocations, schema, now, maxTokenSize } = parts
  const judged = new WeakMap<ProvenToken, Judged>()
  const judge = createJudge(prover, parts, judged)

  function verify(token: string, options?: VerifyOptions): Promise<Auth<unknown>> {
    if (!verdicts.isObserved()) return judge(token, options)
    const verdict = async (record: VerdictRecord) => await judge(token, options, record)
    return observed(verifier, verdict, clock)
  }

  setInternals(verify, {
    checksIssuer: (issuer) => parts.rules.issuer?.includes(issuer) === true,
    audiences: [parts.rules.audience],
    maxTokenSize,
    recall(token, waitUntil) {
      if (schema !== undefined || token.length > maxTokenSize) {
        return undefined
      }
      const start = verdicts.isObserved() ? clock.monotonic() : 0
      const proven = prover.recall(token, waitUntil)
      const known = proven && judged.get(proven)
      if (known === undefined || known.binding !== undefined) return undefined
      const { claims } = known.auth
      const time = now()
      const isAccepted =
        isTimely(claims, parts.rules, time) && revocations?.isValidNow(known.auth, time) !== false
      if (!isAccepted) return undefined
      publishRemembered(
        () => verifier,
        () => clock.monotonic() - start,
      )
      return known.auth
    },
    watch: createWatch({ revocations, schema, now }),
  })
  const verifier: Verifier<unknown> = {
    verify,
    async ready() {
      await prover.ready()
      await revocations?.ready()
    },
  }
  return verifier
}

/** The steps in their order. */
function createJudge<Proven extends ProvenToken>(
  prover: TokenProver<Proven>,
  { rules, maxTokenSize, confirmation, schema, revocations, now }: Parts,
  judged: WeakMap<ProvenToken, Judged>,
) {
  function judgementOf(proven: ProvenToken, token: string): Judged {
    const known = judged.get(proven)
    if (known !== undefined) {
      checkTimes(known.auth.claims, rules, now())
      return known
    }
    const { claims, header } = proven
    checkClaimSet(claims, rules, now(), prover.check(claims))
    const auth = Object.freeze(marked({ claims, header, token }))
    const judgement = { auth, binding: bindingOf(claims, undefined) }
    judged.set(proven, judgement)
    return judgement
  }

  return async (
    token: string,
    options: VerifyOptions | undefined,
    record?: VerdictRecord,
  ): Promise<Auth<unknown>> => {
    checkForm(token, maxTokenSize)
    checkVerifyOptions(options)
    const signal = options && own(options, 'signal')
    const waitUntil = options && own(options, 'waitUntil')
    const possession = possessionOf(options && own(options, 'possession'))
    for (let round = 0; round < ROUNDS; round++) {
      const known = prover.recall(token, waitUntil)
      if (record !== undefined) record.remembered = known !== undefined
      const proven = known ?? (await prover.prove(token, { signal, waitUntil }))
      const { auth, binding } = judgementOf(proven, token)
      const bound = checkBinding(auth, binding, possession, confirmation)
      const result = schema === undefined ? bound : await applySchema(schema, bound, signal)
      // The revocations come last, as in every verifier: a schema may take its time, and a token be revoked meanwhile.
      const answered = revocations?.check(auth, now(), signal)
      if (answered !== undefined) await answered
      if (schema === undefined && answered === undefined) return result
      if (prover.stands(token, proven)) {
        checkTimes(auth.claims, rules, now())
        return result
      }
    }
    throw prover.late()
  }
}

/** Before anything is made of the token: the time of all that follows grows with its length. */
function checkForm(token: unknown, maxTokenSize: number): void {
  // A caller without types may pass anything.
  if (typeof token !== 'string') throw new AuthError('invalid_token', 'malformed', notText(token))
  if (token.length > maxTokenSize) {
    throw new AuthError('invalid_token', 'too_large', tooLarge(token.length, maxTokenSize))
  }
}

import type { WaitUntil } from '@portcullis/kit/calls'
import { own } from '@portcullis/kit/options'
import { unlessAborted } from '@portcullis/kit/waiting'

import type { Auth, Possession } from '../claims/auth.ts'
import { checkClaimSet, checkTimes, isTimely } from '../claims/claims.ts'
import { askSchema, isOutput, type Schema } from '../claims/schema.ts'
import { withTenantDecisions } from '../claims/tenants.ts'
import { marked } from '../ground/copy.ts'
import {
  bindingOf,
  checkBinding,
  isSamePossession,
  possessionOf,
  withPossession,
} from '../possession/binding.ts'
import { timeReading, turnToRead } from '../token/event-loop.ts'
import { checkSize, checkText } from '../token/token.ts'
import { publishRemembered, type VerdictRecord } from './observed-verdict.ts'
import type { Judged, ProofMemory, ProvenToken, TokenProver } from './token-prover.ts'
import { checkVerifyOptions } from './verifier-options.ts'
import type { VerifierParts } from './verifier-parts.ts'
import type { VerifyOptions } from './verifier.ts'

// The flow from a token to what it proves, whoever proves it. This file alone knows the order of the steps.

export interface Judge {
  /** @throws AuthError as `Verifier.verify` does. @param record Notes how the verdict came about. */
  readonly judge: (
    token: string,
    options: VerifyOptions | undefined,
    record?: VerdictRecord,
  ) => Promise<Auth<unknown>>
  /** What a token proves that was accepted before and is now, without a promise. Publishes the verdict, because `verify` is not asked. */
  readonly recall: (token: string, waitUntil?: WaitUntil) => Auth<unknown> | undefined
}

/** How often one token is judged, if each time its proof has ended by the time that the functions of the user have answered. */
const ROUNDS = 3

export function createJudge<Proven extends ProvenToken>(
  prover: TokenProver<Proven>,
  parts: VerifierParts,
  memory: ProofMemory<Proven>,
  verifier: () => object,
): Judge {
  const { rules, maxTokenSize, confirmation, schema, revocations, moment, now, timeAt, clock } =
    parts
  const { judged } = memory

  /** Everything about the claims, the first time; later what time alone can change. */
  function judgeClaims(token: string, proven: Proven, time: number): Judged {
    const known = judged.get(proven)
    if (known !== undefined) {
      checkAgain(known, proven, time)
      return known
    }
    const { claims, header } = proven
    checkClaimSet(claims, rules, time, prover.check(proven))
    const noted = withTenantDecisions({ claims, header, token }, rules.issuer)
    const auth: Auth = Object.freeze(marked(noted))
    const binding = bindingOf(claims, own(proven, 'repeatsMember') === true)
    const accepted = { auth, binding, bound: undefined, isSchemaPrompt: false }
    judged.set(proven, accepted)
    // One that is refused from here on is remembered as well: to refuse it again needs no other proof.
    memory.remember(proven)
    return accepted
  }

  function checkAgain({ auth }: Judged, proven: Proven, time: number): void {
    try {
      checkTimes(auth.claims, rules, time)
    } catch (error) {
      memory.forget(proven)
      throw error
    }
  }

  /** For after a wait: whether the proof may still be used. @throws AuthError if the token itself has expired meanwhile */
  function holds(token: string, proven: Proven, waitUntil: WaitUntil | undefined): boolean {
    if (!prover.stands(token, proven, waitUntil)) return false
    judgeClaims(token, proven, now())
    return true
  }

  /** Refuses in its turn, and the time counts as reading: a loop of such tokens must not hold up the event loop. */
  async function refuseLong(token: string): Promise<void> {
    await turnToRead()
    timeReading(clock, () => {
      checkSize(token, maxTokenSize)
    })
  }

  async function judge(
    token: string,
    options: VerifyOptions | undefined,
    record?: VerdictRecord,
  ): Promise<Auth<unknown>> {
    checkText(token)
    // Before anything is made of it: the time of all that follows grows with its length.
    if (token.length > maxTokenSize) await refuseLong(token)
    const { signal, possession, waitUntil } = readOptions(options)
    /** What the schema has made of a proof: it is asked once about each, however often that is judged. */
    let made: { readonly of: Proven; readonly auth: Auth<unknown> } | undefined
    for (let round = 0; round < ROUNDS; round++) {
      const arrived = moment()
      const recalled = prover.recall(token, arrived, waitUntil)
      const answer = recalled ?? prover.prove(token, { arrived, signal, waitUntil })
      const isAtOnce = isProven(answer)
      const proven = isAtOnce ? answer : await answer
      if (record !== undefined && round === 0) {
        record.remembered = recalled !== undefined || judged.get(proven) !== undefined
      }
      const time = isAtOnce ? timeAt(arrived) : now()
      const known = judgeClaims(token, proven, time)
      const { auth, binding } = known
      const bound = boundBy(known, checkBinding(binding, possession, confirmation))
      let result: Auth<unknown> = bound
      if (schema !== undefined) {
        if (made?.of !== proven) {
          const output = askSchema(schema, bound)
          known.isSchemaPrompt = isOutput(output)
          made = {
            of: proven,
            auth: isOutput(output) ? output : await unlessAborted(output, signal),
          }
        }
        result = made.auth
        if (!holds(token, proven, waitUntil)) continue
      }
      // Behind the schema, which may take its time: a token may be revoked meanwhile.
      const answered = revocations?.check(auth, now(), signal)
      if (answered === undefined) return result
      await answered
      if (holds(token, proven, waitUntil)) return result
    }
    throw prover.late()
  }

  function recall(token: string, waitUntil?: WaitUntil): Auth<unknown> | undefined {
    if (token.length > maxTokenSize) return undefined
    const arrived = moment()
    const proven = prover.recall(token, arrived, waitUntil)
    if (proven === undefined) return undefined
    const known = judged.get(proven)
    // What a token is bound to is compared with what its sender has proven, which nobody knows here. Where it need not be proven,
    // the `Auth` says all the same that it was.
    if (known === undefined || known.binding !== undefined) return undefined
    const { auth } = known
    let time = timeAt(arrived)
    if (!isTimely(auth.claims, rules, time)) return undefined
    let result: Auth<unknown> | undefined = auth
    if (schema !== undefined) {
      result = askPrompt(schema, known)
      // It is a function of the user, which may have done anything: what held before is asked again.
      time = now()
      if (!prover.stands(token, proven, waitUntil)) return undefined
      if (!isTimely(auth.claims, rules, time)) return undefined
    }
    if (result === undefined || revocations?.isValidNow(auth, time) === false) return undefined
    publishRemembered(verifier, () => moment().monotonic - arrived.monotonic)
    return result
  }

  return { judge, recall }
}

/** With what the sender has proven, which {@link checkBinding} has compared with the token. */
function boundBy(known: Judged, proven: Possession | undefined): Auth {
  if (proven === undefined) return known.auth
  const { bound } = known
  if (bound !== undefined && isSamePossession(bound.possession, proven)) return bound
  known.bound = withPossession(known.auth, proven)
  return known.bound
}

/** Its answer, if that comes at once. What refuses or takes its time is left to the way that can wait, and asked there from then on. */
function askPrompt(asked: Schema<unknown>, known: Judged): Auth<unknown> | undefined {
  if (!known.isSchemaPrompt) return undefined
  known.isSchemaPrompt = false
  const output = askSchema(asked, known.auth)
  if (!isOutput(output)) {
    // Nobody waits for it.
    output.catch(() => {})
    return undefined
  }
  known.isSchemaPrompt = true
  return output
}

/** Only what a proof has of its own counts, so that anything else is waited for: the global `Promise` may be another one. */
function isProven<Proven extends ProvenToken>(answer: Proven | Promise<Proven>): answer is Proven {
  return Object.hasOwn(answer, 'claims')
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

import { member, textMember } from '@portcullis/kit/json'
import { own } from '@portcullis/kit/options'
import { type Clock, systemClock } from '@portcullis/kit/time'

import type { Auth } from '../claims/auth.ts'
import { unprovenIssuer } from '../claims/claims.ts'
import { signedClaims } from '../claims/signed-claims.ts'
import { AuthError } from '../refusal/errors.ts'
import { verdictMessage, verdicts } from '../report/diagnostics.ts'
import { timeReading, turnToRead } from '../token/event-loop.ts'
import { checkText, createHeaderCache, parseToken } from '../token/token.ts'
import { audiencesOf, findInternals, type Internals, setInternals } from '../verifier/internals.ts'
import { complaintOfAll } from '../verifier/profile-check.ts'
import { watchInTurn } from '../verifier/revocation-watch.ts'
import { createVerifiedTokens } from '../verifier/verified-tokens.ts'
import { LONGEST_TOKEN } from '../verifier/verifier-options.ts'
import type { Verifier, VerifyOptions } from '../verifier/verifier.ts'
import { type ByIssuerOptions, checkByIssuerOptions, checkVerifiers } from './by-issuer-options.ts'
import { alwaysReplaced, provenIssuer, unknownIssuer } from './details.ts'
import type { FindVerifier, Found } from './function-calls.ts'
import { foundVerifiers, type IssuerDirectory, listedVerifiers } from './issuer-directory.ts'

// One verifier out of several: lets the verifier of the issuer judge a token, and makes sure that it is still the right one afterwards.

/** How often one token is judged, if each time the verifier is another one in the end. */
const ROUNDS = 3

/**
 * Makes one verifier for the tokens of several issuers. The `iss` of a token, which is not proven yet, selects one of your
 * verifiers, and that verifier checks the token.
 *
 * A token whose issuer has no verifier is refused as `unknown_key`. The `iss` is never used as a URL. An outage of one issuer
 * does not affect the others.
 *
 * @param find Returns the verifier of an issuer, or `undefined` if there is none: for tenants that come and go, see {@link
 *   ByIssuerOptions}. It is called for unproven tokens. So it must only look the issuer up, and trust nothing about it. If it
 *   fails, tokens of that issuer get 503 (`keys_unavailable`). While nothing about the issuer changes, it should return the
 *   same verifier, so that keys and tokens stay remembered.
 * @returns A verifier whose `ready()` resolves at once.
 * @throws TypeError for a wrong option.
 * @see RFC 8725 section 3.8
 */
export function byIssuer<Member extends Verifier<unknown>>(
  find: FindVerifier<Member>,
  options?: ByIssuerOptions,
): Verifier<Member extends Verifier<infer ClaimsType> ? ClaimsType : never>
/**
 * The same for issuers that are known at start-up.
 *
 * @param verifiers The verifiers by issuer. Each must state that issuer in its option `issuer`.
 * @returns A verifier whose `ready()` waits for all verifiers. If some fail, it rejects with the error of the first of
 *   them. Use it at start-up.
 * @throws TypeError for a value that is not a verifier, for a verifier that does not check its issuer, and for a wrong
 *   option.
 */
export function byIssuer<Members extends Readonly<Record<string, Verifier<unknown>>>>(
  verifiers: Members,
  options?: Pick<ByIssuerOptions, 'remember'>,
): Verifier<Members[keyof Members] extends Verifier<infer ClaimsType> ? ClaimsType : never>
export function byIssuer(
  from: FindVerifier | Readonly<Record<string, Verifier<unknown>>>,
  options: ByIssuerOptions = {},
): Verifier<unknown> {
  const {
    remember = { max: 10_000 },
    max = 1000,
    maxAge = 600,
    maxMisses = 10_000,
    missAge = 60,
    maxCalls = 16,
    timeout = 5,
    maxTokenSize = 16_384,
    clock = systemClock,
  } = checkByIssuerOptions(options, typeof from === 'function')
  if (typeof from === 'function') {
    const limits = { max, maxAge, maxMisses, missAge, maxCalls, timeout, clock }
    return createSelector({
      directory: foundVerifiers(from, limits),
      checksIssuer: () => true,
      audiences: [],
      ready: async () => {},
      maxTokenSize,
      remember,
      clock,
    })
  }
  const verifiers = checkVerifiers(from)
  const members = [...verifiers.values()]
  const sizes = members.map((each) => findInternals(each)?.maxTokenSize ?? LONGEST_TOKEN)
  return createSelector({
    directory: listedVerifiers(verifiers),
    checksIssuer: (issuer) => verifiers.has(issuer),
    issuer: verifiers.size === 1 ? [...verifiers.keys()][0] : undefined,
    audiences: audiencesOf(members),
    complaintUnder: complaintOfAll(members),
    ready: async () => await allReady(members),
    maxTokenSize: Math.max(...sizes),
    remember,
    clock,
  })
}

interface SelectorOptions extends Pick<
  Internals,
  'audiences' | 'checksIssuer' | 'complaintUnder' | 'issuer' | 'maxTokenSize'
> {
  readonly directory: IssuerDirectory
  readonly ready: () => Promise<void>
  readonly remember: { readonly max: number } | false
  readonly clock: Clock
}

/** Which issuer a token is from that was accepted before. The text says so, whatever becomes of the issuer's verifier. */
interface Origin {
  readonly token: string
  readonly issuer: string
}

interface Choice {
  readonly issuer: string
  readonly found: Found
}

/** What a verifier is asked, and since when the caller waits: seconds of the monotonic clock. */
interface Question {
  readonly token: string
  readonly verifyOptions: VerifyOptions | undefined
  readonly start: number
}

function createSelector(options: SelectorOptions): Verifier<unknown> {
  const { directory, maxTokenSize, remember, clock } = options
  const headers = createHeaderCache()
  const origins = remember === false ? undefined : createVerifiedTokens<Origin>(remember.max)

  async function verify(token: string, verifyOptions?: VerifyOptions): Promise<Auth<unknown>> {
    const start = clock.monotonic()
    const selecting = async () => await select(token, verifyOptions)
    for (let round = 0; round < ROUNDS; round++) {
      const { issuer, found } = await publishing(start, selecting)
      const auth = await judge(issuer, found.verifier, { token, verifyOptions, start })
      // While the token was judged, the function may have answered otherwise, or the time of its answer have ended. Then
      // it is judged again, also by the same verifier: what was true before the wait for the function need not be true after it.
      if (directory.confirm(issuer, found)) {
        origins?.remember({ token, issuer })
        return auth
      }
    }
    return await publishing(start, async () => {
      throw new AuthError('keys_unavailable', 'timeout', alwaysReplaced)
    })
  }

  /** Nothing of the token is kept while it waits, so that only its text takes memory. */
  async function select(token: string, verifyOptions: VerifyOptions | undefined): Promise<Choice> {
    const signal = verifyOptions && own(verifyOptions, 'signal')
    const waitUntil = verifyOptions && own(verifyOptions, 'waitUntil')
    // A caller without types may pass anything.
    const isKnown = typeof token === 'string' && origins?.find(token) !== undefined
    const turn = isKnown ? undefined : turnToRead()
    if (turn !== undefined) {
      await turn
      signal?.throwIfAborted()
    }
    const issuer = issuerOf(token)
    const found =
      issuer === undefined
        ? undefined
        : (directory.find(issuer, waitUntil) ??
          (await directory.wait(issuer, { tokenSize: token.length, signal, waitUntil })))
    if (issuer === undefined || found === undefined) {
      throw new AuthError('invalid_token', 'unknown_key', unknownIssuer)
    }
    return { issuer, found }
  }

  /** The form of the token first, as every verifier does: what is no token reaches no function of the user's. */
  function issuerOf(token: string): string | undefined {
    checkText(token)
    const known = origins?.find(token)
    if (known !== undefined) return known.issuer
    return timeReading(clock, () =>
      unprovenIssuer(parseToken(token, maxTokenSize, headers).payload),
    )
  }

  async function judge(
    issuer: string,
    verifier: Verifier<unknown>,
    { token, verifyOptions, start }: Question,
  ): Promise<Auth<unknown>> {
    // One of ours has compared the `iss` already.
    const hasChecked = findInternals(verifier) !== undefined
    const auth = await verifier.verify(token, verifyOptions)
    if (!hasChecked) {
      await publishing(start, async () => {
        checkProvenIssuer(member(signedClaims(auth), 'iss'), issuer)
      })
    }
    return auth
  }

  /** Publishes refusals of ours. All others are published by the verifier that the token has reached. */
  async function publishing<Result>(start: number, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof AuthError) {
        const duration = clock.monotonic() - start
        verdicts.publish(() => verdictMessage({ verifier, remembered: false, duration }, error))
      }
      throw error
    }
  }

  setInternals(verify, {
    checksIssuer: options.checksIssuer,
    issuer: options.issuer,
    audiences: options.audiences,
    complaintUnder: options.complaintUnder,
    maxTokenSize,
    recall(token, waitUntil) {
      const origin = origins?.find(token)
      const found = origin && directory.find(origin.issuer, waitUntil)
      const auth = found && findInternals(found.verifier)?.recall(token, waitUntil)
      // As after `verify`: the directory has to hear of each token that is accepted, or forged ones push the verifier out.
      return auth && directory.confirm(origin.issuer, found) ? auth : undefined
    },
    watch(auth, listener) {
      // What this very token was proven to be from, also if a copy of its `Auth` lacks the claim.
      const issuer = origins?.find(auth.token)?.issuer ?? textMember(signedClaims(auth), 'iss')
      const find = () => (issuer === undefined ? undefined : directory.find(issuer)?.verifier)
      return watchInTurn(find, auth, listener)
    },
    selected: issuerOf,
  })
  const verifier: Verifier<unknown> = { verify, ready: options.ready }
  return verifier
}

function checkProvenIssuer(iss: unknown, issuer: string): void {
  if (iss !== issuer) {
    throw new AuthError('invalid_token', 'issuer', provenIssuer(iss, issuer))
  }
}

/** Each makes its attempt; the first one's error is that of all. */
async function allReady(verifiers: readonly Verifier<unknown>[]): Promise<void> {
  const outcomes = await Promise.allSettled(verifiers.map(async (each) => await each.ready()))
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
}

import { isJsonObject } from '@portcullis/kit/json'
import {
  checkOptions,
  countUpTo,
  isClock,
  type OptionCheck,
  ownMembers,
  seconds,
} from '@portcullis/kit/options'
import type { Clock } from '@portcullis/kit/time'

import { isIssuerName } from '../claims/claims.ts'
import { checkOurVerifier } from '../verifier/internals.ts'
import { isRemember, isTokenSize } from '../verifier/verifier-options.ts'
import type { Verifier } from '../verifier/verifier.ts'
import { checksIssuer, isVerifier } from './function-calls.ts'

// The arguments of `byIssuer`: their types, and their checks at start-up.

/** Options of `byIssuer`. The first is for both of its forms, the others are for a function. */
export interface ByIssuerOptions {
  /**
   * For how many tokens the issuer is remembered, so that it is not read again (fewer if the tokens are large). `false` turns
   * this off.
   * @default { max: 10_000 }
   */
  remember?: { readonly max: number } | false | undefined
  /**
   * How many verifiers are remembered, and as many again that have not accepted a token yet. It should be more than the
   * number of tenants.
   * @default 1000
   */
  max?: number | undefined
  /**
   * How long a verifier is used after the function was called for it. Seconds. After half of that time the function is called
   * again, in the background.
   * @default 600
   */
  maxAge?: number | undefined
  /**
   * For how many issuers it is remembered that they have no verifier.
   * @default 10_000
   */
  maxMisses?: number | undefined
  /**
   * How long it is remembered that an issuer has no verifier. Seconds.
   * @default 60
   */
  missAge?: number | undefined
  /**
   * How many calls may run at the same time for issuers that are not remembered, and as many again for those that are. Tokens
   * of more issuers wait.
   * @default 16
   */
  maxCalls?: number | undefined
  /**
   * How long a call may take, and how long a token waits for a call. Seconds.
   * @default 5
   */
  timeout?: number | undefined
  /**
   * The longest token that is read. Bytes, at most 65536. Each verifier has its own limit as well.
   * @default 16384
   */
  maxTokenSize?: number | undefined
  /** The clock for these times, for tests. By default the system's. */
  clock?: Clock | undefined
}

const isCount = countUpTo(1_000_000)

/** @returns A copy with nothing but own members. An object of verifiers has fewer options than a function. @throws TypeError */
export function checkByIssuerOptions(
  options: ByIssuerOptions,
  isFunction: boolean,
): ByIssuerOptions {
  const ofFunction = {
    max: isCount,
    maxAge: seconds(1, 86_400),
    maxMisses: isCount,
    missAge: seconds(0, 86_400),
    maxCalls: isCount,
    timeout: seconds(0.001, 600),
    maxTokenSize: isTokenSize,
    clock: isClock,
  } satisfies Record<Exclude<keyof ByIssuerOptions, 'remember'>, OptionCheck>
  checkOptions('byIssuer', options, {
    remember: isRemember,
    ...(isFunction ? ofFunction : {}),
  })
  return ownMembers(options)
}

/** @returns A map: issuers may be named like members of `Object.prototype`. @throws TypeError for what is no verifier of its issuer. */
export function checkVerifiers(from: unknown): ReadonlyMap<string, Verifier<unknown>> {
  if (!isJsonObject(from)) {
    // Mistake `byIssuer: the first argument must be`: Give `{ 'https://issuer.example': verifier }`, or a function from an issuer
    // to its verifier.
    throw new TypeError(
      'byIssuer: the first argument must be an object of verifiers by issuer, or a function',
    )
  }
  const verifiers = new Map<string, Verifier<unknown>>()
  for (const [issuer, verifier] of Object.entries(from)) {
    const name = JSON.stringify(issuer)
    if (!isIssuerName(issuer)) {
      // Mistake `byIssuer: an issuer must have 1 to 1024 characters`: A key of the object is empty or too long.
      throw new TypeError('byIssuer: an issuer must have 1 to 1024 characters')
    }
    // Mistake `byIssuer: … must be a verifier`: Give what `createVerifier` returned, not the options of a verifier.
    if (!isVerifier(verifier)) throw new TypeError(`byIssuer: ${name} must be a verifier`)
    checkOurVerifier('byIssuer', `the verifier of ${name}`, verifier)
    if (!checksIssuer(verifier, issuer)) {
      // Mistake `byIssuer: the verifier of … must have it in its option issuer`: State it there. Otherwise this verifier would
      // accept tokens of other issuers as well.
      throw new TypeError(`byIssuer: the verifier of ${name} must have it in its option issuer`)
    }
    verifiers.set(issuer, verifier)
  }
  // Mistake `byIssuer: there must be a verifier, at least one`: The object is empty.
  if (verifiers.size === 0) throw new TypeError('byIssuer: there must be a verifier, at least one')
  return verifiers
}

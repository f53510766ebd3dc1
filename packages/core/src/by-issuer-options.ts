import { checkOptions, isClock, type OptionCheck, ownMembers, seconds } from './options.ts'
import type { Clock } from './time.ts'
import { isRemember, isTokenSize } from './verifier-options.ts'

/** Options of `byIssuer`. The first is for both of its forms, the others are for a function. */
export interface ByIssuerOptions {
  /**
   * For how many tokens it is remembered which issuer they are from, fewer if they are large: what their verifiers remember
   * is then found at once. `false` turns it off.
   * @default { max: 10_000 }
   */
  remember?: { readonly max: number } | false | undefined
  /**
   * How many verifiers are remembered, and as many again that have not accepted a token yet. More than there are tenants.
   * @default 1000
   */
  max?: number | undefined
  /**
   * How long a verifier is used after the function was called for it. Seconds. In the second half of that time the function
   * is called again, behind the requests.
   * @default 600
   */
  maxAge?: number | undefined
  /**
   * How many issuers are remembered that the function has no verifier for.
   * @default 10_000
   */
  maxMisses?: number | undefined
  /**
   * How long they are remembered. Seconds.
   * @default 60
   */
  missAge?: number | undefined
  /**
   * How many calls may be under way for issuers that are not remembered, and as many again for those that are. Tokens of
   * further issuers wait for their turn.
   * @default 16
   */
  maxCalls?: number | undefined
  /**
   * How long a call may take, and how long a token waits for its turn and its call. Seconds.
   * @default 5
   */
  timeout?: number | undefined
  /**
   * The longest token that is looked at. Octets, at most 65536. Each verifier has a limit of its own as well.
   * @default 16384
   */
  maxTokenSize?: number | undefined
  /** What these times are counted by. */
  clock?: Clock | undefined
}

const isCount: OptionCheck = (value) =>
  Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 1_000_000
    ? undefined
    : 'must be a number from 1 to 1000000'

/**
 * Checks the options of `byIssuer`, at start-up.
 *
 * @param isFunction Whether the first argument is a function; an object of verifiers has fewer options.
 * @returns A copy of them with nothing but their own members.
 * @throws TypeError for a wrong or misspelt option.
 */
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
  }
  checkOptions('byIssuer', options, {
    remember: isRemember,
    ...(isFunction ? ofFunction : {}),
  })
  return ownMembers(options)
}

import {
  checkOptions,
  hasMethods,
  isBoolean,
  isClock,
  type OptionCheck,
  ownMembers,
  seconds,
} from '@portcullis/kit/options'
import { type Clock, systemClock } from '@portcullis/kit/time'

import { checkAlgorithmList } from '../algorithms/accepted-algorithms.ts'
import type { Algorithm } from '../algorithms/algorithms.ts'
import { localReplays } from './local-replays.ts'
import { isNonceSecret, type NonceOptions } from './nonces.ts'
import type { ReplayMemory } from './proof-check.ts'
import type { ProofRules } from './proof-claims.ts'
import { isOrigin } from './target-url.ts'

// The options of `dpopProofs`: their types, checks and defaults.

export interface DpopProofsOptions {
  /**
   * Where clients find this API: scheme, host and port, and a path if a proxy removes it, such as `https://example.com/api`.
   * The header `Host` is not used, because the client writes it. A list if the API has several names.
   */
  origin: string | readonly string[]
  /**
   * The accepted algorithms of proofs. The sender of a proof chooses its key, so the default leaves out algorithms that take
   * long to check.
   * @default ['ES256', 'Ed25519', 'EdDSA', 'PS256', 'RS256']
   * @see RFC 9449 section 11.6
   */
  algorithms?: readonly Algorithm[] | undefined
  /**
   * How old a proof may be. Seconds, 1 to 600.
   * @default 60
   */
  maxAge?: number | undefined
  /**
   * How far the client's clock may differ from ours. Seconds, 0 to 600. Where it is not stated, `iat` and `nbf` may be ahead by
   * 30 seconds: many clients' clocks are. A stated one counts as it is.
   * @default 5
   */
  clockTolerance?: number | undefined
  /**
   * The memory of used proofs. Several processes must share one, such as `redisReplays()`.
   * @default localReplays()
   */
  replays?: ReplayMemory | undefined
  /**
   * `{ secret, maxAge }`: clients must put a nonce of this API into their proofs, so that no proof can be made in advance.
   * @see RFC 9449 sections 8 and 9
   */
  nonces?: NonceOptions | undefined
  /**
   * Whether only tokens that are bound to a key are accepted, and `Bearer` is refused.
   * @default false
   */
  required?: boolean | undefined
  /** The clock, for tests. By default the system's. */
  clock?: Clock | undefined
}

/** The options with their defaults, in members of their own. */
export interface ProofSettings extends Omit<ProofRules, 'isUrlOf'> {
  readonly algorithms: readonly Algorithm[]
  readonly replays: ReplayMemory
  readonly nonces: NonceOptions | undefined
  readonly required: boolean
  readonly clock: Clock
}

/** What clients use, less the signatures that take a millisecond to check. Asymmetric ones alone are in the table. */
const ALGORITHMS: readonly Algorithm[] = ['ES256', 'Ed25519', 'EdDSA', 'PS256', 'RS256']

/** @throws TypeError */
export function readProofOptions(options: DpopProofsOptions): ProofSettings {
  checkOptions('dpopProofs', options, CHECKS)
  const {
    origin,
    algorithms = ALGORITHMS,
    maxAge = 60,
    clockTolerance: stated,
    replays = localReplays(),
    nonces,
    required = false,
    clock = systemClock,
  } = ownMembers(options)
  if (origin === undefined) {
    // Mistake `dpopProofs: origin must be stated`: Give the origin of your API as its clients see it, such as
    // `https://api.example.com`.
    throw new TypeError('dpopProofs: origin must be stated, such as https://api.example.com')
  }
  return ownMembers({
    origins: [origin].flat(),
    algorithms: Object.freeze(checkAlgorithmList(algorithms, 'dpopProofs')),
    maxAge,
    clockTolerance: stated ?? 5,
    toleranceAhead: stated ?? 30,
    replays,
    nonces: nonces && checkNonces(nonces),
    required,
    clock,
  })
}

const isOriginList: OptionCheck = (value) => {
  const origins: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (origins.length === 0) return 'must not be an empty list'
  return origins.map(isOrigin).find((complaint) => complaint !== undefined)
}

const CHECKS: Readonly<Record<keyof DpopProofsOptions, OptionCheck>> = {
  origin: isOriginList,
  // `checkAlgorithmList` knows what they may be.
  algorithms: () => undefined,
  maxAge: seconds(1, 600),
  clockTolerance: seconds(0, 600),
  replays: (value) =>
    hasMethods(value, 'remember') ? undefined : 'must have the function remember',
  nonces: (value) =>
    typeof value === 'object' && value !== null ? undefined : 'must be an object with a secret',
  required: isBoolean,
  clock: isClock,
}

function checkNonces(nonces: NonceOptions): NonceOptions {
  checkOptions('dpopProofs: nonces', nonces, { secret: isNonceSecret, maxAge: seconds(1, 600) })
  const { secret, maxAge } = ownMembers(nonces)
  if (secret === undefined) {
    // Mistake `dpopProofs: nonces: secret must be stated`: Give 32 random bytes or more, the same in all processes. Probably the
    // environment variable is unset.
    throw new TypeError(
      'dpopProofs: nonces: secret must be stated: is an environment variable unset?',
    )
  }
  return ownMembers({ secret, maxAge })
}

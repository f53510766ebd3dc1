import { type OptionCheck, checkOptions } from '@portcullis/kit/options'

import type { Clock } from '../clock.ts'
import type { KeyRotation } from '../keys/key-rotation.ts'
import type { SigningKey } from '../keys/signing-key.ts'
import { octetsOf } from '../octets.ts'
import { isObject, isPayload, isSeconds, isTextList } from '../options.ts'
import { type Binding, confirmationOf, isBinding } from './binding.ts'

// Signs tokens of an issuer, sound or not: one by one, and for the tables of good and bad ones.

export interface TokenOptions {
  /** Claims that are added to the usual ones, or replace them. */
  claims?: Readonly<Record<string, unknown>> | undefined
  /**
   * What the token is bound to: what `dpopClient()` returned, an `X509Certificate` of `node:crypto`, or their thumbprints as
   * `{ jkt, x5tS256 }`. Each of a list must be proven. It becomes the claim `cnf`. By default the token is not bound.
   */
  boundTo?: Binding | readonly Binding[] | undefined
  /** Seconds from now to `exp`; negative for an expired token. By default the issuer's lifetime. */
  expiresIn?: number | undefined
  /** Seconds from now to `nbf`. */
  notBefore?: number | undefined
  /** Header members that are added to the usual ones, or replace them. Another `alg` must fit the key. */
  header?: Readonly<Record<string, unknown>> | undefined
  /** Claims and header members to leave out. */
  omit?: readonly string[] | undefined
  /** Is signed instead of claims: for a malformed payload. */
  payload?: string | Uint8Array | undefined
}

export interface TokenDefaults {
  readonly clock: Clock
  readonly keys: KeyRotation
  readonly issuer: string | undefined
  readonly audience: string | readonly string[] | undefined
  readonly lifetime: number
  /** The header's `typ`, which its verifiers require if it is stated. */
  readonly type: string | readonly string[] | undefined
  readonly maxTokenAge: number | undefined
}

/** @throws TypeError for a wrong or misspelt option. */
export async function signToken(
  defaults: TokenDefaults,
  options: TokenOptions,
  key: SigningKey = defaults.keys.state.signing,
): Promise<string> {
  checkOptions('token', options, {
    ...claimChecks,
    header: isObject,
    payload: isPayload,
  })
  const { type = 'JWT' } = defaults
  const { header, omit = [] } = options
  const { payload = JSON.stringify(claimsOf(defaults, options)) } = options
  const { kid } = key.publicJwk
  const usualHeader = {
    alg: key.algorithm,
    ...(kid === undefined ? {} : { kid }),
    typ: [type].flat()[0],
  }
  return await key.sign(without({ ...usualHeader, ...header }, omit), octetsOf(payload))
}

export type ClaimOptions = Omit<TokenOptions, 'header' | 'payload'>

export const claimChecks: Readonly<Record<keyof ClaimOptions, OptionCheck>> = {
  claims: isObject,
  expiresIn: isSeconds,
  notBefore: isSeconds,
  omit: isTextList,
  boundTo: isBinding,
}

export function claimsOf(
  { clock, issuer, audience, lifetime }: TokenDefaults,
  { claims, boundTo, expiresIn = lifetime, notBefore, omit = [] }: ClaimOptions,
): Readonly<Record<string, unknown>> {
  const now = Math.floor(clock.now())
  const cnf = confirmationOf(boundTo)
  const usual = {
    ...(issuer === undefined ? {} : { iss: issuer }),
    ...(audience === undefined ? {} : { aud: audience }),
    iat: now,
    exp: now + expiresIn,
    ...(notBefore === undefined ? {} : { nbf: now + notBefore }),
    ...(cnf === undefined ? {} : { cnf }),
  }
  return without({ ...usual, ...claims }, omit)
}

/** Added to every token of a table, for what the verifier under test requires. */
export type TokenTableOptions = Pick<TokenOptions, 'claims' | 'header' | 'boundTo'>

/** A hundred years, in seconds, so that a test can move its clock without making the tokens expire. */
export const LONG_LIFE: number = 100 * 31_557_600

/** Signs the tokens of one table: long-lived, with what the table adds, by default with a published key. */
export type TableSigner = (options?: TokenOptions, key?: SigningKey) => Promise<string>

/** @throws TypeError for a wrong or misspelt option. */
export function tableSigner(
  caller: string,
  defaults: TokenDefaults,
  base: TokenTableOptions = {},
): TableSigner {
  checkOptions(caller, base, { claims: isObject, header: isObject, boundTo: isBinding })
  const { boundTo } = base
  return async (options = {}, key = defaults.keys.state.published) => {
    const claims = { ...base.claims, ...options.claims }
    const header = { ...base.header, ...options.header }
    const usual = { boundTo, expiresIn: LONG_LIFE }
    return await signToken(defaults, { ...usual, ...options, claims, header }, key)
  }
}

export function without(
  members: Readonly<Record<string, unknown>>,
  omit: readonly string[],
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !omit.includes(name)))
}

import { own, ownMembers } from '@portcullis/kit/options'

import {
  type AuthErrorCode,
  type AuthErrorReason,
  describe,
  refusals,
  visible,
} from './refusals.ts'
import type { ProtectedResourceMetadata } from './resource-metadata.ts'

// What the client gets of a refusal: the challenge and the other headers, and the problem document.

/** How the refusals of an API look. */
export interface PresentationOptions {
  /**
   * The protection space, shown in the challenge.
   * @default 'api'
   * @see RFC 9110 section 11.5
   */
  realm?: string | undefined
  /**
   * The scope that a client should ask for: a space-separated list. It is in the challenge of `missing_token` and
   * `invalid_token`, and with that of the requirement in that of `insufficient_user_authentication`. The challenge of
   * `insufficient_scope` names the scope of the requirement instead.
   * @default the scopes of `resourceMetadata`, if that is an object with scopes
   * @see RFC 6750 section 3
   */
  scope?: string | undefined
  /**
   * The protected resource metadata, or their URL, which the challenge shows.
   * @see RFC 9728 section 5.1
   */
  resourceMetadata?: string | ProtectedResourceMetadata | undefined
  /**
   * The proofs that a token with the scheme `DPoP` needs, as `dpopProofs` returns them: the challenge names their algorithms.
   * @see RFC 9449 section 7.1
   */
  dpop?:
    | {
        /** The accepted algorithms of proofs. */
        readonly algorithms: readonly string[]
        /** Whether only tokens that are bound to the key of a proof are accepted. */
        readonly required: boolean
        /** For the header `DPoP-Nonce`; `undefined` where proofs need no nonce. */
        nonce(): string | undefined
      }
    | undefined
  /**
   * With `forward` the framework makes the body of a refusal; with `problem` the body is a problem document.
   * @default 'forward'
   * @see RFC 9457
   */
  respond?: 'forward' | 'problem' | undefined
}

/** The schemes that present a token. RFC 6750 section 2.1; RFC 9449 section 7.1. */
export type Scheme = 'Bearer' | 'DPoP'

interface Presentation extends PresentationOptions {
  readonly scheme?: Scheme | undefined
  /** For `insufficient_user_authentication`. */
  readonly acrValues?: string | undefined
  readonly maxAge?: number | undefined
  /** Seconds after which the request may be repeated. */
  readonly retryAfter?: number | undefined
}

export function headersOf(
  code: AuthErrorCode,
  reason: AuthErrorReason,
  options: Presentation,
): Readonly<Record<string, string>> {
  const isOutage = refusals[code].status === 503
  // Frameworks copy these with `for ... in`, so they inherit nothing.
  return ownMembers({
    // In an outage the client's token is not at fault, so the client is not asked for another one.
    ...(isOutage
      ? { 'Retry-After': String(wholeSeconds(options.retryAfter)) }
      : { 'WWW-Authenticate': challengesOf(code, reason, options) }),
    'Cache-Control': 'no-store',
    ...nonceOf(options),
    ...(options.respond === 'problem' ? { 'Content-Type': 'application/problem+json' } : {}),
  })
}

/** @see RFC 9449 section 8.2 */
function nonceOf({ dpop }: Presentation): Readonly<Record<string, string>> {
  const nonce = dpop?.nonce()
  return nonce === undefined || !NONCE.test(nonce) ? {} : { 'DPoP-Nonce': nonce }
}

/** RFC 9449 section 8.1. Node throws for a header with other characters. */
const NONCE = /^[!\u0023-\u005B\u005D-\u007E]+$/

function wholeSeconds(retryAfter = 1): number {
  return Number.isFinite(retryAfter) ? Math.max(1, Math.ceil(retryAfter)) : 1
}

/** @see RFC 9457 section 3 */
export function problemOf(code: AuthErrorCode, reason: AuthErrorReason): string {
  const { status, title } = refusals[code]
  return JSON.stringify(
    ownMembers({
      type: 'about:blank',
      title,
      status,
      detail: describe(code, reason),
      code,
      ...visible(code, reason),
    }),
  )
}

/** A challenge for each scheme that will do. The error is in that of the scheme which the request has used. */
function challengesOf(code: AuthErrorCode, reason: AuthErrorReason, options: Presentation): string {
  const { dpop, scheme = 'Bearer' } = options
  if (dpop?.required === true || isAboutProof(code)) {
    const challenge = challengeOf('DPoP', options, code, reason)
    return dpop === undefined || dpop.required
      ? challenge
      : `${challenge}, ${challengeOf('Bearer', options, code)}`
  }
  const challenge = challengeOf(scheme, options, code, reason)
  if (dpop === undefined) return challenge
  const other = scheme === 'DPoP' ? 'Bearer' : 'DPoP'
  return `${challenge}, ${challengeOf(other, options, code)}`
}

/** RFC 6750 section 3: no error code when the request carried no token. @param reason Of a challenge with the error. */
function challengeOf(
  scheme: Scheme,
  { realm = 'api', scope, resourceMetadata, dpop, acrValues, maxAge }: Presentation,
  code: AuthErrorCode,
  reason?: AuthErrorReason,
): string {
  const metadata =
    typeof resourceMetadata === 'string' ? { url: resourceMetadata } : resourceMetadata
  const hasError = reason !== undefined && code !== 'missing_token'
  const wanted = asksForToken(code) ? (scope ?? scopesOf(metadata)) : hasError ? scope : undefined
  const parameters: readonly (readonly [name: string, value: string | undefined])[] = [
    ['realm', realm],
    ['error', hasError ? code : undefined],
    ['error_description', hasError ? describe(code, reason) : undefined],
    ['acr_values', hasError ? acrValues : undefined],
    ['max_age', hasError && maxAge !== undefined ? String(maxAge) : undefined],
    ['scope', wanted],
    ['resource_metadata', metadata?.url],
    ['algs', scheme === 'DPoP' ? dpop?.algorithms.join(' ') : undefined],
  ]
  const written = parameters.flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${quoted(value)}`],
  )
  return `${scheme} ${written.join(', ')}`
}

/** Whether the client needs another token, rather than one that permits more. */
export function asksForToken(code: AuthErrorCode): boolean {
  return (
    code === 'missing_token' ||
    code === 'invalid_token' ||
    code === 'insufficient_user_authentication'
  )
}

/** RFC 9449 section 7.1: these are errors of its scheme. */
function isAboutProof(code: AuthErrorCode): boolean {
  return code === 'invalid_dpop_proof' || code === 'use_dpop_nonce'
}

function scopesOf(metadata: Partial<ProtectedResourceMetadata> | undefined): string | undefined {
  const scopes = metadata === undefined ? undefined : own(metadata, 'scopes')
  return scopes === undefined || scopes.length === 0 ? undefined : scopes.join(' ')
}

/** @see RFC 9110 section 5.6.4 */
function quoted(text: string): string {
  // Node throws for a header with other characters, and the answer would be 500.
  return `"${text.replaceAll(/[^ -~]/g, '').replaceAll(/["\\]/g, String.raw`\$&`)}"`
}

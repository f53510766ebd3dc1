import { own, ownMembers } from './options.ts'
import {
  type AuthErrorCode,
  type AuthErrorReason,
  describe,
  refusals,
  visible,
} from './refusals.ts'
import type { ProtectedResourceMetadata } from './resource-metadata.ts'

/** How an API presents its refusals. */
export interface PresentationOptions {
  /**
   * The protection space, shown in the challenge.
   * @default 'api'
   * @see RFC 9110 section 11.5
   */
  realm?: string | undefined
  /**
   * The scope that a client should ask its token for: a space-separated list, shown in the challenge of `missing_token` and
   * `invalid_token`. That of `insufficient_scope` names what the requirement wants.
   * @default the scopes of `resourceMetadata`, if that is an object that has some
   * @see RFC 6750 section 3
   */
  scope?: string | undefined
  /**
   * The protected resource metadata, or their URL, which the challenge shows.
   * @see RFC 9728 section 5.1
   */
  resourceMetadata?: string | ProtectedResourceMetadata | undefined
  /**
   * `forward` leaves the body to the framework; `problem` makes it a problem document.
   * @default 'forward'
   * @see RFC 9457
   */
  respond?: 'forward' | 'problem' | undefined
}

/** What a refusal knows besides, for its headers. */
interface Presentation extends PresentationOptions {
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
      : { 'WWW-Authenticate': challengeOf(code, reason, options) }),
    'Cache-Control': 'no-store',
    ...(options.respond === 'problem' ? { 'Content-Type': 'application/problem+json' } : {}),
  })
}

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

/** @see RFC 6750 section 3: no error code when the request carried no token */
function challengeOf(
  code: AuthErrorCode,
  reason: AuthErrorReason,
  { realm = 'api', scope, resourceMetadata }: Presentation,
): string {
  const metadata =
    typeof resourceMetadata === 'string' ? { url: resourceMetadata } : resourceMetadata
  const wanted = scope ?? (asksForToken(code) ? scopesOf(metadata) : undefined)
  const parameters = [`realm=${quoted(realm)}`]
  if (code !== 'missing_token') {
    parameters.push(`error=${quoted(code)}`, `error_description=${quoted(describe(code, reason))}`)
  }
  if (wanted !== undefined) parameters.push(`scope=${quoted(wanted)}`)
  if (metadata !== undefined) parameters.push(`resource_metadata=${quoted(metadata.url)}`)
  const scheme = isAboutProof(code) ? 'DPoP' : 'Bearer'
  return `${scheme} ${parameters.join(', ')}`
}

/** Whether the client needs another token, rather than one that permits more. */
export function asksForToken(code: AuthErrorCode): boolean {
  return code === 'missing_token' || code === 'invalid_token'
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

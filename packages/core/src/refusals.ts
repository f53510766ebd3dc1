/** Every reason to refuse a request, by the code it belongs to. Codes and reasons are API; texts are not. */
export interface AuthErrorReasons {
  missing_token: 'missing_header' | 'other_scheme'
  invalid_request: 'malformed_header' | 'repeated_header'
  invalid_token:
    | 'malformed'
    | 'too_large'
    | 'algorithm'
    | 'critical_header'
    | 'unknown_key'
    | 'signature'
    | 'expired'
    | 'not_yet_valid'
    | 'issued_in_future'
    | 'too_old'
    | 'issuer'
    | 'audience'
    | 'type'
    | 'missing_claim'
    | 'claim'
    | 'revoked'
  insufficient_scope: 'scope' | 'claim' | 'check'
  keys_unavailable: 'unreachable' | 'timeout' | 'bad_document'
  revocation_unavailable: 'stale'
}

export type AuthErrorCode = keyof AuthErrorReasons

export type AuthErrorReason = AuthErrorReasons[AuthErrorCode]

/** As literals, so that frameworks with types for each status take them without a cast. */
export type AuthErrorStatus = 400 | 401 | 403 | 503

interface RefusalRow<Reason extends string> {
  status: AuthErrorStatus
  /** The status in words (RFC 9110 section 15). */
  title: string
  /** What the client reads. */
  description: string
  /** What the client reads instead for one reason; `null` where it must not learn the reason. */
  reasons: Record<Reason, string | null>
}

/**
 * All refusals. As long as no signature is proven, the client reads the same bytes for every reason.
 * Descriptions keep to the characters of RFC 6750 section 3: printable ASCII without quote and backslash.
 */
export const refusals: { [Code in AuthErrorCode]: RefusalRow<AuthErrorReasons[Code]> } = {
  missing_token: {
    status: 401,
    title: 'Unauthorized',
    description: 'An access token is required',
    reasons: {
      missing_header: null,
      other_scheme: null,
    },
  },
  invalid_request: {
    status: 400,
    title: 'Bad Request',
    description: 'The Authorization header is not valid',
    reasons: {
      malformed_header: 'The Authorization header must be Bearer, a space and one token',
      repeated_header: 'The request must have one Authorization header',
    },
  },
  invalid_token: {
    status: 401,
    title: 'Unauthorized',
    description: 'The access token is not valid',
    reasons: {
      malformed: null,
      too_large: null,
      algorithm: null,
      critical_header: null,
      unknown_key: null,
      signature: null,
      expired: 'The access token has expired',
      not_yet_valid: 'The access token is not yet valid',
      issued_in_future: 'The access token was issued in the future',
      too_old: 'The access token was issued too long ago',
      issuer: 'The access token is from another issuer',
      audience: 'The access token is for another audience',
      type: 'The access token is of another type',
      missing_claim: 'The access token lacks a required claim',
      claim: 'The access token has a claim of the wrong form',
      revoked: 'The access token has been revoked',
    },
  },
  insufficient_scope: {
    status: 403,
    title: 'Forbidden',
    description: 'The access token does not permit this request',
    reasons: {
      scope: 'The access token lacks a required scope',
      claim: 'The access token lacks a required claim value',
      check: null,
    },
  },
  keys_unavailable: {
    status: 503,
    title: 'Service Unavailable',
    description: 'Access tokens cannot be verified at the moment',
    reasons: {
      unreachable: null,
      timeout: null,
      bad_document: null,
    },
  },
  revocation_unavailable: {
    status: 503,
    title: 'Service Unavailable',
    description: 'It cannot be told at the moment whether access tokens have been revoked',
    reasons: {
      stale: null,
    },
  },
}

/** What the client reads. */
export function describe(code: AuthErrorCode, reason: AuthErrorReason): string {
  return descriptionOf(code, reason) ?? refusals[code].description
}

/** The reason, where the client may learn it. */
export function visible(
  code: AuthErrorCode,
  reason: AuthErrorReason,
): { reason?: AuthErrorReason } {
  return descriptionOf(code, reason) === null ? {} : { reason }
}

function descriptionOf(code: AuthErrorCode, reason: AuthErrorReason): string | null {
  const reasons: Partial<Record<AuthErrorReason, string | null>> = refusals[code].reasons
  const description = Object.hasOwn(reasons, reason) ? reasons[reason] : undefined
  if (description === undefined) {
    throw new TypeError(`${JSON.stringify(reason)} is not a reason of ${code}`)
  }
  return description
}

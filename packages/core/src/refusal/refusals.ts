import { checkArgument, oneOf } from '@portcullis/kit/options'

// The table of all refusals: the status of each code, and what the client reads.

/**
 * Every reason to refuse a request, by the code it belongs to. Codes and reasons are API; texts are not. A minor release may
 * bring further ones, so a `switch` needs a `default`.
 */
export interface AuthErrorReasons {
  missing_token: 'missing_header' | 'other_scheme'
  invalid_request: 'repeated_header' | 'repeated_credentials'
  invalid_token:
    | 'malformed'
    | 'too_large'
    | 'algorithm'
    | 'critical_header'
    | 'unknown_key'
    | 'signature'
    | 'inactive'
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
    | 'binding'
  invalid_dpop_proof:
    | 'missing_proof'
    | 'malformed_proof'
    | 'proof_algorithm'
    | 'proof_key'
    | 'proof_signature'
    | 'proof_method'
    | 'proof_url'
    | 'proof_time'
    | 'proof_token'
    | 'replayed_proof'
  use_dpop_nonce: 'missing_nonce' | 'invalid_nonce'
  insufficient_user_authentication: 'acr' | 'age'
  insufficient_scope: 'scope' | 'claim' | 'check'
  keys_unavailable: 'unreachable' | 'timeout' | 'bad_document'
  revocation_unavailable: 'stale'
  replay_unavailable: 'unreachable' | 'full'
  introspection_unavailable: 'unreachable' | 'timeout' | 'bad_answer' | 'busy'
}

export type AuthErrorCode = keyof AuthErrorReasons

export type AuthErrorReason = AuthErrorReasons[AuthErrorCode]

interface RefusalRow<Reason extends string> {
  status: 400 | 401 | 403 | 503
  /** The status in words (RFC 9110 section 15). */
  title: string
  /** What the client reads. */
  description: string
  /** What the client reads instead for one reason; `null` where it must not learn the reason. */
  reasons: Record<Reason, string | null>
}

/** Until a signature is proven, the client reads the same bytes for every reason. RFC 6750 section 3: ASCII without quote and backslash. */
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
    description: 'The request must have one access token in one header',
    reasons: {
      repeated_header:
        'The request must have one Authorization header, and not more than one DPoP header',
      repeated_credentials: 'The request must have the header of the access token once',
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
      inactive: null,
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
      binding: 'The access token is bound to another key',
    },
  },
  // A proof is its sender's own work, so the sender may know what is wrong with it.
  invalid_dpop_proof: {
    status: 401,
    title: 'Unauthorized',
    description: 'The DPoP proof is not valid',
    reasons: {
      missing_proof: 'The request must have one DPoP header',
      malformed_proof: 'The DPoP proof has the wrong form',
      proof_algorithm: 'The DPoP proof is signed with another algorithm',
      proof_key: 'The DPoP proof has no public key that can be used',
      proof_signature: 'The DPoP proof is signed by another key than its own',
      proof_method: 'The DPoP proof is for another method',
      proof_url: 'The DPoP proof is for another URL',
      proof_time: 'The DPoP proof is from another time',
      proof_token: 'The DPoP proof is for another access token',
      replayed_proof: 'The DPoP proof has been used before',
    },
  },
  use_dpop_nonce: {
    status: 401,
    title: 'Unauthorized',
    description: 'The DPoP proof must have the nonce of this server',
    reasons: {
      missing_nonce: 'The DPoP proof must have a nonce',
      invalid_nonce: 'The DPoP proof must have a newer nonce',
    },
  },
  insufficient_user_authentication: {
    status: 401,
    title: 'Unauthorized',
    description: 'The user must authenticate in another way',
    reasons: {
      acr: 'A different authentication level is required',
      age: 'More recent authentication is required',
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
  replay_unavailable: {
    status: 503,
    title: 'Service Unavailable',
    description: 'It cannot be told at the moment whether DPoP proofs have been used before',
    reasons: {
      unreachable: null,
      full: null,
    },
  },
  introspection_unavailable: {
    status: 503,
    title: 'Service Unavailable',
    description: 'It cannot be told at the moment whether access tokens are active',
    reasons: {
      unreachable: null,
      timeout: null,
      bad_answer: null,
      busy: null,
    },
  },
}

/**
 * At run time what the type `AuthErrorReasons` says: the reasons of each code. For labels of metrics, and for a table of your own
 * that has a row for each. A minor release may bring further ones, so take what is not in your table for something else.
 */
export const authErrorReasons: {
  readonly [Code in AuthErrorCode]: readonly AuthErrorReasons[Code][]
} = reasonsOf(refusals)

export function describe(code: AuthErrorCode, reason: AuthErrorReason): string {
  return descriptionOf(code, reason) ?? refusals[code].description
}

export function visible(
  code: AuthErrorCode,
  reason: AuthErrorReason,
): { reason?: AuthErrorReason } {
  return descriptionOf(code, reason) === null ? {} : { reason }
}

function reasonsOf(rows: typeof refusals): typeof authErrorReasons {
  const reasons = Object.entries(rows).map(([code, row]) => [
    code,
    Object.freeze(Object.keys(row.reasons)),
  ])
  return Object.freeze(Object.fromEntries(reasons) as typeof authErrorReasons) // as the type of the rows has them
}

const isCode = oneOf(...Object.keys(refusals))

function descriptionOf(code: AuthErrorCode, reason: AuthErrorReason): string | null {
  // A caller without types may pass anything.
  checkArgument('AuthError', 'the code', isCode(code))
  const reasons: Partial<Record<AuthErrorReason, string | null>> = refusals[code].reasons
  const description = Object.hasOwn(reasons, reason) ? reasons[reason] : undefined
  if (description === undefined) {
    // Mistake `… is not a reason of …`: `new AuthError(code, reason)` takes the reasons of that code, as in
    // [ERRORS.md](ERRORS.md#refusals).
    throw new TypeError(`${JSON.stringify(reason)} is not a reason of ${code}`)
  }
  return description
}

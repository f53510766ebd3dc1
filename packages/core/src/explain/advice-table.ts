import type { AuthErrorCode, AuthErrorReasons } from '../refusal/refusals.ts'

// What to do about each refusal. Whatever gives advice takes it from here; ERRORS.md has it word for word.

/** What to do about a refusal. Names of files are those of the guides of this package. */
export interface Advice {
  /** For whoever writes the client. */
  readonly client: string
  /** For whoever runs the API: what to do comes first, then when or why. `Nothing` stands alone. */
  readonly operator: string
}

export const ADVICE: {
  readonly [Code in AuthErrorCode]: Readonly<Record<AuthErrorReasons[Code], Advice>>
} = {
  missing_token: {
    missing_header: {
      client: 'send `Authorization: Bearer` and the token',
      operator: 'Look for a proxy that removes the header if clients do send it',
    },
    other_scheme: {
      client: 'send the token with a scheme of the challenge',
      operator:
        'Look for a gateway that sets `Basic` or its own scheme. For `DPoP` the guard needs the option `dpop`',
    },
  },
  invalid_request: {
    repeated_header: {
      client: 'send each header once',
      operator: 'Look for a proxy that adds one',
    },
    repeated_credentials: {
      client: 'leave the header to the proxy',
      operator: 'Let the proxy replace the header of a client, not add one',
    },
  },
  invalid_token: {
    malformed: {
      client: 'log in again, once',
      operator:
        'Read `detail`: a client sends quotes, two words, a token that was cut off (it has three parts with dots between them) or something else, such as a session or an encrypted token. With the option `credentials`, compare what the proxy sends',
    },
    too_large: {
      client: 'log in again, once',
      operator: 'Ask the issuer what it puts into tokens before you raise the limit',
    },
    algorithm: {
      client: 'log in again, once',
      operator:
        'Read `detail`: it says what the keys are for. The issuer has changed its algorithm, publishes keys without `alg` (then state `algorithms`), or is another one. Ask it before you add an algorithm',
    },
    critical_header: {
      client: 'log in again, once',
      operator: 'Ask the issuer: there is no option',
    },
    unknown_key: {
      client: 'log in again, once',
      operator:
        'Compare the key document with `keys.status().thumbprints`, and the key URL with that of the issuer: the tokens are of another environment, forged, or signed with a key that is not published yet',
    },
    signature: {
      client: 'log in again, once',
      operator:
        'Compare the key document with `keys.status().thumbprints`: the tokens are of another issuer, or were changed. If many come after a rotation, see OPERATING.md#rotating-a-key',
    },
    inactive: {
      client: 'log in again, once',
      operator:
        'Compare the introspection endpoint with the service that issues the tokens if all are refused, and ask whether this API may introspect them',
    },
    expired: {
      client: 'log in again, once',
      operator:
        'Compare the clocks of this machine and of the issuer if new tokens are refused, too',
    },
    not_yet_valid: {
      client: 'send the same token again, a little later',
      operator: 'Compare the clocks of this machine and of the issuer',
    },
    issued_in_future: {
      client: 'send the same token again, a little later',
      operator: 'Compare the clocks of this machine and of the issuer',
    },
    too_old: {
      client: 'log in again, once',
      operator: 'Compare `maxTokenAge` with the lifetime of the tokens',
    },
    issuer: {
      client: 'stop, and check whether this is the right token service for the API',
      operator:
        'Compare `issuer` with what `detail` shows: the tokens are of another environment, or the issuer writes its name in another way now, such as with a slash at the end',
    },
    audience: {
      client: 'stop: the token is for another API',
      operator: "Look at the issuer's configuration of this API if all tokens are refused",
    },
    type: {
      client: 'stop, and check whether the client sends an ID token',
      operator: 'Look for a client that sends an ID token instead of its access token',
    },
    missing_claim: {
      client: 'stop: a new token would be the same',
      operator: 'Ask the issuer what it changed',
    },
    claim: {
      client: 'stop: a new token would be the same',
      operator: 'Ask the issuer what it changed; `detail` names the claim',
    },
    revoked: {
      client: 'ask the user to log in again',
      operator: 'See OPERATING.md#revoking-a-token-a-user-everything if it was a mistake',
    },
    binding: {
      client:
        'send it with a proof of its key under the scheme DPoP, or with its client certificate',
      operator:
        'Read `detail`. If many come at once, the guard needs the option `dpop` or `mutualTls`, a proxy removes the certificate, or a wrapper of `verify` drops its second argument. If it is one client, find out whether its token was stolen',
    },
  },
  invalid_dpop_proof: {
    missing_proof: {
      client: 'send one header `DPoP` with a proof',
      operator: 'Look for a client that sends no proof, or a proxy that removes the header',
    },
    malformed_proof: {
      client: 'stop: the library makes proofs that cannot be read',
      operator: "Read `detail`, and look at the client's library",
    },
    proof_algorithm: {
      client: 'make the key for an algorithm of `algs` in the challenge',
      operator: 'Add the algorithm to `algorithms` of `dpopProofs` if such clients are yours',
    },
    proof_key: {
      client: 'stop: the key cannot be used here',
      operator: "Look at the client's library. A private key in a proof must be replaced",
    },
    proof_signature: {
      client: 'stop: the proof shows another key than it was signed with',
      operator: "Look at the client's library",
    },
    proof_method: {
      client: 'make a new proof for this method, written as it is sent',
      operator: 'Look for a proxy that changes methods if all proofs are refused',
    },
    proof_url: {
      client: 'make a new proof for the URL that is called',
      operator:
        'Compare `origin` with the address that clients use if all proofs are refused: see OPERATING.md#proofs-for-another-url',
    },
    proof_time: {
      client: 'correct the clock, and make a new proof for each request',
      operator:
        'Compare the clocks. Raise `clockTolerance` of `dpopProofs` (5 s) for clients whose clocks you cannot set',
    },
    proof_token: {
      client: 'make a new proof with the hash of this token',
      operator: 'Let the client make a proof for each request, with the token that it sends',
    },
    replayed_proof: {
      client: 'make a new proof for each request, also for one that is repeated',
      operator:
        'Look for a client or a proxy that repeats requests. If there is none, somebody tries to use a proof of another client',
    },
  },
  use_dpop_nonce: {
    missing_nonce: {
      client: 'repeat the request once, with the nonce of `DPoP-Nonce` in a new proof',
      operator: 'Nothing',
    },
    invalid_nonce: {
      client: 'repeat the request once, with the nonce of `DPoP-Nonce` in a new proof',
      operator: 'State the same secret in all processes if all nonces are refused',
    },
  },
  insufficient_user_authentication: {
    acr: {
      client: 'send the user to log in with the `acr_values` of the challenge',
      operator: 'Ask the issuer for such an `acr` if tokens are refused after a log-in, too',
    },
    age: {
      client: 'send the user to log in with the `max_age` of the challenge',
      operator: 'Ask the issuer for `auth_time` if tokens are refused after a log-in, too',
    },
  },
  insufficient_scope: {
    scope: {
      client: 'ask for the scopes that the challenge names, or do not call this route',
      operator: 'Ask the issuer which scopes it grants now if all tokens are refused',
    },
    claim: {
      client: 'do not call this route',
      operator: 'Ask the issuer which values it grants now if all tokens are refused',
    },
    check: {
      client: 'do not call this route',
      operator: 'Look at the function that `check` was given. If it throws, the answer is 500',
    },
  },
  keys_unavailable: {
    unreachable: {
      client: 'repeat the request after `Retry-After`',
      operator: 'See OPERATING.md#the-key-endpoint-is-down',
    },
    timeout: {
      client: 'repeat the request after `Retry-After`',
      operator: 'See OPERATING.md#the-key-endpoint-is-down',
    },
    bad_document: {
      client: 'repeat the request after `Retry-After`',
      operator:
        'Read `keys.status().lastFailure.detail`: it says why no key is usable. See OPERATING.md#the-key-endpoint-is-down',
    },
  },
  revocation_unavailable: {
    stale: {
      client: 'repeat the request after `Retry-After`',
      operator: 'Read `detail`, and see OPERATING.md#revocations-cannot-be-told',
    },
  },
  replay_unavailable: {
    unreachable: {
      client: 'repeat the request after `Retry-After`, with a new proof',
      operator: 'See OPERATING.md#proofs-cannot-be-looked-up',
    },
    full: {
      client: 'repeat the request after `Retry-After`, with a new proof',
      operator:
        'Look for a client that sends too many. If there is none, raise `maxPerKey` or `max` of the memory',
    },
  },
  introspection_unavailable: {
    unreachable: {
      client: 'repeat the request after `Retry-After`',
      operator: 'See OPERATING.md#the-introspection-endpoint-is-down',
    },
    timeout: {
      client: 'repeat the request after `Retry-After`',
      operator: 'See OPERATING.md#the-introspection-endpoint-is-down',
    },
    bad_answer: {
      client: 'repeat the request after `Retry-After`',
      operator: 'Read `detail`, and see OPERATING.md#the-introspection-endpoint-is-down',
    },
    busy: {
      client: 'repeat the request after `Retry-After`',
      operator:
        'Look for a flood of invented tokens, and state `form`. If there is none, raise the options that `detail` names, once the issuer agrees',
    },
  },
}

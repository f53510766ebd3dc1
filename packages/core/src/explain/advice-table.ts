import type { AuthErrorCode, AuthErrorReasons } from '../refusal/refusals.ts'

// What to do about each refusal. Whatever gives advice takes it from here; ERRORS.md has it word for word.

/** What to do about a refusal. Names of files are those of the guides of this package. */
export interface Advice {
  /** For whoever writes the client. */
  readonly client: string
  /** For whoever runs the API. */
  readonly operator: string
}

export const ADVICE: {
  readonly [Code in AuthErrorCode]: Readonly<Record<AuthErrorReasons[Code], Advice>>
} = {
  missing_token: {
    missing_header: {
      client: 'send `Authorization: Bearer` and the token',
      operator: 'Nothing. If all requests have it: a proxy removes the header',
    },
    other_scheme: {
      client: 'send the token with a scheme of the challenge',
      operator:
        'Look for a gateway that sets `Basic` or its own scheme. If the scheme is `DPoP`: the guard needs the option `dpop`',
    },
  },
  invalid_request: {
    malformed_header: {
      client: 'send the scheme, one space and one token, nothing else',
      operator: 'Look for a client that sends `Bearer undefined x`, quotes or two tokens',
    },
    repeated_header: {
      client: 'send each header once',
      operator: "Look for a proxy that adds one beside the client's",
    },
    malformed_credentials: {
      client: 'send one token in the header that the API names, nothing else',
      operator:
        'Compare what the proxy sends with the option `credentials`: with or without `Bearer`',
    },
    repeated_credentials: {
      client: 'leave the header to the proxy',
      operator: 'Let the proxy replace the header of a client, and not add one beside it',
    },
  },
  invalid_token: {
    malformed: {
      client: 'log in again, once',
      operator:
        'Look whether the token was copied whole: it has three parts with dots between them. If it was: look for a client that sends something else, such as a session or an encrypted token',
    },
    too_large: {
      client: 'log in again, once',
      operator: 'Before you raise the limit, ask the issuer what it puts into tokens',
    },
    algorithm: {
      client: 'log in again, once',
      operator:
        'Read `detail`: it says what the keys are for. The issuer has changed its algorithm, publishes keys without `alg` (then state `algorithms`), or tokens of another issuer come. Never add an algorithm without asking the issuer',
    },
    critical_header: {
      client: 'log in again, once',
      operator: 'Ask the issuer. There is no option',
    },
    unknown_key: {
      client: 'log in again, once',
      operator:
        'Compare `keys.status().thumbprints` with the key document, and the key URL with that of the issuer. The tokens are of another environment, are forged, or their key is not published yet',
    },
    signature: {
      client: 'log in again, once',
      operator:
        'Compare `keys.status().thumbprints` with the key document: the tokens are of another issuer, or were changed. If many come at once after a rotation, see OPERATING.md#rotating-a-key',
    },
    inactive: {
      client: 'log in again, once',
      operator:
        'Nothing, unless all tokens are refused: then compare the introspection endpoint with the service that issues the tokens, and ask whether this API may introspect them',
    },
    expired: {
      client: 'log in again, once',
      operator:
        'Nothing. If new tokens are refused: compare the clocks of this machine and of the issuer',
    },
    not_yet_valid: {
      client: 'send the same token again, a little later',
      operator: 'Compare the clocks',
    },
    issued_in_future: {
      client: 'send the same token again, a little later',
      operator: 'Compare the clocks',
    },
    too_old: {
      client: 'log in again, once',
      operator: 'Nothing, unless the tokens are valid for longer than `maxTokenAge`',
    },
    issuer: {
      client: 'stop, and check whether this is the right token service for the API',
      operator:
        'The tokens are of another environment, or the issuer writes its name in another way now, such as with a slash at the end',
    },
    audience: {
      client: 'stop: the token is for another API',
      operator:
        "Nothing. If all tokens are refused: the issuer's configuration of this API has changed",
    },
    type: {
      client: 'stop, and check whether the client sends an ID token instead of its access token',
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
      operator: 'Nothing. If it was a mistake, see OPERATING.md#revoking-a-token-a-user-everything',
    },
    binding: {
      client:
        'send it with a proof of what it is bound to: under the scheme DPoP with a proof of its key, or with its client certificate',
      operator:
        'If many come at once: the guard needs the option `dpop` or `mutualTls`, a proxy removes the certificate, or a wrapper of `verify` does not pass on its second argument; `detail` says which. If it is one client: find out whether its token was stolen',
    },
  },
  invalid_dpop_proof: {
    missing_proof: {
      client: 'send one header `DPoP` with a proof',
      operator: 'Look for a client that sends no proof, or a proxy that removes the header',
    },
    malformed_proof: {
      client: 'stop: the library makes proofs that cannot be read',
      operator: "Look at the client's library. `detail` says what is wrong",
    },
    proof_algorithm: {
      client: 'make the key for an algorithm of `algs` in the challenge',
      operator: 'Add the algorithm to `algorithms` of `dpopProofs` if such clients are yours',
    },
    proof_key: {
      client: 'stop: the key cannot be used here',
      operator: "Look at the client's library. A private key in it must be replaced",
    },
    proof_signature: {
      client: 'stop: the proof shows another key than it was signed with',
      operator: "Look at the client's library",
    },
    proof_method: {
      client: 'make a new proof for this method, written as it is sent',
      operator: 'If all proofs are refused: a proxy changes methods',
    },
    proof_url: {
      client: 'make a new proof for the URL that is called',
      operator:
        'If all proofs are refused: `origin` is not the address that clients use, for example because a proxy removes a part of the path. See OPERATING.md#proofs-for-another-url',
    },
    proof_time: {
      client: 'correct the clock, and make a new proof for each request',
      operator:
        'Compare the clocks. `clockTolerance` of `dpopProofs` is 5 s: raise it for clients whose clocks you cannot set',
    },
    proof_token: {
      client: 'make a new proof with the hash of this token',
      operator:
        'Look at the client: it makes one proof for each request, with the token that it sends',
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
      operator: 'Nothing. If all nonces are refused: the processes have different secrets',
    },
  },
  insufficient_user_authentication: {
    acr: {
      client: 'send the user to log in with the `acr_values` of the challenge',
      operator:
        'Nothing. If tokens are refused also after a log-in: the issuer sets no `acr`, or another one',
    },
    age: {
      client: 'send the user to log in with the `max_age` of the challenge',
      operator:
        'Nothing. If tokens are refused also after a log-in: the issuer sets no `auth_time`',
    },
  },
  insufficient_scope: {
    scope: {
      client: 'ask for the scopes that the challenge names, or do not call this route',
      operator: 'Nothing. If all tokens are refused: the issuer grants other scopes now',
    },
    claim: {
      client: 'do without',
      operator: 'Nothing. If all tokens are refused: the issuer grants other values now',
    },
    check: {
      client: 'do without',
      operator: 'Look at the function given to `check`. (If it throws, the answer is 500)',
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
        'See OPERATING.md#the-key-endpoint-is-down; `keys.status().lastFailure.detail` says why no key is usable',
    },
  },
  revocation_unavailable: {
    stale: {
      client: 'repeat the request after `Retry-After`',
      operator:
        '`detail` says why, such as a store that is down. See OPERATING.md#revocations-cannot-be-told',
    },
  },
  replay_unavailable: {
    unreachable: {
      client: 'repeat the request after `Retry-After`, with a new proof',
      operator: 'Look at the store, such as Redis: see OPERATING.md#proofs-cannot-be-looked-up',
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
      operator:
        'Read `detail`: the endpoint refuses the credentials of this API, or its answer cannot be used. See OPERATING.md#the-introspection-endpoint-is-down',
    },
    busy: {
      client: 'repeat the request after `Retry-After`',
      operator:
        'Look for a flood of invented tokens, and state `form`. If there is none, raise `maxCalls` and `maxRate`, once the issuer agrees',
    },
  },
}

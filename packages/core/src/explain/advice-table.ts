import type { AuthErrorCode, AuthErrorReasons } from '../refusal/refusals.ts'

// What each refusal means, and what to do about it. Whatever gives advice takes it from here; `pnpm write` writes it into ERRORS.md.

/** What to do about a refusal. Names of files are those of the guides of this package. */
export interface Advice {
  /** For whoever writes the client. */
  readonly client: string
  /** For whoever runs the API: what to do comes first, then when or why. `Nothing` stands alone. */
  readonly operator: string
}

interface Explained extends Advice {
  /** What was found: what follows "It means: ". */
  readonly means: string
}

/** The type names the reason that has no row. */
export const ADVICE: {
  readonly [Code in AuthErrorCode]: Readonly<Record<AuthErrorReasons[Code], Explained>>
} = {
  missing_token: {
    missing_header: {
      means: 'no `Authorization` header',
      client: 'send `Authorization: Bearer` and the token',
      operator: 'Look for a proxy that removes the header if clients do send it',
    },
    other_scheme: {
      means: 'a scheme other than `Bearer` (or `DPoP`, if the guard accepts proofs)',
      client: 'send the token with a scheme of the challenge',
      operator:
        'Look for a gateway that sets `Basic` or its own scheme. For `DPoP` the guard needs the option `dpop`',
    },
  },
  invalid_request: {
    repeated_header: {
      means:
        'several `Authorization` or `DPoP` headers, also joined by a comma, or a value that is no text',
      client: 'send each header once',
      operator: 'Look for a proxy that adds one',
    },
    repeated_credentials: {
      means:
        'the header of the option `credentials` comes several times, also joined by a comma, or is no text',
      client: 'leave the header to the proxy',
      operator: 'Let the proxy replace the header of a client, not add one',
    },
  },
  invalid_token: {
    malformed: {
      means:
        'what stands behind `Bearer` is not one token: nothing, two words, a character that no token has; or it is not a compact JWS, or one that breaks a rule for base64url or JSON',
      client: 'log in again, once',
      operator:
        'Read `detail`: a client sends quotes, two words, a token that was cut off (it has three parts with dots between them) or something else, such as a session or an encrypted token. With the option `credentials`, compare what the proxy sends',
    },
    too_large: {
      means: 'longer than `maxTokenSize`',
      client: 'log in again, once',
      operator: 'Ask the issuer what it puts into tokens before you raise the limit',
    },
    algorithm: {
      means:
        'an `alg` that is not in `algorithms`; without that list, one that no trusted key is for',
      client: 'log in again, once',
      operator:
        'Read `detail`: it says what the keys are for. The issuer has changed its algorithm, publishes keys without `alg` (then state `algorithms`), or is another one. Ask it before you add an algorithm',
    },
    critical_header: {
      means: 'the header has `crit` or `"b64": false`; no extension is supported',
      client: 'log in again, once',
      operator: 'Ask the issuer: there is no option',
    },
    unknown_key: {
      means: "no key fits the token's `kid` or algorithm",
      client: 'log in again, once',
      operator:
        'Compare the key document with `keys.status().thumbprints`, and the key URL with that of the issuer: the tokens are of another environment, forged, or signed with a key that is not published yet',
    },
    signature: {
      means: 'keys fit, and none made the signature',
      client: 'log in again, once',
      operator:
        'Compare the key document with `keys.status().thumbprints`: the tokens are of another issuer, or were changed. If many come after a rotation, see OPERATING.md#rotating-a-key',
    },
    inactive: {
      means: 'an opaque token that its issuer does not know, or that has expired or was revoked',
      client: 'log in again, once',
      operator:
        'Compare the introspection endpoint with the service that issues the tokens if all are refused, and ask whether this API may introspect them',
    },
    expired: {
      means: '`exp` has passed',
      client: 'log in again, once',
      operator:
        'Compare the clocks of this machine and of the issuer if new tokens are refused, too',
    },
    not_yet_valid: {
      means: '`nbf` is in the future',
      client: 'send the same token again, a little later',
      operator: 'Compare the clocks of this machine and of the issuer',
    },
    issued_in_future: {
      means: '`iat` is more than a minute ahead',
      client: 'send the same token again, a little later',
      operator: 'Compare the clocks of this machine and of the issuer',
    },
    too_old: {
      means: '`iat` is longer ago than `maxTokenAge`',
      client: 'log in again, once',
      operator: 'Compare `maxTokenAge` with the lifetime of the tokens',
    },
    issuer: {
      means: '`iss` is not one of `issuer`',
      client: 'stop, and check whether this is the right token service for the API',
      operator:
        'Compare `issuer` with what `detail` shows: the tokens are of another environment, or the issuer writes its name in another way now, such as with a slash at the end',
    },
    audience: {
      means: '`aud` does not name this API',
      client: 'stop: the token is for another API',
      operator: "Look at the issuer's configuration of this API if all tokens are refused",
    },
    type: {
      means:
        "`typ` is not `type`; without that option, `typ` names another kind of token, such as `logout+jwt`: it ends in `+jwt`, or in another suffix with `jwt`, and is not `at+jwt`; or the claims are a security event (RFC 8417): `events` has a URI whose value is an object. Of an opaque token, the answer names another kind, or none and `type: null` is not stated. Transaction tokens need `type: 'txntoken+jwt'`, WIMSE tokens `type: ['wit+jwt', 'wpt+jwt']`",
      client: 'stop, and check whether the client sends an ID token',
      operator: 'Look for a client that sends an ID token instead of its access token',
    },
    missing_claim: {
      means: 'a required claim is missing, `exp` included',
      client: 'stop: a new token would be the same',
      operator: 'Ask the issuer what it changed',
    },
    claim: {
      means:
        'a claim of the wrong form, a time in milliseconds, or a claim that `requiredClaims` or the schema refuses',
      client: 'stop: a new token would be the same',
      operator: 'Ask the issuer what it changed; `detail` names the claim',
    },
    revoked: {
      means: 'somebody has revoked the token, or all tokens of its user or session',
      client: 'ask the user to log in again',
      operator: 'See OPERATING.md#revoking-a-token-a-user-everything if it was a mistake',
    },
    binding: {
      means:
        'bound to a key or certificate that the sender has not proven to have, or to something unknown; a proof beside a token that is bound to no key; a bearer token where `required` is set',
      client:
        'send it with a proof of its key under the scheme DPoP, or with its client certificate',
      operator:
        'Read `detail`. If many come at once, the guard needs the option `dpop` or `mutualTls`, a proxy removes the certificate, or a wrapper of `verify` drops its second argument. If it is one client, find out whether its token was stolen',
    },
  },
  invalid_dpop_proof: {
    missing_proof: {
      means: 'the scheme `DPoP` without the header `DPoP`',
      client: 'send one header `DPoP` with a proof',
      operator: 'Look for a client that sends no proof, or a proxy that removes the header',
    },
    malformed_proof: {
      means: 'not a JWT of the type `dpop+jwt`, without `jti`, or too long',
      client: 'stop: the library makes proofs that cannot be read',
      operator: "Read `detail`, and look at the client's library",
    },
    proof_algorithm: {
      means: 'an `alg` that is not in `algorithms` of `dpopProofs`',
      client: 'make the key for an algorithm of `algs` in the challenge',
      operator: 'Add the algorithm to `algorithms` of `dpopProofs` if such clients are yours',
    },
    proof_key: {
      means:
        'the `jwk` in the header is not a public key, is weak, is for another algorithm, or is not in its shortest form',
      client: 'stop: the key cannot be used here',
      operator: "Look at the client's library. A private key in a proof must be replaced",
    },
    proof_signature: {
      means: 'not signed with the key in its header',
      client: 'stop: the proof shows another key than it was signed with',
      operator: "Look at the client's library",
    },
    proof_method: {
      means: '`htm` is not exactly the method of the request',
      client: 'make a new proof for this method, written as it is sent',
      operator: 'Look for a proxy that changes methods if all proofs are refused',
    },
    proof_url: {
      means: '`htu` is not the URL of the request',
      client: 'make a new proof for the URL that is called',
      operator:
        'Compare `origin` with the address that clients use if all proofs are refused: see OPERATING.md#proofs-for-another-url',
    },
    proof_time: {
      means:
        '`iat` is longer ago than `maxAge`, or ahead by more than 30 s (a stated `clockTolerance`); `exp` has passed, or `nbf` is in the future',
      client: 'correct the clock, and make a new proof for each request',
      operator:
        'Compare the clocks. Raise `clockTolerance` of `dpopProofs` (5 s) for clients whose clocks you cannot set',
    },
    proof_token: {
      means: '`ath` is not the hash of the token',
      client: 'make a new proof with the hash of this token',
      operator: 'Let the client make a proof for each request, with the token that it sends',
    },
    replayed_proof: {
      means: 'a proof with this key and `jti` was used before',
      client: 'make a new proof for each request, also for one that is repeated',
      operator:
        'Look for a client or a proxy that repeats requests. If there is none, somebody tries to use a proof of another client',
    },
  },
  use_dpop_nonce: {
    missing_nonce: {
      means: 'the proof has no nonce, and the guard has `nonces`',
      client: 'repeat the request once, with the nonce of `DPoP-Nonce` in a new proof',
      operator: 'Nothing',
    },
    invalid_nonce: {
      means: 'the nonce is too old, or made with another secret',
      client: 'repeat the request once, with the nonce of `DPoP-Nonce` in a new proof',
      operator: 'State the same secret in all processes if all nonces are refused',
    },
  },
  insufficient_user_authentication: {
    acr: {
      means: '`acr` is missing, or has no value that the route wants',
      client: 'send the user to log in with the `acr_values` of the challenge',
      operator: 'Ask the issuer for such an `acr` if tokens are refused after a log-in, too',
    },
    age: {
      means: '`auth_time` is missing, longer ago than the route wants, or more than a minute ahead',
      client: 'send the user to log in with the `max_age` of the challenge',
      operator: 'Ask the issuer for `auth_time` if tokens are refused after a log-in, too',
    },
  },
  insufficient_scope: {
    scope: {
      means: 'the token lacks a scope',
      client: 'ask for the scopes that the challenge names, or do not call this route',
      operator: 'Ask the issuer which scopes it grants now if all tokens are refused',
    },
    claim: {
      means: 'the token lacks a value that the route wants',
      client: 'do not call this route',
      operator: 'Ask the issuer which values it grants now if all tokens are refused',
    },
    check: {
      means: 'your own function did not permit it',
      client: 'do not call this route',
      operator: 'Look at the function that `check` was given. If it throws, the answer is 500',
    },
  },
  keys_unavailable: {
    unreachable: {
      means: 'the key endpoint could not be reached, or did not answer with 200',
      client: 'repeat the request after `Retry-After`',
      operator: 'See OPERATING.md#the-key-endpoint-is-down',
    },
    timeout: {
      means: 'the key endpoint did not answer in 5 s, or too many requests wait for it',
      client: 'repeat the request after `Retry-After`',
      operator: 'See OPERATING.md#the-key-endpoint-is-down',
    },
    bad_document: {
      means: "the key endpoint's answer has no usable key",
      client: 'repeat the request after `Retry-After`',
      operator:
        'Read `keys.status().lastFailure.detail`: it says why no key is usable. See OPERATING.md#the-key-endpoint-is-down',
    },
  },
  revocation_unavailable: {
    stale: {
      means: 'it is not known at the moment whether the token was revoked',
      client: 'repeat the request after `Retry-After`',
      operator: 'Read `detail`, and see OPERATING.md#revocations-cannot-be-told',
    },
  },
  replay_unavailable: {
    unreachable: {
      means: 'the memory of proofs failed, gave no answer in time, or does not know',
      client: 'repeat the request after `Retry-After`, with a new proof',
      operator: 'See OPERATING.md#proofs-cannot-be-looked-up',
    },
    full: {
      means: 'the memory of proofs has no room, for this key or in all',
      client: 'repeat the request after `Retry-After`, with a new proof',
      operator:
        'Look for a client that sends too many. If there is none, raise `maxPerKey` or `max` of the memory',
    },
  },
  introspection_unavailable: {
    unreachable: {
      means:
        'the introspection endpoint, or the metadata of the issuer, could not be reached, or answered with an error',
      client: 'repeat the request after `Retry-After`',
      operator: 'See OPERATING.md#the-introspection-endpoint-is-down',
    },
    timeout: {
      means: 'the introspection endpoint did not answer in time',
      client: 'repeat the request after `Retry-After`',
      operator: 'See OPERATING.md#the-introspection-endpoint-is-down',
    },
    bad_answer: {
      means:
        'the introspection endpoint refuses this API as its client, or its answer is not what the standard says',
      client: 'repeat the request after `Retry-After`',
      operator: 'Read `detail`, and see OPERATING.md#the-introspection-endpoint-is-down',
    },
    busy: {
      means: 'too many tokens are looked up already; invented ones look like new ones',
      client: 'repeat the request after `Retry-After`',
      operator:
        'Look for a flood of invented tokens, and state `form`. If there is none, raise the options that `detail` names, once the issuer agrees',
    },
  },
}

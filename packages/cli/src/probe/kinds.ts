import type { Said } from './complaints.ts'

// The kinds of bad tokens: which check of an API refuses each, and what it means if it is let through.

/**
 * What an API has to check beside the signature, by claims, members of the header, and the form of both. Nobody but the issuer can sign
 * a token that is wrong in nothing else.
 */
export const CHECKS = [
  'exp',
  'nbf',
  'iss',
  'aud',
  'typ',
  'crit',
  'iat',
  'cnf',
  'alg',
  'form of the token',
  'form of the claims',
] as const

export type Check = (typeof CHECKS)[number]

export interface BadKind {
  /** `undefined`: the signature, which anybody can write. */
  readonly check: Check | undefined
  /** What is said of an API that lets it through. */
  readonly accepted: Said
  /** Whether one of another key is a test as well: it has to be refused before a key is looked for. */
  readonly byAnybody: boolean
}

export const FORGED: Said = [
  'breach',
  'let through, though anybody can write such a token (RFC 8725)',
]

/** Refused without a look at the claims, whoever has signed them. */
const FORGED_BY_ANYBODY = [
  'one word',
  'truncated in the payload',
  'no signature',
  'no signature and no dot',
  'no header',
  'no payload',
  'header not JSON',
  'header JSON array',
  'duplicate members in the header',
  'unencoded payload',
  'alg none',
  'alg None',
  'alg NONE',
  'no alg',
  'alg in lower case',
  'alg none and no signature',
  'embedded jwk',
  'jku',
  'x5u',
] as const

/** Of these another key makes nothing but one more token of another key. */
const FORGED_BESIDE_THE_ISSUER = [
  'HS512 keyed with the public key',
  'HS512 keyed with the published JWK',
  'unknown kid',
  'wrong key',
  'tampered payload',
  'tampered header',
  'tampered signature',
  'truncated',
] as const

/** What is said of an API that lets through what a probe makes itself of a token of the user, or is given. */
export const ACCEPTED = {
  exp: ['breach', 'let through, though the token has expired (RFC 7519 section 4.1.4)'],
  nbf: ['breach', 'let through, though the token is not valid yet (RFC 7519 section 4.1.5)'],
  form: [
    'warning',
    'let through, though it is not written as RFC 7515 says, so others may read it in another way',
  ],
} as const satisfies Readonly<Record<string, Said>>

type Row = readonly [check: Check, level: Said[0], text: string, ...names: readonly string[]]

const NO_EXPIRY =
  'let through, though the token has no exp, and never expires (RFC 9068 section 2.2)'
const UNREADABLE =
  'let through, though its claims cannot be read: none of them can have been checked'

/**
 * Signed by the issuer. A `breach` is what lets somebody do more than the issuer has granted. What nothing but a mistake of the issuer
 * could bring about is a `problem` where a specification says that it must be refused, else a `warning`: many libraries accept it.
 */
const SIGNED: readonly Row[] = [
  ['exp', ...ACCEPTED.exp, 'expired'],
  ['exp', 'breach', NO_EXPIRY, 'missing expiry'],
  [
    'exp',
    'problem',
    'let through, though its exp is no number (RFC 7519 section 4.1.4)',
    'expiry as string',
    'expiry null',
  ],
  ['exp', 'warning', 'let through, though its exp is in milliseconds', 'expiry in milliseconds'],
  ['nbf', ...ACCEPTED.nbf, 'not yet valid'],
  [
    'nbf',
    'warning',
    'let through, though its nbf is no number (RFC 7519 section 4.1.5)',
    'not before as string',
  ],
  [
    'iss',
    'breach',
    'let through, though the token names another issuer (RFC 8725 section 3.8)',
    'wrong issuer',
    'issuer that begins alike',
  ],
  ['iss', 'breach', 'let through, though the token names no issuer', 'missing issuer'],
  [
    'iss',
    'problem',
    'let through, though its iss is no text (RFC 7519 section 4.1.1)',
    'issuer in an array',
  ],
  [
    'aud',
    'breach',
    'let through, though the token is for another audience (RFC 8725 section 3.9)',
    'wrong audience',
    'wrong audiences',
    'audience as object',
  ],
  ['aud', 'breach', 'let through, though the token names no audience', 'missing audience'],
  [
    'typ',
    'breach',
    'let through, though its typ says that it is no access token (RFC 8725 section 3.11)',
    'logout token',
    'DPoP proof in another case',
    'credential',
  ],
  [
    'crit',
    'problem',
    'let through, though it has a critical extension that no API can know (RFC 7515 section 4.1.11)',
    'critical header',
  ],
  [
    'iat',
    'warning',
    'let through, though it is from the future by its iat',
    'issued in the future',
  ],
  ['iat', 'warning', 'let through, though its iat is no number', 'issued at as string'],
  [
    'cnf',
    'warning',
    'let through without a proof of the key that it is bound to: whoever steals it can use it (RFC 7800)',
    'bound to the key of somebody else',
    'bound to the certificate of somebody else',
    'bound to nothing that is known',
  ],
  [
    'alg',
    'warning',
    'let through with an algorithm that its key is not for (RFC 8725 section 3.1)',
    'RS256',
    'RS512',
  ],
  [
    'form of the token',
    ...ACCEPTED.form,
    'four segments',
    'five segments, as if encrypted',
    'padded base64',
    'a letter outside base64url',
    'kid not a string',
  ],
  ['form of the token', 'note', 'let through, though it has more than 16 KiB', 'too large'],
  [
    'form of the claims',
    'breach',
    UNREADABLE,
    'not JSON',
    'JSON array',
    'JSON string',
    'JSON null',
  ],
  [
    'form of the claims',
    'warning',
    'let through, though others may read other claims in it, or fail (RFC 8725 section 2.6)',
    'duplicate members',
    'member __proto__',
    'number beyond a double',
    'nested too deep',
    'byte order mark',
    'invalid UTF-8',
  ],
]

/** Of these one of another key is a test as well: a library may look at them before it looks for a key. */
const BY_ANYBODY: ReadonlySet<string> = new Set([
  'four segments',
  'five segments, as if encrypted',
  'padded base64',
  'a letter outside base64url',
  'kid not a string',
  'critical header',
  'too large',
])

const KINDS: ReadonlyMap<string, BadKind> = new Map([
  ...FORGED_BY_ANYBODY.map((name) => [name, forged(true)] as const),
  ...FORGED_BESIDE_THE_ISSUER.map((name) => [name, forged(false)] as const),
  ...SIGNED.flatMap(([check, level, text, ...names]) =>
    names.map((name): readonly [string, BadKind] => [
      name,
      { check, accepted: [level, text], byAnybody: BY_ANYBODY.has(name) },
    ]),
  ),
])

function forged(byAnybody: boolean): BadKind {
  return { check: undefined, accepted: FORGED, byAnybody }
}

/** By its name in `badTokens()` of `@portcullis/testing`. `undefined` for one that this version does not know. */
export function badKind(name: string): BadKind | undefined {
  return KINDS.get(name)
}

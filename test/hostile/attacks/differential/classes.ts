import { CLOCK_TOLERANCE, isAccepted, type Verdict } from './judges.ts'
import { isKeyFor, isObject, type Jwk, type Reading, type Subject } from './reading.ts'
import { publicJwks } from './signers.ts'

/** A kind of disagreement with jose that is meant to be. */
export interface DisagreementClass {
  readonly name: string
  /** Why we judge so, and where it is written. */
  readonly reason: string
  /** `either`: or both accept and find other claims. */
  readonly refusedBy: 'Portcullis' | 'jose' | 'either'
  /** What the refusal may be called. */
  readonly because: readonly string[]
  /** Whether the case is of this kind, told by other means than the verdicts. */
  readonly applies: (subject: Subject) => boolean
}

export interface Verdicts {
  readonly portcullis: Verdict
  readonly jose: Verdict
}

const MAX_TOKEN_SIZE = 16_384
const MAX_DEPTH = 32
const MAX_CANDIDATES = 8
const MAX_KEYS = 100
const IAT_TOLERANCE = 60
const EARLIEST_MILLISECONDS = 1e12
const MATERIAL = ['n', 'e', 'x', 'y']
/** Of the curves that somebody signs with here. */
const COORDINATE_LENGTHS = new Map(
  publicJwks.map(({ crv, x = '' }) => [crv, Buffer.from(x, 'base64url').length]),
)

const tokenClasses: readonly DisagreementClass[] = [
  {
    name: 'token above 16 KiB',
    reason:
      'RFC 8259 section 9: the size may be limited; whatever reads the text costs time for it',
    refusedBy: 'Portcullis',
    because: ['too_large'],
    applies: ({ token }) => token.length > MAX_TOKEN_SIZE,
  },
  {
    name: 'token in loose base64url',
    reason:
      'RFC 7515 section 2: no padding, no white space; RFC 4648 section 3.5: pad bits are zero',
    refusedBy: 'Portcullis',
    because: ['malformed'],
    applies: ({ token }) => !token.split('.').every(isCanonical),
  },
  {
    name: 'JSON with a byte order mark',
    reason: 'RFC 8259 section 8.1: it must not be there; a parser may ignore it, and need not',
    refusedBy: 'Portcullis',
    because: ['malformed'],
    applies: inEither(({ octets }) => octets.subarray(0, 3).equals(Buffer.of(0xef, 0xbb, 0xbf))),
  },
  {
    name: 'member twice',
    reason: 'RFC 7515 section 4, RFC 7519 section 4: names are unique; refuse, or take the last',
    refusedBy: 'Portcullis',
    because: ['malformed'],
    applies: inEither(({ names }) => new Set(names).size !== names.length),
  },
  {
    name: 'member named __proto__',
    reason: 'RFC 8259 section 4 allows it, but it becomes the prototype of what it is assigned to',
    refusedBy: 'Portcullis',
    because: ['malformed'],
    applies: inEither(({ value }) =>
      someValue(value, (each) => isObject(each) && Object.hasOwn(each, '__proto__')),
    ),
  },
  {
    name: 'member whose name takes an escape',
    reason:
      'RFC 8259 section 9: the contents of strings may be limited; V8 may take it for another',
    refusedBy: 'Portcullis',
    because: ['malformed'],
    applies: inEither(({ hasPlainNames }) => !hasPlainNames),
  },
  {
    name: 'member whose name has an escape that V8 misreads',
    reason: 'RFC 8259 section 8.3: an escape stands for its character, whatever was parsed before',
    refusedBy: 'either',
    because: [],
    applies: inEither(({ isMisread }) => isMisread),
  },
  {
    name: 'JSON of more than 32 levels',
    reason: 'RFC 8259 section 9: the depth may be limited; who logs the claims may recurse',
    refusedBy: 'Portcullis',
    because: ['malformed'],
    applies: inEither(({ depth }) => depth > MAX_DEPTH),
  },
  {
    name: 'number beyond a double',
    reason: 'RFC 8259 section 9: the range may be limited; an exp of Infinity would never come',
    refusedBy: 'Portcullis',
    because: ['malformed'],
    applies: inEither(({ value }) =>
      someValue(value, (each) => typeof each === 'number' && !Number.isFinite(each)),
    ),
  },
  {
    name: 'kid that is no string',
    reason: 'RFC 7515 section 4.1.4: it must be one, though a bare key does not ask for it',
    refusedBy: 'Portcullis',
    because: ['malformed'],
    applies: ({ header, isBare }) => isBare && isNoString(header, 'kid'),
  },
  {
    name: 'kid that is null',
    reason: 'RFC 7515 section 4.1.4: optional; some services write null for what they do not have',
    refusedBy: 'jose',
    because: ['ERR_JWKS_NO_MATCHING_KEY'],
    applies: ({ header: { value }, isBare }) => !isBare && value['kid'] === null,
  },
  {
    name: 'typ that is no string',
    reason: 'RFC 7515 section 4.1.9: it is a media type',
    refusedBy: 'Portcullis',
    because: ['malformed'],
    applies: ({ header, rules }) => rules.type === undefined && isNoString(header, 'typ'),
  },
  {
    name: 'typ of another kind of token',
    reason: 'RFC 8725 section 3.11: it is no access token, and jose looks at typ only if told to',
    refusedBy: 'Portcullis',
    because: ['type'],
    applies: ({ header, rules }) =>
      rules.type === undefined && /\+[^+;]*jwt\s*(?:;|$)/i.test(String(header.value?.['typ'])),
  },
  {
    name: 'b64 that is critical and true',
    reason: 'RFC 7515 section 4.1.11: an extension that is not implemented is refused',
    refusedBy: 'Portcullis',
    because: ['critical_header'],
    applies: ({ header: { value } }) =>
      value['b64'] === true &&
      Array.isArray(value['crit']) &&
      value['crit'].length > 0 &&
      value['crit'].every((each) => each === 'b64'),
  },
  {
    name: 'b64 that is false and not critical',
    reason: 'RFC 7797 sections 6 and 7: false must be critical, and no JWT may have it',
    refusedBy: 'Portcullis',
    because: ['critical_header'],
    applies: ({ header: { value } }) => !Object.hasOwn(value, 'crit') && value['b64'] === false,
  },
  {
    name: 'aud with an entry that is no string',
    reason: 'RFC 7519 section 4.1.3: an array of strings',
    refusedBy: 'Portcullis',
    because: ['audience'],
    applies: ({ claims: { value } }) =>
      Array.isArray(value['aud']) && value['aud'].some((each) => typeof each !== 'string'),
  },
  {
    name: 'aud that is an empty list, where it may be missing',
    reason: 'RFC 7519 section 4.1.3: the list has who it is for; an empty one names nobody either',
    refusedBy: 'jose',
    because: ['ERR_JWT_CLAIM_VALIDATION_FAILED'],
    applies: ({ claims: { value }, rules }) =>
      Array.isArray(rules.audience) &&
      rules.audience.includes(null) &&
      Array.isArray(value['aud']) &&
      value['aud'].length === 0,
  },
  {
    name: 'iat more than a minute ahead',
    reason:
      'RFC 7519 section 4.1.6 asks for no check; it shows a clock that nbf and exp suffer from',
    refusedBy: 'Portcullis',
    because: ['issued_in_future'],
    applies: ({ claims: { value }, rules }) => Number(value['iat']) > rules.now + IAT_TOLERANCE,
  },
  {
    name: 'time that is not in seconds',
    reason:
      'RFC 7519 section 2: a NumericDate is in seconds; 1e12 or more is in milliseconds or finer',
    refusedBy: 'Portcullis',
    because: ['claim'],
    applies: ({ claims: { value } }) =>
      ['exp', 'nbf', 'iat'].some((name) => Number(value[name]) >= EARLIEST_MILLISECONDS),
  },
  {
    name: 'iat less than a minute ahead, with a maximum age',
    reason:
      'RFC 7519 section 4.1.6: it tells the age; what a clock ahead of ours issued is not old',
    refusedBy: 'jose',
    because: ['ERR_JWT_CLAIM_VALIDATION_FAILED'],
    applies: ({ claims: { value }, rules }) =>
      rules.maxTokenAge !== undefined &&
      Number(value['iat']) > Math.floor(rules.now) + CLOCK_TOLERANCE &&
      Number(value['iat']) <= rules.now + IAT_TOLERANCE,
  },
  {
    name: 'exp within the current second',
    reason: 'RFC 7519 section 2: times may have fractions; jose takes the second that has begun',
    refusedBy: 'Portcullis',
    because: ['expired'],
    applies: ({ claims: { value }, rules }) =>
      isWithinSecond(Number(value['exp']) + CLOCK_TOLERANCE, rules.now),
  },
  {
    name: 'nbf within the current second',
    reason: 'RFC 7519 section 2: times may have fractions; jose takes the second that has begun',
    refusedBy: 'jose',
    because: ['ERR_JWT_CLAIM_VALIDATION_FAILED'],
    applies: ({ claims: { value }, rules }) =>
      isWithinSecond(Number(value['nbf']) - CLOCK_TOLERANCE, rules.now),
  },
  {
    name: 'PSS signature without the zero octet before it',
    reason: 'RFC 8017 section 8.1.2 step 1: it has as many octets as the modulus; OpenSSL pads it',
    refusedBy: 'Portcullis',
    because: ['signature'],
    applies: ({ token, header, provers }) => {
      const length = octetsOf(token.split('.')[2]).length
      return (
        String(header.value['alg']).startsWith('PS') &&
        provers.length > 0 &&
        provers.every(({ n }) => octetsOf(n).length > length)
      )
    },
  },
  {
    name: 'entry beside the key that is no object',
    reason: 'RFC 7517 section 5: what is not understood in a set should be ignored',
    refusedBy: 'jose',
    because: ['ERR_JWKS_INVALID'],
    applies: ({ entries }) => !entries.every(isObject),
  },
]

/** Something about a key that would have proven the token. */
interface Quirk {
  readonly name: string
  readonly reason: string
  readonly has: (jwk: Jwk, subject: Subject) => boolean
}

/** Entries of which no key is made. */
const keysNotRead: readonly Quirk[] = [
  {
    name: 'RSA exponent below 3',
    reason: 'RFC 8017 section 3.1: it is at least 3; with 1 anybody can sign',
    has: ({ e }) => e !== undefined && integerOf(e) < 3n,
  },
  {
    name: 'RSA exponent above 32 bits',
    reason: 'RFC 8725 section 3.4: inputs are validated; a long one buys nothing but work',
    has: ({ kty, e }) => kty === 'RSA' && integerOf(e) >= 2n ** 32n,
  },
  {
    name: 'RSA modulus above 8192 bits',
    reason: 'RFC 7518 section 3.3 has no upper bound; the work for a signature needs one',
    has: ({ kty, n }) => kty === 'RSA' && integerOf(n) >= 2n ** 8192n,
  },
  {
    name: 'RSA integer behind hundreds of zero octets',
    reason: 'RFC 7518 section 2: as few octets as it takes; a sign octet is forgiven',
    has: ({ kty, n, e }) =>
      kty === 'RSA' && [n, e].some((each) => octetsOf(each).subarray(0, 2).equals(Buffer.alloc(2))),
  },
  {
    name: 'coordinate of another length',
    reason: 'RFC 7518 section 6.2.1.2, RFC 8037 section 2: as many octets as the curve has',
    has: ({ kty, crv, x, y }) =>
      kty !== 'RSA' &&
      [x, ...(kty === 'EC' ? [y] : [])].some(
        (each) => octetsOf(each).length !== COORDINATE_LENGTHS.get(String(crv)),
      ),
  },
  {
    name: 'key in loose base64url',
    reason:
      'RFC 4648 sections 3.3 and 3.5: no foreign characters and no stray bits; padding is read',
    has: (jwk) =>
      MATERIAL.some((name) => {
        const text = jwk[name]
        return typeof text === 'string' && !isCanonical(unpadded(text))
      }),
  },
  {
    name: 'key member that is no string',
    reason: 'RFC 7518 section 6: a text; Web Crypto makes one of whatever it is given',
    has: (jwk) =>
      MATERIAL.some((name) => Object.hasOwn(jwk, name) && typeof jwk[name] !== 'string'),
  },
  {
    name: 'key behind 100 others',
    reason: 'RFC 8259 section 9: the size may be limited; each key costs an import',
    has: (jwk, { entries }) => entries.indexOf(jwk) >= MAX_KEYS,
  },
]

/** Keys that are there, and come too late. */
const keysNotTried: readonly Quirk[] = [
  {
    name: 'key behind 8 others that fit',
    reason:
      'RFC 7515 section 4.1.4 has kid to choose by; without it a forged token has a price limit',
    has: (jwk, { entries }) => {
      const before = entries.slice(0, entries.indexOf(jwk)).filter(isObject)
      return before.filter(({ kty }) => kty === jwk['kty']).length >= MAX_CANDIDATES
    },
  },
]

const keysRefusedByJose: readonly Quirk[] = [
  {
    name: 'key without the kid that the token has',
    reason:
      'RFC 7515 section 4.1.4, RFC 7517 section 4.5: a hint, and optional; the signature decides',
    has: ({ kid }, { header, isBare }) =>
      !isBare && typeof header.value['kid'] === 'string' && typeof kid !== 'string',
  },
  {
    name: 'key with a purpose that is null',
    reason: 'RFC 7517 sections 4.2 to 4.4: optional; some services write null for what they lack',
    has: (jwk) => ['use', 'key_ops', 'alg'].some((name) => jwk[name] === null),
  },
  {
    name: 'key with private members',
    reason: 'RFC 7517 section 4: what is not needed is ignored; a key is made of the public ones',
    has: (jwk) => ['d', 'p', 'oth'].some((name) => Object.hasOwn(jwk, name)),
  },
  {
    name: 'key with an ext that is no boolean',
    reason: 'RFC 7517 section 4: what is not understood must be ignored; ext is Web Crypto’s',
    has: ({ ext }) => ext !== undefined && typeof ext !== 'boolean',
  },
  {
    name: 'key_ops with more than verify',
    reason: 'RFC 7517 section 4.3 advises against it, and against repeating; verify is among them',
    has: ({ key_ops: operations }) => Array.isArray(operations) && operations.length > 1,
  },
]

/** All of them. A disagreement that is of no class is a failure. */
export const classes: readonly DisagreementClass[] = [
  ...tokenClasses,
  ...keyClasses(
    'Portcullis',
    ['no_key', 'unknown_key', 'signature'],
    [...keysNotRead, ...keysNotTried],
  ),
  {
    name: 'no key for the algorithm, but one that is not read',
    reason:
      'RFC 8725 section 3.1: without a list, an algorithm is accepted because of a key for it',
    refusedBy: 'Portcullis',
    because: ['algorithm'],
    applies: (subject) =>
      subject.rules.algorithms === undefined &&
      subject.provers.length > 0 &&
      subject.entries
        .filter(isObject)
        .filter(
          (jwk) => subject.provers.includes(jwk) || isKeyFor(jwk, subject.header.value['alg']),
        )
        .every((jwk) => keysNotRead.some((quirk) => quirk.has(jwk, subject))),
  },
  ...keyClasses(
    'jose',
    [
      'ERR_JWKS_NO_MATCHING_KEY',
      'ERR_JWKS_MULTIPLE_MATCHING_KEYS',
      'ERR_JWKS_INVALID',
      'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
      'not a JOSE error',
    ],
    keysRefusedByJose,
  ),
]

/** The classes that explain a disagreement. */
export function explain(
  subject: Subject,
  { portcullis, jose }: Verdicts,
): readonly DisagreementClass[] {
  return classes.filter(({ refusedBy, because, applies }) => {
    if (refusedBy === 'either') return applies(subject)
    const [refusal, other] = refusedBy === 'jose' ? [jose, portcullis] : [portcullis, jose]
    return isAccepted(other) && because.includes(refusal.because) && applies(subject)
  })
}

/** A class for each quirk: it explains if no key is without any, and one has this. */
function keyClasses(
  refusedBy: 'Portcullis' | 'jose',
  because: readonly string[],
  quirks: readonly Quirk[],
): readonly DisagreementClass[] {
  return quirks.map(({ name, reason, has }) => ({
    name,
    reason,
    refusedBy,
    because,
    applies: (subject) =>
      subject.provers.some((jwk) => has(jwk, subject)) &&
      subject.provers.every((jwk) => quirks.some((quirk) => quirk.has(jwk, subject))),
  }))
}

function inEither(has: (reading: Reading) => boolean): (subject: Subject) => boolean {
  return ({ header, claims }) => has(header) || has(claims)
}

function isCanonical(text: unknown): boolean {
  return octetsOf(text).toString('base64url') === text
}

/** In the alphabet of base64url, as the octets of a key may be written in either. */
function unpadded(text: string): string {
  return text
    .replace(/={1,2}$/, '')
    .replaceAll('+', '-')
    .replaceAll('/', '_')
}

function octetsOf(text: unknown): Buffer {
  return Buffer.from(String(text), 'base64url')
}

function integerOf(text: unknown): bigint {
  return BigInt(`0x0${octetsOf(text).toString('hex')}`)
}

function isNoString({ value }: Reading, name: string): boolean {
  return (value[name] ?? undefined) !== undefined && typeof value[name] !== 'string'
}

function isWithinSecond(time: number, now: number): boolean {
  return time > Math.floor(now) && time <= now
}

/** Without recursion, which the depth of a hostile text would exhaust. */
function someValue(value: unknown, is: (each: unknown) => boolean): boolean {
  const values: unknown[] = [value]
  for (const each of values) {
    if (is(each)) return true
    if (typeof each === 'object' && each !== null)
      for (const member of Object.values(each)) values.push(member)
  }
  return false
}

import type { Options, Row, Verdict } from './row.ts'
import { type TokenMaker, NOW, usualClaims } from './token-maker.ts'

/** From when until when, by which clock, and in which type. */
export function times(maker: TokenMaker): readonly Row[] {
  return [
    ...wrongTypes(maker),
    ...boundaries(maker),
    ...extremes(maker),
    ...clocks(maker),
    ...rules(),
  ]
}

const SECTIONS = {
  exp: 'RFC 7519 section 4.1.4',
  nbf: 'RFC 7519 section 4.1.5',
  iat: 'RFC 7519 section 4.1.6',
} as const

const NO_NUMBERS: readonly (readonly [string, unknown])[] = [
  ['null', null],
  ['true', true],
  ['false', false],
  ['a number in quotes', String(NOW)],
  ['an empty text', ''],
  ['a date', '2026-01-01T00:00:00Z'],
  ['the word Infinity', 'Infinity'],
  ['an empty array', []],
  ['a number in an array', [NOW]],
  ['an empty object', {}],
  ['an object that would become a number', { valueOf: NOW }],
]

function wrongTypes({ token }: TokenMaker): readonly Row[] {
  return (['exp', 'nbf', 'iat'] as const).flatMap((claim) =>
    NO_NUMBERS.map(([name, value]) => ({
      name: `an ${claim} that is ${name}`,
      source: `${SECTIONS[claim]}; CVE-2026-25537`,
      verdict: 'claim' as const,
      token: token({ claims: { [claim]: value } }),
    })),
  )
}

/** Each bound from both sides, with three tolerances; fractions of a second count. */
function boundaries({ token }: TokenMaker): readonly Row[] {
  const fraction = 0.25
  return [0, 5, 600].flatMap((clockTolerance) => {
    const ahead = Math.max(clockTolerance, 60)
    const maxTokenAge = 100
    const cases: readonly (readonly [string, keyof typeof SECTIONS, number, Verdict, Options?])[] =
      [
        ['an exp just beyond the tolerance', 'exp', NOW - clockTolerance - fraction, 'expired'],
        ['an exp at the tolerance', 'exp', NOW - clockTolerance, 'expired'],
        ['an exp just within the tolerance', 'exp', NOW - clockTolerance + fraction, 'accepted'],
        [
          'an nbf just beyond the tolerance',
          'nbf',
          NOW + clockTolerance + fraction,
          'not_yet_valid',
        ],
        ['an nbf at the tolerance', 'nbf', NOW + clockTolerance, 'accepted'],
        ['an nbf just within the tolerance', 'nbf', NOW + clockTolerance - fraction, 'accepted'],
        ['an iat just too far ahead', 'iat', NOW + ahead + fraction, 'issued_in_future'],
        ['an iat as far ahead as it may be', 'iat', NOW + ahead, 'accepted'],
        [
          'an iat just too old',
          'iat',
          NOW - maxTokenAge - clockTolerance - fraction,
          'too_old',
          { maxTokenAge },
        ],
        [
          'an iat as old as it may be',
          'iat',
          NOW - maxTokenAge - clockTolerance,
          'accepted',
          { maxTokenAge },
        ],
      ]
    return cases.map(([name, claim, value, verdict, more]) => ({
      name: `${name} of ${clockTolerance} s`,
      source: SECTIONS[claim],
      verdict,
      options: { clockTolerance, ...more },
      token: token({ claims: { [claim]: value } }),
    }))
  })
}

function extremes({ token }: TokenMaker): readonly Row[] {
  const milliseconds = NOW * 1000
  const values: readonly (readonly [string, string, Record<string, unknown>, Verdict, Options?])[] =
    [
      ['no exp', 'RFC 9068 section 2.2', { exp: undefined }, 'missing_claim'],
      ['an exp of 0', 'RFC 7519 section 4.1.4; CVE-2026-44459', { exp: 0 }, 'expired'],
      ['an exp of -1', 'RFC 7519 section 4.1.4', { exp: -1 }, 'expired'],
      [
        'an exp of the smallest number',
        'RFC 7519 section 4.1.4',
        { exp: -1.7976931348623157e308 },
        'expired',
      ],
      ['an exp of almost nothing', 'RFC 7519 section 4.1.4', { exp: 5e-324 }, 'expired'],
      ['an exp of the year before', 'RFC 7519 section 4.1.4', { exp: NOW - 31_536_000 }, 'expired'],
      ['an nbf in milliseconds', 'RFC 7519 section 2', { nbf: milliseconds }, 'claim'],
      [
        'an nbf of the largest number',
        'RFC 7519 section 4.1.5',
        { nbf: 1.7976931348623157e308 },
        'claim',
      ],
      ['an nbf of just less than 1e12', 'RFC 7519 section 2', { nbf: 1e12 - 1 }, 'not_yet_valid'],
      ['an nbf of 1e12', 'RFC 7519 section 2', { nbf: 1e12 }, 'claim'],
      ['an iat in milliseconds', 'RFC 7519 section 2', { iat: milliseconds }, 'claim'],
      [
        'an iat of the largest number',
        'RFC 7519 section 4.1.6',
        { iat: 1.7976931348623157e308 },
        'claim',
      ],
      [
        'an iat of just less than 1e12',
        'RFC 7519 section 2',
        { iat: 1e12 - 1 },
        'issued_in_future',
      ],
      ['an iat of 1e12', 'RFC 7519 section 2', { iat: 1e12 }, 'claim'],
      [
        'an iat of 0 where tokens may not be old',
        'RFC 7519 section 4.1.6',
        { iat: 0 },
        'too_old',
        { maxTokenAge: 86_400 },
      ],
      [
        'an iat of the smallest number where tokens may not be old',
        'RFC 7519 section 4.1.6',
        { iat: -1.7976931348623157e308 },
        'too_old',
        { maxTokenAge: 86_400 },
      ],
      [
        'no iat where tokens may not be old',
        'RFC 7519 section 4.1.6',
        { iat: undefined },
        'missing_claim',
        { maxTokenAge: 86_400 },
      ],
      [
        'an exp before its nbf',
        'RFC 7519 section 4.1.5',
        { exp: NOW + 60, nbf: NOW + 120 },
        'not_yet_valid',
      ],
      [
        'an exp of null where none is required',
        'RFC 7519 section 4.1.4',
        { exp: null },
        'claim',
        { requireExpiry: false },
      ],
      [
        'an exp in the past where none is required',
        'RFC 7519 section 4.1.4',
        { exp: NOW - 60 },
        'expired',
        { requireExpiry: false },
      ],
      [
        'no exp where none is required',
        'RFC 7519 section 4.1.4',
        { exp: undefined },
        'accepted',
        { requireExpiry: false },
      ],
      ['an exp in milliseconds', 'RFC 7519 section 2', { exp: milliseconds }, 'claim'],
      [
        'an exp in milliseconds where none is required',
        'RFC 7519 section 2',
        { exp: milliseconds },
        'claim',
        { requireExpiry: false },
      ],
      ['an exp in microseconds', 'RFC 7519 section 2', { exp: 1000 * milliseconds }, 'claim'],
      ['an exp of 1e12', 'RFC 7519 section 2', { exp: 1e12 }, 'claim'],
      ['an exp of just less than 1e12', 'RFC 7519 section 2', { exp: 1e12 - 1 }, 'accepted'],
      ['an exp beyond 2^63', 'RFC 7519 section 2', { exp: 2 ** 64 }, 'claim'],
      [
        'an exp of the largest number',
        'RFC 7519 section 2',
        { exp: 1.7976931348623157e308 },
        'claim',
      ],
      ['an nbf of minus zero', 'RFC 7519 section 4.1.5', { nbf: -0 }, 'accepted'],
      [
        'a negative nbf and a negative iat',
        'RFC 7519 section 2',
        { nbf: -1, iat: -1.5 },
        'accepted',
      ],
      [
        'an iat after its exp, both within what clocks may differ',
        'RFC 7519 section 4.1.6',
        { exp: NOW + 1, iat: NOW + 2 },
        'accepted',
      ],
      ['no iat', 'RFC 7519 section 4.1.6', { iat: undefined }, 'accepted'],
    ]
  const texts: readonly (readonly [string, string])[] = [
    ['with an exponent', '17672257e2'],
    ['with a fraction of zeros', `${NOW + 300}.000`],
    ['with a long fraction', `${NOW + 300}.0000000000000000000000001`],
  ]
  return [
    ...values.map(([name, source, claims, verdict, options]) => ({
      name: `a token with ${name}`,
      source,
      verdict,
      options,
      token: token({ claims }),
    })),
    ...texts.map(([name, exp]): Row => ({
      name: `an exp written ${name}`,
      source: 'RFC 7519 section 2; RFC 8259 section 6',
      verdict: 'accepted',
      token: token({
        payloadText: JSON.stringify({ ...usualClaims(), exp: 0 }).replace(
          '"exp":0',
          `"exp":${exp}`,
        ),
      }),
    })),
    ...['1e309', '-1e309'].map((exp): Row => ({
      name: `an exp of ${exp}, which is no double`,
      source: 'RFC 8259 section 6; CVE-2026-44459',
      verdict: 'malformed',
      requests: 1,
      token: token({
        payloadText: JSON.stringify({ ...usualClaims(), exp: 0 }).replace(
          '"exp":0',
          `"exp":${exp}`,
        ),
      }),
    })),
  ]
}

/** A clock that is out of order lets nothing in. */
function clocks({ token }: TokenMaker): readonly Row[] {
  const nows: readonly (readonly [string, unknown])[] = [
    ['NaN', Number.NaN],
    ['infinity', Number.POSITIVE_INFINITY],
    ['minus infinity', Number.NEGATIVE_INFINITY],
    ['nothing', undefined],
    ['null', null],
    ['a number in quotes', String(NOW)],
    ['a date', new Date(NOW * 1000)],
    ['a big integer', BigInt(NOW)],
  ]
  return [
    ...nows.map(([name, now]): Row => ({
      name: `a clock that says ${name}`,
      source: 'RFC 7519 section 4.1.4',
      verdict: 'expired',
      options: { clock: clockAt(now) },
      token: token(),
    })),
    {
      name: 'a clock that says NaN to a token that never expires',
      source: 'RFC 7519 section 4.1.4',
      verdict: 'expired',
      options: { clock: clockAt(Number.NaN), requireExpiry: false },
      token: token({ claims: { exp: undefined } }),
    },
    {
      name: 'a clock that counts milliseconds',
      source: 'RFC 7519 section 2',
      verdict: 'expired',
      options: { clock: clockAt(NOW * 1000) },
      token: token(),
    },
    {
      name: 'a clock of the year 1970',
      source: 'RFC 7519 section 4.1.6',
      verdict: 'issued_in_future',
      options: { clock: clockAt(17) },
      token: token(),
    },
    {
      name: 'a clock that counts fractions',
      source: 'RFC 7519 section 2',
      verdict: 'accepted',
      options: { clock: clockAt(NOW + 304.999) },
      token: token(),
    },
  ]
}

function clockAt(now: unknown): NonNullable<Options['clock']> {
  // What a mistaken clock says need not be a number.
  return { now: () => now as number, monotonic: () => 0, after: () => () => undefined }
}

/** Options that would turn a check off. */
function rules(): readonly Row[] {
  const tolerance = 'RFC 7519 section 4.1.4; GHSA-687g-22h4-j4w4'
  const age = 'RFC 7519 section 4.1.6'
  const issuer = 'RFC 8725 section 3.8; CVE-2026-22748'
  const audience = 'RFC 8725 section 3.9'
  const pattern = 'CVE-2026-35041; GHSA-3j8v-cgw4-2g6q'
  const size = 'CWE-770; CVE-2025-61920'
  const wrong: readonly (readonly [string, string, object])[] = [
    ['a tolerance that is NaN', tolerance, { clockTolerance: Number.NaN }],
    ['a tolerance that is infinite', tolerance, { clockTolerance: Number.POSITIVE_INFINITY }],
    ['a tolerance below zero', tolerance, { clockTolerance: -1 }],
    ['a tolerance beyond ten minutes', tolerance, { clockTolerance: 601 }],
    ['a tolerance in milliseconds', tolerance, { clockTolerance: 5000 }],
    ['a tolerance in quotes', tolerance, { clockTolerance: '5' }],
    ['a tolerance of null', tolerance, { clockTolerance: null }],
    ['a greatest age of zero', age, { maxTokenAge: 0 }],
    ['a greatest age that is NaN', age, { maxTokenAge: Number.NaN }],
    ['a greatest age that is infinite', age, { maxTokenAge: Number.POSITIVE_INFINITY }],
    ['a greatest age in words', age, { maxTokenAge: '1h' }],
    ['an expiry that is required in words', tolerance, { requireExpiry: 'yes' }],
    ['a waiver of the expiry by zero', tolerance, { requireExpiry: 0 }],
    ['a clock that is a number', tolerance, { clock: NOW }],
    ['a clock that is only a function', tolerance, { clock: () => NOW }],
    ['a clock that cannot wait', tolerance, { clock: { now: () => NOW, monotonic: () => 0 } }],
    ['an option to ignore the expiry', tolerance, { ignoreExpiration: true }],
    ['an option in other letters', tolerance, { clocktolerance: 5 }],
    ['an issuer that is left out', issuer, { issuer: undefined }],
    ['an issuer that is empty', issuer, { issuer: '' }],
    ['no issuers in a list', issuer, { issuer: [] }],
    ['an issuer that is a pattern', pattern, { issuer: /auth/g }],
    ['an audience that is left out', audience, { audience: undefined }],
    ['an audience that is empty', audience, { audience: '' }],
    ['an audience in a list that is empty', audience, { audience: [''] }],
    ['an audience that is a pattern', pattern, { audience: /api/y }],
    ['an audience in a list that is a pattern', pattern, { audience: [/api/] }],
    ['a type that is a pattern', pattern, { type: /jwt/ }],
    ['a size in words', size, { maxTokenSize: '16k' }],
    ['a size beyond 64 KiB', size, { maxTokenSize: 65_537 }],
    ['a size without a limit', size, { maxTokenSize: Number.POSITIVE_INFINITY }],
    ['required claims in one text', 'RFC 7519 section 4', { requiredClaims: 'sub' }],
    ['required claims that are none', 'RFC 7519 section 4', { requiredClaims: [] }],
  ]
  return wrong.map(([name, source, options]) => ({
    name: `a verifier with ${name}`,
    source,
    verdict: 'TypeError',
    options,
    token: '',
  }))
}

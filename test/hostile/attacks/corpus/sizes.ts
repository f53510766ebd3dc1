import type { Options, Row } from './row.ts'
import { encode, type TokenMaker, segmentsOf, usualClaims } from './token-maker.ts'

/** What is long, and what costs more than its length lets on. */
export function sizes(maker: TokenMaker): readonly Row[] {
  return [...limits(maker), ...floods(), ...costly(maker)]
}

const LIMIT = 16_384
const MIB = 1024 * 1024

function limits(maker: TokenMaker): readonly Row[] {
  const bounds: readonly (readonly [number, Options | undefined])[] = [
    [LIMIT, undefined],
    [1000, { maxTokenSize: 1000 }],
    [65_536, { maxTokenSize: 65_536 }],
  ]
  return bounds.flatMap(([limit, options]) => [
    {
      name: `a good token of ${limit} octets, which is the limit`,
      source: 'CWE-770; CVE-2025-61920',
      verdict: 'accepted' as const,
      options,
      token: ofSize(maker, limit),
    },
    {
      name: `a good token of one octet more than the limit of ${limit}`,
      source: 'CWE-770; CVE-2025-61920',
      verdict: 'too_large' as const,
      options,
      token: ofSize(maker, limit + 1),
    },
    {
      name: `a good token of twice the limit of ${limit}`,
      source: 'CWE-770; CVE-2025-61920',
      verdict: 'too_large' as const,
      options,
      token: ofSize(maker, 2 * limit),
    },
  ])
}

/** A token that is good but for its size. */
function ofSize({ token }: TokenMaker, size: number): string {
  // Not every length can be encoded, so that the header takes up to two octets of it.
  for (const pad of ['', 'a', 'aa', 'aaa']) {
    const [header, , signature] = segmentsOf(token({ header: { pad } }))
    const octets = Math.floor(((size - header.length - signature.length - 2) * 3) / 4)
    const others = JSON.stringify({ ...usualClaims(), pad: '' }).length
    const made = token({
      header: { pad },
      claims: { pad: 'a'.repeat(octets - others) },
    })
    if (made.length === size) return made
  }
  throw new RangeError(`no token has ${size} octets`)
}

/** Megabytes that must be refused unread, and kilobytes that must be refused in one pass. */
function floods(): readonly Row[] {
  const header = encode('{"alg":"RS512"}')
  const large: readonly (readonly [string, string])[] = [
    ['letters', 'a'.repeat(8 * MIB)],
    ['dots', '.'.repeat(8 * MIB)],
    ['blanks', ' '.repeat(8 * MIB)],
    ['padding', '='.repeat(8 * MIB)],
    ['characters beyond ASCII', '\u{1F511}'.repeat(4 * MIB)],
    ['a header', `${'A'.repeat(8 * MIB)}.AAAA.AAAA`],
    ['a payload', `${header}.${'A'.repeat(8 * MIB)}.AAAA`],
    ['a signature', `${header}.AAAA.${'A'.repeat(8 * MIB)}`],
    ['empty segments between two that are not', `${header}${'.'.repeat(8 * MIB)}AAAA`],
  ]
  const small: readonly (readonly [string, string])[] = [
    ['sixteen thousand dots', '.'.repeat(16_000)],
    ['eight thousand short segments', 'A.'.repeat(8000)],
    ['sixteen thousand letters and no dot', 'A'.repeat(16_000)],
    ['sixteen thousand letters and an exclamation mark', `${header}.${'A'.repeat(16_000)}!.AAAA`],
    ['sixteen thousand signs of padding', `${header}.AAAA.${'='.repeat(16_000)}`],
    ['sixteen thousand blanks before a segment', `${header}.AAAA.${' '.repeat(16_000)}AAAA`],
    ['twelve thousand octets of NUL for a header', `${encode('\0'.repeat(12_000))}.AAAA.AAAA`],
    ['twelve thousand quotes for a header', `${encode('"'.repeat(12_000))}.AAAA.AAAA`],
    [
      'a string of backslashes that never ends',
      `${encode(`{"alg":"${'\\'.repeat(11_998)}`)}.AAAA.AAAA`,
    ],
  ]
  return [
    ...large.map(([name, token]): Row => ({
      name: `eight megabytes of ${name}`,
      source: 'CWE-770; CVE-2025-30204',
      verdict: 'too_large',
      token,
    })),
    ...small.map(([name, token]): Row => ({
      name,
      source: 'CWE-407; CVE-2025-27144',
      verdict: 'malformed',
      token,
    })),
  ]
}

function costly(maker: TokenMaker): readonly Row[] {
  const { token } = maker
  const [header, payload] = segmentsOf(token())
  const members = (more: string) =>
    token({ payloadText: `${JSON.stringify(usualClaims()).slice(0, -1)},${more}}` })
  const accepted: readonly (readonly [string, string])[] = [
    ['a header of eleven kilobytes', token({ header: { pad: 'a'.repeat(8000) } })],
    ['five thousand escapes', members(`"x":"${String.raw`\n`.repeat(5000)}"`)],
    ['a number of ten thousand digits after the point', members(`"x":0.${'3'.repeat(10_000)}`)],
    ['five thousand numbers', members(`"x":[${'1,'.repeat(5000)}1]`)],
    ['two thousand objects', members(`"x":[${'{},'.repeat(2000)}{}]`)],
    ['ten thousand blanks between two claims', members(`${' '.repeat(10_000)}"x":1`)],
    [
      'names that collide in a naive table',
      members(Array.from({ length: 500 }, (_, at) => `"${at * 2 ** 20}":1`).join(',')),
    ],
    [
      'an audience of a thousand names',
      token({ claims: { aud: [...Array.from({ length: 1000 }, (_, at) => `api${at}`), 'api'] } }),
    ],
  ]
  return [
    ...accepted.map(([name, text]): Row => ({
      name: `a token with ${name}`,
      source: 'RFC 8259 section 9',
      verdict: 'accepted',
      token: text,
    })),
    {
      name: 'a token with an integer of ten thousand digits, which is no double',
      source: 'RFC 8259 section 6',
      verdict: 'malformed',
      requests: 1,
      token: members(`"x":${'9'.repeat(10_000)}`),
    },
    {
      name: 'a signature of eleven kilobytes',
      source: 'RFC 8017 section 8.2.2',
      verdict: 'signature',
      token: `${header}.${payload}.${'A'.repeat(15_000)}`,
    },
    {
      name: 'a signature of one octet',
      source: 'RFC 8017 section 8.2.2',
      verdict: 'signature',
      token: `${header}.${payload}.AA`,
    },
  ]
}

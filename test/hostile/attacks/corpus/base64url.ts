import type { Row } from './row.ts'
import { type TokenMaker, segmentsOf, signed } from './token-maker.ts'

/** Segments that a lenient decoder reads as the octets that were meant. */
export function base64url(maker: TokenMaker): readonly Row[] {
  return [
    ...PLACES.flatMap((place) =>
      [foreignCharacters, wrongLengths, strayBits].flatMap((family) => family(maker, place)),
    ),
    ...canonical(maker),
  ]
}

const PLACES = ['header', 'payload', 'signature'] as const
type Place = (typeof PLACES)[number]

/** Each is put into a segment or in place of one of its characters, so that some decoder still gets the same octets. */
const FOREIGN: readonly (readonly [string, (segment: string) => string])[] = [
  ['padded with =', (segment) => `${segment}=`],
  ['padded with ==', (segment) => `${segment}==`],
  ['padded with a percent-encoded =', (segment) => `${segment}%3D`],
  ['with = in the middle', (segment) => insert(segment, '=')],
  ['with a space inside', (segment) => insert(segment, ' ')],
  ['with a tab inside', (segment) => insert(segment, '\t')],
  ['broken into lines', (segment) => insert(segment, '\r\n')],
  ['with NUL inside', (segment) => insert(segment, '\0')],
  ['with a soft hyphen inside', (segment) => insert(segment, '\u00AD')],
  ['with a combining mark inside', (segment) => insert(segment, '\u0301')],
  ['with an exclamation mark inside', (segment) => insert(segment, '!')],
  ['with a comma, as IMAP encodes', (segment) => insert(segment, ',')],
  ['with a tilde, as some URLs encode', (segment) => insert(segment, '~')],
  ['with + of the other alphabet', (segment) => insert(segment, '+')],
  ['with / of the other alphabet', (segment) => insert(segment, '/')],
  ['with a character that is 256 more than its own', (segment) => aliased(segment, 0x100)],
  ['with a full-width character', (segment) => aliased(segment, 0xfee0)],
  ['with half of a surrogate pair', (segment) => insert(segment, '\uD83D')],
  ['with an emoji', (segment) => insert(segment, '\u{1F511}')],
]

function foreignCharacters(maker: TokenMaker, place: Place): readonly Row[] {
  return FOREIGN.map(([name, spoil]) => ({
    name: `a ${place} ${name}`,
    source: 'RFC 7515 section 2; RFC 4648 section 3.3',
    verdict: 'malformed',
    token: withSegment(maker, place, spoil),
  }))
}

function wrongLengths(maker: TokenMaker, place: Place): readonly Row[] {
  return [
    ['one character too long for any octets', 1],
    ['of one character', 'first'],
  ].map(([name, more]) => ({
    name: `a ${place} ${name}`,
    source: 'RFC 4648 section 4',
    verdict: 'malformed',
    token: withSegment(maker, place, (segment) =>
      more === 'first'
        ? 'A'
        : segment.slice(0, 4 * Math.floor(segment.length / 4) + 1).padEnd(5, 'A'),
    ),
  }))
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** The last character has bits that belong to no octet: each of them set alone, and all of them. */
function strayBits(maker: TokenMaker, place: Place): readonly Row[] {
  return [
    { octets: 'two octets', length: 3, bits: [0b01, 0b10, 0b11] },
    { octets: 'one octet', length: 2, bits: [0b0001, 0b0010, 0b0100, 0b1000, 0b1111] },
  ].flatMap(({ octets, length, bits }) =>
    // An RSA signature of 256 octets ends with one, and no other length gets this far.
    (place === 'signature' && length === 3 ? [] : bits).map((bit) => ({
      name: `a ${place} that ends with ${octets} and the stray bits ${bit.toString(2)}`,
      source: 'RFC 4648 section 3.5',
      verdict: 'malformed' as const,
      token: withSegment(ofLength(maker, place, length), place, (segment) => {
        const last = ALPHABET.indexOf(segment.slice(-1))
        return `${segment.slice(0, -1)}${ALPHABET.charAt(last | bit)}`
      }),
    })),
  )
}

/** What is wrong is signed, so that nothing else is. */
function withSegment(
  { token, issuer }: TokenMaker,
  place: Place,
  spoil: (segment: string) => string,
): string {
  const [header, payload, signature] = segmentsOf(token())
  switch (place) {
    case 'header':
      return signed(`${spoil(header)}.${payload}`, 'RS512', issuer.rsa)
    case 'payload':
      return signed(`${header}.${spoil(payload)}`, 'RS512', issuer.rsa)
    default:
      return `${header}.${payload}.${spoil(signature)}`
  }
}

/** The same maker, whose tokens have a segment with so many characters beyond a multiple of four. */
function ofLength(maker: TokenMaker, place: Place, rest: number): TokenMaker {
  if (place === 'signature') return maker
  for (let pad = ''; ; pad += 'a') {
    const made = maker.token(place === 'header' ? { header: { pad } } : { claims: { pad } })
    const [header, payload] = segmentsOf(made)
    if ((place === 'header' ? header : payload).length % 4 === rest) {
      return { ...maker, token: () => made }
    }
  }
}

function canonical(maker: TokenMaker): readonly Row[] {
  return (['header', 'payload'] as const).flatMap((place) =>
    [0, 2, 3].map((rest) => ({
      name: `a ${place} of four times any number and ${rest} characters, without stray bits`,
      source: 'RFC 4648 section 5',
      verdict: 'accepted' as const,
      token: ofLength(maker, place, rest).token(),
    })),
  )
}

function insert(text: string, what: string): string {
  return `${text.slice(0, 8)}${what}${text.slice(8)}`
}

function aliased(text: string, offset: number): string {
  const at = 8
  return `${text.slice(0, at)}${String.fromCharCode(text.charCodeAt(at) + offset)}${text.slice(at + 1)}`
}

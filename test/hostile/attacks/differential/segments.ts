import fc from 'fast-check'

import type { Edit } from './members.ts'
import { encode } from './signers.ts'
import { flip, splice } from './texts.ts'

/** Writes octets down as a segment of a token. */
export type Spelling = (octets: Buffer) => string

const WHITE_SPACE = [' ', '\n', '\t', '\r', '\f', '\v', '\0', '\u00A0']

/** Base64url as it should not be: all of these are what some decoder takes. */
export const looseSpelling: fc.Arbitrary<Spelling> = fc.oneof(
  fc.constantFrom<Spelling>(
    (octets) => octets.toString('base64'),
    (octets) => pad(encode(octets)),
    (octets) => `${encode(octets)}=`,
    (octets) => `${encode(octets)}==`,
    (octets) => `${encode(octets)}A`,
    (octets) => `=${encode(octets)}`,
    (octets) => encodeURIComponent(pad(encode(octets))),
    (octets) => encode(octets).slice(0, -1),
    (octets) => encode(octets).toLowerCase(),
    (octets) => encode(encode(octets)),
    (octets) => octets.toString('hex'),
    (octets) => octets.toString(),
    () => '',
  ),
  fc.integer({ min: 1, max: 15 }).map(
    (bits): Spelling =>
      (octets) =>
        withStrayBits(encode(octets), bits),
  ),
  fc.tuple(fc.constantFrom(...WHITE_SPACE), fc.nat()).map(
    ([space, at]): Spelling =>
      (octets) =>
        splice(encode(octets), at, 0, space),
  ),
  fc.constantFrom(...WHITE_SPACE).map(
    (space): Spelling =>
      (octets) =>
        encode(octets) + space,
  ),
)

function pad(text: string): string {
  return text.padEnd(Math.ceil(text.length / 4) * 4, '=')
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** Sets bits of the last character that belong to no octet, if it has any. */
export function withStrayBits(text: string, bits: number): string {
  const unused = { 2: 15, 3: 3 }[text.length % 4] ?? 0
  const last = ALPHABET.indexOf(text.slice(-1)) | (bits & unused)
  return text.slice(0, -1) + ALPHABET.charAt(last)
}

const CHARACTERS = [
  '.',
  '=',
  '+',
  '/',
  'A',
  'z',
  '0',
  '-',
  '_',
  '~',
  '%',
  ',',
  ' ',
  '\n',
  '\0',
  '\u0141',
  '\u{1F600}',
  '\uD800',
  '..',
  'e30.',
]

/** One change to a token as it is sent, that needs no key. */
export const tokenEdit: fc.Arbitrary<Edit<string>> = fc.oneof(
  fc.nat().map(
    (bit): Edit<string> =>
      (token) =>
        flip(Buffer.from(token, 'latin1'), bit).toString('latin1'),
  ),
  fc.tuple(fc.nat(), fc.constantFrom(0, 1, 2), fc.constantFrom(...CHARACTERS, '')).map(
    ([at, deleted, inserted]): Edit<string> =>
      (token) =>
        splice(token, at, deleted, inserted),
  ),
  fc.tuple(fc.constantFrom('', ...CHARACTERS), fc.constantFrom('', ...CHARACTERS)).map(
    ([before, behind]): Edit<string> =>
      (token) =>
        before + token + behind,
  ),
  fc
    .tuple(fc.nat({ max: 2 }), fc.nat())
    .map(([index, bit]): Edit<string> =>
      inSegment(index, (segment) => encode(flip(Buffer.from(segment, 'base64url'), bit))),
    ),
  fc.array(fc.nat({ max: 2 }), { maxLength: 5 }).map(
    (order): Edit<string> =>
      (token) =>
        order.map((index) => token.split('.')[index]).join('.'),
  ),
  fc
    .constantFrom<Edit<Buffer>>(
      (octets) => Buffer.alloc(octets.length),
      (octets) => Buffer.concat([Buffer.alloc(1), octets]),
      (octets) => Buffer.concat([octets, Buffer.alloc(1)]),
      (octets) => Buffer.concat([octets, octets]),
      (octets) => octets.subarray(1),
      (octets) => octets.subarray(0, -1),
      (octets) => Buffer.from(octets.toReversed()),
    )
    .map((edit) => inSegment(2, (segment) => encode(edit(Buffer.from(segment, 'base64url'))))),
  looseSpelling.map((spelling) =>
    inSegment(2, (segment) => spelling(Buffer.from(segment, 'base64url'))),
  ),
  fc.constantFrom<Edit<string>>(
    (token) => `${token}.${token}`,
    (token) => token + token,
    (token) => `Bearer ${token}`,
    (token) => JSON.stringify(token),
    (token) => token.toLowerCase(),
    (token) => token.replaceAll('.', ','),
    () => '',
    () => '..',
    () => '.'.repeat(20_000),
    (token) => token.padEnd(16_385, 'A'),
  ),
)

export function inSegment(index: number, edit: Edit<string>): Edit<string> {
  return (token) =>
    token
      .split('.')
      .map((segment, at) => (at === index ? edit(segment) : segment))
      .join('.')
}

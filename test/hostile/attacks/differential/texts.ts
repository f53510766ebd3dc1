import fc from 'fast-check'

import type { Edit } from './members.ts'

const WHITE_SPACE = [' ', '\n', '\t', '\r', '\r\n  ']
const OTHER = [
  '\u00A0',
  '\f',
  '\v',
  '\0',
  '\uFEFF',
  '\u2028',
  '//\n',
  '/**/',
  ',',
  '{',
  '}',
  ']',
  ':',
  '"',
  '\\',
  "'",
  'x',
]

const textEdit: fc.Arbitrary<Edit<string>> = fc.oneof(
  fc.tuple(fc.constantFrom(...WHITE_SPACE, ...OTHER), fc.nat()).map(
    ([inserted, at]) =>
      (text: string) =>
        splice(text, at, 0, inserted),
  ),
  fc.tuple(fc.constantFrom(...WHITE_SPACE), fc.constantFrom('{', ':', ',', '}')).map(
    ([inserted, after]) =>
      (text: string) =>
        text.replaceAll(after, `${inserted}${after}${inserted}`),
  ),
  fc.tuple(fc.nat(), fc.integer({ min: 1, max: 3 })).map(
    ([at, length]) =>
      (text: string) =>
        splice(text, at, length, ''),
  ),
  fc
    .tuple(fc.constantFrom(...WHITE_SPACE, ...OTHER), fc.constantFrom(...WHITE_SPACE, ...OTHER, ''))
    .map(
      ([before, behind]) =>
        (text: string) =>
          `${before}${text}${behind}`,
    ),
  fc.constantFrom<Edit<string>>(
    (text) => `[${text}]`,
    (text) => JSON.stringify(text),
    (text) => text + text,
    (text) => `{"a":${text}}`,
    (text) => text.replace(/\}$/, ',}'),
    (text) => text.replaceAll('"', "'"),
    (text) => text.replaceAll(/"(\w+)":/g, '$1:'),
    (text) => text.toUpperCase(),
    () => '',
    () => 'null',
    () => '[]',
    () => '{}',
    () => '"e30"',
  ),
  fc
    .tuple(
      fc.oneof(fc.integer({ min: 29, max: 34 }), fc.constant(3000)),
      fc.constantFrom('[]', '{}'),
    )
    .map(([depth, brackets]) => nest(depth, brackets)),
)

const octetEdit: fc.Arbitrary<Edit<Buffer>> = fc.oneof(
  fc.tuple(fc.nat(), fc.nat({ max: 7 })).map(
    ([at, bit]) =>
      (octets: Buffer) =>
        flip(octets, at * 8 + bit),
  ),
  fc
    .tuple(
      fc.constantFrom(
        'ff',
        'c080',
        'c1bf',
        'eda080',
        'eda080edb080',
        'f4908080',
        'e282',
        '80',
        'efbfbd',
        'efbfbf',
        'f09f9880',
      ),
      fc.nat(),
    )
    .map(([hex, at]) => (octets: Buffer) => {
      const start = octets.length === 0 ? 0 : at % octets.length
      return Buffer.concat([
        octets.subarray(0, start),
        Buffer.from(hex, 'hex'),
        octets.subarray(start),
      ])
    }),
  fc.constantFrom<Edit<Buffer>>(
    (octets) => Buffer.concat([Buffer.from('efbbbf', 'hex'), octets]),
    (octets) => Buffer.concat([Buffer.from('efbbbfefbbbf', 'hex'), octets]),
    (octets) => Buffer.concat([octets, Buffer.from('efbbbf', 'hex')]),
    (octets) => Buffer.from(octets.toString(), 'utf16le'),
    (octets) =>
      Buffer.concat([Buffer.from('fffe', 'hex'), Buffer.from(octets.toString(), 'utf16le')]),
    (octets) => octets.subarray(1),
    (octets) => octets.subarray(0, -1),
  ),
)

/** One change to the octets of a JSON text, most of which leave none. */
export const rewriting: fc.Arbitrary<Edit<Buffer>> = fc.oneof(
  textEdit.map((edit) => (octets: Buffer) => Buffer.from(edit(octets.toString()))),
  octetEdit,
)

export function splice(text: string, at: number, deleted: number, inserted: string): string {
  const start = text === '' ? 0 : at % text.length
  return text.slice(0, start) + inserted + text.slice(start + deleted)
}

export function flip(octets: Buffer, bit: number): Buffer {
  const flipped = Buffer.from(octets)
  const at = Math.floor(bit / 8) % Math.max(1, octets.length)
  flipped[at] = (flipped[at] ?? 0) ^ (1 << (bit % 8))
  return flipped
}

/** Adds a member, which with the object around it is so many levels deep. */
function nest(depth: number, brackets: '[]' | '{}'): Edit<string> {
  const [open, close] = brackets === '[]' ? ['[', ']'] : ['{"":', '}']
  const value = `${open.repeat(depth - 2)}${brackets}${close.repeat(depth - 2)}`
  return (text) => text.replace(/\}$/, `,"deep":${value}}`)
}

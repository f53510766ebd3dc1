import fc from 'fast-check'

import { anyCharacter } from './inputs.ts'

/** What tends to be treated in a way of its own: by parsers, by number formats, by headers, by base64url. */
const awkward = fc.oneof(
  fc.constantFrom(
    '\0',
    '\t',
    '\r\n',
    ' ',
    '\u007F',
    '\u0080',
    '\u00A0',
    '\u0130',
    '\uD800',
    '\uFEFF',
  ),
  fc.constantFrom('"', '\\', ',', ';', ':', '.', '=', '-', '_', '+', '/', '{', '}', '[', ']', '{}'),
  fc.constantFrom('null', 'true', '0', '-0', '-1', '1e309', '1e-400', '9007199254740993', '0.1'),
  fc.constantFrom('__proto__', 'constructor', 'toString', String.raw`\u0000`, String.raw`\ud800`),
)

/** Inputs that differ from a seed in a few places: one part replaced by another text, often repeated, or by none. */
export function nearSeeds(seeds: readonly string[]): fc.Arbitrary<string> {
  const position = fc.double({ min: 0, max: 1, noNaN: true })
  const edit = fc.record({
    start: position,
    length: fc.nat({ max: 12 }),
    text: fc.oneof(awkward, fc.string({ unit: anyCharacter, maxLength: 3 }), partOf(seeds)),
    copies: fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom(0, 1) },
      { weight: 1, arbitrary: fc.nat({ max: 5000 }) },
    ),
  })
  return fc
    .tuple(fc.constantFrom(...seeds), fc.array(edit, { minLength: 1, maxLength: 6 }))
    .map(([seed, edits]) =>
      edits.reduce((input, { start, length, text, copies }) => {
        const at = Math.floor(start * input.length)
        return input.slice(0, at) + text.repeat(copies) + input.slice(at + length)
      }, seed),
    )
}

function partOf(seeds: readonly string[]): fc.Arbitrary<string> {
  return fc
    .tuple(fc.constantFrom(...seeds), fc.nat({ max: 400 }), fc.nat({ max: 60 }))
    .map(([seed, start, length]) => seed.slice(start, start + length))
}

import { expect, test } from 'vitest'

import { printable, printableJson } from '../../src/surroundings/printable.ts'

test.each([
  ['letters of any script', 'Zoë 東京 Ελένη', 'Zoë 東京 Ελένη'],
  ['line breaks', 'a\nb', 'a\nb'],
])('%s stay', (_, text, expected) => {
  expect(printable(text)).toBe(expected)
})

test.each([
  ['an escape sequence', '\u{1b}[2J', String.raw`\u001b[2J`],
  ['a control character of eight bits', '\u{9b}2J', String.raw`\u009b2J`],
  ['a carriage return', 'a\rb', String.raw`a\u000db`],
  ['a mark that changes the direction', '\u{202e}', String.raw`\u202e`],
  ['a space without width', '\u{200b}', String.raw`\u200b`],
  ['a line separator', '\u{2028}', String.raw`\u2028`],
  ['a lone surrogate', '\u{d800}', String.raw`\ud800`],
  ['a character of two units', '\u{e0001}', String.raw`\udb40\udc01`],
])('%s is escaped as in JSON', (_, text, expected) => {
  expect(printable(text)).toBe(expected)
})

test('JSON stays JSON with the same value, and a terminal may show it', () => {
  const value = {
    'a\u{9b}2J': ['\u{9d}0;title\u{7}', '\u{7f}', '\u{202e}', '\u{1b}', 'Zoë 東京', '😀'],
  }
  for (const text of [printableJson(value), printableJson(value, 2)]) {
    expect(text.replaceAll('\n', '')).not.toMatch(/[^\P{C}]/u)
    expect(text).toContain('Zoë 東京')
    expect(JSON.parse(text)).toEqual(value)
  }
})

import { describe, expect, test } from 'vitest'

import { decodeBase64, decodeBase64url } from '../../src/ground/base64url.ts'

const ALPHABET = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_')

describe('the last character', () => {
  test.each([
    { name: 'two characters: four endings leave no stray bit', start: 'A', accepted: 'AQgw' },
    { name: 'six characters: the same four', start: '_-zZ9', accepted: 'AQgw' },
    { name: 'three characters: sixteen endings', start: 'AA', accepted: 'AEIMQUYcgkosw048' },
    { name: 'seven characters: the same sixteen', start: '_-zZ90', accepted: 'AEIMQUYcgkosw048' },
    { name: 'four characters: every ending', start: 'AAA', accepted: ALPHABET.join('') },
    { name: 'eight characters: every ending', start: '_-zZ90a', accepted: ALPHABET.join('') },
    { name: 'one character: none', start: '', accepted: '' },
    { name: 'five characters: none', start: 'AAAA', accepted: '' },
  ])('$name', ({ start, accepted }) => {
    expect(ALPHABET.filter((last) => isAccepted(start + last)).join('')).toBe(accepted)
  })
})

function isAccepted(text: string): boolean {
  return decodeBase64url(text) !== undefined
}

test.each(['A', 'QUJDR'])('%j is refused: no octets are written in so many characters', (text) => {
  expect(decodeBase64url(text)).toBeUndefined()
})

// Each has a length and an ending that would be right, so that the alphabet alone decides.
test.each([
  { name: 'nothing', text: '' },
  { name: 'two characters of padding', text: 'QQ==' },
  { name: 'one character of padding', text: 'QUI=' },
  { name: 'nothing but padding', text: '====' },
  { name: 'padding in the middle', text: 'QQ==QUJD' },
  { name: 'a space in front', text: ' UJD' },
  { name: 'a space at the end', text: 'QUJ ' },
  { name: 'a space inside', text: 'QU D' },
  { name: 'a line feed at the end', text: 'QUJ\n' },
  { name: 'a line feed after a whole text', text: 'QUJDRE\nQ' },
  { name: 'a line feed in front', text: '\nUJD' },
  { name: 'a carriage return and a line feed', text: 'QU\r\n' },
  { name: 'a tab', text: 'QU\tD' },
  { name: 'a no-break space', text: 'QU\u00A0D' },
  { name: 'a line separator', text: 'QUJ\u2028' },
  { name: 'NUL', text: 'QUJ\0' },
  { name: 'the plus of base64', text: 'QU+D' },
  { name: 'the slash of base64', text: 'QU/D' },
  { name: 'a dot', text: 'QU.D' },
  { name: 'a percent escape', text: 'Q%4A' },
  { name: 'U+0141, whose low octet is an A', text: '\u0141UJD' },
  { name: 'a full-width A', text: '\uFF21UJD' },
  { name: 'a letter outside the BMP', text: 'QU\u{1D400}' },
  { name: 'a Latin-1 letter', text: 'QUJ\u00E9' },
])('$name is refused', ({ text }) => {
  expect(decodeBase64url(text)).toBeUndefined()
})

// The definition: a text is canonical if its octets are written by the same text.
test.each(['', 'QU', 'QUI', 'QUJD', '_-zZ90'])(
  'of any character put anywhere into %j, it is refused unless an encoder would write it',
  (text) => {
    const wrong: string[] = []
    for (let at = 0; at <= text.length; at++) {
      for (let unit = 0; unit <= 0xff_ff; unit++) {
        const changed = text.slice(0, at) + String.fromCodePoint(unit) + text.slice(at)
        const isWritten = Buffer.from(changed, 'base64url').toString('base64url') === changed
        if (isAccepted(changed) !== isWritten) wrong.push(changed)
      }
    }
    expect(wrong).toEqual([])
  },
)

test('whatever an encoder writes is accepted and decodes to the same octets', () => {
  const octets = Buffer.from(Array.from({ length: 256 }, (_, at) => (at * 167 + 13) % 256))
  for (let size = 1; size <= octets.length; size++) {
    const part = octets.subarray(0, size)
    const text = part.toString('base64url')
    expect(decodeBase64url(text)).toEqual(part)
  }
})

test('both letters of the URL-safe alphabet decode', () => {
  expect(decodeBase64url('-_-_')).toEqual(Buffer.from([0xfb, 0xff, 0xbf]))
})

test.each([
  ['-_-_', 'fbffbf'],
  ['+/+/', 'fbffbf'],
  ['+/-_', 'fbffbf'],
  ['AQ', '01'],
  ['AQ==', '01'],
  ['AQ=', '01'],
  ['AQAB==', '010001'],
])('where octets alone decide, %s is read', (text, hex) => {
  expect(decodeBase64(text)?.toString('hex')).toBe(hex)
})

test.each([
  '',
  '=',
  '==',
  'AQ===',
  '=AQ',
  'A=Q',
  'AR==',
  'A',
  'A=',
  'AQ==\n',
  ' AQ',
  'AQ%3D',
  '\u0141Q',
])('where octets alone decide, %j is still nothing', (text) => {
  expect(decodeBase64(text)).toBeUndefined()
})

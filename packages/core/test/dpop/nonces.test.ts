import { describe, expect, test } from 'vitest'

import { createNonces, isNonceSecret } from '../../src/dpop/nonces.ts'
import { NOW } from './proof-maker.ts'

const OLD = 'o'.repeat(32)
const NEW = 'n'.repeat(32)

function noncesOf(secret: string | Uint8Array | readonly (string | Uint8Array)[], maxAge?: number) {
  return createNonces({ secret, maxAge }, 5)
}

describe('a nonce', () => {
  test('is accepted by every process with the secret that made it', () => {
    const nonce = noncesOf(NEW).make(NOW)
    expect(noncesOf(NEW).validity(nonce, NOW)).toBe('valid')
    expect(noncesOf(Buffer.from(NEW)).validity(nonce, NOW)).toBe('valid')
    expect(noncesOf(OLD).validity(nonce, NOW)).toBe('invalid')
  })

  test('has the characters that RFC 9449 allows, and is short', () => {
    expect(noncesOf(NEW).make(NOW)).toMatch(/^[\w-]{30}$/)
  })

  test('is the same within a second, and another one in the next', () => {
    const nonces = noncesOf(NEW)
    const nonce = nonces.make(NOW)
    expect(nonces.make(NOW + 0.9)).toBe(nonce)
    expect(nonces.make(NOW + 1)).not.toBe(nonce)
    expect(nonces.make(NOW)).toBe(nonce)
  })

  test.each([
    [0, 'valid'],
    [305, 'valid'],
    [305.5, 'invalid'],
    [-5, 'valid'],
    [-6, 'invalid'],
    [NaN, 'invalid'],
    [Infinity, 'invalid'],
  ])('after %s seconds is %s', (seconds, verdict) => {
    const nonces = noncesOf(NEW)
    expect(nonces.validity(nonces.make(NOW), NOW + seconds)).toBe(verdict)
  })

  test('lasts as long as the option says', () => {
    const nonces = noncesOf(NEW, 10)
    const nonce = nonces.make(NOW)
    expect(nonces.validity(nonce, NOW + 15)).toBe('valid')
    expect(nonces.validity(nonce, NOW + 16)).toBe('invalid')
  })

  test('of any process is accepted by all through a change of secrets: added last, moved to the front, alone', () => {
    const steps = [noncesOf(OLD), noncesOf([OLD, NEW]), noncesOf([NEW, OLD]), noncesOf(NEW)]
    // While a step is rolled out, there are processes of two neighbours.
    const [earlier, later] = [steps.slice(0, 3), steps.slice(1)]
    expect(later.map((each, at) => earlier[at]?.validity(each.make(NOW), NOW))).toEqual([
      'valid',
      'valid',
      'valid',
    ])
    expect(later.map((each, at) => each.validity(earlier[at]?.make(NOW), NOW))).toEqual([
      'valid',
      'valid',
      'valid',
    ])
  })

  test('of a new secret is not accepted by a process that does not have it: it must not make nonces at once', () => {
    expect(noncesOf(OLD).validity(noncesOf([NEW, OLD]).make(NOW), NOW)).toBe('invalid')
    expect(noncesOf(OLD).validity(noncesOf([OLD, NEW]).make(NOW), NOW)).toBe('valid')
  })

  test('is missing only where there is none', () => {
    expect(noncesOf(NEW).validity(undefined, NOW)).toBe('missing')
  })

  test.each([
    ['null', null],
    ['an empty text', ''],
    ['a number', NOW],
    ['a list', [noncesOf(NEW).make(NOW)]],
    ['another text', 'eyJ7S_zG.eyJH0-Z.HX4w-7v'],
    ['white space behind it', `${noncesOf(NEW).make(NOW)} `],
    ['padding', `${noncesOf(NEW).make(NOW)}==`],
    ['a character less', noncesOf(NEW).make(NOW).slice(1)],
    ['stray bits at its end', `${noncesOf(NEW).make(NOW).slice(0, -1)}_`],
    ['letters beyond ASCII', 'ä'.repeat(30)],
    ['another MAC', `${noncesOf(NEW).make(NOW).slice(0, 9)}${'A'.repeat(21)}`],
    ['zeros', 'A'.repeat(30)],
    ['a long text', 'A'.repeat(100_000)],
  ])('is invalid: %s', (_, nonce) => {
    expect(noncesOf(NEW).validity(nonce, NOW)).toBe('invalid')
  })

  test('with each of its bits flipped is invalid', () => {
    const nonces = noncesOf(NEW)
    const octets = Buffer.from(nonces.make(NOW), 'base64url')
    for (let bit = 0; bit < octets.length * 8; bit++) {
      const flipped = Buffer.from(octets)
      flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
      expect(nonces.validity(flipped.toString('base64url'), NOW)).toBe('invalid')
    }
  })

  test.each([NaN, Infinity, -Infinity, -1, 1e300])(
    'can be made whatever the clock shows, and is not accepted then: %s',
    (now) => {
      const nonces = noncesOf(NEW)
      expect(nonces.validity(nonces.make(now), NOW)).toBe('invalid')
    },
  )

  test('does not follow the octets that it was given when they change', () => {
    const secret = Buffer.from(NEW)
    const nonces = noncesOf(secret)
    secret.fill(0)
    expect(nonces.validity(noncesOf(NEW).make(NOW), NOW)).toBe('valid')
  })
})

describe('the secret', () => {
  test.each([[NEW], [Buffer.from(NEW)], [new Uint8Array(32)], [[NEW, OLD]], ['ä'.repeat(16)]])(
    'may be %s',
    (secret) => {
      expect(isNonceSecret(secret)).toBeUndefined()
    },
  )

  test.each([
    ['short'],
    ['s'.repeat(31)],
    [new Uint8Array(31)],
    [[]],
    [[NEW, 'short']],
    [undefined],
    [32],
    [{ length: 32 }],
  ])('may not be %s', (secret) => {
    expect(isNonceSecret(secret)).toBe('must be a secret of at least 32 bytes, or a list of them')
  })
})

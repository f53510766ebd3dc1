import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { AuthError } from '../../src/refusal/errors.ts'
import { createHeaderCache, isLikeJwt, parseToken } from '../../src/token/token.ts'

const MAX_SIZE = 16_384
const MALFORMED = { code: 'invalid_token', reason: 'malformed', status: 401 }
const TOO_LARGE = { code: 'invalid_token', reason: 'too_large', status: 401 }
const CRITICAL_HEADER = { code: 'invalid_token', reason: 'critical_header', status: 401 }
const PAYLOAD = encode('{"sub":"ada"}')
const SIGNATURE = encode('a signature')

function encode(text: string): string {
  return Buffer.from(text).toString('base64url')
}

function tokenWith(header: string, payload = PAYLOAD, signature = SIGNATURE): string {
  return `${encode(header)}.${payload}.${signature}`
}

function tokenOfSize(size: number): string {
  const start = `${encode('{"alg":"RS512"}')}.`
  const end = `.${'AAAA'.repeat(64)}`
  return `${start}${'A'.repeat(size - start.length - end.length)}${end}`
}

function refusalOf(token: string, maxSize = MAX_SIZE): AuthError {
  try {
    parseToken(token, maxSize)
  } catch (error) {
    if (error instanceof AuthError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

describe('a compact JWS', () => {
  test('is taken apart into header, payload, signing input and signature', () => {
    const header = '{"alg":"RS512","kid":"k","typ":"at+jwt"}'
    expect(parseToken(tokenWith(header), MAX_SIZE)).toStrictEqual({
      header: { alg: 'RS512', kid: 'k', typ: 'at+jwt' },
      payload: Buffer.from(PAYLOAD, 'base64url'),
      signingInput: Buffer.from(`${encode(header)}.${PAYLOAD}`),
      signature: Buffer.from('a signature'),
    })
  })

  test('is the example of RFC 7515 appendix A.2', () => {
    const signingInput =
      'eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQog' +
      'Imh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ'
    const parsed = parseToken(`${signingInput}.cC4hiUPoj9Eetdgtv3hF80EGrhuB`, MAX_SIZE)
    expect(parsed.header).toEqual({ alg: 'RS256' })
    expect(parsed.signingInput.toString()).toBe(signingInput)
    expect(parsed.signature.subarray(0, 4)).toEqual(Buffer.from([112, 46, 33, 137]))
  })

  test('has a header that is frozen to the last level', () => {
    const { header } = parseToken(tokenWith('{"alg":"RS512","jwk":{"kty":"RSA"}}'), MAX_SIZE)
    expect(Object.isFrozen(header)).toBe(true)
    expect(Object.isFrozen(header['jwk'])).toBe(true)
  })

  test('may have any payload, since nothing is proven yet', () => {
    const token = tokenWith('{"alg":"RS512"}', encode('not JSON'))
    expect(parseToken(token, MAX_SIZE).payload.toString()).toBe('not JSON')
  })

  test.each([
    { name: 'no kid and no typ', header: '{"alg":"RS512"}' },
    { name: 'an empty kid', header: '{"alg":"RS512","kid":""}' },
    { name: 'no alg: the list of algorithms decides that', header: '{}' },
    { name: 'a kid of null, which is none', header: '{"alg":"RS512","kid":null}' },
    { name: 'a typ of null, which is none', header: '{"alg":"RS512","typ":null}' },
    { name: 'unknown members', header: '{"alg":"RS512","x":[{}],"jku":"https://evil.example"}' },
    { name: 'b64 with its default', header: '{"alg":"RS512","b64":true}' },
    { name: 'crit on a lower level', header: '{"alg":"RS512","x":{"crit":["b64"],"b64":false}}' },
  ])('may have $name', ({ header }) => {
    expect(parseToken(tokenWith(header), MAX_SIZE).header).toEqual(JSON.parse(header))
  })
})

describe('the size', () => {
  test('16384 octets are read, one more is too large', () => {
    const largest = tokenOfSize(MAX_SIZE)
    expect(largest).toHaveLength(MAX_SIZE)
    expect(parseToken(largest, MAX_SIZE).signature).toHaveLength(192)
    expect(refusalOf(`${largest}A`)).toMatchObject(TOO_LARGE)
  })

  test('the limit is the one given', () => {
    const token = tokenOfSize(1024)
    expect(parseToken(token, 1024).payload).toHaveLength(
      Math.floor(((1024 - 21 - 256 - 1) * 3) / 4),
    )
    expect(refusalOf(token, 1023)).toMatchObject(TOO_LARGE)
  })

  test.each([
    { name: '8 MiB of dots', token: '.'.repeat(8 * 1024 * 1024) },
    { name: '8 MiB of one segment', token: 'A'.repeat(8 * 1024 * 1024) },
    { name: 'one octet too many, of another alphabet', token: ' '.repeat(MAX_SIZE + 1) },
  ])('$name is too large, whatever else is wrong', ({ token }) => {
    expect(refusalOf(token)).toMatchObject(TOO_LARGE)
  })

  test('16384 dots are malformed', () => {
    expect(refusalOf('.'.repeat(MAX_SIZE))).toMatchObject(MALFORMED)
  })
})

describe('the form', () => {
  const good = encode('{"alg":"RS512"}')

  test.each([
    { name: 'nothing', token: '' },
    { name: 'one segment', token: good },
    { name: 'one segment that would do as a signature and, cut short, as a header', token: 'e30A' },
    { name: 'two segments', token: `${good}.${PAYLOAD}` },
    { name: 'four segments', token: `${good}.${PAYLOAD}.${SIGNATURE}.${SIGNATURE}` },
    { name: 'a JWE of five parts', token: `${good}.QUJD.QUJD.QUJD.QUJD` },
    { name: 'a JWE with direct encryption', token: `${good}..QUJD.QUJD.QUJD` },
    { name: 'an unsecured JWS', token: `${good}.${PAYLOAD}.` },
    { name: 'an empty header', token: `.${PAYLOAD}.${SIGNATURE}` },
    { name: 'an empty payload, as when it is detached', token: `${good}..${SIGNATURE}` },
    { name: 'a dot', token: '.' },
    { name: 'two dots', token: '..' },
    { name: 'a dot in front', token: `.${good}.${PAYLOAD}.${SIGNATURE}` },
    { name: 'a dot at the end', token: `${good}.${PAYLOAD}.${SIGNATURE}.` },
    { name: 'a JSON serialization', token: '{"payload":"e30","protected":"e30","signature":"QQ"}' },
    { name: 'its scheme in front', token: `Bearer ${good}.${PAYLOAD}.${SIGNATURE}` },
    { name: 'a space in front', token: ` ${good}.${PAYLOAD}.${SIGNATURE}` },
    { name: 'a line feed at the end', token: `${good}.${PAYLOAD}.QUJ\n` },
    { name: 'a padded header', token: `${encode('{"a":1}')}==.${PAYLOAD}.${SIGNATURE}` },
    { name: 'a padded payload', token: `${good}.e30=.${SIGNATURE}` },
    { name: 'a padded signature', token: `${good}.${PAYLOAD}.QQ==` },
    { name: 'a header with stray bits', token: `e31.${PAYLOAD}.${SIGNATURE}` },
    { name: 'a payload with stray bits', token: `${good}.e31.${SIGNATURE}` },
    { name: 'a signature with stray bits', token: `${good}.${PAYLOAD}.QR` },
    { name: 'a header of the base64 alphabet', token: `e30+.${PAYLOAD}.${SIGNATURE}` },
    { name: 'a payload of the base64 alphabet', token: `${good}.QU/D.${SIGNATURE}` },
    { name: 'a signature of the base64 alphabet', token: `${good}.${PAYLOAD}.QU+D` },
    { name: 'U+0141 for an A', token: `${good}.${PAYLOAD}.\u0141AAA` },
    { name: 'a full stop of another script', token: `${good}\u3002${PAYLOAD}\u3002${SIGNATURE}` },
  ])('$name is malformed', ({ token }) => {
    expect(refusalOf(token)).toMatchObject(MALFORMED)
  })
})

describe('the header', () => {
  test.each([
    { name: 'no JSON', header: 'alg' },
    { name: 'a list', header: '[{"alg":"RS512"}]' },
    { name: 'a text', header: '"RS512"' },
    { name: 'null', header: 'null' },
    { name: 'a byte order mark', header: '\uFEFF{"alg":"RS512"}' },
    { name: 'two algs', header: '{"alg":"RS512","alg":"none"}' },
    { name: 'two algs, one escaped', header: String.raw`{"alg":"RS512","\u0061lg":"none"}` },
    { name: 'two kids', header: '{"alg":"RS512","kid":"a","kid":"b"}' },
    { name: '__proto__', header: '{"alg":"RS512","__proto__":{"kid":"a"}}' },
    { name: '__proto__ on a lower level', header: '{"alg":"RS512","jwk":{"__proto__":{}}}' },
    { name: '33 levels', header: `{"a":${'['.repeat(32)}${']'.repeat(32)}}` },
    { name: 'a number that is not finite', header: '{"alg":"RS512","x":1e309}' },
    { name: 'a kid that is a number', header: '{"alg":"RS512","kid":1}' },
    { name: 'a kid that is true', header: '{"alg":"RS512","kid":true}' },
    { name: 'a kid that is a list', header: '{"alg":"RS512","kid":["a"]}' },
    { name: 'a kid that is an object', header: '{"alg":"RS512","kid":{}}' },
    { name: 'a typ that is a number', header: '{"alg":"RS512","typ":0}' },
    { name: 'a typ that is false', header: '{"alg":"RS512","typ":false}' },
    { name: 'a typ that is a list', header: '{"alg":"RS512","typ":["JWT"]}' },
    { name: 'a typ that is an object', header: '{"alg":"RS512","typ":{"a":"JWT"}}' },
  ])('$name is malformed', ({ header }) => {
    expect(refusalOf(tokenWith(header))).toMatchObject(MALFORMED)
  })

  test('octets that are not UTF-8 are malformed', () => {
    const header = Buffer.concat([
      Buffer.from('{"alg":"RS512","kid":"'),
      Buffer.from([0xff]),
      Buffer.from('"}'),
    ])
    expect(refusalOf(`${header.toString('base64url')}.${PAYLOAD}.${SIGNATURE}`)).toMatchObject(
      MALFORMED,
    )
  })

  test.each([
    { name: 'an unknown extension', header: '{"alg":"RS512","crit":["exp"],"exp":1}' },
    { name: 'b64, which is registered', header: '{"alg":"RS512","crit":["b64"],"b64":true}' },
    { name: 'an empty list', header: '{"alg":"RS512","crit":[]}' },
    { name: 'null', header: '{"alg":"RS512","crit":null}' },
    { name: 'false', header: '{"alg":"RS512","crit":false}' },
    { name: 'zero', header: '{"alg":"RS512","crit":0}' },
    { name: 'an empty text', header: '{"alg":"RS512","crit":""}' },
    { name: 'an object', header: '{"alg":"RS512","crit":{}}' },
    { name: 'an escaped name', header: String.raw`{"alg":"RS512","\u0063rit":["x"]}` },
  ])('crit is refused in any form: $name', ({ header }) => {
    expect(refusalOf(tokenWith(header))).toMatchObject(CRITICAL_HEADER)
  })

  test.each([
    { name: 'unnamed', header: '{"alg":"RS512","b64":false}' },
    { name: 'named in crit', header: '{"alg":"RS512","b64":false,"crit":["b64"]}' },
  ])('a payload that is not base64url is refused: $name', ({ header }) => {
    expect(refusalOf(tokenWith(header))).toMatchObject(CRITICAL_HEADER)
  })
})

describe('a header that was read before', () => {
  test('is the same object in the next token, whose other parts are its own', () => {
    const headers = createHeaderCache()
    const [one, other] = ['{"sub":"ada"}', '{"sub":"eve"}'].map((payload) =>
      parseToken(tokenWith('{"alg":"RS512"}', encode(payload)), MAX_SIZE, headers),
    )
    expect(other?.header).toBe(one?.header)
    expect(other?.payload.toString()).toBe('{"sub":"eve"}')
  })

  test('is forgotten where nothing keeps it', () => {
    const token = tokenWith('{"alg":"RS512"}')
    expect(parseToken(token, MAX_SIZE).header).not.toBe(parseToken(token, MAX_SIZE).header)
  })

  test('makes up for no other part', () => {
    const headers = createHeaderCache()
    parseToken(tokenWith('{"alg":"RS512"}'), MAX_SIZE, headers)
    for (const token of [
      tokenWith('{"alg":"RS512"}', 'e30='),
      tokenWith('{"alg":"RS512"}', 'e30', ''),
    ]) {
      expect(() => parseToken(token, MAX_SIZE, headers)).toThrow(AuthError)
    }
  })

  test.each(['alg', '{"alg":"RS512","kid":1}', '{"alg":"RS512","crit":["b64"]}'])(
    'and refused, is refused again: %s',
    (header) => {
      const headers = createHeaderCache()
      for (let times = 0; times < 2; times++) {
        expect(() => parseToken(tokenWith(header), MAX_SIZE, headers)).toThrow(AuthError)
      }
      expect(headers.known.size).toBe(0)
    },
  )

  test('is told from one that begins alike, or is a part of it', () => {
    const headers = createHeaderCache()
    const texts = [
      '{"alg":"RS512"}',
      '{"alg":"RS512"}   ',
      '{"alg":"RS512","kid":"a"}',
      '{"alg":"RS512","kid":"b"}',
    ]
    for (const text of [...texts, ...texts.toReversed(), ...texts]) {
      const { header } = parseToken(tokenWith(text), MAX_SIZE, headers)
      expect(header).toEqual(JSON.parse(text))
    }
    const [first = ''] = texts.map((text) => tokenWith(text).split('.')[0])
    parseToken(tokenWith('{"alg":"RS512"}'), MAX_SIZE, headers)
    for (const encoded of [
      first.slice(0, -1),
      `${first}A`,
      `${first}AA`,
      `${first}=`,
      `${first} `,
      '',
    ]) {
      const token = tokenWith('{"alg":"RS512"}').replace(first, encoded)
      expect(() => parseToken(token, MAX_SIZE, headers)).toThrow(AuthError)
    }
  })

  test('is one of the last eight', () => {
    const headers = createHeaderCache()
    const read = (kid: number) =>
      parseToken(tokenWith(`{"alg":"RS512","kid":"${kid}"}`), MAX_SIZE, headers).header
    const first = read(0)
    for (let kid = 1; kid < 8; kid++) read(kid)
    expect(read(0)).toBe(first)
    for (let kid = 1; kid <= 8; kid++) read(kid)
    expect(read(0)).not.toBe(first)
    expect(headers.known.size).toBe(8)
  })
})

describe('what begins as a JWT', () => {
  const header = encode('{"alg":"RS512"}')

  test.each<[string, string]>([
    ['a token', tokenWith('{"alg":"RS512"}')],
    ['a header and a dot', `${header}.`],
    ['padding before it', `=${header}.`],
    ['padding within', `${header.slice(0, 1)}=${header.slice(1)}.`],
    ['characters before it that some readers pass over', `${'*'.repeat(70)}${header}.`],
    ['letters that Node takes for others', `${header.replace('e', '\u{165}')}.`],
    ['white space in its JSON', `${encode(`${' '.repeat(100)}{"`)}.`],
    ['white space within its JSON', `${encode(`{${' \n\t\r'.repeat(50)}"alg"`)}.`],
    ['white space around the brace where it is first cut', `${encode(`${' '.repeat(47)}{ "a"`)}.`],
    ['an empty header', `${encode('{ }')}.`],
    ['more white space than any header has', `${encode(' '.repeat(9000))}.`],
    ['a byte order mark', `${encode('\u{FEFF}{"')}.`],
    ['plain base64', `${Buffer.from('{"a":">>>???"}').toString('base64')}.`],
  ])('%s', (_name, token) => {
    expect(isLikeJwt(token)).toBe(true)
  })

  test.each<[string, string]>([
    ['nothing', ''],
    ['a text without a dot', header],
    ['a dot before it', `.${header}`],
    ['other texts with dots', 'v4.public.abc'],
    ['padding and a text', '=abc.def'],
    ['a list', `${encode('["a"]')}.`],
    ['a brace alone', `${encode('{')}.`],
    ['a brace and no name', `${encode('{a":1}')}.`],
    ['a brace, white space and no name', `${encode('{ \n1}')}.`],
    ['a brace and white space alone', `${encode('{  ')}.`],
    ['white space alone', `${encode(' '.repeat(10))}.`],
    ['as much of it as the longest header has', `${encode(' '.repeat(6144))}.`],
  ])('and what does not: %s', (_name, token) => {
    expect(isLikeJwt(token)).toBe(false)
  })

  const random = fc
    .uint8Array({ minLength: 8, maxLength: 64 })
    .map((octets) => Buffer.from(octets).toString('base64url'))

  // One of 30,000 is like a JWT all the same: these are not.
  test('is no random text with a dot', () => {
    const property = fc.property(random, random, (first, second) => {
      expect(isLikeJwt(`${first}.${second}`)).toBe(false)
    })
    fc.assert(property, { numRuns: 10_000, seed: 1 })
  })

  test('is any JSON object, however it is written', () => {
    const space = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r'), maxLength: 80 })
    const object = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 })
    const property = fc.property(space, space, object, random, (before, within, value, rest) => {
      const text = `${before}{${within}${JSON.stringify(value).slice(1)}`
      expect(isLikeJwt(`${encode(text)}.${rest}`)).toBe(true)
    })
    fc.assert(property)
  })

  test('is told of the longest text in linear time: quadratic time would end after the limit of a test', () => {
    const texts = ['=', '*', ' ', 'IC', '\u{165}'].map((part) => `${part.repeat(500_000)}.`)
    expect(texts.map((each) => isLikeJwt(each))).toEqual([true, true, true, false, true])
  })
})

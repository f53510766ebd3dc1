import { runInNewContext } from 'node:vm'

import { describe, expect, test } from 'vitest'

import { AuthError } from '../../src/refusal/errors.ts'
import {
  type FetchRequest,
  findBearerText,
  isPreflight,
  isSpelledOtherwise,
  parseBearer,
  type RequestHeaders,
} from '../../src/request/bearer.ts'

const CHALLENGE_WITHOUT_CODE = 'Bearer realm="api"'
const MISSING_HEADER = { code: 'missing_token', reason: 'missing_header', status: 401 }
const OTHER_SCHEME = { code: 'missing_token', reason: 'other_scheme', status: 401 }
const MALFORMED = { code: 'invalid_token', reason: 'malformed', status: 401 }
const REPEATED_HEADER = { code: 'invalid_request', reason: 'repeated_header', status: 400 }

function withHeader(value: string): RequestHeaders {
  return {
    rawHeaders: ['Host', 'api.example', 'Authorization', value],
    headers: { authorization: value },
  }
}

function refusalOf(request: RequestHeaders | FetchRequest): AuthError {
  try {
    parseBearer(request)
  } catch (error) {
    if (error instanceof AuthError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

describe('a text that is no b64token', () => {
  const texts = ['user:grant:secret', '12|abc', 'a=b', '{a}', '\\']

  test.each(texts)('%s is a token where the verifier takes it, and only there', (text) => {
    const request = withHeader(`Bearer ${text}`)
    expect(parseBearer(request, (asked) => asked === text)).toBe(text)
    expect(() => parseBearer(request, () => false)).toThrow(AuthError)
    expect(refusalOf(request)).toMatchObject(MALFORMED)
  })

  test.each([
    'a b',
    'a,b',
    'a, Bearer b',
    'a"b',
    "a'b",
    'a;b',
    'a\tb',
    'é|',
    'a\u007F',
    '',
    'a|b ',
  ])('%j is none, and no verifier is asked', (text) => {
    const asked: string[] = []
    const ask = () => parseBearer(withHeader(`Bearer ${text}`), (each) => asked.push(each) > 0)
    expect(ask).toThrow(AuthError)
    expect(asked).toEqual([])
  })

  test('a b64token is one, and no verifier is asked about its form', () => {
    const asked: string[] = []
    const token = parseBearer(withHeader('Bearer abc.def=='), (each) => asked.push(each) > 0)
    expect([token, asked]).toEqual(['abc.def==', []])
  })
})

describe('one token after Bearer', () => {
  test.each([
    { name: 'a token of three parts', value: 'Bearer aaa.bbb.ccc', token: 'aaa.bbb.ccc' },
    { name: 'the scheme in lower case', value: 'bearer abc', token: 'abc' },
    { name: 'the scheme in upper case', value: 'BEARER abc', token: 'abc' },
    { name: 'the scheme in mixed case', value: 'bEaReR abc', token: 'abc' },
    { name: 'several spaces', value: `Bearer${' '.repeat(9)}abc`, token: 'abc' },
    { name: 'every character of b64token', value: 'Bearer azAZ09-._~+/', token: 'azAZ09-._~+/' },
    { name: 'equals signs at the end', value: 'Bearer abc==', token: 'abc==' },
    { name: 'a token that is one character', value: 'Bearer a', token: 'a' },
    { name: 'a token that is called Bearer', value: 'Bearer Bearer', token: 'Bearer' },
  ])('$name is found', ({ value, token }) => {
    expect(parseBearer(withHeader(value))).toBe(token)
  })

  test.each([
    { name: 'nothing after the scheme', value: 'Bearer' },
    { name: 'one space after the scheme', value: 'Bearer ' },
    { name: 'many spaces after the scheme', value: `Bearer${' '.repeat(100_000)}` },
    { name: 'two words', value: 'Bearer a b' },
    { name: 'two schemes', value: 'Bearer Bearer abc' },
    { name: 'a space at the end', value: 'Bearer abc ' },
    { name: 'a space in front', value: ' Bearer abc' },
    { name: 'a tab after the scheme', value: 'Bearer\tabc' },
    { name: 'a tab among spaces', value: 'Bearer \tabc' },
    { name: 'a tab at the end', value: 'Bearer abc\t' },
    { name: 'a no-break space after the scheme', value: 'Bearer\u00A0abc' },
    { name: 'a no-break space among spaces', value: 'Bearer \u00A0abc' },
    { name: 'a no-break space at the end', value: 'Bearer abc\u00A0' },
    { name: 'a line feed at the end', value: 'Bearer abc\n' },
    { name: 'a folded line', value: 'Bearer\r\n abc' },
    { name: 'a NUL', value: 'Bearer abc\0' },
    { name: 'a Latin-1 letter at the end', value: 'Bearer abc\u00FC' },
    { name: 'a Latin-1 letter inside', value: 'Bearer a\u00E9c' },
    { name: 'a letter beyond Latin-1', value: 'Bearer \u0141bc' },
    { name: 'a semicolon at the end', value: 'Bearer abc;' },
    { name: 'quotes', value: 'Bearer "abc"' },
    { name: 'JSON', value: 'Bearer {"payload":"a","signature":"b"}' },
    { name: 'JSON with spaces', value: 'Bearer {"payload": "a", "signature": "b"}' },
    { name: 'parameters', value: 'Bearer realm="a", error="b"' },
    { name: 'a parameter', value: 'Bearer token="abc"' },
    { name: 'an equals sign inside', value: 'Bearer a=b' },
    { name: 'equals signs alone', value: 'Bearer ==' },
    { name: 'no space after the scheme', value: 'Bearer=abc' },
    { name: 'a colon after the scheme', value: 'Bearer: abc' },
  ])('$name is malformed', ({ value }) => {
    expect(refusalOf(withHeader(value))).toMatchObject(MALFORMED)
  })

  test.each([
    { name: 'a comma at the end', value: 'Bearer abc,' },
    { name: 'a comma in front', value: 'Bearer ,abc' },
    { name: 'a list of two', value: 'Bearer abc, Bearer def' },
    { name: 'a list of two without spaces', value: 'Bearer abc,Bearer def' },
    { name: 'a list with another scheme', value: 'Bearer abc, Basic def' },
    { name: 'a comma after the scheme', value: 'Bearer, abc' },
  ])('$name has been joined', ({ value }) => {
    expect(refusalOf(withHeader(value))).toMatchObject(REPEATED_HEADER)
  })

  test('a malformed token is answered as a forged one is, so that clients get another', () => {
    const error = refusalOf(withHeader('Bearer user:grant:secret'))
    expect(error.status).toBe(401)
    expect(error.headers['WWW-Authenticate']).toBe(
      'Bearer realm="api", error="invalid_token", error_description="The access token is not valid"',
    )
  })
})

describe('a value without a scheme', () => {
  test.each([
    { name: 'nothing', value: '' },
    { name: 'spaces', value: '   ' },
    { name: 'a quote', value: '"Bearer abc"' },
    { name: 'a Latin-1 letter in front', value: '\u00FCBearer abc' },
    { name: 'a no-break space in front', value: '\u00A0Bearer abc' },
    { name: 'a byte order mark in front', value: '\uFEFFBearer abc' },
    { name: 'a tab after another scheme', value: 'Basic\tabc' },
    { name: 'a Latin-1 letter in the scheme', value: 'Bearer\u00E9 abc' },
  ])('$name is malformed', ({ value }) => {
    expect(refusalOf(withHeader(value))).toMatchObject(MALFORMED)
  })

  test.each([
    { name: 'a comma', value: ',' },
    { name: 'six commas before the scheme', value: ',,,,,, Bearer' },
    { name: 'a comma after another scheme', value: 'Basic, abc' },
  ])('$name has been joined', ({ value }) => {
    expect(refusalOf(withHeader(value))).toMatchObject(REPEATED_HEADER)
  })
})

describe('another scheme is as good as no token', () => {
  test.each([
    { name: 'Basic', value: 'Basic YWRhOnNlY3JldA==' },
    { name: 'Digest with its parameters', value: 'Digest username="ada", realm="api"' },
    { name: 'DPoP', value: 'DPoP abc' },
    { name: 'Negotiate without credentials', value: 'Negotiate' },
    { name: 'a scheme that begins like Bearer', value: 'Bearerx abc' },
    { name: 'a scheme that Bearer begins with', value: 'Bear abc' },
    { name: 'a scheme that ends like Bearer', value: 'xBearer abc' },
    { name: 'a token without a scheme', value: 'aaa.bbb.ccc' },
    { name: 'a scheme of every character of tchar', value: "!#$%&'*+-.^_`|~09azAZ abc" },
  ])('$name', ({ value }) => {
    const error = refusalOf(withHeader(value))
    expect(error).toMatchObject(OTHER_SCHEME)
    expect(error.headers['WWW-Authenticate']).toBe(CHALLENGE_WITHOUT_CODE)
  })
})

describe('a token behind a comma, as two headers look that somebody has joined', () => {
  test.each([
    { name: 'Bearer behind Basic', value: 'Basic YTpi, Bearer x' },
    { name: 'no space behind the comma', value: 'Basic YTpi,Bearer x' },
    { name: 'a tab behind the comma, and lower case', value: 'Basic a ,\tbearer b' },
    { name: 'many commas', value: `Basic a${','.repeat(1000)} BEARER b` },
    { name: 'a no-break space behind the comma', value: 'Basic a,\u00A0Bearer b' },
    { name: 'Bearer alone at the end', value: 'Basic a, Bearer' },
    { name: 'Bearer between two', value: 'Basic a, Bearer, Basic b' },
    { name: 'Bearer, and a tab', value: 'Basic a, Bearer\tb' },
    { name: 'Bearer, and a quote', value: 'Basic a, Bearer"b"' },
    { name: 'DPoP behind Basic', value: 'Basic YTpi, DPoP x' },
    { name: 'DPoP behind DPoP', value: 'DPoP x, dpop y' },
    {
      name: 'Bearer in a quoted parameter, which nobody sends',
      value: 'Digest realm="a, Bearer b"',
    },
  ])('$name: repeated', ({ value }) => {
    expect(refusalOf(withHeader(value))).toMatchObject(REPEATED_HEADER)
    const headers = new Headers({ Authorization: value })
    expect(refusalOf({ headers })).toMatchObject(REPEATED_HEADER)
  })

  test.each([
    { name: 'a longer scheme', value: 'Basic a, Bearerx b' },
    { name: 'a longer scheme in front', value: 'Basic a, xBearer b' },
    { name: 'a parameter of that name', value: 'Digest a="b", bearer="c"' },
    { name: 'a quoted scheme', value: 'Digest a="b", "Bearer c"' },
    { name: 'no comma', value: 'Basic a Bearer b' },
    { name: 'two of another scheme', value: 'Basic a, Basic b' },
  ])('$name: another scheme', ({ value }) => {
    expect(refusalOf(withHeader(value))).toMatchObject(OTHER_SCHEME)
    expect(refusalOf({ headers: new Headers({ Authorization: value }) })).toMatchObject(
      OTHER_SCHEME,
    )
  })

  test.each([
    { name: 'commas', value: `Basic ${','.repeat(1_000_000)}` },
    { name: 'commas and spaces', value: `Basic ${', '.repeat(500_000)}` },
    { name: 'spaces behind a comma', value: `Basic a,${' '.repeat(1_000_000)}x` },
    { name: 'beginnings of Bearer', value: `Basic a${', beare'.repeat(150_000)}` },
    { name: 'a word behind a comma', value: `Basic a,${'x'.repeat(1_000_000)}=` },
    { name: 'members', value: `Basic a${',x='.repeat(300_000)}` },
  ])(
    'a million characters are read in linear time, else the limit of a test ends it: $name',
    ({ value }) => {
      expect(refusalOf(withHeader(value))).toMatchObject(OTHER_SCHEME)
      expect(refusalOf(withHeader(`Bearer "${value}`)).code).toMatch(/invalid_/)
    },
  )
})

describe('headers with a method `get`', () => {
  const BEARER = 'Bearer abc'

  class Foreign {
    get(name: string): string | null {
      return name === 'authorization' ? BEARER : null
    }
  }

  test.each([
    { name: 'those of the platform', headers: new Headers({ Authorization: BEARER }) },
    { name: 'those of another library', headers: new Foreign() },
    { name: 'those of a mock', headers: { get: () => BEARER } },
    { name: 'those of a proxy', headers: new Proxy({}, { get: () => () => BEARER }) as Foreign },
  ])('$name are asked', ({ headers }) => {
    expect(parseBearer({ headers })).toBe('abc')
  })

  test.each([
    { name: 'null', value: null, reason: 'missing_header' },
    { name: 'undefined', value: undefined, reason: 'missing_header' },
    { name: 'an empty text', value: '', reason: 'malformed' },
    { name: 'a number', value: 1, reason: 'repeated_header' },
    { name: 'a list', value: [BEARER], reason: 'repeated_header' },
  ])('that answers $name: $reason', ({ value, reason }) => {
    const headers = { get: () => value as string }
    expect(refusalOf({ headers }).reason).toBe(reason)
  })

  test('a function on the prototype of all objects is no method, in whichever realm', () => {
    const pollute = "Object.prototype.get = () => 'Bearer polluted'"
    const headers = runInNewContext(`${pollute}; ({ authorization: 'Bearer abc' })`) as object
    expect(headers).toHaveProperty('get')
    expect(parseBearer({ headers })).toBe('abc')
    const none = runInNewContext(`${pollute}; ({})`) as object
    expect(refusalOf({ headers: none })).toMatchObject(MISSING_HEADER)
  })

  test('a header called get, which a client may send, is no method', () => {
    const headers = { get: BEARER, authorization: BEARER } as object
    expect(parseBearer({ rawHeaders: [], headers })).toBe('abc')
  })
})

describe('where the header is looked for', () => {
  test('no header: the challenge has no error code', () => {
    const error = refusalOf({ rawHeaders: ['Host', 'api.example'], headers: {} })
    expect(error).toMatchObject(MISSING_HEADER)
    expect(error.headers['WWW-Authenticate']).toBe(CHALLENGE_WITHOUT_CODE)
  })

  test('a header that Node calls otherwise is another header', () => {
    const headers = { 'proxy-authorization': 'Bearer abc', cookie: 'authorization=Bearer abc' }
    expect(refusalOf({ rawHeaders: [], headers: headers as object })).toMatchObject(MISSING_HEADER)
  })

  test.each([
    { name: 'a longer name', rawHeaders: ['X-Authorization', 'Bearer b'] },
    { name: 'another name of the same length', rawHeaders: ['Authorizatiom', 'Bearer b'] },
    { name: 'a name for proxies', rawHeaders: ['Proxy-Authorization', 'Bearer b'] },
    { name: 'a name with a space', rawHeaders: ['Authorization ', 'Bearer b'] },
    { name: 'a value that is the name', rawHeaders: ['X-Name', 'Authorization'] },
    { name: 'a name without a value', rawHeaders: ['authorization'] },
  ])('$name repeats nothing', ({ rawHeaders }) => {
    const request = {
      rawHeaders: ['Authorization', 'Bearer abc', ...rawHeaders],
      headers: { authorization: 'Bearer abc' },
    }
    expect(parseBearer(request)).toBe('abc')
  })

  test.each([
    { name: 'twice the same', values: ['Bearer abc', 'Bearer abc'] },
    { name: 'two tokens', values: ['Bearer abc', 'Bearer def'] },
    { name: 'another scheme first', values: ['Basic abc', 'Bearer def'] },
    { name: 'another scheme last', values: ['Bearer abc', 'Basic def'] },
    { name: 'an empty one first', values: ['', 'Bearer abc'] },
    { name: 'a malformed one last', values: ['Bearer abc', 'Bearer a b'] },
    { name: 'no bearer at all', values: ['Basic abc', 'Basic abc'] },
    { name: 'three', values: ['Bearer a', 'Bearer b', 'Bearer c'] },
  ])('repeated is repeated: $name', ({ values }) => {
    const names = ['Authorization', 'AUTHORIZATION', 'authorization']
    const rawHeaders = values.flatMap((value, at) => [names[at] ?? '', value, 'Accept', '*/*'])
    const headers = { authorization: values[0] }
    expect(refusalOf({ rawHeaders, headers })).toMatchObject(REPEATED_HEADER)
  })

  test('a repeated header gets 400 and what is wrong with it', () => {
    const rawHeaders = ['Authorization', 'Bearer a', 'authorization', 'Bearer b']
    const error = refusalOf({ rawHeaders, headers: { authorization: 'Bearer a' } })
    expect(error.status).toBe(400)
    expect(error.headers['WWW-Authenticate']).toBe(
      'Bearer realm="api", error="invalid_request", ' +
        'error_description="The request must have one Authorization header, and not more than one DPoP header"',
    )
  })

  test('the value is that of `headers`, whatever `rawHeaders` has', () => {
    const rawHeaders = ['authorization', 'Bearer received']
    expect(parseBearer({ rawHeaders, headers: { authorization: 'Bearer set' } })).toBe('set')
    expect(parseBearer({ rawHeaders: [], headers: { authorization: 'Bearer set' } })).toBe('set')
    expect(refusalOf({ rawHeaders, headers: {} })).toMatchObject(MISSING_HEADER)
  })

  test.each([
    { name: 'deleted', headers: {} },
    { name: 'replaced', headers: { authorization: 'Bearer c' } },
    { name: 'a list of one', headers: { authorization: ['Bearer a'] } },
  ])('repeated is repeated, also if `headers` is $name', ({ headers }) => {
    const rawHeaders = ['Authorization', 'Bearer a', 'authorization', 'Bearer b']
    expect(refusalOf({ rawHeaders, headers })).toMatchObject(REPEATED_HEADER)
  })

  test('an inherited member of `headers` is no header', () => {
    const headers = Object.create({ authorization: 'Bearer abc' }) as object
    expect(refusalOf({ rawHeaders: [], headers })).toMatchObject(MISSING_HEADER)
  })

  test.each([
    { name: 'null', value: null },
    { name: 'a number', value: 1 },
    { name: 'true', value: true },
    { name: 'an object', value: { toString: () => 'Bearer abc' } },
    { name: 'a list with a number', value: [1] },
    { name: 'a list in a list', value: [['Bearer abc']] },
    { name: 'a list with a hole', value: Array.from({ length: 1 }) },
  ])('$name in its place is never a token', ({ value }) => {
    const error = refusalOf({ headers: { authorization: value } } as unknown as RequestHeaders)
    expect(['missing_header', 'repeated_header']).toContain(error.reason)
  })

  test.each([
    { name: 'null', rawHeaders: null },
    { name: 'a string', rawHeaders: 'authorization' },
    { name: 'an object', rawHeaders: { length: 4 } },
    { name: 'a list of other things', rawHeaders: [1, null, undefined, {}] },
  ])('$name in the place of `rawHeaders` disturbs nobody', ({ rawHeaders }) => {
    const request = { rawHeaders, headers: { authorization: 'Bearer abc' } }
    expect(parseBearer(request as unknown as RequestHeaders)).toBe('abc')
  })
})

describe('a mock without the headers as received', () => {
  test('its merged header serves', () => {
    expect(parseBearer({ headers: { authorization: 'Bearer abc' } })).toBe('abc')
    expect(parseBearer({ rawHeaders: undefined, headers: { authorization: 'Bearer abc' } })).toBe(
      'abc',
    )
  })

  test('a list of one serves', () => {
    expect(parseBearer({ headers: { authorization: ['Bearer abc'] } })).toBe('abc')
  })

  test.each([
    { name: 'no header', headers: {} },
    { name: 'an undefined one', headers: { authorization: undefined } },
    { name: 'an empty list', headers: { authorization: [] } },
  ])('$name is a missing header', ({ headers }) => {
    expect(refusalOf({ headers })).toMatchObject(MISSING_HEADER)
  })

  test('a list of two is a repeated header', () => {
    const headers = { authorization: ['Bearer abc', 'Bearer abc'] }
    expect(refusalOf({ headers })).toMatchObject(REPEATED_HEADER)
  })

  test('an empty text is malformed', () => {
    expect(refusalOf({ headers: { authorization: '' } })).toMatchObject(MALFORMED)
  })
})

test('what is no text in `rawHeaders` names no header, whatever text it can be made into', () => {
  const name = { toString: () => 'Authorization' } as unknown as string
  const headers = { authorization: 'Bearer abc' }
  expect(parseBearer({ rawHeaders: [name, 'Bearer abc', name, 'Bearer abc'], headers })).toBe('abc')
})

test.each<{ readonly name: string; readonly headers: object; readonly text: string | undefined }>([
  { name: 'a text', headers: { authorization: 'Bearer abc' }, text: 'abc' },
  { name: 'another spelling', headers: { authorization: 'bearer abc' }, text: undefined },
  { name: 'no header', headers: {}, text: undefined },
  { name: 'a list', headers: { authorization: ['Bearer abc'] }, text: undefined },
  { name: 'a number', headers: { authorization: 1 }, text: undefined },
  { name: 'a number of a method', headers: { get: () => 1 }, text: undefined },
])('the text to compare with known tokens: $name', ({ headers, text }) => {
  expect(findBearerText({ headers })).toBe(text)
})

test('a preflight is what has its header, in an object and in Headers', () => {
  const preflight: Record<string, string> = { 'access-control-request-method': 'GET' }
  expect(isPreflight({ headers: preflight })).toBe(true)
  expect(isPreflight({ headers: new Headers(preflight) })).toBe(true)
  expect(isPreflight({ headers: {} })).toBe(false)
  expect(isPreflight({ headers: new Headers() })).toBe(false)
})

const isOtherwise = (headers: object) => isSpelledOtherwise({ headers }, 'authorization')

test('of objects alone it is said that a header is spelled otherwise', () => {
  expect(isOtherwise({ Authorization: 'Bearer abc' })).toBe(true)
  expect(isOtherwise({ authorization: 'Bearer abc' })).toBe(false)
  expect(isOtherwise({ 'x-authorization': 'Bearer abc' })).toBe(false)
  const asked = { get: () => null, Authorization: 'Bearer abc' }
  expect(isOtherwise(asked)).toBe(false)
  expect(isOtherwise(new Headers())).toBe(false)
})

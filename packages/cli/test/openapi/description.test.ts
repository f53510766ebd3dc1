import { describe, expect, test } from 'vitest'

import { type Description, readDescription, type Wanted } from '../../src/openapi/description.ts'

// What is read of a description: which requests there are, what each needs, and what hostile ones cannot bring about.

const SCHEMES = {
  bearer: { type: 'http', scheme: 'Bearer' },
  oauth: { type: 'oauth2', flows: {} },
  key: { type: 'apiKey', in: 'header', name: 'X-Key' },
  written: { type: 'apiKey', in: 'header', name: 'Authorization' },
  basic: { type: 'http', scheme: 'basic' },
  certificate: { type: 'mutualTLS' },
  elsewhere: { $ref: 'schemes.json#/oauth' },
  referred: { $ref: '#/components/securitySchemes/oauth' },
}

const bearer = [{ bearer: [] }]

function read(document: object, wanted: Partial<Wanted> & { readonly at?: string } = {}) {
  const { at = 'https://api.test/', ...others } = wanted
  const whole = { openapi: '3.1.0', components: { securitySchemes: SCHEMES }, ...document }
  const given = { url: new URL(at), values: {}, unsafeMethods: false, ...others }
  return readDescription(JSON.stringify(whole), given)
}

/** Of one GET that needs a token. */
function asked(
  path: string,
  operation: object = {},
  { item = {}, ...document }: Record<string, unknown> = {},
  wanted: Parameters<typeof read>[1] = {},
): string | undefined {
  const paths = { [path]: { get: { security: bearer, ...operation }, ...(item as object) } }
  return read({ paths, ...document }, wanted).asked[0]?.url.href
}

function whys({ notAsked }: Description): readonly (readonly [what: string, why: string])[] {
  return notAsked.map(({ what, why }) => [what, why])
}

/** What is read of one GET with such a `security`. */
const readOf = (security: unknown, document: object = {}) => {
  const get = security === undefined ? {} : { security }
  return read({ ...document, paths: { '/a': { get } } })
}

describe('security', () => {
  test.each<[title: string, security: unknown, document?: object]>([
    ['an operation with none, of a document with none', undefined],
    ['an empty list', []],
    ['an empty list, of a document that needs a token', [], { security: bearer }],
    ['a document with an empty list', undefined, { security: [] }],
    ['nothing beside a token', [{ bearer: [] }, {}]],
    ['nothing before a token', [{}, { bearer: [] }]],
  ])('%s is open, and not asked', (_, security, document) => {
    expect(readOf(security, document)).toEqual({ asked: [], open: ['GET /a'], notAsked: [] })
  })

  test.each<[title: string, security: unknown, scopes: readonly (readonly string[])[]]>([
    ['a bearer token', bearer, [[]]],
    ['roles of a bearer token, which are no scopes', [{ bearer: ['admin'] }], [[]]],
    ['scopes', [{ oauth: ['read', 'write'] }], [['read', 'write']]],
    ['scopes of a scheme that is referred to', [{ referred: ['read'] }], [['read']]],
    ['one of two scopes', [{ oauth: ['read'] }, { oauth: ['admin'] }], [['read'], ['admin']]],
    ['scopes beside a key', [{ oauth: ['read'], key: [] }], [['read']]],
    ['scopes or a key', [{ oauth: ['read'] }, { key: [] }], [['read']]],
    ['a token that is described as a key', [{ written: [] }], [[]]],
    ['a scheme that is not described', [{ unknown: ['read'] }], [[]]],
    ['a scheme that another file describes', [{ elsewhere: ['read'] }], [[]]],
    ['scopes twice, and what is none', [{ oauth: ['read', 'read', 1, null] }], [['read']]],
  ])('%s is asked', (_, security, scopes) => {
    expect(readOf(security).asked.map((each) => each.security)).toEqual([
      { needs: 'a token', scopes },
    ])
  })

  test.each<[title: string, security: unknown, why: string]>([
    ['a key', [{ key: [] }], 'take no token'],
    ['a password or a certificate', [{ basic: [] }, { certificate: [] }], 'take no token'],
    ['no list', { bearer: [] }, 'cannot be read'],
    ['a list of texts', ['bearer'], 'cannot be read'],
    ['a list of nothing', [null], 'cannot be read'],
    ['more than a hundred', Array.from({ length: 101 }, () => ({ bearer: [] })), 'cannot be read'],
  ])('%s is not asked, and never called open', (_, security, why) => {
    const found = readOf(security)
    expect([found.asked, found.open]).toEqual([[], []])
    expect(whys(found)).toEqual([['GET /a', expect.stringContaining(why) as unknown]])
  })

  test('of an operation is in place of that of the document', () => {
    expect(readOf([{ oauth: ['a'] }], { security: bearer }).asked).toMatchObject([
      { security: { scopes: [['a']] } },
    ])
  })
})

describe('methods', () => {
  const item = Object.fromEntries(
    ['get', 'head', 'post', 'put', 'patch', 'delete', 'options', 'trace', 'query'].map((name) => [
      name,
      { security: bearer },
    ]),
  )
  const paths = { '/a': { ...item, additionalOperations: { COPY: {} }, summary: 'x' }, 'x-a': item }

  test('are GET and HEAD; others are named', () => {
    const found = read({ paths })
    expect(found.asked.map(({ name }) => name)).toEqual(['GET /a', 'HEAD /a'])
    expect(found.notAsked.map(({ what }) => what)).toEqual([
      'POST /a',
      'PUT /a',
      'PATCH /a',
      'DELETE /a',
      'OPTIONS /a',
      'TRACE /a',
      'QUERY /a',
      'additionalOperations /a',
    ])
    expect(found.notAsked[0]?.why).toContain('--unsafe-methods')
  })

  test('are those that may change something only where that is wanted', () => {
    const found = read({ paths }, { unsafeMethods: true })
    expect(found.asked.map(({ method }) => method).join(' ')).toBe('GET HEAD POST PUT PATCH DELETE')
  })

  test('are at most 2,000 operations; the others are named', () => {
    const many = Object.fromEntries(Array.from({ length: 2001 }, (_, at) => [`/${at}`, item]))
    const found = read({ paths: many })
    expect(found.asked).toHaveLength(2000)
    expect(whys(found)).toContainEqual(['GET /2000', 'only 2000 are asked'])
  })
})

/** The URL that is asked where a parameter is like this. */
const urlWith = (parameter: object) =>
  asked('/u/{id}/x', { parameters: [{ name: 'id', in: 'path', ...parameter }] })

describe('parameters', () => {
  test.each<[title: string, parameter: object, value: string]>([
    ['nothing', {}, '1'],
    ['an example', { example: 'a b/c', schema: { default: 'd' } }, 'a%20b%2Fc'],
    ['the first of several examples', { examples: { x: { value: 7 }, y: { value: 8 } } }, '7'],
    ['an example that is referred to', { examples: { x: { $ref: '#/x-example' } } }, '1'],
    ['an example of the schema', { schema: { example: true } }, 'true'],
    ['examples of the schema', { schema: { examples: ['e', 'f'] } }, 'e'],
    ['a default', { schema: { default: 0, enum: [1] } }, '0'],
    ['the first of an enum', { schema: { enum: ['one', 'two'] } }, 'one'],
    ['a const', { schema: { const: 'c' } }, 'c'],
    ['an object, then a default', { example: {}, schema: { default: 'd' } }, 'd'],
    ['nothing that is a text', { example: null, schema: { enum: [] } }, '1'],
    ['an example that leads to another path', { example: '..' }, '1'],
    ['half a character', { example: '\ud800' }, '1'],
    ['a value that is too long', { example: 'a'.repeat(201) }, '1'],
  ])('with %s', (_, parameter, value) => {
    expect(urlWith(parameter)).toBe(`https://api.test/u/${value}/x`)
  })

  test('that are referred to, and their schemas and examples', () => {
    const components = {
      parameters: {
        id: { name: 'id', in: 'path', schema: { $ref: '#/components/schemas/a~1b%20c' } },
      },
      schemas: { 'a/b c': { $ref: '#/components/schemas/d' }, d: { default: 'found' } },
    }
    const parameters = [{ $ref: '#/components/parameters/id' }]
    expect(asked('/u/{id}', { parameters }, { components })).toBe('https://api.test/u/found')
  })

  test('of the operation are in place of those of the path', () => {
    const shared = [
      { name: 'id', in: 'path', example: 'shared' },
      { name: 'of', in: 'path', example: 'path' },
    ]
    const parameters = [{ name: 'id', in: 'path', example: 'own' }]
    const url = asked('/{id}/{of}', { parameters }, { item: { parameters: shared } })
    expect(url).toBe('https://api.test/own/path')
  })

  test('of the query are sent where they are required', () => {
    const parameters = [
      { name: 'page', in: 'query', required: true, example: 'a&b' },
      { name: 'size', in: 'query' },
      { name: 'X-Trace', in: 'header', required: true },
    ]
    expect(asked('/a', { parameters })).toBe('https://api.test/a?page=a%26b')
  })

  test('get the values that the user states, and one that none has is a mistake', () => {
    const parameters = [{ name: 'id', in: 'path', example: 'example' }]
    const values = { id: 'own', other: 'x' }
    const own = asked('/{id}/{other}', { parameters }, {}, { values })
    expect(own).toBe('https://api.test/own/x')
    expect(() => asked('/{id}', {}, {}, { values })).toThrow(
      '--value other: no operation that is asked has',
    )
  })
})

describe('servers', () => {
  const servers = [
    { url: 'https://production.test/v1' },
    { url: '{scheme}://api.test/{version}/', variables: { scheme: { default: 'https' } } },
    { url: 'https://api.test/v3' },
  ]

  test.each<[title: string, document: object, at: string, url: string]>([
    ['of the same origin tell the path', { servers }, 'https://api.test', '/%7Bversion%7D/a'],
    ['count for nothing beside a path of the user', { servers }, 'https://api.test/v7/', '/v7/a'],
    ['at another origin count for nothing', { servers }, 'https://other.test', '/a'],
    ['may be relative', { servers: [{ url: '/v2' }] }, 'https://api.test', '/v2/a'],
    ['may be none', { servers: [] }, 'https://api.test', '/a'],
    ['may be no list', { servers: 'x' }, 'https://api.test', '/a'],
    [
      'of an operation count for it',
      { item: { servers } },
      'https://api.test/v7',
      '/%7Bversion%7D/a',
    ],
  ])('%s', (_, document, at, path) => {
    const found = asked('/a', {}, { ...document }, { at })
    expect(found && new URL(found).pathname).toBe(path)
    expect(found && new URL(found).origin).toBe(at.replace(/(?<!\/)\/(?!\/).*/, ''))
  })

  test('of an operation at another origin: it is not asked', () => {
    const get = { security: bearer, servers: [{ url: 'https://other.test/' }] }
    const found = read({ paths: { '/a': { get } } })
    expect(whys(found)).toEqual([['GET /a', 'its own servers are at another origin than the URL']])
  })
})

/** References that lead to an item after so many. */
function chainOf(length: number): object {
  const steps = Array.from({ length }, (_, at) => [`x-${at}`, { $ref: `#/x-${at + 1}` }] as const)
  const end = { [`x-${length}`]: { get: { security: bearer } } }
  return { ...Object.fromEntries(steps), ...end }
}

describe('a hostile description', () => {
  test.each<[title: string, path: string]>([
    ['another host', '//other.test/a'],
    ['another host behind an @', '/@other.test/a'],
    ['a port', '/:80/a'],
    ['a name of Object', '/__proto__/{constructor}'],
  ])('reaches nothing but the origin of the user by %s', (_, path) => {
    expect(new URL(asked(path) ?? '').origin).toBe('https://api.test')
  })

  test.each(['/a/../b', '/%2e%2E/b', '/a/.', '/a\\..\\b', '/a?b', '/a#b', '/a/.\t./b', '/\ud800'])(
    'has no path that is another one in a request: %j',
    (path) => {
      const found = read({ paths: { [path]: { get: { security: bearer } } } })
      expect(whys(found)).toEqual([[`GET ${path}`, 'no request can have its path']])
    },
  )

  test('has no path of more than 2,000 characters', () => {
    expect(asked(`/${'a'.repeat(2000)}`)).toBeUndefined()
    const parameters = [{ name: 'a', in: 'path', example: 'four' }]
    expect(asked(`/${'{a}'.repeat(600)}`, { parameters })).toBeUndefined()
  })

  test.each<[title: string, $ref: string]>([
    ['itself', '#/paths/~1a'],
    ['one that leads back', '#/x-b'],
    ['another file', 'other.json#/a'],
    ['another origin', 'https://other.test/a.json'],
    ['the whole document by an empty pointer', '#'],
    ['nothing', '#/x-c'],
    ['a prototype', '#/__proto__'],
    ['what is no octets', '#/%ff'],
    ['a text that is too long', `#/${'a/'.repeat(600)}`],
  ])('leads nowhere by a reference to %s', (_, $ref) => {
    const found = read({ paths: { '/a': { $ref } }, 'x-b': { $ref: '#/paths/~1a' } })
    expect(whys(found)).toEqual([['/a', 'what it refers to is not in the file']])
  })

  test('leads through 16 references and not through 17', () => {
    const paths = { '/a': { $ref: '#/x-0' } }
    expect(read({ ...chainOf(15), paths }).asked).toHaveLength(1)
    expect(read({ ...chainOf(16), paths }).asked).toHaveLength(0)
  })

  test.each<[title: string, part: unknown]>([
    ['nothing', null],
    ['a text', 'x'],
    ['a list', []],
    ['a list of nothing', [null]],
    ['a number', 1],
  ])('may have %s in any place', (_, part) => {
    const get = { security: bearer, parameters: part, servers: part }
    const parameters = [
      part,
      { name: 'id', in: 'path', schema: part, examples: part },
      { name: part },
    ]
    const paths = { '/a': { get }, '/b/{id}': { get: { ...get, parameters } }, '/c': part }
    const names = read({ paths, servers: part, components: part }).asked.map(({ name }) => name)
    expect(new Set([...names, 'GET /a', 'GET /b/{id}']).size).toBe(2)
    expect(read({ paths: part }).asked).toEqual([])
  })

  test('has no parameter of a long name, and none but the first fifty', () => {
    const names = ['n'.repeat(201), ...Array.from({ length: 60 }, (_, n) => `q${n}`)]
    const parameters = names.map((name) => ({ name, in: 'query', required: true }))
    const url = asked('/a', { parameters })
    expect([...new URL(url ?? '').searchParams.keys()]).toHaveLength(49)
  })

  test('has no query of more than 2,000 characters', () => {
    const example = 'a'.repeat(200)
    const parameters = Array.from({ length: 10 }, (_, n) => ({
      name: `q${n}`,
      in: 'query',
      required: true,
      example,
    }))
    expect(asked('/a', { parameters: parameters.slice(1) })).toMatch(/^https:\/\/api\.test\/a\?q1=/)
    expect(asked('/a', { parameters })).toBeUndefined()
  })

  test('has no variable of a server that makes a text too long', () => {
    const variables = { a: { default: 'a'.repeat(1_000_000) }, b: { default: 'b'.repeat(200) } }
    const servers = ['{a}', '{b}'].map((name) => ({ url: `/${name.repeat(600)}`, variables }))
    expect(asked('/a', {}, { servers })).toMatch(/^https:\/\/api\.test\/(?:%7Ba%7D)+\/a$/)
  })

  test('is no scheme that has a toString of its own', () => {
    const type = { toString: 'x', valueOf: 1 }
    const components = { securitySchemes: { bearer: { type, scheme: type, in: type, name: type } } }
    expect(asked('/a', {}, { components })).toBe('https://api.test/a')
  })

  test('is refused if it is nested too deep', () => {
    const wanted = { url: new URL('https://api.test'), values: {}, unsafeMethods: false }
    expect(() => readDescription('['.repeat(100_000), wanted)).toThrow('must be JSON')
  })
})

test.each<[title: string, text: string, said: string]>([
  ['YAML', 'openapi: 3.1.0\n', 'convert YAML first: npx js-yaml'],
  ['nothing', '', 'must be JSON'],
  ['Swagger 2.0', '{"swagger":"2.0"}', 'of OpenAPI 3'],
  ['a version that is a number', '{"openapi":3.1}', 'of OpenAPI 3'],
  ['a list', '[]', 'of OpenAPI 3'],
])('%s is no description', (_, text, said) => {
  const wanted = { url: new URL('https://api.test'), values: {}, unsafeMethods: false }
  expect(() => readDescription(text, wanted)).toThrow(said)
})

test('names may need escapes', () => {
  const schemas = { a: { patternProperties: { '^\\d+$': {} } } }
  expect(asked('/a', {}, { components: { schemas } })).toBe('https://api.test/a')
})

test('a byte order mark is no part of it', () => {
  const wanted = { url: new URL('https://api.test'), values: {}, unsafeMethods: false }
  expect(readDescription('\u{feff}{"openapi":"3.0.3"}', wanted).asked).toEqual([])
})

import { describe, expect, test } from 'vitest'

import {
  requiredBy,
  type Route,
  type RouteList,
  securityOf,
  type SecurityOfOptions,
} from '../../src/routes.ts'

const guarded: Route = {
  method: 'GET',
  path: '/a',
  handler: 'a',
  state: 'required',
  requirements: [],
  before: [],
}

function listOf(...routes: readonly Partial<Route>[]): RouteList {
  return { routes: routes.map((each) => Object.assign({}, guarded, each)), isComplete: true }
}

const read = { description: 'scope read', scope: 'read' }
const writeAndSend = { description: 'scope write send', scope: 'write send' }
const admin = { description: 'claim roles admin' }
const anyOf = (...alternatives: readonly object[]) =>
  ({ description: 'any', alternatives }) as Parameters<typeof requiredBy>[0][number]
const allOf = (...parts: readonly object[]) =>
  ({ description: 'all', parts }) as Parameters<typeof requiredBy>[0][number]

const nine = (start: string) =>
  anyOf(...Array.from({ length: 9 }, (_, at) => ({ description: '', scope: `${start}${at}` })))

/** The security of the one operation. */
function securityFor(route: Partial<Route>, options?: SecurityOfOptions) {
  return securityOf(listOf(route), options).paths['/a']?.['get']?.security
}

describe('securityOf: what a token must have', () => {
  test.each<[string, Partial<Route>, unknown]>([
    ['a token, and no scope', {}, [{ bearer: [] }]],
    [
      'nothing: an empty list, also where the description has another default',
      { state: 'none' },
      [],
    ],
    ['a token, or nothing', { state: 'optional' }, [{}, { bearer: [] }]],
    ['a scope', { requirements: requiredBy([read]) }, [{ bearer: ['read'] }]],
    [
      'the scopes of several requirements, each once',
      { requirements: requiredBy([read, writeAndSend, read]) },
      [{ bearer: ['read', 'write', 'send'] }],
    ],
    [
      'one of two lists',
      { requirements: requiredBy([anyOf(read, writeAndSend)]) },
      [{ bearer: ['read'] }, { bearer: ['write', 'send'] }],
    ],
    [
      'one of two lists, each with what another requirement adds',
      { requirements: requiredBy([{ ...read, scope: 'all' }, anyOf(read, writeAndSend)]) },
      [{ bearer: ['all', 'read'] }, { bearer: ['all', 'write', 'send'] }],
    ],
    [
      'the same in two ways, once',
      { requirements: requiredBy([anyOf(admin, { description: 'other' })]) },
      [{ bearer: [] }],
    ],
  ])('%s', (_name, route, security) => {
    expect(securityFor(route)).toEqual(security)
  })

  test('by the schemes that are stated: all of them, and a certificate without scopes', () => {
    const schemes = {
      login: { type: 'openIdConnect', openIdConnectUrl: 'https://login.test/.well-known/x' },
      certificate: { type: 'mutualTLS' },
    } as const
    const list = listOf({ requirements: requiredBy([read]) })
    const { securitySchemes, paths } = securityOf(list, { schemes })
    expect(securitySchemes).toEqual(schemes)
    expect(securitySchemes).not.toBe(schemes)
    expect(paths['/a']?.['get']?.security).toEqual([{ login: ['read'], certificate: [] }])
  })

  test('nothing that is changed in one place is changed in another', () => {
    const list = listOf({ method: 'GET' }, { method: 'POST', requirements: requiredBy([read]) })
    const before = structuredClone(list)
    const { paths } = securityOf(list)
    paths['/a']?.['post']?.security[0]?.['bearer']?.push('more')
    expect(list).toEqual(before)
    expect(paths['/a']?.['get']?.security).toEqual([{ bearer: [] }])
    const all = securityOf(listOf({ method: 'ALL' })).paths['/a']
    all?.['get']?.security.push({})
    expect(all?.['post']?.security).toEqual([{ bearer: [] }])
  })
})

describe('securityOf: what is no scope', () => {
  test.each<[string, Partial<Route>, readonly string[]]>([
    ['a claim', { requirements: requiredBy([read, admin]) }, ['claim roles admin']],
    ['a claim beside a scope', { requirements: requiredBy([allOf(read, admin)]) }, ['all']],
    ['a claim instead of a scope', { requirements: requiredBy([anyOf(read, admin)]) }, ['any']],
  ])('%s is named apart', (_name, route, requirements) => {
    expect(securityOf(listOf(route)).beyondScopes).toEqual([
      { method: 'GET', path: '/a', requirements },
    ])
  })

  test('scopes alone are not', () => {
    const requirements = requiredBy([read, allOf(read, writeAndSend), anyOf(read, writeAndSend)])
    expect(securityOf(listOf({ requirements })).beyondScopes).toEqual([])
  })

  test('more lists than anybody reads are: what is said is true, and is not all', () => {
    const { paths, beyondScopes } = securityOf(
      listOf({ requirements: requiredBy([nine('a'), { ...nine('b'), description: 'second' }]) }),
    )
    expect(paths['/a']?.['get']?.security).toHaveLength(9)
    expect(beyondScopes).toEqual([{ method: 'GET', path: '/a', requirements: ['any', 'second'] }])
    const within = requiredBy([allOf(nine('a'), nine('b'))])
    expect(within).toMatchObject([{ isWhole: false }])
    expect(within[0]?.scopes).toHaveLength(9)
  })

  test('of what is not described nothing is named', () => {
    const requirements = requiredBy([admin])
    expect(securityOf(listOf({ path: '/*', requirements })).beyondScopes).toEqual([])
  })
})

describe('securityOf: paths and methods', () => {
  test.each([
    ['/', '/'],
    ['', '/'],
    ['/a/', '/a/'],
    ['/users/:id', '/users/{id}'],
    ['/users/:id/notes/:note_2', '/users/{id}/notes/{note_2}'],
    ['/v1.0/~x/a-b', '/v1.0/~x/a-b'],
  ])('%j is %j', (path, template) => {
    const { paths, undescribed } = securityOf(listOf({ path }))
    expect([Object.keys(paths), undescribed]).toEqual([[template], []])
  })

  test.each([
    '/*',
    '/files/*path',
    '/a{/:b}',
    '/:id(\\d+)',
    '/:id{[0-9]+}',
    '/:from-:to',
    '/:id?',
    '/{id}',
    '/a b',
    '__proto__',
    '/^a$/',
  ])('%j is no template: named apart', (path) => {
    expect(securityOf(listOf({ path }))).toMatchObject({
      paths: {},
      undescribed: [{ method: 'GET', path, reason: 'path' }],
    })
  })

  test('a route for all methods is each operation of OpenAPI', () => {
    const { paths } = securityOf(listOf({ method: 'ALL' }))
    const names = 'get put post delete options head patch trace'.split(' ')
    expect(Object.keys(paths['/a'] ?? {})).toEqual(names)
  })

  test('a method that OpenAPI does not have is named apart', () => {
    expect(securityOf(listOf({ method: 'PROPFIND' }))).toMatchObject({
      paths: {},
      undescribed: [{ method: 'PROPFIND', path: '/a', reason: 'method' }],
    })
  })

  test('what is unseen is named apart, and so is what shares its operation', () => {
    const { paths, undescribed } = securityOf(
      listOf(
        { state: 'unseen' },
        { path: '/:x', method: 'ALL', state: 'unseen' },
        { path: '/b' },
        {},
        {
          path: '/:y',
        },
      ),
    )
    expect(Object.keys(paths)).toEqual(['/b'])
    expect(undescribed).toEqual([
      { method: 'GET', path: '/a', reason: 'unseen' },
      { method: 'ALL', path: '/:x', reason: 'unseen' },
      { method: 'GET', path: '/a', reason: 'several' },
      { method: 'GET', path: '/:y', reason: 'several' },
    ])
  })

  test('two routes of one operation that are not guarded alike are named apart, and alike are described', () => {
    const { paths, undescribed } = securityOf(
      listOf({ method: 'ALL', state: 'none' }, {}, { path: '/b' }, { path: '/b' }),
    )
    expect(paths['/a']).not.toHaveProperty('get')
    expect(paths['/a']?.['post']).toEqual({ security: [] })
    expect(paths['/b']?.['get']).toEqual({ security: [{ bearer: [] }] })
    expect(undescribed).toEqual([
      { method: 'GET', path: '/a', reason: 'several' },
      { method: 'GET', path: '/a', reason: 'several' },
    ])
  })
})

test('securityOf: an open route that may answer for a guarded one leaves neither described', () => {
  const { paths, undescribed } = securityOf(
    listOf({ path: '/A', state: 'none' }, {}, { path: '/b/', state: 'none' }, { path: '/b' }),
  )
  expect(paths).toEqual({})
  expect(undescribed).toEqual(
    ['/A', '/a', '/b/', '/b'].map((path) => ({ method: 'GET', path, reason: 'several' })),
  )
})

describe('securityOf: a TypeError for', () => {
  test.each<[string, unknown, unknown]>([
    ['no list', undefined, undefined],
    ['a list without routes', {}, undefined],
    ['a state that is misspelt', listOf({ state: 'requires' as 'required' }), undefined],
    [
      'scopes that are no lists',
      listOf({ requirements: [{ description: '', scopes: ['read'] }] as never }),
      undefined,
    ],
    ['an option that is misspelt', listOf(), { scheme: {} }],
    ['no scheme: a guarded route would look open', listOf(), { schemes: {} }],
    ['a certificate alone', listOf(), { schemes: { certificate: { type: 'mutualTLS' } } }],
    ['an unknown type', listOf(), { schemes: { bearer: { type: 'bearer' } } }],
    ['a scheme that is none', listOf(), { schemes: { bearer: null } }],
    ['a name that OpenAPI does not permit', listOf(), { schemes: { 'a b': { type: 'http' } } }],
  ])('%s', (_name, list, options) => {
    const call = securityOf as (list: unknown, options: unknown) => unknown
    expect(() => call(list, options)).toThrow(TypeError)
  })
})

import { createVerifier } from '@portcullis/core'
import { describe, expect, test } from 'vitest'

import { assertRefuses, createTestIssuer, type Route, type RouteList } from '../../src/index.ts'

const issuer = await createTestIssuer()
const verifier = createVerifier(issuer.verifierOptions)

function listOf(...routes: readonly Partial<Route>[]): RouteList {
  const guarded = { method: 'GET', handler: '', state: 'required', requirements: [], before: [] }
  return {
    routes: routes.map((each) => Object.assign({ path: '/a' }, guarded, each) as Route),
    isComplete: true,
  }
}

/** Refuses as a guard does, and answers what is asked for an open path. */
function apiWith(statuses: Readonly<Record<string, number>> = {}) {
  const asked: string[] = []
  return {
    asked,
    ask: async (request: Request): Promise<Response> => {
      const name = `${request.method} ${new URL(request.url).pathname}`
      asked.push(name)
      const status = statuses[name]
      if (status !== undefined) return new Response('answered', { status })
      const [, token = ''] = request.headers.get('authorization')?.split(' ') ?? []
      try {
        await verifier.verify(token)
        return new Response('answered')
      } catch {
        return new Response(null, { status: 401 })
      }
    },
  }
}

describe('assertRefuses', () => {
  test('asks what is required, without a token and with one of another issuer', async () => {
    const { ask, asked } = apiWith()
    await assertRefuses(
      ask,
      listOf(
        {},
        { path: '/open', state: 'none' },
        { path: '/maybe', state: 'optional' },
        { path: '/hidden', state: 'unseen' },
        { path: '/all', method: 'ALL' },
        { path: '/a', method: 'DELETE' },
      ),
    )
    const each = ['GET /a', 'GET /all', 'POST /all', 'DELETE /a']
    expect(asked).toEqual(each.flatMap((name) => [name, name]))
  })

  test('fills parameters and wildcards, and takes a path for a pattern', async () => {
    const { ask, asked } = apiWith()
    await assertRefuses(
      ask,
      listOf(
        { path: '/users/:id/:part' },
        { path: '/files/*rest' },
        { path: '/other/*' },
        { path: '/x+/' },
      ),
      { values: { id: 'a b', rest: 'c' }, paths: { 'GET /x+/': '/xx' } },
    )
    const paths = ['/users/a%20b/1', '/files/c', '/other/1', '/xx']
    expect([...new Set(asked)]).toEqual(paths.map((each) => `GET ${each}`))
  })

  test.each<[string, Readonly<Record<string, number>>, RouteList, object, string]>([
    ['an answer', { 'GET /a': 200 }, listOf({}), {}, 'GET /a without a token: 200'],
    [
      'an answer to a bad token',
      { 'GET /a': 200 },
      listOf({}),
      {},
      'GET /a with a token of another issuer: 200',
    ],
    ['403', { 'GET /a': 403 }, listOf({}), {}, 'GET /a without a token: 403'],
    ['an outage', { 'GET /a': 503 }, listOf({}), {}, 'GET /a without a token: 503'],
    [
      '404',
      { 'GET /a/1': 404 },
      listOf({ path: '/a/:id' }),
      {},
      'GET /a/1 without a token: 404, so nothing shows a refusal: state values',
    ],
    [
      '405',
      { 'POST /a': 405 },
      listOf({ method: 'ALL' }),
      {},
      'POST /a without a token: 405, so nothing shows a refusal',
    ],
    [
      'a pattern',
      {},
      listOf({ path: '/a{/:b}' }),
      {},
      'GET /a{/:b}: its path is a pattern, so state one in paths',
    ],
    [
      'a path that no route takes',
      {},
      listOf({}, { path: '/open', state: 'none' }),
      { paths: { 'GET /open': '/open' } },
      'paths: no route "GET /open" is required',
    ],
    [
      'a value that no path takes',
      {},
      listOf({ path: '/a/:id' }),
      { values: { name: 'x' } },
      'values: no path has the parameter "name"',
    ],
    ['nothing to ask', {}, listOf({ state: 'none' }), {}, 'no route is required'],
  ])('%s fails, by name', async (_case, statuses, list, options, line) => {
    await expect(assertRefuses(apiWith(statuses).ask, list, options)).rejects.toThrow(line)
  })

  test('all faults are told at once', async () => {
    const { ask } = apiWith({ 'GET /a': 200, 'GET /b': 404 })
    await expect(assertRefuses(ask, listOf({}, { path: '/b' }))).rejects.toThrow(
      /^routes do not refuse:\n(?:GET \/a .*: 200\n){2}GET \/b .*\nGET \/b .*$/,
    )
  })

  test('a request that fails is named, with its cause', async () => {
    const cause = new Error('closed')
    const failing = assertRefuses(async () => await Promise.reject(cause), listOf({}))
    await expect(failing).rejects.toMatchObject({
      message: 'GET /a: it could not be asked',
      cause,
    })
  })

  test.each([
    [['no function', listOf({})], 'must be a function'],
    [[() => undefined, listOf({})], 'must return a response'],
    [[apiWith().ask, {}], 'must be a list of routes'],
    [
      [apiWith().ask, listOf({}, { state: 'Required' as never })],
      'it has no right routes[1].state',
    ],
    [[apiWith().ask, listOf({}), { value: {} }], 'value'],
    [[apiWith().ask, listOf({}), { values: { id: 1 } }], 'must be an object of texts'],
    [[apiWith().ask, listOf({}), { paths: '/a' }], 'must be an object of texts'],
  ])('%j is refused at once', async (given, message) => {
    const call = Reflect.apply(assertRefuses, undefined, given) as Promise<void>
    await expect(call).rejects.toThrow(TypeError)
    await expect(call).rejects.toThrow(message)
  })
})

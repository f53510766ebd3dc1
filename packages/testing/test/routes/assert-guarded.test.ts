import { describe, expect, test } from 'vitest'

import { assertGuarded, type Route, type RouteList } from '../../src/index.ts'

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

const parser = { name: 'jsonParser', path: '/' }

describe('assertGuarded', () => {
  test('passes where all is guarded, or named', () => {
    assertGuarded(listOf())
    assertGuarded(listOf({}), {})
    assertGuarded(
      listOf(
        { before: [parser] },
        { path: '/b', before: [parser] },
        { path: '/health', state: 'none' },
        { path: '/feed', state: 'optional' },
      ),
      { open: ['GET /health', 'GET /feed'], before: ['jsonParser'] },
    )
  })

  test.each<[string, RouteList, Parameters<typeof assertGuarded>[1], string]>([
    ['an open route', listOf({ state: 'none' }), {}, 'GET /a: no guard'],
    ['an optional guard', listOf({ state: 'optional' }), { open: [] }, 'GET /a: an optional guard'],
    [
      'another method',
      listOf({ state: 'none' }, { method: 'POST', state: 'none' }),
      { open: ['GET /a'] },
      'POST /a: no guard',
    ],
    [
      'a route that is unseen, also if it is named',
      listOf({ state: 'unseen' }),
      { open: ['GET /a'] },
      'GET /a: no guard is proven to run',
    ],
    [
      'a function that is not named',
      listOf({ before: [parser] }),
      {},
      'GET /a: jsonParser on / runs before the guard',
    ],
    [
      'a function without a name',
      listOf({ before: [{ name: '', path: '/x' }] }),
      {},
      'GET /a: a function without a name on /x runs before the guard',
    ],
    [
      'a name that no open route has',
      listOf({}),
      { open: ['GET /a'] },
      'open: there is no open route "GET /a"',
    ],
    [
      'a name that no function has',
      listOf({}),
      { before: ['cors'] },
      'before: no function "cors" runs before a guard',
    ],
  ])('%s fails, by name', (_case, list, options, line) => {
    expect(() => {
      assertGuarded(list, options)
    }).toThrow(line)
  })

  test('all faults are told at once, and each once', () => {
    const list = listOf({ state: 'none' }, { state: 'none' }, { path: '/b', state: 'unseen' })
    expect(() => {
      assertGuarded(list, { before: ['cors'] })
    }).toThrow(
      /^routes are not guarded:\nGET \/b: .*\nGET \/a: no guard\nbefore: no function "cors" .*$/,
    )
  })

  test.each([
    [[undefined], 'must be a list of routes'],
    [[{}], 'must be a list of routes'],
    [[{ routes: [{}] }], 'must be a list of routes'],
    [[listOf({ state: 'Required' as never })], 'it has no right routes[0].state'],
    [[{ routes: [guarded] }], 'it has no right isComplete'],
    [[listOf(), { opened: [] }], 'opened'],
    [[listOf(), { open: 'GET /a' }], 'must be a list of strings'],
  ])('%j is refused at once', (given, message) => {
    expect(() => {
      Reflect.apply(assertGuarded, undefined, given)
    }).toThrow(TypeError)
    expect(() => {
      Reflect.apply(assertGuarded, undefined, given)
    }).toThrow(message)
  })
})

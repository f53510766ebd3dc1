import { expect, test } from 'vitest'

import { givenRoutes } from '../../src/route-list.ts'

const route = {
  method: 'GET',
  path: '/a',
  handler: 'a',
  state: 'required',
  requirements: [{ description: 'scope a', scopes: [['a']], isWhole: true }],
  before: [{ name: 'cors', path: '/' }],
}

const listOf = (...routes: readonly unknown[]) => ({ routes, isComplete: true })

const without = (name: string) =>
  Object.fromEntries(Object.entries(route).filter(([each]) => each !== name))

test('routes are handed on, also from a file', () => {
  const states = ['required', 'optional', 'none', 'unseen'].map((state) =>
    Object.assign({}, route, { state }),
  )
  expect(givenRoutes('f', listOf(...states))).toEqual(states)
  expect(givenRoutes('f', JSON.parse(JSON.stringify(listOf(route))))).toEqual([route])
  expect(givenRoutes('f', listOf())).toEqual([])
})

test.each<[wrong: string, list: unknown]>([
  ['routes', undefined],
  ['routes', Promise.resolve(listOf(route))],
  ['routes', [route]],
  ['routes', Object.create(listOf(route))],
  ['isComplete', { routes: [route] }],
  ['isComplete', { ...listOf(route), isComplete: 'true' }],
  ['routes[1].method', listOf(route, null)],
  ['routes[0].method', { routes: Array.from({ length: 1 }), isComplete: true }],
  ['routes[0].method', listOf(Object.create(route))],
  ...Object.keys(route).flatMap((name): [string, unknown][] => [
    [`routes[1].${name}`, listOf(route, without(name))],
    [`routes[0].${name}`, listOf({ ...route, [name]: 7 })],
  ]),
  ...['Required', 'requird', ' required', '', true, 1, null, ['required'], {}].map(
    (state): [string, unknown] => ['routes[0].state', listOf({ ...route, state })],
  ),
  ['routes[0].before', listOf({ ...route, before: [{}] })],
  ['routes[0].before', listOf({ ...route, before: [{ name: 'cors' }] })],
  ['routes[0].before', listOf({ ...route, before: ['cors'] })],
  ['routes[0].requirements', listOf({ ...route, requirements: ['scope a'] })],
])('it has no right %s', (wrong, list) => {
  const given = () => givenRoutes('assertGuarded', list)
  expect(given).toThrow(TypeError)
  expect(given).toThrow(/^assertGuarded: the list must be a list of routes/)
  expect(given).toThrow(`: it has no right ${wrong}`)
})

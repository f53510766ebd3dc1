import { describeRoutes as routesOfExpress } from '@portcullis/express/routes'
import { describeRoutes as routesOfFastify } from '@portcullis/fastify/routes'
import { describeRoutes as routesOfHono } from '@portcullis/hono/routes'
import { describeRoutes as routesOfKoa } from '@portcullis/koa/routes'
import { assertGuarded, assertRefuses, type RouteList } from '@portcullis/testing'
import { afterAll, expect, test } from 'vitest'

import { notingRoutes } from '../noting-routes.ts'
import { startApi } from './api.ts'
import type { Side } from './applications.ts'
import { type Peer, peers } from './peers.ts'
import { publishKeys } from './published-keys.ts'

// Which routes of the applications are open: after, as they stand there; before, all of them, since guards of others prove nothing.

const DESCRIBE: Readonly<Record<string, (app: object) => RouteList>> = {
  express: routesOfExpress,
  fastify: routesOfFastify,
  hono: routesOfHono,
  koa: routesOfKoa,
}
const OPEN = ['GET /health', 'GET /hello']
const USUAL = ['GET /places', 'POST /places']
/** Where they have more routes. */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  'express-oauth2-jwt-bearer': [...USUAL, 'DELETE /places'],
  'keycloak-connect': [...USUAL, 'DELETE /places'],
}

const keys = await publishKeys()
afterAll(async () => {
  await keys[Symbol.asyncDispose]()
})

test.each(peers)('$name, after: two routes are open, and the rest refuses', async (peer) => {
  await using api = await start(peer, 'after')
  const list = listOf(peer, api)
  expect(list.isComplete).toBe(true)
  assertGuarded(list, { open: OPEN })
  expect(statesOf(list)).toEqual({
    'GET /health': 'none',
    'GET /hello': 'optional',
    ...Object.fromEntries(requiredOf(peer).map((name) => [name, 'required'])),
  })
  await assertRefuses(
    async ({ method, url, headers }) =>
      await fetch(`${api.origin}${new URL(url).pathname}`, { method, headers }),
    list,
  )
})

test.each(peers)('$name, before: no guard of it proves anything', async (peer) => {
  await using api = await start(peer, 'before')
  const states = statesOf(listOf(peer, api))
  expect(new Set(Object.values(states))).toEqual(new Set(['none']))
  expect(Object.keys(states)).toEqual(expect.arrayContaining([...OPEN, ...requiredOf(peer)]))
})

async function start(peer: Peer, side: Side) {
  return await notingRoutes(async () => await startApi(peer, side, keys))
}

function requiredOf({ name }: { readonly name: string }): readonly string[] {
  return REQUIRED[name] ?? USUAL
}

function listOf({ guide }: { readonly guide: string }, { app }: { readonly app: object }) {
  const describe = DESCRIBE[guide]
  if (describe === undefined) throw new Error(`nobody lists routes of ${guide}`)
  return describe(app)
}

function statesOf({ routes }: RouteList): Readonly<Record<string, string>> {
  return Object.fromEntries(routes.map(({ method, path, state }) => [`${method} ${path}`, state]))
}

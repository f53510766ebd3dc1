import { expect, test } from 'vitest'

import { memberNames } from './pollution/names.ts'
import { pollute } from './pollution/run.ts'
import { VALUES } from './pollution/values.ts'

// Prototype pollution: another library lets a stranger write to `Object.prototype`. Whatever we read of options, requirements
// and configuration at request time has to be an own member, or the stranger opens every guard.

/** Names under which requests fail in Node or in a framework, whoever guards them. Nobody gets in under them either. */
const BREAKS_OTHERS: Readonly<Record<string, string>> = {
  authorization: 'Node drops the header of every request, as if it were a second one',
  body: 'Node makes a `Request` from a dictionary that inherits it',
  'content-type': 'Fastify looks whether an answer has that header in what inherits it',
  dpop: 'Node joins the header of every request to it, as if it were a second one',
  get: 'Node makes a `Response` with property descriptors that inherit it',
  headers: 'Node makes the answer of `Response.json` from a dictionary that inherits it',
  host: 'the same as for `authorization`; Koa 2 and Hono then do not know which host was asked',
  originalUrl:
    'Express says with 404 which URL it has no route for, and reads it from what inherits it',
  required:
    'Node makes a `Response` from dictionaries, and then demands members that they need not have',
  respond: 'Koa does not answer if the context has or inherits `respond: false`',
  set: 'the same as for `get`; and Fastify 4 makes `request.routeOptions` so',
  status: 'Hono makes the response that middleware adds headers to from options that inherit it',
  value: 'Fastify 4 makes `request.routeOptions` with property descriptors that inherit it',
  writable: 'the same',
}

/** As above, but the servers stop to answer, so that these are tried one by one, and not waited for. */
const STOPS_OTHERS: ReadonlyMap<string, string> = new Map([
  ['charset', 'Express can send no text, an error neither, and the process ends'],
  ['pause', 'servers of Node do not read their connections'],
  ['return', 'the language calls it to end an iteration early'],
  ['signal', 'streams of Node take it for an AbortSignal'],
  ['then', 'the language takes every object with such a function for a promise'],
  ['timeout', 'sockets of Node take it for their time-out'],
])

const names = memberNames()
/** Names that change answers are tried one by one; the others in groups, of which none should change any. */
const known = Object.keys(BREAKS_OTHERS)
const others = names.filter((name) => !STOPS_OTHERS.has(name) && !known.includes(name))
const half = Math.ceil(others.length / 2)

test('the names that decide most are among those that are tried', () => {
  expect(names).toEqual(
    expect.arrayContaining(['optional', 'parts', 'auth', 'onRefusal', 'realm', 'headers', 'url']),
  )
})

test(
  'whatever name of our sources Object.prototype has, nobody gets in, and every answer is as before',
  { timeout: 600_000 },
  async () => {
    const options = { deadline: 5, values: Object.keys(VALUES) }
    const found = await Promise.all([
      pollute(others.slice(0, half), { ...options, group: 320 }),
      pollute(others.slice(half), { ...options, group: 320 }),
      // Each of them breaks somebody under one of these.
      pollute(known, { ...options, group: 1, values: ['true', 'false', 'a string'] }),
    ])
    const findings = found.flat()
    expect(findings.filter(({ isHole }) => isHole)).toEqual([])
    expect(findings.filter(({ name }) => !known.includes(name))).toEqual([])
    // Otherwise a name stays on a list after its fault has been mended.
    expect([...new Set(findings.map(({ name }) => name))].toSorted()).toEqual(known.toSorted())
  },
)

test(
  'nobody gets in either under a name that stops the servers',
  { timeout: 600_000 },
  async () => {
    const options = { deadline: 0.3, group: 1, values: ['true', 'a list', 'a function'] }
    const stopping = [...STOPS_OTHERS.keys()]
    const found = await Promise.all([
      pollute(stopping.slice(0, 3), options),
      pollute(stopping.slice(3), options),
    ])
    const findings = found.flat()
    expect(findings.filter(({ isHole }) => isHole)).toEqual([])
  },
)

import { expect, test } from 'vitest'

import { memberNames } from './pollution/names.ts'
import { groupsOf, pollute, type Pollution } from './pollution/run.ts'
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
/** The values that show it, where `true` does not. */
const SHOWN_BY: Readonly<Record<string, string>> = { dpop: 'a string', respond: 'false' }

/** As above, but the servers stop to answer, so that these are tried one by one, and not waited for. */
const STOPS_OTHERS: ReadonlyMap<string, string> = new Map([
  ['charset', 'Express can send no text, an error neither, and the process ends'],
  ['getReader', 'Fastify takes every answer for a stream of the platform, and the process ends'],
  ['pause', 'servers of Node do not read their connections'],
  ['return', 'the language calls it to end an iteration early'],
  ['signal', 'streams of Node take it for an AbortSignal'],
  ['then', 'the language takes every object with such a function for a promise'],
  ['timeout', 'sockets of Node take it for their time-out'],
])

const names = memberNames()
const broken = Object.keys(BREAKS_OTHERS)
const known = broken.map((name) => ({ names: [name], value: SHOWN_BY[name] ?? 'true' }))
const others = names.filter((name) => !STOPS_OTHERS.has(name) && !broken.includes(name))
/** How many names are polluted at once. None of them should change any answer. */
const GROUP = 320

test('the names that decide most are among those that are tried', () => {
  expect(names).toEqual(
    expect.arrayContaining(['optional', 'parts', 'auth', 'onRefusal', 'realm', 'headers', 'url']),
  )
})

test(
  'whatever name of our sources Object.prototype has, nobody gets in, and every answer is as before',
  { timeout: 600_000 },
  async () => {
    const [first = [], second = []] = halves(withEach(others, GROUP, Object.keys(VALUES)))
    const found = await Promise.all([pollute(first, 5), pollute(second, 5), pollute(known, 5)])
    const findings = found.flat()
    expect(findings.filter(({ isHole }) => isHole)).toEqual([])
    expect(findings.filter(({ name }) => !broken.includes(name))).toEqual([])
    // Otherwise a name stays on a list after its fault has been mended.
    expect([...new Set(findings.map(({ name }) => name))].toSorted()).toEqual(broken.toSorted())
  },
)

test(
  'nobody gets in either under a name that stops the servers',
  { timeout: 600_000 },
  async () => {
    const values = ['true', 'a function']
    const [first = [], second = []] = halves(withEach([...STOPS_OTHERS.keys()], 1, values))
    const found = await Promise.all([pollute(first, 0.3), pollute(second, 0.3)])
    expect(found.flat().filter(({ isHole }) => isHole)).toEqual([])
  },
)

function withEach(
  all: readonly string[],
  group: number,
  values: readonly string[],
): readonly Pollution[] {
  return groupsOf(all, group).flatMap((some) => values.map((value) => ({ names: some, value })))
}

function halves<T>(all: readonly T[]): readonly (readonly T[])[] {
  const half = Math.ceil(all.length / 2)
  return [all.slice(0, half), all.slice(half)]
}

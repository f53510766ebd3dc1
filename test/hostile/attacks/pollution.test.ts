import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { afterAll, expect, test } from 'vitest'

import { memberNames } from './pollution/names.ts'
import { endChildren, groupsOf, pollute } from './pollution/run.ts'
import { TRIED } from './pollution/tried.ts'
import { VALUES } from './pollution/values.ts'

// Prototype pollution: another library lets a stranger write to `Object.prototype`. Whatever we read of options, requirements
// and configuration at request time has to be an own member, or the stranger opens every guard.

const ALL_VALUES = Object.keys(VALUES)

/** Names under which requests fail in Node, whoever guards them. Nobody gets in under them either. */
const BREAKS_NODE: Readonly<Record<string, string>> = {
  authorization: 'Node drops the header of every request, as if it were a second one',
  body: 'Node makes a `Request` from a dictionary that inherits it',
  dpop: 'Node joins the header of every request to it, as if it were a second one',
  get: 'Node makes a `Response` with property descriptors that inherit it',
  headers: 'Node makes the answer of `Response.json` from a dictionary that inherits it',
  host: 'the same as for `authorization`',
  required:
    'Node makes a `Response` from dictionaries, and then demands members that they need not have',
  set: 'the same as for `get`',
}
/** And in a framework. Its file in test/frameworks/contract/frameworks has the reasons. */
const BREAKS_FRAMEWORKS = TRIED.flatMap(({ failsUnderNames = {} }) => Object.keys(failsUnderNames))
/** The values that show it, where `true` does not. */
const SHOWN_BY: Readonly<Record<string, string>> = { dpop: 'a string', respond: 'false' }

/**
 * As above, but the servers stop to answer, so that these are tried one by one, and not waited for: why, and the values under which
 * they do. Silent servers tell the same under each of them, so the first is tried. The other values are tried with all other names.
 */
const STOPS_OTHERS: Readonly<Record<string, readonly [why: string, under: readonly string[]]>> = {
  charset: ['Express can send no text, an error neither, and the process ends', ALL_VALUES],
  getReader: [
    'Fastify takes every answer for a stream of the platform, and the process ends',
    ['a function'],
  ],
  pause: ['servers of Node do not read their connections', butFor('a list', 'a function')],
  return: ['the language calls it to end an iteration early', ALL_VALUES],
  signal: ['streams of Node take it for an AbortSignal', ALL_VALUES],
  // oxlint-disable-next-line unicorn/no-thenable -- it is the name
  then: ['the language takes every object with such a function for a promise', ['a function']],
  timeout: ['sockets of Node take it for their time-out', butFor('a list', 'a function')],
}

const names = memberNames()
const broken = [...new Set([...Object.keys(BREAKS_NODE), ...BREAKS_FRAMEWORKS])]
const known = broken.map((name) => ({ names: [name], value: SHOWN_BY[name] ?? 'true' }))
const stopping = Object.entries(STOPS_OTHERS)
/** How many names are polluted at once. None of them should change any answer. */
const GROUP = 320

afterAll(endChildren)

test('the names that decide most are among those that are tried', () => {
  expect(names).toEqual(
    expect.arrayContaining(['optional', 'parts', 'auth', 'onRefusal', 'realm', 'headers', 'url']),
  )
})

test(
  'whatever name of our sources Object.prototype has, nobody gets in, and every answer is as before',
  { timeout: 600_000 },
  async () => {
    const all = ALL_VALUES.flatMap((value) =>
      groupsOf(othersUnder(value), GROUP).map((some) => ({ names: some, value })),
    )
    const [first = [], second = []] = halves(all)
    const found = await Promise.all([pollute(first, 5), pollute(second, 5), pollute(known, 5)])
    const findings = found.flat()
    expect(findings.filter(({ isHole }) => isHole)).toEqual([])
    expect(
      findings.filter(({ name }) => !broken.includes(name)),
      'mend the adapter, or say so with the reason in failsUnderNames of its framework',
    ).toEqual([])
    // Otherwise a name stays on a list after its fault has been mended.
    expect([...new Set(findings.map(({ name }) => name))].toSorted()).toEqual(broken.toSorted())
  },
)

test(
  'nobody gets in either under a name that stops the servers',
  { timeout: 600_000 },
  async () => {
    const all = stopping.map(([name, [, [value = '']]]) => ({ names: [name], value }))
    const [first = [], second = []] = halves(all)
    const found = await Promise.all([pollute(first, 0.3), pollute(second, 0.3)])
    expect(found.flat().filter(({ isHole }) => isHole)).toEqual([])
  },
)

test('a key that is read under an inherited salt length is for the padding that its algorithm says', async () => {
  const program = fileURLToPath(new URL('pollution/read-key.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--conditions=@portcullis/source',
    program,
  ])
  expect(stdout).toBe('fulfilled rejected\n')
})

/** What neither breaks nor stops anything with this value. */
function othersUnder(value: string): readonly string[] {
  const stops = new Set(
    stopping.flatMap(([name, [, under]]) => (under.includes(value) ? name : [])),
  )
  return names.filter((name) => !stops.has(name) && !broken.includes(name))
}

function butFor(...values: readonly string[]): readonly string[] {
  return ALL_VALUES.filter((value) => !values.includes(value))
}

function halves<T>(all: readonly T[]): readonly (readonly T[])[] {
  const half = Math.ceil(all.length / 2)
  return [all.slice(0, half), all.slice(half)]
}

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { root } from '../../docs/entries.ts'
import {
  declarationsOf,
  membersOf,
  tableOfDefaults,
  tableOfOptions,
  tableOfOwnOptions,
} from '../../docs/options.ts'
import { documentsOf } from '../../docs/pages.ts'
import { partsOf } from '../../docs/parts.ts'
import { adapters } from '../frameworks/contract/frameworks/index.ts'
import { codeSpans, tableUnder } from './markdown.ts'
import { knownOptions, OPTION_TABLES, takenByDiscoverKeys, TESTING_CALLS } from './options.ts'

// Tables of options are written from the declarations; here, that the code knows these options and no other.

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const namesOf = ([name = '', ...interfaces]: readonly string[]) =>
  [...declarationsOf(name, ...interfaces).keys()].toSorted()

test.each(Object.entries(OPTION_TABLES))(
  'the table "%s" has each option that the code knows, and no other',
  async (part, takes) => {
    const known = await knownOptions(takes)
    expect(namesOf(part.split(' ').slice(1))).toEqual([...known].toSorted())
  },
)

test.each(adapters)('so has that of GUARDS.md, for $folder', async ({ takesOptions }) => {
  const known = (await knownOptions(takesOptions)).filter((name) => name !== 'verifier')
  expect(namesOf(['core', 'GuardOptions'])).toEqual(known.toSorted())
})

test('each table of options in a document is one of these', () => {
  const parts = documentsOf().flatMap((path) => partsOf(read(path)))
  const tables = parts.filter((part) => part.startsWith('options '))
  // test/documents/events.test.ts compares those of events.
  const others = tables.filter((part) => !part.startsWith('options events '))
  expect(new Set(others)).toEqual(
    new Set([...Object.keys(OPTION_TABLES), 'options core GuardOptions']),
  )
})

test('discoverKeys takes the options of remoteKeys, as packages/core/KEYS.md says', async () => {
  const known = await knownOptions(takenByDiscoverKeys)
  expect(namesOf(['core', 'RemoteKeysOptions'])).toEqual([...known].toSorted())
})

describe('packages/testing/README.md', () => {
  const calls = callsOf(read('packages/testing/README.md'))

  test('shows all calls that take options', () => {
    expect([...calls.keys()].toSorted()).toEqual(Object.keys(TESTING_CALLS).toSorted())
  })

  test.each(Object.entries(TESTING_CALLS))('shows the options of %s', async (name, takes) => {
    expect(calls.get(name)).toEqual(await knownOptions(takes))
  })
})

describe('a declaration', () => {
  const source = `export interface Options<T> extends Pick<
  Others<T>,
  'shared' | 'property'
> {
  needed: string
  /**
   * How long. Seconds.
   * @default 300, or what
   *   a header says
   * @see RFC 9111
   */
  maxAge?: number | undefined
  /** @default 'auth' */
  property?: string
}

export interface Others<T> {
  /** Of both. */
  readonly shared?: T
  /** Another. */
  property?: string
  /** Not picked. */
  left?: string
}`

  test('says what its documentation says, and what it inherits follows', () => {
    expect([...membersOf([source], 'Options')]).toEqual([
      ['needed', { isRequired: true, stated: undefined, meaning: '' }],
      [
        'maxAge',
        {
          isRequired: false,
          stated: '300, or what a header says',
          meaning: 'How long. Seconds.',
        },
      ],
      ['property', { isRequired: false, stated: "'auth'", meaning: '' }],
      ['shared', { isRequired: false, stated: undefined, meaning: 'Of both.' }],
    ])
  })

  test('of an interface that there is not is an error', () => {
    expect(() => membersOf([source], 'Missing')).toThrow('there is no interface Missing')
  })

  test('is a row of the table: what is required, a value as code, words as they are', () => {
    const table = tableOfOptions('core', 'VerifierOptions', 'SchemaOptions')
    expect(table).toMatch(/^\| `issuer` \| required \| The accepted values of `iss`/m)
    expect(table).toMatch(/^\| `requireExpiry` \| `true` \| /m)
    expect(table).toMatch(/^\| `algorithms` \| what keys state \| /m)
    expect(table).toMatch(/^\| `maxTokenAge` \| none \| /m)
    // Only what the first interface requires has to be stated.
    expect(table).toMatch(/^\| `schema` \| none \| /m)
  })

  test('that others share is left out where only its own are asked for', () => {
    const own = tableOfOwnOptions('events', 'LogoutOptions', 'EventOptions')
    expect(own.match(/^\| `\w+`/gm)).toEqual([
      '| `clientId`',
      '| `type`',
      '| `requireExpiry`',
      '| `maxTokenAge`',
    ])
  })

  test('has a default that decides, or must be stated', () => {
    const table = tableOfDefaults('core', 'VerifierOptions')
    expect(table).toContain('| `issuer` | required |\n')
    expect(table).toContain('| `clockTolerance` | 5 |\n')
    expect(table).not.toContain('maxTokenAge')
  })
})

test('what takes any option is found', async () => {
  await expect(knownOptions(() => 'done')).rejects.toThrow('an unknown option is not refused')
})

/** `issuer.token({ claims, ... })` in the first column. */
function callsOf(markdown: string): ReadonlyMap<string, readonly string[]> {
  const { rows } = tableUnder(markdown, 'What you get', 'Call')
  const calls = rows.flatMap(([cell = '']) => codeSpans(cell))
  return new Map(
    calls.flatMap((call) => {
      const [, name = '', options] = /^([\w.]+)\((?:\w+, )?\{ (.*) \}\)$/.exec(call) ?? []
      return options === undefined ? [] : [[name, options.split(', ')] as const]
    }),
  )
}

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { describe, expect, test } from 'vitest'

import { codeSpans, tableUnder } from './markdown.ts'
import {
  type Declaration,
  declarationsOf,
  knownOptions,
  membersOf,
  OPTION_TABLES,
  takenByDiscoverKeys,
  TESTING_CALLS,
  valueOf,
} from './options.ts'

const security = read('SECURITY.md')
const coreReadme = read('packages/core/README.md')
const coreKeys = read('packages/core/KEYS.md')

describe.each(OPTION_TABLES)('$readme, $heading', ({ readme, heading, takes, ...of }) => {
  const rows = rowsOf(read(readme), heading)
  const declarations = new Map([
    ...(of.taken === undefined ? [] : declarationsOf(of.taken)),
    ...declarationsOf(of.declared),
  ])

  test('has a row for each option that the code knows, and for no other', async () => {
    expect([...rows.keys()].toSorted()).toEqual([...(await knownOptions(takes))].toSorted())
  })

  test('states the defaults that the declarations document', () => {
    expect(
      defaultComplaints(rows, declarations),
      `write into ${readme} what @default says where the option is declared: text with its quotes`,
    ).toEqual([])
  })
})

test('discoverKeys takes the options of remoteKeys, as packages/core/KEYS.md says', async () => {
  expect(await knownOptions(takenByDiscoverKeys)).toEqual([
    ...rowsOf(coreKeys, 'Keys behind a URL').keys(),
  ])
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

describe('SECURITY.md', () => {
  const core = new Map([...rowsOf(coreReadme, 'Options'), ...rowsOf(coreKeys, 'Keys behind a URL')])

  test('has each default that the tables of core state, and the same', () => {
    expect(
      securityComplaints(security, core),
      'add them to SECURITY.md; a default that decides no verdict is said in words in the README, without a value',
    ).toEqual([])
  })

  test.each([
    ['another value', security.replace('| 3,600 s ', '| 7,200 s ')],
    ['a default for what must be stated', security.replace('none: must be stated', '`null`')],
    ['an option less', security.replace(/`overlap` +\| 0 s/, ' | ')],
    ['an option that does not exist', security.replace('| `overlap`', '| `overlaps`')],
  ])('is found to have %s', (_, text) => {
    expect(securityComplaints(text, core)).not.toEqual([])
  })
})

describe('the comparison', () => {
  const declarations = new Map(
    membersOf(
      `export interface Options<T> extends Others {
  needed: string
  /**
   * Seconds.
   * @default 300, or what
   *   a header says
   * @see RFC 9111
   */
  maxAge?: number | undefined
  /** @default 'auth' */
  property?: string
  maximum?: number
}`,
      'Options',
    ),
  )
  const sound = '| Option | Default |\n| - | - |\n'
  const right = "| `needed` | required |\n| `maxAge` | 300 |\n| `property` | `'auth'` |\n"

  test('reads declarations', () => {
    expect(Object.fromEntries(declarations)).toEqual({
      needed: { isRequired: true, stated: undefined },
      maxAge: { isRequired: false, stated: '300, or what a header says' },
      property: { isRequired: false, stated: "'auth'" },
      maximum: { isRequired: false, stated: undefined },
    })
  })

  test.each([
    ['nothing, where all is well', `${right}| \`maximum\` | none |`, []],
    ['another number', right.replace('300', '600'), ['maxAge']],
    ['another text', right.replace("'auth'", "'user'"), ['property']],
    ['no default where there is one', right.replace('| 300', '| none'), ['maxAge']],
    ['a default where there is none', '| `maximum` | 5 |', ['maximum']],
    ['an option that is said to be required', '| `maximum` | required |', ['maximum']],
    ['a required option that is said to have none', '| `needed` | none |', ['needed']],
    ['an option that is not declared', '| `misspelt` | none |', ['misspelt']],
  ])('finds %s', (_, rows, expected) => {
    const table = rowsOf(`# Options\n${sound}${rows}`, 'Options')
    expect(defaultComplaints(table, declarations)).toEqual(expected)
  })

  test('fails for what takes any option', async () => {
    await expect(knownOptions(() => 'done')).rejects.toThrow('an unknown option is not refused')
  })
})

/** The default of each option; a row may name several. */
function rowsOf(markdown: string, heading: string): ReadonlyMap<string, string> {
  const { rows } = tableUnder(markdown, heading, 'Option')
  return new Map(
    rows.flatMap(([names = '', value = '']) => codeSpans(names).map((name) => [name, value])),
  )
}

/** The options of which a table says something else than their declarations do. */
function defaultComplaints(
  rows: ReadonlyMap<string, string>,
  declarations: ReadonlyMap<string, Declaration>,
): readonly string[] {
  return [...rows]
    .filter(([name, text]) => {
      const declaration = declarations.get(name)
      if (declaration === undefined) return true
      const { isRequired, stated } = declaration
      if ((text === 'required') !== isRequired) return true
      const value = valueOf(text)
      if (value === undefined) return text === 'none' && stated !== undefined
      return stated === undefined || (stated !== value && valueOf(stated) !== value)
    })
    .map(([name]) => name)
}

/** The options on which SECURITY.md and the tables of core do not agree. */
function securityComplaints(text: string, core: ReadonlyMap<string, string>): readonly string[] {
  const { rows } = tableUnder(text, 'Defaults that decide verdicts', 'Option')
  const cells = rows.flat()
  const stated = new Map(
    cells.flatMap((cell, at) =>
      at % 2 === 0 ? codeSpans(cell).map((name) => [name, cells[at + 1] ?? '']) : [],
    ),
  )
  const different = [...stated].filter(([name, value]) => {
    const other = core.get(name)
    if (other === undefined) return true
    return value === 'none: must be stated'
      ? other !== 'required'
      : (valueOf(value) ?? value) !== (valueOf(other) ?? other)
  })
  const lacking = [...core].filter(
    ([name, value]) => valueOf(value) !== undefined && !stated.has(name),
  )
  return [...different, ...lacking].map(([name]) => name)
}

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

function read(path: string): string {
  return readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8')
}

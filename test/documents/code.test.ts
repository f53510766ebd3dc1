import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, matchesGlob } from 'node:path'

import { afterAll, expect, test } from 'vitest'

import { root } from '../../docs/entries.ts'
import { documentsOf } from '../../docs/pages.ts'
import { LEFT_OUT } from '../../docs/sections.ts'
import { writtenExamples } from './examples.ts'
import { blocksOf, codeSpans, tableUnder } from './markdown.ts'

// Each piece of code that somebody has written in a document is a program that compiles, or continues the first one or all before it.
// What programs do is in examples.test.ts, programs.test.ts and beside the packages.

const read = (path: string) => readFileSync(join(root, path), 'utf8')
/** What `pnpm write` takes from sources is compiled there. */
const withoutSources = (text: string) =>
  text.replaceAll(/<!-- written: (?:code|excerpt) .*?<!-- end -->/gs, '')
const examples = writtenExamples('.readme-compiled')
afterAll(() => {
  examples.remove()
})

/** What names more than a document has: its text says what, and a test that runs it adds that. */
const PARTS = new Set([
  'packages/events/README.md 2', // documents/programs
  'packages/express/MIGRATING.md 0', // migration/guides
  'packages/fastify/PLUGINS.md 0', // documents/examples
])

/** Each alone, and behind what is before it. */
const compiled = documentsOf()
  .filter((path) => !LEFT_OUT.some(([paths]) => matchesGlob(path, paths)))
  .flatMap((path) => {
    const codes = blocksOf(withoutSources(read(path)))
      .filter(({ language }) => language === 'ts' || language === 'js')
      .map(({ code }) => code)
    return codes.flatMap((code, at) => {
      if (PARTS.has(`${path} ${at}`)) return []
      const name = `${path.replaceAll(/\W/g, '-')}-${at}`
      const before = [[], codes.slice(0, Math.min(at, 1)), codes.slice(0, at)]
      // Of the first ones some are alike.
      const texts = new Set(before.map((all) => `${[...all, code].join('\n')}\nexport {}\n`))
      const tries = Array.from(texts, (text, place) =>
        examples.write(`${name}-${place}`, text).slice(root.length + 1),
      )
      return [{ path, at, tries }]
    })
  })

// The calls that the README of testing shows as a table name all options of each function, in any order.
const calls = codeSpans(
  tableUnder(read('packages/testing/README.md'), 'What you get', 'Call')
    .rows.map(([cell]) => cell)
    .join(),
).flatMap((call) => {
  const [, name = '', first = '', options] = /^([\w.]+)\((\w+, )?\{ (.*) \}\)$/.exec(call) ?? []
  if (options === undefined) return []
  const type = `NonNullable<Parameters<typeof ${name}>[${first === '' ? 0 : 1}]>`
  const members = options.split(', ').map((option) => `${option}: 0`)
  return [`void ({ ${members.join(', ')} } satisfies Record<keyof ${type}, number>)\n`]
})
const CALLED = [...calls.join('').matchAll(/typeof (\w+)>/g)].map(([, name]) => name)
const callsFile = examples.write(
  'calls',
  `import { ${[...CALLED, 'type TestIssuer', 'type TokenService', 'type IntrospectionService'].join(', ')} } from '@portcullis/testing'
declare const issuer: TestIssuer, service: TokenService, opaque: IntrospectionService
${calls.join('')}`,
)

const folder = dirname(examples.write('empty', 'export {}\n'))
const settings = {
  extends: '../../tsconfig.json',
  compilerOptions: {
    noUnusedLocals: false,
    noUnusedParameters: false,
    noPropertyAccessFromIndexSignature: false,
  },
  include: ['*.ts'],
  exclude: [],
}
writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings))
const { stdout: said } = spawnSync(
  join(root, 'node_modules/.bin/tsc'),
  ['-p', folder, '--checkers', '1'],
  {
    cwd: root,
    encoding: 'utf8',
  },
)

test('the compiler has looked at all of it: there is no error of syntax, which would end it', () => {
  expect(compiled.length).toBeGreaterThan(60)
  expect(said).not.toMatch(/error TS(?:1\d{3}|5\d{3}|18003):/)
})

test('README.md of testing shows the options of each call', () => {
  expect(calls.length).toBeGreaterThan(10)
  expect(said.split('\n').filter((line) => line.includes(basename(callsFile)))).toEqual([])
})

test.each(compiled)('the code of $path compiles: $at', ({ tries }) => {
  const errors = tries.map((file) => said.split('\n').filter((line) => line.startsWith(`${file}(`)))
  expect(errors.toSorted((a, b) => a.length - b.length)[0]).toEqual([])
})

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Ways to run text as code, or to load what no reader of the source can name. */
const DYNAMIC: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['eval', /\beval\s*\(|\beval\b\s*[,;)]/],
  ['a function from text', /\bFunction\s*\(|\bnew\s+Function\b|\.constructor\s*\(/],
  ['a timer from text', /\bset(?:Timeout|Interval)\s*\(\s*['"`]/],
  ['require', /\brequire\s*\(|\bcreateRequire\b/],
  ['an import of something else than a literal', /\bimport\s*\(\s*(?!'[^']*'\s*\))/],
  [
    'a virtual machine, a process or a native module',
    /'(?:node:)?(?:vm|child_process|worker_threads|module)'|\bprocess\.(?:binding|dlopen)\b/,
  ],
  ['WebAssembly', /\bWebAssembly\b/],
]

const sources = globSync('packages/*/src/**/*.ts', { cwd: root })

/** `portcullis doctor` asks the compiler of the folder that it looks at: a program, which no service imports. */
const RUNS_A_PROGRAM = 'packages/cli/src/doctor/typescript.ts'

test.each(DYNAMIC)('no published source uses %s', (_, pattern) => {
  expect(sources.length).toBeGreaterThan(30)
  const offenders = sources.filter((source) => pattern.test(withoutComments(source)))
  expect(offenders).toEqual(pattern.test("'node:child_process'") ? [RUNS_A_PROGRAM] : [])
})

function withoutComments(source: string): string {
  return readFileSync(join(root, source), 'utf8')
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/^\s*\/\/.*$/gm, '')
}

test.each([
  ['eval', 'eval(text)'],
  ['eval', 'const run = [eval, 1]'],
  ['a function from text', 'new Function(text)'],
  ['a function from text', "[].at.constructor('return this')()"],
  ['a timer from text', "setTimeout('run()', 1)"],
  ['require', 'require(name)'],
  ['an import of something else than a literal', 'await import(name)'],
  ['an import of something else than a literal', 'await import(`./${name}.js`)'],
  ['a virtual machine, a process or a native module', "import vm from 'node:vm'"],
])('the pattern for %s finds %s', (name, text) => {
  expect(DYNAMIC.find(([each]) => each === name)?.[1].test(text)).toBe(true)
})

test('the pattern for imports lets a literal pass', () => {
  const text = "await import('./ring.ts')"
  expect(DYNAMIC.filter(([, pattern]) => pattern.test(text))).toEqual([])
})

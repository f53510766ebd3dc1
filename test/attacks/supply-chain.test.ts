import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

interface Manifest {
  readonly name?: string
  readonly gypfile?: boolean
  readonly scripts?: Readonly<Record<string, unknown>>
}

/** What a package manager runs on a machine that only installs (a registry's package is not built, so `prepare` is not). */
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall']

const installed = globSync(
  ['node_modules/.pnpm/*/node_modules/*', 'node_modules/.pnpm/*/node_modules/@*/*'],
  { cwd: root },
).filter((folder) => existsSync(join(root, folder, 'package.json')))

describe('an installed package', () => {
  test('is found: the walk sees hundreds of them, and those that we depend on', () => {
    const names = installed.map((folder) => folder.replace(/^.*\/node_modules\//, ''))
    expect(new Set(names).size).toBeGreaterThan(200)
    expect(names).toEqual(expect.arrayContaining(['jose', 'lru-cache', 'fastify-plugin', 'vitest']))
  })

  test('runs nothing when it is installed', () => {
    expect(installed.filter((folder) => installScriptsOf(folder).length > 0)).toEqual([])
  })
})

test('the lockfile knows of no package that has to be built', () => {
  const lockfile = readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8')
  expect(lockfile).not.toMatch(/^\s+requiresBuild:/m)
})

test('the workspace allows no package to run a script', () => {
  const workspace = readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8')
  expect(workspace).not.toMatch(
    /^(?:allowBuilds|onlyBuiltDependencies|dangerouslyAllowAllBuilds):/m,
  )
})

/** An npm client builds what has this file, though no script says so. */
function installScriptsOf(folder: string): readonly string[] {
  const { scripts = {}, gypfile } = manifestOf(folder)
  const stated = INSTALL_SCRIPTS.filter((name) => Object.hasOwn(scripts, name))
  const isBuilt = gypfile !== false && existsSync(join(root, folder, 'binding.gyp'))
  return isBuilt ? [...stated, 'binding.gyp'] : stated
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest
}

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

test.each(DYNAMIC)('no published source uses %s', (_, pattern) => {
  expect(sources.length).toBeGreaterThan(30)
  const offenders = sources.filter((source) => pattern.test(withoutComments(source)))
  expect(offenders).toEqual([])
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

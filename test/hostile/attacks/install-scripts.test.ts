import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { describe, expect, onTestFinished, test } from 'vitest'

import { identityOf, installedPackages, installScriptsOf } from './install-scripts.ts'
import { type LockedPackage, readLockfile } from './lockfile.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const workspace = readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8')
const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  packageManager: string
}
const installed = installedPackages(root)
const locked = readLockfile(readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8'))

/**
 * The optional packages of the lockfile. Most are for one platform: an install leaves out those of the others, so the
 * tests here do not see their manifests. `release lockfile` does. Run it before a name is added.
 */
const OPTIONAL: readonly RegExp[] = [
  /^node-(?:bin-)?(?:darwin|linux)-(?:arm64|x64)$/,
  /^@(?:oxc-parser|oxc-resolver|oxfmt|oxlint|rolldown)\/binding-/,
  /^@oxlint-tsgolint\/(?:darwin|linux|win32)-/,
  /^@typescript\/typescript-/,
  /^lightningcss-/,
  /^(?:@colors\/colors|fsevents)$/,
  // What bindings for WebAssembly need.
  /^@emnapi\/|^@napi-rs\/wasm-runtime$|^@tybys\/wasm-util$|^tslib$/,
]

/** Settings that would let a dependency run a script, or hide that one wants to. */
const PERMISSION =
  /^(?:allowBuilds|dangerouslyAllowAllBuilds|ignoredBuiltDependencies|neverBuiltDependencies|onlyBuiltDependencies\w*|strictDepBuilds):/m

describe('an installed package', () => {
  test('is found: the walk sees hundreds of them, and those that we depend on', () => {
    const names = installed.map(identityOf).map(nameOf)
    expect(new Set(names).size).toBeGreaterThan(200)
    expect(names).toEqual(expect.arrayContaining(['jose', 'lru-cache', 'fastify-plugin', 'vitest']))
  })

  test('runs nothing when it is installed', () => {
    expect(installed.filter((folder) => installScriptsOf(folder).length > 0)).toEqual([])
  })

  test.each<[does: string, files: Record<string, string>, expected: string[]]>([
    ['has a script', { 'package.json': manifest({ postinstall: 'node a.js' }) }, ['postinstall']],
    ['is compiled', { 'package.json': '{}', 'binding.gyp': '{}' }, ['binding.gyp']],
    ['has scripts for its authors', { 'package.json': manifest({ prepare: 'tsc' }) }, []],
  ])('that %s is told from others', (_, files, expected) => {
    expect(installScriptsOf(folderWith(files))).toEqual(expected)
  })
})

describe('a package of the lockfile', () => {
  test('is installed here, unless it is optional', () => {
    expect(locked.length).toBeGreaterThan(200)
    expect(missing(locked, installed.map(identityOf))).toEqual([])
  })

  test('is optional only if it is of a kind that is known', () => {
    expect(ofUnknownKind(locked)).toEqual([])
  })

  test('is noticed if it is missing, and if it is optional and of another kind', () => {
    const planted = readLockfile(`packages:

  '@a/required@1.0.0':
    resolution: {integrity: sha512-a}

  stranger@1.0.0:
    resolution: {integrity: sha512-b}
    os: [darwin, win32]

snapshots:

  '@a/required@1.0.0(b@1.0.0)': {}

  stranger@1.0.0:
    optional: true
`)
    expect(missing(planted, [])).toEqual(['@a/required@1.0.0'])
    expect(missing(planted, ['@a/required@1.0.0'])).toEqual([])
    expect(ofUnknownKind(planted)).toEqual(['stranger@1.0.0'])
    expect(planted[1]?.platforms).toEqual({ os: ['darwin', 'win32'] })
  })
})

describe('the workspace', () => {
  test('permits no dependency to run a script', () => {
    expect(workspace).not.toMatch(PERMISSION)
    expect(existsSync(join(root, '.npmrc'))).toBe(false)
    expect(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))).not.toHaveProperty('pnpm')
  })

  test.each([
    'allowBuilds:\n  a: true\n',
    'dangerouslyAllowAllBuilds: true',
    'strictDepBuilds: no',
  ])('would be seen to permit it: %j', (text) => {
    expect(`${workspace}${text}`).toMatch(PERMISSION)
  })

  test('has settings with which pnpm refuses an install script, and does not run it', () => {
    const planted = manifest({ postinstall: 'touch ran' })
    const { status, output, hasRun } = install(planted, workspace)
    expect(output).toContain('ERR_PNPM_IGNORED_BUILDS')
    expect(hasRun).toBe(false)
    expect(status).not.toBe(0)
    const allowed = install(planted, 'dangerouslyAllowAllBuilds: true\n')
    expect(allowed).toMatchObject({ status: 0, hasRun: true })
  })
})

function missing(packages: readonly LockedPackage[], present: readonly string[]): string[] {
  return packages
    .filter(({ identity, isOptional }) => !isOptional && !present.includes(identity))
    .map(({ identity }) => identity)
}

function ofUnknownKind(packages: readonly LockedPackage[]): string[] {
  return packages
    .filter(({ isOptional }) => isOptional)
    .map(({ identity }) => identity)
    .filter((identity) => !OPTIONAL.some((pattern) => pattern.test(nameOf(identity))))
}

function nameOf(identity: string): string {
  return identity.replace(/@[^@]*$/, '')
}

function manifest(scripts: Readonly<Record<string, string>>): string {
  return JSON.stringify({ name: 'planted', version: '1.0.0', scripts })
}

/** Installs a package, with the settings of a workspace, into a project and a store of their own. */
function install(
  planted: string,
  settings: string,
): { status: number | null; output: string; hasRun: boolean } {
  const folder = folderWith({ 'package/package.json': planted })
  // A folder would be linked; only what comes out of an archive is installed as a registry's package is.
  spawnSync('tar', ['-czf', 'planted.tgz', 'package'], { cwd: folder })
  const project = folderWith({
    'package.json': JSON.stringify({ dependencies: { planted: `file:${folder}/planted.tgz` } }),
    'pnpm-workspace.yaml': settings,
  })
  const [program = '', ...first] = pnpm()
  const args = [...first, 'install', '--offline', '--no-frozen-lockfile']
  const { status, stdout, stderr } = spawnSync(
    program,
    [...args, '--store-dir', join(project, '.store')],
    { cwd: project, encoding: 'utf8' },
  )
  const hasRun = existsSync(join(project, 'node_modules', 'planted', 'ran'))
  return { status, output: stdout + stderr, hasRun }
}

/** The pnpm that runs the tests. Where npm runs them, or nobody, it is the one that CONTRIBUTING.md installs with. */
function pnpm(): readonly string[] {
  const own = process.env['npm_execpath'] ?? ''
  const [major = ''] = packageManager.split('.')
  if (!/\bpnpm(?:\.[cm]?js)?$/.test(own)) return ['npx', '--yes', '--prefer-offline', major]
  return /\.[cm]?js$/.test(own) ? [process.execPath, own] : [own]
}

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-planted-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true })
  })
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
  return folder
}

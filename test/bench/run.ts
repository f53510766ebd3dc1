import { spawnSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { basename, join } from 'node:path'

import { choose, run, tell } from '../choose.ts'
import { type Bench, BENCHES, CHECKED } from './benches.ts'

// Runs a bench by its name, as README.md says. Most run on what would be published, in any Node that Portcullis supports: the packages are built, and of the benches a copy
// without types is made beside them, since Node 20 reads no TypeScript.

const here = import.meta.dirname
const root = join(here, '..', '..')
const copies = join(here, 'built')

const [name, ...flags] = process.argv.slice(2)
const isCheck = name === '--check'
const asked = isCheck ? CHECKED : [name === '--list' ? undefined : name]
/** The Node to run in: the one that runs this, unless told otherwise. */
const [, node = process.execPath] = flags.includes('--node')
  ? flags.splice(flags.indexOf('--node'), 2)
  : []
let isBuilt = false
for (const each of asked) {
  const bench = choose<Bench>('bench', BENCHES, each)
  if (typeof bench === 'string') tell(bench, each)
  else if (start(bench, isCheck ? ['--check', ...flags] : flags) !== 0) process.exitCode = 1
}

function start({ file, on, options = [] }: Bench, args: readonly string[]): number {
  const conditions = on === 'source' ? ['--conditions=@portcullis/source'] : []
  if (on !== 'built') return run(node, [...options, ...conditions, join(here, file), ...args])
  if (!isBuilt) {
    build()
    copy()
    isBuilt = true
  }
  return run(node, [...options, join(copies, file.replace(/\.ts$/, '.js')), ...args])
}

function build(): void {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const projects = globSync('packages/*/tsconfig.build.json', { cwd: root })
  const inlining = join(root, 'test', 'publishing', 'build.ts')
  for (const command of [[tsc, '-b', ...projects], [inlining]]) {
    const { status: built } = spawnSync(process.execPath, command, { cwd: root, stdio: 'inherit' })
    if (built !== 0) throw new Error('the packages cannot be built')
  }
}

function copy(): void {
  rmSync(copies, { recursive: true, force: true })
  mkdirSync(copies)
  for (const file of globSync('*.ts', { cwd: here, exclude: ['*.test.ts'] })) {
    const source = stripTypeScriptTypes(readFileSync(join(here, file), 'utf8'))
    // Imports and the paths of child processes alike.
    const code = source.replaceAll(/'(\.\/[\w-]+)\.ts((?:\?\w+)?)'/g, "'$1.js$2'")
    writeFileSync(join(copies, `${basename(file, '.ts')}.js`), code)
  }
}

import { spawnSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

// Runs a bench on what would be published, in any Node that Portcullis supports:
//
//   pnpm bench                          micro.ts, in the Node of the lockfile
//   pnpm bench --node /usr/bin/node     in that one
//
// The packages are built, and of the benches a copy without types is made beside them, since Node 20 reads no TypeScript.

const here = dirname(fileURLToPath(import.meta.url))
const root = join(here, '..', '..')
const copies = join(here, 'built')

const [bench = '', ...flags] = process.argv.slice(2)
const node = takeNode(flags)
build()
copy()
// The one warning is about an option of a peer, which its README describes.
const options = ['--expose-gc', '--no-warnings']
const script = join(copies, bench.replace(/\.ts$/, '.js'))
const { status } = spawnSync(node, [...options, script, ...flags], { stdio: 'inherit' })
process.exitCode = status ?? 1

/** The Node to run in: the one that runs this, unless told otherwise. */
function takeNode(args: string[]): string {
  const at = args.indexOf('--node')
  if (at === -1) return process.execPath
  const [, path] = args.splice(at, 2)
  if (path === undefined) throw new Error('--node needs the path of a Node')
  return path
}

function build(): void {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const command = [tsc, '-b', join(root, 'tsconfig.build.json')]
  const { status: built } = spawnSync(process.execPath, command, { stdio: 'inherit' })
  if (built !== 0) throw new Error('the packages cannot be built')
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

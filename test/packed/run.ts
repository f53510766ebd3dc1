import { spawnSync } from 'node:child_process'
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

// Packs what would be published, examines it, installs it in a project of its own, and runs it there on every supported
// Node: `pnpm test:packed`. Needs the package registry for the Nodes, the first time.

const NODES = ['20.19.0', '22.13.0', '24.21.0', '26.10.0']
const COMPILERS = ['5.9.3', '7.0.2']
const VM_MODULES = '--experimental-vm-modules'
/** What the README of @portcullis/testing says of Jest: how each of its examples runs on which Node. */
const JEST_PROJECTS = [
  { folder: 'jest', version: '24.21.0', flags: [VM_MODULES], config: [] },
  { folder: 'jest', version: '26.10.0', flags: [VM_MODULES], config: [] },
  { folder: 'jest-commonjs', version: '24.21.0', flags: [VM_MODULES], config: [] },
  { folder: 'jest-commonjs', version: '26.10.0', flags: [VM_MODULES], config: [] },
  ...['20.19.0', '22.13.0'].map((version) => ({
    folder: 'jest-commonjs',
    version,
    flags: [],
    config: ['--config', 'transform.config.json'],
  })),
]
const CONSUMERS = ['smoke.mts', 'request.mts', 'side-by-side.mts', 'side-by-side-mcp.mts']

const here = dirname(fileURLToPath(import.meta.url))
const root = join(here, '..', '..')
const work = mkdtempSync(join(tmpdir(), 'portcullis-packed-'))
let failures = 0

try {
  const tarballs = pack()
  for (const tarball of tarballs.values()) {
    report(`publint ${basename(tarball)}`, ['publint', tarball, '--strict'])
    report(`attw ${basename(tarball)}`, ['attw', tarball, '--profile', 'esm-only'])
    report(`contents ${basename(tarball)}`, ['tar', '-tzf', tarball], containsOnlyWhatIsMeant)
  }
  const consumer = install(tarballs)
  for (const version of NODES) {
    const node = join(consumer, 'node_modules', `node-${version}`, 'bin', 'node')
    for (const file of ['smoke.mjs', 'smoke.cjs']) {
      report(`Node ${version} ${file}`, [node, file], undefined, consumer)
    }
  }
  const jest = join(consumer, 'node_modules', 'jest', 'bin', 'jest.js')
  for (const { folder, version, flags, config } of JEST_PROJECTS) {
    const node = join(consumer, 'node_modules', `node-${version}`, 'bin', 'node')
    const command = [node, ...flags, jest, ...config]
    report(`Node ${version} ${folder}`, command, undefined, join(consumer, folder))
  }
  for (const version of COMPILERS) {
    const tsc = join(consumer, 'node_modules', `typescript-${version}`, 'bin', 'tsc')
    for (const [module, resolution] of [
      ['nodenext', 'nodenext'],
      ['preserve', 'bundler'],
    ] as const) {
      const flags = [
        '--noEmit',
        '--strict',
        '--target',
        'es2022',
        '--lib',
        'es2022',
        '--types',
        'node',
      ]
      const modules = ['--module', module, '--moduleResolution', resolution]
      // Each on its own: other packages declare the same properties of a request with other types.
      for (const file of CONSUMERS) {
        const command = [process.execPath, tsc, ...flags, ...modules, file]
        report(`TypeScript ${version} ${module} ${file}`, command, undefined, consumer)
      }
    }
  }
} finally {
  rmSync(work, { recursive: true, force: true })
}
console.log(failures === 0 ? 'packed: all passed' : `packed: ${failures} failed`)
process.exitCode = failures === 0 ? 0 : 1

function pack(): Map<string, string> {
  const packages = globSync('packages/*/package.json', { cwd: root })
  // What an earlier build has left would be packed as well.
  for (const path of packages) {
    rmSync(join(root, dirname(path), 'dist'), { recursive: true, force: true })
  }
  mustRun(pnpm('build'), root)
  mustRun(pnpm('-r', '--filter', './packages/*', 'pack', '--pack-destination', work), root)
  return new Map(
    packages.map((path) => {
      const { name, version } = readManifest(join(root, path))
      return [name, join(work, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`)]
    }),
  )
}

function readManifest(path: string): { name: string; version: string } {
  return JSON.parse(readFileSync(path, 'utf8')) as { name: string; version: string }
}

/** A project that knows the packages as tarballs alone. */
function install(tarballs: ReadonlyMap<string, string>): string {
  const consumer = join(work, 'consumer')
  mkdirSync(consumer)
  cpSync(join(here, 'consumer'), consumer, { recursive: true })
  for (const folder of new Set(JEST_PROJECTS.map((project) => project.folder))) {
    cpSync(join(root, 'examples', 'testing', folder), join(consumer, folder), { recursive: true })
  }
  const ours = Object.fromEntries([...tarballs].map(([name, path]) => [name, `file:${path}`]))
  const platform = `node-${process.platform}-${process.arch}`
  const tools = {
    ...Object.fromEntries(
      NODES.map((version) => [`node-${version}`, `npm:${platform}@${version}`]),
    ),
    ...Object.fromEntries(
      COMPILERS.map((version) => [`typescript-${version}`, `npm:typescript@${version}`]),
    ),
    '@babel/plugin-transform-modules-commonjs': '7.29.14',
    '@types/node': '22.20.5',
    express: '5.3.0',
    fastify: '5.12.8',
    jest: '30.5.2',
    koa: '3.3.0',
    '@types/koa': '3.0.3',
    '@types/express': '5.0.6',
    '@fastify/jwt': '10.2.8',
    'express-oauth2-jwt-bearer': '1.10.0',
    '@modelcontextprotocol/sdk': '1.32.2',
  }
  writeFileSync(
    join(consumer, 'package.json'),
    JSON.stringify({ private: true, type: 'module', dependencies: { ...ours, ...tools } }),
  )
  // JSON is valid YAML.
  writeFileSync(
    join(consumer, 'pnpm-workspace.yaml'),
    JSON.stringify({
      packages: [],
      overrides: ours,
      nodeVersion: '26.10.0',
      pmOnFail: 'ignore',
      strictDepBuilds: false, // Jest works without what its dependencies would compile
    }),
  )
  mustRun(pnpm('install', '--no-frozen-lockfile', '--prefer-offline'), consumer)
  return consumer
}

function containsOnlyWhatIsMeant(listing: string): string | undefined {
  const meant = /^package\/(?:package\.json|README\.md|LICENSE|dist\/.*\.(?:js|d\.ts))$/
  const files = listing.split('\n').filter((line) => line !== '')
  const stray = files.filter((file) => !meant.test(file))
  if (stray.length > 0) return `stray files: ${stray.join(', ')}`
  const missing = ['README.md', 'LICENSE', 'dist/index.js', 'dist/index.d.ts'].filter(
    (file) => !files.includes(`package/${file}`),
  )
  return missing.length > 0 ? `missing files: ${missing.join(', ')}` : undefined
}

/** Inside a pnpm script this is the pnpm that runs it. */
function pnpm(...args: string[]): string[] {
  const own = process.env['npm_execpath']
  if (own === undefined) throw new Error('run this as: pnpm test:packed')
  return /\.[cm]?js$/.test(own) ? [process.execPath, own, ...args] : [own, ...args]
}

function run(command: readonly string[], cwd: string): { status: number | null; output: string } {
  const [program = '', ...args] = command
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, encoding: 'utf8' })
  return { status, output: error === undefined ? stdout + stderr : String(error) }
}

function mustRun(command: readonly string[], cwd: string): void {
  const { status, output } = run(command, cwd)
  if (status !== 0) throw new Error(`${command.join(' ')}\n${output}`)
}

function report(
  title: string,
  command: readonly string[],
  examine?: (output: string) => string | undefined,
  cwd = here,
): void {
  const { status, output } = run(command, cwd)
  const complaint = status === 0 ? examine?.(output) : output
  if (complaint !== undefined) failures += 1
  console.log(`${complaint === undefined ? 'passed' : 'FAILED'}  ${title}`)
  if (complaint !== undefined) console.log(complaint)
}

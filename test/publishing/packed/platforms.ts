import { spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import {
  identityOf,
  installedPackages,
  installScriptsOf,
} from '../../hostile/attacks/install-scripts.ts'
import { readLockfile } from '../../hostile/attacks/lockfile.ts'

// Installs what the lockfile names for any platform, without running anything, and looks for install scripts:
// `pnpm release lockfile`. It downloads about 1 GB, so it is for a change of the lockfile, and CI does without.

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..')
const work = mkdtempSync(join(tmpdir(), 'portcullis-platforms-'))

try {
  const lockfile = readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8')
  const locked = readLockfile(lockfile)
  const manifests = globSync(
    '{.,packages/*,examples/*,test,test/bench,test/frameworks/nest11,test/mcp/zod*}/package.json',
    {
      cwd: root,
    },
  )
  for (const path of [...manifests, 'pnpm-lock.yaml']) cpSync(join(root, path), join(work, path))
  const platforms = (key: string) => [
    ...new Set(locked.flatMap((each) => each.platforms[key] ?? [])),
  ]
  const supportedArchitectures = {
    // Some name their platform in their manifest alone: the Nodes do.
    os: ['current', 'darwin', 'linux', ...platforms('os')],
    cpu: ['current', 'arm64', 'x64', ...platforms('cpu')],
    libc: platforms('libc'),
  }
  const settings = readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8')
  writeFileSync(
    join(work, 'pnpm-workspace.yaml'),
    // JSON is valid YAML.
    `${settings}\nsupportedArchitectures: ${JSON.stringify(supportedArchitectures)}\n`,
  )
  const own = process.env['npm_execpath']
  if (own === undefined) throw new Error('run this as: pnpm release lockfile')
  const store = join(work, '.store')
  const args = ['install', '--frozen-lockfile', '--ignore-scripts', '--store-dir', store]
  const { status } = spawnSync(own, args, { cwd: work, stdio: 'inherit' })
  if (status !== 0) throw new Error('the installation failed')

  const installed = installedPackages(work)
  const identities = new Set(installed.map(identityOf))
  const absent = locked.filter(({ identity }) => !identities.has(identity))
  const running = installed.filter((folder) => installScriptsOf(folder).length > 0)
  for (const { identity } of absent) console.log(`not installed: ${identity}`)
  for (const folder of running) console.log(`runs a script: ${identityOf(folder)}`)
  console.log(
    `lockfile: ${identities.size} of ${locked.length} packages seen, ${running.length} run a script`,
  )
  process.exitCode = absent.length + running.length === 0 ? 0 : 1
} finally {
  rmSync(work, { recursive: true, force: true })
}

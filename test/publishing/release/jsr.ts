import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { install } from '../packed/consumers.ts'
import { createReport } from '../packed/report.ts'
import { RUNTIME_PACKAGES } from '../packed/runtimes.ts'

// Whether JSR would take these packages: `pnpm release jsr`, a dry run with Deno in a copy of the sources, which find each other
// in one workspace. JSR publishes sources, and wants explicit types.

/** RELEASING.md says why no others. */
const PACKAGES = ['client', 'core', 'hono', 'koa', 'redis', 'testing']

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..')
const work = mkdtempSync(join(tmpdir(), 'portcullis-jsr-'))
const report = createReport()
try {
  await install(join(work, 'runtime'), new Map(), { deno: RUNTIME_PACKAGES['runtime-deno'] ?? '' })
  const deno = join(work, 'runtime', 'node_modules', 'deno', 'deno')
  const workspace = join(work, 'workspace')
  for (const folder of PACKAGES) {
    const from = join(root, 'packages', folder)
    const to = join(workspace, folder)
    for (const part of ['src', 'README.md']) {
      cpSync(join(from, part), join(to, part), { recursive: true })
    }
    writeFileSync(join(to, 'jsr.json'), JSON.stringify(configOf(from)))
  }
  const members = PACKAGES.map((folder) => `./${folder}`)
  writeFileSync(join(workspace, 'deno.json'), JSON.stringify({ workspace: members }))
  const command = [deno, 'publish', '--dry-run', '--allow-dirty', '--node-modules-dir=none']
  await report.check(`JSR would take ${PACKAGES.join(', ')}`, command, workspace)
} finally {
  rmSync(work, { recursive: true, force: true })
}
process.exitCode = report.failures() === 0 ? 0 : 1

/** What JSR wants to know, from the manifest: no second place for it. */
function configOf(folder: string): object {
  const { name, version, license, exports, ...manifest } = manifestIn(folder)
  const entries = Object.entries(exports).flatMap(([entry, target]) =>
    typeof target === 'string' ? [] : [[entry, target['@portcullis/source']]],
  )
  // It has no peer dependencies.
  const imports = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
    .filter((each) => !each.startsWith('@portcullis/'))
    .map((each) => {
      const { version: installed } = manifestIn(join(folder, 'node_modules', each))
      return [each, `npm:${each}@${installed}`]
    })
  return {
    name,
    version,
    license,
    exports: Object.fromEntries(entries) as object,
    imports: Object.fromEntries(imports) as object,
    publish: { include: ['src', 'README.md'] },
  }
}

function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { install } from '../packed/consumers.ts'
import { createReport } from '../packed/report.ts'
import { RUNTIME_PACKAGES } from '../packed/runtimes.ts'

// Whether JSR would take these packages: `pnpm release jsr`, a dry run with Deno in a copy of the sources, which find each other
// in one workspace. JSR publishes sources, and wants explicit types. The kit, which bundles have within them, is a folder of each there.

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
const kit = join(root, 'packages', 'kit')
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
    cpSync(join(kit, 'src'), join(to, 'kit'), { recursive: true })
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
    exports: Object.fromEntries(sourcesOf(exports)) as object,
    imports: { ...(Object.fromEntries(imports) as object), ...importsOfKit() },
    publish: { include: ['src', 'kit', 'README.md'] },
  }
}

/** Each entry with the file of its source. */
function sourcesOf(exports: Manifest['exports']): readonly (readonly [string, string])[] {
  return Object.entries(exports).flatMap(([entry, target]) => {
    const source = typeof target === 'string' ? undefined : target['@portcullis/source']
    return source === undefined ? [] : [[entry, source] as const]
  })
}

/** Where the kit is in the copy of a package. */
function importsOfKit(): Readonly<Record<string, string>> {
  const { name, exports } = manifestIn(kit)
  return Object.fromEntries(
    sourcesOf(exports).map(([entry, source]) => [
      entry.replace('.', name),
      source.replace('./src/', './kit/'),
    ]),
  )
}

function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}

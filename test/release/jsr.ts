import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { install } from '../packed/consumers.ts'
import { createReport } from '../packed/report.ts'
import { RUNTIME_PACKAGES } from '../packed/runtimes.ts'

// Whether JSR would take core: `pnpm release:jsr`, a dry run with Deno in a copy of the sources. JSR publishes sources, wants
// explicit types, and has no peer dependencies.

// The client sets `duplex`, which `RequestInit` does not have in Deno's types. All others need packages of ours.
const PACKAGES = ['core']

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly dependencies?: Readonly<Record<string, string>>
}

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
const work = mkdtempSync(join(tmpdir(), 'portcullis-jsr-'))
const report = createReport()
try {
  install(join(work, 'runtime'), new Map(), { deno: RUNTIME_PACKAGES['runtime-deno'] ?? '' })
  const deno = join(work, 'runtime', 'node_modules', 'deno', 'deno')
  for (const folder of PACKAGES) {
    const from = join(root, 'packages', folder)
    const to = join(work, folder)
    for (const part of ['src', 'README.md']) {
      cpSync(join(from, part), join(to, part), { recursive: true })
    }
    writeFileSync(join(to, 'jsr.json'), JSON.stringify(configOf(from)))
    const command = [deno, 'publish', '--dry-run', '--allow-dirty', '--node-modules-dir=none']
    await report.check(`JSR would take ${folder}`, command, to)
  }
} finally {
  rmSync(work, { recursive: true, force: true })
}
process.exitCode = report.failures() === 0 ? 0 : 1

/** What JSR wants to know, from the manifest: no second place for it. */
function configOf(folder: string): object {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
  const { name, version, license, dependencies = {} } = manifest
  const entries = Object.entries(manifest.exports).flatMap(([entry, target]) =>
    typeof target === 'string' ? [] : [[entry, target['@portcullis/source']]],
  )
  const imports = Object.keys(dependencies).map((each) => {
    const installed = readFileSync(join(folder, 'node_modules', each, 'package.json'), 'utf8')
    return [each, `npm:${each}@${(JSON.parse(installed) as Manifest).version}`]
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

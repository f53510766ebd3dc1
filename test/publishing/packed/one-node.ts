import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

import { FRAMEWORKS } from '../../frameworks/packages.ts'
import { copyPrograms, install, pack } from './consumers.ts'
import { programOf } from './projects.ts'
import { createReport, succeedsInSilence } from './report.ts'
import { COMPILER_PACKAGES, compileApp } from './typescript.ts'
import { METRICS_PACKAGES } from './versions.ts'

// What would be published, on a Node that is installed already: `pnpm test:packed --node PATH`. `pnpm test:packed` runs it on others,
// and does much more; this one finds out about a Node that came out yesterday.

const here = dirname(fileURLToPath(import.meta.url))
const root = join(here, '..', '..', '..')
const { values } = parseArgs({ options: { node: { type: 'string' } } })
const path = values.node
if (path === undefined) throw new Error('--node needs the path of a Node')
const node = resolve(path)
const work = mkdtempSync(join(tmpdir(), 'portcullis-node-'))
const report = createReport()
try {
  const tarballs = await pack(root, work)
  const consumer = join(work, 'consumer')
  copyPrograms(root, consumer)
  await install(consumer, tarballs, { ...COMPILER_PACKAGES, ...FRAMEWORKS, ...METRICS_PACKAGES })
  const programs = [
    [programOf(await compileApp(consumer, report))],
    ['smoke.cjs'],
    ['two-copies.mjs'],
    [join('node_modules', '@portcullis', 'cli', 'dist', 'main.js'), '--help'],
    [join('node_modules', '@portcullis', 'redis', 'dist', 'bin.js'), '--help'],
  ]
  await Promise.all(
    programs.map(async (program) => {
      await report.check(program.join(' '), [node, ...program], consumer, succeedsInSilence)
    }),
  )
} finally {
  rmSync(work, { recursive: true, force: true })
}
process.exitCode = report.failures() === 0 ? 0 : 1

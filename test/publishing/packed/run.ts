import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { FRAMEWORKS } from '../../frameworks/packages.ts'
import { copyPrograms, install, NODE_PACKAGES, nodeIn, pack, packBuilt } from './consumers.ts'
import { containsOnlyWhatIsMeant } from './contents.ts'
import { checkFirstMinutes } from './first-minutes.ts'
import { checkJest } from './jest.ts'
import { checkNext } from './next.ts'
import { programOf, projectRunner } from './projects.ts'
import { createReport, succeedsInSilence } from './report.ts'
import { RUNTIME_PACKAGES, RUNTIMES } from './runtimes.ts'
import { NEST_11, NEST_11_FOLDER } from './typescript-settings.ts'
import { checkTypeScript, COMPILER_PACKAGES, compileApp } from './typescript.ts'
import { isBuilt, isComplete, METRICS_PACKAGES, NODES, OLDEST_NODE } from './versions.ts'

// Packs what would be published, examines it, installs it in projects of its own, and runs it there on the Nodes of
// versions.ts: `pnpm test:packed`. Needs the package registry for the Nodes, the first time.

/** The same with the previous major of NestJS, in a folder of the consumer. */
const WITH_NEST_11 = {
  ...FRAMEWORKS,
  ...METRICS_PACKAGES,
  '@nestjs/common': NEST_11,
  '@nestjs/core': NEST_11,
  '@nestjs/platform-express': NEST_11,
}

/** Other runtimes that every package works on, with the guards of all frameworks. */
const ALL_PACKAGES = ['bun', 'deno'] as const

/** A program alone: nobody imports it. */
const CLI = '@portcullis/cli'

/** What is published to be run, and where it is in its package. */
const PROGRAMS = [
  ['portcullis', `${CLI}/dist/main.js`],
  ['portcullis-revocations', '@portcullis/redis/dist/bin.js'],
] as const

const here = dirname(fileURLToPath(import.meta.url))
const root = join(here, '..', '..', '..')
const work = mkdtempSync(join(tmpdir(), 'portcullis-packed-'))
const report = createReport()

try {
  const tarballs = isBuilt ? await packBuilt(root, work) : await pack(root, work)
  // To install waits for disks and the network, so the others begin meanwhile.
  await Promise.all([
    ...[...tarballs.values()].map(examine),
    checkJest(join(work, 'jest'), tarballs, report),
    // Four builds of Next.js: weekly.
    ...(isComplete ? [checkNext(join(work, 'next'), tarballs, report)] : []),
    checkConsumer(tarballs),
  ])
} finally {
  rmSync(work, { recursive: true, force: true })
}
const failures = report.failures()
console.log(failures === 0 ? 'packed: all passed' : `packed: ${failures} failed`)
process.exitCode = failures === 0 ? 0 : 1

/** Installs them with all that they are tried with, and runs that on every Node. */
async function checkConsumer(tarballs: ReadonlyMap<string, string>): Promise<void> {
  const consumer = join(work, 'consumer')
  copyPrograms(root, consumer)
  await install(
    consumer,
    tarballs,
    {
      ...NODE_PACKAGES,
      ...COMPILER_PACKAGES,
      ...FRAMEWORKS,
      ...METRICS_PACKAGES,
      ...RUNTIME_PACKAGES,
      '@fastify/jwt': '10.2.8',
      'express-oauth2-jwt-bearer': '1.10.0',
      '@modelcontextprotocol/sdk': '1.32.2',
    },
    { [NEST_11_FOLDER]: WITH_NEST_11 },
  )
  const runProject = projectRunner(consumer, report)
  const app = await compileApp(consumer, report)
  const compiled = programOf(app)
  await Promise.all([
    runProject(app),
    checkFirstMinutes(
      {
        folder: join(work, 'empty'),
        placeOf: (name) => tarballs.get(name) ?? '',
        // The others run the programs as well, below.
        node: nodeIn(consumer, OLDEST_NODE),
        reasons: isComplete ? 'each' : 'some',
      },
      report,
    ),
    ...NODES.flatMap((version) =>
      ['smoke.cjs', 'two-copies.mjs'].map(async (file) => {
        const command = [nodeIn(consumer, version), file]
        await report.check(`Node ${version} ${file}`, command, consumer, succeedsInSilence)
      }),
    ),
    ...ALL_PACKAGES.map(async (name) => {
      const command = RUNTIMES[name]?.command(consumer, compiled) ?? []
      await report.check(`${compiled} on ${name}`, command, consumer)
    }),
    ...PROGRAMS.flatMap((program) => checkProgram(program, consumer)),
    // Every verdict, on each of them: with `--all`.
    ...(isComplete ? Object.keys(RUNTIMES) : []).map(async (name) => {
      const command = [process.execPath, join(here, 'runtimes.ts'), consumer, name]
      await report.check(
        `example of core, all verdicts and an MCP endpoint on ${name}`,
        command,
        here,
      )
    }),
    ...checkTypeScript(
      consumer,
      [...tarballs.keys()].filter((name) => name !== CLI),
      report,
      runProject,
    ),
  ])
}

function checkProgram([name, file]: (typeof PROGRAMS)[number], consumer: string): Promise<void>[] {
  const installed = [join(consumer, 'node_modules', '.bin', name), '--help']
  const runs = NODES.map(async (version) => {
    const command = [nodeIn(consumer, version), join('node_modules', file), '--help']
    await report.check(`Node ${version} ${name} --help`, command, consumer, succeedsInSilence)
  })
  return [report.check(`${name} --help`, installed, consumer), ...runs]
}

async function examine(tarball: string): Promise<void> {
  const name = basename(tarball)
  // The one rule forbids that `require` finds an ES module, which every supported Node allows.
  const rules = ['--profile', 'strict', '--ignore-rules', 'cjs-resolves-to-esm']
  await Promise.all([
    report.check(`publint ${name}`, ['publint', tarball, '--strict'], here),
    // Compilers find the types below; this looks for them as every setting would.
    ...(isComplete ? [report.check(`attw ${name}`, ['attw', tarball, ...rules], here)] : []),
    report.check(`contents ${name}`, ['tar', '-tvzf', tarball], here, containsOnlyWhatIsMeant),
  ])
}

import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

import { type Dependencies, FRAMEWORKS } from '../frameworks/packages.ts'
import { install, pack } from '../publishing/packed/consumers.ts'
import type { Import } from './import-child.ts'
import { installSize } from './install-size.ts'
import { describeMachine } from './machine.ts'
import { median } from './measure.ts'
import { markdownTable } from './table.ts'

// What it takes to install and to import each package, beside what is usually taken instead: `pnpm bench packages`, with
// `--quick` in a third of the time.
//
// All are installed in a project of their own, ours as they would be published. So the alternatives, of which some bring a
// hundred packages, are no dependencies of this repository.

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } })
const STARTS = values.quick ? 7 : 21

/** What is usually taken in the place of a package of ours. */
interface Alternatives {
  /** Whether it is run, and cannot be imported. */
  readonly isProgram?: boolean
  /** Each a list of modules that are taken together. */
  readonly others: readonly (readonly string[])[]
}

/** What has no row is measured alone. */
const ALTERNATIVES: Readonly<Record<string, Alternatives>> = {
  '@portcullis/core': {
    others: [['jose'], ['jsonwebtoken', 'jwks-rsa'], ['aws-jwt-verify'], ['fast-jwt', 'get-jwks']],
  },
  '@portcullis/express': {
    others: [
      ['express-jwt', 'jwks-rsa'],
      ['passport', 'passport-jwt', 'jwks-rsa'],
      ['express-oauth2-jwt-bearer'],
    ],
  },
  '@portcullis/koa': { others: [['koa-jwt', 'jwks-rsa']] },
  '@portcullis/fastify': { others: [['@fastify/jwt', 'get-jwks']] },
  '@portcullis/hono': { others: [['hono/jwk']] },
  '@portcullis/nest': {
    others: [['@nestjs/passport', 'passport', 'passport-jwt', '@nestjs/jwt', 'jwks-rsa']],
  },
  '@portcullis/client': { others: [['openid-client']] },
  '@portcullis/introspection': { others: [['oauth4webapi']] },
  '@portcullis/metrics': { others: [['prom-client']] },
  '@portcullis/providers': { others: [] },
  '@portcullis/redis': { others: [['@redis/client']] },
  '@portcullis/cli': { isProgram: true, others: [] },
  '@portcullis/testing': { others: [['mock-jwks']] },
}

const VERSIONS: Readonly<Record<string, string>> = {
  ...FRAMEWORKS,
  '@fastify/jwt': '10.2.8',
  '@nestjs/jwt': '12.0.2',
  '@nestjs/passport': '12.0.0',
  '@redis/client': '6.3.1',
  'aws-jwt-verify': '5.2.1',
  'express-jwt': '8.5.1',
  'express-oauth2-jwt-bearer': '1.10.0',
  'fast-jwt': '6.3.6',
  'get-jwks': '11.0.3',
  jose: '6.2.17',
  jsonwebtoken: '9.0.3',
  'jwks-rsa': '4.1.0',
  'koa-jwt': '4.0.4',
  'mock-jwks': '3.3.5',
  'openid-client': '6.8.9',
  passport: '0.7.0',
  'passport-jwt': '4.0.1',
  'prom-client': '15.1.3',
}

interface Subject {
  readonly modules: readonly string[]
  /** What an application has anyway: it is not counted, and imported before. */
  readonly frameworks: readonly string[]
}

const here = dirname(fileURLToPath(import.meta.url))
const work = mkdtempSync(join(tmpdir(), 'portcullis-packages-'))

try {
  const tarballs = await pack(join(here, '..', '..'), work)
  const groups = [...tarballs.keys()].map(groupOf)
  const consumer = join(work, 'consumer')
  await install(consumer, tarballs, VERSIONS)
  cpSync(join(here, 'import-child.ts'), join(consumer, 'import-child.ts'))
  const imports = importAll(groups.flat().filter(isImported), consumer)
  const rows = groups.flatMap(([ours, ...others]) =>
    [ours, ...others].map((subject) => {
      const title = subject.modules.join(' + ')
      return [title].concat(
        sizeCells(subject, consumer),
        timeCells(imports.get(subject), imports.get(ours)),
      )
    }),
  )
  console.log(`${describeMachine()}\n`)
  console.log(
    `Without peers. Import: milliseconds, medians of ${STARTS} fresh processes in turn.\n`,
  )
  const header = [
    'Package',
    'packages',
    'files',
    'kB',
    'kB of its own',
    'import',
    'CPU',
    'CPU, times ours',
  ]
  console.log(markdownTable(header, rows))
} finally {
  rmSync(work, { recursive: true, force: true })
}

/** A package of ours, and what is taken instead. */
function groupOf(name: string): readonly [ours: Subject, ...others: Subject[]] {
  const frameworks = peersOf(name)
  const { others } = ALTERNATIVES[name] ?? { others: [] }
  return [{ modules: [name], frameworks }, ...others.map((modules) => ({ modules, frameworks }))]
}

/** Nest needs `reflect-metadata`, which is its last one, before the others. */
function peersOf(name: string): readonly string[] {
  const path = join(here, '..', '..', name.replace('@portcullis/', 'packages/'), 'package.json')
  const { peerDependencies = {} } = JSON.parse(readFileSync(path, 'utf8')) as Dependencies
  const frameworks = Object.keys(peerDependencies).filter((peer) => peer !== '@portcullis/core')
  return frameworks.toReversed()
}

function sizeCells({ modules, frameworks }: Subject, consumer: string): string[] {
  // A framework may have an alternative in itself, which then brings nothing.
  const added = modules.map(packageOf).filter((name) => !frameworks.includes(name))
  const { packages, files, size, ownSize } = installSize(added, join(consumer, 'package.json'))
  const kilobytes = [size, ownSize].map((bytes) => (bytes / 1000).toFixed(0))
  return [String(packages), String(files), ...kilobytes]
}

function isImported({ modules: [name = ''] }: Subject): boolean {
  return ALTERNATIVES[name]?.isProgram !== true
}

/** A ratio is taken within a round: the machine may be busy with something else for a while. */
function timeCells(imports: readonly Import[] = [], ofOurs: readonly Import[] = []): string[] {
  if (imports.length === 0) return ['', '', '']
  const ratios = imports.map(({ cpu }, round) => cpu / (ofOurs[round]?.cpu ?? Number.NaN))
  return [
    median(imports.map(({ elapsed }) => elapsed)).toFixed(1),
    median(imports.map(({ cpu }) => cpu)).toFixed(1),
    median(ratios).toFixed(2),
  ]
}

/** One of each round. */
function importAll(
  subjects: readonly Subject[],
  consumer: string,
): ReadonlyMap<Subject, readonly Import[]> {
  const imports = new Map(subjects.map((subject): [Subject, Import[]] => [subject, []]))
  for (let round = 0; round < STARTS; round += 1) {
    for (const [subject, measured] of imports) measured.push(importOnce(subject, consumer))
  }
  return imports
}

function importOnce({ modules, frameworks }: Subject, consumer: string): Import {
  const args = ['import-child.ts', JSON.stringify(frameworks), JSON.stringify(modules)]
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--no-warnings', ...args], {
    cwd: consumer,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`${modules.join(' + ')}:\n${stderr}`)
  return JSON.parse(stdout) as Import // import-child.ts prints nothing else
}

function packageOf(module: string): string {
  return module.split('/', module.startsWith('@') ? 2 : 1).join('/')
}

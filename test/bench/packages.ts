import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { type Dependencies, FRAMEWORKS } from '../frameworks/packages.ts'
import { install, pack } from '../publishing/packed/consumers.ts'
import type { Import } from './import-child.ts'
import { type InstallSize, installSize } from './install-size.ts'
import { describeMachine } from './machine.ts'
import { inTurn, median, medianRatio } from './measure.ts'
import { flags } from './report.ts'
import { printTable } from './table.ts'

// What it takes to install and to import each package, beside what is usually taken instead: `pnpm bench packages`, with
// `--quick` once.
//
// All are installed in a project of their own, ours as they would be published. So the alternatives, of which some bring a
// hundred packages, are no dependencies of this repository.

const STARTS = flags.quick ? 1 : 21

/** What is usually taken in the place of a package of ours: each a list of modules that are taken together. */
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  '@portcullis/core': ['jose', 'jsonwebtoken jwks-rsa', 'aws-jwt-verify', 'fast-jwt get-jwks'],
  '@portcullis/express': [
    'express-jwt jwks-rsa',
    'passport passport-jwt jwks-rsa',
    'express-oauth2-jwt-bearer',
  ],
  '@portcullis/koa': ['koa-jwt jwks-rsa'],
  '@portcullis/fastify': ['@fastify/jwt get-jwks'],
  '@portcullis/hono': ['hono/jwk'],
  '@portcullis/nest': ['@nestjs/passport passport passport-jwt @nestjs/jwt jwks-rsa'],
  '@portcullis/client': ['openid-client'],
  '@portcullis/introspection': ['oauth4webapi'],
  '@portcullis/metrics': ['prom-client'],
  '@portcullis/redis': ['@redis/client'],
  '@portcullis/testing': ['mock-jwks'],
}
/** It is run, and cannot be imported. */
const PROGRAM = '@portcullis/cli'

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
  oauth4webapi: '3.8.8',
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
  const imported = groups.flat().filter(({ modules: [name] }) => name !== PROGRAM)
  const imports = await inTurn(imported, STARTS, (subject) => importOnce(subject, consumer), 0)
  const rows = groups.flatMap((group) => group.map((subject) => [subject, group[0]] as const))
  const sizeOf = (subject: Subject) => sizeIn(consumer, subject)
  console.log(describeMachine())
  printTable(
    `Without peers. Import: milliseconds, medians of ${STARTS} fresh processes in turn.`,
    [
      ['Package', ([{ modules }]) => modules.join(' + ')],
      ['packages', ([subject]) => sizeOf(subject).packages, 0],
      ['files', ([subject]) => sizeOf(subject).files, 0],
      ['kB', ([subject]) => sizeOf(subject).size / 1000, 0],
      ['kB of its own', ([subject]) => sizeOf(subject).ownSize / 1000, 0],
      [
        'import',
        ([subject]) => median((imports.get(subject) ?? []).map(({ elapsed }) => elapsed)),
        1,
      ],
      ['CPU', ([subject]) => median((imports.get(subject) ?? []).map(({ cpu }) => cpu)), 1],
      [
        'CPU, times ours',
        ([subject, ours]) => medianRatio(imports.get(subject), imports.get(ours), ({ cpu }) => cpu),
      ],
    ],
    rows,
  )
} finally {
  rmSync(work, { recursive: true, force: true })
}

/** A package of ours, and what is taken instead. */
function groupOf(name: string): readonly [ours: Subject, ...others: Subject[]] {
  const frameworks = peersOf(name)
  const others = (OTHERS[name] ?? []).map((list) => ({ modules: list.split(' '), frameworks }))
  return [{ modules: [name], frameworks }, ...others]
}

/** Nest needs `reflect-metadata`, which is its last one, before the others. */
function peersOf(name: string): readonly string[] {
  const path = join(here, '..', '..', name.replace('@portcullis/', 'packages/'), 'package.json')
  const { peerDependencies = {} } = JSON.parse(readFileSync(path, 'utf8')) as Dependencies
  // What is installed here: of others a package needs types alone.
  const frameworks = Object.keys(peerDependencies).filter((peer) => peer in VERSIONS)
  return frameworks.toReversed()
}

function sizeIn(consumer: string, { modules, frameworks }: Subject): InstallSize {
  // A framework may have an alternative in itself, which then brings nothing.
  const added = modules.map(packageOf).filter((name) => !frameworks.includes(name))
  return installSize(added, join(consumer, 'package.json'))
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

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { type Dependencies, FRAMEWORKS } from '../frameworks/packages.ts'
import { withConsumer } from './consumer.ts'
import { inTurn, median } from './measure.ts'
import { describeMachine, flags } from './report.ts'
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
  '@portcullis/express': ['express-jwt jwks-rsa', 'express-oauth2-jwt-bearer'],
  '@portcullis/koa': ['koa-jwt jwks-rsa'],
  '@portcullis/fastify': ['@fastify/jwt get-jwks'],
  '@portcullis/redis': ['@redis/client'],
}
/** It is run, and cannot be imported. */
const PROGRAM = '@portcullis/cli'

const VERSIONS: Readonly<Record<string, string>> = {
  ...FRAMEWORKS,
  '@fastify/jwt': '10.2.8',
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
  'prom-client': '15.1.3',
}

interface Subject {
  readonly modules: readonly string[]
  /** What an application has anyway: it is not counted, and imported before. */
  readonly peers: readonly string[]
}

/** Nest needs `reflect-metadata`, which is its last one, before the others. */
function peersOf(name: string): readonly string[] {
  const root = join(import.meta.dirname, '..', '..')
  const path = join(root, name.replace('@portcullis/', 'packages/'), 'package.json')
  const { peerDependencies = {} } = JSON.parse(readFileSync(path, 'utf8')) as Dependencies
  // What is installed here: of others a package needs types alone.
  return Object.keys(peerDependencies)
    .filter((peer) => peer in VERSIONS)
    .toReversed()
}

await withConsumer(VERSIONS, async ({ packages, importOnce, sizeOf }) => {
  const subjects = packages.flatMap((name): Subject[] =>
    [name, ...(OTHERS[name] ?? [])].map((list) => ({
      modules: list.split(' '),
      peers: peersOf(name),
    })),
  )
  const imported = subjects.filter(({ modules: [name] }) => name !== PROGRAM)
  const imports = await inTurn(imported, STARTS, ({ modules, peers }) => importOnce(modules, peers))
  printTable(
    `${describeMachine()}\n\nWithout peers. Import: milliseconds, medians of ${STARTS} fresh processes in turn.`,
    [
      ['Package', ({ subject }) => subject.modules.join(' + ')],
      ['packages', ({ size: [count] }) => count, 0],
      ['kB', ({ size: [, kilobytes] }) => kilobytes, 0],
      ['import', ({ subject }) => median(imports.get(subject) ?? []), 1],
    ],
    subjects.map((subject) => ({ subject, size: sizeOf(subject.modules) })),
  )
})

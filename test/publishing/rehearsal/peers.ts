import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

import { mustRun } from '../packed/report.ts'
import { type Folder, type as typeLine } from './folder.ts'

// What each package manager makes of a guard without core, with a core that is too old, and with two: what it prints of that when it
// installs, and what the application prints first.

export interface Seen {
  readonly manager: string
  readonly core: Situation
  /** Whether the manager has installed it. */
  readonly installs: boolean
  /** The first line of the manager that names the peer. */
  readonly says: string
  /** The first line that says what is wrong with the application, or that it runs. */
  readonly application: string
}

export type Situation = 'missing' | 'too old' | 'there twice'

export const SITUATIONS: readonly Situation[] = ['missing', 'too old', 'there twice']

export interface Versions {
  readonly next: string
  readonly former: string
  /** Of core alone, such that another package can insist on it. */
  readonly later: string
}

const MAKING = `import { createVerifier, remoteKeys } from '@portcullis/core'
const keys = remoteKeys('http://127.0.0.1:9/')
`
const VERIFIER = 'createVerifier({ keys, issuer: null, audience: null })'
const GUARDING = `import { authenticate } from '@portcullis/express'
authenticate(verifier)
console.log('it runs')
`

/** Another package of the user, which makes the verifier with a core of its own. */
const OTHER = 'acme-verifier'

export async function seenBy(folder: Folder, core: Situation, versions: Versions): Promise<Seen> {
  const { next, former } = versions
  const express = `@portcullis/express@${next} express`
  const line = {
    missing: `npm install ${express}`,
    'too old': `npm install @portcullis/core@${former} ${express}`,
    'there twice': `npm install @portcullis/core@${next} ${express} ${OTHER}@file:./other`,
  }[core]
  writeApplication(folder.path, core, versions)
  const { status, stdout, stderr } = await typeLine(line, folder)
  const ran = await typeLine('node app.mjs', folder)
  return {
    manager: folder.manager.name,
    core,
    installs: status === 0,
    says: firstLine(`${stdout}\n${stderr}`, /peer|@portcullis\/core \(|YN0002/),
    application: firstLine(`${ran.stderr}\n${ran.stdout}`, /^(?:\w*Error(?: \[\w+\])?: |it runs)/),
  }
}

function writeApplication(path: string, core: Situation, { later }: Versions): void {
  const own = `${MAKING}const verifier = ${VERIFIER}\n`
  const application = core === 'there twice' ? `import { verifier } from '${OTHER}'\n` : own
  writeFileSync(join(path, 'app.mjs'), application + GUARDING)
  if (core !== 'there twice') return
  mkdirSync(join(path, 'other'))
  writeFileSync(join(path, 'other', 'index.js'), `${MAKING}export const verifier = ${VERIFIER}\n`)
  const dependencies = { '@portcullis/core': later }
  const manifest = { name: OTHER, version: '1.0.0', type: 'module', main: 'index.js', dependencies }
  writeFileSync(join(path, 'other', 'package.json'), JSON.stringify(manifest))
}

function firstLine(text: string, pattern: RegExp): string {
  // Without colours, and what marks a line.
  const lines = stripVTControlCharacters(text).split('\n')
  const line = lines.find((each) => pattern.test(each)) ?? ''
  return line.trim().replace(/^(?:npm error|➤ YN\d+: │) /, '')
}

/** The same tarball as another version: of core a package may insist on a later one. */
export async function asVersion(tarball: string, version: string, into: string): Promise<string> {
  mkdirSync(into)
  await mustRun(['tar', '-xzf', tarball, '-C', into], into)
  const path = join(into, 'package', 'package.json')
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as object
  writeFileSync(path, JSON.stringify({ ...manifest, version }))
  const packed = join(into, 'core.tgz')
  await mustRun(['tar', '-czf', packed, 'package'], into)
  return packed
}

/** As a table. */
export function shown(all: readonly Seen[]): string {
  const rows = all.map(({ manager, core, installs, says, application }) =>
    [manager, core, installs ? 'yes' : 'no', says, application].join(' | '),
  )
  const head = ['Package manager', 'Core is', 'Installs', 'It says', 'The application says first']
  return [head.join(' | '), ...rows].map((row) => `| ${row} |`).join('\n')
}

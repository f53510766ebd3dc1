import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { blocksOf } from '../../documents/markdown.ts'
import { pack } from '../packed/consumers.ts'
import { mustRun, pnpm } from '../packed/report.ts'
import { obstaclesOf, planRelease, type Release } from '../release/plan.ts'
import { manifestIn } from '../release/tarball.ts'

// The releases of a rehearsal: what would come of this commit, by the steps of RELEASING.md in a clone of it, and the candidate before.

export interface Packed {
  readonly release: Release
  /** The path of each, by the name of its package. */
  readonly tarballs: ReadonlyMap<string, string>
}

/** Where the sources are said to be: nobody's repository. */
const REPOSITORY = 'acme/portcullis'

const root = join(import.meta.dirname, '..', '..', '..')

/** @param work A folder for clones and tarballs. */
export async function nextRelease(work: string): Promise<Packed> {
  const clone = await cloneOf('HEAD', join(work, 'next'))
  const steps = stepsOf(readFileSync(join(clone, 'RELEASING.md'), 'utf8'))
  await mustRun(['bash', '-euc', steps.address], clone)
  // None wait if this commit is a release already.
  if (globSync('.changeset/*.md', { cwd: clone }).length > 0)
    await mustRun(['bash', '-euc', steps.versions], clone)
  const packed = await packedFrom(clone, join(work, 'next-packed'))
  const obstacles = [...packed.tarballs.values()].map(manifestIn).flatMap(obstaclesOf)
  if (obstacles.length > 0) throw new Error(`this cannot be published:\n${obstacles.join('\n')}`)
  return packed
}

/** Built from the commit that says it is this release. */
export async function formerRelease(version: string, work: string): Promise<Packed> {
  const args = ['log', '--format=%H', '--max-count=1', `--grep=^chore: release ${version}$`]
  const commit = execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
  if (commit === '') throw new Error(`no commit has released ${version}: fetch the whole history`)
  const clone = await cloneOf(commit, join(work, 'former'))
  return await packedFrom(clone, join(work, 'former-packed'))
}

async function cloneOf(commit: string, clone: string): Promise<string> {
  await mustRun(['git', 'clone', '--quiet', '--no-checkout', root, clone], root)
  await mustRun(['git', 'checkout', '--quiet', '--detach', commit], clone)
  const author = { 'user.name': 'rehearsal', 'user.email': 'rehearsal@localhost' }
  for (const [name, value] of Object.entries(author))
    await mustRun(['git', 'config', name, value], clone)
  await mustRun(pnpm('install', '--frozen-lockfile', '--prefer-offline'), clone)
  return clone
}

async function packedFrom(clone: string, into: string): Promise<Packed> {
  mkdirSync(into)
  const tarballs = await pack(clone, into)
  return { release: planRelease([...tarballs.values()].map(manifestIn)), tarballs }
}

/** The commands that say where the sources are, and those that make versions and CHANGELOGs of changesets. */
function stepsOf(releasing: string): { readonly address: string; readonly versions: string } {
  const codes = blocksOf(releasing).map(({ code }) => code.replaceAll(/^ +/gm, ''))
  const address = codes.find((code) => code.includes('release repository')) ?? ''
  const versions = codes.find((code) => code.includes('changeset version')) ?? ''
  return {
    address: address.replace('OWNER/NAME', REPOSITORY),
    // Packing shows the same as a dry run.
    versions: versions.replace(/^.*release dry-run$/m, ''),
  }
}

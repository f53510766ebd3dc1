import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { pack } from '../packed/consumers.ts'
import {
  canTrust,
  foreignTo,
  type Manifest,
  obstaclesOf,
  planRelease,
  type Release,
} from './plan.ts'
import { publishAll } from './publish.ts'
import { filesIn, manifestIn } from './tarball.ts'

// Publishes the family: `pnpm release publish`, which only the workflow `release` runs. RELEASING.md says how.
//
//   pnpm release dry-run    shows what would be published, and publishes nothing

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..')
const isDryRun = process.argv.includes('--dry-run')
const work = mkdtempSync(join(tmpdir(), 'portcullis-release-'))

try {
  const tarballs = await pack(root, work)
  const packed = new Map([...tarballs].map(([name, path]) => [name, manifestIn(path)]))
  const manifests = [...packed.values()]
  const release = planRelease(manifests)
  // A workflow of GitHub knows where it runs.
  const here = process.env['GITHUB_REPOSITORY']
  const obstacles = [
    ...waitingChangesets(),
    ...manifests.flatMap(obstaclesOf),
    ...(here === undefined ? [] : foreignTo(here, manifests)),
  ]
  if (isDryRun) {
    show(release, tarballs, packed)
    for (const obstacle of obstacles) console.log(`not yet: ${obstacle}`)
    console.log('Nothing was published.')
  } else {
    refuse([...obstacles, ...obstaclesHere(release)])
    await publishAll(release, tarballs, { env: process.env, provenance: true })
  }
} finally {
  rmSync(work, { recursive: true, force: true })
}

function show(
  { version, distTag, gitTag, order }: Release,
  tarballs: ReadonlyMap<string, string>,
  packed: ReadonlyMap<string, Manifest>,
): void {
  console.log(`version ${version}, dist-tag ${distTag}, git tag ${gitTag}, in this order:`)
  for (const name of order) {
    const path = tarballs.get(name) ?? ''
    const files = filesIn(path)
    const octets = files.reduce((sum, { size }) => sum + size, 0)
    console.log(`\n${name}@${version}: ${files.length} files, ${kilo(octets)}`)
    console.log(`  ${basename(path)}, ${kilo(statSync(path).size)}`)
    for (const [dependency, range] of neededBy(packed.get(name))) {
      console.log(`  needs ${dependency} ${range}`)
    }
    for (const { file, size } of files) console.log(`  ${file} ${size}`)
  }
  console.log()
}

/** What is installed with it, or beside it. */
function neededBy(packed: Manifest | undefined): readonly (readonly [string, string])[] {
  return Object.entries({ ...packed?.dependencies, ...packed?.peerDependencies })
}

/** What stands in the way on this machine, of a commit that is to be published. */
function obstaclesHere({ gitTag }: Release): readonly string[] {
  const tags = git('tag', '--points-at', 'HEAD').split('\n')
  const version = execFileSync('npm', ['--version'], { encoding: 'utf8' }).trim()
  return [
    ...(git('status', '--porcelain') === '' ? [] : ['there are changes that are not committed']),
    ...(tags.includes(gitTag) ? [] : [`this commit does not have the tag ${gitTag}`]),
    ...(isMerged() ? [] : ['this commit is not on the branch main of origin']),
    ...(canTrust(version) ? [] : [`npm ${version} is older than 11.5.1`]),
    ...(process.env['ACTIONS_ID_TOKEN_REQUEST_URL'] === undefined
      ? ['only the workflow release can publish: it has no token, and npm trusts it by its name']
      : []),
  ]
}

/** A tag can be on any commit. What has not been merged has not been reviewed. */
function isMerged(): boolean {
  const args = ['merge-base', '--is-ancestor', 'HEAD', 'origin/main']
  return spawnSync('git', args, { cwd: root, stdio: 'ignore' }).status === 0
}

/** `changeset version` takes them away: in pre mode to a folder of their own, which is no obstacle. */
function waitingChangesets(): readonly string[] {
  const { length } = globSync('.changeset/*.md', { cwd: root })
  return length === 0 ? [] : [`${length} changesets wait: run changeset version`]
}

function refuse(obstacles: readonly string[]): void {
  if (obstacles.length > 0) throw new Error(`nothing was published:\n${obstacles.join('\n')}`)
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
}

function kilo(octets: number): string {
  return `${(octets / 1000).toFixed(1)} kB`
}

import { relative } from 'node:path'

import { memberOf } from '../input/unread-json.ts'
import {
  type Checked,
  copiesOfCore,
  findPackage,
  type Installed,
  ourPackages,
  readManifest,
} from './installed.ts'
import { isInRange } from './version-range.ts'

// The checks of `doctor` about Node and packages: supported versions, one version of all, one copy of core, and what is for tests.

const CORE = '@portcullis/core'

export async function checkPackages(
  folder: string,
  nodeVersion: string,
): Promise<readonly Checked[]> {
  const ours = await ourPackages(folder)
  if (ours.length === 0) {
    const text = 'no @portcullis package is installed in this folder'
    return [{ name: 'packages', outcome: 'problem', text }]
  }
  const copies = await copiesOfCore(folder, ours)
  return [
    // First what is behind the error with which Node ends a service that lacks it.
    (await checkNeeded(ours, folder)) ?? checkCopies(copies, folder),
    checkVersions(ours),
    checkNode(nodeVersion, ours),
    ...checkPlace(await readManifest(folder)),
    ...(await checkPeers(ours, folder)),
  ]
}

function checkNode(version: string, ours: readonly Installed[]): Checked {
  const ranges = new Set(
    ours.map(({ manifest }) => memberOf(memberOf(manifest, 'engines'), 'node')),
  )
  const range = [...ranges].map(String).join(' and ')
  const answers = new Set([...ranges].map((each) => isInRange(version, String(each))))
  const outcome = answers.has(false) ? 'problem' : answers.has(undefined) ? 'note' : 'ok'
  return { name: 'node', outcome, text: `${version}; supported are ${range}` }
}

function checkVersions(ours: readonly Installed[]): Checked {
  const versions = new Set(ours.map(({ version }) => version))
  const names = ours.map(({ name, version }) => `${name}@${version}`).join(', ')
  return versions.size === 1
    ? { name: 'versions', outcome: 'ok', text: names }
    : {
        name: 'versions',
        outcome: 'problem',
        text: `not all the same, update them together: ${names}`,
      }
}

/** A folder without a core of its own, which packages there need beside them. */
async function checkNeeded(
  ours: readonly Installed[],
  folder: string,
): Promise<Checked | undefined> {
  const needing = ours.filter((each) => peersOf(each).some(([peer]) => peer === CORE))
  const [first] = needing
  if (first === undefined || (await findPackage(CORE, folder)) !== undefined) return undefined
  const names = needing.map(({ name }) => name).join(', ')
  const text = `not installed, and needed by ${names}: npm install ${CORE}@${first.version}`
  return { name: 'core', outcome: 'problem', text }
}

function checkCopies(copies: readonly Installed[], folder: string): Checked {
  const places = copies.map(({ path, version }) => `${version} in ${relative(folder, path) || '.'}`)
  if (copies.length < 2) {
    return { name: 'core', outcome: 'ok', text: places[0] ?? 'not installed, and not needed' }
  }
  const text = `${copies.length} copies, which do not take what the other has made: ${places.join('; ')}`
  return { name: 'core', outcome: 'problem', text }
}

/** What makes tokens, and accepts any text as one, is for tests. */
function checkPlace(manifest: unknown): readonly Checked[] {
  const name = '@portcullis/testing'
  const kinds = ['dependencies', 'optionalDependencies']
  const place = kinds.find((kind) => memberOf(memberOf(manifest, kind), name) !== undefined)
  if (place === undefined) return []
  const text = `among the ${place}: it is for tests alone`
  return [{ name, outcome: 'problem', text }]
}

function peersOf({ manifest }: Installed): readonly [string, unknown][] {
  return Object.entries(Object(memberOf(manifest, 'peerDependencies')) as object)
}

async function checkPeers(ours: readonly Installed[], folder: string): Promise<readonly Checked[]> {
  const peers = ours.flatMap((each) =>
    peersOf(each).map(([peer, range]) => ({ name: each.name, peer, range: String(range) })),
  )
  // Core has lines of its own.
  const others = peers.filter(({ peer }) => peer !== CORE)
  return await Promise.all(
    others.map(async ({ name, peer, range }): Promise<Checked> => {
      const found = await findPackage(peer, folder)
      if (found === undefined) {
        return { name: peer, outcome: 'problem', text: `not installed; ${name} needs ${range}` }
      }
      const isFine = isInRange(found.version, range)
      const outcome = isFine === undefined ? 'note' : isFine ? 'ok' : 'problem'
      return { name: peer, outcome, text: `${found.version}; ${name} is for ${range}` }
    }),
  )
}

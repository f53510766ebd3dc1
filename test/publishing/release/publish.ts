import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

import type { Release } from './plan.ts'

// Publishes the packages of a release, one after the other: the workflow `release`, and its rehearsal.

/** How npm is run. */
export interface Publisher {
  /** Where npm publishes, and as whom. */
  readonly env: NodeJS.ProcessEnv
  /** The workflow has a statement signed of what it has built, as nothing else can. */
  readonly provenance: boolean
}

/**
 * In an order in which nobody can install half of it. A run that broke off halfway can be started again: what is there is left.
 *
 * @param tarballs The path of each, by the name of its package.
 */
export async function publishAll(
  { order, version, distTag }: Release,
  tarballs: ReadonlyMap<string, string>,
  publisher: Publisher,
): Promise<void> {
  for (const name of order) {
    if (await isPublished(name, version, publisher)) {
      console.log(`${name}@${version} is there already`)
      continue
    }
    const flags = ['--access', 'public', '--tag', distTag, `--provenance=${publisher.provenance}`]
    const npm = spawn('npm', ['publish', tarballs.get(name) ?? '', ...flags], {
      env: publisher.env,
      stdio: 'inherit',
    })
    const [status] = (await once(npm, 'close')) as [number | null]
    if (status !== 0) throw new Error(`${name} was not published; those before it were`)
  }
}

async function isPublished(name: string, version: string, { env }: Publisher): Promise<boolean> {
  const npm = spawn('npm', ['view', `${name}@${version}`, 'version'], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return (await text(npm.stdout)).trim() === version
}

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

// Which packages are published: all but those that say that they are private.

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Their manifests, from the root of the repository. */
export const manifestPaths: readonly string[] = globSync('packages/*/package.json', { cwd: root })
  .filter((path) => !isPrivate(path))
  .toSorted()

function isPrivate(path: string): boolean {
  const manifest = JSON.parse(readFileSync(join(root, path), 'utf8')) as { private?: boolean }
  return manifest.private === true
}

import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

import { getDependencyReleaseLine, getReleaseLine } from './changelog.ts'

// What readers of a CHANGELOG find there.

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const packages = globSync('packages/*/package.json', { cwd: root })
const waiting = globSync('.changeset/*.md', { cwd: root }).map(read)

test('a changeset is one entry of a list, with all that is below its first line', async () => {
  const summary = 'It is new:\n\n- one\n  line\n\nAnd more.\n'
  expect(await getReleaseLine({ summary })).toBe('- It is new:\n\n  - one\n    line\n\n  And more.')
})

test('packages of ours that have the new version as well are not listed', async () => {
  expect(await getDependencyReleaseLine()).toBe('')
})

test.each(packages)('%s has a CHANGELOG, or a changeset that will be its first entry', (path) => {
  const { name } = JSON.parse(read(path)) as { name: string }
  const isAnnounced = waiting.some((text) => text.includes(`'${name}': major\n`))
  expect(isAnnounced || existsSync(join(root, dirname(path), 'CHANGELOG.md'))).toBe(true)
})

import { expect, test } from 'vitest'

import { getDependencyReleaseLine, getReleaseLine } from './changelog.ts'

// What readers of a CHANGELOG find there.

test('a changeset is one entry of a list, with all that is below its first line', async () => {
  const summary = 'It is new:\n\n- one\n  line\n\nAnd more.\n'
  expect(await getReleaseLine({ summary })).toBe('- It is new:\n\n  - one\n    line\n\n  And more.')
})

test('packages of ours that have the new version as well are not listed', async () => {
  expect(await getDependencyReleaseLine()).toBe('')
})

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

import { sentence } from './left-out.ts'

const CHROMIUM = {
  programs: ['chromium-headless-shell'],
  packages: ['chromium-headless-shell', 'fonts-dejavu-core'],
}
const REDIS = { programs: ['redis-server'], packages: ['redis-server'] }

test('where nothing is skipped, nothing is said', () => {
  expect(sentence([])).toBeUndefined()
})

test.each([
  [
    [{ missing: CHROMIUM }],
    '1 test was skipped: 1 for which chromium-headless-shell is missing (on Debian: apt-get install chromium-headless-shell fonts-dejavu-core).',
  ],
  [
    [{ missing: REDIS }, { missing: CHROMIUM }, { missing: CHROMIUM }, { missing: undefined }],
    '4 tests were skipped: 3 for which chromium-headless-shell and redis-server are missing (on Debian: apt-get install chromium-headless-shell fonts-dejavu-core redis-server); 1 that cannot run on this system.',
  ],
  [[{ missing: undefined }], '1 test was skipped: 1 that cannot run on this system.'],
])('how many were skipped, why, and what to install', (tests, line) => {
  expect(sentence(tests)).toBe(line)
})

test('it is the last line of a run on a machine without programs, and with a name only those count', async () => {
  const suite = 'test/programs/console/accessibility.test.ts'
  expect(await lastLine('run', suite)).toMatch(
    /^4 tests were skipped: 4 for which chromium-headless-shell is missing \(on Debian: apt-get install chromium-headless-shell /,
  )
  expect(await lastLine('run', 'test/left-out.test.ts', '-t', 'nothing is said')).not.toContain(
    'skipped:',
  )
})

/** What a run of vitest prints last, in an environment that has no program and is not CI. */
async function lastLine(...args: readonly string[]): Promise<string | undefined> {
  const cwd = fileURLToPath(new URL('..', import.meta.url))
  const program = fileURLToPath(import.meta.resolve('vitest/package.json'))
  const vitest = program.replace('package.json', 'vitest.mjs')
  const child = spawn(process.execPath, [vitest, ...args], {
    cwd,
    env: { NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')])
  return output.trimEnd().split('\n').at(-1)
}

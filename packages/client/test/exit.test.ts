import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { expect, test } from 'vitest'

const program = fileURLToPath(new URL('exit.ts', import.meta.url))

test.concurrent.each([
  ['a login over real HTTP', /^"ey/],
  ['a login', /^"ey/],
  ['a renewal in back-off', /"lastFailure":"service_unavailable","failures":1,"nextLoginIn":/],
  ['a hanging login, closed', /"code":"aborted"/],
  ['a login that failed', /"code":"credentials_rejected"/],
])('a process ends by itself after %s', async (scene, printed) => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--conditions=@portcullis/source', program, scene],
    { timeout: 100_000 },
  )
  expect(stdout).toMatch(printed)
})

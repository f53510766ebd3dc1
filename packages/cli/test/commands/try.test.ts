import { systemClock } from '@portcullis/kit/time'
import { expect, test } from 'vitest'

import { runProgram } from '../run-program.ts'

// A whole run is in test/programs/try, as a process.

test.each<[args: readonly string[], said: string]>([
  [['--seconds', '2'], 'It must be 3 to 3600 seconds.'],
  [['--seconds', '2h'], 'It must be 3 to 3600 seconds.'],
  [['--seconds', 'long'], 'It must be a time such as 30s'],
  [['--kid', 'other'], 'Allowed choices are same, new, none.'],
])('%j is a mistake', async (args, said) => {
  const { exitCode, stdout, stderr } = await runProgram(['try', ...args])
  expect(stderr).toContain(said)
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
})

test('a run that is interrupted before it begins leaves nothing, and ends with 130', async () => {
  const signal = AbortSignal.abort()
  const { exitCode } = await runProgram(['try'], { signal, fetch: globalThis.fetch })
  expect(exitCode).toBe(130)
})

test('where the API cannot be called, it says so, and ends with 3', async () => {
  const { exitCode, stderr } = await runProgram(['try'], { clock: systemClock })
  expect(stderr).toBe('portcullis: the API on this machine does not answer\n')
  expect(exitCode).toBe(3)
})

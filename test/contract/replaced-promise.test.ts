import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { expect, test } from 'vitest'

import { frameworks } from './frameworks/index.ts'

const program = fileURLToPath(new URL('replaced-promise.ts', import.meta.url))

test.each(frameworks.flatMap(({ name }) => [[name, 'before'] as const, [name, 'after'] as const]))(
  '%s, the global Promise replaced %s the application was made: nobody else gets in',
  async (name, moment) => {
    const flags = ['--conditions=@portcullis/source', '--disable-warning=ExperimentalWarning']
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [...flags, program, name, moment],
      { timeout: 60_000 },
    )
    const answers: unknown = JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
    expect(answers).toEqual([401, 401, 200, 200, 401, 401])
  },
)

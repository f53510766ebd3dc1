import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { beforeAll, describe, expect, test } from 'vitest'

import { frameworks } from './frameworks/index.ts'

const program = fileURLToPath(new URL('replaced-promise.ts', import.meta.url))

describe.each(['before', 'after'])(
  'the global Promise replaced %s the application was made',
  (moment) => {
    let answers: Record<string, unknown>
    beforeAll(async () => {
      answers = await statusesOf(moment)
    })

    test.each(frameworks)('$name: nobody else gets in', ({ name }) => {
      expect(answers[name]).toEqual([401, 401, 200, 200, 401, 401])
    })
  },
)

async function statusesOf(moment: string): Promise<Record<string, unknown>> {
  const flags = ['--conditions=@portcullis/source', '--disable-warning=ExperimentalWarning']
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, program, moment], {
    timeout: 100_000,
  })
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Record<string, unknown> // as the program prints it
}

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { expect, test } from 'vitest'

import { frameworks } from './frameworks/index.ts'

// What NODE_DEBUG=portcullis prints, in each framework: whether a refusal is forwarded or answered, without any logger.

const program = fileURLToPath(new URL('debug-lines.ts', import.meta.url))

test.each(frameworks)(
  'NODE_DEBUG=portcullis says in $name why each request was refused',
  async ({ name }) => {
    const lines = await printed(name, 'portcullis')
    const word = name.replace(/ .*/, '').toLowerCase()
    const refusals = [
      `refused: ${word} GET /v1/places: 401 missing_token missing_header: the request has no Authorization header`,
      `refused: ${word} GET /v1/places: 401 invalid_token audience: aud is "shop"; expected "api"`,
      `refused: ${word} GET /v1/places: 403 insufficient_scope scope: the token lacks "write"; the route requires scope write`,
    ]
    expect(lines.filter((line) => line.startsWith('refused'))).toEqual([...refusals, ...refusals])
    const attempts = lines.filter((line) => line.startsWith('keys from'))
    expect(attempts).toEqual([
      expect.stringMatching(/: age: success in [\d.]+ s; added [\w-]{43}, /),
    ])
    expect(lines.join('\n')).not.toMatch(/canary|eyJ/)
  },
)

test.each(frameworks)('without it $name prints nothing of them', async ({ name }) => {
  expect(await printed(name, '')).toEqual([])
})

async function printed(framework: string, debug: string): Promise<string[]> {
  const flags = ['--conditions=@portcullis/source', '--disable-warning=ExperimentalWarning']
  const { stderr } = await promisify(execFile)(process.execPath, [...flags, program, framework], {
    env: { ...process.env, NODE_DEBUG: debug },
    timeout: 60_000,
  })
  return stderr
    .split('\n')
    .filter((line) => /^PORTCULLIS|canary/.test(line))
    .map((line) => line.replace(/^PORTCULLIS \d+: /, ''))
}

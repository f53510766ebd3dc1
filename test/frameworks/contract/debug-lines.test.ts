import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { beforeAll, expect, test } from 'vitest'

import { frameworks } from './frameworks/index.ts'

// What NODE_DEBUG=portcullis prints, in each framework: whether a refusal is forwarded or answered, without any logger.

const program = fileURLToPath(new URL('debug-lines.ts', import.meta.url))

let debugged: Printed
let silent: Printed
beforeAll(async () => {
  ;[debugged, silent] = await Promise.all([printed('portcullis'), printed('')])
})

test.each(frameworks)(
  'NODE_DEBUG=portcullis says in $name why each request was refused',
  ({ name }) => {
    const lines = debugged.get(name) ?? []
    const word = name.replace(/ .*/, '').toLowerCase()
    const refusals = [
      `refused: ${word} GET /v1/places: 401 missing_token missing_header: the request has no Authorization header`,
      `refused: ${word} GET /v1/places: 401 invalid_token audience: aud is "shop"; expected "api"`,
      `refused: ${word} GET /v1/places: 403 insufficient_scope scope: the token lacks "write"; the route requires scope write`,
    ]
    expect(
      lines.filter((line) => line.startsWith('refused')),
      'method and path are found by placeOf in packages/core/src/report/debug-log.ts',
    ).toEqual([...refusals, ...refusals])
    const attempts = lines.filter((line) => line.startsWith('keys from'))
    expect(attempts).toEqual([
      expect.stringMatching(/: age: success in [\d.]+ s; added [\w-]{43}, /),
    ])
    expect(lines.join('\n')).not.toMatch(/canary|eyJ/)
  },
)

test.each(frameworks)('without it $name prints nothing of them', ({ name }) => {
  expect(silent.get(name)).toEqual([])
})

/** The lines that concern us, by the name of the framework. */
type Printed = ReadonlyMap<string, readonly string[]>

async function printed(debug: string): Promise<Printed> {
  const flags = ['--conditions=@portcullis/source', '--disable-warning=ExperimentalWarning']
  const { stderr } = await promisify(execFile)(process.execPath, [...flags, program], {
    env: { ...process.env, NODE_DEBUG: debug },
    timeout: 100_000,
  })
  const parts = stderr.split(/^--- /m).slice(1)
  return new Map(
    parts.map((part) => {
      const [name = '', ...lines] = part.split('\n')
      const ours = lines.filter((line) => /^PORTCULLIS|canary/.test(line))
      return [name, ours.map((line) => line.replace(/^PORTCULLIS \d+: /, ''))]
    }),
  )
}

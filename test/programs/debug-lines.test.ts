import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { expect, test } from 'vitest'

// What NODE_DEBUG=portcullis prints of clients, introspections and events. Of guards: test/frameworks/contract; of keys: core; of Redis:
// its package.

async function printedBy(debug: string): Promise<readonly string[]> {
  const program = fileURLToPath(new URL('debug-lines.ts', import.meta.url))
  const flags = ['--conditions=@portcullis/source', '--disable-warning=ExperimentalWarning']
  const env = { ...process.env, NODE_DEBUG: debug }
  const { stderr } = await promisify(execFile)(process.execPath, [...flags, program], { env })
  return stderr
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.replace(/^PORTCULLIS \d+: /, ''))
}

test('a line for each log-in, introspection and event, without secrets; with nothing set none', async () => {
  const lines = await printedBy('portcullis')
  // The token was issued for 300 s, some of which are over.
  const said = lines
    .slice(1)
    .map((line) => line.replace(/[\d.]+ ms/, 'N ms').replace(/in 29\d s/, 'in 300 s'))
  expect(said).toEqual([
    'login: success: the token expires in 300 s (1 request, N ms)',
    'login: credentials_rejected: the token service answered with status 401 (1 request, N ms)',
    'introspection: active in N ms',
    'introspection: unreachable in N ms: the introspection endpoint answered 503',
    'events: recorded',
    'events: refused: invalid_request: The token is not a signed JWT',
  ])
  expect(lines[0]).toMatch(/^keys from .*: refresh: success/)
  expect(lines.slice(1).join('\n')).not.toContain('canary')
  expect(await printedBy('')).toEqual([])
})

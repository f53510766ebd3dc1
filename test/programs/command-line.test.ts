import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

import { createTestIssuer } from '@portcullis/testing'
import { expect, test } from 'vitest'

import { run } from '../../packages/cli/src/program/program.ts'

// The program as a process. What its commands say is tested in packages/cli, in process.

const root = fileURLToPath(new URL('../..', import.meta.url))
const issuer = await createTestIssuer({ algorithm: 'ES256' })

test('the package exports the program as a function', () => {
  expect(run).toBeTypeOf('function')
})

test('a token on stdin is decoded, with data on stdout and talk on stderr', async () => {
  const token = await issuer.token({ claims: { sub: 'ada' } })
  const { exitCode, stdout, stderr } = await portcullis(['decode'], token)
  expect(JSON.parse(stdout)).toMatchObject({ payload: { sub: 'ada' } })
  expect(stderr).toContain('Nothing of this is checked')
  expect(exitCode).toBe(0)
})

test('a wrong command line ends with 2, and nothing on stdout', async () => {
  const { exitCode, stdout, stderr } = await portcullis(['decod'])
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
  expect(stderr).toContain('Did you mean decode?')
})

test.each(['SIGINT', 'SIGTERM'] as const)('%s ends a command that reads stdin', async (signal) => {
  const child = started(['decode'])
  // More than a pipe holds: once all is written, the command is reading.
  await new Promise((resolve) => {
    child.stdin.write('x'.repeat(500_000), resolve)
  })
  child.kill(signal)
  await once(child, 'close')
  expect(child.exitCode).toBe(130)
})

test.each(['SIGINT', 'SIGTERM'] as const)(
  '`serve` serves until %s, and ends with 0',
  async (signal) => {
    const child = started(['serve', '--port', '0'])
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    const url = line.toString().trim()
    expect((await fetch(`${url}/tokenservice/pubkey.json`)).status).toBe(200)
    child.kill(signal)
    await once(child, 'close')
    expect(child.exitCode).toBe(0)
  },
)

function started(args: readonly string[]) {
  const main = join(root, 'packages/cli/src/main.ts')
  const node = ['--disable-warning=ExperimentalWarning', '--conditions=@portcullis/source']
  return spawn(process.execPath, [...node, main, ...args], { env: {} })
}

async function portcullis(
  args: readonly string[],
  stdin = '',
): Promise<{ exitCode: number | null; stdout: string; stderr: string }> {
  const child = started(args)
  child.stdin.end(stdin)
  const [stdout, stderr] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  return { exitCode: child.exitCode, stdout, stderr }
}

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { expect, test } from 'vitest'

import { adapters } from './contract/frameworks/index.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

interface Running extends AsyncDisposable {
  readonly printed: string
  /** Sends a signal, and answers with the exit code. */
  end(signal: 'SIGINT' | 'SIGTERM'): Promise<number | null>
}

test.each(adapters)(
  'start $folder serves, the printed calls work as pasted, and Ctrl-C ends it with 0',
  async ({ folder }) => {
    await using start = await run({ PORT: '0', TOKEN_SERVICE_PORT: '0' }, folder)
    expect(start.printed).toMatch(
      /^token service {2}http:\/\/127\.0\.0\.1:\d+\napi {12}http:\/\/127\.0\.0\.1:\d+\n\n/,
    )
    const calls = start.printed.split('\n').filter((line) => /^(?:TOKEN=|curl )/.test(line))
    expect(calls).toHaveLength(3)
    const { stdout } = await promisify(execFile)('bash', ['-c', calls.join('\n')])
    const [withToken, without] = stdout.split(/(?<=.)(?=HTTP\/1\.1 )/s)
    expect(withToken).toMatch(/^HTTP\/1\.1 200 /)
    expect(withToken).toContain('{"savedBy":"demo","location":{"city":"Oslo"}}')
    expect(without).toMatch(/^HTTP\/1\.1 401 /)
    expect(without).toMatch(/^WWW-Authenticate: Bearer realm="api"\r$/im)
    expect(await start.end('SIGINT')).toBe(0)
  },
)

test('SIGTERM ends it with 0 as well', async () => {
  await using start = await run({ PORT: '0', TOKEN_SERVICE_PORT: '0' })
  expect(await start.end('SIGTERM')).toBe(0)
})

test.each(['PORT', 'TOKEN_SERVICE_PORT'])(
  '%s in use: one clear line and exit code 1',
  async (name) => {
    await using taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const port = String((taken.address() as AddressInfo).port)
    const failure = await fails({ PORT: '0', TOKEN_SERVICE_PORT: '0', [name]: port })
    expect(failure.code).toBe(1)
    expect(failure.stderr).toMatch(/^(?:api|token service): listen EADDRINUSE: .*\n$/)
    expect(failure.stderr).toContain(port)
  },
)

test.each(['http', '70000', '-1', ''])(
  'a port that is none (%j): one clear line and exit code 1',
  async (port) => {
    const failure = await fails({ PORT: port, TOKEN_SERVICE_PORT: '0' })
    expect(failure).toMatchObject({
      code: 1,
      stderr: `PORT must be a port from 0 to 65535, not ${JSON.stringify(port)}\n`,
    })
  },
)

test('an example that there is not: one clear line and exit code 1', async () => {
  const names = adapters.map(({ folder }) => folder).join(', ')
  expect(await fails({}, 'hapi')).toEqual({
    code: 1,
    stderr: `there is no example "hapi", choose from ${names}\n`,
  })
})

const command = ['--conditions=@portcullis/source', 'examples/start.ts']

async function run(env: Record<string, string>, example = 'express'): Promise<Running> {
  const child = spawn(process.execPath, [...command, example], {
    cwd: root,
    env: { ...process.env, ...env },
  })
  let printed = ''
  child.stdout.on('data', (chunk) => {
    printed += String(chunk)
  })
  while (!/\ncurl -i -X POST .*\n/.test(printed)) {
    await Promise.race([
      once(child.stdout, 'data'),
      once(child, 'exit').then(() => Promise.reject(new Error(printed))),
    ])
  }
  async function end(signal: 'SIGINT' | 'SIGTERM'): Promise<number | null> {
    const isRunning = child.exitCode === null && child.signalCode === null
    if (isRunning) {
      child.kill(signal)
      await once(child, 'exit')
    }
    return child.exitCode
  }
  return {
    printed,
    end,
    async [Symbol.asyncDispose]() {
      await end('SIGTERM')
    },
  }
}

async function fails(
  env: Record<string, string>,
  ...words: string[]
): Promise<{ code: unknown; stderr: string }> {
  const outcome: unknown = await promisify(execFile)(process.execPath, [...command, ...words], {
    cwd: root,
    env: { ...process.env, ...env },
  }).catch((error: unknown) => error)
  if (!(outcome instanceof Error) || !('code' in outcome && 'stderr' in outcome)) {
    throw new Error('it did not fail')
  }
  return { code: outcome.code, stderr: String(outcome.stderr) }
}

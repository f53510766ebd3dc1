import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { expect, onTestFinished, test } from 'vitest'

import { GUARDING } from '../frameworks/packages.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

interface Running extends AsyncDisposable {
  readonly printed: string
  /** Sends a signal, and answers with the exit code. */
  end(signal: 'SIGINT' | 'SIGTERM'): Promise<number | null>
}

test.each(GUARDING)(
  'start %s serves, the printed calls work as pasted, and Ctrl-C ends it with 0',
  async (folder) => {
    await using start = await run({ PORT: '0' }, folder)
    expect(start.printed).toMatch(
      /^token service {2}http:\/\/127\.0\.0\.1:\d+\napi {12}http:\/\/127\.0\.0\.1:\d+\n\n/,
    )
    expect(start.printed).not.toContain(':4010')
    const calls = start.printed.split('\n').filter((line) => /^(?:TOKEN=|curl )/.test(line))
    expect(calls).toHaveLength(3)
    const { stdout } = await promisify(execFile)('bash', ['-c', calls.join('\n')])
    const [withToken, without] = stdout.split(/(?<=.)(?=HTTP\/1\.1 )/s)
    expect(withToken).toMatch(/^HTTP\/1\.1 200 /)
    expect(withToken).toContain('{"savedBy":"demo","location":{"city":"Oslo"}}')
    expect(without).toMatch(/^HTTP\/1\.1 401 /)
    expect(without).toMatch(/^WWW-Authenticate: Bearer realm="api"\r$/im)
    const [, url] = /^The console, .*: (http:\S+)$/m.exec(start.printed) ?? []
    const events = async () => {
      const log = (await (await fetch(`${url}control/log`)).json()) as { events: object[] }
      return log.events
    }
    await expect.poll(events).toMatchObject([
      { type: 'request', endpoint: 'token', status: 200, loginId: 'demo' },
      { type: 'request', endpoint: 'keys', status: 200 },
      { type: 'verdict', api: `example ${folder}`, count: 1 },
    ])
    expect(await start.end('SIGINT')).toBe(0)
  },
)

test('the console that it prints is a page, and SIGTERM ends it with 0 as well', async () => {
  await using start = await run({ PORT: '0', TOKEN_SERVICE_PORT: '0' })
  const [, url = ''] = /^The console, .*: (http:\S+)$/m.exec(start.printed) ?? []
  const page = await fetch(url)
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<main')])
  expect(await start.end('SIGTERM')).toBe(0)
})

test.each([
  ['PORT', 'express'],
  ['PORT', 'koa'],
  ['PORT', 'fastify'],
  ['TOKEN_SERVICE_PORT', 'express'],
])('%s in use, %s: one line that names the variable, and exit code 1', async (name, example) => {
  await using taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const port = String((taken.address() as AddressInfo).port)
  const failure = await fails({ PORT: '0', TOKEN_SERVICE_PORT: '0', [name]: port }, example)
  expect(failure.code).toBe(1)
  expect(failure.stderr).toMatch(/^(?:api: listen EADDRINUSE: .*|token service: .* is taken .*)\n$/)
  expect(failure.stderr).toContain(port)
  expect(failure.stderr).toContain(`(${name} sets another port)`)
})

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
  expect(await fails({}, 'nothing')).toEqual({
    code: 1,
    stderr: `there is no example "nothing", choose from ${GUARDING.join(', ')}\n`,
  })
})

test('in a clone where nothing is installed: one line that says what to run, and exit code 1', async () => {
  const clone = freshClone('examples')
  copyFileSync(join(root, 'examples/start.js'), join(clone, 'examples/start.js'))
  const outcome = await failureOf(
    promisify(execFile)(process.execPath, ['examples/start.js'], { cwd: clone }),
  )
  expect(outcome.code).toBe(1)
  expect(outcome.stderr).toMatch(/^.* Run: npx --yes pnpm@12 start\n$/)
})

test('npm install in a clone says what to run instead, and asks no registry', async () => {
  const clone = freshClone()
  const registry = 'http://127.0.0.1:9'
  const words = ['install', '--ignore-scripts', '--offline', '--registry', registry]
  const outcome = await failureOf(promisify(execFile)('npm', words, { cwd: clone }))
  expect(outcome.code).toBe(1)
  expect(outcome.stderr).toContain('run npx --yes pnpm@12 install')
})

/** A folder with what npm reads, and nothing installed. */
function freshClone(...folders: readonly string[]): string {
  const clone = mkdtempSync(join(tmpdir(), 'portcullis-clone-'))
  onTestFinished(() => {
    rmSync(clone, { recursive: true, force: true })
  })
  for (const folder of folders) mkdirSync(join(clone, folder))
  copyFileSync(join(root, 'package.json'), join(clone, 'package.json'))
  return clone
}

const command = ['--conditions=@portcullis/source', 'examples/start.js']

async function run(env: Record<string, string>, example = 'express'): Promise<Running> {
  const child = spawn(process.execPath, [...command, example], {
    cwd: root,
    env: { ...process.env, ...env },
  })
  let printed = ''
  child.stdout.on('data', (chunk) => {
    printed += String(chunk)
  })
  while (!/\nThe console.*\n/.test(printed)) {
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
  return await failureOf(
    promisify(execFile)(process.execPath, [...command, ...words], {
      cwd: root,
      env: { ...process.env, ...env },
    }),
  )
}

async function failureOf(failing: Promise<unknown>): Promise<{ code: unknown; stderr: string }> {
  const outcome: unknown = await failing.catch((error: unknown) => error)
  if (!(outcome instanceof Error) || !('code' in outcome && 'stderr' in outcome)) {
    throw new Error('it did not fail')
  }
  return { code: outcome.code, stderr: String(outcome.stderr) }
}

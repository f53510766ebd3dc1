import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { run, systemClock } from '@portcullis/cli'
import { createTokenClient } from '@portcullis/client'
import { afterAll, describe, expect, test } from 'vitest'

// The first ten minutes of a new user, one step after the other: the token service and an API as processes, curl, and the
// commands. The commands run in this process, since a new one for each of some hundred takes minutes.

const root = fileURLToPath(new URL('..', import.meta.url))
const PROGRAM = join(root, 'packages/cli/src/main.ts')
const APP = fileURLToPath(new URL('first-minutes/app.ts', import.meta.url))

interface Running {
  readonly url: string
  /** Sends a signal, and answers with the exit code. */
  end(signal: 'SIGINT' | 'SIGTERM'): Promise<number | null>
}

const children: ChildProcess[] = []
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
})

/** Starts a program that prints its URL first. */
async function start(args: readonly string[], env: Record<string, string> = {}): Promise<Running> {
  const node = ['--disable-warning=ExperimentalWarning', '--conditions=@portcullis/source']
  const child = spawn(process.execPath, [...node, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  children.push(child)
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  return {
    url: line.toString().trim(),
    async end(signal) {
      child.kill(signal)
      await once(child, 'exit')
      return child.exitCode
    },
  }
}

const service = await start([PROGRAM, 'serve', '--port', '0'])
const env = { AUTH_URL: service.url, PORTCULLIS_URL: service.url, PASSWORD: 'demo' }
let app = await start([APP], { ...env, PORT: '0' })

async function portcullis(words: string, stdin = '') {
  const written = { stdout: '', stderr: '' }
  const exitCode = await run({
    args: words.split(' '),
    env,
    cwd: root,
    stdin: (async function* () {
      yield await Promise.resolve(stdin)
    })(),
    stdout: { write: (text) => (written.stdout += text) },
    stderr: { write: (text) => (written.stderr += text) },
    fetch: globalThis.fetch,
    clock: systemClock,
    signal: new AbortController().signal,
  })
  return { exitCode, ...written }
}

/** Over the control interface, since the words of a kind have spaces. */
const mint = async (kind?: string) => {
  const response = await fetch(`${service.url}/control/mint`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ kind }),
  })
  return ((await response.json()) as { token: string }).token
}

const call = async (token?: string) =>
  await fetch(app.url, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } })

/** How many there have been. */
const logins = async () => {
  const { stdout } = await portcullis('log')
  return stdout.split('\n').filter((line) => line.includes('token  200')).length
}

const curl = async (...args: readonly string[]) =>
  (await promisify(execFile)('curl', ['-s', ...args])).stdout

describe('the first ten minutes', { timeout: 60_000 }, () => {
  test('curl shows the key, and a login prints a token that explain says is ACCEPTED', async () => {
    const key: unknown = JSON.parse(await curl(`${service.url}/tokenservice/pubkey.json`))
    expect(key).toMatchObject({ kty: 'RSA', alg: 'RS512' })
    const { exitCode, stdout: token } = await portcullis('login --id demo --password-env PASSWORD')
    expect(exitCode).toBe(0)
    const explained = await portcullis('explain', token)
    expect(explained.exitCode).toBe(0)
    expect(explained.stdout).toMatch(/^ACCEPTED/)
  })

  test('an Express app of ten lines answers 401 without a token, and 200 with one', async () => {
    expect(await curl('-i', app.url)).toMatch(/^HTTP\/1\.1 401 .*www-authenticate: Bearer/is)
    const { stdout } = await portcullis('login --id demo --password-env PASSWORD')
    const answer = await curl('-H', `Authorization: Bearer ${stdout.trim()}`, app.url)
    expect(answer).toBe('{"hello":"demo"}')
  })

  test('after a rotation the app accepts the new token at the first try', async () => {
    expect((await portcullis('rotate')).exitCode).toBe(0)
    const { stdout } = await portcullis('mint')
    expect((await call(stdout.trim())).status).toBe(200)
  })

  test('after a roll-back it does so again', async () => {
    expect((await portcullis('rollback')).exitCode).toBe(0)
    // As if some seconds had passed: a token of a key that left a moment ago may be one from before.
    const iat = Math.floor(Date.now() / 1000) + 10
    const { stdout } = await portcullis(`mint --claim iat=${iat}`)
    expect((await call(stdout.trim())).status).toBe(200)
  })

  // Not before the rotations: so many forged tokens at once use up what an app may ask because of suspicious ones.
  test('of each bad kind, the answer of the app is the one that explain names', async () => {
    const { stdout } = await portcullis('mint --kinds')
    const kinds = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.slice(18))
    expect(kinds.length).toBeGreaterThan(40)
    for (const kind of kinds) {
      const token = await mint(kind)
      const { stdout: json, exitCode } = await portcullis('explain --json', token)
      const { refusal } = JSON.parse(json) as {
        refusal: { status: number; headers: Record<string, string> }
      }
      expect([kind, exitCode]).toEqual([kind, 1])
      const response = await call(token)
      const challenge = response.headers.get('www-authenticate')
      // Node itself answers what is too large for a header.
      const named =
        kind === 'too large'
          ? [431, null]
          : [refusal.status, refusal.headers['WWW-Authenticate'] ?? null]
      expect([kind, response.status, challenge]).toEqual([kind, ...named])
    }
  })

  test('with the key endpoint at 503 it goes on, and a new process answers 503 with Retry-After', async () => {
    expect((await portcullis('fault keys 503')).exitCode).toBe(0)
    const token = await mint()
    expect((await call(token)).status).toBe(200)
    await app.end('SIGTERM')
    app = await start([APP], { ...env, PORT: new URL(app.url).port })
    const response = await call(token)
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toMatch(/^\d+$/)
    expect((await portcullis('fault clear')).exitCode).toBe(0)
    const status = async () => (await call(token)).status
    await expect.poll(status, { timeout: 20_000, interval: 200 }).toBe(200)
  })

  test('twenty calls of a client at once: one login in the log', async () => {
    const before = await logins()
    await using client = createTokenClient({
      authUrl: service.url,
      loginId: 'demo',
      password: 'demo',
      origins: [app.url],
    })
    const calls = Array.from({ length: 20 }, async () => (await client.fetch(app.url)).status)
    expect(await Promise.all(calls)).toEqual(Array.from({ length: 20 }, () => 200))
    expect(await logins()).toBe(before + 1)
  })

  test('Ctrl-C ends the service with 0, and a command says that nothing answers', async () => {
    expect(await service.end('SIGINT')).toBe(0)
    const { exitCode, stderr } = await portcullis('rotate')
    expect(exitCode).toBe(3)
    expect(stderr).toContain('is `portcullis serve` running?')
  })
})

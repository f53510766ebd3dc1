import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { json } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { createTestIssuer, tokenService } from '@portcullis/testing'
import { afterAll, expect, onTestFinished, test } from 'vitest'

// The server as a process, and what an orchestrator does with it: it probes, and ends it.

const issuer = await createTestIssuer()
const service = await tokenService(issuer).listen()
const folder = mkdtempSync(join(tmpdir(), 'portcullis-server-'))
afterAll(async () => {
  await service.close()
  rmSync(folder, { recursive: true })
})

/** Until the end of the test, or until it is restored. */
function outage() {
  const begun = issuer.outage(503)
  onTestFinished(() => {
    begun.restore()
  })
  return begun
}

const programOf = (name: string) => fileURLToPath(new URL(`../src/${name}.ts`, import.meta.url))

async function start(environment: Readonly<Record<string, string>> = {}) {
  const args = ['--conditions=@portcullis/source', programOf('server')]
  const child = spawn(process.execPath, args, {
    env: { ...process.env, AUTH_URL: service.authUrl, PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const exited = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })
  const [url] = (await once(lines, 'line')) as [string]
  const probe = async (path: string) => (await fetch(`${url}${path}`)).status
  return { child, url, probe, exited }
}

type Running = Awaited<ReturnType<typeof start>>

async function becomesReady({ probe }: Running): Promise<void> {
  await expect.poll(async () => await probe('/readyz')).toBe(200)
}

/** A request of which half has been sent. */
async function openRequest({ url }: Running) {
  const headers = {
    authorization: `Bearer ${await issuer.token({ claims: { sub: 'ada' } })}`,
    'content-type': 'application/json',
    'content-length': 2,
    expect: '100-continue',
  }
  const sent = request(`${url}/v1/clientLocations`, { method: 'POST', headers })
  const answered = once(sent, 'response')
  answered.catch(() => undefined)
  // The server has read the headers then.
  await once(sent, 'continue')
  sent.write('{')
  return {
    async finish() {
      sent.end('}')
      const [response] = (await answered) as [NodeJS.ReadableStream & { statusCode: number }]
      return { status: response.statusCode, body: await json(response) }
    },
    answered,
  }
}

test('an outage of the issuer: a process that was ready stays alive and ready', async () => {
  const running = await start()
  await becomesReady(running)
  outage()
  expect([await running.probe('/livez'), await running.probe('/readyz')]).toEqual([200, 200])
})

test('started in an outage: alive and not ready, until the issuer is back', async () => {
  const begun = outage()
  const running = await start()
  for (let round = 0; round < 3; round += 1) {
    expect([await running.probe('/livez'), await running.probe('/readyz')]).toEqual([200, 503])
  }
  begun.restore()
  await becomesReady(running)
})

test('started in an outage with saved keys: ready', async () => {
  const KEYS_FILE = join(folder, 'keys.json')
  const env = { ...process.env, AUTH_URL: service.authUrl, KEYS_FILE }
  const args = ['--conditions=@portcullis/source', programOf('save-keys')]
  await promisify(execFile)(process.execPath, args, { env })
  outage()
  const running = await start({ KEYS_FILE })
  await becomesReady(running)
  const headers = { authorization: `Bearer ${await issuer.token()}` }
  const answer = await fetch(`${running.url}/v1/clientLocations`, { method: 'POST', headers })
  expect(answer.status).toBe(200)
})

test('with Redis out of reach it is alive and not ready: it cannot know what is revoked', async () => {
  const running = await start({ REDIS_URL: 'redis://127.0.0.1:1' })
  for (let round = 0; round < 3; round += 1) {
    expect([await running.probe('/livez'), await running.probe('/readyz')]).toEqual([200, 503])
  }
})

test('told to end: the open request is answered, new connections are refused, and the exit code is 0', async () => {
  const running = await start()
  await becomesReady(running)
  const open = await openRequest(running)
  running.child.kill('SIGTERM')
  await expect
    .poll(async () => await running.probe('/livez').catch(() => 'refused'))
    .toBe('refused')
  expect(running.child.exitCode).toBeNull()
  expect(await open.finish()).toMatchObject({ status: 200, body: { savedBy: 'ada' } })
  expect(await running.exited).toEqual([0, null])
})

test('told to end: a request that takes too long is cut off, and the process ends all the same', async () => {
  const running = await start({ GRACE_SECONDS: '0.5' })
  await becomesReady(running)
  const open = await openRequest(running)
  running.child.kill('SIGTERM')
  await expect(open.answered).rejects.toThrow('socket hang up')
  expect(await running.exited).toEqual([0, null])
})

test('told to end with nothing to do: it ends, also if clients keep connections', async () => {
  const running = await start()
  await becomesReady(running)
  running.child.kill('SIGTERM')
  expect(await running.exited).toEqual([0, null])
})

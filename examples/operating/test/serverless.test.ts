import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import type { KeysSnapshot } from '@portcullis/core'
import { createTestIssuer, tokenService } from '@portcullis/testing'
import { afterAll, expect, test, vi } from 'vitest'

// The snapshot is saved by a process of its own, as a deployment does it. Each import of the function is a cold start.

const folder = mkdtempSync(join(tmpdir(), 'portcullis-'))
const KEYS_FILE = join(folder, 'keys.json')
const issuer = await createTestIssuer()
const service = await tokenService(issuer).listen()
vi.stubEnv('AUTH_URL', service.authUrl)
vi.stubEnv('KEYS_FILE', KEYS_FILE)

afterAll(async () => {
  vi.unstubAllEnvs()
  await service.close()
  rmSync(folder, { recursive: true })
})

const saveKeys = fileURLToPath(new URL('../src/save-keys.ts', import.meta.url))

async function save(): Promise<void> {
  await promisify(execFile)(process.execPath, ['--conditions=@portcullis/source', saveKeys])
}

async function coldStart() {
  vi.resetModules()
  return (await import('../src/serverless.ts')).handler
}

async function requestWithToken(): Promise<Request> {
  const token = await issuer.token({ claims: { sub: 'ada' } })
  return new Request('https://api.test/', { headers: { authorization: `Bearer ${token}` } })
}

/** The requests that the key endpoint saw meanwhile. */
async function requestsDuring(act: () => Promise<void>): Promise<number> {
  const before = issuer.requests().length
  await act()
  return issuer.requests().length - before
}

test('a deployment saves the keys, and a cold start serves its first request with them, also in an outage', async () => {
  await save()
  const handler = await coldStart()
  const outage = issuer.outage('hang')
  const response = await handler(await requestWithToken())
  expect(await response.json()).toEqual({ savedBy: 'ada' })
  outage.restore()
})

test('the keys are fetched once behind the first request, and the platform can wait for that', async () => {
  await save()
  const handler = await coldStart()
  const waited: Promise<unknown>[] = []
  const context = { waitUntil: (work: Promise<unknown>) => void waited.push(work) }
  const requests = await requestsDuring(async () => {
    expect((await handler(await requestWithToken(), context)).status).toBe(200)
    expect((await handler(await requestWithToken(), context)).status).toBe(200)
    await Promise.all(waited)
  })
  expect(requests).toBe(1)
})

test.each([
  ['missing', undefined],
  ['broken', '{"version":1,'],
  ['of another service', JSON.stringify({ version: 1, url: 'https://other.test/key' })],
  ['empty', ''],
])('a file that is %s: the function starts, and fetches the keys', async (_title, text) => {
  if (text === undefined) rmSync(KEYS_FILE, { force: true })
  else writeFileSync(KEYS_FILE, text)
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  const handler = await coldStart()
  expect((await handler(await requestWithToken())).status).toBe(200)
  warn.mockRestore()
})

test('a request without a token is refused', async () => {
  const handler = await coldStart()
  expect((await handler(new Request('https://api.test/'))).status).toBe(401)
})

test('without keys nothing is saved, and the deployment learns of it', async () => {
  await save()
  const before = readFileSync(KEYS_FILE, 'utf8')
  const outage = issuer.outage(503)
  await expect(save()).rejects.toMatchObject({ code: 1 })
  outage.restore()
  expect(readFileSync(KEYS_FILE, 'utf8')).toBe(before)
  const { url } = JSON.parse(before) as KeysSnapshot
  expect(url).toBe(service.keyUrl)
})

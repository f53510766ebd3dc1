import { createHash } from 'node:crypto'

import { afterAll, expect, test } from 'vitest'

import { startRegistry } from './registry.ts'

// What package managers get of the registry of a rehearsal. It takes what npm sends, and refuses what a registry refuses.

const registry = await startRegistry('@acme')
afterAll(async () => {
  await registry[Symbol.asyncDispose]()
})

const TARBALL = Buffer.from('a tarball')
const PATH = '@acme%2fguards'

interface Sent {
  readonly name?: string
  readonly version?: string
  readonly tag?: string
  readonly integrity?: string
  readonly token?: string
}

async function publish(sent: Sent = {}, path = PATH): Promise<number> {
  const { name = '@acme/guards', version = '1.0.0', tag = 'rc', token = registry.token } = sent
  const digest = createHash('sha512').update(TARBALL).digest('base64')
  const { integrity = `sha512-${digest}` } = sent
  const body = {
    name,
    'dist-tags': { [tag]: version },
    versions: { [version]: { name, version, dist: { integrity, tarball: 'elsewhere' } } },
    _attachments: { [`${name}-${version}.tgz`]: { data: TARBALL.toString('base64') } },
  }
  const response = await fetch(`${registry.url}${path}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  })
  return response.status
}

async function packument(path = PATH): Promise<Response> {
  return await fetch(`${registry.url}${path}`)
}

test('the first version is latest whatever its tag, a later one has its own tag alone', async () => {
  expect(await publish({ version: '1.0.0-rc.1' })).toBe(201)
  expect(await publish({ version: '1.0.0-rc.2' })).toBe(201)
  const { 'dist-tags': tags, versions } = (await (await packument()).json()) as {
    'dist-tags': object
    versions: object
  }
  expect(tags).toEqual({ latest: '1.0.0-rc.1', rc: '1.0.0-rc.2' })
  expect(Object.keys(versions)).toEqual(['1.0.0-rc.1', '1.0.0-rc.2'])
})

test('a tarball is where the registry says, and is what was sent', async () => {
  await publish({ version: '1.1.0' })
  const { versions, time } = (await (await packument()).json()) as {
    versions: Record<string, { dist: { tarball: string } }>
    time: Record<string, string>
  }
  const url = versions['1.1.0']?.dist.tarball ?? ''
  expect(url).toBe(`${registry.url}@acme/guards/-/guards-1.1.0.tgz`)
  expect(Buffer.from(await (await fetch(url)).arrayBuffer())).toEqual(TARBALL)
  expect(Date.parse(time['1.1.0'] ?? '')).not.toBeNaN()
})

test.each<[what: string, sent: Sent, path: string, status: number]>([
  ['somebody else', { version: '2.0.0', token: 'guessed' }, PATH, 401],
  ['another package', { version: '2.0.0', name: '@acme/other' }, PATH, 400],
  ['another scope', { version: '2.0.0', name: '@other/guards' }, '@other%2fguards', 404],
  ['another tarball', { version: '2.0.0', integrity: 'sha512-AAAA' }, PATH, 400],
])('%s publishes nothing', async (_, sent, path, status) => {
  const before = [...registry.published]
  expect(await publish(sent, path)).toBe(status)
  expect(registry.published).toEqual(before)
})

test('a version that is there stays as it is', async () => {
  expect(await publish({ version: '3.0.0' })).toBe(201)
  expect(await publish({ version: '3.0.0' })).toBe(403)
  expect(registry.published.filter((each) => each === '@acme/guards@3.0.0')).toHaveLength(1)
})

test('what is no JSON is 400, and what is not there 404', async () => {
  const headers = { authorization: `Bearer ${registry.token}` }
  const broken = await fetch(`${registry.url}${PATH}`, { method: 'PUT', headers, body: '{' })
  expect(broken.status).toBe(400)
  expect((await packument('@acme%2fnothing')).status).toBe(404)
  expect((await packument('%')).status).toBe(400)
})

import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'

import { createVerifier } from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { adapters } from './frameworks/index.ts'

// A guard that a path leads to, and a router behind it: where the two take a path for different ones, a request gets around the guard.

/** Of `/v1/secret`. Some of them no framework takes for it, and then nothing is there. */
const SPELLINGS = [
  '/v1/secret',
  '/v1/secret/',
  '/v1/secret?v1',
  '/V1/secret',
  '/v1/SECRET',
  '/V1/SECRET',
  '//v1/secret',
  '/v1//secret',
  '/v1/./secret',
  '/v1/../v1/secret',
  '/%76%31/secret',
  '/v1/%73ecret',
  '/v1%2Fsecret',
  '/v1;a=b/secret',
  String.raw`/v1\secret`,
]

const issuer = await createTestIssuer()
const verifier = createVerifier(issuer.verifierOptions)
const bearer = await issuer.bearer()

/** As it is written: `fetch` would tidy the path. */
async function statusOf(port: number, path: string, headers: object = {}): Promise<number> {
  const request = get({ host: '127.0.0.1', port, path, headers: { ...headers }, agent: false })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode ?? 0
}

const mounts = adapters.flatMap(({ folder, mounts: each }) =>
  each.map((mount) => [`${folder}: ${mount.title}`, mount] as const),
)

describe.each(mounts)('%s', (_, { createListener, opens }) => {
  test(`opens ${opens.length === 0 ? 'no spelling of the path' : opens.join(' and ')}`, async () => {
    const listener = await createListener(verifier)
    const handle = (request: IncomingMessage, response: ServerResponse) =>
      void listener(request, response)
    await using server = createServer(handle).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo // it listens on a port
    expect(await statusOf(port, '/v1/secret', bearer)).toBe(200)
    const open: string[] = []
    for (const path of SPELLINGS) if ((await statusOf(port, path)) < 300) open.push(path)
    expect(open).toEqual(opens)
  })
})

test('every adapter with functions has a mount', () => {
  const without = adapters.filter(
    ({ functions, mounts: each }) => functions !== null && each.length === 0,
  )
  expect(without.map(({ folder }) => folder)).toEqual([])
})

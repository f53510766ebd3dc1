import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { authenticateRequest, createVerifier, dpopProofs, refusal } from '@portcullis/core'
import { createTestIssuer, tokenService } from '@portcullis/testing'
import { expect, onTestFinished, test } from 'vitest'

import { createTokenClient } from '../src/index.ts'

// What the client writes into its proofs is what our own guard wants to read: over a connection, since `fetch`, the wire and Node
// each write URLs and methods in their own way.

const issuer = await createTestIssuer({ algorithm: 'ES256' })
const service = tokenService(issuer)

async function setUp() {
  const verifier = createVerifier(issuer.verifierOptions)
  const server = createServer((request, response) => {
    void (async () => {
      try {
        await authenticateRequest(verifier, request, { dpop: dpopProofs({ origin }) })
        response.end('ok')
      } catch (error) {
        const answer = refusal(error)
        response.writeHead(answer?.status ?? 500).end(answer?.reason ?? String(error))
      }
    })()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo // of a server that listens on a port
  const origin = `http://127.0.0.1:${port}`
  const client = createTokenClient({
    ...issuer.clientOptions,
    fetch: async (url, init) =>
      url.startsWith(service.authUrl) ? await service.fetch(url, init) : await fetch(url, init),
    origins: [origin],
    dpop: true,
  })
  return { client, origin }
}

const PATHS = [
  '',
  '/',
  '//',
  '//evil.test/x',
  '/a/./b/../c',
  '/a/%2e%2E/b',
  '/a%2Fb%2fc',
  '/%7Euser/%41',
  '/~user/A',
  '/a b/\u{e4}/\u{1f600}',
  '/%C3%a4',
  "/a;b=c,d=e:f@g!$&()*+'",
  '/[x]{y}|^`"<>',
  '/back\\slash',
  '/tab\there',
  '/x?query=/..&a=%zz#fragment',
  '/?',
  '/#',
  '/x;?#?',
]

test('the guard takes the proof for each spelling of a URL', async () => {
  const { client, origin } = await setUp()
  const answers = await Promise.all(
    PATHS.map(async (path) => [path, await (await client.fetch(`${origin}${path}`)).text()]),
  )
  expect(answers).toEqual(PATHS.map((path) => [path, 'ok']))
})

test('the guard takes the proof for each spelling of the server', async () => {
  const { client, origin } = await setUp()
  const { port } = new URL(origin)
  const urls = [
    `HTTP://127.0.0.1:${port}/x`,
    `http://127.1:${port}/x`,
    `http://0x7f000001:0${port}/x`,
    new URL('/x', origin),
    new Request(`${origin}/x`, { method: 'put' }),
  ]
  const answers = await Promise.all(urls.map(async (url) => await (await client.fetch(url)).text()))
  expect(answers).toEqual(urls.map(() => 'ok'))
})

test.each(['get', 'Post', 'DELETE', 'options', 'PATCH', 'PROPFIND'])(
  'the guard takes the proof for the method %s',
  async (method) => {
    const { client, origin } = await setUp()
    expect(await (await client.fetch(`${origin}/x`, { method })).text()).toBe('ok')
  },
)

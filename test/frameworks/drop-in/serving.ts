import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

import { createVerifier, localKeys, remoteKeys } from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'
import { expect } from 'vitest'

const issuer = await createTestIssuer()
export const verifier = createVerifier({
  keys: localKeys(issuer.publicJwk),
  issuer: null,
  audience: null,
})
export const ada = await issuer.bearer({ claims: { sub: 'ada', scope: 'read' } })
export const bob = await issuer.bearer({ claims: { sub: 'bob', scope: 'read write' } })

export const CHALLENGE = 'Bearer realm="api"'
export const origin = 'https://web.test'
/** What the READMEs tell CORS middleware to expose. */
export const exposed = ['WWW-Authenticate', 'Retry-After']
/** A verifier that cannot get its keys. */
export const outage = createVerifier({
  keys: remoteKeys('https://auth.test/keys', { fetch: () => Promise.reject(new Error('down')) }),
  issuer: null,
  audience: null,
})
export const preflight = {
  method: 'OPTIONS',
  headers: {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization',
  },
}
export const brokenJson = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: '{',
}

export async function expectPreflightAndRefusal(url: string): Promise<void> {
  const allowed = await fetch(url, preflight)
  expect(allowed.status).toBe(204)
  expect(allowed.headers.get('access-control-allow-origin')).toBe(origin)
  const refused = await fetch(url, { method: 'POST', headers: { origin } })
  expect(refused.status).toBe(401)
  expect(refused.headers.get('www-authenticate')).toBe(CHALLENGE)
  expect(refused.headers.get('cache-control')).toBe('no-store')
  expect(refused.headers.get('access-control-allow-origin')).toBe(origin)
  expect(readable(refused)).toContain('www-authenticate')
}

/** An outage as a script of another origin sees it. */
export async function expectReadableOutage(url: string): Promise<void> {
  const unavailable = await fetch(url, { method: 'POST', headers: { ...ada, origin } })
  expect(unavailable.status).toBe(503)
  expect(unavailable.headers.get('access-control-allow-origin')).toBe(origin)
  expect(readable(unavailable)).toContain('retry-after')
}

/** The headers beyond the usual ones that a browser shows to a script of another origin. */
function readable({ headers }: Response): readonly string[] {
  const names = headers.get('access-control-expose-headers')?.toLowerCase().split(/ *, */) ?? []
  return names.filter((name) => headers.has(name))
}

export async function expectEcho(url: string): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...ada, 'content-type': 'application/json' },
    body: '{"place":"here"}',
  })
  expect(await response.json()).toEqual({ place: 'here' })
}

export async function serving(
  app: (...args: Parameters<RequestListener>) => unknown,
  use: (url: string) => Promise<void>,
): Promise<void> {
  const server = createServer((request, response) => {
    app(request, response)
  }).listen(0, '127.0.0.1')
  try {
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo // what a server on a port has
    await use(`http://127.0.0.1:${port}`)
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

export async function listening(
  app: { listen: (on: object) => Promise<string>; close: () => Promise<unknown> },
  use: (url: string) => Promise<void>,
): Promise<void> {
  try {
    await use(await app.listen({ port: 0, host: '127.0.0.1' }))
  } finally {
    await app.close()
  }
}

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import type { Binding } from '@portcullis/testing'

import { applications, type Side } from './applications.ts'
import type { Peer } from './peers.ts'
import type { PublishedKeys } from './published-keys.ts'

/** An application that listens, and tokens for it. */
export interface Api extends AsyncDisposable {
  readonly origin: string
  /** What listens, as its framework has it. */
  readonly app: object
  call(path: string, authorization?: string, method?: string, dpop?: string): Promise<Response>
  /** As the script of a page causes it, which sends a token. */
  preflight(path: string): Promise<Response>
  /** Of `ada`, who may write and delete, unless these claims say otherwise. */
  bearer(options?: BearerOptions): Promise<string>
}

interface BearerOptions {
  readonly claims?: Readonly<Record<string, unknown>>
  readonly omit?: readonly string[]
  readonly expiresIn?: number
  readonly boundTo?: Binding
}

export async function startApi(peer: Peer, side: Side, keys: PublishedKeys): Promise<Api> {
  const iss = `${keys.url}${peer.issuerPath}`
  const create = applications[peer.name]?.[side]
  if (create === undefined) throw new Error(`there is no application of ${peer.name}`)
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it listens on a port
  const origin = `http://127.0.0.1:${port}`
  const { app, listener } = await create(iss, origin)
  server.on('request', listener)
  return {
    origin,
    app,
    async call(path, authorization, method, dpop) {
      const headers = {
        ...(authorization === undefined ? {} : { authorization }),
        ...(dpop === undefined ? {} : { dpop }),
      }
      return await fetch(`${origin}${path}`, { method: method ?? 'GET', headers })
    },
    async preflight(path) {
      const headers = {
        origin: 'https://web.test',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization',
      }
      return await fetch(`${origin}${path}`, { method: 'OPTIONS', headers })
    },
    async bearer({ claims, ...options } = {}) {
      const usual = {
        iss,
        sub: 'ada',
        typ: 'Bearer', // of Keycloak
        scope: 'places:write',
        roles: ['admin'],
        realm_access: { roles: ['writer'] },
        resource_access: { places: { roles: ['admin'] } },
      }
      const token = await keys.issuer.token({ claims: { ...usual, ...claims }, ...options })
      return `Bearer ${token}`
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await server[Symbol.asyncDispose]()
    },
  }
}

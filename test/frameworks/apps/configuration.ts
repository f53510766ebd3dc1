import type { IncomingMessage, ServerResponse } from 'node:http'

import { createOAuthClient } from '@portcullis/client/oauth'
import type { Verifier, VerifierOptions } from '@portcullis/core'

// What an application has from elsewhere, and what apps.test.ts has of it.

/** What `node:http` serves, or what answers a `Request`. */
export type Served =
  | ((request: IncomingMessage, response: ServerResponse) => unknown)
  | { readonly fetch: (request: Request) => Response | Promise<Response> }

/** What the file of each framework exports as `applications`. */
export interface Applications {
  /** What the first half of the README says. */
  readonly plain: (verifier: Verifier) => Served | Promise<Served>
  /** What it says of schemas and, where there is middleware for that, of CORS. */
  readonly typed: (configuration: Configuration) => Served | Promise<Served>
  /** What it says of routes that are open. @throws Error for one that is open without being named. */
  readonly listed?: (verifier: Verifier, health: string) => void | Promise<void>
}

export type Configuration = Pick<VerifierOptions, 'keys' | 'issuer' | 'audience'>

interface Line {
  readonly code: string
  readonly reason: string
  readonly detail: string | undefined
}

/** What the applications have logged. */
export const logged: Line[] = []

function write(fields: Line & Readonly<Record<string, unknown>>, _text: string): void {
  logged.push(fields)
}

/** Takes what most loggers take. */
export const log = { info: write, warn: write }

/** Calls another service on behalf of a caller; the authorization server gives no token for that. */
export async function callOnwards(server: 'refuses' | 'is down'): Promise<string> {
  const tokens = createOAuthClient({
    tokenEndpoint: 'https://login.test/token',
    clientId: 'shop',
    clientSecret: 'secret',
    origins: [],
    // A server that is down is asked again until then. One that refuses has answered, however busy the machine is.
    timeout: server === 'refuses' ? 100 : 0.1,
    fetch: async () =>
      server === 'refuses'
        ? Response.json({ error: 'invalid_grant' }, { status: 400 })
        : new Response(null, { status: 503, headers: { 'retry-after': '7' } }),
  })
  return await tokens.onBehalfOf({ token: 'opaque', claims: {} }).get()
}

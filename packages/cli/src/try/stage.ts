import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

import { authenticateRequest, createVerifier, refusal, remoteKeys } from '@portcullis/core'
import type { Clock } from '@portcullis/kit/time'
import { createTestIssuer, tokenService } from '@portcullis/testing'
import { createRemoteJWKSet, customFetch, errors, jwtVerify } from 'jose'

import type { Fetch } from '../surroundings/surroundings.ts'
import type { NewKid } from './story.ts'
import type { Guard } from './tally.ts'

// The servers of `try`, on free ports: a token service, and an API with a guard of Portcullis and one of jose.

/** Where the token service has its key as a set: jose reads nothing else. */
const SET_PATH = '/keys'
const SIGNATURE_OCTETS = 256

export type Stage = Awaited<ReturnType<typeof createStage>>

/** @param asked Hears of each request for keys. */
export async function createStage(
  { clock, fetch, signal }: { clock: Clock; fetch: Fetch; signal: AbortSignal },
  asked: (guard: Guard) => void,
) {
  const issuer = await createTestIssuer({ clock, maxRequests: 1 })
  issuer.watchRequests(({ endpoint }) => {
    if (endpoint === 'keys') asked('portcullis')
  })
  const service = await tokenService(issuer).listen({
    routes(request) {
      if (new URL(request.url).pathname !== SET_PATH) return undefined
      asked('jose')
      const { keyDocument } = issuer
      return Response.json('keys' in keyDocument ? keyDocument : { keys: [keyDocument] })
    },
  })
  const guards = {
    portcullis: portcullisGuard(service.keyUrl, { clock, fetch }),
    jose: joseGuard(`${service.authUrl}${SET_PATH}`, fetch),
  }
  const api = createServer((request, response) => {
    const guard = request.url === '/jose' ? guards.jose : guards.portcullis
    void guard(request).then((status) => response.writeHead(status).end())
  }).listen(0, '127.0.0.1')
  await once(api, 'listening')
  const { port } = api.address() as AddressInfo // it listens on a port

  return {
    token: async () => await issuer.token({ claims: { sub: 'ada' } }),
    /** A genuine token with a signature that nobody made: that is also what tokens of a new key look like to a guard. */
    forge(genuine: string): string {
      const [header = '', payload = ''] = genuine.split('.')
      return `${header}.${payload}.${randomBytes(SIGNATURE_OCTETS).toString('base64url')}`
    },
    /** Calls the API. @returns The status of its answer. */
    async call(guard: Guard, token: string): Promise<number> {
      const headers = { authorization: `Bearer ${token}` }
      const { status, body } = await fetch(`http://127.0.0.1:${port}/${guard}`, { headers, signal })
      await body?.cancel()
      return status
    },
    async rotate(kid: NewKid): Promise<void> {
      await issuer.rotate({ kid })
    },
    async [Symbol.asyncDispose](): Promise<void> {
      api.close()
      api.closeAllConnections()
      await service.close()
    },
  }
}

type Guarding = (request: IncomingMessage) => Promise<number>

function portcullisGuard(keyUrl: string, seams: { clock: Clock; fetch: Fetch }): Guarding {
  const keys = remoteKeys(keyUrl, seams)
  const verifier = createVerifier({ keys, issuer: null, audience: null, clock: seams.clock })
  return async (request) => {
    try {
      await authenticateRequest(verifier, request)
      return 200
    } catch (error) {
      return refusal(error)?.status ?? 500
    }
  }
}

/** With the defaults of jose, and the checks that Portcullis makes by default. */
function joseGuard(setUrl: string, fetch: Fetch): Guarding {
  const keys = createRemoteJWKSet(new URL(setUrl), { [customFetch]: fetch })
  return async ({ headers }) => {
    try {
      const token = headers.authorization?.replace('Bearer ', '') ?? ''
      await jwtVerify(token, keys, {
        algorithms: ['RS512'],
        requiredClaims: ['exp'],
        clockTolerance: 5,
      })
      return 200
    } catch (error) {
      return error instanceof errors.JOSEError ? 401 : 500
    }
  }
}

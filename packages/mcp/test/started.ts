import { connect } from 'node:net'

import { type AuthError, createVerifier, scope, type Verifier } from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'

import type { EndpointOptions } from '../src/index.ts'
import { type Create, type Handle, type Listening, listening, type Seen } from './forms.ts'

// An endpoint of each form for one resource, and tokens for it.

export const RESOURCE = 'https://mcp.test/tenant/mcp'
export const PATH = '/tenant/mcp'
export const METADATA = '/.well-known/oauth-protected-resource/tenant/mcp'
/** What every challenge says. */
export const CHALLENGE = `resource_metadata="https://mcp.test${METADATA}"`

export const issuer = await createTestIssuer({ issuer: 'https://auth.test', audience: RESOURCE })
const verifier = createVerifier(issuer.verifierOptions)

const STATED: EndpointOptions = {
  resource: RESOURCE,
  authorizationServers: ['https://auth.test'],
  requirement: scope('tools'),
}

/** Headers with a token that has all that the endpoint wants. */
export async function bearer(
  claims: Record<string, unknown> = {},
): Promise<Record<string, string>> {
  const all = { sub: 'ada', client_id: 'agent', scope: 'tools', ...claims }
  return { ...(await issuer.bearer({ claims: all })) }
}

export interface Started extends Listening {
  readonly seen: readonly Seen[]
  readonly refused: readonly AuthError[]
  ask(path: string, init?: RequestInit): Promise<Response>
}

/** What a test has of its own: the verifier, and what is behind the endpoint. */
interface Behind {
  readonly by?: Verifier<unknown>
  readonly handle?: Handle
}

export function starting(create: Create) {
  return async (
    options: Partial<EndpointOptions> = {},
    { by = verifier, handle = () => ({}) }: Behind = {},
  ): Promise<Started> => {
    const seen: Seen[] = []
    const refused: AuthError[] = []
    const all = { ...STATED, onRefusal: (error: AuthError) => refused.push(error), ...options }
    const served = await listening(
      create(by, all, (each) => {
        seen.push(each)
        return handle(each)
      }),
    )
    const ask = async (path: string, init: RequestInit = {}) =>
      await fetch(`${served.url}${path}`, init)
    return { ...served, seen, refused, ask, [Symbol.asyncDispose]: served[Symbol.asyncDispose] }
  }
}

/** Sends what `fetch` would not send. */
export async function raw(port: number, head: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(`${head}Connection: close\r\n\r\n`)
  const chunks = (await socket.toArray()) as Buffer[] // it has no encoding
  return Buffer.concat(chunks).toString()
}

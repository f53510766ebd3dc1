import {
  createTestIssuer,
  type ManualClock,
  manualClock,
  type TestIssuer,
  type TokenOptions,
} from '@portcullis/testing'

import {
  createVerifier,
  type RemoteKeys,
  remoteKeys,
  type RemoteKeysOptions,
  type VerifierOptions,
} from '../../src/index.ts'
import { type KeySourceMethods, methodsOf } from '../../src/keys/key-source.ts'

// A verifier, its key cache and a key endpoint. Time is virtual, and so is the network.

/** A key endpoint that answers when it is told to. */
interface Endpoint {
  /** What it serves, and how. */
  document: unknown
  headers: Record<string, string>
  mode: 'up' | 'down' | 'hanging'
  /** How long an answer takes that is on its way, in seconds. It has what was served when it was asked for. */
  delay: number
  /** When requests came: monotonic seconds. */
  readonly requests: number[]
  /** Lets the oldest request that hangs have an answer: what is served now, or what is given. */
  release: (document?: unknown) => void
}

export interface World {
  readonly clock: ManualClock
  readonly endpoint: Endpoint
  readonly keys: RemoteKeys & KeySourceMethods
  /** The verdict on a token: `accepted`, or the reason of the refusal. */
  readonly verdict: (token: string, signal?: AbortSignal) => Promise<string>
  /** The status code of the refusal, with `Retry-After`. */
  readonly refusal: (token: string) => Promise<string>
}

export function world(
  options: RemoteKeysOptions = {},
  rules: Partial<VerifierOptions> = {},
): World {
  const clock = manualClock()
  const held: ((document: unknown) => void)[] = []
  const endpoint: Endpoint = {
    document: A.publicJwk,
    headers: {},
    mode: 'up',
    delay: 0,
    requests: [],
    release: (document) => held.shift()?.(document ?? endpoint.document),
  }
  const source = remoteKeys('https://auth.test/tokenservice/pubkey.json', {
    clock,
    async fetch() {
      endpoint.requests.push(clock.monotonic())
      const { document, headers, mode, delay } = endpoint
      if (mode === 'hanging') {
        return await new Promise((resolve) => {
          held.push((given) => {
            resolve(Response.json(given, { headers }))
          })
        })
      }
      if (delay > 0) {
        await new Promise<void>((resolve) => {
          clock.after(delay, resolve)
        })
      }
      if (mode === 'down') return new Response(null, { status: 500, headers })
      return Response.json(document, { headers })
    },
    ...options,
  })
  const keys = methodsOf(source)
  const verifier = createVerifier({ keys, issuer: null, audience: null, clock, ...rules })
  const judge = async (token: string, signal?: AbortSignal) =>
    await verifier.verify(token, { signal }).then(
      () => ({ reason: 'accepted', status: 200, headers: {} }),
      (error: unknown) => error as { reason: string; status: number; headers: object },
    )
  return {
    clock,
    endpoint,
    keys,
    verdict: async (token, signal) => (await judge(token, signal)).reason,
    async refusal(token) {
      const { status, headers } = await judge(token)
      return [status, ...Object.entries(headers).filter(([name]) => name === 'Retry-After')].join(
        ' ',
      )
    },
  }
}

/** For as long as the longest test. */
export async function issuer(): Promise<TestIssuer> {
  return await createTestIssuer({ clock: manualClock(), lifetime: 100_000 })
}

/** A token with a number of its own, issued when the worlds begin. */
export async function tokenOf(
  from: TestIssuer,
  { claims, ...options }: TokenOptions = {},
): Promise<string> {
  return await from.token({ ...options, claims: { jti: String(Math.random()), ...claims } })
}

/** Another forged token each time, which costs no signature. */
export function forgery(header: object = {}): string {
  const [, payload, signature] = forged.split('.')
  const encoded = JSON.stringify({ alg: 'RS512', n: Math.random(), ...header })
  return [Buffer.from(encoded).toString('base64url'), payload, signature].join('.')
}

export const [A, B, C, stranger] = await Promise.all([issuer(), issuer(), issuer(), issuer()])

export const [oldToken, newToken, forged] = await Promise.all([
  tokenOf(A),
  tokenOf(B),
  tokenOf(stranger),
])

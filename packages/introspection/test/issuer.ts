import { AuthError } from '@portcullis/core'
import { type ManualClock, manualClock } from '@portcullis/testing'

import { introspected, type IntrospectedOptions } from '../src/index.ts'

// An issuer of opaque tokens that answers as a test says, and the verifier that asks it.

export const ISSUER = 'https://issuer.test'
export const START = 1_795_341_600
const ENDPOINT = `${ISSUER}/introspect`

export const METADATA = { issuer: ISSUER, introspection_endpoint: ENDPOINT }

interface Asked {
  readonly url: string
  readonly token: string | null
  readonly headers: Headers
  readonly body: URLSearchParams
  /** Aborted when nobody wants the answer any more. */
  readonly signal: AbortSignal | null | undefined
}

/** What is answered to a question about a token. */
type AnswerOf = (token: string) => Response | Promise<Response>

export interface Issuer {
  /** Each request for a token. */
  readonly asked: readonly Asked[]
  readonly metadataReads: readonly string[]
  /** Tokens that are active, and what is said of them. */
  readonly tokens: Map<string, object>
  answer: AnswerOf
  metadata: (url: string) => Response | Promise<Response>
  readonly fetch: NonNullable<IntrospectedOptions['fetch']>
}

export function createIssuer(): Issuer {
  const asked: Asked[] = []
  const metadataReads: string[] = []
  const tokens = new Map<string, object>()
  const issuer: Issuer = {
    asked,
    metadataReads,
    tokens,
    answer: (token) => {
      const claims = tokens.get(token)
      return Response.json(claims === undefined ? { active: false } : { active: true, ...claims })
    },
    metadata: () => Response.json(METADATA),
    async fetch(url, init) {
      if (init.method === 'GET') {
        metadataReads.push(url)
        return await issuer.metadata(url)
      }
      const body = new URLSearchParams(init.body)
      const token = body.get('token')
      asked.push({ url, token, headers: new Headers(init.headers), body, signal: init.signal })
      return await issuer.answer(token ?? '')
    },
  }
  return issuer
}

export function setUp(options: Partial<IntrospectedOptions> = {}) {
  const clock: ManualClock = manualClock(START)
  const issuer = createIssuer()
  const usual = {
    issuer: ISSUER,
    audience: null,
    clientId: 'api',
    clientSecret: 'secret',
    endpoint: ENDPOINT,
    fetch: issuer.fetch,
    clock,
  }
  const create = (more: Partial<IntrospectedOptions> = {}) =>
    introspected({ ...usual, ...options, ...more })
  return { clock, issuer, usual, create, verifier: create() }
}

/** The claims of an answer that is accepted. */
export function claimsWith(more: object = {}): object {
  return { iss: ISSUER, sub: 'ada', token_type: 'Bearer', ...more }
}

/** A promise that a test resolves. */
export function held<Value>() {
  const settled: { with?: (value: Value) => void } = {}
  const promise = new Promise<Value>((resolve) => {
    settled.with = resolve
  })
  return { promise, resolve: (value: Value) => settled.with?.(value) }
}

/** Lets what was resolved go on. */
export async function settle(): Promise<void> {
  await new Promise<void>((resolve) => {
    setImmediate(resolve)
  })
}

/** `code reason` of a refusal, or `accepted`. */
export async function wordOf(verdict: Promise<unknown>): Promise<string> {
  try {
    await verdict
    return 'accepted'
  } catch (error) {
    if (error instanceof AuthError) return `${error.code} ${error.reason}`
    throw error
  }
}

export async function refusalOf(verdict: Promise<unknown>): Promise<AuthError> {
  try {
    await verdict
  } catch (error) {
    if (error instanceof AuthError) return error
    throw error
  }
  throw new Error('accepted')
}

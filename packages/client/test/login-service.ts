import { setImmediate } from 'node:timers/promises'

import { manualClock, type ManualClock } from '@portcullis/testing'

import { createTokenClient, type TokenClient, type TokenClientOptions } from '../src/index.ts'

// A token service for tests that decide every answer, in virtual time. Its tokens are well-formed, with no real signature.

interface LoginRequest {
  /** By the monotonic clock. */
  readonly time: number
  readonly url: string
  readonly init: RequestInit
}

type Answer = (request: LoginRequest) => Response | Promise<Response>

export interface LoginService {
  readonly clock: ManualClock
  readonly fetch: (url: string, init?: RequestInit) => Promise<Response>
  readonly requests: readonly LoginRequest[]
  /** The tokens that it gave, in their order. */
  readonly tokens: readonly string[]
  /** How each request is answered from now on. */
  answer: Answer
  /** Answers with a new token for so many seconds. */
  token(lifetime?: number): Response
}

export function createLoginService(): LoginService {
  const clock = manualClock()
  const requests: LoginRequest[] = []
  const tokens: string[] = []
  const service: LoginService = {
    clock,
    requests,
    tokens,
    answer: () => service.token(),
    token(lifetime = 300) {
      const token = jws({ exp: clock.now() + lifetime, jti: tokens.length })
      tokens.push(token)
      return new Response(token, { headers: { date: httpDate(clock.now()) } })
    },
    async fetch(url, init = {}) {
      const request = { time: clock.monotonic(), url, init }
      requests.push(request)
      return await service.answer(request)
    },
  }
  return service
}

export function createClient(
  service: LoginService,
  options: Partial<TokenClientOptions> = {},
): TokenClient {
  const { clock, fetch } = service
  return createTokenClient({
    authUrl: 'https://auth.test',
    loginId: 'demo',
    password: 'secret',
    origins: ['https://api.test'],
    clock,
    fetch,
    ...options,
  })
}

/** A text with the form of a token and with these claims; the signature is not real. */
export function jws(claims: object): string {
  const header = { alg: 'RS512', typ: 'JWT' }
  return [header, claims, 'signature'].map((part) => encode(part)).join('.')
}

export function httpDate(seconds: number): string {
  return new Date(seconds * 1000).toUTCString()
}

/** Answers after so many seconds, unless the request is aborted before. */
export function late(service: LoginService, seconds: number, then: Answer): Answer {
  return async (request) => {
    await new Promise<void>((resolve, reject) => {
      const cancel = service.clock.after(seconds, resolve)
      request.init.signal?.addEventListener('abort', () => {
        cancel()
        reject(new DOMException('aborted', 'AbortError'))
      })
    })
    return await then(request)
  }
}

/** Never settles, whatever its signal says. */
export async function hang(): Promise<never> {
  return await new Promise<never>(() => undefined)
}

/** What a promise has settled with, or `pending`, after every other promise has gone on as far as it can. */
export async function stateOf(promise: Promise<unknown>): Promise<unknown> {
  let state: unknown = 'pending'
  promise.then(
    (value) => (state = value),
    (error: unknown) => (state = error),
  )
  await setImmediate()
  return state
}

function encode(part: unknown): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}

/** What a promise is rejected with. It is listened to at once, so that no rejection is unhandled. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    (value) => {
      throw new Error(`it did not fail, but gave ${String(value)}`)
    },
    (error: unknown) => error,
  )
}

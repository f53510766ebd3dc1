import { elapsed, instant } from '@portcullis/kit/time'

import { TokenClientError } from '../answer/errors.ts'
import {
  type LoginProgress,
  requestToken,
  sleep,
  type TokenAnswer,
  type TokenEndpoint,
} from '../request/token-request.ts'
import type { Closing } from '../waiting/abort.ts'

// What belongs to one login: the pause before it, its deadline, and the check of the token that it brings.

export interface TokenVerifier {
  /** @param options With `dpop`: the thumbprint of the key that the token must be bound to. */
  verify(token: string, options?: { possession: { jkt: string } }): Promise<unknown>
}

export interface LoginPlan {
  readonly endpoint: TokenEndpoint
  /** Seconds, from the end of the pause. */
  readonly timeout: number
  readonly verifier: TokenVerifier | undefined
  readonly closing: Closing
}

/** The deadline begins after the pause: otherwise a short one would pass before the first request. @throws TokenClientError */
export async function logIn(
  { endpoint, timeout, verifier, closing }: LoginPlan,
  pause: number,
  progress: LoginProgress,
): Promise<TokenAnswer> {
  const { clock } = endpoint
  const ending = new AbortController()
  const { signal } = ending
  // An injected `fetch` may ignore its signal, so this promise ends the login at the deadline.
  const ended = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => {
      reject(signal.reason as TokenClientError /* every `abort` below gives one */)
    })
  })
  let cancel: (() => void) | undefined
  const close = () => {
    ending.abort(new TokenClientError('aborted', 'the client was closed'))
  }
  const stop = closing.onClose(close)
  async function run(): Promise<TokenAnswer> {
    if (pause > 0) await sleep(clock, pause, signal)
    const message = `the token service gave no token in ${timeout} s`
    cancel = clock.after(timeout, () => {
      ending.abort(new TokenClientError('timeout', message))
    })
    const endsAt = clock.monotonic() + timeout
    const answer = await requestToken(endpoint, progress, endsAt, signal)
    const jkt = await endpoint.dpop?.jkt()
    await checkUsable(answer, elapsed(answer.receivedAt, instant(clock)), verifier, jkt)
    return answer
  }
  try {
    return await Promise.race([run(), ended])
  } finally {
    cancel?.()
    stop()
    ending.abort(new TokenClientError('aborted', 'the login is over'))
  }
}

/** @param age Seconds since the answer began: a body may come slowly. */
async function checkUsable(
  { token, lifetime, isBoundTo }: TokenAnswer,
  age: number,
  verifier: TokenVerifier | undefined,
  jkt: string | undefined,
): Promise<void> {
  if (lifetime !== undefined && lifetime <= age) {
    const message = 'the token service gave a token that has expired by our clock (see clockSkew)'
    throw new TokenClientError('token_unusable', message)
  }
  // Whoever asks for bound tokens must not be given tokens that work for everybody.
  if (jkt !== undefined && !isBoundTo(jkt)) {
    const message =
      'the token service gave a token that is not bound to the key of the DPoP proof: does it know DPoP?'
    throw new TokenClientError('token_unusable', message)
  }
  try {
    if (jkt === undefined) await verifier?.verify(token)
    else await verifier?.verify(token, { possession: { jkt } })
  } catch (error) {
    if (wordOf(error, 'code') === 'keys_unavailable') {
      const message = 'the new token could not be verified: there are no keys to judge it by'
      throw new TokenClientError('service_unavailable', message)
    }
    const reason = wordOf(error, 'reason') ?? wordOf(error, 'code') ?? 'no reason given'
    throw new TokenClientError('token_unusable', `the verifier refused the new token: ${reason}`)
  }
}

/** A code such as `signature`. Other texts of an error are left out, since they may quote the token. */
function wordOf(error: unknown, name: 'code' | 'reason'): string | undefined {
  const value: unknown = Reflect.get(Object(error), name)
  return typeof value === 'string' && /^[a-z_]{1,40}$/i.test(value) ? value : undefined
}

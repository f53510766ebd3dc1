import { channel } from 'node:diagnostics_channel'

import { debug } from '@portcullis/kit/report'

import type { TokenClientErrorCode } from '../answer/errors.ts'

// What is told of each login that ended: the channel `portcullis:login`, and a line for NODE_DEBUG=portcullis.

/** The result of a login, on the channel `portcullis:login`. It contains no credential, token or URL. Times are seconds. */
export interface LoginMessage {
  /** What `createTokenClient` returned, to tell several clients apart. */
  readonly client: object
  /** `exchange`: a token on behalf of a caller (`onBehalfOf`). `login`: one of the client itself. */
  readonly kind: 'login' | 'exchange'
  readonly outcome: 'success' | TokenClientErrorCode
  /** What went wrong, in words. */
  readonly detail: string | undefined
  /** How many requests the login needed. */
  readonly requests: number
  readonly duration: number
  /** How long it takes until the new token expires. */
  readonly expiresIn: number | undefined
  /** How far the service's clock is ahead of ours, if that is more than 30 s. More than five minutes is not corrected. */
  readonly clockSkew: number | undefined
}

const logins = channel('portcullis:login')

export function publishLogin(message: LoginMessage): void {
  if (logins.hasSubscribers) logins.publish(message)
  debug(() => lineOf(message))
}

function lineOf({ kind, outcome, detail, requests, duration, expiresIn }: LoginMessage): string {
  const what = detail ?? `the token expires in ${expiresIn?.toFixed(0) ?? '?'} s`
  const took = `${requests} ${requests === 1 ? 'request' : 'requests'}, ${(duration * 1000).toFixed(1)} ms`
  return `${kind}: ${outcome}: ${what} (${took})`
}

import { channel } from 'node:diagnostics_channel'

import type { TokenClientErrorCode } from './errors.ts'

// The channel `portcullis:login` of node:diagnostics_channel, which says how each login ended.

/** The result of a login, on the channel `portcullis:login`. It contains no credential, token or URL. Times are seconds. */
export interface LoginMessage {
  /** What `createTokenClient` returned, to tell several clients apart. */
  readonly client: object
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
}

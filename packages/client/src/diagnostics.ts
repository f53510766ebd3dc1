import { channel } from 'node:diagnostics_channel'

import type { TokenClientErrorCode } from './errors.ts'

/** One login that has ended, on the channel `portcullis:login`. No credential, token or URL. Times are seconds. */
export interface LoginMessage {
  /** What `createTokenClient` returned, to tell several clients apart. */
  readonly client: object
  readonly outcome: 'success' | TokenClientErrorCode
  /** What went wrong, in words. */
  readonly detail: string | undefined
  /** Requests that it took. */
  readonly requests: number
  readonly duration: number
  /** Until the new token expires. */
  readonly expiresIn: number | undefined
  /** How far the service's clock is ahead of ours, where that is more than 30 s. More than five minutes is not corrected. */
  readonly clockSkew: number | undefined
}

const logins = channel('portcullis:login')

export function publishLogin(message: LoginMessage): void {
  if (logins.hasSubscribers) logins.publish(message)
}

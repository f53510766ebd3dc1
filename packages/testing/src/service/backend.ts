import type { Clock } from '../clock.ts'
import type { KeyRotation } from '../keys/key-rotation.ts'
import type { SigningKey } from '../keys/signing-key.ts'
import type { TokenDefaults, TokenOptions } from '../tokens/token.ts'
import type { Outages } from './outage.ts'
import type { RequestLog } from './request-log.ts'

// Joins a token service to its issuer, and gives the issuer no further public members.

export interface Backend {
  readonly clock: Clock
  readonly keys: KeyRotation
  readonly outages: Outages
  readonly log: RequestLog
  readonly token: (options: TokenOptions) => Promise<string>
  readonly defaults: TokenDefaults
  readonly stranger: () => Promise<SigningKey>
}

const backends = new WeakMap<object, Backend>()

export function connectBackend(issuer: object, backend: Backend): void {
  backends.set(issuer, backend)
}

/** @throws TypeError for anything that `createTestIssuer` did not return. */
export function backendOf(caller: string, issuer: object): Backend {
  const backend = backends.get(issuer)
  if (backend === undefined) {
    throw new TypeError(`${caller}: the first argument must come from createTestIssuer`)
  }
  return backend
}

import { localKeys } from '@portcullis/core'
import { createTestIssuer, eventTransmitter, manualClock } from '@portcullis/testing'
import fc from 'fast-check'

import { AUDIENCE, ISSUER } from './scene.ts'

// What the models of events have in common: an issuer, a forger, and how many random sequences are played.

const USERS = ['ada', 'bob', 'eve'] as const
export type User = (typeof USERS)[number]

export const user = fc.constantFrom(...USERS)

/**
 * An issuer that need not show the same time as our clock, strangers whom it also serves, and a forger. Each test has its own: a
 * run that is interrupted when its minutes are over still goes on for a while.
 */
export async function modelScene() {
  const clock = manualClock()
  const issuerClock = manualClock()
  const signer = { clock: issuerClock, issuer: ISSUER, algorithm: 'ES256' } as const
  const [issuer, forger] = [await createTestIssuer(signer), await createTestIssuer(signer)]
  return {
    clock,
    issuerClock,
    newTransmitter: () => eventTransmitter(issuer, { audience: AUDIENCE }),
    transmitter: eventTransmitter(issuer, { audience: AUDIENCE }),
    strangers: eventTransmitter(issuer, { audience: 'somebody else' }),
    forgery: eventTransmitter(forger, { audience: AUDIENCE }),
    /** No key is fetched: what waits for keys is the matter of core. */
    keys: localKeys(issuer.publicJwk),
  }
}

export type ModelScene = Awaited<ReturnType<typeof modelScene>>

let named = 0

export function eventOf(told: User, event: Readonly<Record<string, unknown>> = {}) {
  named += 1
  const jti = `j-${named}`
  const subject = { format: 'iss_sub', iss: ISSUER, sub: told }
  return { type: 'session-revoked', subject, event, claims: { jti } }
}

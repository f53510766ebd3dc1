import { localKeys } from '@portcullis/core'
import { createTestIssuer, eventTransmitter, manualClock } from '@portcullis/testing'
import fc from 'fast-check'

import { AUDIENCE, ISSUER } from './scene.ts'

// What the models of events have in common: an issuer, a forger, and how many random sequences are played.

const USERS = ['ada', 'bob', 'eve'] as const
export type User = (typeof USERS)[number]

export const user = fc.constantFrom(...USERS)

/** For how long random sequences are played, in place of the usual number of them. */
const minutes = Number(process.env['MODEL_MINUTES'] ?? 0)
export const LIMIT = 20_000 + minutes * 90_000
export const runs = (usual: number) =>
  minutes > 0
    ? { numRuns: 1e9, interruptAfterTimeLimit: minutes * 60_000, markInterruptAsFailure: false }
    : { numRuns: usual }

export const clock = manualClock()
/** Of the issuer, which need not show what ours does. */
export const issuerClock = manualClock()
export const issuer = await createTestIssuer({
  clock: issuerClock,
  issuer: ISSUER,
  algorithm: 'ES256',
})
const forger = await createTestIssuer({ clock: issuerClock, issuer: ISSUER, algorithm: 'ES256' })
export const transmitter = eventTransmitter(issuer, { audience: AUDIENCE })
export const strangers = eventTransmitter(issuer, { audience: 'somebody else' })
export const forgery = eventTransmitter(forger, { audience: AUDIENCE })
/** No key is fetched: what waits for keys is the matter of core. */
export const keys = localKeys(issuer.publicJwk)
let named = 0

export function eventOf(told: User) {
  named += 1
  const jti = `j-${named}`
  const subject = { format: 'iss_sub', iss: ISSUER, sub: told }
  return { type: 'session-revoked', subject, claims: { jti } }
}

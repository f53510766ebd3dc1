import {
  createTestIssuer,
  manualClock,
  type ManualClock,
  type TestIssuer,
} from '@portcullis/testing'

import { createKeyEndpoint, type KeyEndpoint } from './key-endpoint.ts'
import type { Peer, PeerFactory, Verification } from './peers.ts'
import { type Random, seededRandom } from './random.ts'
import { documentedKey, type Naming, signedToken } from './tokens.ts'

// Portcullis and jose behind the same key endpoint, in virtual time. Only a process of its own may import this: it replaces
// the time and the random numbers of the whole process.

export const SEED = 20_260_101
export const random: Random = seededRandom(SEED)
export const clock: ManualClock = manualClock()

// Nothing else drives jose: `cooldownDuration` and `cacheMaxAge` are measured with Date.now() alone.
Date.now = () => clock.now() * 1000
// Portcullis draws its jitter from it, and a bench has to print the same in every run.
Math.random = random

export const oldIssuer: TestIssuer = await createTestIssuer({ clock })
export const newIssuer: TestIssuer = await createTestIssuer({ clock })

/** A peer behind an endpoint that serves the old key. */
export interface Setting {
  readonly peer: Peer
  readonly endpoint: KeyEndpoint
  readonly naming: Naming
}

export function createSetting(factory: PeerFactory, naming: Naming = 'own kid'): Setting {
  const endpoint = createKeyEndpoint(clock)
  const peer = factory(endpoint, clock)
  const setting = { peer, endpoint, naming }
  serve(setting, oldIssuer)
  return setting
}

/** The same, when the keys have just been fetched. */
export async function createWarmSetting(factory: PeerFactory, naming?: Naming): Promise<Setting> {
  const setting = createSetting(factory, naming)
  const { verdict } = await verifyGenuine(setting, oldIssuer)
  if (verdict !== 'accepted') throw new Error(`${setting.peer.name} is not ready: ${verdict}`)
  return setting
}

export function serve({ peer, endpoint, naming }: Setting, issuer: TestIssuer): void {
  endpoint.serve(peer.document(documentedKey(issuer, naming)))
}

export interface Outcome {
  readonly verdict: string
  /** How long it waited for keys. Seconds. */
  readonly waited: number
}

export async function verifyGenuine(setting: Setting, issuer: TestIssuer): Promise<Outcome> {
  const token = await signedToken(issuer, setting.naming)
  return await outcomeOf(setting, setting.peer.verify(token))
}

/** Moves the clock only while the verification waits for it: what jose leaves to WebCrypto takes no virtual time. */
export async function outcomeOf(
  { peer, endpoint }: Setting,
  { startedAt, verdict, keysKnownAt }: Verification,
): Promise<Outcome> {
  await clock.advance(0)
  let knownAt = keysKnownAt()
  while (knownAt === undefined) {
    await clock.advance(peer.hasTimers || endpoint.pending() > 0 ? 0.01 : 0)
    knownAt = keysKnownAt()
  }
  return { verdict: await verdict, waited: knownAt - startedAt }
}

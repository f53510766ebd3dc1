import type { JWK } from 'jose'

import type { Clock } from '../clock.ts'
import type { SigningKey } from './signing-key.ts'

// Records when each key was published and when it signed, such as for the keys that `serve` shows.

/** When a key was published and used. There are several phases if a rotation was rolled back. */
export interface KeyPhases {
  /** RFC 7638. It identifies the key even if several keys have the same `kid` or none. */
  readonly thumbprint: string
  readonly publicJwk: Readonly<JWK>
  /** When it was in the key document: seconds since 1970-01-01T00:00:00Z, by the issuer's clock. */
  readonly published: readonly {
    readonly from: number
    /** `undefined` if it has not ended. */
    readonly until: number | undefined
  }[]
  /** When it signed the tokens. */
  readonly signing: KeyPhases['published']
}

type Phases = KeyPhases['published']

interface Recorded {
  readonly thumbprint: string
  readonly publicJwk: Readonly<JWK>
  published: Phases
  signing: Phases
  /** The last change until which it was in use. */
  lastUse: number
}

export interface KeyRecord {
  note(signing: SigningKey, published: readonly SigningKey[]): void
  copy(): readonly KeyPhases[]
}

/** Of keys, and of the phases of each. */
const MAX_RECORDED = 100

/** The newest keys, in the order in which they appeared. */
export function createKeyRecord(clock: Clock): KeyRecord {
  const keys = new Map<SigningKey, Recorded>()
  let changes = 0

  /** The key that has been out of use for longest: a roll-back may bring back the others. */
  function drop(): void {
    let oldest: SigningKey | undefined
    let lastUse = changes
    for (const [key, recorded] of keys) {
      if (recorded.lastUse < lastUse) [oldest, lastUse] = [key, recorded.lastUse]
    }
    if (oldest !== undefined) keys.delete(oldest)
  }

  return {
    note(signing, published) {
      const now = clock.now()
      changes += 1
      for (const key of [...published, signing]) {
        const recorded = keys.get(key)
        const { thumbprint, publicJwk } = key
        if (recorded !== undefined) recorded.lastUse = changes
        else keys.set(key, { thumbprint, publicJwk, published: [], signing: [], lastUse: changes })
      }
      for (const [key, recorded] of keys) {
        recorded.published = continued(recorded.published, published.includes(key), now)
        recorded.signing = continued(recorded.signing, key === signing, now)
      }
      if (keys.size > MAX_RECORDED) drop()
    },
    copy: () =>
      [...keys.values()].map(({ thumbprint, publicJwk, published, signing }) =>
        structuredClone({ thumbprint, publicJwk, published, signing }),
      ),
  }
}

function isOpen(phases: Phases): boolean {
  const last = phases.at(-1)
  return last !== undefined && last.until === undefined
}

function continued(phases: Phases, goesOn: boolean, now: number): Phases {
  if (goesOn === isOpen(phases)) return phases
  return goesOn
    ? [...phases, { from: now, until: undefined }].slice(-MAX_RECORDED)
    : phases.map((phase) => (phase.until === undefined ? { ...phase, until: now } : phase))
}

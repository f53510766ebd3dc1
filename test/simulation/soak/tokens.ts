import {
  createTestIssuer,
  eventTransmitter,
  type KeyPhases,
  type TestIssuer,
} from '@portcullis/testing'

import type { Kind } from './oracle.ts'

// The tokens of the run: genuine ones of users whose sessions end at some time, and what strangers send.

export const ISSUER = 'https://auth.soak.test'
export const AUDIENCE = 'https://api.soak.test'
export const CLIENT = 'web'

export interface SentToken {
  readonly kind: Kind
  readonly token: string
  readonly published: () => KeyPhases['published']
  /** Whether its key signed before it was published: then the token may have been refused, and asks again only after a while. */
  readonly isEarly: boolean
  readonly revokedAt?: number | undefined
}

export interface Tokens {
  /** A token of a kind; `undefined` if there is none yet. */
  pick(kind: Kind, draw: number): SentToken | undefined
  /** Signs a genuine one. The oldest are given up. */
  add(): Promise<void>
  /** Ends the session of a genuine token, by telling somebody until it is acknowledged. */
  endSession(draw: number, tell: (logoutToken: string) => Promise<boolean>): Promise<void>
}

interface Session {
  readonly sid: string
  readonly token: string
  readonly exp: number
  readonly published: () => KeyPhases['published']
  readonly isEarly: boolean
  revokedAt?: number
}

const LIFETIME = 300
/** Seconds before `exp` from which on a genuine token is not sent: clocks are wrong by 30 s. */
const MARGIN = 90
const MAX_GENUINE = 40
const MAX_REVOKED = 100

export async function createTokens(issuer: TestIssuer, now: () => number): Promise<Tokens> {
  const claims = { scope: 'read' }
  const forger = await createTestIssuer({ issuer: ISSUER, audience: AUDIENCE, lifetime: 86_400 })
  const strangers: Record<'forged' | 'expired' | 'foreign', () => Promise<string>> = {
    forged: async () => await forger.token({ claims }),
    expired: async () => await issuer.token({ claims, expiresIn: -120 }),
    foreign: async () =>
      await issuer.token({ claims: { ...claims, iss: 'https://other.soak.test' }, expiresIn: 600 }),
  }
  const transmitter = eventTransmitter(issuer, { audience: CLIENT })
  let genuine: Session[] = []
  let revoked: Session[] = []
  let hostile: Record<string, string> = {}
  let count = 0

  /** The phases of the key that signs now. */
  function signingKey(): Pick<Session, 'published' | 'isEarly'> {
    const signing = issuer.keyPhases().find(({ signing: phases }) => isOpen(phases))
    const thumbprint = signing?.thumbprint
    // Keys of long ago are forgotten, and then the key is not published.
    const isEarly = signing === undefined || !isOpen(signing.published)
    const published = () =>
      issuer.keyPhases().find((key) => key.thumbprint === thumbprint)?.published ?? []
    return { published, isEarly }
  }

  async function add(): Promise<void> {
    const sid = `session ${(count += 1)}`
    const { published, isEarly } = signingKey()
    const exp = Math.floor(now()) + LIFETIME
    const token = await issuer.token({ claims: { ...claims, sub: `user ${count}`, sid, exp } })
    genuine = [...genuine, { sid, token, exp, published, isEarly }].slice(-MAX_GENUINE)
    const made = await Promise.all(
      Object.entries(strangers).map(async ([kind, make]) => [kind, await make()] as const),
    )
    hostile = Object.fromEntries(made)
  }

  function pick(kind: Kind, draw: number): SentToken | undefined {
    const sessions = kind === 'revoked' ? revoked : genuine
    const young = sessions.filter(({ exp }) => exp - MARGIN > now())
    // Rather new ones: most of the old ones are of keys that have left.
    const session = young.at(-1 - Math.floor(draw ** 2 * young.length))
    if (kind === 'genuine' || kind === 'revoked') {
      return session === undefined ? undefined : { kind, ...session }
    }
    const token = hostile[kind]
    return token === undefined ? undefined : { kind, token, published: () => [], isEarly: false }
  }

  return {
    pick,
    add,
    async endSession(draw, tell) {
      const session = genuine.at(Math.floor(draw * genuine.length))
      if (session === undefined) return
      genuine = genuine.filter((each) => each !== session)
      const deadline = now() + 60
      while (now() < deadline) {
        if (await tell(await transmitter.logoutToken({ sid: session.sid }))) {
          session.revokedAt = now()
          revoked = [...revoked, session].slice(-MAX_REVOKED)
          return
        }
      }
    },
  }
}

function isOpen(phases: KeyPhases['published']): boolean {
  return phases.some(({ until }) => until === undefined)
}

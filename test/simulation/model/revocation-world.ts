import {
  authenticateRequest,
  AuthError,
  type Claims,
  createVerifier,
  type JsonObject,
  type LocalRevocations,
  localKeys,
  localRevocations,
  type PublicKey,
  type RevocationEntry,
  type Revocations,
  type Verifier,
} from '@portcullis/core'
import { checkGuardOptions } from '@portcullis/core/adapter'
import { type ManualClock, manualClock } from '@portcullis/testing'

import { publicJwk, signToken } from './keys.ts'

// Revocations, a verifier that asks them, and whatever contradicts what is promised of them.

export interface Setting {
  readonly max: number
  /** Whether the verifier has to wait for answers. */
  readonly isSlow: boolean
  /** How many tokens the verifier remembers; 0 for none. */
  readonly remembered: number
}

export interface World {
  readonly clock: ManualClock
  /** Calls a method of the revocations, and notes what it has promised. */
  readonly write: (entry: Stated) => Promise<void>
  readonly load: (entries: readonly Stated[]) => void
  /** Revokes one of the tokens that were presented, by its `Auth`. */
  readonly logOut: (index: number) => Promise<void>
  /** What a restart does: the snapshot, as JSON, in new revocations, and a new verifier. */
  readonly restart: () => void
  /** Has a guard judge a token twice, and compares the verdicts with what was promised. */
  readonly present: (claims: JsonObject) => Promise<void>
  /** The same with one that has been presented before. */
  readonly presentAgain: (index: number) => Promise<void>
  readonly faults: string[]
}

interface Presented {
  readonly claims: JsonObject
  readonly token: string
}

/** In place of the digest of a token, what it is the digest of. */
interface OfSigningInput {
  readonly type: 'signing_input'
  readonly iss?: string
  readonly signingInput: string
  readonly exp?: number
}

/** An entry that a caller can state. */
export type Stated = Exclude<RevocationEntry, { readonly type: 'digest' }>

type Promised = Stated | OfSigningInput

type Shown = Presented & { readonly claims: Claims }

const TOLERANCE = 600
const CLOCK_TOLERANCE = 5
const IAT_TOLERANCE = 60

export function createWorld({ max, isSlow, remembered }: Setting): World {
  const clock = manualClock()
  const promised: Promised[] = []
  const faults: string[] = []
  const presented: Presented[] = []
  /** The latest moment that both clocks have agreed on: what lapsed until then may be forgotten. */
  let certain = clock.now()
  /** When the revocations were created: they know nothing of steps before. */
  let created = instant()
  let revocations = localRevocations({ max, clock })
  let verifier = verifierWith(revocations)

  function instant() {
    return { wall: clock.now(), monotonic: clock.monotonic() }
  }

  function verifierWith(source: LocalRevocations): Verifier {
    const asked: Revocations = isSlow
      ? { statusOf: async (...given) => await Promise.resolve(source.statusOf(...given)) }
      : source
    return createVerifier({
      keys: localKeys(publicJwk('A') as PublicKey),
      algorithms: ['ES256'],
      issuer: null,
      audience: null,
      clockTolerance: CLOCK_TOLERANCE,
      revocations: asked,
      clock,
      ...(remembered === 0 ? { remember: false } : { remember: { max: remembered } }),
    })
  }

  function note(): void {
    certain = Math.max(
      certain,
      Math.min(clock.now(), created.wall + clock.monotonic() - created.monotonic),
    )
  }

  /** Nothing may have changed, and there must really be no room. */
  function refused(error: unknown, before: string): void {
    if (!(error instanceof RangeError)) throw error
    if (JSON.stringify(revocations.toSnapshot()) === before) return
    // Entries that have lapsed may have gone, and nothing else.
    const { entries } = revocations.toSnapshot()
    const known = new Set((JSON.parse(before) as { entries: object[] }).entries.map(textOf))
    if (entries.some((entry) => !known.has(textOf(entry)))) faults.push('a refused entry is there')
  }

  async function write(entry: Stated): Promise<void> {
    await record(entry, async () => {
      if (entry.type === 'token') {
        const { type: _, ...named } = entry
        await revocations.revoke(named)
      } else {
        const { type: _, time, until, ...whose } = entry
        await revocations.revokeBefore(whose, { time, until })
      }
    })
  }

  async function logOut(index: number): Promise<void> {
    const shown = presented[index % Math.max(1, presented.length)]
    if (shown === undefined) return
    const auth = { ...shown, header: { alg: 'ES256' } }
    await record(promiseOf(shown), async () => {
      await revocations.revoke(auth)
    })
  }

  async function record(entry: Promised, call: () => Promise<void>): Promise<void> {
    note()
    const before = JSON.stringify(revocations.toSnapshot())
    try {
      await call()
      promised.push(entry)
    } catch (error) {
      refused(error, before)
      const { entries } = revocations.toSnapshot()
      if (entries.length < max) faults.push('there was room')
      if (entries.some((each) => isSameToken(each, entry))) faults.push('it needed no room')
    }
    if (revocations.toSnapshot().entries.length > max) faults.push('there are more than max')
  }

  function load(entries: readonly Stated[]): void {
    note()
    const before = JSON.stringify(revocations.toSnapshot())
    try {
      revocations.load(entries)
      promised.push(...entries)
    } catch (error) {
      refused(error, before)
    }
    if (revocations.toSnapshot().entries.length > max) faults.push('there are more than max')
  }

  function restart(): void {
    note()
    created = instant()
    note()
    const snapshot = JSON.parse(JSON.stringify(revocations.toSnapshot())) as never
    revocations = localRevocations({ max, clock, snapshot })
    verifier = verifierWith(revocations)
  }

  async function present(claims: JsonObject): Promise<void> {
    const shown = { claims, token: signToken('A', claims) }
    presented.push(shown)
    await judge(shown)
    // The second time it may be remembered.
    await judge(shown)
  }

  async function presentAgain(index: number): Promise<void> {
    const shown = presented[index % Math.max(1, presented.length)]
    if (shown !== undefined) await judge(shown)
  }

  async function judge(shown: Presented): Promise<void> {
    const { claims, token } = shown
    const guard = checkGuardOptions(verifier, {})
    const request = { headers: { authorization: `Bearer ${token}` } }
    const verdict = await wordOf(async () => authenticateRequest(verifier, request, guard, request))
    if (!expected(shown).has(verdict)) {
      faults.push(`${JSON.stringify(claims)} is ${verdict}, at ${clock.now()}`)
    }
  }

  /** What the verdict may be. */
  function expected({ claims, token }: Shown): ReadonlySet<string> {
    const now = clock.now()
    if (claims.exp !== undefined && now >= claims.exp + CLOCK_TOLERANCE) return new Set(['expired'])
    if (claims.iat !== undefined && claims.iat > now + IAT_TOLERANCE) {
      return new Set(['issued_in_future'])
    }
    const matching = promised.filter((entry) => endOf(entry) > now && isAbout(entry, claims, token))
    if (matching.length === 0) return new Set(['accepted'])
    // Both may be right where the clock was set back after an entry had lapsed for certain.
    const isCertain = matching.some((entry) => endOf(entry) > certain)
    return new Set(isCertain ? ['revoked'] : ['revoked', 'accepted'])
  }

  return { clock, write, load, logOut, restart, present, presentAgain, faults }
}

/** What an entry means, in the words of the documents. */
function isAbout(entry: Promised, claims: Claims, token: string): boolean {
  if (entry.iss !== claims.iss) return false
  if (entry.type === 'token') return claims.jti === entry.jti
  if (entry.type === 'signing_input') return signingInputOf(token) === entry.signingInput
  if (claims.iat !== undefined && claims.iat >= entry.time) return false
  const { sub, client_id, sid } = entry
  if (sub !== undefined) return claims.sub === sub
  if (sid !== undefined) return claims['sid'] === sid
  return client_id === undefined || [claims['client_id'], claims['azp']].includes(client_id)
}

function signingInputOf(token: string): string {
  return token.slice(0, token.lastIndexOf('.'))
}

/** What is promised when a token is revoked by its `Auth`. */
function promiseOf({ claims, token }: Shown): Promised {
  const { jti, iss, exp } = claims
  const named =
    typeof jti === 'string'
      ? { type: 'token' as const, jti }
      : { type: 'signing_input' as const, signingInput: signingInputOf(token) }
  return { ...named, ...(typeof iss === 'string' && { iss }), ...(exp !== undefined && { exp }) }
}

function isSameToken(one: RevocationEntry, other: Promised): boolean {
  const areTokens = one.type === 'token' && other.type === 'token'
  return areTokens && one.iss === other.iss && one.jti === other.jti
}

function endOf(entry: Promised): number {
  return entry.type === 'issued_before'
    ? (entry.until ?? Infinity)
    : (entry.exp ?? Infinity) + TOLERANCE
}

async function wordOf(judge: () => Promise<unknown>): Promise<string> {
  try {
    await judge()
    return 'accepted'
  } catch (error) {
    return error instanceof AuthError ? error.reason : String(error)
  }
}

function textOf(value: object): string {
  return JSON.stringify(value)
}

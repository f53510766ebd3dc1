import {
  type Auth,
  AuthError,
  authenticateRequest,
  byIssuer,
  type Verifier,
} from '@portcullis/core'
import { checkGuardOptions } from '@portcullis/core/adapter'
import { type ManualClock, manualClock } from '@portcullis/testing'

import { secondCopy } from '../../copies/second-copy.ts'
import { JUDGING, judgeOf, tokenOf, waitFor } from './tenant-verifier.ts'

// Tenants that come and go, a function that finds their verifiers or fails to, and whatever contradicts what is promised.

const { core: second } = await secondCopy()

export const MAX_AGE = 100
export const MISS_AGE = 20
export const TIMEOUT = 5
const MAX_CALLS = 2
const PAUSE = 1

export const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'] as const
export type Name = (typeof NAMES)[number]
/** `second copy`: the function answers a verifier of another copy of core. */
export type Mode = 'up' | 'slow' | 'down' | 'hanging' | 'late' | 'garbage' | 'second copy'

/** A call of the function, and what came of it. */
interface CallRecord {
  readonly issuer: string
  readonly start: number
  /** By the wall clock, which is set now and then. */
  readonly wallStart: number
  wallEnd: number
  outcome: 'under way' | 'none' | 'failed' | 'given up' | number
  end: number
}

/** A token that has no verdict yet. */
interface Waiting {
  readonly issuer: string
  /** The latest that the wall clock has said meanwhile. */
  latest: number
}

export interface TenantWorld {
  readonly clock: ManualClock
  readonly faults: string[]
  mode: Mode
  isSlowToJudge: boolean
  /** The class of the refusals of its verifiers: that of this copy of core, or of a second one. */
  refusal: typeof AuthError
  /** A new version of the tenant, or none. */
  setTenant(name: Name, exists: boolean): void
  present(name: Name, kind: 'good' | 'forged' | 'again', signal?: AbortSignal): Promise<string>
  /** Sets the wall clock forward, or back. */
  step(seconds: number): void
  pending(): number
  /** How often the function was called for a tenant. */
  callsFor(name: Name): number
  has(name: Name): boolean
}

/** The class of what another copy of core refuses with. */
export const SECOND_REFUSAL: typeof AuthError = second.AuthError

export function createTenantWorld({ max }: { readonly max: number }): TenantWorld {
  const clock = manualClock()
  const faults: string[] = []
  const versions = new Map<string, { version: number; verifier: Verifier }>()
  const calls: CallRecord[] = []
  const waiting = new Set<Waiting>()
  let version = 0
  let serial = 0

  const world: TenantWorld = {
    clock,
    faults,
    mode: 'up',
    isSlowToJudge: false,
    refusal: AuthError,
    setTenant(name, exists) {
      version++
      const verifier = judgeOf(issuerOf(name), version, world)
      if (exists) versions.set(issuerOf(name), { version, verifier })
      else versions.delete(issuerOf(name))
    },
    async present(name, kind, signal) {
      if (kind !== 'again') serial++
      const token = tokenOf(issuerOf(name), serial, kind === 'forged')
      const each = { issuer: issuerOf(name), latest: clock.now() }
      waiting.add(each)
      try {
        return check(name, kind, await verdictOf(token, signal))
      } finally {
        waiting.delete(each)
      }
    },
    step(seconds) {
      for (const each of waiting) each.latest = Math.max(each.latest, clock.now())
      clock.set(clock.now() + seconds)
    },
    pending: () => waiting.size,
    callsFor: (name) => calls.filter(({ issuer }) => issuer === issuerOf(name)).length,
    has: (name) => versions.has(issuerOf(name)),
  }

  async function find(issuer: string, { signal }: { signal: AbortSignal }) {
    const record = begin(issuer)
    const { mode } = world
    signal.addEventListener('abort', () => {
      record.outcome = 'given up'
      record.end = clock.monotonic()
      record.wallEnd = clock.now()
    })
    const known = versions.get(issuer)
    if (mode === 'slow') await waitFor(clock, 2)
    if (mode === 'late') await waitFor(clock, TIMEOUT + 2)
    if (mode === 'hanging') await new Promise<never>(() => {})
    const isFailure = mode === 'down' || mode === 'garbage' || mode === 'second copy'
    if (record.outcome === 'under way') {
      record.outcome = isFailure ? 'failed' : (known?.version ?? 'none')
      record.end = clock.monotonic()
      record.wallEnd = clock.now()
    }
    if (mode === 'down') throw new Error('down')
    if (mode === 'second copy') return second.byIssuer(() => undefined)
    return mode === 'garbage' ? ('garbage' as never) : known?.verifier
  }

  /** Checks that a call may begin now. */
  function begin(issuer: string): CallRecord {
    const now = clock.monotonic()
    const underWay = calls.filter(({ outcome }) => outcome === 'under way')
    const before = calls.findLast((each) => each.issuer === issuer)
    if (underWay.some((each) => each.issuer === issuer)) faults.push('two calls for one issuer')
    if (underWay.length >= 2 * MAX_CALLS) faults.push('too many calls at once')
    // Only where nothing is pushed out is it known what is remembered.
    if (before !== undefined && max >= NAMES.length) {
      const { from, wallFrom, distance } = notBefore(before)
      const passed = Math.max(now - from, latestFor(issuer) - wallFrom)
      if (passed < distance - 1e-6) faults.push(`a call ${passed} s after ${before.outcome}`)
    }
    const record: CallRecord = {
      issuer,
      start: now,
      wallStart: clock.now(),
      wallEnd: clock.now(),
      outcome: 'under way',
      end: now,
    }
    calls.push(record)
    return record
  }

  /** A call may have been due while the clock was ahead, and have waited for its turn until the clock was set back. */
  function latestFor(issuer: string): number {
    const asking = [...waiting].filter((each) => each.issuer === issuer)
    return Math.max(clock.now(), ...asking.map(({ latest }) => latest))
  }

  const verifier = byIssuer(find, {
    clock,
    max,
    maxAge: MAX_AGE,
    missAge: MISS_AGE,
    maxCalls: MAX_CALLS,
    timeout: TIMEOUT,
  })
  const guard = checkGuardOptions(verifier, {})

  async function verdictOf(token: string, signal: AbortSignal | undefined): Promise<string> {
    try {
      const request = { headers: { authorization: `Bearer ${token}` } }
      const answer =
        signal === undefined
          ? authenticateRequest(verifier, request, guard, request)
          : verifier.verify(token, { signal })
      const auth = (await answer) as Auth
      return `accepted ${String(auth.claims['version'])}`
    } catch (error) {
      if (error instanceof AuthError) return `${error.code} ${error.reason}`
      return signal?.aborted === true && error === signal.reason ? 'aborted' : String(error)
    }
  }

  /** Notes what contradicts a promise. */
  function check(name: Name, kind: string, verdict: string): string {
    const [word, detail = ''] = verdict.split(' ')
    const allowed = ['accepted', 'invalid_token', 'keys_unavailable', 'aborted']
    if (word === undefined || !allowed.includes(word)) faults.push(`answered ${verdict}`)
    if (word === 'keys_unavailable' && !wasOutage(issuerOf(name))) {
      faults.push(`503 for ${name} without an outage`)
    }
    if (word !== 'accepted') return word ?? ''
    if (kind === 'forged') faults.push('accepted a forged token')
    const objection = objectionTo(issuerOf(name), Number(detail))
    if (objection !== undefined) faults.push(objection)
    return word
  }

  /** Why a token should not be accepted now by this version of a tenant. */
  function objectionTo(issuer: string, accepted: number): string | undefined {
    const now = clock.monotonic()
    const settled = calls.filter((each) => each.issuer === issuer && isAnswer(each))
    const confirmed = settled.findLast(({ outcome }) => outcome === accepted)
    if (confirmed === undefined) return `accepted by version ${accepted}, which nobody answered`
    if (now - confirmed.start > MAX_AGE + 1e-6) {
      return `accepted by a verifier ${now - confirmed.start} s after it was asked for`
    }
    // A newer answer may have been pushed out while an older verifier was at work.
    const slack = max < NAMES.length ? JUDGING : 0
    const newer = settled.findLast(({ end }) => end < now - slack)
    return newer !== undefined && newer.start > confirmed.start
      ? `accepted by version ${accepted} after the answer ${newer.outcome}`
      : undefined
  }

  /** The function has failed lately for this issuer, or its calls were used up. */
  function wasOutage(issuer: string): boolean {
    const lately = clock.monotonic() - PAUSE - TIMEOUT - JUDGING
    return (
      calls.some(
        (each) =>
          each.issuer === issuer &&
          (each.outcome === 'failed' || each.outcome === 'given up') &&
          each.end >= lately,
      ) ||
      calls.filter((each) => !isOver(each) || (each.end >= lately && each.end > each.start))
        .length >= MAX_CALLS
    )
  }

  return world
}

function isOver({ outcome }: CallRecord): boolean {
  return outcome !== 'under way'
}

function isAnswer({ outcome }: CallRecord): boolean {
  return outcome === 'none' || typeof outcome === 'number'
}

/** From when, and how long after it, the function may be called again. */
function notBefore({ outcome, start, wallStart, end, wallEnd }: CallRecord) {
  const isFailure = outcome !== 'none' && typeof outcome !== 'number'
  if (isFailure) return { from: end, wallFrom: wallEnd, distance: PAUSE }
  return { from: start, wallFrom: wallStart, distance: outcome === 'none' ? MISS_AGE : MAX_AGE / 2 }
}

function issuerOf(name: Name): string {
  return `https://${name}.test`
}

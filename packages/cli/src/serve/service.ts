import {
  createTestIssuer,
  type KeyPhases,
  type Login,
  type OutageKind,
  type Rotation,
  type TestIssuer,
  type TestIssuerOptions,
  type TokenService,
  tokenService,
} from '@portcullis/testing'

import type { Clock } from '../surroundings.ts'
import { createEventLog, type EventLog } from './event-log.ts'
import { InputError } from './input.ts'
import type { FaultInput, MintInput, RotateInput } from './requests.ts'
import type { ServeSettings } from './settings.ts'

/** How many faults can be in force at once. */
const MAX_FAULTS = 100
const MAX_EVENTS = 1000

/** What a fault is, as far as it can be shown. */
interface Fault {
  readonly kind: OutageKind
  readonly endpoints: readonly ('keys' | 'token')[]
  /** Seconds since 1970-01-01T00:00:00Z. */
  readonly since: number
  readonly secondsLeft: number | undefined
  readonly timesLeft: number | undefined
}

/** Everything that can be seen of the service. No password, no private key. */
interface ServiceState {
  readonly now: number
  readonly issuer: string | undefined
  readonly audience: string | readonly string[] | undefined
  readonly lifetime: number
  readonly response: ServeSettings['response']
  readonly keys: readonly KeyPhases[]
  /** What the second half of the last rotation will do. */
  readonly pending: 'sign' | 'publish' | 'withdraw' | undefined
  readonly faults: readonly Fault[]
  readonly logins: readonly (Omit<Login, 'password'> & { readonly loginId: string })[]
}

/** A token service, and what can be done to it while it runs. */
export interface Service {
  readonly tokens: TokenService
  readonly log: EventLog
  state(): ServiceState
  /** @throws InputError if no such token can be made. */
  mint(input: MintInput): Promise<string>
  /** The kinds of bad tokens that there are at this moment. */
  badKinds(): Promise<readonly { readonly name: string; readonly reason: string }[]>
  /** @throws InputError while another is under way. */
  rotate(input: RotateInput): Promise<void>
  /** Does the second half of the last rotation. */
  complete(): Promise<void>
  rollBack(): Promise<void>
  /** @throws InputError for a kind that there is not, and if there are too many. */
  fault(input: FaultInput): void
  /** @returns How many were in force. */
  clearFaults(endpoint: 'keys' | 'token' | undefined): number
}

const PENDING = { first: 'sign', later: 'publish', both: 'withdraw', now: undefined } as const

/** @param keep Called with the issuer whenever another key signs. */
export async function createService(
  settings: ServeSettings,
  clock: Clock,
  key: TestIssuerOptions['key'],
  keep: (issuer: TestIssuer) => Promise<void>,
): Promise<Service> {
  const { issuer: iss, audience, lifetime, response, logins, claims } = settings
  const issuer = await createTestIssuer({
    clock,
    issuer: iss,
    audience,
    lifetime,
    key,
    maxRequests: 1,
  })
  const tokens = tokenService(issuer, { logins: Object.fromEntries(logins), response })
  const log = createEventLog(clock, MAX_EVENTS)
  let pending: { readonly rotation: Rotation; readonly does: ServiceState['pending'] } | undefined
  let isRotating = false
  await keep(issuer)
  issuer.watchRequests(({ endpoint, status, loginId }) => {
    log.add({ type: 'request', endpoint, status, loginId })
  })
  const thumbprint = () =>
    issuer.keyPhases().find(({ signing }) => isOpen(signing))?.thumbprint ?? ''

  return {
    tokens,
    log,
    state: () => ({
      now: clock.now(),
      issuer: iss,
      audience,
      lifetime: issuer.lifetime,
      response,
      keys: issuer.keyPhases(),
      pending: pending?.does,
      faults: issuer.outages().map(({ kind, endpoints, since, secondsLeft, timesLeft }) => ({
        kind,
        endpoints,
        since,
        secondsLeft,
        timesLeft,
      })),
      logins: [...logins].map(([loginId, login]) => ({
        loginId,
        claims: login.claims,
        lifetime: login.lifetime,
      })),
    }),
    async mint({ kind, ...options }) {
      const token = await mintedBy(issuer, kind, {
        ...options,
        claims: { ...claims, ...options.claims },
      })
      log.add({ type: 'minted', kind })
      return token
    },
    badKinds: async () => (await issuer.badTokens()).map(({ name, reason }) => ({ name, reason })),
    async rotate({ kid, publish = 'now' }) {
      if (isRotating) throw new InputError('another rotation is under way')
      isRotating = true
      try {
        const rotation = await issuer.rotate({ kid, publish })
        const does = PENDING[publish]
        pending = does === undefined ? undefined : { rotation, does }
      } finally {
        isRotating = false
      }
      log.add({ type: 'rotated', publish, thumbprint: thumbprint() })
      await keep(issuer)
    },
    async complete() {
      if (pending === undefined) throw new InputError('no rotation waits for its second half')
      pending.rotation.complete()
      pending = undefined
      log.add({ type: 'completed', thumbprint: thumbprint() })
      await keep(issuer)
    },
    async rollBack() {
      if (isRotating) throw new InputError('another rotation is under way')
      asked(() => {
        issuer.rollBack()
      })
      pending = undefined
      log.add({ type: 'rolled back', thumbprint: thumbprint() })
      await keep(issuer)
    },
    fault({ endpoint, kind, ...options }) {
      if (issuer.outages().length >= MAX_FAULTS) {
        throw new InputError(`there are ${MAX_FAULTS} faults already; clear them first`)
      }
      asked(() => issuer.outage(kind, { endpoint, ...options }))
      log.add({ type: 'fault', endpoint, kind })
    },
    clearFaults(endpoint) {
      const cleared = issuer
        .outages()
        .filter(({ endpoints }) => endpoint === undefined || endpoints.includes(endpoint))
      for (const outage of cleared) outage.restore()
      log.add({ type: 'faults cleared', cleared: cleared.length })
      return cleared.length
    },
  }
}

async function mintedBy(
  issuer: TestIssuer,
  kind: string | undefined,
  options: Omit<MintInput, 'kind'>,
): Promise<string> {
  if (kind === undefined) {
    return await issuer.token(options).catch((error: unknown) => {
      // Whatever the token was asked to be: nothing but the request decides whether it can be signed.
      throw new InputError(`this token cannot be signed: ${messageOf(error)}`)
    })
  }
  const { claims, header, ...others } = options
  const [other] = Object.keys(others)
  if (other !== undefined) throw new InputError(`${other} does not go with a bad kind`)
  const table = await issuer.badTokens({ claims, header })
  const row = table.find(({ name }) => name === kind)
  if (row === undefined) {
    throw new InputError(`there is no such kind, but ${table.map(({ name }) => name).join(', ')}`)
  }
  return row.token
}

/** Does what was asked for. What testing says is wrong with it, it says of the request. */
function asked(action: () => void): void {
  try {
    action()
  } catch (error) {
    if (error instanceof TypeError) throw new InputError(error.message)
    throw error
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function isOpen(phases: KeyPhases['signing']): boolean {
  return phases.some(({ until }) => until === undefined)
}

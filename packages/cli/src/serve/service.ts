import type { Clock } from '@portcullis/kit/time'
import {
  createTestIssuer,
  type Endpoint,
  type IntrospectionService,
  introspectionService,
  type KeyPhases,
  type Login,
  type OutageKind,
  type Rotation,
  type TestIssuerOptions,
  type TokenService,
  tokenService,
} from '@portcullis/testing'

import type { Fetch } from '../surroundings/surroundings.ts'
import { createEventLog, type EventLog, type LoggedEvent, otherKeysFault } from './event-log.ts'
import { type ExplainedToken, explainToken, type ServedDocument } from './explain-token.ts'
import { InputError } from './input.ts'
import type { KeyKeeper } from './key-keeper.ts'
import { mintedBy } from './minting.ts'
import type { ExplainInput, FaultInput, LogoutInput, MintInput, VerdictsInput } from './requests.ts'
import { createRotations, type Rotations } from './rotations.ts'
import { sendLogout } from './session-end.ts'
import type { ServeSettings } from './settings.ts'

// The service behind `portcullis serve`: issuer, token service, log, rotations and faults in one object. It knows neither HTTP paths nor
// HTML.

/** How many faults can be in force at once. */
const MAX_FAULTS = 100
const MAX_EVENTS = 1000
const MAX_DOCUMENTS = 100

/** What a fault is, as far as it can be shown. */
interface Fault {
  readonly kind: OutageKind
  readonly endpoints: readonly Endpoint[]
  /** Seconds since 1970-01-01T00:00:00Z. */
  readonly since: number
  readonly secondsLeft: number | undefined
  readonly timesLeft: number | undefined
}

/** Everything that can be seen of the service. No password, no private key. */
export interface ServiceState {
  readonly now: number
  readonly issuer: string | undefined
  readonly audience: string | readonly string[] | undefined
  readonly lifetime: number
  readonly response: ServeSettings['response']
  readonly keys: readonly KeyPhases[]
  /** What the second half of the last rotation will do. */
  readonly pending: Rotation['next']
  /** How long until it does so by itself. */
  readonly pendingSecondsLeft: number | undefined
  readonly faults: readonly Fault[]
  readonly logins: readonly (Omit<Login, 'password'> & { readonly loginId: string })[]
}

/** A token service, and what can be done to it while it runs. */
export interface Service {
  readonly tokens: TokenService | IntrospectionService
  readonly log: EventLog
  readonly rotations: Rotations
  state(): ServiceState
  /** @throws InputError if no such token can be made. */
  mint(input: MintInput): Promise<string>
  /** The kinds of bad tokens that there are at this moment. */
  badKinds(): Promise<readonly { readonly name: string; readonly reason: string }[]>
  /**
   * Tells an API that a session has ended.
   *
   * @returns The status of its answer, if there was one.
   * @throws InputError for an address that is none, and without the setting `issuer`.
   */
  endSession(input: LogoutInput): Promise<number | undefined>
  /** Adds the verdicts of an API to the log. */
  report(input: VerdictsInput): void
  /** @throws InputError for a kind that there is not, and if there are too many. */
  fault(input: FaultInput): void
  /** @returns How many were in force. */
  clearFaults(endpoint: Endpoint | undefined): number
  /**
   * What services make of a token. Nothing of it is kept.
   *
   * @param authUrl Where the service is, for what it says.
   * @throws InputError if there is no token.
   */
  explain(input: ExplainInput, authUrl: string): Promise<ExplainedToken>
  /** Resolves when nothing is left that happens by itself, and nothing is being written. */
  close(): Promise<void>
}

/**
 * @param keeper Keeps the keys whenever they have changed. Those that were given are kept already.
 * @param fetch Sends log-out tokens to APIs.
 */
export async function createService(
  settings: ServeSettings,
  clock: Clock,
  key: TestIssuerOptions['key'],
  keeper: KeyKeeper,
  fetch: Fetch,
): Promise<Service> {
  const { issuer: iss, audience, lifetime, response, logins, claims, opaque } = settings
  const issuer = await createTestIssuer({
    clock,
    issuer: iss,
    audience,
    lifetime,
    key,
    maxRequests: 1,
  })
  const answers = { logins: Object.fromEntries(logins), response }
  const tokens =
    opaque.size === 0
      ? tokenService(issuer, answers)
      : introspectionService(issuer, { ...answers, clients: Object.fromEntries(opaque) })
  const log = createEventLog(clock, MAX_EVENTS)
  /** What the key endpoint serves from a time on: a service has the document of its last fetch. */
  const documents: ServedDocument[] = []
  const note = () => {
    const document = issuer.keyDocument
    if (documents.at(-1)?.document === document) return
    documents.push({ from: clock.now(), document })
    if (documents.length > MAX_DOCUMENTS) documents.shift()
  }
  const keep = async () => {
    note()
    await keeper.keep(issuer)
  }
  const rotations = createRotations(issuer, clock, log, keep)
  note()
  if (key === undefined) await keep()
  issuer.watchRequests(({ endpoint, status, loginId, clientId, userAgent }) => {
    log.add({ type: 'request', endpoint, status, loginId, clientId, userAgent })
  })

  return {
    tokens,
    log,
    rotations,
    state: () => ({
      now: clock.now(),
      issuer: iss,
      audience,
      lifetime: issuer.lifetime,
      response,
      keys: issuer.keyPhases(),
      pending: rotations.pending()?.next,
      pendingSecondsLeft: rotations.pending()?.secondsLeft,
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
    async endSession(input) {
      const status = await sendLogout(issuer, input, { clock, fetch })
      log.add({ type: 'session ended', status })
      return status
    },
    badKinds: async () => (await issuer.badTokens()).map(({ name, reason }) => ({ name, reason })),
    report({ api, verdicts, dropped }) {
      for (const verdict of verdicts) log.add({ type: 'verdict', api, ...verdict })
      if (dropped !== undefined) log.add({ type: 'verdicts dropped', api, count: dropped })
    },
    fault({ endpoint, kind, ...options }) {
      if (issuer.outages().length >= MAX_FAULTS) {
        throw new InputError(`there are ${MAX_FAULTS} faults already; clear them first`)
      }
      try {
        issuer.outage(kind, { endpoint, ...options })
      } catch (error) {
        // What testing says is wrong with it, it says of the request.
        throw error instanceof TypeError ? new InputError(error.message) : error
      }
      log.add({ type: 'fault', endpoint, kind })
    },
    clearFaults(endpoint) {
      const cleared = issuer
        .outages()
        .filter(({ endpoints }) => endpoint === undefined || endpoints.includes(endpoint))
      for (const outage of cleared) outage.restore()
      log.add({ type: 'faults cleared', endpoint, cleared: cleared.length })
      return cleared.length
    },
    async explain(input, authUrl) {
      const fetched = lastFetch(log)
      const inHand = fetched && documents.findLast(({ from }) => from <= fetched.time)
      const before = log.after(0).filter(({ id }) => id < (fetched?.id ?? 0))
      const fault = otherKeysFault(before)
      const { keyDocument: served } = issuer
      const keys = issuer.keyPhases()
      return await explainToken(
        input,
        { clock, rules: settings, keys, served, inHand, fault },
        authUrl,
      )
    },
    async close() {
      rotations.close()
      await keeper.settled()
    },
  }
}

/** The last time that a client got the keys. */
function lastFetch(log: EventLog): LoggedEvent | undefined {
  return log
    .after(0)
    .findLast(
      (event) => event.type === 'request' && event.endpoint === 'keys' && event.status === 200,
    )
}

import type { Clock } from '@portcullis/kit/time'
import {
  createTestIssuer,
  type Endpoint,
  eventTransmitter,
  introspectionService,
  type TestIssuer,
  type TestIssuerOptions,
  tokenService,
} from '@portcullis/testing'

import { withinSeconds } from '../surroundings/interruption.ts'
import type { Fetch } from '../surroundings/surroundings.ts'
import { createEventLog, otherKeysFault } from './event-log.ts'
import { explainToken, type ServedDocument } from './explain-token.ts'
import { InputError } from './input.ts'
import type { KeyKeeper } from './key-keeper.ts'
import { badTokensBy, mintedBy } from './minting.ts'
import type { FaultInput, LogoutInput, MintInput, VerdictsInput } from './requests.ts'
import { createRotations } from './rotations.ts'
import type { ServeSettings } from './settings.ts'

// The service behind `portcullis serve`: issuer, token service, log, rotations and faults. It knows neither HTTP paths nor HTML.

const MAX_FAULTS = 100
const MAX_EVENTS = 1000
const MAX_DOCUMENTS = 100

export type Service = Awaited<ReturnType<typeof createService>>

/** Everything that can be seen of the service. No password, no private key. */
export type ServiceState = ReturnType<Service['state']>

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
) {
  const { issuer: iss, audience, response, logins, claims, opaque } = settings
  const { lifetime } = settings
  const own = { clock, issuer: iss, audience, lifetime, key, maxRequests: 1 }
  const issuer = await createTestIssuer(own)
  const answers = { logins: Object.fromEntries(logins), response }
  const tokens =
    opaque.size === 0
      ? tokenService(issuer, { ...answers, metadata: true })
      : introspectionService(issuer, { ...answers, clients: Object.fromEntries(opaque) })
  const log = createEventLog(clock, MAX_EVENTS)
  /** What the key endpoint serves from a time on, as if there were no fault: a service has the document of its last fetch. */
  const documents: ServedDocument[] = [{ from: clock.now(), document: issuer.keyDocument }]
  const keep = async () => {
    const document = issuer.keyDocument
    if (documents.at(-1)?.document !== document) documents.push({ from: clock.now(), document })
    if (documents.length > MAX_DOCUMENTS) documents.shift()
    await keeper.keep(issuer)
  }
  const rotations = createRotations(issuer, clock, log, keep)
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
      /** What the second half of the last rotation will do, and how long until it does so by itself. */
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
    /** @throws InputError if no such token can be made. */
    async mint({ kind, ...options }: MintInput): Promise<string> {
      const all = { ...options, claims: { ...claims, ...options.claims } }
      const token = await mintedBy(issuer, kind, all)
      log.add({ type: 'minted', kind })
      return token
    },
    /** @throws InputError if they cannot be made. */
    async mintBad({ header, claims: added }: Pick<MintInput, 'claims' | 'header'>) {
      const all = await badTokensBy(issuer, { header, claims: { ...claims, ...added } })
      log.add({ type: 'minted', kind: 'one of every kind' })
      return all.map(({ name, reason, token }) => ({ name, reason, token }))
    },
    /** Tells an API that a session has ended. @returns The status of its answer, if there was one. @throws InputError */
    async endSession(input: LogoutInput): Promise<number | undefined> {
      const status = await sendLogout(issuer, input, { clock, fetch })
      log.add({ type: 'session ended', status })
      return status
    },
    badKinds: async () => (await issuer.badTokens()).map(({ name, reason }) => ({ name, reason })),
    /** Adds the verdicts of an API to the log. @returns How many. */
    report({ api, verdicts = [], dropped }: VerdictsInput): number {
      for (const verdict of verdicts) log.add({ type: 'verdict', api, ...verdict })
      if (dropped !== undefined) log.add({ type: 'verdicts dropped', api, count: dropped })
      return verdicts.length
    },
    /** @throws InputError for a kind that there is not, and if there are too many. */
    fault({ endpoint, kind, ...options }: FaultInput): void {
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
    /** @returns How many were in force. */
    clearFaults(endpoint: Endpoint | undefined): number {
      const cleared = issuer
        .outages()
        .filter(({ endpoints }) => endpoint === undefined || endpoints.includes(endpoint))
      for (const outage of cleared) outage.restore()
      log.add({ type: 'faults cleared', endpoint, cleared: cleared.length })
      return cleared.length
    },
    /** What services make of a token. Nothing of it is kept. @param authUrl Where the service is, for what it says. @throws InputError */
    async explain(token: string | undefined, authUrl: string) {
      const events = log.after(0)
      const fetched = events.findLast(
        ({ type, endpoint, status }) => type === 'request' && endpoint === 'keys' && status === 200,
      )
      const background = {
        clock,
        rules: settings,
        keys: issuer.keyPhases(),
        served: issuer.keyDocument,
        inHand: fetched && documents.findLast(({ from }) => from <= fetched.time),
        fault: otherKeysFault(events.filter(({ id }) => id < (fetched?.id ?? 0))),
      }
      return await explainToken(token, background, authUrl)
    },
    async close(): Promise<void> {
      rotations.close()
      await keeper.settled()
    },
  }
}

/** Seconds. */
const LOGOUT_TIMEOUT = 10

/** @returns The status of the answer, if there was one in time. @throws InputError for what is no address, and without an issuer. */
async function sendLogout(
  issuer: TestIssuer,
  { url, clientId, sub, sid }: LogoutInput,
  { clock, fetch }: { readonly clock: Clock; readonly fetch: Fetch },
): Promise<number | undefined> {
  if (issuer.verifierOptions.issuer === null) {
    throw new InputError('a log-out token must have an issuer: start serve with --issuer')
  }
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new InputError('the url must begin with http: or https:')
  }
  const transmitter = eventTransmitter(issuer, {
    audience: clientId,
    fetch: async (target, init) =>
      await withinSeconds(LOGOUT_TIMEOUT, { clock }, async (signal) => {
        const response = await fetch(target, { ...init, redirect: 'manual', signal })
        await response.body?.cancel()
        return response
      }),
  })
  const token = await transmitter.logoutToken({ sub, sid })
  // Whatever is wrong there: the log says that nothing was answered.
  return (await transmitter.sendLogout(url, token).catch(() => undefined))?.status
}

import {
  allowInsecureRequests,
  customFetch,
  discoveryRequest,
  processDiscoveryResponse,
} from 'oauth4webapi'

import { TokenClientError } from '../errors.ts'
import { discardBody, readBody, failureOfStatus } from '../http-answer.ts'
import { parseObject } from '../json.ts'
import { ownMembers, secureUrl } from '../option-checks.ts'
import { afterFailure, INITIAL, nextLoginIn, type RenewalState } from '../renewal.ts'
import { raceAbort } from '../shared-login.ts'
import { type Clock, elapsed, type Instant, instant } from '../time.ts'
import { type Fetch, reach } from '../token-request.ts'
import { membersOf } from '../token-response.ts'

// Where the token endpoint is, as the metadata of the issuer say: RFC 8414 first, then OpenID Connect Discovery.

/** The authorization server, as far as a client of it needs to know it. */
export type AuthorizationServer = {
  readonly issuer: string
  readonly token_endpoint: string
}

export interface DiscoveryOptions {
  readonly issuer: string
  /** Whether the connection has the certificate of the client: some servers have an endpoint of its own for that. */
  readonly hasCertificate: boolean
  readonly allowInsecure: boolean
  readonly fetch: Fetch
  readonly clock: Clock
  /** The deadline of one attempt. Seconds. */
  readonly timeout: number
  readonly closing: AbortSignal
}

/** Waits until the server is known, or the signal is aborted. @throws TokenClientError */
export type Locate = (signal: AbortSignal) => Promise<AuthorizationServer>

/** How long metadata are used before they are read again. Seconds. */
const METADATA_AGE = 3600

/**
 * Returns a function that tells where the server is. One attempt at a time reads the metadata, for any number of callers; after a
 * failure there is a pause. What is known serves while the metadata are read again, and if they cannot be had.
 */
export function createDiscovery(options: DiscoveryOptions): Locate {
  const { clock } = options
  let known: AuthorizationServer | undefined
  let askedAt: Instant | undefined
  let attempt: Promise<AuthorizationServer> | undefined
  let pace: RenewalState = INITIAL
  let failure: TokenClientError | undefined

  async function read(): Promise<AuthorizationServer> {
    askedAt = instant(clock)
    try {
      known = await readInTime(options)
      pace = INITIAL
      return known
    } catch (error) {
      failure = failureOf(error)
      const { code, retryAfter } = failure
      pace = afterFailure(pace, instant(clock), { code, retryAfter, isSent: true }, Math.random())
      throw failure
    } finally {
      attempt = undefined
    }
  }

  async function join(): Promise<AuthorizationServer> {
    return await (attempt ??= read())
  }

  return async (signal) => {
    const now = instant(clock)
    if (known !== undefined) {
      if (askedAt === undefined || elapsed(askedAt, now) < METADATA_AGE) return known
      join().catch(() => {
        // What is known serves on.
      })
      return known
    }
    const retryAfter = attempt === undefined ? nextLoginIn(pace, now) : 0
    if (failure !== undefined && retryAfter > 0) {
      throw new TokenClientError(failure.code, failure.message, { retryAfter })
    }
    return await raceAbort(join(), signal)
  }
}

/** An outage as it is; anything else is about the document, whatever has found it. */
function failureOf(error: unknown): TokenClientError {
  const isOutage = error instanceof TokenClientError && OUTAGES.has(error.code)
  return isOutage ? error : new TokenClientError('unexpected_response', UNUSABLE)
}

const OUTAGES: ReadonlySet<string> = new Set(['service_unavailable', 'timeout', 'aborted'])
const UNUSABLE = 'the metadata of the authorization server cannot be used'

/** One attempt with its deadline: an injected `fetch` may ignore its signal. */
async function readInTime(options: DiscoveryOptions): Promise<AuthorizationServer> {
  const { clock, timeout, closing } = options
  const ending = new AbortController()
  const cancel = clock.after(timeout, () => {
    ending.abort()
  })
  const ended = AbortSignal.any([ending.signal, closing])
  try {
    return await raceAbort(readMetadata(options, ended), ended)
  } catch (error) {
    if (!ending.signal.aborted) throw error
    const message = `the authorization server gave no metadata in ${timeout} s`
    throw new TokenClientError('timeout', message)
  } finally {
    cancel()
    ending.abort()
  }
}

const FORMS = ['oauth2', 'oidc'] as const

/** @throws TokenClientError of the second form if neither has them. */
async function readMetadata(
  options: DiscoveryOptions,
  signal: AbortSignal,
): Promise<AuthorizationServer> {
  const [first, second] = FORMS
  try {
    return await readForm(first, options, signal)
  } catch (error) {
    // Whoever does not answer one of them has nothing else to say.
    if (error instanceof TokenClientError && error.code === 'service_unavailable') throw error
    return await readForm(second, options, signal)
  }
}

async function readForm(
  algorithm: (typeof FORMS)[number],
  options: DiscoveryOptions,
  signal: AbortSignal,
): Promise<AuthorizationServer> {
  const issuer = new URL(options.issuer)
  const request = ownMembers({
    algorithm,
    signal,
    // Where it may be without TLS has been decided: on the loopback, or as the options say.
    [allowInsecureRequests]: true,
    [customFetch]: async (url: string) => await readDocument(url, options, signal),
  })
  const response = await discoveryRequest(issuer, request)
  const metadata = await processDiscoveryResponse(issuer, response)
  const [aliases] = membersOf(metadata, ['mtls_endpoint_aliases'])
  const [alias] = options.hasCertificate ? membersOf(aliases, ['token_endpoint']) : []
  const [endpoint] = alias === undefined ? membersOf(metadata, ['token_endpoint']) : [alias]
  // The library compares what `URL` makes of the two.
  if (typeof endpoint !== 'string' || metadata.issuer !== options.issuer) {
    throw new TokenClientError('unexpected_response', UNUSABLE)
  }
  const { protocol } = secureUrl('metadata', 'token_endpoint', endpoint, options.allowInsecure)
  // Not even to this machine: whoever wrote that could reach what listens there.
  if (issuer.protocol === 'https:' && protocol !== 'https:' && !options.allowInsecure) {
    throw new TokenClientError('unexpected_response', UNUSABLE)
  }
  return ownMembers({ issuer: options.issuer, token_endpoint: endpoint })
}

const HEADERS = { accept: 'application/json', 'user-agent': 'portcullis' }

/** The document, after its status, size and depth were checked. */
async function readDocument(
  url: string,
  { fetch, clock }: DiscoveryOptions,
  signal: AbortSignal,
): Promise<Response> {
  const init = { headers: HEADERS, redirect: 'manual', credentials: 'omit', signal } as const
  const response = await reach(async () => await fetch(url, init))
  const refusal = failureOfStatus(response, url, clock.now())
  if (refusal !== undefined) {
    discardBody(response)
    throw refusal
  }
  return Response.json(parseObject(await reach(async () => await readBody(response))) ?? null)
}

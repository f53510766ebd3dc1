import { discardBody } from '@portcullis/kit/http'
import { parseObject } from '@portcullis/kit/json'
import { ownMembers, secureUrl } from '@portcullis/kit/options'

import { TokenClientError } from '../answer/errors.ts'
import { failureOfStatus, readBody } from '../answer/http-answer.ts'
import { reach } from '../answer/outage.ts'
import { membersOf } from '../answer/token-response.ts'

// What an answer with metadata says: where the token endpoint is, or why that cannot be used.

/** The authorization server, as far as a client of it needs to know it. */
export type AuthorizationServer = {
  readonly issuer: string
  readonly token_endpoint: string
}

/** Why an answer names no endpoint. */
export interface UnusableMetadata {
  readonly failure: TokenClientError
  /** Whether there are metadata, which say something else than what is needed. */
  readonly isOfDocument: boolean
}

export type MetadataOutcome = AuthorizationServer | UnusableMetadata

export function isServer(outcome: MetadataOutcome): outcome is AuthorizationServer {
  return 'token_endpoint' in outcome
}

/** What a client knows of its issuer. */
export interface ExpectedIssuer {
  readonly issuer: string
  /** Whether the connection has the certificate of the client: some servers have an endpoint of its own for that. */
  readonly hasCertificate: boolean
  readonly allowInsecure: boolean
}

/** @throws TokenClientError if the body breaks off. */
export async function outcomeOf(
  response: Response,
  url: string,
  now: number,
  expected: ExpectedIssuer,
): Promise<MetadataOutcome> {
  const { status } = response
  const refused = failureOfStatus(response, url, now)
  if (refused !== undefined || status !== 200) {
    discardBody(response)
    const isOutage = refused?.code === 'service_unavailable'
    const failure = isOutage ? refused : unusable(`the metadata URL answered with status ${status}`)
    return { failure, isOfDocument: false }
  }
  const text = await reach(async () => await readBody(response)).catch((error: unknown) => {
    const isTooLong = error instanceof TokenClientError && error.code === 'unexpected_response'
    if (isTooLong) return undefined
    throw error
  })
  const metadata = text === undefined ? undefined : parseObject(text)
  // A page of another application may stand there.
  if (metadata === undefined) return { failure: unusable(NO_OBJECT), isOfDocument: false }
  const found = endpointIn(metadata, expected)
  if (typeof found === 'string') return { failure: unusable(found), isOfDocument: true }
  return ownMembers({ issuer: expected.issuer, token_endpoint: found.href })
}

const NO_OBJECT = 'the metadata are no JSON object with each member once'

/** The endpoint, or what is wrong with the document, without anything that it says. */
function endpointIn(
  metadata: object,
  { issuer, hasCertificate, allowInsecure }: ExpectedIssuer,
): URL | string {
  const own = (name: string) => membersOf(metadata, [name])[0]
  // The comparison is exact: metadata of another issuer would get the secret of this one.
  if (own('issuer') !== issuer) return otherIssuer(own('issuer'), issuer)
  const [alias] = hasCertificate ? membersOf(own('mtls_endpoint_aliases'), ['token_endpoint']) : []
  const endpoint = usableUrl(alias ?? own('token_endpoint'), allowInsecure)
  if (endpoint === undefined) return 'the metadata name no usable token endpoint'
  // Not even to this machine: whoever wrote that could reach what listens there.
  if (issuer.startsWith('https:') && endpoint.protocol !== 'https:' && !allowInsecure) {
    return 'the metadata of an https issuer name a token endpoint that is not'
  }
  // No request has one, so that the answer would seem to come from elsewhere. RFC 6749 section 3.2
  endpoint.hash = ''
  return endpoint
}

function otherIssuer(stated: unknown, issuer: string): string {
  const place = 'write it so in createOAuthClient'
  if (stated === `${issuer}/`) {
    return `the metadata write the issuer with a slash at the end: ${place}`
  }
  if (typeof stated === 'string' && `${stated}/` === issuer) {
    return `the metadata write the issuer without the slash at the end: ${place}`
  }
  return 'the metadata are of another issuer'
}

function usableUrl(value: unknown, allowInsecure: boolean): URL | undefined {
  if (typeof value !== 'string') return undefined
  try {
    return secureUrl('metadata', 'token_endpoint', value, allowInsecure)
  } catch {
    return undefined
  }
}

function unusable(message: string): TokenClientError {
  return new TokenClientError('unexpected_response', message)
}

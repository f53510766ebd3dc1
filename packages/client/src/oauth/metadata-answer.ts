import { discardBody } from '@portcullis/kit/http'
import { parseObject } from '@portcullis/kit/json'
import { endpointReader, urlInMetadata } from '@portcullis/kit/metadata'
import { ownMembers } from '@portcullis/kit/options'

import { TokenClientError } from '../answer/errors.ts'
import { failureOfStatus, readBody } from '../answer/http-answer.ts'
import { reach } from '../answer/outage.ts'

// What an answer with metadata says: where the token endpoint is, or why that cannot be used.

export type AuthorizationServer = {
  readonly issuer: string
  readonly token_endpoint: string
}

export interface UnusableMetadata {
  readonly failure: TokenClientError
  /** Whether there are metadata, which say something else than what is needed. */
  readonly isOfDocument: boolean
}

export type MetadataOutcome = AuthorizationServer | UnusableMetadata

export function isServer(outcome: MetadataOutcome): outcome is AuthorizationServer {
  return 'token_endpoint' in outcome
}

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
  const { issuer: identifier, hasCertificate, allowInsecure } = expected
  const names = ['token endpoint', 'token_endpoint'] as const
  const reader = endpointReader('createOAuthClient', ...names, hasCertificate)
  const found = urlInMetadata(metadata, { identifier, allowInsecure, reader })
  if (typeof found !== 'string') return { failure: unusable(found.detail), isOfDocument: true }
  return ownMembers({ issuer: identifier, token_endpoint: found })
}

const NO_OBJECT = 'the metadata are no JSON object with each member once'

function unusable(message: string): TokenClientError {
  return new TokenClientError('unexpected_response', message)
}

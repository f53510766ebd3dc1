import { authenticatedForm, type ClientAuth } from '@portcullis/kit/client-authentication'
import { parseObject } from '@portcullis/kit/json'
import type { Clock } from '@portcullis/kit/time'

import { ExplainedError, TokenClientError } from '../answer/errors.ts'
import { failureOfStatus } from '../answer/http-answer.ts'
import { errorIn, membersOf } from '../answer/token-response.ts'
import type { Exchange, ServiceAnswer, TokenRequest } from '../request/token-request.ts'
import { readGrant } from './granted-token.ts'
import type { AuthorizationServer } from './metadata-answer.ts'
import type { Locate } from './metadata.ts'
import { type Refusal, refusalIn } from './oauth-error.ts'
import type { ServerPace } from './server-pace.ts'
import type { Parameters } from './target.ts'

// A grant at the token endpoint: what is asked for, and what the answer means. The client sends it.

export interface GrantEnvironment {
  readonly clientId: string
  readonly locate: Locate
  readonly authenticate: (now: number) => Promise<ClientAuth>
  readonly pace: ServerPace
  readonly clock: Clock
}

export interface Grant {
  /** Of RFC 6749 section 4, or the URI of an extension. */
  readonly type: string
  readonly parameters: Parameters
  /** When its tokens end at the latest: seconds since 1970-01-01T00:00:00Z. `undefined` for no such end. */
  readonly end: number | undefined
}

export function grantExchange(
  { clientId, locate, authenticate, pace, clock }: GrantEnvironment,
  { type, parameters, end = Infinity }: Grant,
): Exchange {
  async function compose(server: AuthorizationServer): Promise<TokenRequest> {
    pace.check()
    const { issuer, token_endpoint: url } = server
    const authentication = await authenticate(pace.now())
    const parameterList = [...parameters, ['grant_type', type]] as const
    const form = { issuer, clientId, authentication }
    const { headers, body } = await authenticatedForm(form, parameterList, 'application/json')
    return { url, headers, body: body.toString() }
  }

  return {
    async prepare(signal) {
      if (end <= clock.now()) throw subjectHasExpired()
      const server = await locate(signal)
      return async () => await compose(server)
    },
    async read(answer) {
      const refused = await refusalBy(answer)
      pace.learn(answer, refused)
      if (refused !== undefined) throw refused
      const granted = await readGrant(answer, end)
      // Meanwhile, or while the body came: the token cannot be used, and no other could.
      if (end <= Math.max(answer.receivedAt.wall, clock.now())) throw subjectHasExpired()
      return granted
    },
  }
}

/** Some servers refuse with 200. RFC 6749 section 5.2 */
async function refusalBy({
  url,
  response,
  receivedAt,
  body,
}: ServiceAnswer): Promise<TokenClientError | undefined> {
  const refused = failureOfStatus(response, url, receivedAt.wall)
  if (refused !== undefined && refused.code !== 'credentials_rejected') return refused
  // A refusal stays one if its body cannot be read: as an outage it would be asked for again at once.
  const text = refused === undefined ? await body() : await body().catch(() => '')
  const error = refused === undefined ? errorOf200(text) : errorIn(text)
  if (error === undefined) return refused
  const { status } = response
  const message = `the token service answered with status ${status}`
  const reason = refusalIn(error)
  if (reason !== undefined) return refusal(reason, `${message} and ${reason}`, status)
  return (
    refused ??
    new TokenClientError('credentials_rejected', `${message} and an error in place of a token`, {
      responseStatus: status,
    })
  )
}

/** Beside a token only a text that is not empty says that there is none: some servers fill in the member in every answer. */
function errorOf200(text: string): unknown {
  const error = errorIn(text)
  const isSaid = typeof error === 'string' && error !== ''
  return isSaid || membersOf(parseObject(text), ['access_token']).length === 0 ? error : undefined
}

function subjectHasExpired(): ExplainedError {
  return refusal('invalid_grant', 'the subject’s token has expired')
}

function refusal(reason: Refusal, message: string, responseStatus?: number): ExplainedError {
  return new ExplainedError('credentials_rejected', message, { reason, responseStatus })
}

import { TokenClientError } from '../answer/errors.ts'
import { notAToken, failureOfStatus } from '../answer/http-answer.ts'
import { lifetimeOf } from '../answer/lifetime.ts'
import { boundKeyOf, findToken, type ResponseFormat } from '../answer/token-response.ts'
import type { Exchange } from '../request/token-request.ts'

// The log-in at the token service: a form with `loginId` and `password`, and a token somewhere in the answer.

/** A text, or a function that is called for each login. */
export type Credential = string | (() => string | Promise<string>)

export interface LoginOptions {
  readonly url: string
  readonly loginId: Credential
  readonly password: Credential
  readonly response: ResponseFormat
}

export function loginExchange({
  url,
  loginId,
  password,
  response: format,
}: LoginOptions): Exchange {
  return {
    async prepare() {
      const body = new URLSearchParams({
        loginId: await readCredential('loginId', loginId),
        password: await readCredential('password', password),
      }).toString()
      return async () => ({ url, body })
    },
    async read({ response, receivedAt, clockSkew, body }) {
      const refusal = failureOfStatus(response, url, receivedAt.wall)
      if (refusal !== undefined) throw refusal
      const text = await body()
      const token = tokenIn(text, format, response)
      if (token === undefined) throw notAToken(response, `${text.length} characters`)
      return {
        token,
        lifetime: lifetimeOf(token, receivedAt.wall, clockSkew),
        isBoundTo: (jkt) => boundKeyOf(token) === jkt,
        isRenewable: true,
      }
    },
  }
}

/** @throws TokenClientError, without what a function has thrown. */
export async function readCredential(name: string, credential: Credential): Promise<string> {
  let text: unknown
  try {
    text = typeof credential === 'function' ? await credential() : credential
  } catch {
    throw new TokenClientError('service_unavailable', `the function ${name} failed`)
  }
  if (typeof text === 'string' && text !== '') return text
  throw new TokenClientError('service_unavailable', `the function ${name} gave no text`)
}

function tokenIn(body: string, format: ResponseFormat, { headers }: Response): string | undefined {
  // Not the `Response` itself: the function must not read or keep more than it needs.
  const lookup = { get: (name: string) => headers.get(name) }
  try {
    return findToken(body, format, { headers: lookup })
  } catch {
    const message = 'the function response gave a promise: it must give the token at once'
    throw new TokenClientError('unexpected_response', message)
  }
}

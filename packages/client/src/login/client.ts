import { authorizedFetch } from '../present/authorized-fetch.ts'
import { type Closing, createClosing } from '../waiting/abort.ts'
import { publishLogin } from './diagnostics.ts'
import type { LoginPlan } from './login.ts'
import { checkGetOptions, checkTokenClientOptions, type TokenClientOptions } from './options.ts'
import { createRenewals } from './renewals.ts'
import type { GetOptions, TokenClient } from './token-client.ts'

// The client as its callers have it, whatever its exchange is: gives them the token, and sends it along.

export interface ClientSettings {
  readonly origins: ReadonlySet<string>
  readonly plan: Omit<LoginPlan, 'closing'>
  /** Ends the client. Several clients may share one. */
  readonly closing: Closing
  /** What callers see of a failure. By default it itself. */
  readonly errorOf?: (error: unknown) => unknown
  readonly onSettled?: (token: string | undefined) => void
  /** What the messages of the diagnostics channel name. By default the client. */
  readonly reportedAs?: (() => object) | undefined
  /** Of the runtime; by default it is asked. */
  readonly endsWithRequest?: boolean | undefined
}

/**
 * Creates the client of one account. It sends nothing before the first use.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 */
export function createTokenClient(options: TokenClientOptions): TokenClient {
  const { origins, ...plan } = checkTokenClientOptions(options)
  return createClient({ origins, plan, closing: createClosing() })
}

export function createClient({
  origins,
  plan,
  closing,
  errorOf = (error) => error,
  onSettled = () => undefined,
  reportedAs,
  endsWithRequest,
}: ClientSettings): TokenClient {
  const { clock, fetch, dpop } = plan.endpoint
  const kind = reportedAs === undefined ? 'login' : 'exchange'
  const renewals = createRenewals(
    { ...plan, closing },
    onSettled,
    (login) => {
      publishLogin({ client: reportedAs?.() ?? client, kind, ...login })
    },
    endsWithRequest,
  )
  const { invalidate, answered, status, close } = renewals
  const scheme = dpop === undefined ? 'Bearer' : 'DPoP'

  async function get(getOptions: GetOptions = {}): Promise<string> {
    const { minValidity, signal } = checkGetOptions(getOptions)
    try {
      return await renewals.token(minValidity, signal)
    } catch (error) {
      throw errorOf(error)
    }
  }

  const authorized = authorizedFetch({
    origins,
    fetch,
    clock,
    get,
    onAnswer: answered,
    invalidate,
    dpop,
  })

  const client: TokenClient = {
    get,
    getAuthorization: async (getOptions) => `${scheme} ${await get(getOptions)}`,
    invalidate,
    async fetch(input, init) {
      try {
        return await authorized(input, init)
      } catch (error) {
        throw errorOf(error)
      }
    },
    status,
    close,
    [Symbol.asyncDispose]: close,
  }
  return client
}

import { createOAuthClient, type OAuthClient, type OAuthClientOptions } from '../../src/oauth.ts'
import { createLoginService, httpDate, jws, type LoginService } from '../login-service.ts'

// An authorization server for tests that decide every answer, in virtual time. What it gives has no real signature.

export const ISSUER = 'https://as.test'
export const ENDPOINT = 'https://as.test/token'
export const API = 'https://api.test'

export interface AuthorizationServer extends LoginService {
  /** How requests to other origins are answered. */
  api: LoginService['answer']
  /** The forms that it was sent, in their order. */
  forms(): readonly Readonly<Record<string, string>>[]
  /** The paths of the requests, in their order. */
  paths(): readonly string[]
  /** Answers with a new token. */
  grant(members?: Readonly<Record<string, unknown>>): Response
}

export function createServer(): AuthorizationServer {
  const service = createLoginService()
  let grants = 0
  const server: AuthorizationServer = Object.assign(service, {
    api: () => new Response('ok'),
    grant: (members: Readonly<Record<string, unknown>> = {}) =>
      Response.json(
        { access_token: `opaque-${grants++}`, token_type: 'Bearer', expires_in: 300, ...members },
        { headers: { date: httpDate(service.clock.now()) } },
      ),
    forms: () =>
      posts(service).map(({ init }) =>
        Object.fromEntries(new URLSearchParams(bodyOf(init)).entries()),
      ),
    paths: () => service.requests.map(({ url }) => new URL(url).pathname),
  })
  service.answer = async (request) => {
    const { origin, pathname } = new URL(request.url)
    if (origin !== ISSUER) return await server.api(request)
    if (pathname === '/token') return server.grant()
    if (pathname !== '/.well-known/oauth-authorization-server') {
      return new Response(null, { status: 404 })
    }
    return Response.json({ issuer: ISSUER, token_endpoint: ENDPOINT })
  }
  return server
}

/** The form of a request, which is always a text. */
export function bodyOf({ body }: RequestInit): string {
  if (typeof body !== 'string') throw new TypeError('no text')
  return body
}

/** The requests with a form. */
export function posts(service: LoginService) {
  return service.requests.filter(({ init }) => init.method === 'POST')
}

export function createClient(
  { clock, fetch }: LoginService,
  options: Partial<OAuthClientOptions> = {},
): OAuthClient {
  return createOAuthClient({
    tokenEndpoint: ENDPOINT,
    clientId: 'shop',
    ...('privateKey' in options || 'clientAssertion' in options || 'certificate' in options
      ? {}
      : { clientSecret: 'secret' }),
    origins: [API],
    clock,
    fetch,
    ...options,
  })
}

/** An answer whose body comes after four seconds. */
export function slowly(clock: LoginService['clock'], text: string): Response {
  return new Response(
    new ReadableStream({
      async pull(stream) {
        await new Promise<void>((resolve) => void clock.after(4, resolve))
        stream.enqueue(Buffer.from(text))
        stream.close()
      },
    }),
  )
}

/** What a guard has verified. */
export function authOf(exp: number | undefined, claims: object = {}) {
  const all = { sub: 'ada', ...(exp === undefined ? {} : { exp }), ...claims }
  return { token: jws(all), claims: all }
}

export const refusing =
  (error: unknown, status = 400) =>
  () =>
    Response.json({ error, error_description: 'canary' }, { status })

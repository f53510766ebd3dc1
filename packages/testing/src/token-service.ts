import type { TestIssuer } from './issuer.ts'
import { listen, type ListenOptions, type Listener } from './listen.ts'

export interface Login {
  readonly password: string
  /** Claims to add to this login's tokens. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined
  /** Seconds from `iat` to `exp` in this login's tokens; by default the issuer's. */
  readonly lifetime?: number | undefined
}

export interface TokenServiceOptions {
  /**
   * Who can log in, by `loginId`.
   * @default { demo: { password: 'demo' } }
   */
  logins?: Readonly<Record<string, Login>> | undefined
}

/** The token service, emulated. */
export interface TokenService {
  /** The URL that `fetch` answers under, for what wants to be given one. Nothing listens there. */
  readonly authUrl: string
  readonly keyUrl: string
  /** Answers as the service does, without a network. Fits wherever Portcullis takes a `fetch`. */
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>
  /** Serves the same on a port of 127.0.0.1, a free one by default. */
  listen(options?: ListenOptions): Promise<ListeningTokenService>
}

export interface ListeningTokenService extends Listener {
  readonly authUrl: string
  readonly keyUrl: string
}

const TOKEN_PATH = '/tokenservice/token/api'
const KEY_PATH = '/tokenservice/pubkey.json'
const MAX_FORM_OCTETS = 64 * 1024

/** Emulates the token service: `POST` for a token, with `loginId` and `password` as a form, and `GET` for the key. */
export function tokenService(
  issuer: TestIssuer,
  { logins = { demo: { password: 'demo' } } }: TokenServiceOptions = {},
): TokenService {
  const known = new Map(Object.entries(logins))

  async function answer(request: Request): Promise<Response> {
    switch (new URL(request.url).pathname) {
      case KEY_PATH:
        return request.method === 'GET' ? Response.json(issuer.publicJwk) : refuse(405, 'GET')
      case TOKEN_PATH:
        return request.method === 'POST' ? await logIn(request) : refuse(405, 'POST')
      default:
        return refuse(404)
    }
  }

  async function logIn(request: Request): Promise<Response> {
    const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
    if (type !== 'application/x-www-form-urlencoded') return refuse(415)
    const body = await request.text()
    if (body.length > MAX_FORM_OCTETS) return refuse(413)
    const form = new URLSearchParams(body)
    const loginId = form.get('loginId')
    const password = form.get('password')
    if (loginId === null || password === null) return refuse(400)
    const login = known.get(loginId)
    if (login === undefined || login.password !== password) return refuse(401)
    const { claims, lifetime } = login
    const token = await issuer.token({ claims: { sub: loginId, ...claims }, expiresIn: lifetime })
    return new Response(token, { headers: { 'content-type': 'text/plain' } })
  }

  return {
    ...urlsUnder('https://auth.test'),
    fetch: async (input, init) => await answer(new Request(input, init)),
    async listen(options) {
      const listener = await listen(answer, options)
      return { ...listener, ...urlsUnder(listener.url) }
    },
  }
}

function urlsUnder(authUrl: string): { authUrl: string; keyUrl: string } {
  return { authUrl, keyUrl: `${authUrl}${KEY_PATH}` }
}

function refuse(status: number, allow?: string): Response {
  return new Response(null, { status, headers: allow === undefined ? {} : { allow } })
}

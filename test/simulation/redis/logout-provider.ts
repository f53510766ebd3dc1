import { createHash, randomBytes } from 'node:crypto'

import { parseJson } from '@portcullis/kit/json'
import { exportJWK, generateKeyPair } from 'jose'
import { Provider } from 'oidc-provider'

import { serve, type Served } from '../../bound-tokens/serve.ts'

// A foreign OpenID provider, where users log in and out as browsers do: nothing of ours makes its tokens or its log-outs.

export const API = 'https://api.test'
export const CLIENT = 'web'
const SECRET = 'a secret of this client alone'
const CALLBACK = 'https://client.test/callback'

/** @param logoutUriOf Where a provider of this URL tells of log-outs. It is not asked for anything yet. */
export async function startProvider(
  logoutUriOf: (issuer: string) => Promise<string>,
): Promise<Served> {
  return await serve(async (url) => {
    const { privateKey } = await generateKeyPair('ES256', { extractable: true })
    const client = {
      client_id: CLIENT,
      client_secret: SECRET,
      token_endpoint_auth_method: 'client_secret_post' as const,
      redirect_uris: [CALLBACK],
      id_token_signed_response_alg: 'ES256' as const,
      backchannel_logout_uri: await logoutUriOf(url),
      backchannel_logout_session_required: true,
    }
    const provider = new Provider(url, {
      clients: [client],
      jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig' }] },
      clientAuthMethods: ['client_secret_post'],
      // Its own refuses addresses of this machine.
      async fetch(input, init = {}) {
        const { dispatcher: _dispatcher, ...usual } = init as RequestInit & { dispatcher?: unknown }
        return await fetch(input, usual)
      },
      cookies: { keys: ['a key of this test'] },
      features: {
        devInteractions: { enabled: true },
        backchannelLogout: { enabled: true },
        resourceIndicators: {
          enabled: true,
          defaultResource: () => API,
          useGrantedResource: () => true,
          getResourceServerInfo: () => ({
            scope: '',
            audience: API,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: 'ES256' } },
          }),
        },
      },
    })
    const handle = provider.callback()
    return (request, response) => void handle(request, response)
  })
}

/** A browser in which one user is logged in. */
export interface Browser {
  readonly accessToken: string
  /** Logs out at the provider, which tells its clients. */
  logOut(): Promise<void>
}

export async function logIn(provider: string, user: string): Promise<Browser> {
  const cookies = new Map<string, string>()

  /** Follows redirects within the provider, and answers the last page, or where it leads out. */
  async function visit(target: string, form?: Record<string, string>): Promise<string> {
    const { href, origin } = new URL(target, provider)
    if (origin !== new URL(provider).origin) return href
    const response = await fetch(href, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
      ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }),
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      cookies.set(name, value)
    }
    const location = response.headers.get('location')
    const page = await response.text()
    if (location !== null) return await visit(location)
    const [, action = ''] = /<form[^>]* action="([^"]+)"/.exec(page) ?? []
    const [, prompt] = /name="prompt" value="(\w+)"/.exec(page) ?? []
    if (prompt !== undefined) {
      return await visit(action, { prompt, login: user, password: 'any' })
    }
    const [, xsrf] = /name="xsrf" value="(\w+)"/.exec(page) ?? []
    return xsrf === undefined ? page : await visit(action, { xsrf, logout: 'yes' })
  }

  const verifier = randomBytes(32).toString('base64url')
  const query = new URLSearchParams({
    client_id: CLIENT,
    response_type: 'code',
    scope: 'openid',
    redirect_uri: CALLBACK,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  const code = new URL(await visit(`/auth?${String(query)}`)).searchParams.get('code') ?? ''
  const answer = await fetch(`${provider}/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: CLIENT,
      client_secret: SECRET,
      redirect_uri: CALLBACK,
      code,
      code_verifier: verifier,
    }),
  })
  const { access_token } = parseJson(await answer.text()) as { access_token: string }
  return {
    accessToken: access_token,
    async logOut() {
      await visit('/session/end')
    },
  }
}

import { createTokenClient } from '@portcullis/client'
import { createOAuthClient } from '@portcullis/client/oauth'
import { byIssuer, createVerifier, localRevocations, remoteKeys } from '@portcullis/core'
import { pollEvents, receiveLogout } from '@portcullis/events'
import { authenticate } from '@portcullis/hono'
import { introspected } from '@portcullis/introspection'
import { statusOf } from '@portcullis/metrics'
import { auth0 } from '@portcullis/providers'
import { createTestIssuer, tokenService } from '@portcullis/testing'
import { Hono, type MiddlewareHandler } from 'hono'

// A Worker for ended-requests.ts beside the folder: guards and clients, made outside of a request and at the first one. A
// request can give up before it has its answer, and so end what others wait for.

const AUTH_URL = String(process.env['AUTH_URL'])
const API = 'https://api.test'

interface Way {
  readonly guard: MiddlewareHandler
  readonly verify: (token: string) => Promise<unknown>
}

interface Made {
  readonly ways: Readonly<Record<string, Way>>
  readonly tokens: Readonly<Record<string, () => Promise<string>>>
}

function make(): Made {
  const keys = (path: string) =>
    remoteKeys(`${AUTH_URL}/keys/${path}`, { maxAge: 1, staleWhileRevalidate: 600 })
  const jwt = createVerifier({ keys: keys('jwt'), issuer: null, audience: null })
  const tenant = createVerifier({
    keys: keys('tenant'),
    issuer: 'https://auth.test',
    audience: null,
  })
  const tenants = byIssuer(async () => {
    await (await fetch(`${AUTH_URL}/tenant`)).text()
    return tenant
  })
  const opaque = introspected({
    issuer: AUTH_URL,
    audience: null,
    clientId: 'api',
    clientSecret: 'secret',
    allowInsecure: true,
    type: null,
    maxAge: 2,
  })
  const wayOf = (verifier: typeof jwt): Way => ({
    guard: authenticate(verifier),
    verify: async (token) => await verifier.verify(token),
  })
  const login = createTokenClient({
    authUrl: AUTH_URL,
    loginId: 'demo',
    password: 'secret',
    origins: [API],
  })
  const oauth = createOAuthClient({
    issuer: AUTH_URL,
    clientId: 'api',
    clientSecret: 'secret',
    origins: [API],
  })
  return {
    ways: { jwt: wayOf(jwt), tenants: wayOf(tenants), opaque: wayOf(opaque) },
    tokens: {
      login: async () => await login.get(),
      oauth: async () => await oauth.get(),
    },
  }
}

const outside = make()
let inside: Made | undefined

/** What cannot be kept on this runtime says so where it is made. */
function complaintOf(making: () => unknown): string {
  try {
    making()
    return 'none'
  } catch (error) {
    return String(error)
  }
}

const complaints = {
  pollEvents: complaintOf(() =>
    pollEvents({
      endpoint: `${AUTH_URL}/poll`,
      fetch: async (...asked) => await fetch(...asked),
      keys: remoteKeys(`${AUTH_URL}/keys/events`),
      issuer: 'https://auth.test',
      audience: 'api',
      revokes: 'subject',
      revocations: { revokeIssuedBefore: async () => {} },
    }),
  ),
}

const app = new Hono()
app.get('/complaints', (c) => c.json(complaints))
// The packages that the other routes do not use.
app.get('/packages', async (c) => {
  const issuer = await createTestIssuer({ algorithm: 'ES256' })
  const { keyUrl, fetch: answers } = tokenService(issuer)
  const preset = auth0({ domain: 'tenant.eu.auth0.com', audience: 'https://api.example.com' })
  const refused = await createVerifier(preset)
    .verify('a.b.c')
    .catch((error: unknown) => (error as { reason: string }).reason)
  const logout = receiveLogout({
    keys: remoteKeys(keyUrl, { fetch: answers }),
    issuer: 'https://login.example.com',
    clientId: 'my-client',
    revocations: localRevocations(),
    revokes: 'session',
  })
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const { status } = await logout.answer({ headers, body: 'logout_token=a.b.c' })
  const keys = remoteKeys(keyUrl, { fetch: answers })
  await keys.refresh()
  return c.json([refused, status, statusOf({ keys: { main: keys } }).keys.main.freshness])
})
app.use('/:made/:what', async (c, next) => {
  const { made, what } = c.req.param()
  const { ways, tokens } = made === 'outside' ? outside : (inside ??= make())
  const way = ways[what]
  const token = c.req.header('authorization')?.slice('Bearer '.length) ?? ''
  const givesUp = c.req.query('leave') !== undefined
  const answer = way === undefined ? tokens[what]?.() : givesUp ? way.verify(token) : undefined
  if (givesUp) {
    await Promise.race([answer?.catch(() => undefined), fetch(`${AUTH_URL}/leave`)])
    return c.text('left')
  }
  if (way !== undefined) return await way.guard(c, next)
  await answer
  return await next()
})
app.get('/:made/:what', (c) => c.text('ok'))
app.onError((error, c) => {
  const { code, reason, status = 500 } = error as { code?: string; reason?: string; status?: 500 }
  return c.text(`${error.name} ${code} ${reason} ${error.message}`, status)
})

export default app

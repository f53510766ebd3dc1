import { createHash } from 'node:crypto'

import {
  type AuthError,
  createVerifier,
  dpopProofs,
  type GuardOptions,
  mutualTls,
  scope,
  type Verifier,
} from '@portcullis/core'
import { byForm, introspected } from '@portcullis/introspection'
import {
  createTestIssuer,
  dpopClient,
  introspectionService,
  manualClock,
} from '@portcullis/testing'
import request, { type Response as Answer } from 'supertest'
import { describe, expect, test, vi } from 'vitest'

import type { Application, AppSpec } from './frameworks/framework.ts'
import { frameworks } from './frameworks/index.ts'
import { sendRaw } from './raw.ts'
import { oneOfEach } from './tokens.ts'

// What every adapter must do with tokens that only their issuer can read: the same as with JWTs, and 503 while nobody can tell.

const ORIGIN = 'https://api.example.com'
const UNPROVEN =
  'Bearer realm="api", error="invalid_token", error_description="The access token is not valid"'

const clock = manualClock()
const issuer = await createTestIssuer({
  clock,
  algorithm: 'ES256',
  issuer: 'https://auth.test',
  audience: 'api',
  maxTokenAge: 7200,
})
const service = introspectionService(issuer)
const claims = { sub: 'ada', scope: 'read' }

const opaque = () => introspected({ ...service.verifierOptions, requiredClaims: ['sub'] })

function guarded(verifier: Verifier, options: GuardOptions = {}): AppSpec {
  return {
    guards: [{ verifier, options }],
    routes: [
      { path: '/', handle: (view) => view.getAuth(verifier).claims },
      { path: '/write', requirements: [scope('write')], handle: () => ({}) },
    ],
    silent: true,
  }
}

async function get(app: Application, token: string, path = '/'): Promise<Answer> {
  return await request(app.url).get(path).set('authorization', `Bearer ${token}`)
}

/** Begins a request at once, which supertest alone does when it is awaited. */
async function startGet(app: Application): Promise<Answer> {
  return await get(app, service.issue({ claims }))
}

/** Its issuer has tokens of at least 12 characters, some of which no b64token has. */
function withForm() {
  const asked: (string | null)[] = []
  const verifier = introspected({
    issuer: 'https://auth.test',
    endpoint: 'https://auth.test/introspect',
    audience: 'api',
    clientId: 'api',
    clientSecret: 'secret',
    form: { length: [12, 64], alphabet: 'abcdefghijklmnopqrstuvwxyz:|=' },
    fetch: async (_, init) => {
      asked.push(new URLSearchParams(init.body).get('token'))
      const token = { token_type: 'Bearer', iss: 'https://auth.test', aud: 'api', ...claims }
      return await Promise.resolve(Response.json({ active: true, ...token }))
    },
  })
  return { verifier, asked }
}

/** Options of a guard that note what is refused. */
function noting() {
  const reasons: string[] = []
  const onRefusal = ({ code, reason }: AuthError) => void reasons.push(`${code} ${reason}`)
  return { options: { onRefusal }, reasons }
}

/** Tells whether somebody has begun to wait. */
function countTimers() {
  let timers = 0
  const after: typeof clock.after = (...timer) => {
    timers++
    return clock.after(...timer)
  }
  return { clock: { ...clock, after }, timers: () => timers }
}

const questions = () =>
  issuer.requests().filter(({ endpoint }) => endpoint === 'introspection').length

const bad = await service.badAnswers({ claims })
const asRefused = oneOfEach(bad.filter(({ code }) => code === 'invalid_token'))
const asUnknown = oneOfEach(bad.filter(({ code }) => code !== 'invalid_token'))

/** All that an answer can be refused for is in `badAnswers()`, but what a verifier asks for by its options. */
const missing = { code: 'invalid_token', reason: 'missing_claim', name: 'missing sub' } as const

describe.each(frameworks)('$name', ({ createApp }) => {
  test('lets an opaque token in, with the claims of the answer, and asks once', async () => {
    await using app = await createApp(guarded(opaque()))
    const token = service.issue({ claims })
    const before = questions()
    for (let each = 0; each < 2; each++) {
      await expect(get(app, token)).resolves.toMatchObject({ status: 200, body: claims })
    }
    expect(questions()).toBe(before + 1)
    const { status, headers } = await get(app, token, '/write')
    expect([status, headers['www-authenticate']]).toEqual([
      403,
      expect.stringMatching(/^Bearer realm="api", error="insufficient_scope".*scope="write"$/),
    ])
  })

  test('lets in a token outside b64token whose form is stated, and asks about nothing else', async () => {
    const { options, reasons } = noting()
    const { verifier, asked } = withForm()
    await using app = await createApp(guarded(verifier, options))
    await expect(get(app, 'user:grant|a=b')).resolves.toMatchObject({ status: 200, body: claims })
    const others = ['user:grant', 'user grant', 'a;b', "a'b", 'é|', 'user:grant%7Cb']
    const answers = await Promise.all(
      others.map(async (token) => await sendRaw(app.port, [`Authorization: Bearer ${token}`])),
    )
    expect(answers.map(({ status }) => status)).toEqual(others.map(() => 401))
    expect(new Set(reasons)).toEqual(new Set(['invalid_token malformed']))
    expect(asked).toEqual(['user:grant|a=b'])
    await using strict = await createApp(guarded(opaque()))
    await expect(get(strict, 'user:grant|a=b')).resolves.toMatchObject({ status: 401 })
  })

  test('tells JWTs and opaque tokens apart, and asks nobody about a JWT that is refused', async () => {
    const jwt = createVerifier(issuer.verifierOptions)
    await using app = await createApp(guarded(byForm({ jwt, opaque: opaque() })))
    await expect(get(app, await issuer.token({ claims }))).resolves.toMatchObject({
      status: 200,
      body: claims,
    })
    await expect(get(app, service.issue({ claims }))).resolves.toMatchObject({ status: 200 })
    const before = questions()
    const expired = await get(app, await issuer.token({ claims, expiresIn: -60 }))
    expect([expired.status, questions()]).toEqual([401, before])
  })

  test('inactive: 401, and all tokens that the issuer does not know get the same octets', async () => {
    const { options, reasons } = noting()
    await using app = await createApp(guarded(opaque(), options))
    const revoked = service.issue({ claims })
    service.revoke(revoked)
    const tokens = [revoked, 'invented', service.issue({ claims, expiresIn: -1 })]
    const answers = await Promise.all(
      tokens.map(async (token) => await sendRaw(app.port, [`Authorization: Bearer ${token}`])),
    )
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(answers[0]?.text).toContain(UNPROVEN)
    expect(new Set(reasons)).toEqual(new Set(['invalid_token inactive']))
  })

  test.each([...asRefused, { ...missing, token: service.issue() }])(
    '$name: 401 $reason',
    async ({ token, reason }) => {
      const { options, reasons } = noting()
      await using app = await createApp(guarded(opaque(), options))
      const { status, headers } = await get(app, token)
      expect([status, ...reasons]).toEqual([401, `invalid_token ${reason}`])
      expect(headers['www-authenticate']).toMatch(/^Bearer realm="api", error="invalid_token"/)
    },
  )

  test.each(asUnknown)(
    '$name: 503 $reason with Retry-After, and no challenge',
    async ({ token, reason }) => {
      const { options, reasons } = noting()
      await using app = await createApp(guarded(opaque(), options))
      expectUnavailable(await get(app, token))
      expect(reasons).toEqual([`introspection_unavailable ${reason}`])
    },
  )

  test('a call that takes too long: 503 timeout, with Retry-After', async () => {
    const { options, reasons } = noting()
    await using app = await createApp(guarded(opaque(), options))
    const outage = issuer.outage('hang')
    const before = questions()
    const answer = startGet(app)
    await vi.waitFor(() => {
      expect(questions()).toBe(before + 1)
    }, 60_000)
    await clock.advance(5)
    outage.restore()
    expectUnavailable(await answer)
    expect(reasons).toEqual(['introspection_unavailable timeout'])
  })

  test('a call that cannot begin in time: 503 busy, with Retry-After', async () => {
    const counting = countTimers()
    const verifier = introspected({
      ...service.verifierOptions,
      maxCalls: 1,
      clock: counting.clock,
    })
    const { options, reasons } = noting()
    await using app = await createApp(guarded(verifier, options))
    const outage = issuer.outage('slow', { delay: 4 })
    const before = questions()
    const first = startGet(app)
    await vi.waitFor(() => {
      expect(questions()).toBe(before + 1)
    }, 60_000)
    const timers = counting.timers()
    const second = startGet(app)
    await vi.waitFor(() => {
      expect(counting.timers()).toBeGreaterThan(timers)
    }, 60_000)
    await clock.advance(5)
    outage.restore()
    await expect(first).resolves.toMatchObject({ status: 200 })
    expectUnavailable(await second)
    expect(reasons).toEqual(['introspection_unavailable busy'])
  })

  test('an opaque token that is bound to a key needs its proof', async () => {
    const client = await dpopClient({ clock, algorithm: 'ES256' })
    const dpop = dpopProofs({ origin: ORIGIN, clock })
    await using app = await createApp(guarded(opaque(), { dpop }))
    const token = service.issue({ claims, boundTo: client })
    const headers = await client.headers({ method: 'GET', url: `${ORIGIN}/`, token })
    const send = async () =>
      await request(app.url)
        .get('/')
        .set({ ...headers })
    await expect(send()).resolves.toMatchObject({ status: 200, body: claims })
    await expect(send()).resolves.toMatchObject({ status: 401 })
    const stolen = await get(app, token)
    expect([stolen.status, stolen.headers['www-authenticate']]).toEqual([
      401,
      expect.stringContaining('bound to another key'),
    ])
    const unbound = service.issue({ claims })
    const wrong = await client.headers({ method: 'GET', url: `${ORIGIN}/`, token: unbound })
    await expect(
      request(app.url)
        .get('/')
        .set({ ...wrong }),
    ).resolves.toMatchObject({ status: 401 })
  })
})

// A `Request` of the Fetch standard has no connection.
describe.each(frameworks.filter(({ name }) => name !== 'Request'))(
  'an opaque token that is bound to a certificate, in $name,',
  ({ createApp }) => {
    test('is accepted with it alone', async () => {
      const digest = createHash('sha256').update('a certificate')
      const x5tS256 = digest.copy().digest('base64url')
      const header = 'X-Forwarded-Client-Cert'
      const options = {
        mutualTls: mutualTls({ header, format: 'xfcc', proxies: ['127.0.0.1'] }),
      }
      await using app = await createApp(guarded(opaque(), options))
      const token = service.issue({ claims, boundTo: { x5tS256 } })
      const shown = `By=a;Hash=${digest.digest('hex')}`
      const accepted = await get(app, token).then((answer) => answer.status)
      expect(accepted).toBe(401)
      const send = request(app.url).get('/').set('authorization', `Bearer ${token}`)
      await expect(send.set(header, shown)).resolves.toMatchObject({ status: 200, body: claims })
    })
  },
)

function expectUnavailable({ status, headers, text }: Answer): void {
  expect([status, headers['www-authenticate'], headers['cache-control']]).toEqual([
    503,
    undefined,
    'no-store',
  ])
  expect(headers['retry-after']).toMatch(/^[1-9]\d*$/)
  expect(text).not.toMatch(/opaque_|secret|auth\.test/)
}

import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'

import {
  AuthError,
  check,
  claim,
  createVerifier,
  localKeys,
  remoteKeys,
  scope,
  type Verifier,
} from '@portcullis/core'
import { createTestIssuer, manualClock, tokenService } from '@portcullis/testing'
import express5 from 'express'
import express4 from 'express4'
import request from 'supertest'
import { describe, expect, test } from 'vitest'

import { authenticate, authorize, findAuth, getAuth } from '../src/index.ts'

const issuer = await createTestIssuer()
const stranger = await createTestIssuer()
const verifier = createVerifier({
  keys: localKeys(issuer.publicJwk),
  issuer: null,
  audience: null,
})
const bearer = await issuer.bearer({ claims: { sub: 'ada', scope: 'read', role: 'user' } })

const expired = await issuer.bearer({ expiresIn: -60 })
const foreign = await stranger.bearer()

// The part of an application that both majors type alike.
interface App extends RequestListener {
  (...args: Parameters<RequestListener>): void
  use: (...handlers: unknown[]) => unknown
  all: (path: string, ...handlers: unknown[]) => unknown
}

interface Reply {
  json: (value: unknown) => void
  status: (status: number) => Reply
}

const frameworks: [string, () => App][] = [
  ['Express 5', () => quiet(express5())],
  ['Express 4', () => quiet(express4())],
]

describe.each(frameworks)('%s', (_name, createApp) => {
  function guarded(guard = authenticate(verifier), ...more: unknown[]): App {
    const app = createApp()
    app.use(guard)
    app.all('/', ...more, (req: object, res: Reply) => {
      res.json({ claims: findAuth(req)?.claims ?? null })
    })
    return app
  }

  test('lets a good token in and hands its claims to the handler', async () => {
    const response = await request(guarded()).post('/').set(bearer)
    expect(response.status).toBe(200)
    expect(response.body).toMatchObject({ claims: { sub: 'ada' } })
  })

  test.each([
    ['no token', {}, 'Bearer realm="api"'],
    ['another scheme', { authorization: 'Basic YTpi' }, 'Bearer realm="api"'],
  ])('%s: 401 and a challenge without an error code', async (_title, headers, challenge) => {
    const response = await request(guarded()).get('/').set(headers)
    expect(response.status).toBe(401)
    expect(response.headers).toMatchObject({
      'www-authenticate': challenge,
      'cache-control': 'no-store',
    })
  })

  test.each([
    ['expired', expired, /error_description="The access token has expired"/],
    ['of another key', foreign, /error_description="The access token is not valid"/],
    ['tampered', tampered(), /error_description="The access token is not valid"/],
    ['with alg none', none(), /error_description="The access token is not valid"/],
  ])('a token %s: 401 invalid_token', async (_title, headers, description) => {
    const response = await request(guarded()).get('/').set(headers)
    expect(response.status).toBe(401)
    const challenge = String(response.headers['www-authenticate'])
    expect(challenge).toMatch(/^Bearer realm="api", error="invalid_token", /)
    expect(challenge).toMatch(description)
    expect(response.text).not.toMatch(/node_modules|at \w+ \(/)
  })

  test('a property that somebody has fixed before: 500, and the handler never sees that one', async () => {
    const app = createApp()
    app.use((req: object, _res: object, next: () => void) => {
      Object.defineProperty(req, 'auth', { value: { claims: { sub: 'mallory' } } })
      next()
    })
    app.use(authenticate(verifier))
    app.all('/', (req: { auth: unknown }, res: Reply) => {
      res.json(req.auth)
    })
    const response = await request(app).get('/').set(bearer)
    expect(response.status).toBe(500)
    expect(response.text).not.toContain('mallory')
  })

  test('Bearer a b: 400 invalid_request', async () => {
    const response = await request(guarded()).get('/').set({ authorization: 'Bearer a b' })
    expect(response.status).toBe(400)
    expect(response.headers['www-authenticate']).toContain('error="invalid_request"')
  })

  test('two Authorization headers: 400, though Node shows only the first', async () => {
    const answer = await raw(guarded(), [
      'GET / HTTP/1.1',
      'Host: api',
      `Authorization: ${bearer.authorization}`,
      'authorization: Bearer x',
      'Connection: close',
    ])
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).toContain('The request must have one Authorization header')
  })

  test('a CORS preflight is refused like any request, and the handler never runs', async () => {
    let ran = false
    const app = guarded(authenticate(verifier), (_req: object, _res: object, next: () => void) => {
      ran = true
      next()
    })
    const response = await request(app)
      .options('/')
      .set({ origin: 'https://web.test', 'access-control-request-method': 'POST' })
    expect(response.status).toBe(401)
    expect(ran).toBe(false)
  })

  test('keys that cannot be had: 503 with Retry-After and no challenge, then recovery', async () => {
    const clock = manualClock(Date.now() / 1000) // by which the tokens were issued
    const service = tokenService(issuer)
    let isDown = true
    const keys = remoteKeys(service.keyUrl, {
      clock,
      fetch: async (...args) => {
        if (isDown) throw new Error('down')
        return await service.fetch(...args)
      },
    })
    const app = guarded(authenticate(createVerifier({ keys, issuer: null, audience: null })))
    const refused = await request(app).get('/').set(bearer)
    expect(refused.status).toBe(503)
    expect(refused.headers['retry-after']).toMatch(/^[12]$/)
    expect(refused.headers).not.toHaveProperty('www-authenticate')
    isDown = false
    await clock.advance(2)
    await expect(request(app).get('/').set(bearer)).resolves.toMatchObject({ status: 200 })
  })

  test.each([
    ['a scope', scope('read write'), 'scope', 'The access token lacks a required scope'],
    ['a claim', claim('role', 'admin'), undefined, 'The access token lacks a required claim value'],
    ['a check', check(() => false), undefined, 'The access token does not permit this request'],
  ])('%s that is missing: 403', async (_title, requirement, parameter, description) => {
    const app = guarded(authenticate(verifier), authorize(scope('read'), requirement))
    const response = await request(app).get('/').set(bearer)
    expect(response.status).toBe(403)
    const tail = parameter === undefined ? '' : ', scope="read write"'
    expect(response.headers['www-authenticate']).toBe(
      `Bearer realm="api", error="insufficient_scope", error_description="${description}"${tail}`,
    )
  })

  test('requirements that are met let the request on', async () => {
    const app = guarded(
      authenticate(verifier),
      authorize(
        scope('read'),
        claim('role', ['user', 'admin']),
        check(() => Promise.resolve(true)),
      ),
    )
    await expect(request(app).get('/').set(bearer)).resolves.toMatchObject({ status: 200 })
  })

  test('a check that throws fails closed with 500, and says nothing', async () => {
    const faulty = check(() => {
      throw new Error('canary')
    })
    const app = guarded(authenticate(verifier), authorize(faulty))
    app.use((error: Error, _req: object, res: Reply, next: unknown) => {
      expect(typeof next).toBe('function')
      res.status(500).json({ isAuthError: error instanceof AuthError })
    })
    const response = await request(app).get('/').set(bearer)
    expect(response.body).toEqual({ isAuthError: false })
  })

  test('a requirement without a guard is a fault of the application: 500', async () => {
    const app = createApp()
    app.use(authorize(scope('read')))
    await expect(request(app).get('/').set(bearer)).resolves.toMatchObject({ status: 500 })
  })

  test('optional: an anonymous request goes on, a bad token and a requirement do not', async () => {
    const app = guarded(authenticate(verifier, { optional: true }))
    const anonymous = await request(app).get('/')
    expect(anonymous.body).toEqual({ claims: null })
    const bad = await request(app).get('/').set({ authorization: 'Bearer bad' })
    expect(bad.status).toBe(401)
    const needy = guarded(authenticate(verifier, { optional: true }), authorize(scope('read')))
    const refused = await request(needy).get('/')
    expect(refused.headers['www-authenticate']).toBe('Bearer realm="api"')
  })

  test('realm and resourceMetadata are in every challenge, that of authorize too', async () => {
    const presentation = { realm: 'the "api"', resourceMetadata: 'https://api.test/meta' }
    const app = guarded(authenticate(verifier, presentation), authorize(scope('write')))
    const missing = await request(app).get('/')
    expect(missing.headers['www-authenticate']).toBe(
      String.raw`Bearer realm="the \"api\"", resource_metadata="https://api.test/meta"`,
    )
    const lacking = await request(app).get('/').set(bearer)
    expect(lacking.headers['www-authenticate']).toMatch(
      /^Bearer realm="the .*", error="insufficient_scope".*resource_metadata="https:\/\/api.test\/meta"$/,
    )
  })

  test('respond: problem answers itself, with what the client may know', async () => {
    const app = guarded(authenticate(verifier, { respond: 'problem' }), authorize(scope('write')))
    const unproven = await request(app).get('/').set(foreign)
    expect(unproven.headers['content-type']).toBe('application/problem+json')
    expect(JSON.parse(unproven.text)).toEqual({
      type: 'about:blank',
      title: 'Unauthorized',
      status: 401,
      detail: 'The access token is not valid',
      code: 'invalid_token',
    })
    const lacking = await request(app).get('/').set(bearer)
    expect(JSON.parse(lacking.text)).toMatchObject({ status: 403, reason: 'scope' })
  })

  test('onRefusal is told once for each refusal', async () => {
    const reasons: string[] = []
    const onRefusal = (error: AuthError, { url }: { url?: string | undefined }) => {
      reasons.push(`${url} ${error.reason}`)
    }
    const app = guarded(authenticate(verifier, { onRefusal }), authorize(scope('write')))
    await request(app).get('/?1').set(foreign)
    await request(app).get('/?2').set(bearer)
    expect(reasons).toEqual(['/?1 signature', '/?2 scope'])
  })

  test('an error handler that forgets the headers keeps the challenge', async () => {
    const app = guarded()
    app.use((error: AuthError, _req: object, res: Reply, next: unknown) => {
      expect(typeof next).toBe('function')
      res.status(error.status).json({ message: error.message })
    })
    const response = await request(app).get('/')
    expect(response.headers['www-authenticate']).toBe('Bearer realm="api"')
    expect(response.body).toEqual({ message: 'An access token is required' })
  })

  test('property names where the proof is put, and nothing that was there before survives', async () => {
    const app = createApp()
    app.use((req: { user?: string }, _res: object, next: () => void) => {
      req.user = 'forged'
      next()
    })
    app.use(authenticate(verifier, { property: 'user', optional: true }))
    app.all('/', (req: { user?: unknown }, res: Reply) => {
      res.json({ user: req.user ?? null })
    })
    const proven = await request(app).get('/').set(bearer)
    expect(proven.body).toMatchObject({ user: { claims: { sub: 'ada' } } })
    const anonymous = await request(app).get('/')
    expect(anonymous.body).toEqual({ user: null })
  })

  test('two guards: each verifier has its own proof, and the last is the default', async () => {
    const other: Verifier = createVerifier({
      keys: localKeys(issuer.publicJwk),
      issuer: null,
      audience: null,
    })
    const app = createApp()
    app.use(authenticate(verifier), authenticate(other))
    app.all('/', (req: object, res: Reply) => {
      const first = getAuth(req, verifier)
      const last = getAuth(req, other)
      res.json([getAuth(req) === last, first === last])
    })
    const response = await request(app).get('/').set(bearer)
    expect(response.body).toEqual([true, false])
  })
})

test('the types of both majors take the middleware without a cast', () => {
  const middleware = [authenticate(verifier), authorize(scope('read'))]
  expect(express5().use('/v1', ...middleware)).toBeTypeOf('function')
  expect(express4().use('/v1', ...middleware)).toBeTypeOf('function')
  expect(express5.Router().get('/', authenticate(verifier))).toBeTypeOf('function')
  expect(express4.Router().get('/', authenticate(verifier))).toBeTypeOf('function')
})

describe('the options', () => {
  test.each<[string, object, RegExp]>([
    ['a misspelt one', { realms: 'api' }, /unknown option "realms"/],
    ['a realm with a line break', { realm: 'a\r\nb' }, /realm must be/],
    [
      'metadata that is no URL',
      { resourceMetadata: 'meta' },
      /resourceMetadata is not an absolute URL/,
    ],
    ['a word that is no way to respond', { respond: 'json' }, /respond must be one of/],
    ['a property that is none', { property: '__proto__' }, /property must be/],
  ])('are refused at start-up: %s', (_title, options, message) => {
    expect(() => authenticate(verifier, options)).toThrow(message)
  })

  test('a guard without a verifier is refused at start-up', () => {
    expect(() => authenticate({} as Verifier)).toThrow(TypeError)
  })

  test.each([
    ['authenticate', authenticate, 'a verifier: write authenticate(verifier, options)'],
    ['authorize', authorize, "a requirement, as in authorize(scope('read'))"],
  ])(
    '%s itself as middleware: no request passes, and each is told what to write',
    async (_name, middleware, told) => {
      for (const app of [quiet(express5()), quiet(express4())]) {
        app.use(middleware)
        app.use((_req: unknown, res: ServerResponse) => {
          res.end('open')
        })
        const answer = await request(app).get('/').set(bearer)
        expect(answer.status).toBe(500)
        expect(answer.text.replaceAll('&#39;', "'")).toContain(`must be ${told}`)
      }
    },
  )

  test('getAuth without a guard is a TypeError', () => {
    expect(() => getAuth({})).toThrow(/no guard has seen the request/)
  })
})

/** Express writes errors to stderr unless it is told that this is a test. */
function quiet(app: { set: (name: string, value: string) => unknown }): App {
  app.set('env', 'test')
  return app as unknown as App // both majors have what `App` names, with types of their own
}

function tampered(): { authorization: string } {
  const [header, , signature] = bearer.authorization.split('.')
  const payload = Buffer.from('{"sub":"eve","exp":4000000000}').toString('base64url')
  return { authorization: `${header}.${payload}.${signature}` }
}

function none(): { authorization: string } {
  const [, payload, signature] = bearer.authorization.split('.')
  const header = Buffer.from('{"alg":"none"}').toString('base64url')
  return { authorization: `Bearer ${header}.${payload}.${signature}` }
}

/** Sends what HTTP libraries refuse to send. */
async function raw(app: RequestListener, lines: readonly string[]): Promise<string> {
  const server = createServer(app).listen(0, '127.0.0.1')
  try {
    await once(server, 'listening')
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.end([...lines, '', ''].join('\r\n'))
    let answer = ''
    for await (const chunk of socket) answer += String(chunk)
    return answer
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

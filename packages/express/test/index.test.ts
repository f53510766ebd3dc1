import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

import { createVerifier, localKeys, scope, type Verifier } from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'
import express5 from 'express'
import express4 from 'express4'
import request from 'supertest'
import { describe, expect, test } from 'vitest'

import { authenticate, authorize } from '../src/index.ts'

// What is so with Express alone. What every framework has in common is in test/frameworks/contract.

const issuer = await createTestIssuer()
const verifier = verifierOf()
const bearer = await issuer.bearer()

// The part of an application that both majors type alike.
interface App extends RequestListener {
  (...args: Parameters<RequestListener>): void
  use: (...handlers: unknown[]) => unknown
  all: (path: string, ...handlers: unknown[]) => unknown
}

interface Reply {
  json: (value: unknown) => void
}

const frameworks: [string, () => App][] = [
  ['Express 5', () => quiet(express5())],
  ['Express 4', () => quiet(express4())],
]

/** A response that has begun: whatever is set on it now throws, and behind a promise nobody catches that. */
function begunResponse() {
  const touched: string[] = []
  const response = {
    headersSent: true,
    statusCode: 200,
    setHeader: (name: string) => void touched.push(name),
    end: () => void touched.push('end'),
  }
  return { response: response as unknown as ServerResponse, touched }
}

describe.each(['forward', 'problem'] as const)(
  'a response that has begun, respond: %s',
  (respond) => {
    const guard = authenticate(verifier, { respond })

    async function errorOf(
      middleware: typeof guard,
      incoming: object,
      response: ServerResponse,
    ): Promise<unknown> {
      return await new Promise((resolve) => {
        middleware(incoming as IncomingMessage, response, resolve)
      })
    }

    test('is left alone by a refusal of authenticate, which the error handler gets', async () => {
      const { response, touched } = begunResponse()
      const error = await errorOf(guard, { headers: {} }, response)
      expect(error).toMatchObject({ code: 'missing_token', status: 401 })
      expect([touched, response.statusCode]).toEqual([[], 200])
    })

    test('is left alone by a refusal of authorize', async () => {
      const { response, touched } = begunResponse()
      const incoming = { headers: bearer }
      expect(await errorOf(guard, incoming, response)).toBeUndefined()
      const error = await errorOf(authorize(scope('admin')), incoming, response)
      expect(error).toMatchObject({ code: 'insufficient_scope', status: 403 })
      expect([touched, response.statusCode]).toEqual([[], 200])
    })
  },
)

test.each<[string, (incoming: object) => object]>([
  ['frozen', Object.freeze],
  ['a proxy that refuses it', (incoming) => new Proxy(incoming, { defineProperty: () => false })],
])('a request that is %s: a TypeError, also for a remembered token', async (_, prepare) => {
  const guard = authenticate(verifierOf())
  for (let count = 0; count < 2; count++) {
    const incoming = prepare({ headers: bearer }) as IncomingMessage
    const error = await new Promise((resolve) => {
      guard(incoming, {} as ServerResponse, resolve)
    })
    expect(error).toEqual(new TypeError('authenticate: cannot set request.auth'))
  }
})

describe.each(frameworks)('%s', (_name, createApp) => {
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

  test('the proof is the own property of a request, whatever the prototype has under its name', async () => {
    const app = createApp()
    let assigned = 0
    Object.defineProperty(Reflect.get(app, 'request'), 'auth', {
      get: () => ({ claims: { sub: 'mallory' } }),
      set() {
        assigned += 1
      },
    })
    app.use(authenticate(verifier))
    app.all('/', (req: { auth: { claims: { sub?: unknown } } }, res: Reply) => {
      res.json([Object.hasOwn(req, 'auth'), req.auth.claims.sub])
    })
    const ada = await issuer.bearer({ claims: { sub: 'ada' } })
    expect((await request(app).get('/').set(ada)).body).toEqual([true, 'ada'])
    expect(assigned).toBe(0)
  })

  test('a refused request shows an error handler no claims', async () => {
    const app = createApp()
    app.use(authenticate(verifier))
    app.use((_error: unknown, req: object, res: Reply, _next: unknown) => {
      res.json({ shown: 'auth' in req })
    })
    const expired = await issuer.bearer({ expiresIn: -60 })
    for (const headers of [{}, expired]) {
      expect((await request(app).get('/').set(headers)).body).toEqual({ shown: false })
    }
  })

  test('an anonymous request keeps nothing that was in the property before', async () => {
    const app = createApp()
    app.use((req: { user?: string }, _res: object, next: () => void) => {
      req.user = 'forged'
      next()
    })
    app.use(authenticate(verifier, { property: 'user', optional: true }))
    app.all('/', (req: { user?: unknown }, res: Reply) => {
      res.json({ user: req.user ?? null })
    })
    expect((await request(app).get('/')).body).toEqual({ user: null })
  })
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

function verifierOf(): Verifier {
  return createVerifier({ keys: localKeys(issuer.publicJwk), issuer: null, audience: null })
}

/** Express writes errors to stderr unless it is told that this is a test. */
function quiet(app: { set: (name: string, value: string) => unknown }): App {
  app.set('env', 'test')
  return app as unknown as App // both majors have what `App` names, with types of their own
}

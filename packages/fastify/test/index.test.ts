import { once } from 'node:events'
import { connect } from 'node:http2'
import type { AddressInfo } from 'node:net'

import {
  AuthError,
  createVerifier,
  localKeys,
  protectedResourceMetadata,
  remoteKeys,
  scope,
  type Verifier,
} from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'
import fastify5, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import fastify4 from 'fastify4'
import { describe, expect, test } from 'vitest'

import { authenticate, authorize, findAuth, getAuth, serveMetadata } from '../src/index.ts'

// What is so with Fastify alone. What every framework has in common is in test/frameworks/contract.

const issuer = await createTestIssuer()
const verifier = verifierOf()
const bearer = await issuer.bearer({ claims: { sub: 'ada', scope: 'read' } })

const expired = await issuer.bearer({ expiresIn: -60 })

const frameworks: [string, (options?: FastifyServerOptions) => FastifyInstance][] = [
  ['Fastify 5', (options) => fastify5(options)],
  // What these tests use, both majors have alike, with types of their own.
  ['Fastify 4', (options) => fastify4(options as never) as unknown as FastifyInstance],
]

describe.each(frameworks)('%s', (_name, createApp) => {
  describe('the scope', () => {
    test('authentication comes before the body is read', async () => {
      let parsed = 0
      const app = createApp()
      app.addContentTypeParser('application/count', { parseAs: 'string' }, (_req, body, done) => {
        parsed += 1
        done(null, body)
      })
      await app.register(authenticate(verifier))
      app.post('/', (request) => request.body)
      const call = { method: 'POST', url: '/', payload: 'text' } as const
      const type = { 'content-type': 'application/count' }
      const refused = await app.inject({ ...call, headers: type })
      expect([refused.statusCode, parsed]).toEqual([401, 0])
      const accepted = await app.inject({ ...call, headers: { ...type, ...bearer } })
      expect([accepted.statusCode, parsed]).toEqual([200, 1])
    })
  })

  describe('request.auth', () => {
    test('is under the name that property gives, and not under the usual one', async () => {
      const app = createApp()
      await app.register(authenticate(verifier, { property: 'user' }))
      app.get('/', (request) => [
        'auth' in request,
        Reflect.get(request, 'user') === getAuth(request),
      ])
      const response = await app.inject({ url: '/', headers: bearer })
      expect(response.json()).toEqual([false, true])
    })

    test('throws a TypeError for an anonymous request, where findAuth is undefined', async () => {
      const app = createApp()
      await app.register(authenticate(verifier, { optional: true }))
      app.get('/', (request) => [outcome(() => request.auth), outcome(() => findAuth(request))])
      const response = await app.inject({ url: '/' })
      expect(response.json()).toEqual(['TypeError', 'undefined'])
    })

    test('throws a TypeError where no guard has run, as do getAuth and findAuth', async () => {
      const app = createApp()
      await app.register(authenticate(verifier))
      app.get('/', { config: { auth: false } }, (request) => [
        outcome(() => request.auth),
        outcome(() => getAuth(request)),
        outcome(() => findAuth(request)),
      ])
      const response = await app.inject({ url: '/', headers: bearer })
      expect(response.json()).toEqual(['TypeError', 'TypeError', 'TypeError'])
    })

    test('is decorated for a guard in a scope around one that has a guard already', async () => {
      const app = createApp()
      await app.register(async (nested) => {
        await nested.register(authenticate(verifier))
        nested.get('/nested', whoAmI)
      })
      await app.register(authenticate(verifier))
      app.get('/', whoAmI)
      await expectStatus(app, '/nested', 200, bearer)
      await expectStatus(app, '/', 200, bearer)
    })

    test.each([undefined, 'user'])(
      'clashes at boot with a foreign decorator (%s)',
      async (name) => {
        const property = name ?? 'auth'
        const app = createApp()
        app.decorateRequest(property, null)
        const registered = async () => {
          await app.register(authenticate(verifier, { property }))
          await app.ready()
        }
        await expect(registered()).rejects.toMatchObject({ code: 'FST_ERR_DEC_ALREADY_PRESENT' })
      },
    )

    test('clashes at boot with a foreign decorator that comes after it', async () => {
      const app = createApp()
      await app.register(authenticate(verifier))
      await app.register(async (nested) => {
        nested.get('/nested', whoAmI)
      })
      expect(() => app.decorateRequest<unknown>('auth', null)).toThrow(
        expect.objectContaining({ code: 'FST_ERR_DEC_ALREADY_PRESENT' }),
      )
    })

    const forged = { claims: { sub: 'root' } }
    const hooks = ['onRequest', 'preParsing', 'preValidation'] as const
    test.each(
      hooks.flatMap(
        (hook) =>
          [
            [hook, 'before', '/'],
            [hook, 'after', '/'],
            [hook, 'before', '/open'],
            [hook, 'after', '/open'],
          ] as const,
      ),
    )(
      'is not what a hook for %s, %s the guard, has defined on the request (%s)',
      async (hook, place, url) => {
        const app = createApp()
        const define = () => {
          app.addHook(hook, async (request: object) => {
            Object.defineProperty(request, 'auth', { value: forged, configurable: true })
          })
        }
        if (place === 'before') define()
        await app.register(authenticate(verifier))
        if (place === 'after') define()
        app.get('/', (request) => ({ sub: request.auth.claims.sub }))
        app.get('/open', { config: { auth: false } }, (request) => ({ auth: request.auth }))
        const response = await app.inject({ url, headers: bearer })
        // On an open route the property throws, as ever.
        const expected = url === '/open' ? { statusCode: 500 } : { sub: 'ada' }
        expect(response.json()).toMatchObject(expected)
      },
    )

    test('is a TypeError where what a hook has defined cannot be taken away', async () => {
      const app = createApp()
      app.addHook('onRequest', async (request) => {
        Object.defineProperty(request, 'auth', { value: forged })
      })
      await app.register(authenticate(verifier))
      app.get('/', whoAmI)
      const response = await app.inject({ url: '/', headers: bearer })
      expect(response.statusCode).toBe(500)
      expect(response.body).toContain('cannot set request.auth')
    })

    test('leaves a foreign decorator of the same name in a scope beside it alone', async () => {
      const app = createApp()
      await app.register(async (guarded) => {
        await guarded.register(authenticate(verifier))
        guarded.get('/guarded', whoAmI)
      })
      await app.register(async (foreign) => {
        foreign.decorateRequest<unknown>('auth', null)
        foreign.get('/foreign', (request) => ({ auth: request.auth }))
      })
      await expectStatus(app, '/guarded', 200, bearer)
      expect((await app.inject({ url: '/foreign' })).json()).toEqual({ auth: null })
    })
  })

  describe('config auth: false', () => {
    test('opens a route in a guarded scope, whatever the token', async () => {
      const app = createApp()
      await app.register(authenticate(verifier))
      app.get('/open', { config: { auth: false } }, () => 'open')
      app.get('/closed', { config: {} }, () => 'closed')
      await expectStatus(app, '/open', 200)
      await expectStatus(app, '/open', 200, { authorization: 'Bearer bad' })
      await expectStatus(app, '/closed', 401)
    })

    test('opens a route to every method of it, and to nothing beside it', async () => {
      const app = createApp()
      await app.register(authenticate(verifier))
      app.route({
        method: ['GET', 'POST'],
        url: '/open',
        config: { auth: false },
        handler: () => 'open',
      })
      app.delete('/open', whoAmI)
      expect((await app.inject({ method: 'HEAD', url: '/open' })).statusCode).toBe(200)
      expect((await app.inject({ method: 'POST', url: '/open' })).statusCode).toBe(200)
      expect((await app.inject({ method: 'DELETE', url: '/open' })).statusCode).toBe(401)
    })

    test('opens a route in a scope that requires something as well', async () => {
      const app = createApp()
      await app.register(authenticate(verifier))
      app.addHook('onRequest', authorize(scope('write')))
      app.get('/open', { config: { auth: false } }, () => 'open')
      app.get('/closed', whoAmI)
      await expectStatus(app, '/open', 200)
      await expectStatus(app, '/closed', 403, bearer)
    })

    test.each([[0], [null], ['false'], [{ auth: false }]])(
      '%o in its place opens nothing',
      async (auth) => {
        const app = createApp()
        await app.register(authenticate(verifier))
        app.get('/', { config: { auth } as never }, whoAmI)
        await expectStatus(app, '/', 401)
      },
    )
  })

  describe('authorize', () => {
    test('is a hook for one route', async () => {
      const app = createApp()
      await app.register(authenticate(verifier))
      app.get('/read', { onRequest: authorize(scope('read')) }, whoAmI)
      app.get('/write', { onRequest: [authorize(scope('write'))] }, whoAmI)
      app.get('/later', { preHandler: authorize(scope('write')) }, whoAmI)
      await expectStatus(app, '/read', 200, bearer)
      await expectStatus(app, '/later', 403, bearer)
      const refused = await app.inject({ url: '/write', headers: bearer })
      expect(refused.statusCode).toBe(403)
      expect(refused.headers['www-authenticate']).toMatch(
        /error="insufficient_scope".*scope="write"/,
      )
    })
  })

  describe('a refusal', () => {
    test("has the body of Fastify's own handler, with no more than the client may know", async () => {
      const app = createApp()
      await app.register(authenticate(verifier))
      app.get('/', whoAmI)
      const response = await app.inject({ url: '/', headers: { authorization: 'Bearer bad' } })
      expect(response.json()).toEqual({
        statusCode: 401,
        code: 'invalid_token',
        error: 'Unauthorized',
        message: 'The access token is not valid',
      })
    })

    test('stops the hooks and the handler behind it', async () => {
      const steps: string[] = []
      const app = createApp()
      await app.register(authenticate(verifier, { respond: 'problem' }))
      app.addHook('onRequest', async () => {
        steps.push('onRequest')
      })
      app.addHook('preHandler', async () => {
        steps.push('preHandler')
      })
      app.get('/', () => steps.push('handler'))
      await expectStatus(app, '/', 401)
      expect(steps).toEqual([])
      await expectStatus(app, '/', 200, bearer)
      expect(steps).toEqual(['onRequest', 'preHandler', 'handler'])
    })
  })

  describe('the log of the request', () => {
    const refusals = [
      ['invalid_token', 'malformed', 'info', { authorization: 'Bearer canary' }, verifier],
      ['invalid_token', 'expired', 'info', expired, verifier],
      ['insufficient_scope', 'scope', 'info', bearer, verifier],
      ['keys_unavailable', 'unreachable', 'error', bearer, outage()],
    ] as const

    describe.each(['forward', 'problem'] as const)('with respond: %s', (respond) => {
      test.each(refusals)(
        'has one line of ours for %s, with the code and the reason %s, at %s, without the detail and the token',
        async (code, reason, level, headers, by) => {
          const { lines, logger } = collector()
          const app = createApp({ logger })
          await app.register(authenticate(by, { respond }))
          app.get('/', { onRequest: authorize(scope('write')) }, whoAmI)
          await app.inject({ url: '/', headers })
          const ours = lines.map(parse).filter(({ msg }) => msg === 'request refused')
          expect(ours).toMatchObject([{ code, reason, level: LEVELS[level] }])
          const [ourLine = {}] = ours
          const ofFastify = ['hostname', 'level', 'msg', 'pid', 'reqId', 'time']
          expect(new Set(Object.keys(ourLine))).toEqual(new Set([...ofFastify, 'code', 'reason']))
          const token = headers.authorization.split(' ')[1] ?? ''
          expect(lines.length).toBeGreaterThan(2)
          expect(lines.filter((line) => line.includes(token))).toEqual([])
        },
      )
    })

    test.each([{ logger: false }, { logger: true }, { logger: { level: 'fatal' } }])(
      'makes no sentence that nobody has asked for: %j',
      async ({ logger }) => {
        let made = 0
        const refusing: Verifier = {
          ...verifier,
          async verify() {
            throw new AuthError('invalid_token', 'claim', () => String((made += 1)))
          },
        }
        const { lines, logger: collecting } = collector()
        const app = createApp({ logger: logger === true ? collecting : logger })
        await app.register(authenticate(refusing))
        app.get('/', whoAmI)
        await expectStatus(app, '/', 401, bearer)
        expect(lines.length > 0).toBe(logger === true)
        expect(made).toBe(0)
      },
    )

    test('has no line of ours for a request that is let through', async () => {
      const { lines, logger } = collector()
      const app = createApp({ logger })
      await app.register(authenticate(verifier))
      app.get('/', { onRequest: authorize(scope('read')) }, whoAmI)
      await expectStatus(app, '/', 200, bearer)
      expect(lines.map(parse).map(({ msg }) => msg)).toEqual([
        'incoming request',
        'request completed',
      ])
    })
  })

  describe('serveMetadata', () => {
    const metadata = protectedResourceMetadata({ resource: 'https://api.test/v1' })
    const path = '/.well-known/oauth-protected-resource/v1'

    async function guarded(): Promise<FastifyInstance> {
      const app = createApp()
      await app.register(authenticate(verifier, { resourceMetadata: metadata.url }))
      app.addHook('onRequest', authorize(scope('read')))
      await app.register(serveMetadata(metadata))
      app.get('/', whoAmI)
      return app
    }

    test('is open inside a guarded scope that requires something', async () => {
      const app = await guarded()
      const response = await app.inject({ url: `${path}?fresh` })
      expect(response.statusCode).toBe(200)
      expect(response.headers['content-type']).toBe('application/json')
      expect(response.payload).toBe(metadata.body)
      const refused = await app.inject({ url: '/' })
      expect(refused.headers['www-authenticate']).toContain(
        `resource_metadata="https://api.test${path}"`,
      )
    })
  })

  test('an app with HTTP/2 is guarded, over a connection', async () => {
    const app = createApp({ http2: true } as FastifyServerOptions)
    await app.register(authenticate(verifier, { respond: 'problem' }))
    app.get('/', { onRequest: authorize(scope('read')) }, whoAmI)
    await app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = app.server.address() as AddressInfo
    const client = connect(`http://127.0.0.1:${port}`)
    const call = async (headers: object) => {
      const stream = client.request({ ':path': '/', ...headers })
      const [answer] = (await once(stream, 'response')) as [Record<string, unknown>]
      let body = ''
      for await (const chunk of stream) body += String(chunk)
      return { ...answer, body: JSON.parse(body) as unknown }
    }
    try {
      expect(await call(bearer)).toMatchObject({ ':status': 200, body: { sub: 'ada' } })
      expect(await call({})).toMatchObject({
        ':status': 401,
        'www-authenticate': 'Bearer realm="api"',
        'content-type': 'application/problem+json',
        body: { code: 'missing_token' },
      })
      expect(await call({ authorization: ['Bearer bad'] })).toMatchObject({ ':status': 401 })
    } finally {
      client.close()
      await app.close()
    }
  })
})

const LEVELS = { info: 30, error: 50 }

interface Line {
  readonly msg: string
}

/** A logger that keeps its lines. */
function collector(): { lines: string[]; logger: { level: string; stream: { write: Write } } } {
  const lines: string[] = []
  const write: Write = (line) => {
    lines.push(line)
  }
  return { lines, logger: { level: 'info', stream: { write } } }
}

type Write = (line: string) => void

function parse(line: string): Line {
  return JSON.parse(line) as Line
}

function whoAmI(request: Parameters<typeof getAuth>[0]): { sub: unknown } {
  return { sub: getAuth(request).claims.sub }
}

/** The type of what a function returns, or the name of what it throws. */
function outcome(act: () => unknown): string {
  try {
    return typeof act()
  } catch (error) {
    return (error as Error).name
  }
}

async function expectStatus(
  app: FastifyInstance,
  url: string,
  status: number,
  headers: Record<string, string> = {},
): Promise<void> {
  expect((await app.inject({ url, headers })).statusCode).toBe(status)
}

function verifierOf(keys = localKeys(issuer.publicJwk)): Verifier {
  return createVerifier({ keys, issuer: null, audience: null })
}

/** A verifier that cannot get its keys. */
function outage(): Verifier {
  return verifierOf(
    remoteKeys('https://auth.test/tokenservice/pubkey.json', {
      fetch: () => Promise.reject(new Error('down')),
    }),
  )
}

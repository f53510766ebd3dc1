import { fork } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { text as textOf } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

import {
  all,
  any,
  anyScope,
  AuthError,
  check,
  claim,
  type GuardOptions,
  localRevocations,
  protectedResourceMetadata,
  remoteKeys,
  type Requirement,
  type Revocations,
  scope,
  type Verifier,
} from '@portcullis/core'
import { manualClock, tokenService } from '@portcullis/testing'
import request, { type Response as Answer } from 'supertest'
import { describe, expect, type RunnerTask, test, vi } from 'vitest'

import { type Application, type AppSpec, type View, WEB } from './frameworks/framework.ts'
import { frameworks } from './frameworks/index.ts'
import { open, sendRaw } from './raw.ts'
import { bearer, issuer, proven, token, unproven, untried, verifier, verifierOf } from './tokens.ts'

const good = await bearer()
const tenant = await bearer({ claims: { tenant: 'acme' } })
const expired = proven.find(({ reason }) => reason === 'expired')

const UNPROVEN =
  'Bearer realm="api", error="invalid_token", error_description="The access token is not valid"'
const REPEATED =
  'Bearer realm="api", error="invalid_request", error_description="The request must have one Authorization header, and not more than one DPoP header"'

const claimsOf = (view: View) => ({ claims: view.findAuth()?.claims ?? null })

async function revocable(jti: string): Promise<{ authorization: string }> {
  return await bearer({ claims: { jti } })
}

/** One route behind one guard. */
function guarded(options: GuardOptions = {}, ...requirements: readonly Requirement[]): AppSpec {
  return {
    guards: [{ verifier, options }],
    routes: [{ path: '/', requirements, handle: claimsOf }],
  }
}

async function get(app: Application, headers: object = {}, path = '/'): Promise<Answer> {
  return await request(app.url)
    .get(path)
    .set({ ...headers })
}

async function preflight(app: Application): Promise<Answer> {
  const headers = { origin: WEB, 'access-control-request-method': 'POST' }
  return await request(app.url).options('/').set(headers)
}

const insufficient = (description: string, parameters = '') =>
  `Bearer realm="api", error="insufficient_scope", error_description="${description}"${parameters}`

/** The members in their order: octets are compared. */
function problem(title: string, status: number, detail: string, code: string, reason?: string) {
  return JSON.stringify({ type: 'about:blank', title, status, detail, code, reason })
}

/** What every refusal has in common, whatever the framework makes of its body. */
function expectRefusal(response: Answer, status: number, challenge: string): void {
  expect(response.status).toBe(status)
  expect(response.headers['www-authenticate']).toBe(challenge)
  expect(response.headers['cache-control']).toBe('no-store')
  expectNoTrace(response)
}

function expectNoTrace(response: Answer): void {
  expect(response.text).not.toMatch(/^\s+at |node_modules|file:|\/src\/|\.[jt]s\b|eyJ/m)
}

test('every reason to refuse a token is tried in every framework', () => {
  expect(
    untried,
    'test/frameworks/contract/tokens.ts: the issuer lacks the option that badTokens() has a row for, or `proven` a token',
    // Neither is in a token. Whether one is revoked has tests of its own below; opaque tokens have them in opaque-tokens.test.ts.
  ).toEqual(['inactive', 'revoked'])
})

/** What the program for all frameworks has printed, once a test has wanted to know. */
let played: Promise<Played> | undefined

describe.each(frameworks)('$name', ({ name, createApp, guardsRoutesAlone }) => {
  describe('a token', () => {
    test('that is good lets the request in, and the handler sees its claims', async () => {
      await using app = await createApp(guarded())
      const response = await get(app, good)
      expect(response.status).toBe(200)
      expect(response.body).toMatchObject({ claims: { sub: 'ada', scope: 'read' } })
      expect(response.headers).not.toHaveProperty('www-authenticate')
    })

    test('that is missing: 401 and a challenge without an error code', async () => {
      await using app = await createApp(guarded())
      expectRefusal(await get(app), 401, 'Bearer realm="api"')
    })

    test.each(unproven)('$name: 401 $reason, which the client cannot tell', async (bad) => {
      const refusals: AuthError[] = []
      await using app = await createApp({
        ...guarded({ onRefusal: (error) => refusals.push(error) }),
        maxHeaderSize: 65_536,
      })
      expectRefusal(await get(app, { authorization: `Bearer ${bad.token}` }), 401, UNPROVEN)
      expect(refusals.map(({ reason }) => reason)).toEqual([bad.reason])
    })

    test('that proves nothing gets the same octets, whatever is wrong with it', async () => {
      await using app = await createApp({ ...guarded(), maxHeaderSize: 65_536 })
      const answers = await Promise.all(
        unproven.map(
          async (bad) => await sendRaw(app.port, [`Authorization: Bearer ${bad.token}`]),
        ),
      )
      const [first] = answers
      expect(first?.status).toBe(401)
      expect(new Set(answers.map((each) => each.text)).size).toBe(1)
    })

    test.each(proven)('$name: 401 $reason, which the client may read', async (bad) => {
      const refusals: AuthError[] = []
      await using app = await createApp(guarded({ onRefusal: (error) => refusals.push(error) }))
      const response = await get(app, { authorization: `Bearer ${bad.token}` })
      expectRefusal(
        response,
        401,
        `Bearer realm="api", error="invalid_token", error_description="${bad.description}"`,
      )
      expect(refusals.map(({ reason }) => reason)).toEqual([bad.reason])
    })

    test('never reaches the body of a refusal, nor does a query count as one', async () => {
      await using app = await createApp(guarded())
      const response = await get(app, {}, `/?access_token=${await token()}`)
      expect(response.status).toBe(401)
      expect(response.text).not.toContain('eyJ')
    })

    test('for a path that no route has: 404', async () => {
      await using app = await createApp(guarded())
      await expect(get(app, good, '/nowhere')).resolves.toMatchObject({ status: 404 })
    })

    test('is wanted of every method', async () => {
      await using app = await createApp(guarded())
      for (const method of ['head', 'post', 'put', 'patch', 'delete', 'options'] as const) {
        const refused = await request(app.url)[method]('/')
        expect([method, refused.status]).toEqual([method, 401])
        expect(refused.headers['www-authenticate']).toBe('Bearer realm="api"')
        const accepted = await request(app.url)[method]('/').set(good)
        expect([method, accepted.status]).toEqual([method, 200])
      }
    })
  })

  describe('the Authorization header', () => {
    test.each(['Basic YTpi', 'DPoP abc'])(
      'of another scheme, %s: 401 without an error code',
      async (authorization) => {
        await using app = await createApp(guarded())
        expectRefusal(await get(app, { authorization }), 401, 'Bearer realm="api"')
      },
    )

    test.each([
      ['a scheme alone', 'Bearer'],
      ['two words', 'Bearer a b'],
      ['a tab for the space', 'Bearer\tabc'],
      ['a letter outside ASCII', 'Bearer ab\u{E9}'],
    ])('with %s: 401 invalid_token', async (_title, authorization) => {
      await using app = await createApp(guarded())
      expectRefusal(await get(app, { authorization }), 401, UNPROVEN)
    })

    test.each([
      ['a list', 'Bearer a, Bearer b'],
      ['a comma behind the scheme', 'Bearer, abc'],
      ['a token behind another scheme', 'Basic YTpi, Bearer b'],
    ])('with %s, as joined headers have: 400 invalid_request', async (_title, authorization) => {
      await using app = await createApp(guarded())
      expectRefusal(await get(app, { authorization }), 400, REPEATED)
    })

    test.each([
      ['twice', 'Authorization', 'Authorization'],
      ['in two casings', 'Authorization', 'AUTHORIZATION'],
    ])('%s: 400, though Node shows the first alone', async (_title, first, second) => {
      await using app = await createApp(guarded())
      expect(
        await sendRaw(app.port, [
          `${first}: ${good.authorization}`,
          `${second}: ${good.authorization}`,
        ]),
      ).toMatchObject({ status: 400, challenge: REPEATED })
    })

    test.each([
      ['white space around it', (it: string) => ` \t ${it} \t `],
      ['several spaces behind the scheme', (it: string) => it.replace(' ', '    ')],
      ['a lower-case scheme', (it: string) => it.replace('Bearer', 'bearer')],
      ['an upper-case scheme', (it: string) => it.replace('Bearer', 'BEARER')],
    ])('with %s is as good', async (_title, write) => {
      await using app = await createApp(guarded())
      const answer = await sendRaw(app.port, [`Authorization:${write(good.authorization)}`])
      expect(answer.status).toBe(200)
    })
  })

  describe('a requirement', () => {
    const SCOPE = 'The access token lacks a required scope'
    const CLAIM = 'The access token lacks a required claim value'
    const CHECK = 'The access token does not permit this request'

    test.each([
      ['a scope', scope('read write'), SCOPE, ', scope="read write"'],
      ['any of some scopes', anyScope('write admin'), SCOPE, ', scope="write admin"'],
      ['a claim', claim('role', 'admin'), CLAIM, ''],
      ['a check', check(() => false), CHECK, ''],
      ['a check that decides later', check(() => Promise.resolve(false)), CHECK, ''],
      ['all of some', all(scope('read'), claim('role', 'admin')), CLAIM, ''],
      ['all of some, a scope', all(scope('write'), claim('role', 'x')), SCOPE, ', scope="write"'],
      ['one of some', any(scope('write'), claim('role', 'x')), CHECK, ', scope="write"'],
    ])('for %s that is not met: 403', async (_title, requirement, description, parameters) => {
      await using app = await createApp(guarded({}, scope('read'), requirement))
      expectRefusal(await get(app, good), 403, insufficient(description, parameters))
    })

    test('that is met lets the request on', async () => {
      const later = check(() => Promise.resolve(true))
      const requirements = [scope('read'), claim('role', ['user', 'admin']), later]
      await using app = await createApp(guarded({}, ...requirements))
      await expect(get(app, good)).resolves.toMatchObject({ status: 200 })
    })

    test('for a whole router holds for each of its routes, and for no other', async () => {
      const route = { path: '/route', handle: claimsOf }
      await using app = await createApp({
        guards: [{ verifier }],
        routes: [route],
        routers: { '/strict': { requirements: [scope('write')], routes: [route] } },
      })
      await expect(get(app, good, '/route')).resolves.toMatchObject({ status: 200 })
      const refused = await get(app, good, '/strict/route')
      expectRefusal(refused, 403, insufficient(SCOPE, ', scope="write"'))
    })

    test('of an anonymous request: 401, not 403', async () => {
      await using app = await createApp(guarded({ optional: true }, scope('read')))
      expectRefusal(await get(app), 401, 'Bearer realm="api"')
    })

    test('whose check throws fails closed: 500', async () => {
      let ran = false
      const failing = check(() => {
        throw new Error('canary')
      })
      await using app = await createApp({
        guards: [{ verifier }],
        routes: [{ path: '/', requirements: [failing], handle: () => ({ ran: (ran = true) }) }],
        silent: true,
      })
      await expect(get(app, good)).resolves.toMatchObject({ status: 500 })
      expect(ran).toBe(false)
    })

    test('without a guard is a fault of the application: 500', async () => {
      let ran = false
      await using app = await createApp({
        routes: [
          { path: '/', requirements: [scope('read')], handle: () => ({ ran: (ran = true) }) },
        ],
        silent: true,
      })
      await expect(get(app, good)).resolves.toMatchObject({ status: 500 })
      expect(ran).toBe(false)
    })
  })

  describe('optional', () => {
    test.each([
      ['no token', {}],
      ['another scheme', { authorization: 'Basic YTpi' }],
    ])('%s: the request goes on as anonymous', async (_title, headers) => {
      await using app = await createApp(guarded({ optional: true }))
      const response = await get(app, headers)
      expect([response.status, response.body]).toEqual([200, { claims: null }])
    })

    test('a good token: the handler sees its claims', async () => {
      await using app = await createApp(guarded({ optional: true }))
      await expect(get(app, good)).resolves.toMatchObject({ body: { claims: { sub: 'ada' } } })
    })

    test.each([
      ['a bad token', { authorization: 'Bearer bad' }, 401, UNPROVEN],
      ['a malformed token', { authorization: 'Bearer a b' }, 401, UNPROVEN],
    ])('%s is refused all the same', async (_title, headers, status, challenge) => {
      await using app = await createApp(guarded({ optional: true }))
      expectRefusal(await get(app, headers), status, challenge)
    })

    test.each(['Basic YTpi', '', 'Bearer a'])(
      'a header in front of a good one, %j, is refused all the same',
      async (first) => {
        await using app = await createApp(guarded({ optional: true }))
        const lines = [`Authorization: ${first}`, `Authorization: ${good.authorization}`]
        const answer = await sendRaw(app.port, lines)
        expect(answer).toMatchObject({ status: 400, challenge: REPEATED })
      },
    )

    test('an outage is still an outage', async () => {
      const { keys } = brokenKeys(() => Promise.reject(new Error('down')))
      const guards = [{ verifier: verifierOf({ keys }), options: { optional: true } }]
      await using app = await createApp({ ...guarded(), guards })
      await expect(get(app, good)).resolves.toMatchObject({ status: 503 })
      await expect(get(app)).resolves.toMatchObject({ status: 200 })
    })

    test('getAuth for an anonymous request is a fault of the application: 500', async () => {
      await using app = await createApp({
        guards: [{ verifier, options: { optional: true } }],
        routes: [{ path: '/', handle: (view) => view.getAuth().claims }],
        silent: true,
      })
      await expect(get(app)).resolves.toMatchObject({ status: 500 })
      await expect(get(app, good)).resolves.toMatchObject({ status: 200 })
    })
  })

  describe('keys that cannot be had', () => {
    test.each([
      ['no connection', 'unreachable', () => Promise.reject(new Error('canary'))],
      ['no JSON', 'bad_document', () => Promise.resolve(new Response('canary'))],
      ['no keys', 'bad_document', () => Promise.resolve(Response.json({ canary: true }))],
    ])('%s: 503, Retry-After, no challenge; then recovery', async (_title, reason, fail) => {
      const { keys, clock, recover } = brokenKeys(fail)
      const refusals: AuthError[] = []
      const options = { onRefusal: (error: AuthError) => refusals.push(error) }
      const guards = [{ verifier: verifierOf({ keys }), options }]
      await using app = await createApp({ ...guarded(), guards })
      const response = await get(app, good)
      expect(response.status).toBe(503)
      expect(response.headers['retry-after']).toMatch(/^[12]$/)
      expect(response.headers['cache-control']).toBe('no-store')
      expect(response.headers).not.toHaveProperty('www-authenticate')
      expectNoTrace(response)
      expect(response.text).not.toMatch(/canary|auth\.test/)
      expect(refusals.map((error) => [error.code, error.reason])).toEqual([
        ['keys_unavailable', reason],
      ])
      recover()
      await clock.advance(2)
      await expect(get(app, good)).resolves.toMatchObject({ status: 200 })
    })

    test('before the deadline: 503 as well, and the reason is for us alone', async () => {
      const asked = gate()
      const { keys, clock } = brokenKeys(async () => {
        asked.open()
        return await new Promise<never>(() => {})
      })
      const refusals: AuthError[] = []
      const options = { onRefusal: (error: AuthError) => refusals.push(error) }
      const guards = [{ verifier: verifierOf({ keys }), options }]
      await using app = await createApp({ ...guarded(), guards })
      const [response] = await Promise.all([
        get(app, good),
        asked.opened.then(async () => await clock.advance(6)),
      ])
      expect(response.status).toBe(503)
      expect(response.text).not.toMatch(/timeout/i)
      expect(refusals.map(({ reason }) => reason)).toEqual(['timeout'])
    })
  })

  describe('revocations', () => {
    const REVOKED =
      'Bearer realm="api", error="invalid_token", error_description="The access token has been revoked"'

    test('a token that was accepted before is refused once it is revoked, and no other', async () => {
      const revocations = localRevocations()
      const refusals: AuthError[] = []
      const options = { onRefusal: (error: AuthError) => refusals.push(error) }
      const guards = [{ verifier: verifierOf({ revocations }), options }]
      await using app = await createApp({
        guards,
        routes: [
          { path: '/', handle: claimsOf },
          {
            path: '/logout',
            async handle(view) {
              await revocations.revoke(view.getAuth())
              return {}
            },
          },
        ],
      })
      const [one, two] = [await revocable('one'), await revocable('two')]
      for (const headers of [one, one, two, two]) {
        expect((await get(app, headers)).status).toBe(200)
      }
      expect((await get(app, one, '/logout')).status).toBe(200)
      for (const _ of [1, 2]) expectRefusal(await get(app, one), 401, REVOKED)
      expect((await get(app, two)).status).toBe(200)
      expect(refusals.map(({ code, reason }) => [code, reason])).toEqual([
        ['invalid_token', 'revoked'],
        ['invalid_token', 'revoked'],
      ])
    })

    test.each([
      ['does not know', () => 'unknown'],
      [
        'throws',
        () => {
          throw new Error('canary')
        },
      ],
      ['rejects', async () => await Promise.reject(new Error('canary'))],
      ['answers something else', () => ({ canary: true })],
    ] satisfies [string, () => unknown][])(
      'a source that %s: 503, Retry-After, no challenge; also for a remembered token',
      async (_title, fail) => {
        const statusOf = vi.fn<() => unknown>(() => 'valid')
        const source = { statusOf: statusOf as unknown as Revocations['statusOf'] }
        const refusals: AuthError[] = []
        const options = {
          optional: true,
          onRefusal: (error: AuthError) => refusals.push(error),
        }
        const guards = [{ verifier: verifierOf({ revocations: source }), options }]
        await using app = await createApp({ ...guarded(), guards })
        const headers = await revocable('one')
        expect((await get(app, headers)).status).toBe(200)
        statusOf.mockImplementation(fail)
        for (const each of [headers, await revocable('two')]) {
          const response = await get(app, each)
          expect(response.status).toBe(503)
          expect(response.headers).toMatchObject({
            'retry-after': '1',
            'cache-control': 'no-store',
          })
          expect(response.headers).not.toHaveProperty('www-authenticate')
          expectNoTrace(response)
          expect(response.text).not.toContain('canary')
        }
        statusOf.mockImplementation(() => 'valid')
        expect((await get(app, headers)).status).toBe(200)
        expect(refusals.map(({ code }) => code)).toEqual([
          'revocation_unavailable',
          'revocation_unavailable',
        ])
      },
    )

    test('a source that takes its time is waited for, and its word holds', async () => {
      const revocations = localRevocations()
      const statusOf: Revocations['statusOf'] = async (claims, now) =>
        await Promise.resolve(revocations.statusOf(claims, now))
      const guards = [{ verifier: verifierOf({ revocations: { statusOf } }), options: {} }]
      await using app = await createApp({ ...guarded(), guards })
      const headers = await revocable('one')
      for (const _ of [1, 2]) expect((await get(app, headers)).status).toBe(200)
      await revocations.revokeBefore({ iss: 'https://auth.test' }, { time: Date.now() / 1000 + 1 })
      expectRefusal(await get(app, headers), 401, REVOKED)
    })
  })

  describe('a CORS preflight', () => {
    test('without CORS in front is refused like any request, and the handler never runs', async () => {
      const { spec, runs } = counted()
      await using app = await createApp(spec)
      expectRefusal(await preflight(app), 401, 'Bearer realm="api"')
      expect(runs()).toBe(0)
    })

    test('with CORS in front is answered there, and the handler never runs', async () => {
      const { spec, runs } = counted()
      await using app = await createApp({ ...spec, cors: true })
      const response = await preflight(app)
      expect(response.status).toBe(204)
      expect(response.headers['access-control-allow-origin']).toBe(WEB)
      expect(response.headers['access-control-allow-methods']).toContain('POST')
      expect(runs()).toBe(0)
    })

    test.each(['forward', 'problem'] as const)(
      'is followed by a request whose refusal a web page may read, with respond: %s',
      async (respond) => {
        await using app = await createApp({ ...guarded({ respond }), cors: true })
        const refused = await get(app, { origin: WEB })
        expectRefusal(refused, 401, 'Bearer realm="api"')
        expect(refused.headers['access-control-allow-origin']).toBe(WEB)
        const accepted = await get(app, { origin: WEB, ...good })
        expect(accepted.status).toBe(200)
        expect(accepted.headers['access-control-allow-origin']).toBe(WEB)
      },
    )
  })

  describe('what is printed', () => {
    const REFUSALS = [401, 400, 401, 401, 403]
    test('of refusals that the framework answers: nothing', async () => {
      const { statuses, output } = await play(name, 'refusals, forwarded')
      expect([statuses, output]).toEqual([REFUSALS, ''])
    })

    test('of refusals that the guard answers: nothing, even in development', async () => {
      const { statuses, output } = await play(name, 'refusals, answered in development')
      expect([statuses, output]).toEqual([REFUSALS, ''])
    })

    test('of refusals that the framework answers in development: no stack and no token', async () => {
      const { statuses, output } = await play(name, 'refusals, forwarded in development')
      expect(statuses).toEqual(REFUSALS)
      expect(output).not.toMatch(/^\s+at |eyJ/m)
    })

    test('of a fault of the application in development: its stack, so that the above means something', async () => {
      const { statuses } = await play(name, 'faults in development')
      expect([...new Set(statuses)]).toEqual([500])
      // A logger may write so late that it is among what the next framework prints.
      const outputs = await Promise.all(
        frameworks.map(async (each) => (await play(each.name, 'faults in development')).output),
      )
      expect(outputs.join('')).toContain(`canary of ${name}`)
    })

    test('of an onRefusal that throws: a warning for each, and the answers stay the same', async () => {
      const { statuses, output } = await play(name, 'refusals, with an observer that fails')
      expect(statuses).toEqual(REFUSALS)
      expect(output.match(/Error: canary/g)).toHaveLength(REFUSALS.length)
    })
  })

  describe('an error handler of the application', () => {
    test('that ignores the headers of the error keeps the challenge', async () => {
      await using app = await createApp({
        ...guarded({}, scope('write')),
        onError: (error) =>
          error instanceof AuthError
            ? { status: error.status, body: { code: error.code, message: error.message } }
            : { status: 500, body: {} },
      })
      const missing = await get(app)
      expectRefusal(missing, 401, 'Bearer realm="api"')
      expect(missing.body).toEqual({
        code: 'missing_token',
        message: 'An access token is required',
      })
      const lacking = await get(app, good)
      expectRefusal(
        lacking,
        403,
        'Bearer realm="api", error="insufficient_scope", error_description="The access token lacks a required scope", scope="write"',
      )
      expect(lacking.body).toMatchObject({ code: 'insufficient_scope' })
    })

    test('never sees a refusal that the guard answers', async () => {
      const seen: unknown[] = []
      await using app = await createApp({
        ...guarded({ respond: 'problem' }),
        onError: (error) => ({ status: 500, body: { count: seen.push(error) } }),
      })
      expectRefusal(await get(app), 401, 'Bearer realm="api"')
      expect(seen).toEqual([])
    })

    test('sees what a handler throws, at once or later, as it was thrown', async () => {
      const fault = new Error('canary')
      const seen: unknown[] = []
      await using app = await createApp({
        ...faulty(fault),
        onError: (error) => ({ status: 500, body: { count: seen.push(error) } }),
      })
      await get(app, good, '/throws')
      await get(app, good, '/rejects')
      expect(seen).toEqual([fault, fault])
    })
  })

  describe('a handler', () => {
    test.each(['/throws', '/rejects'])(
      'behind %s: 500, nothing is left unhandled, and the server lives',
      async (path) => {
        using unhandled = watchRejections()
        await using app = await createApp({ ...faulty(new Error('canary')), silent: true })
        const response = await get(app, good, path)
        expect(response.status).toBe(500)
        expect(response.headers).not.toHaveProperty('www-authenticate')
        await expect(get(app, good)).resolves.toMatchObject({ status: 200 })
        expect(unhandled.seen).toEqual([])
      },
    )

    test('never runs before the verdict', async () => {
      const keys = gatedKeys()
      const { spec, runs } = counted(keys.verifier)
      await using app = await createApp(spec)
      const accepted = get(app, good)
      const refused = get(app, { authorization: `Bearer ${expired?.token}` })
      await keys.asked
      await expect(get(app)).resolves.toMatchObject({ status: 401 })
      expect(runs()).toBe(0)
      keys.release()
      expect([(await accepted).status, (await refused).status, runs()]).toEqual([200, 401, 1])
    })

    test('never sees the claims of another request', async () => {
      const subjects = Array.from({ length: 100 }, (_, at) => `subject ${at}`)
      const keys = gatedKeys()
      const arrivals = gate()
      let missing = subjects.length
      await using app = await createApp({
        guards: [{ verifier: keys.verifier }],
        routes: [
          {
            path: '/',
            async handle(view) {
              // All of them are in here at once before any of them looks.
              if (--missing === 0) arrivals.open()
              await arrivals.opened
              return [view.getAuth().claims.sub, view.property('auth')]
            },
          },
        ],
      })
      const answers = subjects.map(async (sub) => await get(app, await bearer({ claims: { sub } })))
      await keys.asked
      keys.release()
      const bodies = (await Promise.all(answers)).map(({ body }): unknown => body)
      expect(bodies).toMatchObject(subjects.map((sub) => [sub, { claims: { sub } }]))
    })
  })

  test('a client that leaves while the verification waits disturbs nobody', async () => {
    using unhandled = watchRejections()
    const keys = gatedKeys()
    await using app = await createApp({ ...guarded(), guards: [{ verifier: keys.verifier }] })
    await leave(app, keys.asked)
    const next = get(app, good)
    keys.release()
    await expect(next).resolves.toMatchObject({ status: 200 })
    await expect(get(app, good)).resolves.toMatchObject({ status: 200 })
    expect(unhandled.seen).toEqual([])
  })

  describe('respond: problem', () => {
    const expired401 = 'The access token has expired'

    test.each([
      [
        'no token',
        {},
        problem('Unauthorized', 401, 'An access token is required', 'missing_token'),
      ],
      [
        'two tokens',
        { authorization: 'Bearer a, Bearer b' },
        problem(
          'Bad Request',
          400,
          'The request must have one Authorization header, and not more than one DPoP header',
          'invalid_request',
          'repeated_header',
        ),
      ],
      [
        'a bad token',
        { authorization: `Bearer ${unproven[0]?.token}` },
        problem('Unauthorized', 401, 'The access token is not valid', 'invalid_token'),
      ],
      [
        'an expired token',
        { authorization: `Bearer ${expired?.token}` },
        problem('Unauthorized', 401, expired401, 'invalid_token', 'expired'),
      ],
      [
        'a scope that is missing',
        good,
        problem(
          'Forbidden',
          403,
          'The access token lacks a required scope',
          'insufficient_scope',
          'scope',
        ),
      ],
    ])('%s: these octets and no others', async (_title, headers, body) => {
      await using app = await createApp(guarded({ respond: 'problem' }, scope('write')))
      const response = await get(app, headers)
      expect(response.text).toBe(body)
      expect(response.headers).toMatchObject({
        'content-type': 'application/problem+json',
        'cache-control': 'no-store',
        'www-authenticate': expect.stringMatching(/^Bearer realm="api"/) as unknown,
      })
      expect(JSON.parse(body)).toMatchObject({ status: response.status })
    })

    test('an outage: these octets, Retry-After and no challenge', async () => {
      const { keys } = brokenKeys(() => Promise.reject(new Error('canary')))
      const guards = [{ verifier: verifierOf({ keys }), options: { respond: 'problem' as const } }]
      await using app = await createApp({ ...guarded(), guards })
      const response = await get(app, good)
      expect(response.status).toBe(503)
      expect(response.text).toBe(
        problem(
          'Service Unavailable',
          503,
          'Access tokens cannot be verified at the moment',
          'keys_unavailable',
        ),
      )
      expect(response.headers).toMatchObject({
        'content-type': 'application/problem+json',
        'cache-control': 'no-store',
        'retry-after': expect.stringMatching(/^[12]$/) as unknown,
      })
      expect(response.headers).not.toHaveProperty('www-authenticate')
    })

    test('HEAD gets the headers without the body', async () => {
      await using app = await createApp(guarded({ respond: 'problem' }))
      const response = await request(app.url).head('/')
      expect(response.headers).toMatchObject({
        'content-type': 'application/problem+json',
        'www-authenticate': 'Bearer realm="api"',
      })
      expect([response.status, response.text]).toEqual([401, undefined])
    })

    test('what is no refusal still goes to the framework', async () => {
      await using app = await createApp({
        ...faulty(new Error('canary')),
        guards: [{ verifier, options: { respond: 'problem' } }],
        silent: true,
      })
      const response = await get(app, good, '/throws')
      expect(response.status).toBe(500)
      expect(response.headers['content-type']).not.toBe('application/problem+json')
    })
  })

  describe('two guards', () => {
    const other = verifierOf({ requiredClaims: ['tenant'] })

    test('in a row: each verifier has its own proof, and the last is the default', async () => {
      await using app = await createApp({
        guards: [{ verifier }, { verifier: other }],
        routes: [
          {
            path: '/',
            handle(view) {
              const [first, last] = [view.getAuth(verifier), view.getAuth(other)]
              return [first === last, view.getAuth() === last, view.property('auth') === last]
            },
          },
        ],
      })
      await expect(get(app, tenant)).resolves.toMatchObject({ body: [false, true, true] })
    })

    test('in a row: each refuses in its own words, and the one before has let in nothing yet', async () => {
      const { spec, runs } = counted()
      await using app = await createApp({
        ...spec,
        guards: [
          { verifier, options: { realm: 'outer' } },
          { verifier: other, options: { realm: 'inner' } },
        ],
      })
      expectRefusal(await get(app), 401, 'Bearer realm="outer"')
      expectRefusal(
        await get(app, good),
        401,
        'Bearer realm="inner", error="invalid_token", error_description="The access token lacks a required claim"',
      )
      expect(runs()).toBe(0)
    })

    test('one for everything, one for a router and one for a route, all count', async () => {
      const route = { path: '/route', handle: claimsOf }
      await using app = await createApp({
        guards: [{ verifier, options: { realm: 'outer' } }],
        routers: {
          '/inner': {
            guards: [{ verifier: other, options: { realm: 'inner' } }],
            routes: [
              route,
              {
                ...route,
                path: '/admin',
                guards: [
                  { verifier: verifierOf({ audience: 'admin' }), options: { realm: 'admin' } },
                ],
              },
            ],
          },
        },
        routes: [route],
      })
      await expect(get(app, good, '/route')).resolves.toMatchObject({ status: 200 })
      const inner = await get(app, good, '/inner/route')
      expect(inner.headers['www-authenticate']).toMatch(/^Bearer realm="inner", /)
      await expect(get(app, tenant, '/inner/route')).resolves.toMatchObject({ status: 200 })
      const admin = await get(app, tenant, '/inner/admin')
      expect(admin.headers['www-authenticate']).toMatch(/^Bearer realm="admin", /)
    })
  })

  describe('a guard', () => {
    const opened = { path: '/open', handle: () => ({ open: true }) }
    const closed = { path: '/closed', handle: claimsOf }

    test('of one route leaves the others open', async () => {
      await using app = await createApp({
        routes: [{ ...closed, guards: [{ verifier }] }, opened],
      })
      await expect(get(app, {}, '/open')).resolves.toMatchObject({ body: { open: true } })
      expectRefusal(await get(app, {}, '/closed'), 401, 'Bearer realm="api"')
      await expect(get(app, good, '/closed')).resolves.toMatchObject({
        body: { claims: { sub: 'ada' } },
      })
    })

    test('of one router leaves the others open', async () => {
      await using app = await createApp({
        routes: [opened],
        routers: {
          '/private': { guards: [{ verifier }], routes: [closed] },
          '/public': { routes: [opened] },
        },
      })
      for (const path of ['/open', '/public/open']) {
        await expect(get(app, {}, path)).resolves.toMatchObject({ body: { open: true } })
      }
      expectRefusal(await get(app, {}, '/private/closed'), 401, 'Bearer realm="api"')
      await expect(get(app, good, '/private/closed')).resolves.toMatchObject({ status: 200 })
    })

    test('that a route lacks makes getAuth a fault of the application: 500', async () => {
      await using app = await createApp({
        routes: [{ path: '/', handle: (view) => view.getAuth().claims }],
        silent: true,
      })
      await expect(get(app, good)).resolves.toMatchObject({ status: 500 })
    })

    test('with another property shows its proof there', async () => {
      await using app = await createApp({
        guards: [{ verifier, options: { property: 'proof' } }],
        routes: [
          { path: '/', handle: (view) => [view.property('proof'), view.property('auth') ?? null] },
        ],
      })
      const response = await get(app, good)
      expect(response.body).toMatchObject([{ claims: { sub: 'ada' } }, null])
    })

    test('with another realm and metadata shows them in every challenge', async () => {
      const resourceMetadata = 'https://api.test/meta'
      await using app = await createApp(
        guarded({ realm: 'orders', resourceMetadata }, scope('write')),
      )
      const start = 'Bearer realm="orders", '
      const end = 'resource_metadata="https://api.test/meta"'
      expectRefusal(await get(app), 401, `${start}${end}`)
      expectRefusal(
        await get(app, good),
        403,
        `${start}error="insufficient_scope", error_description="The access token lacks a required scope", scope="write", ${end}`,
      )
    })
  })

  describe('protected resource metadata', () => {
    const metadata = protectedResourceMetadata({
      resource: 'https://api.test/v1',
      authorizationServers: ['https://auth.test'],
    })
    const spec = { ...guarded({ resourceMetadata: metadata.url }), metadata }
    const CHALLENGE = `Bearer realm="api", resource_metadata="${metadata.url}"`

    test('are at the path that the challenge names, open to everybody', async () => {
      await using app = await createApp(spec)
      const refused = await get(app)
      const named = /resource_metadata="(.*)"/.exec(String(refused.headers['www-authenticate']))
      const { pathname } = new URL(String(named?.[1]))
      const response = await get(app, {}, pathname)
      expect(response.status).toBe(200)
      expect(response.headers['content-type']).toBe('application/json')
      expect(response.text).toBe(metadata.body)
    })

    test('answer a query as well, and HEAD with the same headers', async () => {
      await using app = await createApp(spec)
      const queried = await get(app, {}, `${metadata.path}?a=b`)
      expect([queried.status, queried.text]).toEqual([200, metadata.body])
      const head = await request(app.url).head(metadata.path)
      expect([head.status, head.text ?? '']).toEqual([200, ''])
      expect(head.headers['content-type']).toBe('application/json')
    })

    test('open no other method and no other path: what is behind them answers', async () => {
      const elsewhere = ['/', '/.well-known/oauth-protected-resource', `${metadata.path}/more`]
      const routes = elsewhere.map((path) => ({ path, handle: claimsOf }))
      await using app = await createApp({ ...spec, routes })
      for (const path of elsewhere) {
        expectRefusal(await get(app, {}, path), 401, CHALLENGE)
        await expect(get(app, good, path)).resolves.toMatchObject({
          status: 200,
          body: { claims: { sub: 'ada' } },
        })
      }
      const posted = await request(app.url).post(metadata.path)
      expect(posted.status).toBe(guardsRoutesAlone ? 404 : 401)
      expect((await request(app.url).post(metadata.path).set(good)).status).toBe(404)
    })
  })

  describe('onRefusal', () => {
    test('is told once of each refusal, by the guard that refuses', async () => {
      const told: string[] = []
      const tell = (guard: string): GuardOptions => ({
        onRefusal: (error) => told.push(`${guard}: ${error.code} ${error.reason}`),
      })
      await using app = await createApp({
        guards: [
          { verifier, options: tell('first') },
          { verifier: verifierOf({ requiredClaims: ['tenant'] }), options: tell('second') },
        ],
        routes: [{ path: '/', requirements: [scope('write')], handle: claimsOf }],
      })
      await get(app)
      await get(app, { authorization: 'Basic YTpi' })
      await get(app, { authorization: 'Bearer a b' })
      await get(app, { authorization: `Bearer ${expired?.token}` })
      await get(app, good)
      await get(app, tenant)
      await get(app, await bearer({ claims: { tenant: 'acme', scope: 'write' } }))
      expect(told).toEqual([
        'first: missing_token missing_header',
        'first: missing_token other_scheme',
        'first: invalid_token malformed',
        'first: invalid_token expired',
        'second: invalid_token missing_claim',
        'second: insufficient_scope scope',
      ])
    })

    test('is not told of what a handler throws', async () => {
      const told: unknown[] = []
      await using app = await createApp({
        ...faulty(new Error('canary')),
        guards: [{ verifier, options: { onRefusal: (error) => told.push(error) } }],
        silent: true,
      })
      await get(app, good, '/throws')
      await get(app, good, '/rejects')
      expect(told).toEqual([])
    })
  })
})

test('every framework passes the same cases', ({ task }) => {
  const columns = frameworks.map(({ name }) =>
    task.file.tasks
      .filter((each) => each.type === 'suite' && each.name === name)
      .flatMap((each) => (each.type === 'suite' ? each.tasks.flatMap(casesOf) : [])),
  )
  const [first = []] = columns
  expect(first.length).toBeGreaterThan(0)
  for (const column of columns) {
    expect(
      column.toSorted(),
      'a framework skips a case; with `-t` this always fails, because the others are skipped',
    ).toEqual(first.toSorted())
  }
})

/** The path of titles to each test, with what is to become of it: a case that one framework skips is a difference. */
function casesOf(task: RunnerTask): readonly string[] {
  return task.type === 'suite'
    ? task.tasks.flatMap(casesOf).map((each) => `${task.name} > ${each}`)
    : [`${task.name} (${task.mode})`]
}

/** Counts what gets through to its one handler. */
function counted(by: Verifier = verifier): { spec: AppSpec; runs: () => number } {
  let runs = 0
  const handle = () => ({ runs: (runs += 1) })
  return { spec: { guards: [{ verifier: by }], routes: [{ path: '/', handle }] }, runs: () => runs }
}

/** Two handlers that fail, each in its way, and one that does not. */
function faulty(fault: Error): AppSpec {
  return {
    guards: [{ verifier }],
    routes: [
      {
        path: '/throws',
        handle() {
          throw fault
        },
      },
      { path: '/rejects', handle: async () => await Promise.reject(fault) },
      { path: '/', handle: claimsOf },
    ],
  }
}

/** Keys that cannot be had until they recover. */
function brokenKeys(fail: () => Promise<Response>) {
  const clock = manualClock(Date.now() / 1000) // by which the tokens were issued
  const service = tokenService(issuer)
  let isBroken = true
  const keys = remoteKeys(service.keyUrl, {
    clock,
    fetch: async (...args) => (isBroken ? await fail() : await service.fetch(...args)),
  })
  const recover = () => {
    isBroken = false
  }
  return { keys, clock, recover }
}

/** A verifier whose keys come only when they are released. */
function gatedKeys() {
  const service = tokenService(issuer)
  const asked = gate()
  const released = gate()
  const keys = remoteKeys(service.keyUrl, {
    async fetch(...args) {
      asked.open()
      await released.opened
      return await service.fetch(...args)
    },
  })
  return { verifier: verifierOf({ keys }), asked: asked.opened, release: released.open }
}

/** Sends a good request, and goes away once `asked` shows that its verification waits. */
async function leave(app: Application, asked: Promise<void>): Promise<void> {
  const arrived = once(app.server, 'connection') as Promise<[Socket]>
  const client = await open(app.port)
  const [connection] = await arrived
  client.write(`GET / HTTP/1.1\r\nHost: api\r\nAuthorization: ${good.authorization}\r\n\r\n`)
  await asked
  const noticed = once(connection, 'close')
  client.destroy()
  await noticed
}

/** Something to wait for. */
function gate(): { opened: Promise<void>; open: () => void } {
  const gates = new EventEmitter()
  const opened = once(gates, 'open').then(() => undefined)
  return { opened, open: () => void gates.emit('open') }
}

/** Collects the rejections that nobody handles, while it is in use. */
function watchRejections(): Disposable & { readonly seen: readonly unknown[] } {
  const seen: unknown[] = []
  const listener = (reason: unknown) => {
    seen.push(reason)
  }
  process.on('unhandledRejection', listener)
  return {
    seen,
    [Symbol.dispose]() {
      process.off('unhandledRejection', listener)
    },
  }
}

/** By framework and scene. */
interface Played {
  statuses: ReadonlyMap<string, number[]>
  output: ReadonlyMap<string, string>
}

async function play(
  framework: string,
  scene: string,
): Promise<{ statuses: number[]; output: string }> {
  played ??= runProgram()
  const { statuses, output } = await played
  const title = `${framework}: ${scene}`
  return { statuses: statuses.get(title) ?? [], output: output.get(title) ?? 'no such scene' }
}

/** Runs the scenes of `printing.ts` in a process of their own. */
async function runProgram(): Promise<Played> {
  const child = fork(fileURLToPath(new URL('printing.ts', import.meta.url)), {
    silent: true,
    execArgv: ['--conditions=@portcullis/source', '--disable-warning=ExperimentalWarning'],
  })
  const told = once(child, 'message') as Promise<[[string, number[]][]]>
  const streams = [child.stdout, child.stderr].filter((stream) => stream !== null)
  const [[statuses], ...outputs] = await Promise.all([told, ...streams.map(scenesOf)])
  const output = new Map<string, string>()
  for (const [scene, printed] of outputs.flat()) {
    output.set(scene, (output.get(scene) ?? '') + printed)
  }
  return { statuses: new Map(statuses), output }
}

async function scenesOf(stream: Readable): Promise<[scene: string, printed: string][]> {
  const scenes = (await textOf(stream)).split(/^--- /m).slice(1)
  return scenes.map((scene) => {
    const end = scene.indexOf('\n')
    return [scene.slice(0, end), scene.slice(end + 1)]
  })
}

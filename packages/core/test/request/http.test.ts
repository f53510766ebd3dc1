import { once } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import { describe, expect, test } from 'vitest'

import type { Auth } from '../../src/claims/auth.ts'
import { refusal } from '../../src/refusal/answers.ts'
import { AuthError } from '../../src/refusal/errors.ts'
import { protectedResourceMetadata } from '../../src/refusal/resource-metadata.ts'
import type { RequestHeaders } from '../../src/request/bearer.ts'
import { findAuth, getAuth } from '../../src/request/get-auth.ts'
import { checkGuardOptions, type GuardOptions } from '../../src/request/guard-options.ts'
import { authenticateRequest, authorizeRequest, hasPassed } from '../../src/request/http.ts'
import type { Requirement } from '../../src/requirement/requirement-list.ts'
import { check, claim, scope } from '../../src/requirement/requirement.ts'
import type { Verifier } from '../../src/verifier/verifier.ts'

const auth: Auth = {
  claims: { sub: 'ada', scope: 'read' },
  header: { alg: 'RS512' },
  token: 'a.b.c',
}
const DESCRIPTION = 'error_description="The access token is not valid"'

/** A verifier that gives one answer, and counts the tokens it is asked about. */
function verifierOf(answer: Auth | Error = auth): Verifier & { readonly asked: string[] } {
  const asked: string[] = []
  return {
    asked,
    async verify(token) {
      asked.push(token)
      if (answer instanceof Error) throw answer
      return await Promise.resolve(answer)
    },
    async ready() {},
  }
}

function request(...authorization: readonly string[]): RequestHeaders & { method: string } {
  const rawHeaders = authorization.flatMap((value) => ['Authorization', value])
  return { method: 'GET', rawHeaders, headers: { authorization: authorization[0] } }
}

const bearer = () => request('Bearer a.b.c')

async function authenticate<Seen extends RequestHeaders>(
  verifier: Verifier,
  seen: Seen,
  options: GuardOptions<Seen> = {},
): Promise<Auth<unknown> | undefined> {
  return await authenticateRequest(verifier, seen, options, seen)
}

async function refusedBy(attempt: Promise<unknown>): Promise<AuthError> {
  const error: unknown = await attempt.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof AuthError)) throw new TypeError('it was not refused')
  return error
}

/** What `onRefusal` was told. */
function reports() {
  const told: { error: AuthError; request: unknown }[] = []
  const onRefusal = (error: AuthError, seen: unknown) => told.push({ error, request: seen })
  return { told, onRefusal }
}

async function authorize(
  seen: RequestHeaders,
  requirements: readonly Requirement[],
): Promise<void> {
  await authorizeRequest(seen, requirements)
}

async function guarded(options: GuardOptions = {}): Promise<RequestHeaders> {
  const seen = bearer()
  await authenticate(verifierOf(), seen, options)
  return seen
}

async function anonymous(options: GuardOptions = {}): Promise<RequestHeaders> {
  const seen = request()
  await authenticate(verifierOf(), seen, { ...options, optional: true })
  return seen
}

describe('authenticateRequest', () => {
  test('a token that is proven: its Auth', async () => {
    const verifier = verifierOf()
    expect(await authenticate(verifier, bearer())).toBe(auth)
    expect(verifier.asked).toEqual(['a.b.c'])
  })

  test('a mock of a request with `headers` alone will do', async () => {
    const mock = { headers: { authorization: 'bearer a.b.c' } }
    expect(await authenticate(verifierOf(), mock)).toBe(auth)
    expect(getAuth(mock)).toBe(auth)
  })

  test('nothing is said to onRefusal about a token that is proven', async () => {
    const { told, onRefusal } = reports()
    await authenticate(verifierOf(), bearer(), { onRefusal })
    expect(told).toEqual([])
  })

  const withoutToken = [
    { name: 'no header', values: [], reason: 'missing_header' },
    { name: 'another scheme', values: ['Basic YTpi'], reason: 'other_scheme' },
  ]

  test.each(withoutToken)('$name: 401 without asking the verifier', async ({ values, reason }) => {
    const verifier = verifierOf()
    const error = await refusedBy(authenticate(verifier, request(...values)))
    expect(error).toMatchObject({ code: 'missing_token', reason, status: 401, statusCode: 401 })
    expect(error.headers).toEqual({
      'WWW-Authenticate': 'Bearer realm="api"',
      'Cache-Control': 'no-store',
    })
    expect(verifier.asked).toEqual([])
  })

  test.each(withoutToken)('$name, optional: anonymous', async ({ values }) => {
    const { told, onRefusal } = reports()
    const verifier = verifierOf()
    const options = { optional: true, onRefusal }
    expect(await authenticate(verifier, request(...values), options)).toBeUndefined()
    expect(verifier.asked).toEqual([])
    expect(told).toEqual([])
  })

  test('inherited options count for nothing', async () => {
    const { told, onRefusal } = reports()
    const inherited = { optional: true, realm: 'polluted', respond: 'problem', onRefusal } as const
    const options = Object.create(inherited) as typeof inherited
    const error = await refusedBy(authenticate(verifierOf(), request(), options))
    expect(error).toMatchObject({ code: 'missing_token', body: undefined })
    expect(error.headers['WWW-Authenticate']).toBe('Bearer realm="api"')
    expect(told).toEqual([])
  })

  test('the result belongs to the subject, not to where the headers are', async () => {
    const [headers, subject] = [bearer(), {}]
    await authenticateRequest(verifierOf(), headers, {}, subject)
    expect(getAuth(subject)).toBe(auth)
    expect(() => getAuth(headers)).toThrow(TypeError)
  })

  test('a CORS preflight is a request like any other', async () => {
    const preflight = { ...request(), method: 'OPTIONS' }
    expect(await refusedBy(authenticate(verifierOf(), preflight))).toMatchObject({
      code: 'missing_token',
      status: 401,
    })
  })

  describe.each([{ optional: false }, { optional: true }])('optional: $optional', (options) => {
    test.each([
      { name: 'Bearer alone', value: 'Bearer' },
      { name: 'two words', value: 'Bearer a b' },
      { name: 'characters that no token has', value: 'Bearer user:grant:secret' },
    ])('$name: 401 without asking the verifier', async ({ value }) => {
      const verifier = verifierOf()
      const error = await refusedBy(authenticate(verifier, request(value), options))
      expect(error).toMatchObject({ code: 'invalid_token', reason: 'malformed', status: 401 })
      expect(error.headers['WWW-Authenticate']).toBe(
        `Bearer realm="api", error="invalid_token", ${DESCRIPTION}`,
      )
      expect(verifier.asked).toEqual([])
    })

    test.each([
      { name: 'two headers', values: ['Bearer a', 'Bearer a'] },
      { name: 'two schemes', values: ['Basic a', 'Bearer a'] },
    ])('$name: 400 without asking the verifier', async ({ values }) => {
      const verifier = verifierOf()
      const error = await refusedBy(authenticate(verifier, request(...values), options))
      const reason = 'repeated_header'
      expect(error).toMatchObject({ code: 'invalid_request', reason, status: 400 })
      expect(error.headers['WWW-Authenticate']).toMatch(
        /^Bearer realm="api", error="invalid_request", error_description="[^"]+"$/,
      )
      expect(verifier.asked).toEqual([])
    })

    test('a bad token: 401 with the challenge', async () => {
      const verifier = verifierOf(new AuthError('invalid_token', 'signature'))
      const error = await refusedBy(authenticate(verifier, bearer(), options))
      expect(error).toMatchObject({ code: 'invalid_token', reason: 'signature', status: 401 })
      expect(error.headers).toEqual({
        'WWW-Authenticate': `Bearer realm="api", error="invalid_token", ${DESCRIPTION}`,
        'Cache-Control': 'no-store',
      })
    })

    test('an outage: 503 with Retry-After and no challenge', async () => {
      const verifier = verifierOf(new AuthError('keys_unavailable', 'timeout', { retryAfter: 7 }))
      const error = await refusedBy(authenticate(verifier, bearer(), options))
      expect(error).toMatchObject({ code: 'keys_unavailable', reason: 'timeout', status: 503 })
      expect(error.headers).toEqual({ 'Retry-After': '7', 'Cache-Control': 'no-store' })
    })

    test('any other error passes through untouched and unreported', async () => {
      const { told, onRefusal } = reports()
      const fault = new RangeError('a bug')
      const attempt = authenticate(verifierOf(fault), bearer(), { ...options, onRefusal })
      await expect(attempt).rejects.toBe(fault)
      expect(told).toEqual([])
    })
  })

  test('a verifier that throws before it promises anything refuses as well', async () => {
    const verifier: Verifier = {
      verify() {
        throw new AuthError('invalid_token', 'expired')
      },
      async ready() {},
    }
    expect(await refusedBy(authenticate(verifier, bearer()))).toMatchObject({
      reason: 'expired',
    })
  })

  test.each([
    { name: 'a bad token', values: ['Bearer a'], answer: new AuthError('invalid_token', 'issuer') },
    { name: 'no token', values: [], answer: auth },
    { name: 'a fault', values: ['Bearer a'], answer: new Error('a bug') },
  ])('after $name the request counts as unguarded', async ({ values, answer }) => {
    const seen = request(...values)
    await expect(authenticate(verifierOf(answer), seen)).rejects.toThrow(Error)
    expect(() => getAuth(seen)).toThrow(TypeError)
    expect(() => findAuth(seen)).toThrow(TypeError)
    await expect(authorize(seen, [])).rejects.toThrow(TypeError)
  })

  test('while the verifier is at work the request counts as unguarded', async () => {
    const seen = bearer()
    const verifier: Verifier = {
      async verify() {
        expect(() => findAuth(seen)).toThrow(TypeError)
        return await Promise.resolve(auth)
      },
      async ready() {},
    }
    await authenticate(verifier, seen)
    expect(findAuth(seen)).toBe(auth)
  })
})

const waitUntil = () => {}

function noting(): Verifier & { readonly given: unknown[] } {
  const given: unknown[] = []
  return {
    given,
    async verify(_token, ...options) {
      given.push(options)
      return await Promise.resolve(auth)
    },
    async ready() {},
  }
}

describe('waitUntil', () => {
  test('of one request reaches the verifier, and is no option of a guard', async () => {
    const verifier = noting()
    const seen = bearer()
    expect(await authenticateRequest(verifier, seen, { waitUntil, optional: true })).toBe(auth)
    const guard = checkGuardOptions(verifier, {})
    await authenticateRequest(verifier, seen, guard, seen, undefined, waitUntil)
    await authenticateRequest(verifier, seen)
    await authenticateRequest(verifier, seen, { waitUntil: undefined })
    expect(verifier.given).toEqual([[{ waitUntil }], [{ waitUntil }], [], []])
    expect(() => checkGuardOptions(verifier, { waitUntil })).toThrow('unknown option "waitUntil"')
  })

  test('that is no function is a TypeError', async () => {
    const options = { waitUntil: 'ctx' } as never
    await expect(authenticateRequest(noting(), bearer(), options)).rejects.toThrow(
      new TypeError('authenticateRequest: waitUntil must be a function'),
    )
  })

  test('that options inherit is not called', async () => {
    const verifier = noting()
    await authenticateRequest(verifier, bearer(), Object.create({ waitUntil }) as object)
    expect(verifier.given).toEqual([[]])
  })
})

describe('options that nobody has checked', () => {
  test.each([
    { name: 'a misspelt option', options: { optinal: true }, message: '"optinal", known are' },
    { name: 'a wrong one', options: { optional: 'yes' }, message: 'optional must be' },
    { name: 'a text in their place', options: 'optional', message: 'options must be an object' },
  ])('$name: TypeError, also for a good token', async ({ options, message }) => {
    for (const seen of [bearer(), request()]) {
      const attempt = authenticateRequest(verifierOf(), seen, options as object)
      await expect(attempt).rejects.toThrow(TypeError)
      await expect(attempt).rejects.toThrow(message)
      expect(() => findAuth(seen)).toThrow(TypeError)
    }
  })

  test('none need be given, nor a subject: it is the request', async () => {
    const [proven, tokenless] = [bearer(), request()]
    expect(await authenticateRequest(verifierOf(), proven)).toBe(auth)
    expect(getAuth(proven)).toBe(auth)
    await authenticateRequest(verifierOf(), tokenless, { optional: true })
    expect(findAuth(tokenless)).toBeUndefined()
  })

  test('something else than a verifier: TypeError, also without a token', async () => {
    const attempt = authenticateRequest({} as Verifier, request())
    await expect(attempt).rejects.toThrow(/first argument must be a verifier/)
  })

  test('a copy of checked options is checked as well', async () => {
    const checked = checkGuardOptions(verifierOf(), { realm: 'r' })
    const attempt = authenticateRequest(verifierOf(), bearer(), {
      ...checked,
      optinal: true,
    } as object)
    await expect(attempt).rejects.toThrow('"optinal"')
  })

  test.each([
    [
      'that inherit what checked ones inherit',
      (heritage: object | null) => Object.create(heritage) as object,
    ],
    [
      'whose proxy says that they do',
      (heritage: object | null) => new Proxy({}, { getPrototypeOf: () => heritage }),
    ],
  ] as const)('options %s are checked as well', async (_, make) => {
    const checked = checkGuardOptions(verifierOf(), {})
    const options = make(Object.getPrototypeOf(checked) as object | null)
    const attempt = authenticate(
      verifierOf(),
      bearer(),
      Object.assign(options, { optinal: true }) as object,
    )
    await expect(attempt).rejects.toThrow('"optinal"')
  })

  test.each([null, 'text', 5])('%s is no object of options: TypeError', async (options) => {
    const attempt = authenticate(verifierOf(), bearer(), options as unknown as object)
    await expect(attempt).rejects.toThrow('authenticate: options must be an object')
  })

  test('checked ones cannot be changed', () => {
    const options = checkGuardOptions(verifierOf(), { optional: false })
    expect(() => Object.assign(options, { optional: true })).toThrow(TypeError)
  })
})

describe('how a refusal is presented', () => {
  const bad = verifierOf(new AuthError('invalid_token', 'unknown_key'))

  test.each([
    {
      name: 'the realm',
      options: { realm: 'locations' },
      challenge: `Bearer realm="locations", error="invalid_token", ${DESCRIPTION}`,
    },
    {
      name: 'the resource metadata',
      options: { resourceMetadata: 'https://api.test/.well-known/oauth-protected-resource' },
      challenge:
        `Bearer realm="api", error="invalid_token", ${DESCRIPTION}, ` +
        'resource_metadata="https://api.test/.well-known/oauth-protected-resource"',
    },
  ])('$name is in the challenge', async ({ options, challenge }) => {
    const { headers } = await refusedBy(authenticate(bad, bearer(), options))
    expect(headers['WWW-Authenticate']).toBe(challenge)
  })

  test.each(['a "b"', 'Ada\\realm', '"'])('a realm such as %s is a mistake', (realm) => {
    expect(() => checkGuardOptions(bad, { realm })).toThrow(
      'authenticate: realm must have no quotes and no backslashes: many clients misread them in a challenge',
    )
  })

  test('the resource metadata is shown to who came without a token, too', async () => {
    const options = { resourceMetadata: 'https://api.test/meta', realm: 'r' }
    const { headers } = await refusedBy(authenticate(bad, request(), options))
    expect(headers['WWW-Authenticate']).toBe(
      'Bearer realm="r", resource_metadata="https://api.test/meta"',
    )
  })

  test.each([{}, { respond: undefined }, { respond: 'forward' as const }])(
    '%j: the body is left to the framework',
    async (options) => {
      const error = await refusedBy(authenticate(bad, bearer(), options))
      expect(refusal(error)?.body).toBeUndefined()
      expect(error.headers).not.toHaveProperty('Content-Type')
    },
  )

  test.each([
    {
      name: 'a reason that would help a forger is left out',
      error: new AuthError('invalid_token', 'signature'),
      problem: {
        type: 'about:blank',
        title: 'Unauthorized',
        status: 401,
        detail: 'The access token is not valid',
        code: 'invalid_token',
      },
    },
    {
      name: 'a reason behind a proven signature is told',
      error: new AuthError('invalid_token', 'expired'),
      problem: {
        type: 'about:blank',
        title: 'Unauthorized',
        status: 401,
        detail: 'The access token has expired',
        code: 'invalid_token',
        reason: 'expired',
      },
    },
    {
      name: 'an outage has a problem document as well',
      error: new AuthError('keys_unavailable', 'unreachable'),
      problem: {
        type: 'about:blank',
        title: 'Service Unavailable',
        status: 503,
        detail: 'Access tokens cannot be verified at the moment',
        code: 'keys_unavailable',
      },
    },
  ])('respond problem: $name', async ({ error, problem }) => {
    const options = { respond: 'problem' as const }
    const refused = await refusedBy(authenticate(verifierOf(error), bearer(), options))
    expect(refused.headers).toHaveProperty('Content-Type', 'application/problem+json')
    expect(JSON.parse(refusal(refused)?.body ?? '')).toEqual(problem)
  })

  test('all refusals before a proven signature have the same bytes', async () => {
    const reasons = ['malformed', 'too_large', 'algorithm', 'critical_header'] as const
    const answers = new Set<string>()
    for (const reason of [...reasons, 'unknown_key', 'signature'] as const) {
      const verifier = verifierOf(new AuthError('invalid_token', reason))
      const options = { respond: 'problem' as const, realm: 'r' }
      const error = await refusedBy(authenticate(verifier, bearer(), options))
      const { status, headers, body } = refusal(error) ?? {}
      answers.add(JSON.stringify({ status, headers, body }))
    }
    expect(answers.size).toBe(1)
  })

  test('the error is presented anew: the verifier`s own is left as it was', async () => {
    const cause = new Error('private')
    const original = new AuthError('invalid_token', 'signature', { cause })
    const error = await refusedBy(authenticate(verifierOf(original), bearer(), { realm: 'mine' }))
    expect(error.cause).toBe(cause)
    expect(original.headers['WWW-Authenticate']).toContain('realm="api"')
  })
})

describe('onRefusal', () => {
  const bad = verifierOf(new AuthError('invalid_token', 'signature'))
  const fault = new Error('the log is full')

  test.each([
    { name: 'a bad token', verifier: bad, values: ['Bearer a.b.c'], code: 'invalid_token' },
    { name: 'no token', verifier: bad, values: [], code: 'missing_token' },
    { name: 'a bad header', verifier: bad, values: ['Bearer'], code: 'invalid_token' },
    {
      name: 'an outage',
      verifier: verifierOf(new AuthError('keys_unavailable', 'bad_document')),
      values: ['Bearer a.b.c'],
      code: 'keys_unavailable',
    },
  ])('$name: told once, with what the client gets', async ({ verifier, values, code }) => {
    const { told, onRefusal } = reports()
    const seen = request(...values)
    const error = await refusedBy(authenticate(verifier, seen, { onRefusal, realm: 'mine' }))
    expect(error.code).toBe(code)
    expect(told).toHaveLength(1)
    expect(told[0]?.error).toBe(error)
    expect(told[0]?.request).toBe(seen)
  })

  test.each([
    {
      name: 'throws',
      onRefusal: () => {
        throw fault
      },
      message: 'the log is full',
    },
    {
      name: 'rejects',
      onRefusal: async () => await Promise.reject(fault),
      message: 'the log is full',
    },
    {
      name: 'throws something that is no error',
      onRefusal: () => {
        // oxlint-disable-next-line typescript/only-throw-error -- applications do
        throw 'the log is full'
      },
      message: 'onRefusal failed',
    },
    {
      name: 'throws what has no text',
      onRefusal: async () => {
        // oxlint-disable-next-line typescript/only-throw-error -- applications do
        throw await Promise.resolve(Object.create(null))
      },
      message: 'onRefusal failed',
    },
  ])('one that $name changes no verdict and becomes a warning', async ({ onRefusal, message }) => {
    const warned = once(process, 'warning') as Promise<[Error]>
    const error = await refusedBy(authenticate(bad, bearer(), { onRefusal }))
    expect(error).toMatchObject({ code: 'invalid_token', reason: 'signature', status: 401 })
    const [warning] = await warned
    expect(warning.message).toBe(message)
  })

  test('one that fails in authorizeRequest changes no verdict either', async () => {
    const warned = once(process, 'warning') as Promise<[Error]>
    const seen = bearer()
    await authenticate(verifierOf(), seen, {
      onRefusal: () => {
        throw fault
      },
    })
    expect(await refusedBy(authorize(seen, [scope('write')]))).toMatchObject({
      code: 'insufficient_scope',
      status: 403,
    })
    const [warning] = await warned
    expect(warning).toBe(fault)
  })

  test('a slow one holds nobody up', async () => {
    const options = { onRefusal: async () => await new Promise<never>(() => {}) }
    const error = await refusedBy(authenticate(bad, bearer(), options))
    expect(error).toMatchObject({ code: 'invalid_token', status: 401 })
  })
})

describe('authorizeRequest', () => {
  test('what the token permits is let through', async () => {
    const { told, onRefusal } = reports()
    const requirements = [scope('read'), claim('sub', 'ada'), check(({ token }) => token !== '')]
    await expect(authorize(await guarded({ onRefusal }), requirements)).resolves.toBeUndefined()
    expect(told).toEqual([])
  })

  test.each([
    {
      name: 'a scope',
      requirement: scope('write admin'),
      reason: 'scope',
      challenge:
        'Bearer realm="api", error="insufficient_scope", ' +
        'error_description="The access token lacks a required scope", scope="write admin"',
    },
    {
      name: 'a claim',
      requirement: claim('sub', 'bob'),
      reason: 'claim',
      challenge:
        'Bearer realm="api", error="insufficient_scope", ' +
        'error_description="The access token lacks a required claim value"',
    },
    {
      name: 'a check',
      requirement: check(() => false),
      reason: 'check',
      challenge:
        'Bearer realm="api", error="insufficient_scope", ' +
        'error_description="The access token does not permit this request"',
    },
  ])('$name that is not met: 403', async ({ requirement, reason, challenge }) => {
    const error = await refusedBy(authorize(await guarded(), [requirement]))
    expect(error).toMatchObject({ code: 'insufficient_scope', reason, status: 403 })
    expect(error.headers).toEqual({ 'WWW-Authenticate': challenge, 'Cache-Control': 'no-store' })
    expect(error.cause).toBe(requirement)
  })

  test('the first requirement that is not met decides, and no later one is asked', async () => {
    const asked: string[] = []
    const named = (name: string, answer: boolean) =>
      check(() => {
        asked.push(name)
        return answer
      })
    const requirements = [named('one', true), named('two', false), named('three', false)]
    const error = await refusedBy(authorize(await guarded(), requirements))
    expect(error.cause).toBe(requirements[1])
    expect(asked).toEqual(['one', 'two'])
  })

  test('a refusal is presented and reported as the guard does', async () => {
    const { told, onRefusal } = reports()
    const seen = await guarded({ realm: 'mine', respond: 'problem', onRefusal })
    const error = await refusedBy(authorize(seen, [scope('write')]))
    expect(error.headers['WWW-Authenticate']).toMatch(/^Bearer realm="mine", .*, scope="write"$/)
    expect(error.headers['Content-Type']).toBe('application/problem+json')
    expect(JSON.parse(refusal(error)?.body ?? '')).toMatchObject({ status: 403, reason: 'scope' })
    expect(told).toHaveLength(1)
    expect(told[0]?.error).toBe(error)
    expect(told[0]?.request).toBe(seen)
  })

  test('anonymous and a requirement: 401 missing_token, once', async () => {
    const { told, onRefusal } = reports()
    const seen = await anonymous({ realm: 'mine', onRefusal })
    const error = await refusedBy(authorize(seen, [scope('read')]))
    expect(error).toMatchObject({ code: 'missing_token', reason: 'missing_header', status: 401 })
    expect(error.headers).toEqual({
      'WWW-Authenticate': 'Bearer realm="mine"',
      'Cache-Control': 'no-store',
    })
    expect(told.map((each) => each.error)).toEqual([error])
  })

  test('anonymous and an empty list of requirements: 401 all the same', async () => {
    expect(await refusedBy(authorize(await anonymous(), []))).toMatchObject({
      code: 'missing_token',
    })
  })

  test('a token and an empty list of requirements: let through', async () => {
    await expect(authorize(await guarded(), [])).resolves.toBeUndefined()
  })

  test('without a guard: TypeError, a mistake of the programmer', async () => {
    await expect(authorize(bearer(), [scope('read')])).rejects.toThrow(
      new TypeError(
        'no guard has seen the request (in Koa and Hono, the context): authenticate(verifier) or PortcullisGuard must come before, and authenticateRequest() must be awaited',
      ),
    )
  })

  test('a check that fails is a fault of the application, untouched and unreported', async () => {
    const { told, onRefusal } = reports()
    const fault = new RangeError('the database is down')
    const requirement = check(async () => await Promise.reject(fault))
    const attempt = authorize(await guarded({ onRefusal }), [requirement])
    await expect(attempt).rejects.toBe(fault)
    expect(told).toEqual([])
  })

  test('a check that throws an AuthError that cannot be written: a fault, before the adapter has to answer', async () => {
    const requirement = check(() => {
      throw new AuthError('insufficient_scope', 'check', { scope: ['write'] as unknown as string })
    })
    await expect(authorize(await guarded(), [requirement])).rejects.toThrow(TypeError)
  })

  test('a check that throws an AuthError refuses with it', async () => {
    const requirement = check(() => {
      throw new AuthError('insufficient_scope', 'check')
    })
    const seen = await guarded({ realm: 'mine' })
    const error = await refusedBy(authorize(seen, [requirement]))
    expect(error.headers['WWW-Authenticate']).toContain('realm="mine"')
  })
})

describe('two guards', () => {
  const other: Auth = { ...auth, claims: { sub: 'bob' }, token: 'd.e.f' }

  test('the last one`s proof is the request`s', async () => {
    const seen = bearer()
    await authenticate(verifierOf(), seen)
    await authenticate(verifierOf(other), seen)
    expect(getAuth(seen)).toBe(other)
  })

  test('with its verifier, each one`s proof is found', async () => {
    const [outer, inner, unused] = [verifierOf(), verifierOf(other), verifierOf()]
    const seen = bearer()
    await authenticate(outer, seen)
    await authenticate(inner, seen)
    expect(getAuth(seen, outer)).toBe(auth)
    expect(getAuth(seen, inner)).toBe(other)
    expect(findAuth(seen, outer)).toBe(auth)
    expect(() => getAuth(seen, unused)).toThrow(TypeError)
  })

  test('a requirement is judged by the last, and refused as it refuses', async () => {
    const [outer, inner] = [reports(), reports()]
    const seen = bearer()
    await authenticate(verifierOf(), seen, { realm: 'outer', onRefusal: outer.onRefusal })
    await authenticate(verifierOf(other), seen, { realm: 'inner', onRefusal: inner.onRefusal })
    await authorize(seen, [claim('sub', 'bob')])
    const error = await refusedBy(authorize(seen, [claim('sub', 'ada')]))
    expect(error.headers['WWW-Authenticate']).toContain('realm="inner"')
    expect(inner.told).toHaveLength(1)
    expect(outer.told).toEqual([])
  })

  test('one that refuses leaves no proof of its own', async () => {
    const outer = verifierOf()
    const inner = verifierOf(new AuthError('invalid_token', 'audience'))
    const seen = bearer()
    await authenticate(outer, seen)
    expect(await refusedBy(authenticate(inner, seen))).toMatchObject({ reason: 'audience' })
    expect(() => getAuth(seen, inner)).toThrow(TypeError)
    expect(getAuth(seen, outer)).toBe(auth)
  })

  test('both optional: the request is anonymous to each by name', async () => {
    const [outer, inner] = [verifierOf(), verifierOf(other)]
    const seen = request()
    await authenticate(outer, seen, { optional: true })
    await authenticate(inner, seen, { optional: true })
    expect(findAuth(seen, outer)).toBeUndefined()
    expect(findAuth(seen, inner)).toBeUndefined()
  })

  test('one request`s proof is never another`s', async () => {
    const verifier = verifierOf()
    const [one, two] = [bearer(), bearer()]
    await authenticate(verifier, one)
    expect(() => getAuth(two, verifier)).toThrow(TypeError)
  })
})

describe('one request that passes again and again', () => {
  const proofs: WeakRef<Auth>[] = []
  const inner: Verifier = {
    async verify(token) {
      const proof = { ...auth, token }
      proofs.push(new WeakRef(proof))
      return await Promise.resolve(proof)
    },
    async ready() {},
  }
  const checked = checkGuardOptions(inner, {})

  test.each<[title: string, options: () => GuardOptions]>([
    ['a guard whose options are checked once', () => checked],
    ['a guard whose options are checked at each call', () => ({ realm: 'inner' })],
  ])('%s, 100,000 times: the first proofs are kept no longer', async (_title, options) => {
    const [outer, unused] = [verifierOf(), verifierOf()]
    const outerOptions = checkGuardOptions(outer, {})
    const seen = bearer()
    await authenticate(outer, seen, outerOptions)
    proofs.length = 0
    for (let pass = 0; pass < 100_000; pass += 1) await authenticate(inner, seen, options())
    // A WeakRef holds its target until the turn of the event loop ends.
    await new Promise(setImmediate)
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void // what the flag exposes
    collect()
    expect(proofs.filter((proof) => proof.deref() !== undefined)).toHaveLength(1)
    expect(getAuth(seen, inner)).toBe(proofs.at(-1)?.deref())
    expect(getAuth(seen, outer)).toBe(auth)
    expect(hasPassed(seen, outerOptions)).toBe(true)
    expect(() => findAuth(seen, unused)).toThrow(
      new TypeError('no guard with this verifier has seen the request'),
    )
  })

  test('two verifiers behind the same options: each one`s proof is found', async () => {
    const other: Auth = { ...auth, claims: { sub: 'bob' }, token: 'd.e.f' }
    const [first, second] = [verifierOf(), verifierOf(other)]
    const options = checkGuardOptions(first, {})
    const seen = bearer()
    for (const verifier of [first, second, first]) await authenticate(verifier, seen, options)
    expect([getAuth(seen, first), getAuth(seen, second)]).toEqual([auth, other])
    expect(getAuth(seen)).toBe(auth)
  })
})

describe('hasPassed', () => {
  test('is true of each guard that has let the request through, and of no other', async () => {
    const seen = bearer()
    const [first, second, third] = [{}, {}, { optional: true }].map((options) =>
      checkGuardOptions(verifierOf(), options),
    )
    for (const options of [first, second]) await authenticate(verifierOf(), seen, options)
    const guards = [first, second, third].filter((each) => each !== undefined)
    expect(guards.map((options) => hasPassed(seen, options))).toEqual([true, true, false])
    expect(guards.map((options) => hasPassed(bearer(), options))).toEqual([false, false, false])
  })

  test('is true of two guards of one verifier', async () => {
    const verifier = verifierOf()
    const [outer, inner] = [{}, { realm: 'inner' }].map((options) =>
      checkGuardOptions(verifier, options),
    )
    const seen = bearer()
    const guards = [outer, inner].filter((each) => each !== undefined)
    for (const options of guards) await authenticate(verifier, seen, options)
    expect(guards.map((options) => hasPassed(seen, options))).toEqual([true, true])
  })

  test('is false of a guard that has refused, and true of one that let in an anonymous request', async () => {
    const strict = checkGuardOptions(verifierOf(), {})
    const lenient = checkGuardOptions(verifierOf(), { optional: true })
    const seen = request()
    await refusedBy(authenticate(verifierOf(), seen, strict))
    await authenticate(verifierOf(), seen, lenient)
    expect([hasPassed(seen, strict), hasPassed(seen, lenient)]).toEqual([false, true])
  })
})

describe('checkGuardOptions', () => {
  const verifier = verifierOf()

  test.each([
    { name: 'none', options: {} },
    {
      name: 'all of them',
      options: {
        optional: true,
        realm: 'a realm, v1',
        scope: 'read write',
        resourceMetadata: 'https://api.test/.well-known/oauth-protected-resource',
        respond: 'problem',
        onRefusal: () => {},
      },
    },
    { name: 'those left undefined', options: { optional: undefined, realm: undefined } },
    { name: 'respond forward', options: { respond: 'forward' } },
    {
      name: 'metadata themselves',
      options: { resourceMetadata: protectedResourceMetadata({ resource: 'https://api.test' }) },
    },
  ])('options that are right: $name', ({ options }) => {
    expect(checkGuardOptions(verifier, options)).toEqual(options)
  })

  test('what it returns is a copy for each guard, without inherited members', () => {
    const options = Object.assign(Object.create({ optional: true }) as object, { realm: 'r' })
    const [first, second] = [options, options].map((each) => checkGuardOptions(verifier, each))
    expect(first).not.toBe(second)
    expect(first).toEqual({ realm: 'r' })
    expect(first).not.toHaveProperty('optional')
  })

  test.each<{ name: string; options: object; message: string }>([
    { name: 'a misspelt option', options: { optinal: true }, message: '"optinal"' },
    { name: 'optional as a text', options: { optional: 'false' }, message: 'optional' },
    { name: 'optional as a number', options: { optional: 1 }, message: 'optional' },
    { name: 'optional as null', options: { optional: null }, message: 'optional' },
    { name: 'an empty realm', options: { realm: '' }, message: 'realm' },
    {
      name: 'a realm with a line break',
      options: { realm: 'a\r\nSet-Cookie: b' },
      message: 'realm',
    },
    { name: 'a realm that ends in one', options: { realm: 'a\n' }, message: 'realm' },
    { name: 'a realm beyond ASCII', options: { realm: 'schlüssel' }, message: 'realm' },
    { name: 'a realm that is no text', options: { realm: 1 }, message: 'realm' },
    {
      name: 'metadata that is null',
      options: { resourceMetadata: null },
      message: 'resourceMetadata must be a string',
    },
    {
      name: 'metadata that is no URL',
      options: { resourceMetadata: '/meta' },
      message: 'resourceMetadata is not an absolute URL: is an environment variable unset?',
    },
    {
      name: 'metadata with a line break',
      options: { resourceMetadata: 'https://api.test/\n' },
      message: 'resourceMetadata must be a string',
    },
    {
      name: 'metadata that is no text',
      options: { resourceMetadata: new URL('https://api.test') },
      message: 'resourceMetadata',
    },
    {
      name: 'metadata whose URL is none',
      options: { resourceMetadata: { url: '/meta', path: '/meta', body: '' } },
      message: 'resourceMetadata must be a URL or what protectedResourceMetadata() returns',
    },
    {
      name: 'metadata with a scope that is none',
      options: { resourceMetadata: { url: 'https://api.test/', scopes: ['"'] } },
      message: 'resourceMetadata',
    },
    {
      name: 'metadata with scopes that are no list',
      options: { resourceMetadata: { url: 'https://api.test/', scopes: 'read' } },
      message: 'resourceMetadata',
    },
    {
      name: 'metadata that are null',
      options: { resourceMetadata: null },
      message: 'resourceMetadata',
    },
    {
      name: 'a scope with two spaces',
      options: { scope: 'a  b' },
      message: 'scope must be a space-separated list of scopes',
    },
    { name: 'a scope that is no text', options: { scope: ['a'] }, message: 'scope must be' },
    { name: 'respond with json', options: { respond: 'json' }, message: 'forward, problem' },
    { name: 'onRefusal that is no function', options: { onRefusal: 'log' }, message: 'onRefusal' },
    { name: 'an inherited name', options: { constructor: () => {} }, message: 'constructor' },
  ])('TypeError at start-up: $name', ({ options, message }) => {
    const attempt = () => checkGuardOptions(verifier, options)
    expect(attempt).toThrow(TypeError)
    expect(attempt).toThrow(/^authenticate: /)
    expect(attempt).toThrow(message)
  })

  test.each([
    { name: 'nothing', given: undefined },
    { name: 'null', given: null },
    { name: 'options in its place', given: { optional: true } },
    { name: 'a function', given: () => auth },
    { name: 'a text', given: 'verify' },
  ])('TypeError at start-up: $name is no verifier', ({ given }) => {
    expect(() => checkGuardOptions(given, {})).toThrow(
      new TypeError(
        'authenticate: the first argument must be a verifier: write authenticate(verifier, options)',
      ),
    )
  })

  test.each(['auth', 'user', 'a1_'])('the property %s is a name', (property) => {
    expect(() => checkGuardOptions(verifier, { property })).not.toThrow()
  })

  test.each(['', '__proto__', '1a', 'a.b', 'a b', 1, null])(
    'the property %j is none',
    (property) => {
      expect(() => checkGuardOptions(verifier, { property })).toThrow(
        new TypeError('authenticate: property must be the name of a property'),
      )
    },
  )
})

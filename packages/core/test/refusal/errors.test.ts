import { format, inspect } from 'node:util'

import { describe, expect, test } from 'vitest'

import { AuthError, type AuthErrorOptions } from '../../src/refusal/errors.ts'
import { type AuthErrorCode, refusals } from '../../src/refusal/refusals.ts'
import { protectedResourceMetadata } from '../../src/refusal/resource-metadata.ts'

type Arguments = ConstructorParameters<typeof AuthError>

const STATUS: Record<AuthErrorCode, [status: number, title: string]> = {
  missing_token: [401, 'Unauthorized'],
  invalid_request: [400, 'Bad Request'],
  invalid_token: [401, 'Unauthorized'],
  invalid_dpop_proof: [401, 'Unauthorized'],
  use_dpop_nonce: [401, 'Unauthorized'],
  insufficient_user_authentication: [401, 'Unauthorized'],
  insufficient_scope: [403, 'Forbidden'],
  keys_unavailable: [503, 'Service Unavailable'],
  revocation_unavailable: [503, 'Service Unavailable'],
  replay_unavailable: [503, 'Service Unavailable'],
  introspection_unavailable: [503, 'Service Unavailable'],
}

const ROWS = Object.entries(refusals).flatMap(([code, { description, reasons }]) =>
  Object.entries(reasons).map(([reason, text]) => ({
    code: code as AuthErrorCode,
    reason,
    message: text ?? description,
    told: text !== null,
  })),
)

function create(code: string, reason: string, options?: AuthErrorOptions): AuthError {
  return new AuthError(...([code, reason, options] as Arguments))
}

const challengeIn = (error: AuthError) => error.headers['WWW-Authenticate']

function schemeOf(code: AuthErrorCode): string {
  return code === 'invalid_dpop_proof' || code === 'use_dpop_nonce' ? 'DPoP' : 'Bearer'
}

function challengeOf(options: AuthErrorOptions): string | undefined {
  return new AuthError('invalid_token', 'expired', options).headers['WWW-Authenticate']
}

const EXPIRED =
  'Bearer realm="api", error="invalid_token", error_description="The access token has expired"'

describe.each(ROWS)('$code, $reason', ({ code, reason, message, told }) => {
  const error = create(code, reason)
  const [status, title] = STATUS[code]

  test('is an error with code, reason and status', () => {
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({ name: 'AuthError', code, reason, status, statusCode: status })
    expect(error.expose).toBe(true)
    expect(error.message).toBe(message)
    expect(String(error)).toBe(`AuthError: ${message}`)
  })

  test('is answered with these headers and without a body', () => {
    const details =
      code === 'missing_token' ? '' : `, error="${code}", error_description="${message}"`
    expect(error.headers).toEqual(
      status === 503
        ? { 'Retry-After': '1', 'Cache-Control': 'no-store' }
        : {
            'WWW-Authenticate': `${schemeOf(code)} realm="api"${details}`,
            'Cache-Control': 'no-store',
          },
    )
    expect(error.body).toBeUndefined()
  })

  test('is shown to the client with no more than it may learn', () => {
    const shown = told ? { reason } : {}
    expect(error.toJSON()).toStrictEqual({ name: 'AuthError', code, ...shown, status, message })
    const { body } = create(code, reason, { respond: 'problem' })
    expect(JSON.parse(body ?? '')).toStrictEqual({
      type: 'about:blank',
      title,
      status,
      detail: message,
      code,
      ...shown,
    })
  })

  test('has a public text: short, printable ASCII, without quote and backslash', () => {
    expect(error.message).toMatch(/^[\u0020-\u0021\u0023-\u005B\u005D-\u007E]{1,199}$/)
  })

  test('has no stack frames', () => {
    expect(error.stack).toBe(`AuthError: ${message}`)
  })
})

test('each reason that is told has a text of its own', () => {
  const told = ROWS.filter((row) => row.told)
  expect(new Set(told.map(({ message }) => message)).size).toBe(told.length)
})

test('no reason is told of an outage, of a request without a token, and of what a function of the API refuses', () => {
  // What may be told of a token depends on whether it is proven: reasons.test.ts has a token for each.
  const untold = ROWS.filter((row) => !row.told && row.code !== 'invalid_token')
  const outages = ROWS.filter(({ code }) => STATUS[code][0] === 503)
  const others = ['missing_header', 'other_scheme', 'check']
  expect(untold.map(({ reason }) => reason).toSorted()).toEqual(
    [...outages.map(({ reason }) => reason), ...others].toSorted(),
  )
})

test('before a signature is proven the answer has the same bytes for every reason', () => {
  const answers = ROWS.filter(({ code, told }) => code === 'invalid_token' && !told).map(
    ({ code, reason }) => {
      const { status, headers, body, ...rest } = create(code, reason, { respond: 'problem' })
      expect(rest.reason).toBe(reason)
      return JSON.stringify({ status, headers, body, json: create(code, reason) })
    },
  )
  expect(answers.length).toBeGreaterThan(1)
  expect(new Set(answers).size).toBe(1)
})

test('some bytes, as they go over the wire', () => {
  expect(create('missing_token', 'missing_header').headers).toEqual({
    'WWW-Authenticate': 'Bearer realm="api"',
    'Cache-Control': 'no-store',
  })
  expect(create('invalid_token', 'signature').headers['WWW-Authenticate']).toBe(
    'Bearer realm="api", error="invalid_token", error_description="The access token is not valid"',
  )
  const { body } = create('invalid_token', 'signature', { respond: 'problem' })
  expect(body).toBe(
    '{"type":"about:blank","title":"Unauthorized","status":401,' +
      '"detail":"The access token is not valid","code":"invalid_token"}',
  )
})

describe('the challenge', () => {
  test.each<{ name: string; options: AuthErrorOptions; challenge: string }>([
    { name: 'nothing more', options: {}, challenge: EXPIRED },
    {
      name: 'another realm',
      options: { realm: 'orders' },
      challenge: EXPIRED.replace('"api"', '"orders"'),
    },
    {
      name: 'a realm with quotes',
      options: { realm: 'the "best" api' },
      challenge: EXPIRED.replace('"api"', String.raw`"the \"best\" api"`),
    },
    {
      name: 'a realm with backslashes',
      options: { realm: String.raw`a\b\"` },
      challenge: EXPIRED.replace('"api"', String.raw`"a\\b\\\""`),
    },
    { name: 'an empty realm', options: { realm: '' }, challenge: EXPIRED.replace('"api"', '""') },
    {
      name: 'a realm with a dollar, which is no pattern',
      options: { realm: '$& $1' },
      challenge: EXPIRED.replace('"api"', () => '"$& $1"'),
    },
    { name: 'a scope', options: { scope: 'a b' }, challenge: `${EXPIRED}, scope="a b"` },
    {
      name: 'the metadata',
      options: { resourceMetadata: 'https://api.example/.well-known/oauth-protected-resource' },
      challenge: `${EXPIRED}, resource_metadata="https://api.example/.well-known/oauth-protected-resource"`,
    },
    {
      name: 'metadata with a quote',
      options: { resourceMetadata: 'https://api.example/"' },
      challenge: String.raw`${EXPIRED}, resource_metadata="https://api.example/\""`,
    },
    {
      name: 'all of them',
      options: { realm: 'r', scope: 's', resourceMetadata: 'https://m.example' },
      challenge: `${EXPIRED.replace('"api"', '"r"')}, scope="s", resource_metadata="https://m.example"`,
    },
  ])('can have $name', ({ options, challenge }) => {
    expect(challengeOf(options)).toBe(challenge)
  })

  test('of a request without a token has realm and metadata and no error code', () => {
    const options = { realm: 'r', resourceMetadata: 'https://m.example' }
    expect(create('missing_token', 'missing_header', options).headers['WWW-Authenticate']).toBe(
      'Bearer realm="r", resource_metadata="https://m.example"',
    )
  })

  test('is not part of an outage, whatever the options', () => {
    const options = { realm: 'r', scope: 's', resourceMetadata: 'https://m.example' }
    expect(create('keys_unavailable', 'timeout', options).headers).toEqual({
      'Retry-After': '1',
      'Cache-Control': 'no-store',
    })
  })
})

describe('Retry-After', () => {
  test.each([
    { name: 'unknown', retryAfter: undefined, header: '1' },
    { name: 'now', retryAfter: 0, header: '1' },
    { name: 'past', retryAfter: -5, header: '1' },
    { name: 'long past', retryAfter: -Infinity, header: '1' },
    { name: 'a moment away', retryAfter: 0.01, header: '1' },
    { name: 'a second away', retryAfter: 1, header: '1' },
    { name: 'a little more than a second away', retryAfter: 1.001, header: '2' },
    { name: 'half a minute away', retryAfter: 29.5, header: '30' },
  ])('the next attempt is $name: $header', ({ retryAfter, header }) => {
    const error = new AuthError('keys_unavailable', 'unreachable', { retryAfter })
    expect(error.headers['Retry-After']).toBe(header)
  })

  test('is for outages alone', () => {
    const error = new AuthError('invalid_token', 'expired', { retryAfter: 9 })
    expect(error.headers).not.toHaveProperty('Retry-After')
  })
})

describe('a problem document', () => {
  test('is announced by its media type', () => {
    const error = new AuthError('invalid_token', 'expired', { respond: 'problem' })
    expect(error.headers).toEqual({
      'WWW-Authenticate': EXPIRED,
      'Cache-Control': 'no-store',
      'Content-Type': 'application/problem+json',
    })
  })

  test('of an outage is announced too', () => {
    const error = new AuthError('keys_unavailable', 'timeout', {
      respond: 'problem',
      retryAfter: 3,
    })
    expect(error.headers).toEqual({
      'Retry-After': '3',
      'Cache-Control': 'no-store',
      'Content-Type': 'application/problem+json',
    })
  })

  test('is not written where the framework answers', () => {
    const error = new AuthError('invalid_token', 'expired', { respond: 'forward' })
    expect(error.body).toBeUndefined()
    expect(error.headers).not.toHaveProperty('Content-Type')
  })
})

describe('presentedBy', () => {
  const cause = new Error('private')
  const error = new AuthError('insufficient_scope', 'scope', { scope: 'a b', cause, realm: 'old' })

  test('is the same refusal in the words of another API', () => {
    const presented = error.presentedBy({
      realm: 'new',
      resourceMetadata: 'https://m.example',
      respond: 'problem',
    })
    expect(presented).toBeInstanceOf(AuthError)
    expect(presented).toMatchObject({ code: 'insufficient_scope', reason: 'scope', status: 403 })
    expect(presented.message).toBe(error.message)
    expect(presented.cause).toBe(cause)
    expect(presented.stack).toBe(`AuthError: ${error.message}`)
    expect(presented.headers).toEqual({
      'WWW-Authenticate':
        'Bearer realm="new", error="insufficient_scope", ' +
        'error_description="The access token lacks a required scope", ' +
        'scope="a b", resource_metadata="https://m.example"',
      'Cache-Control': 'no-store',
      'Content-Type': 'application/problem+json',
    })
    expect(JSON.parse(presented.body ?? '')).toMatchObject({ status: 403, reason: 'scope' })
  })

  test('leaves the error itself as it was', () => {
    const before = JSON.stringify([error, error.headers, error.body])
    expect(error.presentedBy({ realm: 'new', respond: 'problem' })).not.toBe(error)
    expect(JSON.stringify([error, error.headers, error.body])).toBe(before)
  })

  test('an API that states nothing gets the defaults', () => {
    expect(error.presentedBy({}).headers['WWW-Authenticate']).toContain('realm="api"')
    expect(error.presentedBy({ respond: 'problem' }).presentedBy({}).body).toBeUndefined()
  })

  test('keeps the time of the next attempt', () => {
    const outage = new AuthError('keys_unavailable', 'timeout', { retryAfter: 7 })
    expect(outage.presentedBy({ realm: 'new' }).headers).toEqual({
      'Retry-After': '7',
      'Cache-Control': 'no-store',
    })
  })

  test('an error without options can be presented, and has no cause then either', () => {
    const presented = new AuthError('invalid_token', 'expired').presentedBy({ realm: 'new' })
    expect(presented.headers['WWW-Authenticate']).toBe(EXPIRED.replace('"api"', '"new"'))
    expect(presented).not.toHaveProperty('cause')
  })
})

describe('the scope that a client should ask for', () => {
  const metadata = protectedResourceMetadata({
    resource: 'https://api.test',
    scopes: ['read', 'write'],
  })
  const named = `resource_metadata="${metadata.url}"`

  test.each([
    { name: 'stated', options: { scope: 'a b' }, end: 'scope="a b"' },
    {
      name: 'of the metadata',
      options: { resourceMetadata: metadata },
      end: `scope="read write", ${named}`,
    },
    {
      name: 'stated, beside metadata',
      options: { scope: 'a', resourceMetadata: metadata },
      end: `scope="a", ${named}`,
    },
    {
      name: 'none: the metadata are a URL',
      options: { resourceMetadata: metadata.url },
      end: named,
    },
    {
      name: 'none: the metadata have no scopes',
      options: { resourceMetadata: { ...metadata, scopes: [] } },
      end: named,
    },
  ])('$name', ({ options, end }) => {
    const missing = new AuthError('missing_token', 'missing_header')
    expect(challengeIn(missing.presentedBy(options))).toBe(`Bearer realm="api", ${end}`)
    const expired = new AuthError('invalid_token', 'expired')
    expect(challengeIn(expired.presentedBy(options))).toBe(`${EXPIRED}, ${end}`)
  })

  test('is that of the API that presents the refusal last', () => {
    const error = new AuthError('missing_token', 'missing_header').presentedBy({ scope: 'a' })
    expect(challengeIn(error.presentedBy({ scope: 'b' }))).toBe('Bearer realm="api", scope="b"')
    expect(challengeIn(error.presentedBy({}))).toBe('Bearer realm="api"')
  })

  test.each([
    [{ scope: 'base' }, ', scope="base write"'],
    [{ scope: 'write base' }, 'scope="write base"'],
    [{}, 'scope="write"'],
    [{ resourceMetadata: metadata }, `scope="write", ${named}`],
  ])('is joined with that of the route where another log-in is needed: %j', (options, end) => {
    const error = new AuthError('insufficient_user_authentication', 'acr', { scope: 'write' })
    const presented = error.presentedBy({ scope: 'of another API' }).presentedBy(options)
    expect(challengeIn(presented)).toContain(end)
  })

  test('is no answer to a token that permits too little, nor to a repeated header', () => {
    const options = { scope: 'a', resourceMetadata: metadata }
    const lacking = new AuthError('insufficient_scope', 'scope', { scope: 'delete' })
    expect(challengeIn(lacking.presentedBy(options))).toContain('scope="delete"')
    const check = new AuthError('insufficient_scope', 'check')
    expect(challengeIn(check.presentedBy(options))).not.toContain('scope="')
    const repeated = new AuthError('invalid_request', 'repeated_header')
    expect(challengeIn(repeated.presentedBy(options))).not.toContain('scope="')
  })

  test('inherited scopes of metadata count for nothing', () => {
    const { url, path, body } = metadata
    const polluted = Object.assign(Object.create({ scopes: ['polluted'] }) as object, {
      url,
      path,
      body,
    })
    const error = new AuthError('missing_token', 'missing_header', { resourceMetadata: polluted })
    expect(challengeIn(error)).toBe(`Bearer realm="api", ${named}`)
  })
})

describe('the cause is private', () => {
  const canaries = ['CANARY-message', 'CANARY-token', 'CANARY-url']
  const cause = Object.assign(new Error('CANARY-message'), {
    token: 'CANARY-token',
    nested: { cause: new Error('CANARY-url') },
  })
  const error = new AuthError('keys_unavailable', 'unreachable', { cause, respond: 'problem' })

  test('it is there for the developer', () => {
    expect(error.cause).toBe(cause)
    expect(new AuthError('invalid_token', 'expired')).not.toHaveProperty('cause')
  })

  test.each([
    { name: 'an inspection', text: inspect(error) },
    { name: 'a thorough inspection', text: inspect(error, { depth: Infinity, showHidden: true }) },
    { name: 'an inspection of what holds it', text: inspect({ list: [error] }, { depth: 9 }) },
    { name: 'an inspection of its wrapper', text: inspect(new Error('outer', { cause: error })) },
    { name: 'a log line', text: format('%s %o %O %j', error, error, error, error) },
    { name: 'JSON', text: JSON.stringify(error) },
    { name: 'JSON of what holds it', text: JSON.stringify({ error, list: [error] }) },
    { name: 'JSON of a copy', text: JSON.stringify(Object.assign({}, error)) },
    { name: 'its text', text: `${String(error)} ${error.message} ${error.stack}` },
    { name: 'its headers', text: JSON.stringify(error.headers) },
    { name: 'its body', text: String(error.body) },
    {
      name: 'an inspection by another API',
      text: inspect(error.presentedBy({ realm: 'r' }), { depth: Infinity, showHidden: true }),
    },
  ])('it does not show in $name', ({ text }) => {
    expect(text).not.toBe('')
    expect(canaries.filter((canary) => text.includes(canary))).toEqual([])
  })

  test('an inspection shows message, code, reason and status', () => {
    expect(inspect(new AuthError('invalid_token', 'signature'))).toBe(
      'AuthError: The access token is not valid ' +
        "{ code: 'invalid_token', reason: 'signature', status: 401 }",
    )
  })
})

test('other errors keep their stack frames', () => {
  const limit = Error.stackTraceLimit
  expect(limit).toBeGreaterThan(0)
  const refused = new AuthError('invalid_token', 'expired')
  expect(refused.presentedBy({})).toBeInstanceOf(AuthError)
  expect(Error.stackTraceLimit).toBe(limit)
  expect(new Error('a fault').stack).toContain('errors.test.ts')
})

describe('a mistake of the programmer is a TypeError', () => {
  test.each([
    { name: 'an unknown reason', code: 'invalid_token', reason: 'nonsense' },
    { name: 'the reason of another code', code: 'invalid_token', reason: 'scope' },
    { name: 'an inherited name as the reason', code: 'keys_unavailable', reason: 'toString' },
    { name: 'no reason', code: 'missing_token', reason: undefined },
  ])('$name', ({ code, reason }) => {
    const act = () => create(code, reason as string)
    expect(act).toThrow(TypeError)
    expect(act).toThrow(`${JSON.stringify(reason)} is not a reason of ${code}`)
  })

  test('it leaves the stack frames of other errors alone', () => {
    const limit = Error.stackTraceLimit
    expect(() => create('invalid_token', 'nonsense')).toThrow(TypeError)
    expect(Error.stackTraceLimit).toBe(limit)
  })

  test.each(['nonsense', 'constructor', '__proto__'])('the unknown code %s', (code) => {
    expect(() => create(code, 'expired')).toThrow(TypeError)
  })
})

test('what a header cannot carry is left out of the challenge', () => {
  const options = {
    realm: 'a\r\nX: b',
    scope: 'ré"ad\0',
    resourceMetadata: 'https://a.test/\u0100',
  }
  const { headers } = new AuthError('insufficient_scope', 'scope', options)
  expect(headers['WWW-Authenticate']).toBe(
    'Bearer realm="aX: b", error="insufficient_scope", error_description="The access token lacks a required scope", scope="r\\"ad", resource_metadata="https://a.test/"',
  )
})

test('headers that middleware adds are those of the error from then on', () => {
  const error = new AuthError('invalid_token', 'expired')
  error.headers = { ...error.headers, Vary: 'Origin' }
  expect(error.headers).toMatchObject({ Vary: 'Origin', 'Cache-Control': 'no-store' })
})

test('inherited options count for nothing, and headers inherit nothing', () => {
  const inherited = {
    cause: 'polluted',
    realm: 'polluted',
    scope: 'polluted',
    resourceMetadata: 'https://polluted.test',
    respond: 'problem',
    retryAfter: 7,
  } as const
  const options = Object.create(inherited) as typeof inherited
  const outage = new AuthError('keys_unavailable', 'timeout', options)
  expect(outage.headers).toEqual({ 'Retry-After': '1', 'Cache-Control': 'no-store' })
  const refusal = new AuthError('invalid_token', 'expired', options)
  for (const error of [refusal, refusal.presentedBy(options)]) {
    expect(error.headers['WWW-Authenticate']).toMatch(/^Bearer realm="api", /)
    expect(JSON.stringify([error.headers, error.body, error.cause])).not.toMatch(/polluted|problem/)
    expect(error).not.toHaveProperty('cause')
    expect(Object.getPrototypeOf(error.headers)).toBeNull()
  }
})

test('options that change later change no error', () => {
  const options = { realm: 'first' }
  const error = new AuthError('invalid_token', 'expired', options)
  options.realm = 'second'
  expect(error.headers['WWW-Authenticate']).toContain('realm="first"')
})

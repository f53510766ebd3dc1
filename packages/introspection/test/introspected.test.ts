import { channel } from 'node:diagnostics_channel'

import { authenticateRequest, localRevocations, type Schema, watchToken } from '@portcullis/core'
import { describe, expect, test } from 'vitest'

import { introspected, type IntrospectedOptions, type IntrospectionMessage } from '../src/index.ts'
import {
  claimsWith,
  held,
  ISSUER,
  METADATA,
  refusalOf,
  settle,
  setUp,
  START,
  wordOf,
} from './issuer.ts'

describe('a token that the issuer says is active', () => {
  test('is accepted with the claims of the answer, and a header that says that it has none', async () => {
    const { issuer, verifier } = setUp()
    issuer.tokens.set('token', claimsWith({ scope: 'read' }))
    const auth = await verifier.verify('token')
    expect(auth).toEqual({
      claims: { active: true, iss: ISSUER, sub: 'ada', token_type: 'Bearer', scope: 'read' },
      header: { alg: 'opaque' },
      token: 'token',
    })
    expect(Object.isFrozen(auth) && Object.isFrozen(auth.claims)).toBe(true)
  })

  test('is asked about with a form, the hint, our credentials, and nothing that follows redirects', async () => {
    const { issuer, verifier } = setUp()
    issuer.tokens.set('token', claimsWith())
    await verifier.verify('token')
    const [asked] = issuer.asked
    expect(issuer.asked).toHaveLength(1)
    expect(asked?.url).toBe(`${ISSUER}/introspect`)
    expect(asked?.headers.get('authorization')).toBe(
      `Basic ${Buffer.from('api:secret').toString('base64')}`,
    )
    expect(asked?.headers.get('accept')).toBe('application/json')
    expect(Object.fromEntries(asked?.body ?? [])).toEqual({
      token: 'token',
      token_type_hint: 'access_token',
    })
  })

  test('is asked about once, until its answer has half of maxAge, or all of it while nobody comes', async () => {
    const { clock, issuer, verifier } = setUp({ maxAge: 30 })
    issuer.tokens.set('token', claimsWith())
    for (const seconds of [7, 7.9, 15.1]) {
      await verifier.verify('token')
      await clock.advance(seconds)
    }
    expect(issuer.asked).toHaveLength(1)
    await verifier.verify('token')
    expect(issuer.asked).toHaveLength(2)
  })

  test('under 10,000 requests in three times maxAge costs four to six calls', async () => {
    const { clock, issuer, verifier } = setUp({ maxAge: 30 })
    issuer.tokens.set('token', claimsWith())
    for (let second = 0; second < 90; second += 0.9) {
      await Promise.all(Array.from({ length: 100 }, async () => await verifier.verify('token')))
      await clock.advance(0.9)
    }
    expect(issuer.asked.length).toBeGreaterThanOrEqual(4)
    expect(issuer.asked.length).toBeLessThanOrEqual(6)
  })

  test('that is revoked there is refused maxAge after the last answer', async () => {
    const { clock, issuer, verifier } = setUp({ maxAge: 30 })
    issuer.tokens.set('token', claimsWith())
    await verifier.verify('token')
    issuer.tokens.delete('token')
    await clock.advance(29)
    expect(await wordOf(verifier.verify('token'))).toBe('accepted')
    await clock.advance(1)
    expect(await wordOf(verifier.verify('token'))).toBe('invalid_token inactive')
  })

  test('is not held after its exp, which a tolerance does not make longer', async () => {
    const { clock, issuer, verifier } = setUp({ maxAge: 30, clockTolerance: 60 })
    issuer.tokens.set('token', claimsWith({ exp: START + 3 }))
    await verifier.verify('token')
    await clock.advance(2)
    await verifier.verify('token')
    expect(issuer.asked).toHaveLength(1)
    issuer.tokens.delete('token')
    await clock.advance(1)
    expect(await wordOf(verifier.verify('token'))).toBe('invalid_token inactive')
  })

  test.each<[title: string, aud: object, word: string]>([
    ['no audience', {}, 'accepted'],
    ['an empty list', { aud: [] }, 'accepted'],
    ['this API', { aud: ['shop', 'api'] }, 'accepted'],
    ['another API', { aud: 'shop' }, 'invalid_token audience'],
    ['nobody, as some servers write it', { aud: null }, 'accepted'],
    ['a list of null', { aud: [null] }, 'invalid_token audience'],
    ['an empty text', { aud: '' }, 'invalid_token audience'],
  ])('that names %s, where the audience may be missing', async (_, aud, word) => {
    const { issuer, verifier } = setUp({ audience: ['api', null] })
    issuer.tokens.set('token', claimsWith(aud))
    expect(await wordOf(verifier.verify('token'))).toBe(word)
  })

  test('whose exp has passed is refused, without a call for each use', async () => {
    const { clock, issuer, verifier } = setUp()
    issuer.tokens.set('token', claimsWith({ exp: START - 60 }))
    for (let use = 0; use < 5; use++) {
      expect(await wordOf(verifier.verify('token'))).toBe('invalid_token expired')
      await clock.advance(0.5)
    }
    expect(issuer.asked).toHaveLength(1)
  })

  test('whose exp is no number is refused for maxAge without another call', async () => {
    const { clock, issuer, verifier } = setUp({ maxAge: 30 })
    issuer.tokens.set('token', claimsWith({ exp: String(START - 60) }))
    expect(await wordOf(verifier.verify('token'))).toBe('invalid_token claim')
    await clock.advance(29)
    expect(await wordOf(verifier.verify('token'))).toBe('invalid_token claim')
    expect(issuer.asked).toHaveLength(1)
  })

  test('while the wall clock is set back is not held for longer', async () => {
    const { clock, issuer, verifier } = setUp({ maxAge: 30 })
    issuer.tokens.set('token', claimsWith())
    await verifier.verify('token')
    clock.set(START - 3600)
    await clock.advance(30)
    await verifier.verify('token')
    expect(issuer.asked).toHaveLength(2)
  })

  test('while the machine is suspended is not held for longer', async () => {
    const { clock, issuer, verifier } = setUp({ maxAge: 30 })
    issuer.tokens.set('token', claimsWith())
    await verifier.verify('token')
    clock.set(clock.now() + 31)
    await verifier.verify('token')
    expect(issuer.asked).toHaveLength(2)
  })
})

describe('what the answer says is judged as the claims of a JWT are', () => {
  test.each<[string, object, string]>([
    ['another issuer', { iss: 'https://other.test' }, 'issuer'],
    ['no issuer', { iss: undefined }, 'issuer'],
    ['another audience', { aud: 'orders' }, 'audience'],
    ['no audience', {}, 'audience'],
    [
      'another issuer, and exp that is over',
      { iss: 'https://other.test', exp: START - 60 },
      'issuer',
    ],
    ['another audience, and exp as a text', { aud: 'orders', exp: 'soon' }, 'audience'],
    ['exp as a text', { aud: 'api', exp: '9999999999' }, 'claim'],
    ['nbf ahead', { aud: 'api', nbf: START + 10 }, 'not_yet_valid'],
    ['iat ahead', { aud: 'api', iat: START + 100 }, 'issued_in_future'],
    ['a refresh token', { aud: 'api', token_type: 'refresh_token' }, 'type'],
    ['a refresh token that names no kind', { aud: 'api', token_type: undefined }, 'type'],
    ['a refresh token by its typ', { aud: 'api', typ: 'Refresh' }, 'type'],
    ['a refresh token by its token_use', { aud: 'api', token_use: 'refresh_token' }, 'type'],
    ['a token_type that is no text', { aud: 'api', token_type: 1 }, 'type'],
    ['DPoP without a key', { aud: 'api', token_type: 'DPoP' }, 'binding'],
    ['DPoP with a text as cnf', { aud: 'api', token_type: 'DPoP', cnf: 'a' }, 'binding'],
    [
      'DPoP without a proof',
      { aud: 'api', token_type: 'DPoP', cnf: { jkt: 'a'.repeat(43) } },
      'binding',
    ],
    ['a bound token under Bearer', { aud: 'api', cnf: { jkt: 'a'.repeat(43) } }, 'binding'],
    ['a cnf that nobody knows', { aud: 'api', cnf: { other: 1 } }, 'binding'],
  ])('%s is refused', async (_name, more, reason) => {
    const { issuer, verifier } = setUp({ audience: 'api' })
    issuer.tokens.set('token', claimsWith(more))
    expect(await wordOf(verifier.verify('token'))).toBe(`invalid_token ${reason}`)
  })

  test.each([
    ['Bearer', undefined],
    ['bearer', undefined],
    ['custom', 'Custom'],
    ['Bearer', ['DPoP', 'bearer']],
  ])('token_type %s is accepted where type is %s', async (tokenType, type) => {
    const { issuer, verifier } = setUp({ type })
    issuer.tokens.set('token', claimsWith({ token_type: tokenType }))
    expect(await wordOf(verifier.verify('token'))).toBe('accepted')
  })

  test('type: null waives that an answer names a kind, and nothing else', async () => {
    const { issuer, create, verifier } = setUp()
    issuer.tokens.set('silent', claimsWith({ token_type: undefined }))
    issuer.tokens.set('refresh', claimsWith({ token_type: undefined, typ: 'Refresh' }))
    expect(await wordOf(verifier.verify('silent'))).toBe('invalid_token type')
    const lenient = create({ type: null })
    expect(await wordOf(lenient.verify('silent'))).toBe('accepted')
    expect(await wordOf(lenient.verify('refresh'))).toBe('invalid_token type')
  })

  test.each<[object, string]>([
    [{ jkt: 'a'.repeat(43) }, 'accepted'],
    [{ 'x5t#S256': 'a'.repeat(43) }, 'invalid_token binding'],
    [{}, 'invalid_token binding'],
  ])('DPoP needs a key also where nobody has to prove it: with %j as cnf %s', async (cnf, word) => {
    const { issuer, verifier } = setUp({ confirmation: 'ignore' })
    issuer.tokens.set('token', claimsWith({ token_type: 'DPoP', cnf }))
    expect(await wordOf(verifier.verify('token'))).toBe(word)
  })

  test.each<[string, object]>([
    ['a time', { exp: null, nbf: null, iat: null }],
    ['another kind of token', { token_use: null, typ: null }],
    ['a binding', { cnf: null }],
    ['anything', { scope: null, username: null, aud: null }],
  ])('what is null is absent: %s', async (_name, more) => {
    const { issuer, verifier } = setUp()
    issuer.tokens.set('token', claimsWith(more))
    const { claims } = await verifier.verify('token')
    expect(claims).toEqual({ active: true, ...claimsWith() })
  })

  test('what is null is absent also where it is required, and where it names a key', async () => {
    const { issuer, create } = setUp()
    issuer.tokens.set('token', claimsWith({ sub: null, exp: null, token_type: null }))
    for (const [more, reason] of [
      [{ type: null, requiredClaims: ['sub'] }, 'missing_claim'],
      [{ type: null, requireExpiry: true }, 'missing_claim'],
      [{}, 'type'],
    ] as const) {
      expect(await wordOf(create(more).verify('token'))).toBe(`invalid_token ${reason}`)
    }
    const cnf = { 'x5t#S256': 'a'.repeat(43), jkt: null }
    issuer.tokens.set('bound', claimsWith({ cnf }))
    const possession = { x5tS256: 'a'.repeat(43) }
    const auth = await create().verify('bound', { possession })
    expect(auth.possession).toEqual(possession)
  })

  test('a required claim is required, and a schema makes claims of them', async () => {
    const { issuer, usual, create } = setUp()
    issuer.tokens.set('token', claimsWith())
    expect(await wordOf(create({ requiredClaims: ['tenant'] }).verify('token'))).toBe(
      'invalid_token missing_claim',
    )
    const schema: Schema<{ name: string }> = {
      '~standard': { version: 1, validate: () => ({ value: { name: 'ada' } }) },
    }
    const verifier = introspected({ ...usual, schema })
    expect((await verifier.verify('token')).claims).toEqual({ name: 'ada' })
  })

  test('a token that is revoked here is refused from then on, and whoever watches it is told', async () => {
    const { clock, issuer, create } = setUp()
    const revocations = localRevocations({ clock })
    const verifier = create({ revocations })
    issuer.tokens.set('token', claimsWith({ jti: 'one', exp: START + 600 }))
    const auth = await verifier.verify('token')
    const told = new Promise((resolve) => {
      watchToken(verifier, auth, resolve, { clock })
    })
    await revocations.revoke({ iss: ISSUER, jti: 'one', exp: START + 600 })
    await told
    expect(await wordOf(verifier.verify('token'))).toBe('invalid_token revoked')
    expect(issuer.asked).toHaveLength(1)
  })
})

describe('a log-out here of a token without jti', () => {
  test('ends this token alone, and whoever watches it is told', async () => {
    const { clock, issuer, create } = setUp()
    const revocations = localRevocations({ clock })
    const verifier = create({ revocations })
    issuer.tokens.set('token', claimsWith({ exp: START + 600 }))
    issuer.tokens.set('other', claimsWith({ exp: START + 600 }))
    const auth = await verifier.verify('token')
    const told = new Promise((resolve) => {
      watchToken(verifier, auth, resolve, { clock })
    })
    await revocations.revoke(auth)
    expect(await told).toMatchObject({ reason: 'revoked' })
    expect(await wordOf(verifier.verify('token'))).toBe('invalid_token revoked')
    expect(await wordOf(verifier.verify('other'))).toBe('accepted')
    expect(issuer.asked).toHaveLength(2)
  })

  test('ends a JWT that the issuer was asked about, whatever is its signature', async () => {
    const { clock, issuer, create } = setUp()
    const revocations = localRevocations({ clock })
    const verifier = create({ revocations })
    const input = ['{"alg":"ES256"}', '{"sub":"ada"}'].map((each) =>
      Buffer.from(each).toString('base64url'),
    )
    for (const signature of ['one', 'two']) {
      issuer.tokens.set([...input, signature].join('.'), claimsWith())
    }
    await revocations.revoke(await verifier.verify([...input, 'one'].join('.')))
    expect(await wordOf(verifier.verify([...input, 'two'].join('.')))).toBe('invalid_token revoked')
  })
})

describe('a token that the issuer says is not active', () => {
  test('is refused, and what the client reads is that of a token with a wrong signature', async () => {
    const { verifier } = setUp()
    const error = await refusalOf(verifier.verify('unknown'))
    expect(error).toMatchObject({ code: 'invalid_token', reason: 'inactive', status: 401 })
    expect(error.detail).toContain('not active')
    expect(error.headers['WWW-Authenticate']).not.toContain('active')
  })

  test('is not asked about again for 5 s', async () => {
    const { clock, issuer, verifier } = setUp()
    await wordOf(verifier.verify('unknown'))
    await clock.advance(4.9)
    expect(await wordOf(verifier.verify('unknown'))).toBe('invalid_token inactive')
    expect(issuer.asked).toHaveLength(1)
    issuer.tokens.set('unknown', claimsWith())
    await clock.advance(0.1)
    expect(await wordOf(verifier.verify('unknown'))).toBe('accepted')
  })

  test('is asked about again sooner where maxAge is shorter', async () => {
    const { clock, issuer, verifier } = setUp({ maxAge: 1 })
    await wordOf(verifier.verify('unknown'))
    await clock.advance(1)
    await wordOf(verifier.verify('unknown'))
    expect(issuer.asked).toHaveLength(2)
  })

  test('has no claims, whatever the answer says beside', async () => {
    const { issuer, verifier } = setUp()
    issuer.answer = () => Response.json({ active: false, ...claimsWith() })
    expect(await wordOf(verifier.verify('token'))).toBe('invalid_token inactive')
  })

  test('pushes out no answer that is held', async () => {
    const { issuer, verifier } = setUp({ remember: { max: 2 }, maxRate: 1000 })
    issuer.tokens.set('token', claimsWith())
    await verifier.verify('token')
    for (let count = 0; count < 10; count++) await wordOf(verifier.verify(`invented-${count}`))
    const before = issuer.asked.length
    await verifier.verify('token')
    expect(issuer.asked).toHaveLength(before)
  })
})

describe('how many calls are made', () => {
  test('one for any number of callers of one token', async () => {
    const { issuer, verifier } = setUp()
    issuer.tokens.set('token', claimsWith())
    const verdicts = Array.from({ length: 100 }, async () => await verifier.verify('token'))
    expect(new Set(await Promise.all(verdicts)).size).toBe(1)
    expect(issuer.asked).toHaveLength(1)
  })

  test('an aborted caller ends no call, and leaves at once', async () => {
    const { issuer, verifier } = setUp()
    const answer = held<Response>()
    issuer.answer = async () => await answer.promise
    const controller = new AbortController()
    const first = verifier.verify('token', { signal: controller.signal })
    const second = verifier.verify('token')
    await settle()
    controller.abort(new Error('gone'))
    await expect(first).rejects.toThrow('gone')
    expect(issuer.asked[0]?.signal?.aborted).toBe(false)
    answer.resolve(Response.json({ active: true, ...claimsWith() }))
    await second
    expect(issuer.asked).toHaveLength(1)
  })

  test('none for a token whose callers have all left before its turn came', async () => {
    const { clock, issuer, verifier } = setUp({ maxCalls: 1 })
    const isOver = held<boolean>()
    issuer.answer = async () => {
      await isOver.promise
      return Response.json({ active: true, ...claimsWith() })
    }
    const controller = new AbortController()
    const { signal } = controller
    const staying = [wordOf(verifier.verify('one'))]
    const leaving = ['two', 'three'].map(async (token) => await verifier.verify(token, { signal }))
    staying.push(wordOf(verifier.verify('three')))
    controller.abort(new Error('gone'))
    for (const each of leaving) await expect(each).rejects.toThrow('gone')
    isOver.resolve(true)
    await clock.advance(1)
    expect(await Promise.all(staying)).toEqual(['accepted', 'accepted'])
    expect(issuer.asked.map(({ token }) => token)).toEqual(['one', 'three'])
  })

  test('no more than maxCalls at once; the others wait for their turn', async () => {
    const { clock, issuer, verifier } = setUp({ maxCalls: 2 })
    const answers = Array.from({ length: 5 }, () => held<Response>())
    issuer.answer = async (token) => await (answers[Number(token)]?.promise ?? Response.error())
    const verdicts = answers.map(async (_, index) => await wordOf(verifier.verify(String(index))))
    await settle()
    expect(issuer.asked.map(({ token }) => token)).toEqual(['0', '1'])
    answers[1]?.resolve(Response.json({ active: true, ...claimsWith() }))
    expect(await verdicts[1]).toBe('accepted')
    await clock.advance(0.01)
    expect(issuer.asked.map(({ token }) => token)).toEqual(['0', '1', '4'])
    for (const { resolve } of answers) resolve(Response.json({ active: true, ...claimsWith() }))
    await clock.advance(1)
    expect(new Set(await Promise.all(verdicts))).toEqual(new Set(['accepted']))
    expect(issuer.asked).toHaveLength(5)
  })

  test('no more in a second than maxRate, for tokens that were not seen before', async () => {
    const { clock, issuer, verifier } = setUp({ maxCalls: 4, maxRate: 2, timeout: 5 })
    const verdicts = Array.from(
      { length: 40 },
      async (_, index) => await wordOf(verifier.verify(`invented-${index}`)),
    )
    await settle()
    expect(issuer.asked).toHaveLength(4)
    await clock.advance(1)
    expect(issuer.asked).toHaveLength(6)
    await clock.advance(4)
    const words = await Promise.all(verdicts)
    expect(words.filter((word) => word === 'invalid_token inactive').length).toBeLessThanOrEqual(14)
    expect([words[4], words.at(-1)]).toEqual([
      'introspection_unavailable busy',
      'invalid_token inactive',
    ])
  })

  test('a refusal for want of a turn is 503 and says when to come back', async () => {
    const { clock, issuer, verifier } = setUp({ maxCalls: 1 })
    issuer.answer = async () => await new Promise<Response>(() => {})
    const others = [wordOf(verifier.verify('one'))]
    const refused = refusalOf(verifier.verify('two'))
    await clock.advance(0.1)
    others.push(wordOf(verifier.verify('three')))
    await clock.advance(4.9)
    const error = await refused
    expect(error).toMatchObject({ code: 'introspection_unavailable', reason: 'busy', status: 503 })
    expect(error.detail).toContain('as many as maxCalls and maxRate allow')
    expect(Number(error.headers['Retry-After'])).toBeGreaterThanOrEqual(1)
    await clock.advance(1)
    await Promise.all(others)
  })

  test('a flood of invented tokens does not keep those waiting that were active before', async () => {
    const { clock, issuer, verifier } = setUp({ maxCalls: 2, maxRate: 1, maxAge: 10 })
    issuer.tokens.set('token', claimsWith())
    await verifier.verify('token')
    await clock.advance(10)
    const { answer } = issuer
    issuer.answer = async (token) =>
      token === 'token' ? await answer(token) : await new Promise<Response>(() => {})
    const flood = Array.from(
      { length: 50 },
      async (_, index) => await wordOf(verifier.verify(`invented-${index}`)),
    )
    await settle()
    expect(await wordOf(verifier.verify('token'))).toBe('accepted')
    await clock.advance(20)
    await Promise.all(flood)
  })

  test.each<[string, string, IntrospectedOptions['form']]>([
    ['too short', 'abc', { length: [10, 20] }],
    ['too long', 'a'.repeat(21), { length: [10, 20] }],
    ['another prefix', 'xyz_1234567890', { prefix: 'oat_' }],
    ['another character', 'oat_123+', { prefix: 'oat_', alphabet: 'oat_0123456789' }],
    ['no character of a bearer token', 'a b', undefined],
    ['a quotation mark', 'a"b', undefined],
  ])('none for a token that is %s', async (_name, token, form) => {
    const { issuer, verifier } = setUp({ form })
    const error = await refusalOf(verifier.verify(token))
    expect(error).toMatchObject({ code: 'invalid_token', reason: 'malformed' })
    expect(error.detail).not.toContain(token)
    expect(issuer.asked).toHaveLength(0)
  })

  test('none for a token that is longer than maxTokenSize', async () => {
    const { issuer, verifier } = setUp({ maxTokenSize: 100 })
    expect(await wordOf(verifier.verify('a'.repeat(101)))).toBe('invalid_token too_large')
    expect(issuer.asked).toHaveLength(0)
  })
})

describe('an endpoint that gives no answer', () => {
  test.each<[string, () => Response | Promise<Response>, string, RegExp]>([
    ['500', () => new Response('', { status: 500 }), 'unreachable', /answered 500/],
    ['429', () => new Response('', { status: 429 }), 'unreachable', /answered 429/],
    [
      'a broken connection',
      () => Promise.reject(new TypeError('fetch failed: secret')),
      'unreachable',
      /failed/,
    ],
    ['401', () => new Response('', { status: 401 }), 'bad_answer', /credentials/],
    ['403', () => new Response('', { status: 403 }), 'bad_answer', /credentials/],
    ['400', () => new Response('', { status: 400 }), 'bad_answer', /answered 400/],
    ['a redirect', () => Response.redirect('https://evil.test/', 307), 'bad_answer', /redirect/],
    ['no JSON', () => json('<html>'), 'bad_answer', /JSON/],
    ['a list', () => json('[true]'), 'bad_answer', /object/],
    ['nothing', () => json(''), 'bad_answer', /object/],
    ['no content type', () => new Response('{"active":true}'), 'bad_answer', /application\/json/],
    ['active as a text', () => json('{"active":"true"}'), 'bad_answer', /active/],
    ['active as a number', () => json('{"active":1}'), 'bad_answer', /active/],
    ['active as null', () => json('{"active":null}'), 'bad_answer', /active/],
    ['without active', () => json('{"sub":"ada"}'), 'bad_answer', /active/],
    ['active twice', () => json('{"active":false,"active":true}'), 'bad_answer', /twice/],
    [
      'a member of cnf twice',
      () => json('{"active":true,"cnf":{"jkt":"a","jkt":"b"}}'),
      'bad_answer',
      /twice/,
    ],
    ['__proto__', () => json('{"active":true,"__proto__":{}}'), 'bad_answer', /__proto__/],
    [
      '33 levels',
      () => json(`{"active":true,"a":${'['.repeat(40)}${']'.repeat(40)}}`),
      'bad_answer',
      /levels/,
    ],
    ['65,537 bytes', () => json(`"${'a'.repeat(65_535)}"`), 'bad_answer', /65536 bytes/],
    [
      'a body that breaks off',
      () =>
        new Response(
          new ReadableStream({
            pull(controller) {
              controller.error(new Error('reset'))
            },
          }),
          { headers: { 'content-type': 'application/json' } },
        ),
      'unreachable',
      /failed/,
    ],
  ])('%s: 503', async (_name, answer, reason, detail) => {
    const { issuer, verifier } = setUp()
    issuer.answer = answer
    const error = await refusalOf(verifier.verify('token'))
    expect(error).toMatchObject({ code: 'introspection_unavailable', reason, status: 503 })
    expect(error.detail).toMatch(detail)
    expect(error.detail).not.toContain('secret')
    expect(Number(error.headers['Retry-After'])).toBeGreaterThanOrEqual(1)
  })

  test('a hang: 503 after the timeout, and the request is aborted', async () => {
    const { clock, issuer, verifier } = setUp({ timeout: 3 })
    issuer.answer = async () => await new Promise<Response>(() => {})
    const refused = refusalOf(verifier.verify('token'))
    await clock.advance(3)
    expect(await refused).toMatchObject({ code: 'introspection_unavailable', reason: 'timeout' })
    expect(issuer.asked[0]?.signal?.aborted).toBe(true)
  })

  test('is given a pause, which grows; then one call finds out whether it is back', async () => {
    const { clock, issuer, verifier } = setUp()
    issuer.answer = () => Promise.reject(Object.assign(new Error('down'), { code: 'ECONNREFUSED' }))
    for (let count = 0; count < 20; count++) await wordOf(verifier.verify(`token-${count}`))
    expect(issuer.asked).toHaveLength(1)
    for (let second = 0; second < 60; second++) {
      await clock.advance(1)
      await Promise.all(
        [1, 2, 3].map(async (each) => await wordOf(verifier.verify(`at-${second}-${each}`))),
      )
    }
    expect(issuer.asked.length).toBeGreaterThan(3)
    expect(issuer.asked.length).toBeLessThan(9)
    const { tokens } = issuer
    issuer.answer = () => Response.json({ active: true, ...claimsWith() })
    tokens.clear()
    await clock.advance(40)
    expect(await wordOf(verifier.verify('token'))).toBe('accepted')
  })

  test('is given the pause that it asks for', async () => {
    const { clock, issuer, verifier } = setUp()
    issuer.answer = () => new Response('', { status: 503, headers: { 'retry-after': '20' } })
    const error = await refusalOf(verifier.verify('token'))
    expect(error.headers['Retry-After']).toBe('20')
    await clock.advance(19)
    await wordOf(verifier.verify('token'))
    expect(issuer.asked).toHaveLength(1)
    await clock.advance(1)
    await wordOf(verifier.verify('token'))
    expect(issuer.asked).toHaveLength(2)
  })

  test('because of one token causes no pause for the others', async () => {
    const { issuer, verifier } = setUp()
    issuer.tokens.set('token', claimsWith())
    const { answer } = issuer
    issuer.answer = (token) =>
      token === 'poison' ? new Response('', { status: 400 }) : answer(token)
    expect(await wordOf(verifier.verify('poison'))).toBe('introspection_unavailable bad_answer')
    expect(await wordOf(verifier.verify('token'))).toBe('accepted')
  })

  test('for tokens that were never seen keeps nobody waiting whose token was active before', async () => {
    const { clock, issuer, verifier } = setUp({ maxAge: 10 })
    issuer.tokens.set('token', claimsWith())
    await verifier.verify('token')
    await clock.advance(10)
    const { answer } = issuer
    issuer.answer = (token) =>
      token === 'token' ? answer(token) : new Response('', { status: 500 })
    expect(await wordOf(verifier.verify('poison'))).toBe('introspection_unavailable unreachable')
    expect(await wordOf(verifier.verify('token'))).toBe('accepted')
  })

  test('leaves what is held in use, and nothing longer than maxAge', async () => {
    const { clock, issuer, verifier } = setUp({ maxAge: 30 })
    issuer.tokens.set('token', claimsWith())
    await verifier.verify('token')
    issuer.answer = () => new Response('', { status: 500 })
    await clock.advance(29)
    expect(await wordOf(verifier.verify('token'))).toBe('accepted')
    await clock.advance(1)
    expect(await wordOf(verifier.verify('token'))).toBe('introspection_unavailable unreachable')
  })

  test('leaves it in use for staleIfError more, and nobody waits for a call', async () => {
    const { clock, issuer, verifier } = setUp({ maxAge: 30, staleIfError: 60 })
    issuer.tokens.set('token', claimsWith())
    await verifier.verify('token')
    issuer.answer = async () => await new Promise<Response>(() => {})
    await clock.advance(30)
    const first = wordOf(verifier.verify('token'))
    await clock.advance(5)
    expect(await first).toBe('accepted')
    for (let second = 35; second < 90; second++) {
      expect(await wordOf(verifier.verify('token'))).toBe('accepted')
      await clock.advance(1)
    }
    const last = wordOf(verifier.verify('token'))
    await clock.advance(5)
    expect(await last).toMatch(/^introspection_unavailable/)
    expect(issuer.asked.length).toBeLessThan(12)
  })

  test('with staleIfError: what it says when it is back counts at once', async () => {
    const { clock, issuer, verifier } = setUp({ maxAge: 30, staleIfError: 600 })
    issuer.tokens.set('token', claimsWith())
    await verifier.verify('token')
    const { answer } = issuer
    issuer.answer = () => new Response('', { status: 500 })
    await clock.advance(31)
    expect(await wordOf(verifier.verify('token'))).toBe('accepted')
    issuer.answer = answer
    issuer.tokens.clear()
    await clock.advance(2)
    expect(await wordOf(verifier.verify('token'))).toBe('accepted')
    await settle()
    expect(await wordOf(verifier.verify('token'))).toBe('invalid_token inactive')
  })

  test('with staleIfError: an expired token is not used', async () => {
    const { clock, issuer, verifier } = setUp({ maxAge: 30, staleIfError: 600, clockTolerance: 60 })
    issuer.tokens.set('token', claimsWith({ exp: START + 40 }))
    await verifier.verify('token')
    issuer.answer = () => new Response('', { status: 500 })
    await clock.advance(39)
    expect(await wordOf(verifier.verify('token'))).toBe('accepted')
    await clock.advance(1)
    expect(await wordOf(verifier.verify('token'))).toBe('introspection_unavailable unreachable')
  })

  test('before a machine was suspended: the answer is too old, and the next call has a new one', async () => {
    const { clock, issuer, verifier } = setUp()
    issuer.answer = () => {
      clock.set(clock.now() + 3600)
      return Response.json({ active: true, ...claimsWith() })
    }
    expect(await wordOf(verifier.verify('token'))).toBe('introspection_unavailable timeout')
    issuer.answer = () => Response.json({ active: true, ...claimsWith() })
    expect(await wordOf(verifier.verify('token'))).toBe('accepted')
  })

  test('on a platform that has lost the timer of a call: the next caller asks anew', async () => {
    const { clock, issuer, create } = setUp()
    const lost = { ...clock, after: () => () => {} }
    const verifier = create({ clock: lost, timeout: 3 })
    issuer.answer = async () => await new Promise<Response>(() => {})
    void verifier.verify('token').catch(() => {})
    await settle()
    await clock.advance(4.5)
    issuer.answer = () => Response.json({ active: true, ...claimsWith() })
    expect(await wordOf(verifier.verify('token'))).toBe('accepted')
  })

  test('on such a platform: the late answer of a call that was given up counts for nothing', async () => {
    const { clock, issuer, create } = setUp()
    const verifier = create({ clock: { ...clock, after: () => () => {} }, timeout: 3 })
    const late = held<Response>()
    issuer.answer = async () => await late.promise
    const first = wordOf(verifier.verify('token'))
    await settle()
    await clock.advance(4.5)
    issuer.answer = () => Response.json({ active: false })
    expect(await wordOf(verifier.verify('token'))).toBe('invalid_token inactive')
    late.resolve(Response.json({ active: true, ...claimsWith() }))
    expect(await first).toBe('introspection_unavailable timeout')
    expect(await wordOf(verifier.verify('token'))).toBe('invalid_token inactive')
    expect(issuer.asked).toHaveLength(2)
  })
})

describe('the endpoint', () => {
  test('is the one of the metadata, which are read once', async () => {
    const { issuer, create } = setUp()
    const verifier = create({ endpoint: undefined })
    issuer.tokens.set('token', claimsWith())
    await verifier.ready()
    expect(issuer.metadataReads).toEqual([`${ISSUER}/.well-known/openid-configuration`])
    expect(issuer.asked).toHaveLength(0)
    await verifier.verify('token')
    await verifier.verify('other').catch(() => {})
    expect(issuer.metadataReads).toHaveLength(1)
    expect(issuer.asked[0]?.url).toBe(METADATA.introspection_endpoint)
  })

  test.each<[string, object, RegExp]>([
    ['are of another issuer', { ...METADATA, issuer: 'https://evil.test' }, /another issuer/],
    ['write it with a slash', { ...METADATA, issuer: `${ISSUER}/` }, /with a slash at the end/],
    ['name no endpoint', { issuer: ISSUER }, /introspection endpoint/],
    [
      'name one without TLS',
      { ...METADATA, introspection_endpoint: 'http://issuer.test/' },
      /introspection endpoint/,
    ],
    [
      'of an https issuer name the loopback',
      { ...METADATA, introspection_endpoint: 'http://127.0.0.1:8080/' },
      /introspection endpoint/,
    ],
  ])('is not asked if the metadata %s', async (_name, metadata, detail) => {
    const { issuer, create } = setUp()
    issuer.metadata = () => Response.json(metadata)
    const verifier = create({ endpoint: undefined })
    const error = await refusalOf(verifier.verify('token'))
    expect(error).toMatchObject({ code: 'introspection_unavailable', reason: 'bad_answer' })
    expect(error.detail).toMatch(detail)
    expect(issuer.asked).toHaveLength(0)
    expect(await wordOf(verifier.ready())).toBe('introspection_unavailable bad_answer')
  })

  test('is looked for again after a pause, by one attempt at a time', async () => {
    const { clock, issuer, create } = setUp()
    issuer.metadata = () => new Response('', { status: 500 })
    const verifier = create({ endpoint: undefined })
    for (let count = 0; count < 10; count++) {
      const error = await refusalOf(verifier.ready())
      expect(error.detail).not.toMatch(/\d\.\d s/)
      expect(error.numbers).toEqual({ nextCallIn: expect.any(Number) as number })
      expect(Number(error.headers['Retry-After'])).toBeGreaterThanOrEqual(1)
    }
    expect(issuer.metadataReads).toHaveLength(2) // one for each location
    issuer.metadata = () => Response.json(METADATA)
    await clock.advance(2)
    expect(await wordOf(verifier.ready())).toBe('accepted')
  })

  test('serves on while metadata of an hour ago cannot be had', async () => {
    const { clock, issuer, create } = setUp({ maxAge: 1 })
    const verifier = create({ endpoint: undefined })
    issuer.tokens.set('token', claimsWith())
    await verifier.verify('token')
    issuer.metadata = async () => await new Promise<Response>(() => {})
    await clock.advance(3601)
    expect(await wordOf(verifier.verify('token'))).toBe('accepted')
    expect(issuer.metadataReads).toHaveLength(2)
    await clock.advance(10)
    expect(await wordOf(verifier.verify('token'))).toBe('accepted')
  })

  test('is another one after the metadata name another one', async () => {
    const { clock, issuer, create } = setUp({ maxAge: 1 })
    const verifier = create({ endpoint: undefined })
    issuer.tokens.set('token', claimsWith())
    await verifier.verify('token')
    const moved = `${ISSUER}/moved`
    issuer.metadata = () => Response.json({ ...METADATA, introspection_endpoint: moved })
    await clock.advance(3601)
    await verifier.verify('token')
    await clock.advance(2)
    await verifier.verify('token')
    expect(issuer.asked.map(({ url }) => url)).toEqual([
      METADATA.introspection_endpoint,
      METADATA.introspection_endpoint,
      moved,
    ])
  })
})

describe('a guard', () => {
  test('knows the verifier as one of ours: the short way is taken for an answer that is held', async () => {
    const { issuer, verifier } = setUp()
    issuer.tokens.set('token', claimsWith())
    const request = new Request('https://api.test/', { headers: { authorization: 'Bearer token' } })
    const first = await authenticateRequest(verifier, request)
    expect(await authenticateRequest(verifier, request)).toBe(first)
    expect(issuer.asked).toHaveLength(1)
  })

  test('has a message for each call', async () => {
    const { clock, issuer, verifier } = setUp()
    const messages: IntrospectionMessage[] = []
    const note = (message: unknown) => messages.push(message as IntrospectionMessage) // of this channel
    channel('portcullis:introspection').subscribe(note)
    issuer.tokens.set('token', claimsWith())
    await clock.advance(10)
    await verifier.verify('token')
    await verifier.verify('token')
    await wordOf(verifier.verify('other'))
    issuer.answer = async () => {
      await clock.advance(2)
      return new Response('', { status: 500 })
    }
    await wordOf(verifier.verify('third'))
    channel('portcullis:introspection').unsubscribe(note)
    const own = messages.filter((message) => message.verifier === verifier)
    expect(own.map(({ outcome }) => outcome)).toEqual(['active', 'inactive', 'unreachable'])
    expect(own[2]?.detail).toBe('the introspection endpoint answered 500')
    expect(own.map(({ duration }) => duration)).toEqual([0, 0, 2])
  })
})

/** An answer with that text as its body. */
function json(text: string): Response {
  return new Response(text, { headers: { 'content-type': 'application/json; charset=utf-8' } })
}

test.each([
  [undefined, 'invalid_token type'],
  [null, 'invalid_token type'],
  ['Bearer', 'accepted'],
] as const)('with type: %j an answer with a security event is %s', async (type, word) => {
  const { issuer, verifier } = setUp({ type })
  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
  issuer.tokens.set('token', claimsWith({ events }))
  expect(await wordOf(verifier.verify('token'))).toBe(word)
})

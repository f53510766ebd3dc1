import { channel } from 'node:diagnostics_channel'

import { localKeys, remoteKeys } from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { claimsWith, ISSUER, refusalOf, settle, setUp, START, wordOf } from './issuer.ts'

// Signed answers, RFC 9701.

const TYPE = 'application/token-introspection+jwt'

async function signedSetUp() {
  const signer = await createTestIssuer({ issuer: ISSUER })
  const { clock, issuer, create } = setUp()
  const verifier = create({ keys: localKeys(signer.publicJwk) })
  /** @param change To the claims of the answer. */
  const sign = async (said: unknown, change: object = {}, header: object = {}) => {
    const payload = { iss: ISSUER, aud: 'api', iat: START, token_introspection: said, ...change }
    return await signer.token({
      payload: JSON.stringify(payload),
      header: { typ: 'token-introspection+jwt', ...header },
    })
  }
  return { clock, create, issuer, signer, sign, verifier }
}

function answered(jwt: string, type = TYPE): Response {
  return new Response(jwt, { headers: { 'content-type': type } })
}

test('the verdict on a signed answer is none on a token: it is not published', async () => {
  const { issuer, sign, verifier } = await signedSetUp()
  const verdicts: unknown[] = []
  const note = (message: unknown) => verdicts.push(Reflect.get(Object(message), 'verifier'))
  channel('portcullis:verify').subscribe(note)
  const jwt = await sign({ active: true, ...claimsWith() })
  issuer.answer = () => answered(jwt)
  await verifier.verify('token')
  issuer.answer = () => answered('a.b.c')
  await wordOf(verifier.verify('other'))
  channel('portcullis:verify').unsubscribe(note)
  expect(verdicts).toEqual([verifier, verifier])
})

describe('a signed answer', () => {
  test('of another algorithm than those that are stated is a bad answer', async () => {
    const { create, issuer, sign, signer } = await signedSetUp()
    const strict = create({ keys: localKeys(signer.publicJwk), algorithms: ['PS256'] })
    const jwt = await sign({ active: true, ...claimsWith() })
    issuer.answer = () => answered(jwt)
    expect(await wordOf(strict.verify('token'))).toBe('introspection_unavailable bad_answer')
  })

  test('is asked for, proven, and judged by its inner claims', async () => {
    const { issuer, sign, verifier } = await signedSetUp()
    const jwt = await sign({ active: true, ...claimsWith() })
    issuer.answer = () => answered(jwt)
    const auth = await verifier.verify('token')
    expect(auth.claims).toEqual({ active: true, ...claimsWith() })
    expect(auth.header).toEqual({ alg: 'opaque' })
    expect(issuer.asked[0]?.headers.get('accept')).toBe(TYPE)
  })

  test('may be longer than a token may be, and end with a line', async () => {
    const { issuer, sign, verifier } = await signedSetUp()
    const jwt = await sign({ active: true, ...claimsWith({ text: 'a'.repeat(40_000) }) })
    issuer.answer = () => answered(` ${jwt}\n`)
    expect(await wordOf(verifier.verify('token'))).toBe('accepted')
  })

  test('may say that the token is not active', async () => {
    const { issuer, sign, verifier } = await signedSetUp()
    const jwt = await sign({ active: false })
    issuer.answer = () => answered(jwt)
    expect(await wordOf(verifier.verify('token'))).toBe('invalid_token inactive')
  })

  test.each<[string, unknown, object, object]>([
    ['of another type', { active: true }, {}, { typ: 'JWT' }],
    ['without a type', { active: true }, {}, { typ: undefined }],
    ['of another issuer', { active: true }, { iss: 'https://other.test' }, {}],
    ['without an issuer', { active: true }, { iss: undefined }, {}],
    ['for another client', { active: true }, { aud: 'other' }, {}],
    ['for nobody', { active: true }, { aud: undefined }, {}],
    ['without a time', { active: true }, { iat: undefined }, {}],
    ['of an hour ago', { active: true }, { iat: START - 3600 }, {}],
    ['that has expired', { active: true }, { exp: START - 60 }, {}],
    ['without token_introspection', undefined, {}, {}],
    ['with a text as token_introspection', 'active', {}, {}],
    ['with active as a text', { active: 'true' }, {}, {}],
    ['whose active is outside', {}, { active: true }, {}],
    ['that needs an extension', { active: true }, {}, { crit: ['x'], x: 1 }],
  ])('%s is none', async (_name, said, change, header) => {
    const { issuer, sign, verifier } = await signedSetUp()
    const merged = typeof said === 'object' && said !== null ? { ...claimsWith(), ...said } : said
    const jwt = await sign(merged, change, header)
    issuer.answer = () => answered(jwt)
    expect(await wordOf(verifier.verify('token'))).toBe('introspection_unavailable bad_answer')
  })

  test.each<[string, object, number, string]>([
    ['at the moment of the question', {}, 0, 'accepted'],
    ['in the second of the question, which has fractions', { clockTolerance: 0 }, -0.9, 'accepted'],
    ['5 seconds before it', {}, -5, 'accepted'],
    ['6 seconds before it', {}, -6, 'introspection_unavailable bad_answer'],
    [
      'a second before it, without a tolerance',
      { clockTolerance: 0 },
      -1,
      'introspection_unavailable bad_answer',
    ],
    [
      '500 seconds before it, by a clock that is known to be slow',
      { clockTolerance: 500 },
      -500,
      'accepted',
    ],
    [
      '501 seconds before it, by such a clock',
      { clockTolerance: 500 },
      -501,
      'introspection_unavailable bad_answer',
    ],
  ])('made %s', async (_name, options, seconds, word) => {
    const { clock, issuer, signer, sign } = await signedSetUp()
    const { create } = setUp({ fetch: issuer.fetch, clock })
    const verifier = create({ keys: localKeys(signer.publicJwk), ...options })
    const jwt = await sign({ active: true, ...claimsWith() }, { iat: Math.ceil(START + seconds) })
    if (!Number.isInteger(seconds)) clock.set(START - seconds)
    issuer.answer = () => answered(jwt)
    expect(await wordOf(verifier.verify('token'))).toBe(word)
  })

  test('of an earlier question, before the token was revoked, is none, and the sentence says why', async () => {
    const { clock, issuer, sign, verifier } = await signedSetUp()
    const recorded = answered(await sign({ active: true, ...claimsWith() }))
    issuer.answer = () => recorded.clone()
    expect(await wordOf(verifier.verify('token'))).toBe('accepted')
    await clock.advance(30)
    const error = await refusalOf(verifier.verify('token'))
    expect(error).toMatchObject({ code: 'introspection_unavailable', reason: 'bad_answer' })
    expect(error.detail).toContain('made before the question, by more than clockTolerance (5 s)')
    expect(issuer.asked).toHaveLength(2)
  })

  test('signed by somebody else is none', async () => {
    const { issuer, verifier } = await signedSetUp()
    const other = await signedSetUp()
    const jwt = await other.sign({ active: true, ...claimsWith() })
    issuer.answer = () => answered(jwt)
    const error = await refusalOf(verifier.verify('token'))
    expect(error).toMatchObject({ code: 'introspection_unavailable', reason: 'bad_answer' })
    expect(error.detail).toContain('the signed answer')
  })

  test('with a member that is repeated inside is none', async () => {
    const { issuer, signer, verifier } = await signedSetUp()
    const payload = `{"iss":"${ISSUER}","aud":"api","iat":${START},"token_introspection":{"active":false,"active":true,"iss":"${ISSUER}"}}`
    const jwt = await signer.token({ header: { typ: 'token-introspection+jwt' }, payload })
    issuer.answer = () => answered(jwt)
    expect(await wordOf(verifier.verify('token'))).toBe('introspection_unavailable bad_answer')
  })

  test('that is encrypted is refused, and the sentence says so', async () => {
    const { issuer, verifier } = await signedSetUp()
    issuer.answer = () => answered('a.b.c.d.e')
    const error = await refusalOf(verifier.verify('token'))
    expect(error).toMatchObject({ code: 'introspection_unavailable', reason: 'bad_answer' })
    expect(error.detail).toMatch(/^the answer is encrypted/)
  })

  test('must not be replaced by a plain one', async () => {
    const { issuer, verifier } = await signedSetUp()
    issuer.tokens.set('token', claimsWith())
    const error = await refusalOf(verifier.verify('token'))
    expect(error).toMatchObject({ code: 'introspection_unavailable', reason: 'bad_answer' })
    expect(error.detail).toContain('not application/token-introspection+jwt, and keys are stated')
  })

  test.each(['application/jwt', 'application/json', 'text/plain', ''])(
    'with the content type "%s" is none',
    async (type) => {
      const { issuer, sign, verifier } = await signedSetUp()
      const jwt = await sign({ active: true, ...claimsWith() })
      issuer.answer = () => answered(jwt, type)
      expect(await wordOf(verifier.verify('token'))).toBe('introspection_unavailable bad_answer')
    },
  )

  test('is not read where none was asked for', async () => {
    const { issuer, sign } = await signedSetUp()
    const { issuer: plain, verifier } = setUp()
    const jwt = await sign({ active: true, ...claimsWith() })
    plain.answer = () => answered(jwt)
    expect(await wordOf(verifier.verify('token'))).toBe('introspection_unavailable bad_answer')
    expect(issuer.asked).toHaveLength(0)
  })

  test('whose keys cannot be had: 503 that says so, and the pause of an outage', async () => {
    const { signer } = await signedSetUp()
    const { clock, issuer, create } = setUp()
    const keys = remoteKeys(`${ISSUER}/jwks`, {
      clock,
      fetch: async () => await Promise.resolve(new Response('', { status: 500 })),
    })
    const verifier = create({ keys })
    const jwt = await signer.token({ header: { typ: 'token-introspection+jwt' } })
    issuer.answer = () => answered(jwt)
    expect(await wordOf(verifier.verify('token'))).toBe('introspection_unavailable unreachable')
    expect(await wordOf(verifier.verify('other'))).toBe('introspection_unavailable unreachable')
    expect(issuer.asked).toHaveLength(1)
    expect(await wordOf(verifier.ready())).toBe('keys_unavailable unreachable')
  })

  test('whose keys do not come in time: 503 that says so', async () => {
    const { signer } = await signedSetUp()
    const { clock, issuer, create } = setUp()
    const keys = remoteKeys(`${ISSUER}/jwks`, {
      clock,
      timeout: 1,
      fetch: async () => await new Promise<Response>(() => {}),
    })
    const jwt = await signer.token({ header: { typ: 'token-introspection+jwt' } })
    issuer.answer = () => answered(jwt)
    const error = refusalOf(create({ keys }).verify('token'))
    await clock.advance(2)
    expect(await error).toMatchObject({ code: 'introspection_unavailable', reason: 'timeout' })
    expect((await error).detail).toContain('the signed answer')
  })

  test('whose keys fail with an error of their own: 503, as if nobody had answered', async () => {
    const { signer } = await signedSetUp()
    const { issuer, create } = setUp()
    const jwt = await signer.token({ header: { typ: 'token-introspection+jwt' } })
    issuer.answer = () => answered(jwt)
    const keys = {
      ...localKeys(signer.publicJwk),
      current: () => undefined,
      wait: async () => await Promise.reject(new TypeError('of the keys')),
    }
    const error = await refusalOf(create({ keys }).verify('token'))
    expect(error).toMatchObject({ code: 'introspection_unavailable', reason: 'unreachable' })
    expect(error.detail).not.toContain('of the keys')
  })

  test('is waited for no longer than the call: its keys are told', async () => {
    const { signer } = await signedSetUp()
    const { clock, issuer, create } = setUp()
    const jwt = await signer.token({ header: { typ: 'token-introspection+jwt' } })
    issuer.answer = () => answered(jwt)
    const signals: (AbortSignal | undefined)[] = []
    const wait = async ({ signal }: { signal?: AbortSignal }) => {
      signals.push(signal)
      return await new Promise(() => {})
    }
    const keys = { ...localKeys(signer.publicJwk), current: () => undefined, wait }
    const word = wordOf(create({ keys, timeout: 3 }).verify('token'))
    await settle()
    await clock.advance(3)
    expect(await word).toBe('introspection_unavailable timeout')
    expect(signals.map((signal) => signal?.aborted)).toEqual([true])
  })
})

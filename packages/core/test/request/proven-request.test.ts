import { createTestIssuer, manualClock, stubVerifier } from '@portcullis/testing'
import { beforeEach, describe, expect, test } from 'vitest'

import type { Auth } from '../../src/claims/auth.ts'
import {
  brandedProofs,
  type DpopProof,
  type DpopProofs,
  type DpopProofsMethods,
  type PresentedProof,
} from '../../src/dpop/proof-check.ts'
import { brandedMutualTls, type MutualTls } from '../../src/possession/mutual-tls.ts'
import { AuthError } from '../../src/refusal/errors.ts'
import { checkGuardOptions, type GuardOptions } from '../../src/request/guard-options.ts'
import {
  authenticateRequest,
  authorizeRequest,
  isAtOnce,
  requireAudience,
} from '../../src/request/http.ts'
import { scope } from '../../src/requirement/requirement.ts'
import { createVerifier } from '../../src/verifier/create-verifier.ts'
import type { Verifier } from '../../src/verifier/verifier.ts'

const JKT = '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I'
const CERTIFICATE = 'A4DtL2JmUMhAsvJj5tKyn64SqzmuXbMrJa0n761y5v0'

const clock = manualClock()
const issuer = await createTestIssuer({ clock, algorithm: 'ES256' })
const verifier = createVerifier(issuer.verifierOptions)
const unbound = await issuer.token()
const byKey = await issuer.token({ claims: { cnf: { jkt: JKT } } })
const byCertificate = await issuer.token({ claims: { cnf: { 'x5t#S256': CERTIFICATE } } })
const byBoth = await issuer.token({ claims: { cnf: { jkt: JKT, 'x5t#S256': CERTIFICATE } } })

/** What the guard has asked. */
let asked: PresentedProof[] = []
let remembered: DpopProof[] = []

beforeEach(() => {
  asked = []
  remembered = []
})

/** A proof is the thumbprint of its key. */
function proofs(more: Partial<DpopProofsMethods> = {}): DpopProofs {
  return brandedProofs({
    algorithms: ['ES256', 'Ed25519'],
    required: false,
    async check(request) {
      asked.push(request)
      await Promise.resolve()
      const { proof } = request
      if (typeof proof !== 'string') throw new AuthError('invalid_dpop_proof', 'missing_proof')
      return { jkt: proof, jti: '1', expires: 0 }
    },
    async remember(proof) {
      await Promise.resolve()
      if (remembered.length > 0) throw new AuthError('invalid_dpop_proof', 'replayed_proof')
      remembered.push(proof)
    },
    nonce: () => undefined,
    ...more,
  })
}

function certificates(thumbprint: unknown, required = false): MutualTls {
  return brandedMutualTls({ required, thumbprintOf: () => thumbprint as string })
}

interface Sent {
  readonly authorization?: string
  readonly dpop?: string | readonly string[]
  readonly rawHeaders?: readonly string[]
}

/** A request of node. */
const requestOf = ({ rawHeaders, ...headers }: Sent) => ({
  method: 'POST',
  url: '/locations?page=2',
  rawHeaders:
    rawHeaders ?? Object.entries(headers).flatMap(([name, value]) => [name, String(value)]),
  headers,
})

async function refusalOf(
  sent: Sent,
  options: GuardOptions,
  by: Verifier<unknown> = verifier,
): Promise<AuthError> {
  try {
    await authenticateRequest(by, requestOf(sent), options)
  } catch (error) {
    if (error instanceof AuthError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

async function verdictOf(...call: Parameters<typeof refusalOf>): Promise<string> {
  const [sent, options, by = verifier] = call
  try {
    await authenticateRequest(by, requestOf(sent), options)
    return 'accepted'
  } catch (error) {
    return error instanceof AuthError ? `${error.code} ${error.reason}` : String(error)
  }
}

function fetchRequest(): Request {
  return new Request('https://evil.test:8443//a/../b?c=1#d', {
    method: 'PUT',
    headers: { authorization: `DPoP ${byKey}`, dpop: JKT },
  })
}

/** A guard that asks for a proof and for this certificate, and remembers no proof. */
function both(thumbprint: string | undefined): GuardOptions {
  return {
    dpop: proofs({ remember: async () => {} }),
    mutualTls: certificates(thumbprint, true),
  }
}

async function reasonOf(answer: unknown): Promise<string> {
  try {
    await answer
    return 'accepted'
  } catch (error) {
    return error instanceof AuthError ? error.reason : String(error)
  }
}

function answerOf(
  options: GuardOptions,
  token: string,
): Auth<unknown> | Promise<Auth<unknown> | undefined> {
  const request = requestOf({ authorization: `Bearer ${token}` })
  return authenticateRequest(verifier, request, checkGuardOptions(verifier, options), request)
}

const challengeIn = ({ headers }: AuthError) => headers['WWW-Authenticate']
const BINDING = 'invalid_token binding'

type Case = readonly [title: string, sent: Sent, verdict: string, required?: string | undefined]

describe('a guard with dpop', () => {
  const cases: readonly Case[] = [
    ['a bound token with its proof', { authorization: `DPoP ${byKey}`, dpop: JKT }, 'accepted'],
    ['in lower case', { authorization: `dpop ${byKey}`, dpop: JKT }, 'accepted'],
    ['an unbound token as Bearer', { authorization: `Bearer ${unbound}` }, 'accepted', BINDING],
    [
      'an unbound token as Bearer, a proof beside it',
      { authorization: `Bearer ${unbound}`, dpop: JKT },
      'accepted',
      BINDING,
    ],
    ['an unbound token with a proof', { authorization: `DPoP ${unbound}`, dpop: JKT }, BINDING],
    ['a stolen token as Bearer', { authorization: `Bearer ${byKey}` }, BINDING],
    [
      'a stolen token as Bearer, its proof beside it',
      { authorization: `Bearer ${byKey}`, dpop: JKT },
      BINDING,
    ],
    [
      'a stolen token with the proof of another key',
      { authorization: `DPoP ${byKey}`, dpop: CERTIFICATE },
      BINDING,
    ],
    [
      'a token that is bound to a certificate, with a proof',
      { authorization: `DPoP ${byCertificate}`, dpop: JKT },
      BINDING,
    ],
    ['no proof', { authorization: `DPoP ${byKey}` }, 'invalid_dpop_proof missing_proof'],
    [
      'two proofs',
      { authorization: `DPoP ${byKey}`, rawHeaders: ['DPoP', JKT, 'dpop', JKT], dpop: JKT },
      'invalid_request repeated_header',
    ],
    [
      'two proofs, joined',
      { authorization: `DPoP ${byKey}`, dpop: `${JKT}, ${JKT}`, rawHeaders: [] },
      'invalid_request repeated_header',
    ],
    [
      'two proofs, as a list',
      { authorization: `DPoP ${byKey}`, dpop: [JKT, JKT], rawHeaders: [] },
      'invalid_request repeated_header',
    ],
    ['a list of one proof', { authorization: `DPoP ${byKey}`, dpop: [JKT] }, 'accepted'],
    [
      'two tokens, joined',
      { authorization: `Bearer ${unbound}, DPoP ${byKey}`, dpop: JKT },
      'invalid_request repeated_header',
    ],
    [
      'two tokens, joined the other way round',
      { authorization: `DPoP ${byKey}, Bearer ${unbound}`, dpop: JKT },
      'invalid_request repeated_header',
    ],
    [
      'both schemes before one token',
      { authorization: `Bearer DPoP ${byKey}`, dpop: JKT },
      'invalid_token malformed',
    ],
    [
      'two headers',
      {
        authorization: `DPoP ${byKey}`,
        dpop: JKT,
        rawHeaders: ['Authorization', `DPoP ${byKey}`, 'authorization', `Bearer ${byKey}`],
      },
      'invalid_request repeated_header',
    ],
    ['the scheme alone', { authorization: 'DPoP', dpop: JKT }, 'invalid_token malformed'],
    [
      'the scheme and white space',
      { authorization: `DPoP\t${byKey}`, dpop: JKT },
      'invalid_token malformed',
    ],
    ['another scheme', { authorization: 'Basic eDp5', dpop: JKT }, 'missing_token other_scheme'],
    ['a proof without a token', { dpop: JKT }, 'missing_token missing_header'],
  ]

  test.each(
    cases.map(([title, sent, verdict, required = verdict]) => ({ title, sent, verdict, required })),
  )('$title: $verdict', async ({ sent, verdict, required }) => {
    expect(await verdictOf(sent, { dpop: proofs() })).toBe(verdict)
    remembered = []
    expect(await verdictOf(sent, { dpop: proofs({ required: true }) })).toBe(required)
  })

  test('asks about the proof what the request is, and remembers it', async () => {
    await verdictOf({ authorization: `DPoP ${byKey}`, dpop: JKT }, { dpop: proofs() })
    expect(asked).toEqual([
      { proof: JKT, method: 'POST', target: '/locations?page=2', token: byKey },
    ])
    expect(remembered).toEqual([{ jkt: JKT, jti: '1', expires: 0 }])
  })

  test('refuses the same proof a second time', async () => {
    const sent = { authorization: `DPoP ${byKey}`, dpop: JKT }
    expect(await verdictOf(sent, { dpop: proofs() })).toBe('accepted')
    expect(await verdictOf(sent, { dpop: proofs() })).toBe('invalid_dpop_proof replayed_proof')
  })

  test.each([
    ['a token that is not accepted', { authorization: 'DPoP a.b.c', dpop: JKT }],
    ['an unbound token', { authorization: `DPoP ${unbound}`, dpop: JKT }],
    ['a token of another key', { authorization: `DPoP ${byKey}`, dpop: 'other' }],
  ])('remembers no proof beside %s', async (_, sent) => {
    expect(await verdictOf(sent, { dpop: proofs() })).not.toBe('accepted')
    expect(remembered).toEqual([])
  })

  test.each<[string, (inner: Verifier) => Verifier<unknown>]>([
    [
      'drops its options',
      (inner) => ({ ...inner, verify: async (token: string) => await inner.verify(token) }),
    ],
    [
      'has confirmation ignored and drops its options',
      () => {
        const ignoring = createVerifier({ ...issuer.verifierOptions, confirmation: 'ignore' })
        return { ...ignoring, verify: async (token: string) => await ignoring.verify(token) }
      },
    ],
    [
      'inherits the possession of what it returns',
      (inner) => ({
        ...inner,
        verify: async (token: string) => {
          const auth = await inner.verify(token, { possession: { jkt: JKT } })
          const { possession, ...rest } = auth
          return Object.assign(Object.create({ possession }) as object, rest) as Auth
        },
      }),
    ],
  ])('does not believe a verifier that %s', async (_, wrap) => {
    const sent = { authorization: `DPoP ${byKey}`, dpop: JKT }
    expect(await verdictOf(sent, { dpop: proofs() }, wrap(verifier))).toBe(BINDING)
    expect(remembered).toEqual([])
  })

  test('takes a stub for tests of what comes after', async () => {
    const sent = { authorization: 'DPoP any', dpop: JKT }
    expect(await verdictOf(sent, { dpop: proofs() }, stubVerifier())).toBe('accepted')
  })

  test('lets nobody in under `optional` with a proof and no token that will do', async () => {
    const options = { dpop: proofs(), optional: true }
    expect(await verdictOf({ dpop: JKT }, options)).toBe('accepted')
    expect(await verdictOf({ authorization: `DPoP ${unbound}`, dpop: JKT }, options)).toBe(BINDING)
    expect(await verdictOf({ authorization: `DPoP ${byKey}` }, options)).toBe(
      'invalid_dpop_proof missing_proof',
    )
  })

  test.each<[string, object, string]>([
    ['a path', { url: '/a?b=1' }, '/a?b=1'],
    ['a mounted router', { url: '/', originalUrl: '/v1/a' }, '/v1/a'],
    ['a path of two slashes', { url: '//evil.test/a' }, '//evil.test/a'],
    ['an absolute target', { url: 'http://evil.test:99/a?b#c' }, '/a?b#c'],
    ['an absolute target without a path', { url: 'HTTPS://evil.test?b' }, '/?b'],
    ['another host', { url: '/a', headers: { host: 'evil.test', 'x-forwarded-host': 'b' } }, '/a'],
    [
      'an inherited originalUrl',
      Object.create({ originalUrl: '/evil', url: '/a' }) as object,
      '/a',
    ],
    ['an originalUrl that is no text', { url: '/a', originalUrl: 1 }, '/a'],
    ['nothing', {}, ''],
  ])('asks about %s', async (_, parts, target) => {
    const { headers, method } = requestOf({ authorization: `DPoP ${byKey}`, dpop: JKT })
    const request = Object.assign(parts, {
      method,
      headers: { ...(Reflect.get(parts, 'headers') as object | undefined), ...headers },
    })
    await authenticateRequest(verifier, request, { dpop: proofs() })
    expect(asked[0]?.target).toBe(target)
  })

  test.each<[string, object, object, string]>([
    ['both', { url: '/', originalUrl: '/outer/a' }, { originalUrl: '/a' }, '/outer/a'],
    ['the request of node', { url: '/', originalUrl: '/v1/a' }, {}, '/v1/a'],
    ['its own object', { url: '/a' }, { originalUrl: '/v1/a' }, '/v1/a'],
  ])('asks about the path that a framework keeps in %s', async (_, parts, subject, target) => {
    const request = { ...requestOf({ authorization: `DPoP ${byKey}`, dpop: JKT }), ...parts }
    await authenticateRequest(verifier, request, { dpop: proofs() }, subject)
    expect(asked[0]?.target).toBe(target)
  })

  test('asks about a Request of the Fetch standard, and refuses two of its headers', async () => {
    await authenticateRequest(verifier, fetchRequest(), { dpop: proofs() })
    expect(asked).toMatchObject([{ method: 'PUT', target: '//b?c=1#d' }])
    for (const [name, value] of [
      ['dpop', JKT],
      ['authorization', `Bearer ${unbound}`],
    ] as const) {
      const request = fetchRequest()
      request.headers.append(name, value)
      await expect(
        authenticateRequest(verifier, request, { dpop: proofs() }),
      ).rejects.toMatchObject({ code: 'invalid_request', status: 400 })
    }
  })

  test('asks about what an adapter states in an object of its own', async () => {
    const { headers, method } = fetchRequest()
    const request = { headers, method, url: '/v1/b?c=1' }
    await authenticateRequest(verifier, request, { dpop: proofs() }, {})
    expect(asked).toMatchObject([{ method: 'PUT', target: '/v1/b?c=1' }])
  })
})

describe('the challenge', () => {
  const BEARER = 'Bearer realm="api"'
  const DPOP = 'DPoP realm="api"'
  const ALGS = 'algs="ES256 Ed25519"'
  const BOUND =
    'error="invalid_token", error_description="The access token is bound to another key"'

  test('names both schemes to a request without a token', async () => {
    const refusal = await refusalOf({}, { dpop: proofs() })
    expect(challengeIn(refusal)).toBe(`${BEARER}, ${DPOP}, ${ALGS}`)
  })

  test('has the error in the scheme of the request', async () => {
    const asBearer = await refusalOf({ authorization: `Bearer ${byKey}` }, { dpop: proofs() })
    expect(challengeIn(asBearer)).toBe(`${BEARER}, ${BOUND}, ${DPOP}, ${ALGS}`)
    const asDpop = await refusalOf(
      { authorization: `DPoP ${unbound}`, dpop: JKT },
      { dpop: proofs() },
    )
    expect(challengeIn(asDpop)).toBe(`${DPOP}, ${BOUND}, ${ALGS}, ${BEARER}`)
    const request = {
      ...requestOf({ dpop: JKT }),
      headers: { authorization: [`DPoP ${unbound}`], dpop: JKT },
    }
    const answer = authenticateRequest(verifier, request, { dpop: proofs() })
    await expect(answer).rejects.toMatchObject({
      headers: { 'WWW-Authenticate': `${DPOP}, ${BOUND}, ${ALGS}, ${BEARER}` },
    })
  })

  test.each([
    ['DPoP', 'DPoP'],
    ['dPoP two words', 'DPoP'],
    ['Bearer dpop', 'Bearer'],
    ['Bearer not-a-dpop token', 'Bearer'],
  ])('has the error of %j in the scheme %s', async (authorization, scheme) => {
    const challenge = challengeIn(await refusalOf({ authorization }, { dpop: proofs() }))
    expect(challenge).toMatch(new RegExp(`^${scheme} realm="api", error=`))
  })

  test('is DPoP alone where that is required', async () => {
    const options = { dpop: proofs({ required: true }) }
    expect(challengeIn(await refusalOf({}, options))).toBe(`${DPOP}, ${ALGS}`)
    const asBearer = await refusalOf({ authorization: `Bearer ${unbound}` }, options)
    expect(challengeIn(asBearer)).toBe(`${DPOP}, ${BOUND}, ${ALGS}`)
  })

  test('of a proof is that of DPoP', async () => {
    const refusal = await refusalOf({ authorization: `DPoP ${byKey}` }, { dpop: proofs() })
    expect(challengeIn(refusal)).toBe(
      `${DPOP}, error="invalid_dpop_proof", error_description="The request must have one DPoP header", ${ALGS}, ${BEARER}`,
    )
  })

  test('has scope and metadata in both', async () => {
    const refusal = await refusalOf(
      {},
      { dpop: proofs(), scope: 'read', resourceMetadata: 'https://api.test/m', realm: 'x' },
    )
    const more = 'realm="x", scope="read", resource_metadata="https://api.test/m"'
    expect(challengeIn(refusal)).toBe(`Bearer ${more}, DPoP ${more}, ${ALGS}`)
  })

  test.each([
    [{ authorization: `DPoP ${byKey}`, dpop: JKT }, `${DPOP}, error=`],
    [{ authorization: `Bearer ${unbound}` }, `${BEARER}, error=`],
  ])('of a route is in the scheme that the request came under', async (sent, start) => {
    const request = requestOf(sent)
    await authenticateRequest(verifier, request, { dpop: proofs() })
    const refusal: unknown = await authorizeRequest(request, [scope('write')]).catch(
      (error: unknown) => error,
    )
    expect(refusal).toMatchObject({ code: 'insufficient_scope', status: 403 })
    const challenge = challengeIn(refusal as AuthError)
    expect(challenge?.startsWith(start)).toBe(true)
    expect(challenge?.match(/scope="write"/g)).toHaveLength(1)
  })

  test.each([
    [{ authorization: `DPoP ${byKey}`, dpop: JKT }, `${DPOP}, error=`],
    [{ authorization: `Bearer ${unbound}` }, `${BEARER}, error=`],
  ])('of an audience that a token lacks is in that scheme as well', async (sent, start) => {
    const refused: AuthError[] = []
    const onRefusal = (error: AuthError) => refused.push(error)
    const request = requestOf(sent)
    await authenticateRequest(verifier, request, { dpop: proofs(), onRefusal })
    expect(() => {
      requireAudience(request, 'https://other.test')
    }).toThrow(AuthError)
    expect(refused.map((each) => challengeIn(each)?.startsWith(start))).toEqual([true])
  })

  test('comes with a nonce, whatever was refused, if that can be a header', async () => {
    for (const sent of [{}, { authorization: `Bearer ${byKey}` }, { authorization: 'DPoP' }]) {
      const { headers } = await refusalOf(sent, { dpop: proofs({ nonce: () => 'a.b-c' }) })
      expect(headers['DPoP-Nonce']).toBe('a.b-c')
    }
    const { headers } = await refusalOf({}, { dpop: proofs({ nonce: () => 'a\r\nb' }) })
    expect(Object.keys(headers)).not.toContain('DPoP-Nonce')
  })

  test('of a guard without dpop has nothing of it: DPoP is another scheme', async () => {
    const refusal = await refusalOf({ authorization: `DPoP ${byKey}`, dpop: JKT }, {})
    expect(refusal).toMatchObject({ code: 'missing_token', reason: 'other_scheme' })
    expect(refusal.headers).toEqual({ 'WWW-Authenticate': BEARER, 'Cache-Control': 'no-store' })
  })
})

describe('a guard with mutualTls', () => {
  test.each([
    ['a token of the certificate', byCertificate, CERTIFICATE, 'accepted', 'accepted'],
    ['a stolen token with another certificate', byCertificate, JKT, BINDING, BINDING],
    ['a stolen token without a certificate', byCertificate, undefined, BINDING, BINDING],
    ['an unbound token with a certificate', unbound, CERTIFICATE, 'accepted', BINDING],
    ['an unbound token without a certificate', unbound, undefined, 'accepted', BINDING],
    ['a token that a key is missing for', byBoth, CERTIFICATE, BINDING, BINDING],
    ['a thumbprint that is no text', byCertificate, 7, BINDING, BINDING],
    ['an empty thumbprint', unbound, '', 'accepted', BINDING],
  ])('%s', async (_, token, thumbprint, verdict, required) => {
    const sent = { authorization: `Bearer ${token}` }
    // The second time the token is remembered.
    for (let use = 0; use < 2; use++) {
      expect(await verdictOf(sent, { mutualTls: certificates(thumbprint) })).toBe(verdict)
      expect(await verdictOf(sent, { mutualTls: certificates(thumbprint, true) })).toBe(required)
    }
  })

  test('and dpop: a token that is bound to both needs both', async () => {
    const sent = { authorization: `DPoP ${byBoth}`, dpop: JKT }
    expect(await verdictOf(sent, both(CERTIFICATE))).toBe('accepted')
    expect(await verdictOf(sent, both(undefined))).toBe(BINDING)
    expect(await verdictOf({ ...sent, dpop: 'other' }, both(CERTIFICATE))).toBe(BINDING)
  })

  test('asks about the request of node that it is told of', async () => {
    const [request, incoming] = [requestOf({ authorization: `Bearer ${byCertificate}` }), {}]
    const seen: object[] = []
    const mutualTls = brandedMutualTls({
      required: false,
      thumbprintOf(of) {
        seen.push(of)
        return CERTIFICATE
      },
    })
    const guard = checkGuardOptions(verifier, { mutualTls })
    await authenticateRequest(verifier, request, guard, {}, incoming)
    await authenticateRequest(verifier, request, guard, {})
    expect(seen).toEqual([incoming, request])
    expect(seen[0]).toBe(incoming)
  })
})

describe('a token that was accepted before', () => {
  const requiring = { required: true } as const
  const CASES: readonly (readonly [string, GuardOptions, boolean])[] = [
    ['without these options', {}, true],
    ['with dpop', { dpop: proofs() }, true],
    ['with mutualTls', { mutualTls: certificates(undefined) }, true],
    ['where dpop is required', { dpop: proofs(requiring) }, false],
    ['where mutualTls is required', { mutualTls: certificates(CERTIFICATE, true) }, false],
  ]

  test.each(CASES)(
    'is answered at once only where it is enough: %s',
    async (_, options, isEnough) => {
      await verifier.verify(unbound)
      const answer = answerOf(options, unbound)
      expect(isAtOnce(answer)).toBe(isEnough)
      expect(await reasonOf(answer)).toBe(isEnough ? 'accepted' : 'binding')
    },
  )

  test.each(CASES)('and is bound is never answered at once: %s', async (_, options) => {
    await verifier.verify(byKey, { possession: { jkt: JKT } })
    const answer = answerOf(options, byKey)
    expect(isAtOnce(answer)).toBe(false)
    await expect(answer).rejects.toMatchObject({ reason: 'binding' })
  })
})

describe('the options', () => {
  test.each<[string, object, string]>([
    ['dpop that is true', { dpop: true }, 'dpop must be what dpopProofs() returns'],
    ['dpop without required', { dpop: { ...proofs(), required: undefined } }, 'dpop must be'],
    ['dpop without algorithms', { dpop: { ...proofs(), algorithms: [] } }, 'dpop must be'],
    ['dpop without check', { dpop: { ...proofs(), check: 1 } }, 'dpop must be'],
    ['mutualTls that is true', { mutualTls: true }, 'mutualTls must be what mutualTls() returns'],
    ['mutualTls without thumbprintOf', { mutualTls: { required: true } }, 'mutualTls must be'],
    ['mutualTls without required', { mutualTls: { thumbprintOf: () => '' } }, 'mutualTls must be'],
  ])('%s are a TypeError at start-up', (_, options, complaint) => {
    expect(() => checkGuardOptions(verifier, options)).toThrow(`authenticate: ${complaint}`)
  })
})

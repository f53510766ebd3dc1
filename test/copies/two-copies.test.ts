import * as core from '@portcullis/core'
import { checkGuardOptions, requireAudience } from '@portcullis/core/adapter'
import { explain } from '@portcullis/core/explain'
import { receiveEvents } from '@portcullis/events'
import { byForm, introspected } from '@portcullis/introspection'
import { expressEndpoint } from '@portcullis/mcp'
import { redisRevocations } from '@portcullis/redis'
import { createTestIssuer, stubVerifier, tokenService } from '@portcullis/testing'
import request from 'supertest'
import { describe, expect, test, vi } from 'vitest'

import { adapters, frameworks } from '../frameworks/contract/frameworks/index.ts'
import { secondCopy } from './second-copy.ts'

// Two copies of core in one process, as package managers make them. What one copy makes is refused by the other with a TypeError that says
// where both are, or works as ever; nothing is lost without a word.

const { core: second, explain: secondExplain, path } = await secondCopy()
const issuer = await createTestIssuer({ issuer: 'https://a.test', audience: 'api' })
const { verifierOptions } = issuer
const { keyUrl, fetch } = tokenService(issuer)
const rules = { issuer: verifierOptions.issuer, audience: verifierOptions.audience }

/** The same as `verifierOptions`, made by the second copy. */
const theirKeys = second.remoteKeys(keyUrl, { fetch })
const theirVerifier = second.createVerifier({ ...rules, keys: theirKeys })
const theirRevocations = second.localRevocations()
const ourVerifier = core.createVerifier(verifierOptions)
const token = await issuer.token({ claims: { scope: 'read' } })

const requestOf = () => ({ headers: { authorization: `Bearer ${token}` } })

/** A request that a guard of the second copy has let through. */
async function theirRequest() {
  const seen = requestOf()
  await second.authenticateRequest(theirVerifier, seen)
  return seen
}

const events = {
  keys: verifierOptions.keys,
  issuer: 'https://a.test',
  audience: 'a',
}

/** Who takes what: each call gets something of the second copy. */
const TAKES: Readonly<Record<string, () => unknown>> = {
  'createVerifier: keys': () => core.createVerifier({ ...rules, keys: theirKeys }),
  'createVerifier: keys of localKeys': () =>
    core.createVerifier({ ...rules, keys: second.localKeys(issuer.publicJwk) }),
  'createVerifier: revocations': () =>
    core.createVerifier({ ...verifierOptions, revocations: theirRevocations }),
  'byIssuer: the verifier of "https://a.test"': () =>
    core.byIssuer({ 'https://a.test': theirVerifier }),
  'authenticate: the verifier': () => checkGuardOptions(theirVerifier, {}),
  'authenticate: the verifier, of byIssuer': () =>
    checkGuardOptions(
      second.byIssuer(() => undefined),
      {},
    ),
  'authenticate: dpop': () =>
    checkGuardOptions(ourVerifier, { dpop: second.dpopProofs({ origin: 'https://a.test' }) }),
  'authenticate: the verifier, at a request': async () =>
    await core.authenticateRequest(theirVerifier, requestOf()),
  'getAuth and authorize: the guard of the request': async () => core.getAuth(await theirRequest()),
  'getAuth and authorize: the guard of the request, in findAuth': async () =>
    core.findAuth(await theirRequest()),
  'getAuth and authorize: the guard of the request, in authorizeRequest': async () => {
    await core.authorizeRequest(await theirRequest(), [core.scope('read')])
  },
  'getAuth and authorize: the guard of the request, in requireAudience': async () => {
    requireAudience(await theirRequest(), 'api')
  },
  'getAuth: the verifier': async () => {
    const seen = requestOf()
    await core.authenticateRequest(ourVerifier, seen)
    return core.getAuth(seen, theirVerifier)
  },
  'watchToken: the verifier': async () =>
    core.watchToken(theirVerifier, await ourVerifier.verify(token), () => {}),
  'watchToken: the Auth': async () =>
    core.watchToken(ourVerifier, await theirVerifier.verify(token), () => {}),
  'expiry: the Auth': async () => core.expiry(await theirVerifier.verify(token)),
  'grantedScopes: the Auth': async () => core.grantedScopes(await theirVerifier.verify(token)),
  'delegationOf: the Auth': async () => core.delegationOf(await theirVerifier.verify(token)),
  'revoke: the Auth': async () => {
    await core.localRevocations().revoke(await theirVerifier.verify(token))
  },
  'createVerifier: keys, in explain': async () =>
    await explain(token, { ...rules, keys: theirKeys }),
  'explain: keysInHand': async () =>
    await explain(token, verifierOptions, { keysInHand: theirKeys }),
  'introspected: keys': () =>
    introspected({ issuer: 'https://a.test', audience: 'a', clientId: 'a', keys: theirKeys }),
  'introspected: revocations': () =>
    introspected({
      issuer: 'https://a.test',
      audience: 'a',
      clientId: 'a',
      revocations: theirRevocations,
    }),
  'byForm: jwt': () => byForm({ jwt: theirVerifier, opaque: ourVerifier }),
  'receiveEvents: keys': () =>
    receiveEvents({ ...events, keys: theirKeys, revocations: core.localRevocations() } as never),
  'receiveEvents: revocations': () =>
    receiveEvents({ ...events, revocations: theirRevocations } as never),
  'authenticate: the verifier, in expressEndpoint': () =>
    expressEndpoint(
      theirVerifier,
      {
        resource: 'https://a.test/mcp',
        authorizationServers: ['https://a.test'],
      },
      () => {},
    ),
  ...Object.fromEntries(
    adapters.map(({ folder, takesOptions, functions }) => [
      `authenticate: the verifier, in ${folder}`,
      () =>
        functions === null
          ? takesOptions({ verifier: theirVerifier } as never)
          : functions.authenticate(theirVerifier as never),
    ]),
  ),
}

async function faultOf(call: () => unknown): Promise<unknown> {
  try {
    await call()
  } catch (error) {
    return error
  }
  return 'nothing'
}

describe('what another copy of core has made is a TypeError that says where both are', () => {
  test.each(Object.entries(TAKES))('%s', async (name, call) => {
    const fault = await faultOf(call)
    expect(fault).toBeInstanceOf(TypeError)
    const { message } = fault as TypeError
    const [place] = name.split(',')
    expect(message).toContain(
      `${place?.replace(/ of localKeys$/, '')} is of another copy of @portcullis/core`,
    )
    expect(message).toMatch(/that one is \d+\.\d+\.\d+\S* in .*, this one \d+\.\d+\.\d+\S* in /)
    expect(message).toContain(path)
    expect(message).toContain('packages/core/src/')
    expect(message).toContain('`npm ls @portcullis/core`')
  })

  test('from the function of byIssuer it is an outage whose cause says so', async () => {
    const verifier = core.byIssuer(() => theirVerifier)
    const fault = await faultOf(async () => await verifier.verify(token))
    expect(fault).toMatchObject({ code: 'keys_unavailable', reason: 'unreachable' })
    expect(String((fault as Error).cause)).toContain(path)
  })

  test('and so is what this copy has made for the other one', async () => {
    expect(() => second.createVerifier(verifierOptions)).toThrow('is of another copy')
    const seen = requestOf()
    await core.authenticateRequest(ourVerifier, seen)
    expect(() => second.getAuth(seen)).toThrow('is of another copy')
    const explained = secondExplain.explain(token, verifierOptions)
    await expect(explained).rejects.toThrow('is of another copy')
  })

  test('revocations in Redis carry the mark as well', async () => {
    const url = 'redis://127.0.0.1:1'
    await using revocations = redisRevocations({
      url,
      maxStaleness: 10,
      whenStale: 'refuse',
    } as never)
    const options = { ...rules, keys: theirKeys, revocations }
    expect(() => second.createVerifier(options)).toThrow('revocations is of another copy')
  })
})

describe('the mere presence of a second copy is nothing', () => {
  test('for what each copy does with its own', async () => {
    const revocations = second.localRevocations()
    const verifier = second.createVerifier({ ...rules, keys: theirKeys, revocations })
    const [ours, theirs] = [requestOf(), requestOf()]
    await core.authenticateRequest(ourVerifier, ours)
    await second.authenticateRequest(verifier, theirs)
    expect(core.getAuth(ours, ourVerifier).token).toBe(token)
    expect(second.getAuth(theirs, verifier).token).toBe(token)
    const refused = vi.fn<(error: unknown) => void>()
    second.watchToken(verifier, second.getAuth(theirs), refused)
    await revocations.revoke(second.getAuth(theirs))
    await vi.waitFor(() => {
      expect(refused).toHaveBeenCalledOnce()
    }, 60_000)
  })

  test('for a request that guards of both have let through', async () => {
    const seen = await theirRequest()
    await core.authenticateRequest(ourVerifier, seen)
    expect(core.getAuth(seen).token).toBe(token)
    expect(second.getAuth(seen).token).toBe(token)
  })

  test('for a request that no guard has seen: the message is that of one copy', async () => {
    await theirRequest()
    expect(() => core.getAuth(requestOf())).toThrow('no guard has seen the request')
  })

  test.each<[string, core.Verifier]>([
    [
      'a plain object',
      { verify: async () => await ourVerifier.verify(token), ready: async () => {} },
    ],
    ['a stub of testing', stubVerifier()],
    [
      'what wraps a verifier of the other copy',
      { verify: async (each) => await theirVerifier.verify(each), ready: async () => {} },
    ],
  ])('for %s in place of a verifier', async (_, verifier) => {
    const seen = requestOf()
    await core.authenticateRequest(verifier, seen)
    expect(core.getAuth(seen, verifier).token).toBe(token)
  })

  test('for values that anybody reads: requirements, metadata and certificates', async () => {
    const seen = requestOf()
    const mutualTls = second.mutualTls()
    const resourceMetadata = second.protectedResourceMetadata({
      resource: 'https://a.test',
      authorizationServers: ['https://b.test'],
    })
    await core.authenticateRequest(ourVerifier, seen, { mutualTls, resourceMetadata })
    await core.authorizeRequest(seen, [second.scope('read')])
    expect(core.getAuth(seen).token).toBe(token)
  })

  test('for a requirement of a claim that tenants decide: it sees what the verifier of the other copy has noted', async () => {
    const template = 'https://{tenantid}.test'
    const verifier = core.createVerifier({
      keys: core.localKeys({ ...issuer.publicJwk, issuer: template }),
      issuer: { template, claim: 'tid', tenants: 'any', decidedByTenants: ['roles'] },
      audience: null,
    })
    const tid = '11111111-2222-3333-4444-555555555555'
    const claims = { iss: `https://${tid}.test`, tid, roles: ['admin'] }
    const headers = { authorization: `Bearer ${await issuer.token({ claims })}` }
    const seen = { headers }
    await core.authenticateRequest(verifier, seen)
    const call = async () => {
      await core.authorizeRequest(seen, [second.claim('roles', 'admin')])
    }
    expect(await faultOf(call)).toMatchObject({ code: 'insufficient_scope', reason: 'claim' })
  })

  test('a copy that was dropped is not kept by the others', () => {
    const found: unknown = Reflect.get(globalThis, Symbol.for('@portcullis/core witnesses'))
    expect((found as readonly unknown[]).every((each) => each instanceof WeakRef)).toBe(true)
  })
})

describe('a refusal of another copy', () => {
  const theirError = new second.AuthError('insufficient_scope', 'scope', { scope: 'write' })

  test('is an AuthError for instanceof, in both directions', () => {
    expect(theirError instanceof core.AuthError).toBe(true)
    expect(new core.AuthError('invalid_token', 'expired') instanceof second.AuthError).toBe(true)
    expect(Object.getPrototypeOf(theirError)).not.toBe(core.AuthError.prototype)
  })

  test.each([
    ['null', null],
    ['a text', 'AuthError'],
    ['another error', new Error('AuthError')],
    ['an object that is named so', { name: 'AuthError', code: 'invalid_token', status: 401 }],
  ])('is not what %s is', (_, value) => {
    expect(value instanceof core.AuthError).toBe(false)
    expect(core.refusal(value)).toBeUndefined()
  })

  test('is none of a class that extends AuthError, and an error of that class is one', () => {
    class Special extends core.AuthError {}
    expect(theirError instanceof Special).toBe(false)
    expect(new core.AuthError('invalid_token', 'expired') instanceof Special).toBe(false)
    const special = new Special('invalid_token', 'expired')
    expect([special instanceof Special, special instanceof second.AuthError]).toEqual([true, true])
  })

  test('becomes an answer: an object, a Response, a message', async () => {
    expect(core.refusal(theirError)).toBe(theirError)
    const response = core.refusalResponse(theirError)
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([
      403,
      expect.stringContaining('scope="write"'),
    ])
    expect(core.refusalMessage(theirError)).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/)
  })

  test('with a code that this copy does not know becomes a message as well', () => {
    const later = Object.create(theirError, {
      code: { value: 'of_a_later_version' },
      status: { value: 400 },
      headers: { value: {} },
      body: { value: '' },
    }) as Error
    expect(core.refusalMessage(later)).toMatch(/^HTTP\/1\.1 400 \r\n/)
  })

  describe.each(frameworks)('in $name', ({ createApp }) => {
    test('has the challenge of the guard, its problem document, and reaches onRefusal', async () => {
      const seen: string[] = []
      const wrapped: core.Verifier = {
        verify: async (each) => await theirVerifier.verify(each),
        ready: async () => {},
      }
      await using app = await createApp({
        guards: [
          {
            verifier: wrapped,
            options: {
              realm: 'two',
              respond: 'problem',
              onRefusal: ({ code, reason }) => void seen.push(`${code} ${reason}`),
            },
          },
        ],
        routes: [{ path: '/', handle: () => ({}) }],
      })
      const forged = `${token.slice(0, token.lastIndexOf('.'))}.${'A'.repeat(342)}`
      const answer = await request(app.url).get('/').set('authorization', `Bearer ${forged}`)
      expect(answer.status).toBe(401)
      expect(answer.headers['www-authenticate']).toContain(
        'Bearer realm="two", error="invalid_token"',
      )
      expect(answer.headers['content-type']).toContain('application/problem+json')
      expect(seen).toEqual(['invalid_token signature'])
    })
  })
})

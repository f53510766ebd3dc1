import { describe, expect, test } from 'vitest'

import { explain } from '../../src/explain.ts'
import {
  all,
  any,
  authorizeRequest,
  authenticateRequest,
  byIssuer,
  claim,
  createVerifier,
  type IssuerTemplate,
  localKeys,
  scope,
  type VerifierOptions,
} from '../../src/index.ts'
import { A, B, tokenOf, world } from '../keys/world.ts'

// Tokens of many tenants of one provider: which key proves which of them, also after a rotation and from a snapshot.

const ADA = '11111111-2222-3333-4444-555555555555'
const BOB = '99999999-2222-3333-4444-aaaaaaaaaaaa'
const TEMPLATE = 'https://id.example/{tenantid}/v2.0'

const anyTenant: IssuerTemplate = { template: TEMPLATE, claim: 'tid', tenants: 'any' }
const rules: Partial<VerifierOptions> = { issuer: anyTenant }

const issuerOf = (tenant: string) => `https://id.example/${tenant}/v2.0`
const keyOf = (from: typeof A, issuer?: string) => ({ ...from.publicJwk, issuer })

async function tenantToken(from: typeof A, tid: string, claims: object = {}): Promise<string> {
  return await tokenOf(from, { claims: { iss: issuerOf(tid), tid, ...claims } })
}

function tenants(...keys: readonly object[]) {
  const each = world({}, rules)
  each.endpoint.document = { keys }
  return each
}

describe('trust is in a key for an issuer', () => {
  test('a key for all tenants proves the tokens of each, with one request for keys', async () => {
    const { verdict, endpoint } = tenants(keyOf(A, TEMPLATE))
    expect(await verdict(await tenantToken(A, ADA))).toBe('accepted')
    expect(await verdict(await tenantToken(A, BOB))).toBe('accepted')
    expect(endpoint.requests).toHaveLength(1)
  })

  test.each([
    ['for another tenant', issuerOf(BOB)],
    ['of another cloud', 'https://id.example.us/{tenantid}/v2.0'],
    ['without an issuer', undefined],
  ])('a key %s proves nothing', async (_, issuer) => {
    const { verdict } = tenants(keyOf(A, issuer))
    expect(await verdict(await tenantToken(A, ADA))).toBe('unknown_key')
  })

  test('a key without an issuer proves as ever where no template is stated', async () => {
    const { verdict, endpoint } = world()
    endpoint.document = { keys: [keyOf(A)] }
    expect(await verdict(await tenantToken(A, ADA))).toBe('accepted')
  })

  test('one key in two entries proves the tokens of both issuers, and of no third one', async () => {
    const CHARLES = '77777777-2222-3333-4444-aaaaaaaaaaaa'
    const { verdict } = tenants(keyOf(A, issuerOf(ADA)), keyOf(A, issuerOf(BOB)))
    expect(await verdict(await tenantToken(A, ADA))).toBe('accepted')
    expect(await verdict(await tenantToken(A, BOB))).toBe('accepted')
    expect(await verdict(await tenantToken(A, CHARLES))).toBe('unknown_key')
  })

  test('a ninth entry of one key is never tried: its tokens are refused, and it is said', async () => {
    const ids = Array.from({ length: 9 }, (_, at) => `${ADA.slice(0, -1)}${at}`)
    const keys = localKeys(ids.map((id) => keyOf(A, issuerOf(id))))
    const verifier = createVerifier({ keys, issuer: anyTenant, audience: null })
    const exp = Date.now() / 1000 + 60
    const verdictOf = async (tid = '') => {
      const token = await A.token({ claims: { iss: issuerOf(tid), tid, exp, iat: exp - 60 } })
      return await verifier.verify(token)
    }
    await expect(verdictOf(ids[7])).resolves.toMatchObject({ claims: { tid: ids[7] } })
    await expect(verdictOf(ids[8])).rejects.toMatchObject({
      reason: 'unknown_key',
      detail: expect.stringMatching(/; more keys fit than are tried for one token$/) as string,
    })
  })

  test('a token of one tenant with the id of another is refused by its issuer, without a question', async () => {
    const { verdict, endpoint } = tenants(keyOf(A, TEMPLATE))
    expect(await verdict(await tenantToken(A, ADA, { tid: BOB }))).toBe('issuer')
    expect(await verdict(await tenantToken(B, ADA, { tid: BOB }))).toBe('unknown_key')
    expect(endpoint.requests).toHaveLength(1)
  })

  test('a refusal says what the key states', async () => {
    const verifier = createVerifier({
      ...rules,
      issuer: anyTenant,
      audience: null,
      keys: localKeys([keyOf(A, issuerOf(BOB))]),
      clockTolerance: 600,
    })
    const token = await A.token({
      claims: { iss: issuerOf(ADA), tid: ADA, exp: Date.now() / 1000 + 60 },
    })
    await expect(verifier.verify(token)).rejects.toMatchObject({
      reason: 'unknown_key',
      detail: `the key with kid "${A.publicJwk.kid}" made the signature and states the issuer "${issuerOf(BOB)}"; expected "${TEMPLATE}", or the same with the tenant of the token`,
    })
  })
})

describe('in a rotation', () => {
  test('a new key for all tenants is found in that very request', async () => {
    const { verdict, endpoint, clock } = tenants(keyOf(A, TEMPLATE))
    await verdict(await tenantToken(A, ADA))
    endpoint.document = { keys: [keyOf(B, TEMPLATE)] }
    await clock.advance(10)
    expect(await verdict(await tenantToken(B, BOB))).toBe('accepted')
    expect(await verdict(await tenantToken(A, ADA))).toBe('unknown_key')
    expect(endpoint.requests).toHaveLength(2)
  })

  test('a new key for another tenant is looked for, and proves nothing', async () => {
    const { verdict, endpoint, clock } = tenants(keyOf(A, TEMPLATE))
    await verdict(await tenantToken(A, ADA))
    endpoint.document = { keys: [keyOf(B, issuerOf(BOB))] }
    await clock.advance(10)
    expect(await verdict(await tenantToken(B, ADA))).toBe('unknown_key')
    expect(endpoint.requests).toHaveLength(2)
  })

  test('a key that was for one tenant is found for all, in that very request', async () => {
    const { verdict, endpoint, clock } = tenants(keyOf(A, issuerOf(ADA)))
    expect(await verdict(await tenantToken(A, ADA))).toBe('accepted')
    endpoint.document = { keys: [keyOf(A, TEMPLATE)] }
    await clock.advance(10)
    expect(await verdict(await tenantToken(A, BOB))).toBe('accepted')
    expect(endpoint.requests).toHaveLength(2)
  })

  test('a remembered token is refused once its key is for other tenants', async () => {
    const { verdict, endpoint, clock, keys } = tenants(keyOf(A, TEMPLATE))
    const token = await tenantToken(A, ADA)
    expect(await verdict(token)).toBe('accepted')
    endpoint.document = { keys: [keyOf(A, issuerOf(BOB))] }
    await clock.advance(10)
    await keys.refresh()
    expect(await verdict(token)).toBe('unknown_key')
    expect(await verdict(await tenantToken(A, BOB))).toBe('accepted')
  })

  test('a key whose entry is for another tenant now is not told as retired, and what has left is said', async () => {
    const { endpoint, clock, keys } = tenants(keyOf(A, issuerOf(ADA)))
    const verifier = createVerifier({ keys, issuer: anyTenant, audience: null })
    await keys.refresh()
    endpoint.document = { keys: [keyOf(A, issuerOf(BOB))] }
    await clock.advance(10)
    await keys.refresh()
    const { thumbprints, retired } = keys.status()
    expect(thumbprints).toHaveLength(1)
    expect(retired).toEqual([])
    await expect(verifier.verify(await tenantToken(A, ADA))).rejects.toMatchObject({
      reason: 'unknown_key',
      detail: expect.stringMatching(
        /; an entry of that key for this tenant has left the document$/,
      ) as string,
    })
  })

  test('a key with entries for several tenants is one thumbprint', async () => {
    const { keys } = tenants(keyOf(A, issuerOf(ADA)), keyOf(A, issuerOf(BOB)))
    await keys.refresh()
    expect(keys.status().thumbprints).toHaveLength(1)
  })

  test('an overlap keeps a key for the issuer that its entry had, and for no other', async () => {
    const { verdict, endpoint, clock, keys } = world({ overlap: 60 }, rules)
    endpoint.document = { keys: [keyOf(A, issuerOf(ADA))] }
    await keys.refresh()
    endpoint.document = { keys: [keyOf(B, TEMPLATE)] }
    await clock.advance(10)
    await keys.refresh()
    expect(await verdict(await tenantToken(A, ADA))).toBe('accepted')
    expect(await verdict(await tenantToken(A, BOB))).toBe('unknown_key')
  })
})

test('a process that starts from a snapshot of two issuers for one key trusts it for both, and for no third', async () => {
  const { endpoint, keys } = tenants(keyOf(A, issuerOf(ADA)), keyOf(A, issuerOf(BOB)))
  expect(endpoint.requests).toEqual([])
  await keys.refresh()
  const snapshot = JSON.parse(JSON.stringify(keys.toSnapshot())) as never
  const started = world({ snapshot }, rules)
  started.endpoint.mode = 'down'
  expect(await started.verdict(await tenantToken(A, ADA))).toBe('accepted')
  expect(await started.verdict(await tenantToken(A, BOB))).toBe('accepted')
  expect(
    await started.verdict(await tenantToken(A, '77777777-2222-3333-4444-aaaaaaaaaaaa')),
  ).not.toBe('accepted')
})

test('byIssuer takes it for the issuer of a tenant, and for no other', async () => {
  const keys = localKeys([keyOf(A, TEMPLATE)])
  const verifier = createVerifier({
    keys,
    issuer: { ...anyTenant, tenants: [ADA] },
    audience: null,
  })
  expect(() => byIssuer({ [issuerOf(ADA)]: verifier })).not.toThrow()
  expect(() => byIssuer({ [issuerOf(BOB)]: verifier })).toThrow(TypeError)
})

test.each([
  ['of no tenant', 'https://evil.example/'],
  ['of a tenant that is not accepted', issuerOf(BOB)],
  ['of the template', TEMPLATE],
])(
  'a function of byIssuer that answers with it for an iss %s: 401, and never 503',
  async (_, iss) => {
    const keys = localKeys([keyOf(A, TEMPLATE)])
    const listed = createVerifier({
      keys,
      issuer: { ...anyTenant, tenants: [ADA] },
      audience: null,
    })
    const token = await A.token({ claims: { iss, tid: ADA } })
    await expect(byIssuer(() => listed).verify(token)).rejects.toMatchObject({
      code: 'invalid_token',
      reason: 'unknown_key',
      status: 401,
    })
    const fixed = createVerifier({ keys, issuer: issuerOf(ADA), audience: null })
    await expect(byIssuer(() => fixed).verify(token)).rejects.toMatchObject({ status: 503 })
  },
)

describe('an explanation', () => {
  const { kid: _kid, ...nameless } = keyOf(A, issuerOf(BOB))

  test.each([
    ['without a kid in the header', keyOf(A, issuerOf(BOB)), { kid: undefined }],
    ['of a key without a kid', nameless, {}],
  ])(
    '%s gives no hint at another kid where the key is for other tenants',
    async (_, key, header) => {
      const exp = Date.now() / 1000 + 60
      const token = await A.token({
        claims: { iss: issuerOf(ADA), tid: ADA, exp, iat: exp - 60 },
        header,
      })
      const keys = localKeys([key])
      const explanation = await explain(token, { issuer: anyTenant, audience: null, keys })
      expect(explanation.refusal?.reason).toBe('unknown_key')
      expect(explanation.hints).toEqual([])
    },
  )

  const options = { issuer: anyTenant, audience: null } as const
  test.each([
    ['of a key for all tenants: accepted', TEMPLATE, 'accepted'],
    ['of a key for another tenant: refused', issuerOf(BOB), 'refused'],
    ['of a key without an issuer: refused', undefined, 'refused'],
  ])('%s, as the verifier does, and no hint says otherwise', async (_, issuer, verdict) => {
    const keys = localKeys([keyOf(A, issuer)])
    const exp = Date.now() / 1000 + 60
    const claims = { iss: issuerOf(ADA), tid: ADA, exp, iat: exp - 60 }
    const explanation = await explain(await A.token({ claims }), { ...options, keys })
    expect(explanation.verdict).toBe(verdict)
    expect(explanation.hints).toEqual([])
    expect(explanation.refusal?.reason).toBe(verdict === 'accepted' ? undefined : 'unknown_key')
  })
})

describe('a claim that the administrator of any tenant decides', () => {
  const decided: IssuerTemplate = { ...anyTenant, decidedByTenants: ['roles'] }
  const exp = Date.now() / 1000 + 60
  const claims = { iss: issuerOf(ADA), tid: ADA, roles: ['admin'], scp: 'read', exp, iat: exp - 60 }

  async function request(issuer: IssuerTemplate, more: object = {}, options: object = {}) {
    const keys = localKeys([keyOf(A, TEMPLATE)])
    const verifier = createVerifier({ keys, issuer, audience: null, ...options })
    const token = await A.token({ claims: { ...claims, ...more } })
    const incoming = { headers: { authorization: `Bearer ${token}` } }
    await authenticateRequest(verifier, incoming)
    return incoming
  }

  test.each([
    ['alone', claim('roles', 'admin')],
    ['as a path', claim(['roles'], 'admin')],
    ['inside of it', claim(['roles', 'api'], 'admin')],
    ['by a function', claim('roles', () => true)],
    ['among others', all(scope('read'), claim('roles', 'admin'))],
    ['behind another that is not met', any(scope('write'), claim('roles', 'admin'))],
  ])('cannot be required: %s', async (_, requirement) => {
    const incoming = await request(decided)
    await expect(authorizeRequest(incoming, [requirement])).rejects.toMatchObject({
      code: 'insufficient_scope',
      status: 403,
    })
  })

  test('is refused as one that is not met, and `detail` says why', async () => {
    const refusal = authorizeRequest(await request(decided), [claim('roles', 'admin')])
    await expect(refusal).rejects.toMatchObject({
      code: 'insufficient_scope',
      reason: 'claim',
      detail:
        "claim roles is never met: the administrator of the token's tenant decides what it says, and tokens of any tenant are accepted",
    })
  })

  test('beside one tenant in byIssuer: that one meets it, and a stranger gets 403', async () => {
    const keys = localKeys([keyOf(A, TEMPLATE)])
    const one = createVerifier({ keys, issuer: issuerOf(ADA), audience: null })
    const other = createVerifier({ keys, issuer: decided, audience: null })
    const both = byIssuer((iss) => (iss === issuerOf(ADA) ? one : other))
    const verdicts: unknown[] = []
    for (const tid of [ADA, BOB]) {
      const token = await A.token({ claims: { ...claims, iss: issuerOf(tid), tid } })
      const incoming = { headers: { authorization: `Bearer ${token}` } }
      await authenticateRequest(both, incoming)
      const asked = authorizeRequest(incoming, [claim('roles', 'admin')])
      verdicts.push(
        await asked.then(
          () => 'met',
          (error: unknown) => Reflect.get(Object(error), 'code') as unknown,
        ),
      )
    }
    expect(verdicts).toEqual(['met', 'insufficient_scope'])
  })

  test('cannot be required whatever a schema makes of it, or of a token that lacks it', async () => {
    const schema = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: () => ({ value: { roles: ['admin'] } }),
      },
    }
    const made = await request(decided, {}, { schema })
    await expect(authorizeRequest(made, [claim('roles', 'admin')])).rejects.toMatchObject({
      status: 403,
    })
    const without = await request(decided, { roles: [] })
    await expect(authorizeRequest(without, [claim('roles', 'admin')])).rejects.toMatchObject({
      status: 403,
    })
  })

  test('cannot be required of a token that was accepted before', async () => {
    const keys = localKeys([keyOf(A, TEMPLATE)])
    const verifier = createVerifier({ keys, issuer: decided, audience: null })
    const headers = { authorization: `Bearer ${await A.token({ claims })}` }
    for (const incoming of [{ headers }, { headers }]) {
      await authenticateRequest(verifier, incoming)
      await expect(authorizeRequest(incoming, [claim('roles', 'admin')])).rejects.toMatchObject({
        status: 403,
      })
    }
  })

  test('can be required where nobody has said who decides it, and others always can', async () => {
    const calls = [
      authorizeRequest(await request(anyTenant), [claim('roles', 'admin')]),
      authorizeRequest(await request(decided), [scope('read'), claim('tid', ADA)]),
    ]
    await expect(Promise.all(calls)).resolves.toBeDefined()
  })
})

import { createHash } from 'node:crypto'

import { createTestIssuer, manualClock, type TestIssuer } from '@portcullis/testing'
import fc from 'fast-check'
import { beforeEach, describe, expect, test, vi } from 'vitest'

import { explain } from '../../src/explain/explain.ts'
import { byIssuer } from '../../src/issuers/by-issuer.ts'
import { localRevocations } from '../../src/revocation/local-revocations.ts'
import type { Revocations } from '../../src/revocation/revocations.ts'
import { createDigests, digestOf } from '../../src/revocation/token-digest.ts'
import { createVerifier } from '../../src/verifier/create-verifier.ts'
import { createProvenVerifier } from '../../src/verifier/proven-verifier.ts'
import type { Verifier } from '../../src/verifier/verifier.ts'
import { watchToken } from '../../src/verifier/watch-token.ts'

// What names a token that has no `jti`.

const encode = (text: string) => Buffer.from(text).toString('base64url')
const sha256 = (text: string) => createHash('sha256').update(text).digest('base64url')

const HEADER = encode('{"alg":"ES256"}')
const PAYLOAD = encode('{"sub":"ada"}')

describe('the digest of a JWT is that of its signing input', () => {
  test.each([
    ['another signature', `${HEADER}.${PAYLOAD}.b3RoZXI`],
    ['no signature', `${HEADER}.${PAYLOAD}.`],
    ['a signature with padding', `${HEADER}.${PAYLOAD}.c2ln==`],
    ['something behind the signature', `${HEADER}.${PAYLOAD}.c2ln.x`],
  ])('whatever is its signature: %s', (_name, token) => {
    expect(digestOf(token)).toBe(sha256(`${HEADER}.${PAYLOAD}`))
  })

  test('whatever its header and its claims are', () => {
    const octets = fc
      .uint8Array({ minLength: 1 })
      .map((each) => Buffer.from(each).toString('base64url'))
    const object = fc.dictionary(fc.string(), fc.jsonValue()).map((each) => JSON.stringify(each))
    const property = fc.property(object, object, octets, (header, payload, signature) => {
      const signingInput = `${encode(header)}.${encode(payload)}`
      expect(digestOf(`${signingInput}.${signature}`)).toBe(sha256(signingInput))
    })
    fc.assert(property)
  })
})

test.each([
  ['a text', 'oat_8sKc'],
  ['a text with a dot', 'cmFuZG9t.cmFuZG9t'],
  ['a text with two dots', 'v4.local.cmFuZG9t'],
  ['parts that say what kind it is, and a random one', `${encode('{"v":1}')}.prod.cmFuZG9t`],
  ['a header and a payload alone', `${HEADER}.${PAYLOAD}`],
  ['an encrypted JWT', `${encode('{"alg":"dir","enc":"A256GCM"}')}..aXY.dGV4dA.dGFn`],
  ['nothing', ''],
])('that of any other token is that of its text: %s', (_name, token) => {
  expect(digestOf(token)).toBe(sha256(token))
})

test('is worked out once for the claims of a token, and again for another token with the same claims', () => {
  const claims = Object.freeze({ sub: 'ada' })
  const digest = createDigests()
  expect(digest('one', claims)).toBe(digestOf('one'))
  expect(digest('two', claims)).toBe(digestOf('two'))
  expect(digest('one', claims)).toBe(digestOf('one'))
  expect(digest('one', { ...claims })).toBe(digestOf('one'))
})

/** The order of the group of P-256. */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

/** The same token with the other signature that proves it: r and n - s. */
function otherForm(token: string): string {
  const [header, payload, signature = ''] = token.split('.')
  const octets = Buffer.from(signature, 'base64url')
  const s = BigInt(`0x${octets.subarray(32).toString('hex')}`)
  const other = Buffer.from((ORDER - s).toString(16).padStart(64, '0'), 'hex')
  const changed = Buffer.concat([octets.subarray(0, 32), other]).toString('base64url')
  return [header, payload, changed].join('.')
}

function spying() {
  const statusOf = vi.fn<Revocations['statusOf']>(() => 'valid')
  return { statusOf, revocations: { statusOf } }
}

const digestsIn = ({
  mock,
}: {
  readonly mock: { readonly calls: readonly (readonly unknown[])[] }
}) => mock.calls.map(([, , digest]) => digest)

async function wordOf(verifier: Verifier, presented: string): Promise<unknown> {
  return await verifier.verify(presented).then(
    () => 'accepted',
    (error: unknown) => Reflect.get(Object(error), 'reason') as unknown,
  )
}

describe('everybody who asks asks with the digest', () => {
  const ISSUER = 'https://issuer.test'
  const clock = manualClock()
  let issuer: TestIssuer
  let token: string

  beforeEach(async () => {
    issuer = await createTestIssuer({ clock, algorithm: 'ES256', issuer: ISSUER })
    token = await issuer.token({ claims: { sub: 'ada' } })
  })

  test('createVerifier, at the first use and at later ones, with a schema, and watchToken', async () => {
    for (const more of [
      {},
      { remember: false as const },
      { schema: { '~standard': { version: 1, validate: () => ({ value: 'made' }) } } as never },
    ]) {
      const { statusOf, revocations } = spying()
      const verifier = createVerifier({ ...issuer.verifierOptions, revocations, ...more })
      const auth = await verifier.verify(token)
      await verifier.verify(token)
      watchToken(verifier, auth, () => undefined, { clock })()
      expect(digestsIn(statusOf)).toEqual(Array.from({ length: 3 }, () => digestOf(token)))
    }
  })

  test('byIssuer, createProvenVerifier and explain', async () => {
    const { statusOf, revocations } = spying()
    const options = { ...issuer.verifierOptions, revocations }
    await byIssuer({ [ISSUER]: createVerifier(options) }).verify(token)
    await explain(token, options)
    expect(digestsIn(statusOf)).toEqual([digestOf(token), digestOf(token)])

    const opaque = createProvenVerifier(
      {
        recall: () => undefined,
        prove: async () =>
          await Promise.resolve({
            claims: Object.freeze({ sub: 'ada' }),
            header: { alg: 'opaque' },
          }),
        stands: () => true,
        check: () => false,
        late: () => new Error('late') as never,
        ready: async () => {},
      },
      { issuer: null, audience: null, requireExpiry: false, revocations },
    )
    await opaque.verify('oat_1')
    expect(digestsIn(statusOf).at(-1)).toBe(sha256('oat_1'))
  })

  test.each([{ remember: false as const }, { remember: { max: 10 } }])(
    'an ES256 token is revoked in both forms of its signature, which are both accepted: %j',
    async (more) => {
      const revocations = localRevocations({ clock })
      const verifier = createVerifier({ ...issuer.verifierOptions, revocations, ...more })
      const other = otherForm(token)
      expect(other).not.toBe(token)
      expect([await wordOf(verifier, token), await wordOf(verifier, other)]).toEqual([
        'accepted',
        'accepted',
      ])
      const later = await issuer.token({ claims: { sub: 'ada', nonce: 'later' } })
      await revocations.revoke(await verifier.verify(other))
      expect([await wordOf(verifier, token), await wordOf(verifier, other)]).toEqual([
        'revoked',
        'revoked',
      ])
      expect(await wordOf(verifier, later)).toBe('accepted')
      const { verdict, refusal } = await explain(other, { ...issuer.verifierOptions, revocations })
      expect([verdict, refusal?.reason]).toEqual(['refused', 'revoked'])
    },
  )

  test('an open connection hears of it', async () => {
    const revocations = localRevocations({ clock })
    const verifier = createVerifier({ ...issuer.verifierOptions, revocations })
    const auth = await verifier.verify(token)
    const told = new Promise((resolve) => {
      watchToken(verifier, auth, resolve, { clock })
    })
    await revocations.revoke(auth)
    expect(await told).toMatchObject({ reason: 'revoked' })
  })

  test('a store that ignores it makes revoke(auth) a TypeError', async () => {
    const local = localRevocations({ clock })
    const revocations: Revocations = { statusOf: (claims, now) => local.statusOf(claims, now) }
    const verifier = createVerifier({ ...issuer.verifierOptions, revocations })
    const auth = await verifier.verify(token)
    await expect(local.revoke(auth)).rejects.toThrow(TypeError)
    expect([local.size, await wordOf(verifier, token)]).toEqual([0, 'accepted'])
  })
})

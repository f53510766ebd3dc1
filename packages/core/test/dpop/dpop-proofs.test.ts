import { createHash } from 'node:crypto'

import { manualClock } from '@portcullis/testing'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'

import type { DpopProofsOptions } from '../../src/dpop/proof-options.ts'
import {
  createProofMaker,
  type Draft,
  encode,
  NOW,
  ORIGIN,
  requestWith,
  TOKEN,
} from './proof-maker.ts'
import {
  ALGORITHMS,
  client,
  guarding,
  verdictOnDraft,
  makerOf,
  verdictOf,
} from './proof-verdicts.ts'

describe('a sound proof', () => {
  test.each(ALGORITHMS)('of %s is accepted, and tells the thumbprint of its key', async (alg) => {
    const maker = makerOf(alg)
    const proofs = guarding({ algorithms: [alg] as DpopProofsOptions['algorithms'] })
    await expect(proofs.check(requestWith(maker.proof()))).resolves.toEqual({
      jkt: maker.jkt,
      jti: expect.stringMatching(/^[\w-]{43}$/) as string,
      expires: NOW + 65,
    })
  })

  test('of a client whose clock is ahead is remembered for that much longer', async () => {
    const proof = makerOf('ES256').proof({ claims: { iat: NOW + 30 } })
    const expires = NOW + 30 + 65
    await expect(guarding().check(requestWith(proof))).resolves.toMatchObject({ expires })
  })

  test('that jose has made is accepted', async () => {
    const { publicKey, privateKey } = await generateKeyPair('ES256')
    const proof = await new SignJWT({
      htm: 'POST',
      htu: `${ORIGIN}/a`,
      ath: createHash('sha256').update(TOKEN).digest('base64url'),
    })
      .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk: await exportJWK(publicKey) })
      .setJti(crypto.randomUUID())
      .setIssuedAt(NOW)
      .sign(privateKey)
    expect(await verdictOf(guarding().check(requestWith(proof, { method: 'POST' })))).toBe(
      'accepted',
    )
  })

  test('comes back frozen, and the same header is read once', async () => {
    const proofs = guarding()
    const [one, two] = [
      await proofs.check(requestWith(client.proof())),
      await proofs.check(requestWith(client.proof())),
    ]
    expect(Object.isFrozen(one)).toBe(true)
    expect([two.jkt, two.jti === one.jti]).toEqual([one.jkt, false])
  })

  test.each<[string, Draft]>([
    ['with a typ in another case', { header: { typ: 'DPoP+JWT' } }],
    ['with a typ in full', { header: { typ: 'application/dpop+jwt' } }],
    ['with a kid', { header: { kid: 'a' } }],
    ['with further members', { header: { x: 1 }, claims: { x: { y: [1] } } }],
    ['with a nonce that nobody asked for', { claims: { nonce: 'a' } }],
    ['with an exp to come and an nbf that has passed', { claims: { exp: NOW + 10, nbf: NOW } }],
    ['with a fraction of a second', { claims: { iat: NOW - 0.5 } }],
    ['with the longest jti', { claims: { jti: 'j'.repeat(256) } }],
    ['with a jti of any characters', { claims: { jti: ' \0"{}\uD800ä' } }],
    [
      'whose key says what it is for',
      { header: { jwk: { ...client.jwk, alg: 'ES256', use: 'sig' } } },
    ],
    [
      'whose key says that it verifies',
      { header: { jwk: { ...client.jwk, key_ops: ['verify'], ext: true } } },
    ],
    ['with a query in its URL', { claims: { htu: `${ORIGIN}/a?b=c` } }],
  ])('%s is accepted', async (_, draft) => {
    expect(await verdictOnDraft(draft)).toBe('accepted')
  })
})

describe('the signature', () => {
  test.each<[string, (parts: [string, string, string]) => unknown]>([
    [
      'of another key',
      ([header, payload]) => {
        const input = `${header}.${payload}`
        return `${input}.${makerOf('ES256').proof().split('.')[2]}`
      },
    ],
    [
      'in DER',
      ([header, payload]) =>
        `${header}.${payload}.${encode(Buffer.from(`3044${'02200101'.repeat(8)}`, 'hex'))}`,
    ],
    ['of zeros', ([header, payload]) => `${header}.${payload}.${encode(Buffer.alloc(64))}`],
    ['of one octet', ([header, payload]) => `${header}.${payload}.AA`],
    [
      'that is too long',
      ([header, payload, signature]) =>
        `${header}.${payload}.${encode(Buffer.concat([Buffer.from(signature, 'base64url'), Buffer.alloc(1)]))}`,
    ],
    [
      'of another payload',
      ([header, , signature]) => `${header}.${client.proof().split('.')[1]}.${signature}`,
    ],
  ])('%s: proof_signature', async (_, change) => {
    const parts = client.proof().split('.') as [string, string, string]
    expect(await verdictOf(guarding().check(requestWith(change(parts))))).toBe('proof_signature')
  })

  test('of another key than that in the header: proof_signature', async () => {
    const stranger = await createProofMaker('ES256')
    expect(await verdictOnDraft({ header: { jwk: stranger.jwk } })).toBe('proof_signature')
  })

  test.each([
    ['RS256', 'PS256'],
    ['PS256', 'RS256'],
    ['RS512', 'RS256'],
    ['Ed25519', 'Ed25519'],
  ])('made with %s where the header says %s', async (made, said) => {
    const maker = makerOf(made)
    const reason = made === said ? 'accepted' : 'proof_signature'
    expect(await verdictOnDraft({ header: { alg: said } }, {}, {}, maker)).toBe(reason)
  })

  test('is checked on the thread pool as well, when many come at once', async () => {
    const proofs = guarding({ algorithms: ['ES256', 'ES512', 'PS256'] })
    const sound = ['ES256', 'ES512', 'PS256'].flatMap((alg) =>
      Array.from({ length: 5 }, () => makerOf(alg).proof()),
    )
    const forged = sound.map((proof) => proof.replace(/\.[^.]*$/, `.${encode(Buffer.alloc(64))}`))
    const verdicts = await Promise.all(
      [...sound, ...forged].map(async (proof) => await verdictOf(proofs.check(requestWith(proof)))),
    )
    expect(verdicts).toEqual([
      ...sound.map(() => 'accepted'),
      ...forged.map(() => 'proof_signature'),
    ])
  })
})

describe('nonces', () => {
  const secret = 's'.repeat(32)

  test('are wanted, made, accepted, and too old at last', async () => {
    const clock = manualClock(NOW)
    const proofs = guarding({ clock, nonces: { secret } })
    const check = async (nonce: unknown) =>
      await verdictOf(
        proofs.check(requestWith(client.proof({ claims: { nonce, iat: clock.now() } }))),
      )
    expect(await check(undefined)).toBe('missing_nonce')
    const nonce = proofs.nonce()
    expect(await check(nonce)).toBe('accepted')
    expect(await check(`${nonce}A`)).toBe('invalid_nonce')
    await clock.advance(306)
    expect(await check(nonce)).toBe('invalid_nonce')
    expect(await check(proofs.nonce())).toBe('accepted')
  })

  test('are use_dpop_nonce, 401', async () => {
    const proofs = guarding({ nonces: { secret } })
    await expect(proofs.check(requestWith(client.proof()))).rejects.toMatchObject({
      code: 'use_dpop_nonce',
      status: 401,
    })
  })

  test('are looked at last: what else is wrong with a proof is said first', async () => {
    expect(await verdictOnDraft({ claims: { htm: 'POST' } }, { nonces: { secret } })).toBe(
      'proof_method',
    )
    expect(await verdictOnDraft({ claims: { iat: 1 } }, { nonces: { secret } })).toBe('proof_time')
  })

  test('are none without the option', () => {
    expect(guarding().nonce()).toBeUndefined()
  })
})

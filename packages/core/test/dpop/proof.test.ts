import { createHash, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'

import { describe, expect, test } from 'vitest'

import { createProofMaker, type Draft, encode, type Members, requestWith } from './proof-maker.ts'
import { client, guarding, verdictOnDraft, makerOf, verdictOf } from './proof-verdicts.ts'

describe('the header DPoP', () => {
  test.each<[string, unknown, string]>([
    ['is missing', undefined, 'missing_proof'],
    ['is null', null, 'malformed_proof'],
    ['is empty', '', 'malformed_proof'],
    ['is a list', [client.proof()], 'malformed_proof'],
    ['is an object', { toString: () => client.proof() }, 'malformed_proof'],
    ['is no JWS', 'a', 'malformed_proof'],
    ['has two parts', client.proof().replace(/\.[^.]*$/, ''), 'malformed_proof'],
    ['has no signature', client.proof().replace(/[^.]*$/, ''), 'malformed_proof'],
    ['has two proofs', `${client.proof()}, ${client.proof()}`, 'malformed_proof'],
    ['has white space behind the proof', `${client.proof()} `, 'malformed_proof'],
    ['has padding', `${client.proof()}==`, 'malformed_proof'],
    ['is a JWE', `${client.proof()}.AA.AA`, 'malformed_proof'],
    ['is huge', 'A'.repeat(1_000_000), 'malformed_proof'],
    [
      'is a proof that is too large',
      client.proof({ header: { x: 'x'.repeat(9000) } }),
      'malformed_proof',
    ],
  ])('%s: 401', async (_, proof, reason) => {
    expect(await verdictOf(guarding().check(requestWith(proof)))).toBe(reason)
  })

  test('may be as large as an RSA key of 8192 bits makes it: such a proof gets as far as its signature', async () => {
    const jwk = { kty: 'RSA', e: 'AQAB', n: encode(Buffer.alloc(1024, 0xff)) }
    const parts = client
      .proof({ header: { alg: 'RS256', jwk } })
      .split('.')
      .slice(0, 2)
    const proof = [...parts, encode(Buffer.alloc(1024, 1))].join('.')
    expect(proof.length).toBeLessThan(4000)
    expect(await verdictOf(guarding().check(requestWith(proof)))).toBe('proof_signature')
  })
})

const MANY = `{"typ":"dpop+jwt","alg":"ES256","jwk":${JSON.stringify(client.jwk)}`

describe('the header of a proof', () => {
  test.each<[string, Draft]>([
    ['no typ', { header: { typ: undefined } }],
    ['a typ of null', { header: { typ: null } }],
    ['the typ of a token', { header: { typ: 'at+jwt' } }],
    ['the typ JWT', { header: { typ: 'JWT' } }],
    ['a longer typ', { header: { typ: 'dpop+jwt2' } }],
    ['a typ with the Kelvin sign', { header: { typ: 'dpop+jwt\u212A' } }],
    ['a typ that is a list', { header: { typ: ['dpop+jwt'] } }],
    ['a kid that is no text', { header: { kid: 1 } }],
    ['crit', { header: { crit: ['exp'], exp: 1 } }],
    ['b64: false', { header: { b64: false } }],
    ['a list', { headerText: '[]' }],
    ['no JSON', { headerText: '{' }],
    ['a member twice', { headerText: `${MANY},"typ":"dpop+jwt"}` }],
    [
      'a member of the key twice',
      { headerText: `${MANY.slice(0, -1)},"x":"${String(client.jwk.x)}"}}` },
    ],
    ['a byte order mark', { headerText: `\uFEFF${MANY}}` }],
    ['__proto__', { headerText: `${MANY},"__proto__":{"typ":"dpop+jwt"}}` }],
    ['40 levels', { headerText: `${MANY},"a":${'['.repeat(40)}${']'.repeat(40)}}` }],
  ])('with %s: malformed_proof', async (_, draft) => {
    expect(await verdictOnDraft(draft)).toBe('malformed_proof')
  })

  test.each([
    undefined,
    null,
    '',
    'none',
    'None',
    'HS256',
    'HS512',
    'es256',
    'ES256 ',
    'ES256K',
    'RS1',
    'ES384',
    'RS512',
    'dir',
    'toString',
    '__proto__',
    '0',
    ['ES256'],
    { 0: 'ES256' },
    256,
    true,
  ])('with the alg %j: proof_algorithm', async (alg) => {
    expect(await verdictOnDraft({ header: { alg } })).toBe('proof_algorithm')
  })

  test('with an algorithm that the API does not list: proof_algorithm', async () => {
    expect(await verdictOnDraft({}, { algorithms: ['RS256', 'Ed25519'] })).toBe('proof_algorithm')
  })

  test('with a MAC that is keyed with its own key: proof_algorithm', async () => {
    const [header = '', payload = ''] = client.proof({ header: { alg: 'HS256' } }).split('.')
    const mac = createHash('sha256').update(`${header}.${payload}`).digest()
    const proof = `${header}.${payload}.${encode(mac)}`
    expect(await verdictOf(guarding().check(requestWith(proof)))).toBe('proof_algorithm')
  })
})

function withKey(jwk: unknown): Draft {
  return { header: { jwk } }
}

/** Octets that are no point of any curve. */
function long(octets: number): string {
  return encode(Buffer.alloc(octets, 1))
}

/** A JWK of RSA with other numbers. */
function rsa(members: Members): Members {
  return { ...makerOf('RS256').jwk, ...members }
}

function jwkOf(key: KeyObject): object {
  return createPublicKey(key).export({ format: 'jwk' })
}

describe('the key of a proof', () => {
  const { x = '', y = '' } = client.jwk as { x?: string; y?: string }

  test.each<[string, unknown]>([
    ['missing', undefined],
    ['null', null],
    ['a text', JSON.stringify(client.jwk)],
    ['a list', [client.jwk]],
    ['a key set', { keys: [client.jwk] }],
    ['empty', {}],
    ['of no kind', { ...client.jwk, kty: undefined }],
    ['of an unknown kind', { ...client.jwk, kty: 'EC2' }],
    ['a shared secret', { kty: 'oct', k: encode('secret') }],
    ['private', client.privateJwk],
    ['private, with a value that is none', { ...client.jwk, d: null }],
    ['public with a secret beside it', { ...client.jwk, k: 'AA' }],
    ['for encryption', { ...client.jwk, use: 'enc' }],
    ['for signing alone', { ...client.jwk, key_ops: ['sign'] }],
    ['for nothing', { ...client.jwk, key_ops: [] }],
    ['for another algorithm', { ...client.jwk, alg: 'ES384' }],
    ['of another curve than it says', { ...client.jwk, crv: 'P-384' }],
    ['of an unknown curve', { ...client.jwk, crv: 'secp256k1' }],
    ['without a coordinate', { ...client.jwk, y: undefined }],
    ['with a coordinate that is a number', { ...client.jwk, y: 1 }],
    ['with a coordinate that is too short', { ...client.jwk, x: x.slice(0, -2) }],
    ['with a padded coordinate', { ...client.jwk, x: `${x}=` }],
    [
      'with coordinates in plain base64',
      { ...client.jwk, x: Buffer.from(x, 'base64url').toString('base64') },
    ],
    ['a point that is not on the curve', { ...client.jwk, x: y, y: x }],
    [
      'the point of zeros',
      { ...client.jwk, x: encode(Buffer.alloc(32)), y: encode(Buffer.alloc(32)) },
    ],
    ['of another kind', makerOf('Ed25519').jwk],
    ['of another curve', makerOf('ES384').jwk],
    ['an RSA key', makerOf('RS256').jwk],
  ])('is %s: proof_key', async (_, jwk) => {
    expect(await verdictOnDraft(withKey(jwk))).toBe('proof_key')
  })

  const n = Buffer.from(String(makerOf('RS256').jwk.n), 'base64url')
  const even = Buffer.concat([n.subarray(0, -1), Buffer.from([n.at(-1)! & 0xfe])])

  test.each<[string, unknown]>([
    ['of 1024 bits', jwkOf(generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey)],
    ['of 2047 bits', jwkOf(generateKeyPairSync('rsa', { modulusLength: 2047 }).privateKey)],
    ['with e = 1', rsa({ e: 'AQ' })],
    ['with an even e', rsa({ e: encode(Buffer.from([4])) })],
    ['with a long e', rsa({ e: encode(Buffer.alloc(5, 1)) })],
    ['with e = 0', rsa({ e: 'AA' })],
    ['with e = 65539, which costs more than the usual one', rsa({ e: 'AQAD' })],
    ['with the largest e that an issuer may have', rsa({ e: encode(Buffer.alloc(4, 0xff)) })],
    ['with an even modulus', rsa({ n: encode(even) })],
    [
      'with a sign octet before the modulus',
      rsa({ n: encode(Buffer.concat([Buffer.alloc(1), n])) }),
    ],
    ['with a zero before the exponent', rsa({ e: encode(Buffer.from([0, 1, 0, 1])) })],
    ['of 16384 bits', rsa({ n: encode(Buffer.alloc(2048, 0xff)) })],
    ['with d', makerOf('RS256').privateJwk],
    ['with p', rsa({ p: 'AA' })],
    ['with oth', rsa({ oth: [] })],
    ['for PS256', rsa({ alg: 'PS256' })],
  ])('is an RSA key %s: proof_key', async (_, jwk) => {
    const draft = withKey(jwk)
    expect(await verdictOnDraft(draft, {}, {}, makerOf('RS256'))).toBe('proof_key')
  })

  test.each([3, 17, 65_537])('may be an RSA key with e = %i', async (publicExponent) => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048, publicExponent })
    const maker = await createProofMaker('RS256', privateKey)
    expect(await verdictOnDraft({}, {}, {}, maker)).toBe('accepted')
  })

  test.each<[string, string | Buffer]>([
    ['the neutral element', Buffer.from(`01${'00'.repeat(31)}`, 'hex')],
    ['of order 2', Buffer.from(`ec${'ff'.repeat(30)}7f`, 'hex')],
    ['of order 4', Buffer.alloc(32)],
    [
      'of order 8',
      Buffer.from('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05', 'hex'),
    ],
    ['the neutral element in another spelling', Buffer.from(`ee${'ff'.repeat(30)}7f`, 'hex')],
    ['too short', Buffer.alloc(31, 1)],
  ])('is a point of Ed25519 %s: proof_key', async (_, point) => {
    const jwk = { ...makerOf('Ed25519').jwk, x: encode(point) }
    expect(await verdictOnDraft(withKey(jwk), {}, {}, makerOf('Ed25519'))).toBe('proof_key')
  })

  test.each<[string, object]>([
    ['of P-521', { kty: 'EC', crv: 'P-521', x: long(66), y: long(66) }],
    ['of P-384', { kty: 'EC', crv: 'P-384', x: long(48), y: long(48) }],
    ['of RSA', { kty: 'RSA', e: 'AQAB', n: long(256) }],
    ['of ML-DSA', { kty: 'AKP', alg: 'ML-DSA-87', pub: long(2592) }],
    ['for another spelling of the algorithm', { ...client.jwk, alg: 'es-256' }],
    ['of P-256 for another algorithm', { kty: 'EC', crv: 'P-256', alg: 'ES384', x: y, y: x }],
  ])('is one %s, and the proof says ES256: it is not even imported', async (_, jwk) => {
    const proof = client.proof(withKey(jwk))
    await expect(guarding().check(requestWith(proof))).rejects.toMatchObject({
      reason: 'proof_key',
      detail: "the DPoP proof's jwk cannot be used: it is not for the alg of the proof, ES256",
    })
  })

  test.each<['EdDSA' | 'RS256', object]>([
    ['EdDSA', { kty: 'OKP', crv: 'X25519', x: long(32) }],
    ['RS256', { kty: 'oct', e: 'AQAB', n: long(256) }],
    ['RS256', makerOf('ES256').jwk],
  ])('is not for %s, as the proof says: it is not even imported', async (alg, jwk) => {
    const proof = client.proof({ header: { alg, jwk } })
    await expect(guarding({ algorithms: [alg] }).check(requestWith(proof))).rejects.toMatchObject({
      reason: 'proof_key',
      detail: expect.stringContaining(`it is not for the alg of the proof, ${alg}`) as unknown,
    })
  })

  test.each([
    [undefined, 'it is missing'],
    [null, 'it is no JSON object'],
  ])('that is %j: the refusal says so', async (jwk, why) => {
    await expect(
      guarding().check(requestWith(client.proof({ header: { jwk } }))),
    ).rejects.toMatchObject({
      reason: 'proof_key',
      detail: expect.stringContaining(why) as unknown,
    })
  })

  test.each([
    ['EdDSA', 'Ed25519'],
    ['Ed25519', 'EdDSA'],
  ])('says %s, as WebCrypto may write it, and the proof says %s: accepted', async (said, alg) => {
    const jwk = { ...makerOf(alg).jwk, alg: said }
    expect(await verdictOnDraft(withKey(jwk), {}, {}, makerOf(alg))).toBe('accepted')
  })

  test('says Ed25519, and so does the proof, which is not in the list: proof_algorithm', async () => {
    const maker = makerOf('Ed25519')
    const proof = withKey({ ...maker.jwk, alg: 'Ed25519' })
    expect(await verdictOnDraft(proof, { algorithms: ['EdDSA'] }, {}, maker)).toBe(
      'proof_algorithm',
    )
  })

  test('says ES256, and the proof says Ed25519: proof_key', async () => {
    const jwk = { ...makerOf('Ed25519').jwk, alg: 'ES256' }
    expect(await verdictOnDraft(withKey(jwk), {}, {}, makerOf('Ed25519'))).toBe('proof_key')
  })
})

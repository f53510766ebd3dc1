import { constants, generateKeyPairSync, type JsonWebKey, type KeyObject, sign } from 'node:crypto'
import { setImmediate as nextIteration } from 'node:timers/promises'

import { CompactSign } from 'jose'
import { afterEach, describe, expect, test } from 'vitest'

import { type Algorithm, ALGORITHMS, costOfCheck } from '../../src/algorithms/algorithms.ts'
import { jwkInput } from '../../src/keys/jwk-input.ts'
import { readKeyDocument } from '../../src/keys/key-document.ts'
import type { PublicJwk } from '../../src/keys/key-material.ts'
import type { VerificationKey } from '../../src/keys/key-source.ts'
import { createSignatureCheck, isSignedBy, type SignatureCheck } from '../../src/token/signature.ts'
import { type ParsedToken, parseToken } from '../../src/token/token.ts'
import { mlDsaPair } from '../keys/ml-dsa-pair.ts'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' })
const p521 = generateKeyPairSync('ec', { namedCurve: 'P-521' })
const ed25519 = generateKeyPairSync('ed25519')

const pairs: Readonly<Record<Algorithm, { publicKey: KeyObject; privateKey: KeyObject }>> = {
  RS256: rsa,
  RS384: rsa,
  RS512: rsa,
  PS256: rsa,
  PS384: rsa,
  PS512: rsa,
  ES256: p256,
  ES384: p384,
  ES512: p521,
  EdDSA: ed25519,
  Ed25519: ed25519,
  'ML-DSA-44': mlDsaPair(44),
  'ML-DSA-65': mlDsaPair(65),
  'ML-DSA-87': mlDsaPair(87),
}
const algorithms = [...ALGORITHMS.keys()]

const RFC7515_PAYLOAD =
  'eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ'

/** Public keys, inputs and signatures as the RFCs print them. */
const vectors: readonly { name: string; alg: Algorithm; jwk: JsonWebKey; token: string }[] = [
  {
    name: 'RFC 7515 appendix A.2',
    alg: 'RS256',
    jwk: {
      kty: 'RSA',
      n:
        'ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZ' +
        'S-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2' +
        'R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcD' +
        'TW9gb54h4FRWyuXpoQ',
      e: 'AQAB',
    },
    token:
      `eyJhbGciOiJSUzI1NiJ9.${RFC7515_PAYLOAD}.` +
      'cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t' +
      '1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12j' +
      'zDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQ' +
      'Ge77Rw',
  },
  {
    name: 'RFC 7515 appendix A.3',
    alg: 'ES256',
    jwk: {
      kty: 'EC',
      crv: 'P-256',
      x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
      y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
    },
    token:
      `eyJhbGciOiJFUzI1NiJ9.${RFC7515_PAYLOAD}.` +
      'DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q',
  },
  {
    name: 'RFC 7515 appendix A.4',
    alg: 'ES512',
    jwk: {
      kty: 'EC',
      crv: 'P-521',
      x: 'AekpBQ8ST8a8VcfVOTNl353vSrDCLLJXmPk06wTjxrrjcBpXp5EOnYG_NjFZ6OvLFV1jSfS9tsz4qUxcWceqwQGk',
      y: 'ADSmRA43Z1DSNx_RvcLI87cdL07l6jQyyBXMoxVg_l2Th-x3S1WDhjDly79ajL4Kkd0AZMaZmh9ubmf63e3kyMj2',
    },
    token:
      'eyJhbGciOiJFUzUxMiJ9.UGF5bG9hZA.' +
      'AdwMgeerwtHoh-l192l60hp9wAHZFVJbLfD_UxMi70cwnZOYaRI1bKPWROc-mZZqwqT2SI-KGDKB34XO0aw_7XdtAG8GaSwFKdCAPZgoXD2YBJZC' +
      'PEX3xKpRwcdOO8KpEHwJjyqOgzDO7iKvU8vcnwNrmxYbSW9ERBXukOXolLzeO_Jn',
  },
  {
    name: 'RFC 8037 appendix A.4',
    alg: 'EdDSA',
    jwk: { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' },
    token:
      'eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.' +
      'hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg',
  },
]

function keyOf(jwk: JsonWebKey): VerificationKey {
  const [key] = readKeyDocument(jwk)?.keys ?? []
  if (key === undefined) throw new TypeError('the key of this test is not usable')
  return key
}

function publicKeyFor(algorithm: Algorithm): VerificationKey {
  return keyOf(pairs[algorithm].publicKey.export({ format: 'jwk' }))
}

async function signed(alg: Algorithm, privateKey = pairs[alg].privateKey): Promise<ParsedToken> {
  const payload = new TextEncoder().encode('{"sub":"ada"}')
  const token = await new CompactSign(payload).setProtectedHeader({ alg }).sign(privateKey)
  return parseToken(token, 65_536)
}

/** A token of which only the signature matters. */
function withSignature(signature: Buffer, signingInput = Buffer.from('e30.e30')): ParsedToken {
  return { header: {}, payload: Buffer.from('{}'), signingInput, signature }
}

/** As many as are checked in about a twentieth of a second. The step is odd, so that each bit of an octet has its turn. */
function* bitFlips(octets: Buffer, microseconds: number): Generator<Buffer> {
  const bits = octets.length * 8
  const step = Math.floor((bits * microseconds) / 50_000) | 1
  for (let bit = 0; bit < bits; bit += step) {
    const flipped = Buffer.from(octets)
    const at = Math.floor(bit / 8)
    flipped.writeUInt8(flipped.readUInt8(at) ^ (1 << (bit % 8)), at)
    yield flipped
  }
}

async function settled(answers: readonly (boolean | Promise<boolean>)[]): Promise<boolean[]> {
  return await Promise.all(answers.map(async (answer) => await answer))
}

function toInteger(octets: Buffer): bigint {
  return BigInt(`0x${octets.toString('hex')}`)
}

function toOctets(integer: bigint, length: number): Buffer {
  return Buffer.from(integer.toString(16).padStart(2 * length, '0'), 'hex')
}

function isEdwards(algorithm: Algorithm): boolean {
  return algorithm === 'EdDSA' || algorithm === 'Ed25519'
}

describe('known answers', () => {
  test.each(vectors)('$name, $alg', ({ alg, jwk, token }) => {
    const key = keyOf(jwk)
    const parsed = parseToken(token, 16_384)
    expect(isSignedBy(key, alg, parsed)).toBe(true)
    const otherInput = Buffer.from(parsed.signingInput)
    otherInput.writeUInt8(otherInput.readUInt8(0) ^ 1, 0)
    expect(isSignedBy(key, alg, { ...parsed, signingInput: otherInput })).toBe(false)
  })
})

/** Another public key of the same kind. */
function strangerTo(algorithm: Algorithm): KeyObject {
  const rule = ALGORITHMS.get(algorithm)
  switch (rule?.kty) {
    case 'RSA':
      return generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey
    case 'EC':
      return generateKeyPairSync('ec', { namedCurve: rule.crv }).publicKey
    case 'OKP':
      return generateKeyPairSync('ed25519').publicKey
    default:
      return mlDsaPair(algorithm === 'ML-DSA-44' ? 44 : algorithm === 'ML-DSA-65' ? 65 : 87)
        .publicKey
  }
}

describe('every algorithm of the table', () => {
  test.each(algorithms)('%s: what jose signs is proven', async (algorithm) => {
    expect(isSignedBy(publicKeyFor(algorithm), algorithm, await signed(algorithm))).toBe(true)
  })

  test.each(algorithms)('%s: the signature of another key is refused', async (algorithm) => {
    const parsed = await signed(algorithm)
    const key = keyOf(strangerTo(algorithm).export({ format: 'jwk' }))
    expect(isSignedBy(key, algorithm, parsed)).toBe(false)
  })

  test.each(algorithms)('%s: a signature of the wrong length is refused', async (algorithm) => {
    const key = publicKeyFor(algorithm)
    const parsed = await signed(algorithm)
    const { signature } = parsed
    for (const wrong of [
      Buffer.alloc(0),
      signature.subarray(1),
      signature.subarray(0, -1),
      Buffer.concat([signature, Buffer.alloc(1)]),
      Buffer.concat([Buffer.alloc(1), signature]),
      Buffer.concat([signature, signature]),
    ]) {
      expect(isSignedBy(key, algorithm, { ...parsed, signature: wrong })).toBe(false)
    }
  })

  test.each(algorithms)('%s: the length is compared before the signature is', async (algorithm) => {
    const parsed = await signed(algorithm)
    const key = publicKeyFor(algorithm)
    const ofLength = (signatureLength: number): VerificationKey => {
      const prepared = [...key.prepared].map(
        ([name, each]) => [name, { ...each, signatureLength }] as const,
      )
      return { ...key, prepared: new Map(prepared) }
    }
    const { length } = parsed.signature
    expect(isSignedBy(ofLength(length), algorithm, parsed)).toBe(true)
    expect(isSignedBy(ofLength(length - 1), algorithm, parsed)).toBe(false)
    expect(isSignedBy(ofLength(length + 1), algorithm, parsed)).toBe(false)
  })

  test.each(algorithms)('%s: any flipped bit of the signature is noticed', async (algorithm) => {
    const key = publicKeyFor(algorithm)
    const parsed = await signed(algorithm)
    const cost = costOfCheck(algorithm, parsed.signature.length)
    const accepted = [...bitFlips(parsed.signature, cost)].filter((signature) =>
      isSignedBy(key, algorithm, { ...parsed, signature }),
    )
    expect(accepted).toEqual([])
  })

  test.each(algorithms)('%s: any flipped bit of the input is noticed', async (algorithm) => {
    const key = publicKeyFor(algorithm)
    const parsed = await signed(algorithm)
    const cost = costOfCheck(algorithm, parsed.signature.length)
    const accepted = [...bitFlips(parsed.signingInput, cost)].filter((signingInput) =>
      isSignedBy(key, algorithm, { ...parsed, signingInput }),
    )
    expect(accepted).toEqual([])
  })

  test.each(algorithms)('%s: verifies the signatures of no other algorithm', async (algorithm) => {
    const key = publicKeyFor(algorithm)
    const others = algorithms.filter(
      (other) => other !== algorithm && !(isEdwards(other) && isEdwards(algorithm)),
    )
    expect(others.length).toBeGreaterThan(8)
    for (const other of others) {
      expect(isSignedBy(key, algorithm, await signed(other))).toBe(false)
    }
  })

  test.each(algorithms)(
    'a key that states %s verifies only that, by all its names',
    async (alg) => {
      const key = keyOf({ ...pairs[alg].publicKey.export({ format: 'jwk' }), alg })
      const verified: Algorithm[] = []
      for (const algorithm of algorithms) {
        if (isSignedBy(key, algorithm, await signed(algorithm))) verified.push(algorithm)
      }
      expect(verified).toEqual(isEdwards(alg) ? ['EdDSA', 'Ed25519'] : [alg])
    },
  )
})

function publicJwk(algorithm: Algorithm): JsonWebKey {
  return pairs[algorithm].publicKey.export({ format: 'jwk' })
}

/** A key as it is prepared where `verify` takes no key object beside options. */
function withJwk(jwk: JsonWebKey): VerificationKey {
  const key = keyOf(jwk)
  const prepared = [...key.prepared].map(([name, { hash, input, signatureLength }]) => {
    const substitute = jwkInput(input, jwk as PublicJwk, false)
    // Nobody may look at the key object.
    const nothing = { key: null as never }
    return [name, { hash, input: nothing, jwkInput: substitute, signatureLength }] as const
  })
  return { ...key, prepared: new Map(prepared) }
}

describe('a platform whose verify takes no key object beside options: the JWK instead', () => {
  test('this one takes key objects', () => {
    const { prepared } = publicKeyFor('RS512')
    expect([...prepared.values()].map((each) => each.jwkInput)).toEqual(
      Array.from({ length: prepared.size }),
    )
  })

  test.each(algorithms)('%s: what jose signs is proven, and nothing else', async (algorithm) => {
    const key = withJwk(publicJwk(algorithm))
    const parsed = await signed(algorithm)
    expect(isSignedBy(key, algorithm, parsed)).toBe(true)
    const signature = Buffer.from(parsed.signature)
    signature.writeUInt8(signature.readUInt8(9) ^ 1, 9)
    expect(isSignedBy(key, algorithm, { ...parsed, signature })).toBe(false)
  })

  test('PSS and PKCS #1 v1.5 are told apart', async () => {
    const key = withJwk(publicJwk('PS256'))
    expect(isSignedBy(key, 'PS256', await signed('RS256'))).toBe(false)
    expect(isSignedBy(key, 'RS256', await signed('PS256'))).toBe(false)
  })

  test('many at once are all answered here and now: it has no thread pool', async () => {
    const check = createSignatureCheck()
    const key = withJwk(publicJwk('RS512'))
    const parsed = await signed('RS512')
    const answers = Array.from({ length: 20 }, () => check(key, 'RS512', parsed))
    expect(new Set(answers)).toEqual(new Set([true]))
  })
})

describe('ECDSA', () => {
  const curves = [...ALGORITHMS].flatMap(([alg, rule]) =>
    rule.kty === 'EC' ? [{ alg, hash: rule.hash, octets: rule.coordinateLength }] : [],
  )
  /** The order of P-256: FIPS 186-4 appendix D.1.2.3. */
  const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

  test.each(curves)('$alg: the DER form is refused', ({ alg, hash }) => {
    const input = Buffer.from('e30.e30')
    const key = publicKeyFor(alg)
    const { privateKey } = pairs[alg]
    const der = sign(hash, input, { key: privateKey, dsaEncoding: 'der' })
    const plain = sign(hash, input, { key: privateKey, dsaEncoding: 'ieee-p1363' })
    expect(isSignedBy(key, alg, withSignature(plain, input))).toBe(true)
    expect(isSignedBy(key, alg, withSignature(der, input))).toBe(false)
  })

  test.each(curves)('$alg: r = s = 0 is refused', ({ alg, octets }) => {
    const key = publicKeyFor(alg)
    expect(isSignedBy(key, alg, withSignature(Buffer.alloc(2 * octets)))).toBe(false)
  })

  test.each([
    { name: 'r = 0', r: () => 0n, s: (s: bigint) => s },
    { name: 's = 0', r: (r: bigint) => r, s: () => 0n },
    { name: 'r = s = 1', r: () => 1n, s: () => 1n },
    { name: 'r = s = the order', r: () => order, s: () => order },
    { name: 'r = the order', r: () => order, s: (s: bigint) => s },
    { name: 's = the order', r: (r: bigint) => r, s: () => order },
    { name: 'r and s exchanged', r: (_: bigint, s: bigint) => s, s: (_: bigint, r: bigint) => r },
    { name: 'r and s as large as they can be', r: () => 2n ** 256n - 1n, s: () => 2n ** 256n - 1n },
  ])('$name is refused', async ({ r, s }) => {
    const key = publicKeyFor('ES256')
    const parsed = await signed('ES256')
    const [oldR, oldS] = [
      toInteger(parsed.signature.subarray(0, 32)),
      toInteger(parsed.signature.subarray(32)),
    ]
    const signature = Buffer.concat([toOctets(r(oldR, oldS), 32), toOctets(s(oldS, oldR), 32)])
    expect(isSignedBy(key, 'ES256', parsed)).toBe(true)
    expect(isSignedBy(key, 'ES256', { ...parsed, signature })).toBe(false)
  })
})

describe('RSA', () => {
  const rows = [
    { alg: 'PS256' as const, hash: 'sha256', saltLength: 32 },
    { alg: 'PS384' as const, hash: 'sha384', saltLength: 48 },
    { alg: 'PS512' as const, hash: 'sha512', saltLength: 64 },
  ]

  test.each(rows)('$alg: a salt of any other length is refused', (row) => {
    const { alg, hash, saltLength } = row
    const input = Buffer.from('e30.e30')
    const key = publicKeyFor(alg)
    const isProvenWith = (length: number) => {
      const padding = constants.RSA_PKCS1_PSS_PADDING
      const signature = sign(hash, input, { key: rsa.privateKey, padding, saltLength: length })
      return isSignedBy(key, alg, withSignature(signature, input))
    }
    expect(isProvenWith(saltLength)).toBe(true)
    for (const length of [0, 20, saltLength - 1, saltLength + 1, 100]) {
      expect(isProvenWith(length)).toBe(false)
    }
  })

  test.each(['RS512', 'PS512'] as const)('%s: s plus the modulus is refused', (alg) => {
    const key = publicKeyFor(alg)
    const { n = '' } = rsa.publicKey.export({ format: 'jwk' })
    const modulus = toInteger(Buffer.from(n, 'base64url'))
    const padding = alg === 'RS512' ? constants.RSA_PKCS1_PADDING : constants.RSA_PKCS1_PSS_PADDING
    // The sum must have as many octets as the modulus, so that its length gives nothing away.
    for (let message = 0; ; message++) {
      const input = Buffer.from(`e30.${message}`)
      const signature = sign('sha512', input, { key: rsa.privateKey, padding, saltLength: 64 })
      const sum = toInteger(signature) + modulus
      if (sum >= 2n ** 2048n) continue
      expect(isSignedBy(key, alg, withSignature(signature, input))).toBe(true)
      expect(isSignedBy(key, alg, withSignature(toOctets(sum, 256), input))).toBe(false)
      break
    }
  })

  test.each([
    { name: '0', s: () => 0n },
    { name: '1', s: () => 1n },
    { name: 'the modulus', s: (n: bigint) => n },
    { name: 'the modulus less 1', s: (n: bigint) => n - 1n },
    { name: 'as large as it can be', s: () => 2n ** 2048n - 1n },
  ])('s = $name is refused', ({ s }) => {
    const { n = '' } = rsa.publicKey.export({ format: 'jwk' })
    const signature = toOctets(s(toInteger(Buffer.from(n, 'base64url'))), 256)
    for (const alg of ['RS512', 'PS512'] as const) {
      expect(isSignedBy(publicKeyFor(alg), alg, withSignature(signature))).toBe(false)
    }
  })

  test('a leading zero octet of the signature must be spelt out', () => {
    const key = publicKeyFor('RS512')
    for (let message = 0; ; message++) {
      const input = Buffer.from(`e30.${message}`)
      const signature = sign('sha512', input, rsa.privateKey)
      if (signature[0] !== 0) continue
      expect(isSignedBy(key, 'RS512', withSignature(signature, input))).toBe(true)
      expect(isSignedBy(key, 'RS512', withSignature(signature.subarray(1), input))).toBe(false)
      break
    }
  })

  test.each([2049, 3072])('a modulus of %i bits works', async (modulusLength) => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength })
    const key = keyOf(publicKey.export({ format: 'jwk' }))
    expect(isSignedBy(key, 'RS512', await signed('RS512', privateKey))).toBe(true)
    expect(isSignedBy(key, 'RS512', await signed('RS512'))).toBe(false)
  })
})

describe('Ed25519', () => {
  /** RFC 8032 section 5.1. */
  const order = 2n ** 252n + 27742317777372353535851937790883648493n

  test('S plus the order of the group is refused', async () => {
    const key = publicKeyFor('Ed25519')
    const parsed = await signed('Ed25519')
    const s = toInteger(Buffer.from(parsed.signature.subarray(32).toReversed()))
    const signature = Buffer.concat([
      parsed.signature.subarray(0, 32),
      toOctets(s + order, 32).toReversed(),
    ])
    expect(isSignedBy(key, 'Ed25519', parsed)).toBe(true)
    expect(isSignedBy(key, 'Ed25519', { ...parsed, signature })).toBe(false)
  })

  test('a signature of zeros is refused', () => {
    const key = publicKeyFor('EdDSA')
    expect(isSignedBy(key, 'EdDSA', withSignature(Buffer.alloc(64)))).toBe(false)
  })

  test('EdDSA and Ed25519 are two names of one signature', async () => {
    const key = publicKeyFor('EdDSA')
    const parsed = await signed('EdDSA')
    expect(isSignedBy(key, 'EdDSA', parsed)).toBe(true)
    expect(isSignedBy(key, 'Ed25519', parsed)).toBe(true)
  })
})

test('a private key published by mistake verifies like its public half', async () => {
  const key = keyOf(rsa.privateKey.export({ format: 'jwk' }))
  expect(isSignedBy(key, 'RS512', await signed('RS512'))).toBe(true)
})

describe('checks that come at once', () => {
  afterEach(async () => {
    await nextIteration()
  })

  const CHECKS_AT_ONCE = 4

  /** A check whose next answers come from the thread pool, until somebody awaits. */
  function busyCheck(parsed: ParsedToken): SignatureCheck {
    const check = createSignatureCheck()
    for (let checks = 0; checks < CHECKS_AT_ONCE; checks++) {
      void check(publicKeyFor('RS512'), 'RS512', parsed)
    }
    return check
  }

  test('a few are answered here and now, more of them by a promise', async () => {
    const check = createSignatureCheck()
    const key = publicKeyFor('RS512')
    const parsed = await signed('RS512')
    const answers = Array.from({ length: 6 }, () => check(key, 'RS512', parsed))
    const byPromise = expect.any(Promise) as unknown
    expect(answers).toEqual([true, true, true, true, byPromise, byPromise])
    expect(await settled(answers.slice(4))).toEqual([true, true])
  })

  /** How many of two are answered here and now. With RSA that depends on the key. */
  const quick: Readonly<Record<Exclude<Algorithm, `${'R' | 'P'}S${string}`>, 0 | 1>> = {
    ES256: 1,
    ES384: 0,
    ES512: 0,
    EdDSA: 1,
    Ed25519: 1,
    'ML-DSA-44': 0,
    'ML-DSA-65': 0,
    'ML-DSA-87': 0,
  }

  test.each(Object.entries(quick) as [Algorithm, number][])(
    'of %s, %i of two: the others would hold up the event loop',
    async (algorithm, count) => {
      const check = createSignatureCheck()
      const parsed = await signed(algorithm)
      const answers = [1, 2].map(() => check(publicKeyFor(algorithm), algorithm, parsed))
      expect(answers.filter((answer) => answer === true)).toHaveLength(count)
      expect(await settled(answers)).toEqual([true, true])
    },
  )

  test('later ones are again answered here and now', async () => {
    const parsed = await signed('RS512')
    const check = busyCheck(parsed)
    await Promise.resolve()
    expect(check(publicKeyFor('RS512'), 'RS512', parsed)).toBe(true)
  })

  test.each([
    ['RS512', 250],
    ['ES256', 90],
    ['Ed25519', 62],
  ] as const)(
    'of %s, %i that are awaited one by one: then the event loop has to iterate',
    async (algorithm, count) => {
      const key = publicKeyFor(algorithm)
      const parsed = await signed(algorithm)
      const check = createSignatureCheck()
      await nextIteration()
      for (let round = 0; round < 2; round++) {
        const answers: unknown[] = []
        while (answers.at(-1) !== 'later' && answers.length < 1000) {
          const answer = check(key, algorithm, parsed)
          answers.push(answer === true ? 'now' : 'later')
          await (answer === true ? Promise.resolve() : nextIteration())
        }
        expect(answers).toHaveLength(count + 1)
      }
    },
  )

  test('what is left to the thread pool is not counted', async () => {
    const check = busyCheck(await signed('RS512'))
    const key = publicKeyFor('RS512')
    const parsed = await signed('RS512')
    await nextIteration()
    for (let checks = 0; checks < 2 * CHECKS_AT_ONCE; checks++) {
      void check(key, 'RS512', parsed)
    }
    await nextIteration()
    expect(check(key, 'RS512', parsed)).toBe(true)
  })

  test('each check counts its own', async () => {
    const parsed = await signed('RS512')
    busyCheck(parsed)
    expect(createSignatureCheck()(publicKeyFor('RS512'), 'RS512', parsed)).toBe(true)
  })

  test.each(algorithms)('%s: the thread pool refuses what is refused here', async (algorithm) => {
    const key = publicKeyFor(algorithm)
    const parsed = await signed(algorithm)
    const last = parsed.signature.length - 1
    const forged = Buffer.from(parsed.signature)
    forged.writeUInt8(forged.readUInt8(last) ^ 1, last)
    const check = busyCheck(await signed('RS512'))
    const answers = [
      check(key, algorithm, parsed),
      check(key, algorithm, { ...parsed, signature: forged }),
    ]
    expect(answers).toEqual([expect.any(Promise), expect.any(Promise)])
    expect(await settled(answers)).toEqual([true, false])
    // What needs no arithmetic needs no thread.
    const other = publicKeyFor(algorithm === 'ES256' ? 'RS512' : 'ES256')
    expect(check(other, algorithm, parsed)).toBe(false)
    const short = { ...parsed, signature: parsed.signature.subarray(1) }
    expect(check(key, algorithm, short)).toBe(false)
  })

  test('what the platform cannot do is a fault there as well', async () => {
    const parsed = await signed('Ed25519')
    const key = publicKeyFor('Ed25519')
    const prepared = key.prepared.get('Ed25519')
    if (prepared === undefined) throw new TypeError('the key of this test is not usable')
    const unfit = {
      ...key,
      prepared: new Map([['Ed25519' as const, { ...prepared, hash: 'sha512' }]]),
    }
    expect(() => isSignedBy(unfit, 'Ed25519', parsed)).toThrow(Error)
    const check = busyCheck(await signed('RS512'))
    await expect(check(unfit, 'Ed25519', parsed)).rejects.toThrow(Error)
  })
})

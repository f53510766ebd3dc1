import { createHash, createPublicKey, type JsonWebKey, verify } from 'node:crypto'

import { describe, expect, test } from 'vitest'

import { createDpopKey, DPOP_ALGORITHMS } from '../../src/dpop/dpop-key.ts'

function read(part = ''): Record<string, unknown> {
  return JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>
}

describe.each(DPOP_ALGORITHMS)('a key for %s', async (algorithm) => {
  const key = await createDpopKey(algorithm)
  const proof = await key.sign({ jti: 'one' })
  const [header = '', payload = '', signature = ''] = proof.split('.')
  const { jwk, ...rest } = read(header)

  test('signs a proof that its own public key verifies', () => {
    expect(rest).toEqual({ typ: 'dpop+jwt', alg: algorithm })
    expect(read(payload)).toEqual({ jti: 'one' })
    const publicKey = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' })
    const hash = { ES384: 'sha384', Ed25519: null }[algorithm as string]
    const isPss = algorithm === 'PS256'
    expect(
      verify(
        hash === undefined ? 'sha256' : hash,
        Buffer.from(`${header}.${payload}`),
        {
          key: publicKey,
          dsaEncoding: 'ieee-p1363',
          ...(isPss ? { padding: 6, saltLength: 32 } : {}),
        },
        Buffer.from(signature, 'base64url'),
      ),
    ).toBe(true)
  })

  test('shows its public members alone, in the order of the thumbprint', () => {
    const names = Object.keys(jwk as object)
    expect(names).toEqual(names.toSorted())
    expect(names).not.toContain('d')
    const digest = createHash('sha256').update(JSON.stringify(jwk)).digest('base64url')
    expect(key.jkt).toBe(digest)
  })

  test('is another one each time', async () => {
    expect((await createDpopKey(algorithm)).jkt).not.toBe(key.jkt)
  })
})

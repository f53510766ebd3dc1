import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

import { calculateJwkThumbprint, decodeProtectedHeader, EmbeddedJWK, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'

import { manualClock } from '../../src/clock.ts'
import { dpopClient } from '../../src/dpop/dpop-client.ts'

const clock = manualClock()
const REQUEST_URL = 'https://api.test/v1/a?b=c#d'

async function claimsOf(proof: string) {
  const { payload } = await jwtVerify(proof, EmbeddedJWK, {
    typ: 'dpop+jwt',
    currentDate: new Date(clock.now() * 1000),
  })
  return payload
}

describe('a proof', () => {
  test('is of its request, its token and this moment', async () => {
    const client = await dpopClient({ clock })
    const proof = await client.proof({ method: 'POST', url: REQUEST_URL, token: 't', nonce: 'n' })
    expect(await claimsOf(proof)).toEqual({
      jti: expect.any(String) as unknown,
      htm: 'POST',
      htu: 'https://api.test/v1/a',
      iat: Math.floor(clock.now()),
      ath: createHash('sha256').update('t').digest('base64url'),
      nonce: 'n',
    })
  })

  test('is for GET, for no token and without a nonce, if none is stated', async () => {
    const client = await dpopClient({ clock })
    const claims = await claimsOf(await client.proof({ url: new URL(REQUEST_URL) }))
    expect(Object.keys(claims).toSorted()).toEqual(['htm', 'htu', 'iat', 'jti'])
    expect(claims['htm']).toBe('GET')
  })

  test('is another one each time', async () => {
    const client = await dpopClient({ clock })
    const [one, two] = [
      await client.proof({ url: REQUEST_URL }),
      await client.proof({ url: REQUEST_URL }),
    ]
    expect((await claimsOf(one)).jti).not.toBe((await claimsOf(two)).jti)
  })

  test('is changed by what is stated', async () => {
    const client = await dpopClient({ clock })
    const proof = await client.proof({
      url: REQUEST_URL,
      claims: { htu: 'odd' },
      header: { cty: 'odd' },
      omit: ['jti'],
    })
    expect(await claimsOf(proof)).toMatchObject({ htu: 'odd' })
    expect(await claimsOf(proof)).not.toHaveProperty('jti')
    expect(decodeProtectedHeader(proof)).toMatchObject({ cty: 'odd', typ: 'dpop+jwt' })
  })
})

test.each(['ES256', 'Ed25519', 'EdDSA', 'PS256', 'RS256'] as const)(
  'a client with a key for %s: the proof has the public key alone, whose thumbprint is jkt',
  async (algorithm) => {
    const client = await dpopClient({ clock, algorithm })
    const proof = await client.proof({ url: REQUEST_URL })
    const { alg, jwk = {} } = decodeProtectedHeader(proof)
    expect(alg).toBe(algorithm)
    expect(jwk).toEqual(client.publicJwk)
    for (const name of ['d', 'p', 'kid', 'alg', 'use']) expect(jwk).not.toHaveProperty(name)
    expect(client.jkt).toBe(await calculateJwkThumbprint(jwk))
    await expect(claimsOf(proof)).resolves.toMatchObject({ htm: 'GET' })
  },
)

test('headers are the token under DPoP, and a proof for it', async () => {
  const client = await dpopClient({ clock })
  const { authorization, dpop } = await client.headers({ url: REQUEST_URL, token: 'a.b.c' })
  expect(authorization).toBe('DPoP a.b.c')
  expect((await claimsOf(dpop))['ath']).toBe(
    createHash('sha256').update('a.b.c').digest('base64url'),
  )
})

test.each<[complaint: string, act: () => Promise<unknown>]>([
  [
    'dpopClient: unknown option "alg", known are clock, algorithm',
    async () => await dpopClient({ alg: 1 } as object),
  ],
  [
    'dpopClient: algorithm must be one of',
    async () => await dpopClient({ algorithm: 'HS256' } as object),
  ],
  [
    'proof: url must be an absolute URL',
    async () => await (await dpopClient()).proof({ url: '/a' }),
  ],
  [
    'proof: url must be an absolute URL',
    async () => await (await dpopClient()).proof({} as { url: string }),
  ],
  [
    'proof: unknown option "uri", known are method, url, token, nonce',
    async () => await (await dpopClient()).proof({ url: REQUEST_URL, uri: '' } as { url: string }),
  ],
  [
    'headers: token must be a string',
    async () =>
      await (await dpopClient()).headers({ url: REQUEST_URL } as { url: string; token: string }),
  ],
  [
    'badProofs: token must be a string',
    async () =>
      await (await dpopClient()).badProofs({ url: REQUEST_URL } as { url: string; token: string }),
  ],
])('a wrong option: %s', async (complaint, act) => {
  await expect(act()).rejects.toThrow(new TypeError(complaint).message)
  await expect(act()).rejects.toThrow(TypeError)
})

test('its headers have the types of supertest, inject and fetch', async () => {
  const client = await dpopClient({ clock })
  const headers: IncomingHttpHeaders = await client.headers({ url: REQUEST_URL, token: 't' })
  const bad = await client.badProofs({ url: REQUEST_URL, token: 't' })
  const all: IncomingHttpHeaders[] = [headers, ...bad.map((each) => each.headers)]
  expect(all.every(({ authorization }) => authorization === 'DPoP t')).toBe(true)
})

import { generateKeyPairSync } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import { createWaitingRoom } from '@portcullis/kit/waiting'
import { createTestIssuer, manualClock, tokenService } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { type Algorithm, createVerifier, localKeys, remoteKeys } from '../../src/index.ts'
import { readJwk } from '../../src/keys/jwk.ts'
import { WITHOUT_KEYS } from '../../src/keys/key-cache.ts'
import { AuthError } from '../../src/refusal/errors.ts'
import { unproven } from '../../src/verifier/key-search.ts'

const [one, two, elliptic] = await Promise.all([
  createTestIssuer(),
  createTestIssuer(),
  createTestIssuer({ algorithm: 'ES256' }),
])
const { kid } = one.publicJwk
const [, payload = '', signature = ''] = (await one.token()).split('.')

function withHeader(header: object): string {
  return `${Buffer.from(JSON.stringify({ alg: 'RS512', ...header })).toString('base64url')}.${payload}.${signature}`
}

async function refusalOf(act: () => Promise<unknown>): Promise<AuthError> {
  try {
    await act()
  } catch (error) {
    if (error instanceof AuthError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

function verifierOf(document: { keys: readonly object[] } | object) {
  const keys = localKeys(document as Parameters<typeof localKeys>[0])
  return createVerifier({ keys, issuer: null, audience: null, algorithms: ['RS512', 'PS512'] })
}

describe('no key that fits', () => {
  test.each([
    ['another kid', { kid: '7' }, { keys: [one.publicJwk] }, 'kid "7" is not that of the only key'],
    [
      'a key for another algorithm',
      { kid },
      { keys: [{ ...one.publicJwk, alg: 'PS512' }] },
      `the key with kid "${kid}" is for PS512; the header's alg means RS512`,
    ],
    [
      'a key that cannot be used',
      { kid: 'enc' },
      { keys: [one.publicJwk, { ...two.publicJwk, kid: 'enc', use: 'enc' }] },
      'the key with kid "enc" cannot be used: use (enc) is not sig',
    ],
    [
      'no key for the algorithm',
      { kid: '7' },
      { keys: [elliptic.publicJwk] },
      'the only key is not for RS512',
    ],
    [
      'no key of several for the algorithm',
      { kid: '7' },
      { keys: [elliptic.publicJwk, { ...elliptic.publicJwk, kid: 'x' }] },
      'none of the 2 keys is for RS512',
    ],
    ['no kid either', {}, { keys: [elliptic.publicJwk] }, 'the only key is not for RS512'],
    [
      'a hostile kid',
      { kid: 'a"\u202E\n' },
      { keys: [one.publicJwk] },
      String.raw`kid "a\"\u202e\u000a" is`,
    ],
  ])('%s', async (_, header, document, sentence) => {
    const error = await refusalOf(async () => await verifierOf(document).verify(withHeader(header)))
    expect(error.reason).toBe('unknown_key')
    expect(error.detail).toContain(sentence)
  })
})

describe('a refusal that somebody keeps', () => {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'silent' }

  /** In a function of its own, so that nothing but the refusal can hold the keys. */
  function refusedWith(name: string | undefined, algorithm: Algorithm, tried = 0) {
    const key = readJwk(jwk)
    if (typeof key === 'string') throw new Error(key)
    const ring = { keys: [key], bare: false }
    const doubt = { accepted: undefined, tried, why: undefined, arrived: { wall: 0, monotonic: 0 } }
    return { error: unproven({ ...doubt, ring, kid: name, algorithm }), key: new WeakRef(key) }
  }

  test.each<[title: string, kid: string | undefined, Algorithm, tried: number]>([
    ['no key is for the algorithm', 'x', 'ES256', 0],
    ['the key with its kid is for another one', 'silent', 'RS256', 0],
    ['no key has its kid', 'x', 'RS512', 0],
    ['no key made the signature', undefined, 'RS512', 1],
  ])('%s: it keeps no key', async (_title, name, algorithm, tried) => {
    const { error, key } = refusedWith(name, algorithm, tried)
    // A WeakRef holds its target until the turn of the event loop ends.
    await new Promise(setImmediate)
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void // what the flag exposes
    collect()
    expect(key.deref()).toBeUndefined()
    expect(error.detail).not.toBe('')
  })
})

describe('why no newer key was asked for', () => {
  test('it was, and brought none', async () => {
    const { detailOf, forged } = await world()
    expect(await detailOf(await forged())).toMatch(
      /: tried the only key, fetched since the token came; newer keys were fetched/,
    )
  })

  test('the token has asked already', async () => {
    const { detailOf, forged } = await world()
    const token = await forged()
    await detailOf(token)
    expect(await detailOf(token)).toContain('because this token has asked for them lately')
  })

  test('the token would be refused with any key', async () => {
    const { detailOf, forged } = await world()
    const detail = await detailOf(await forged({ exp: 1, sub: 'canary' }))
    expect(detail).toContain('newer keys were not asked for, because the token would')
    expect(detail).not.toContain('canary')
  })

  test('too many have asked', async () => {
    const { detailOf, forged } = await world()
    for (let count = 0; count < 4; count++) await detailOf(await forged())
    expect(await detailOf(await forged())).toContain('unproven tokens have asked too often lately')
  })

  test('a key that left made the signature', async () => {
    const { clock, issuer, keys, detailOf } = await world()
    const old = await issuer.token()
    await issuer.rotate()
    await keys.refresh()
    await clock.advance(2)
    expect(await detailOf(old)).toContain(
      'a key that has left the document made the signature: most likely the token is older',
    )
  })
})

describe('the keys that it speaks of are those in use when the token was refused', () => {
  // The tokens of this file are of the system's time.
  const clock = manualClock(Date.now() / 1000)
  const a = { ...one.publicJwk, kid: 'a' }
  const b = { ...two.publicJwk, kid: 'b' }
  const c = { ...a, kid: 'c' }
  const d = { ...b, kid: 'd' }
  const nameless = { ...b, kid: undefined }

  async function refusalAfter(header: object, before: readonly object[], after: readonly object[]) {
    let document = before
    const keys = remoteKeys('https://auth.test/keys', {
      clock,
      fetch: async () => Response.json({ keys: document }),
    })
    const verifier = createVerifier({ keys, issuer: null, audience: null, clock })
    await verifier.ready()
    await clock.advance(12)
    document = after
    return await refusalOf(async () => await verifier.verify(withHeader(header)))
  }

  test('a kid that was published meanwhile', async () => {
    const { reason, detail } = await refusalAfter({ kid: 'b' }, [a], [a, b])
    expect(reason).toBe('signature')
    expect(detail).toMatch(
      /^no key made the signature of the token with kid "b": tried 1 of the 2 keys, fetched since the token came; /,
    )
  })

  test('fewer than were tried before', async () => {
    const { reason, detail } = await refusalAfter({}, [a, b, c], [a, b])
    expect(reason).toBe('signature')
    expect(detail).toContain(': tried 2 of the 2 keys, fetched since')
  })

  test('a kid that has left meanwhile', async () => {
    const { reason, detail } = await refusalAfter({ kid: 'a' }, [a, nameless], [c, d])
    expect(reason).toBe('unknown_key')
    expect(detail).toMatch(/^kid "a" is not among the 2 keys, fetched since the token came; /)
  })
})

describe('no keys at all', () => {
  test.each([
    ['ENOTFOUND', /^the connection to the key URL failed \(ENOTFOUND\) \(https:\/\/auth\.test\)$/],
    ['ECONNREFUSED', /^the connection to the key URL failed \(ECONNREFUSED\) /],
  ])('for %s', async (code, sentence) => {
    const clock = manualClock()
    const keys = remoteKeys('https://auth.test/canary?canary', {
      clock,
      fetch: async () => await Promise.reject(Object.assign(new Error('canary'), { code })),
    })
    const verifier = createVerifier({ keys, issuer: null, audience: null })
    const error = await refusalOf(async () => await verifier.verify(await one.token()))
    expect(error.detail).toMatch(sentence)
    expect(error.numbers).toEqual({ nextAttemptIn: expect.any(Number) as number })
    expect(error.detail).not.toContain('canary')
  })

  test('because the room is full, or the wait took too long', async () => {
    const clock = manualClock()
    const room = createWaitingRoom(clock, 5, WITHOUT_KEYS)
    const caller = { arrived: undefined, signal: undefined }
    const full = refusalOf(async () => await room.wait({ ...caller, tokenSize: 1e9 }, never))
    expect((await full).detail).toContain('too many tokens wait for keys')
    const late = refusalOf(async () => await room.wait({ ...caller, tokenSize: 1 }, never))
    await clock.advance(5)
    expect((await late).detail).toBe('no keys came while the token waited for them for 5 s')
  })
})

async function world() {
  const clock = manualClock()
  const issuer = await createTestIssuer({ clock })
  const service = tokenService(issuer)
  const keys = remoteKeys(service.keyUrl, { fetch: service.fetch, clock })
  const verifier = createVerifier({ keys, issuer: null, audience: null, clock })
  await keys.refresh()
  await clock.advance(12)
  const detailOf = async (token: string) => {
    const refusal = refusalOf(async () => await verifier.verify(token))
    await clock.advance(2)
    const { detail } = await refusal
    return detail
  }
  const forged = async (claims: object = {}) => {
    const token = await issuer.token({ claims: { ...claims, jti: Math.random() } })
    return `${token.slice(0, -8)}AAAAAAAA`
  }
  return { clock, issuer, keys, verifier, detailOf, forged }
}

async function never(): Promise<never> {
  return await new Promise(() => {})
}

import { manualClock } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import type { Algorithm } from '../../src/algorithms/algorithms.ts'
import {
  type AuthError,
  byIssuer,
  createVerifier,
  discoverKeys,
  type KeySource,
  type KeysSnapshot,
  localKeys,
  remoteKeys,
  type Verifier,
  type VerifierOptions,
} from '../../src/index.ts'
import { emptyThreadPool } from '../token/thread-pool.ts'
import { ALGORITHM_NAMES, ENTRIES, signedWith, silentKey } from './stated-keys.ts'
import { world } from './world.ts'

// Which algorithm a key is for, where the verifier lists none: what could be used to have a token accepted with an algorithm
// that nobody chose for its key.

const ISSUER = 'https://auth.test'
const URL = `${ISSUER}/keys`

const clock = manualClock()

/** While the verdict is awaited, the pauses of the key caches pass. */
async function verdictOf(verifier: Verifier<unknown>, token: string): Promise<string> {
  let verdict: string | undefined
  void verifier.verify(token).then(
    () => {
      verdict = 'accepted'
    },
    (error: unknown) => {
      verdict = (error as AuthError).reason
    },
  )
  for (;;) {
    await emptyThreadPool()
    if (verdict !== undefined) return verdict
    await clock.advance(1)
  }
}

function verifierOf(keys: KeySource, options: Partial<VerifierOptions> = {}): Verifier {
  return createVerifier({ keys, issuer: null, audience: null, clock, ...options })
}

async function answer(url: string, document: object): Promise<Response> {
  const metadata = { issuer: ISSUER, jwks_uri: URL }
  return Response.json(url.includes('.well-known') ? metadata : document)
}

async function fail(): Promise<Response> {
  return new Response(null, { status: 500 })
}

/** What a process begins with that another one has saved, and whose endpoint is down. */
async function restarted(document: object): Promise<KeySource> {
  const before = remoteKeys(URL, { fetch: async (url) => await answer(url, document), clock })
  await before.refresh()
  const snapshot = JSON.parse(JSON.stringify(before.toSnapshot())) as KeysSnapshot
  return remoteKeys(URL, { fetch: fail, snapshot, clock })
}

const sources: [string, (document: object) => Promise<Verifier> | Verifier][] = [
  ['localKeys', (document) => verifierOf(localKeys(document))],
  [
    'remoteKeys',
    (document) =>
      verifierOf(remoteKeys(URL, { fetch: async (url) => await answer(url, document), clock })),
  ],
  [
    'discoverKeys',
    (document) =>
      verifierOf(
        discoverKeys(ISSUER, { fetch: async (url) => await answer(url, document), clock }),
      ),
  ],
  [
    'byIssuer',
    (document) => byIssuer({ [ISSUER]: verifierOf(localKeys(document), { issuer: ISSUER }) }),
  ],
]

describe.each(sources)('every algorithm against every key, of %s', (_name, verifierWith) => {
  test.each(ENTRIES)('$name: verifies $isFor and nothing else', async ({ jwk, isFor }) => {
    const verifier = await verifierWith(jwk)
    for (const alg of ALGORITHM_NAMES) {
      const token = signedWith(alg, { iss: ISSUER })
      expect([alg, await verdictOf(verifier, token)]).toEqual([
        alg,
        isFor.includes(alg) ? 'accepted' : 'algorithm',
      ])
    }
  })
})

test.each(ENTRIES)(
  '$name: entries of its material that nobody can use lend it nothing',
  async ({ jwk, isFor }) => {
    const verifier = verifierOf(localKeys({ keys: [jwk, ...ALGORITHM_NAMES.flatMap(decoys)] }))
    for (const alg of ALGORITHM_NAMES) {
      expect([alg, await verdictOf(verifier, signedWith(alg))]).toEqual([
        alg,
        isFor.includes(alg) ? 'accepted' : 'algorithm',
      ])
    }
  },
)

/** The key of an algorithm, with something that keeps it from being used, be it for that algorithm or at all. */
function decoys(alg: Algorithm): readonly object[] {
  const jwk = silentKey(alg)
  return [
    { ...jwk, alg, use: 'enc' },
    { ...jwk, alg, key_ops: ['encrypt', 'wrapKey'] },
    ...[
      'none',
      'HS256',
      'RS1',
      'ES256K',
      'RSA-OAEP',
      alg.toLowerCase(),
      ` ${alg}`,
      '',
      0,
      false,
      [alg],
    ].map((unknown) => Object.assign({}, jwk, { alg: unknown })),
  ]
}

test('there are no more entries than are looked at, so that none of the decoys goes unread', () => {
  expect(ALGORITHM_NAMES.flatMap(decoys).length).toBeLessThan(400)
})

test.each(ENTRIES)(
  '$name: a process that starts from a snapshot takes it for the same',
  async ({ jwk, isFor }) => {
    const verifier = verifierOf(await restarted(jwk))
    const accepted: Algorithm[] = []
    for (const alg of ALGORITHM_NAMES) {
      const verdict = await verdictOf(verifier, signedWith(alg))
      expect(['accepted', 'unreachable', 'algorithm']).toContain(verdict)
      if (verdict === 'accepted') accepted.push(alg)
    }
    expect(accepted).toEqual(isFor)
  },
)

test('one RSA key in two entries with two algorithms is trusted for these two', async () => {
  const entries = (['RS256', 'PS384'] as const).map((alg) =>
    Object.assign(silentKey(alg), { alg, kid: alg }),
  )
  const verifier = verifierOf(localKeys({ keys: entries }))
  const accepted: Algorithm[] = []
  for (const alg of ALGORITHM_NAMES) {
    if ((await verdictOf(verifier, signedWith(alg))) === 'accepted') accepted.push(alg)
  }
  expect(accepted).toEqual(['RS256', 'PS384'])
})

test('a kid never lends a key the algorithm of another one', async () => {
  const keys = localKeys({
    keys: [
      { ...silentKey('RS256'), alg: 'RS256', kid: 'a' },
      { ...silentKey('ES256'), alg: 'ES256', kid: 'b' },
    ],
  })
  const verifier = verifierOf(keys)
  expect(await verdictOf(verifier, signedWith('RS256', {}, { kid: 'a' }))).toBe('accepted')
  expect(await verdictOf(verifier, signedWith('RS256', {}, { kid: 'b' }))).toBe('unknown_key')
  expect(await verdictOf(verifier, signedWith('PS256', {}, { kid: 'a' }))).toBe('algorithm')
  // Signed with one algorithm, and called by the name of another.
  expect(await verdictOf(verifier, signedWith('PS256', {}, { alg: 'RS256', kid: 'a' }))).toBe(
    'signature',
  )
})

test('two verifiers on one source, each by its rule', async () => {
  const { keys, endpoint } = world()
  endpoint.document = silentKey('RS256')
  const [silent, listing] = [verifierOf(keys), verifierOf(keys, { algorithms: ['RS256'] })]
  const [rs256, rs512] = [signedWith('RS256'), signedWith('RS512')]
  for (let use = 0; use < 2; use++) {
    expect(await verdictOf(silent, rs512)).toBe('accepted')
    expect(await verdictOf(silent, rs256)).toBe('algorithm')
    expect(await verdictOf(listing, rs256)).toBe('accepted')
    expect(await verdictOf(listing, rs512)).toBe('algorithm')
  }
})

test.each(['none', 'NONE', 'HS256', 'HS384', 'HS512', 'rs512', 'RS1', 'ES256K', 'dir'])(
  'a header that says %s is refused before any key is asked for',
  async (alg) => {
    const { verdict, endpoint } = world()
    expect(await verdict(signedWith('RS512', {}, { alg }))).toBe('algorithm')
    expect(endpoint.requests).toHaveLength(0)
  },
)

describe('an Ed25519 key by either name', () => {
  const pairs = (['EdDSA', 'Ed25519', undefined] as const).flatMap((stated) =>
    (['EdDSA', 'Ed25519'] as const).map((alg) => ({ stated, alg })),
  )

  test.each(pairs)('states $stated, and the token says $alg', async ({ stated, alg }) => {
    const jwk = silentKey('EdDSA')
    const keys = localKeys(stated === undefined ? jwk : { ...jwk, alg: stated })
    const other = alg === 'EdDSA' ? 'Ed25519' : 'EdDSA'
    expect(await verdictOf(verifierOf(keys), signedWith(alg))).toBe('accepted')
    expect(await verdictOf(verifierOf(keys, { algorithms: [alg] }), signedWith(alg))).toBe(
      'accepted',
    )
    // A list judges the name in the header.
    expect(await verdictOf(verifierOf(keys, { algorithms: [other] }), signedWith(alg))).toBe(
      'algorithm',
    )
  })
})

test('other names of algorithms count on both sides', async () => {
  const algorithmNames = { RSA256: 'RS256' } as const
  const document = { ...silentKey('RS256'), alg: 'RSA256' }
  const token = signedWith('RS256', {}, { alg: 'RSA256' })
  const keys = localKeys(document, { algorithmNames })
  expect(await verdictOf(verifierOf(keys, { algorithmNames }), token)).toBe('accepted')
  expect(await verdictOf(verifierOf(keys), token)).toBe('algorithm')
  expect(await verdictOf(verifierOf(keys), signedWith('RS256'))).toBe('accepted')
  // Without them the key is none: what it states is never taken for nothing.
  expect(() => localKeys(document)).toThrow('alg (RSA256) is not RS256 or')
})

test('keys that state nothing, and tokens with RS256, as of Microsoft Entra: the detail says what to state', async () => {
  const keys = localKeys({ keys: [{ ...silentKey('RS256'), kid: 'k1' }] })
  const token = signedWith('RS256', {}, { kid: 'k1' })
  await expect(verifierOf(keys).verify(token)).rejects.toMatchObject({
    reason: 'algorithm',
    detail: `the key with kid "k1" is for RS512; the header's alg means RS256; an RSA key that states no alg is for RS512 only: if your issuer signs with RS256, state algorithms: ['RS256']`,
  })
  await expect(verifierOf(keys, { algorithms: ['RS256'] }).verify(token)).resolves.toBeTruthy()
})

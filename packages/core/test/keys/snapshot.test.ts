import { channel } from 'node:diagnostics_channel'

import { createTestIssuer, manualClock } from '@portcullis/testing'
import { describe, expect, onTestFinished, test, vi } from 'vitest'

import {
  createVerifier,
  discoverKeys,
  type KeysMessage,
  type KeysSnapshot,
  remoteKeys,
  type RemoteKeysOptions,
} from '../../src/index.ts'
import { A, B, newToken, oldToken, stranger, tokenOf, world, type World } from './world.ts'

// The sequences of events that could break a start from a snapshot, each by its name. Every world has a clock of its own,
// which begins at the same time.

const URL = 'https://auth.test/tokenservice/pubkey.json'
const ecIssuer = await createTestIssuer({ algorithm: 'ES256' })
const START = world().clock.now()

/** As it comes out of a file: fetched when the worlds begin. */
async function saved(document: unknown = A.publicJwk, options: RemoteKeysOptions = {}) {
  const { endpoint, keys } = world(options)
  endpoint.document = document
  await keys.refresh()
  return throughJson(keys.toSnapshot())
}

function throughJson(snapshot: KeysSnapshot | undefined): KeysSnapshot {
  if (snapshot === undefined) throw new Error('there is nothing to save')
  return JSON.parse(JSON.stringify(snapshot)) as KeysSnapshot
}

/** A process that starts so many seconds after the snapshot was fetched. */
async function startAfter(
  seconds: number,
  snapshot: KeysSnapshot,
  options: RemoteKeysOptions = {},
): Promise<World> {
  return world({ snapshot: { ...snapshot, fetchedAt: snapshot.fetchedAt - seconds }, ...options })
}

describe('toSnapshot', () => {
  test('before any fetch there is nothing to save', () => {
    expect(world().keys.toSnapshot()).toBeUndefined()
  })

  test('a bare document: version, URL, time of the fetch and the public key, and JSON holds it', async () => {
    const snapshot = await saved()
    const { kty, n, e, kid, alg } = A.publicJwk
    expect(snapshot).toEqual({
      version: 1,
      url: URL,
      fetchedAt: START,
      document: { kty, n, e, kid, alg },
    })
  })

  test('a set stays a set, and a key that names no algorithm names none', async () => {
    const { kty, n, e } = B.publicJwk
    const snapshot = await saved({ keys: [A.publicJwk, { kty, n, e }] })
    expect(snapshot.document).toMatchObject({ keys: [{ kid: A.publicJwk.kid }, { kty, n, e }] })
    expect(JSON.stringify(snapshot.document)).not.toContain('null')
  })

  test('the use that was stated: a source with another one takes none of these keys', async () => {
    const bundle = { keys: [{ ...A.publicJwk, use: 'jwt-svid' }] }
    const snapshot = await saved(bundle, { use: 'jwt-svid' })
    expect(snapshot.document).toMatchObject({ keys: [{ use: 'jwt-svid' }] })
    const again = await startAfter(0, snapshot, { use: 'jwt-svid' })
    expect(again.keys.status().thumbprints).toHaveLength(1)
    const other = await startAfter(0, snapshot)
    expect(other.keys.status().thumbprints).toEqual([])
    const unstated = await startAfter(0, await saved(), { use: 'jwt-svid' })
    expect(unstated.keys.status().thumbprints).toEqual([])
  })

  test('what its entries had to state: a source that wants something else takes none of them', async () => {
    const ifStated = { cloud: ['two', 'one'], issuer: 'a' }
    const document = { keys: [{ ...A.publicJwk, cloud: 'one' }] }
    const snapshot = await saved(document, { ifStated })
    expect(snapshot.ifStated).toEqual([
      ['cloud', ['one', 'two']],
      ['issuer', ['a']],
    ])
    const same = { issuer: 'a', cloud: ['one', 'two', 'one'] }
    const again = await startAfter(0, snapshot, { ifStated: same })
    expect(again.keys.status().thumbprints).toHaveLength(1)
    expect(again.keys.toSnapshot()).toEqual(snapshot)
    const others = [undefined, { cloud: 'one' }, { ...same, issuer: 'b' }]
    for (const other of others) {
      const { keys } = await startAfter(0, snapshot, { ifStated: other })
      expect(keys.status().thumbprints).toEqual([])
    }
    const unstated = await startAfter(0, await saved(document), { ifStated })
    expect(unstated.keys.status().thumbprints).toEqual([])
  })

  test('entries of one key for two algorithms stay two, and only what was stated is', async () => {
    const { kty, n, e } = A.publicJwk
    const { alg: _, ...curve } = ecIssuer.publicJwk
    const keys = [{ kty, n, e, alg: 'RS256' }, { kty, n, e, alg: 'RS512' }, { kty, n, e }, curve]
    const { document } = await saved({ keys })
    const algs = (document['keys'] as { alg?: string }[]).map(({ alg }) => alg)
    expect(algs).toEqual(['RS256', 'RS512', undefined, undefined])
  })

  test('an alg that is gone from the document is gone from the snapshot', async () => {
    const { endpoint, keys, clock } = world()
    const { alg: _, ...silent } = ecIssuer.publicJwk
    endpoint.document = ecIssuer.publicJwk
    await keys.refresh()
    expect(keys.toSnapshot()?.document).toHaveProperty('alg', 'ES256')
    endpoint.document = silent
    await clock.advance(2)
    await keys.refresh()
    expect(keys.toSnapshot()?.document).not.toHaveProperty('alg')
  })

  test('entries of one key for two issuers stay two, each with its own', async () => {
    const issuers = ['https://id.example/{tenantid}/v2.0', 'https://id.example/other/v2.0']
    const keys = issuers.map((issuer) => ({ ...A.publicJwk, issuer }))
    const { document } = await saved({ keys })
    expect((document['keys'] as { issuer?: string }[]).map(({ issuer }) => issuer)).toEqual(issuers)
    const snapshot = await saved({ ...A.publicJwk, issuer: issuers[0] })
    expect(snapshot.document).toHaveProperty('issuer', issuers[0])
  })

  test.each([[null], [7], [['https://id.example']], [{}]])(
    'an issuer of a key that is no text is none: %j',
    async (issuer) => {
      expect((await saved({ ...A.publicJwk, issuer })).document).not.toHaveProperty('issuer')
    },
  )

  test('another name of an algorithm is saved by the name that everybody knows', async () => {
    const algorithmNames = { RSA256: 'RS256' } as const
    const { document } = await saved({ ...A.publicJwk, alg: 'RSA256' }, { algorithmNames })
    expect(document).toMatchObject({ alg: 'RS256' })
  })

  test('private members of a document are not saved', async () => {
    const secret = { d: 'canary', p: 'canary', q: 'canary', dp: 'canary', oth: ['canary'] }
    const snapshot = await saved({ ...A.publicJwk, ...secret })
    expect(JSON.stringify(snapshot)).not.toContain('canary')
  })

  test('the fragment of the URL is not part of it', async () => {
    const { keys, endpoint } = world()
    expect(endpoint.requests).toEqual([])
    await keys.refresh()
    const other = remoteKeys(`${URL}#section`, { snapshot: throughJson(keys.toSnapshot()) })
    expect(other.status().snapshot?.detail).not.toBe('it is of another URL')
  })

  test('keys that are trusted only because of an overlap are not saved', async () => {
    const { clock, endpoint, keys } = world({ overlap: 600 })
    await keys.refresh()
    endpoint.document = B.publicJwk
    await clock.advance(10)
    await keys.refresh()
    expect(keys.status().thumbprints).toHaveLength(2)
    expect(keys.toSnapshot()?.document).toMatchObject({ n: B.publicJwk.n })
  })

  test('nor are they of a set', async () => {
    const { clock, endpoint, keys } = world({ overlap: 600 })
    endpoint.document = { keys: [A.publicJwk] }
    await keys.refresh()
    endpoint.document = { keys: [B.publicJwk] }
    await clock.advance(10)
    await keys.refresh()
    expect(keys.status().thumbprints).toHaveLength(2)
    expect(keys.toSnapshot()?.document).toMatchObject({ keys: [{ n: B.publicJwk.n }] })
  })

  test('keys that nobody may use any more are not saved', async () => {
    const { clock, endpoint, keys, verdict } = world({ staleIfError: 600 })
    await verdict(oldToken)
    endpoint.mode = 'down'
    await clock.advance(1000)
    expect(keys.status().freshness).toBe('empty')
    expect(keys.toSnapshot()).toBeUndefined()
  })

  test('of a process that started from a snapshot: the time is that of the fetch', async () => {
    const first = await saved()
    const { clock, keys } = await startAfter(100, first)
    await clock.advance(7.25)
    expect(throughJson(keys.toSnapshot())).toEqual({ ...first, fetchedAt: START - 100 })
  })

  test('once the keys were fetched again it is the time of that fetch', async () => {
    const { clock, keys, verdict } = await startAfter(100, await saved())
    await clock.advance(50)
    await verdict(oldToken)
    await clock.advance(1)
    expect(keys.toSnapshot()?.fetchedAt).toBe(START + 50)
  })

  test('after the wall clock was set back the snapshot is not from the future', async () => {
    const { clock, keys } = world()
    await keys.refresh()
    await clock.advance(10)
    clock.set(START - 5000)
    expect(keys.toSnapshot()?.fetchedAt).toBe(START - 5010)
  })

  test('what the answer said of its age is kept', async () => {
    const { endpoint, keys } = world()
    endpoint.headers = { 'cache-control': 'max-age=1000', age: '100' }
    await keys.refresh()
    const snapshot = throughJson(keys.toSnapshot())
    expect(snapshot.freshnessLifetime).toBe(900)
    const { maxAge = 0 } = world({ snapshot }).keys.status()
    expect(Math.abs(maxAge / 900 - 1)).toBeLessThanOrEqual(0.1)
  })
})

describe('a start from a snapshot', () => {
  test('fresh: the first request is served at once, and the keys are fetched behind it', async () => {
    const { endpoint, keys, verdict } = await startAfter(60, await saved())
    expect(keys.status()).toMatchObject({
      freshness: 'fresh',
      age: 60,
      snapshot: { state: 'in_use' },
    })
    expect(endpoint.requests).toEqual([])
    endpoint.delay = 1
    expect(await verdict(oldToken)).toBe('accepted')
    expect(endpoint.requests).toHaveLength(1)
  })

  test('without a request nothing is fetched', async () => {
    const { clock, endpoint } = await startAfter(60, await saved())
    await clock.advance(10_000)
    expect(endpoint.requests).toEqual([])
  })

  test('1,000 first requests: one fetch, and once it succeeds the keys have an age like any', async () => {
    const { clock, endpoint, keys, verdict } = await startAfter(60, await saved())
    endpoint.delay = 1
    const verdicts = await Promise.all(
      Array.from({ length: 1000 }, async () => await verdict(oldToken)),
    )
    expect(new Set(verdicts)).toEqual(new Set(['accepted']))
    await clock.advance(1)
    expect(keys.status()).toMatchObject({ age: 1, snapshot: { state: 'replaced' } })
    await clock.advance(200)
    await verdict(oldToken)
    expect(endpoint.requests).toHaveLength(1)
  })

  test('ready() resolves at once, and asks', async () => {
    const { clock, endpoint, keys } = await startAfter(60, await saved())
    const verifier = createVerifier({ keys, issuer: null, audience: null, clock })
    endpoint.mode = 'hanging'
    await expect(verifier.ready()).resolves.toBeUndefined()
    expect(endpoint.requests).toHaveLength(1)
  })

  test('of half an hour ago: the first request waits for a fetch', async () => {
    const { clock, endpoint, verdict } = await startAfter(1800, await saved(B.publicJwk))
    endpoint.delay = 1
    const waiting = verdict(oldToken)
    await clock.advance(1)
    expect(await waiting).toBe('accepted')
    expect(endpoint.requests).toHaveLength(1)
  })

  test('of half an hour ago, with the endpoint down: the first request is served after its attempt', async () => {
    const { endpoint, keys, verdict } = await startAfter(1800, await saved())
    endpoint.mode = 'down'
    expect(await verdict(oldToken)).toBe('accepted')
    expect(keys.status()).toMatchObject({ freshness: 'expired', snapshot: { state: 'in_use' } })
    expect(endpoint.requests).toHaveLength(1)
  })

  test('of half an hour ago, with an endpoint that hangs: the first waits for the deadline, nobody after it does', async () => {
    const { clock, endpoint, verdict } = await startAfter(1800, await saved())
    endpoint.mode = 'hanging'
    const first = verdict(oldToken)
    await clock.advance(5)
    expect(await first).toBe('accepted')
    expect(await verdict(await tokenOf(A))).toBe('accepted')
  })

  test('of yesterday: it is ignored, and with the endpoint down the answer is 503', async () => {
    const { endpoint, keys, refusal } = await startAfter(86_400, await saved())
    expect(keys.status()).toMatchObject({
      freshness: 'empty',
      thumbprints: [],
      snapshot: { state: 'ignored', detail: 'it is too old' },
    })
    endpoint.mode = 'down'
    expect(await refusal(oldToken)).toMatch(/^503 Retry-After/)
  })

  test('that becomes too old while the endpoint is down: 503 from then on', async () => {
    const { clock, endpoint, refusal, verdict } = await startAfter(60, await saved())
    endpoint.mode = 'down'
    expect(await verdict(oldToken)).toBe('accepted')
    await clock.advance(3000)
    expect(await verdict(oldToken)).toBe('accepted')
    await clock.advance(1300)
    expect(await refusal(oldToken)).toMatch(/^503 Retry-After/)
  })

  test('fresh, with the endpoint down: it is asked again after its pause, though the keys are fresh', async () => {
    const { clock, endpoint, verdict } = await startAfter(0, await saved())
    endpoint.mode = 'down'
    await verdict(oldToken)
    await verdict(oldToken)
    expect(endpoint.requests).toEqual([0])
    await clock.advance(2)
    await verdict(oldToken)
    expect(endpoint.requests).toEqual([0, 2])
  })

  test('a document without a usable key does not replace it', async () => {
    const { clock, endpoint, keys, verdict } = await startAfter(0, await saved())
    endpoint.document = { keys: [] }
    expect(await verdict(oldToken)).toBe('accepted')
    await clock.advance(0)
    expect(keys.status()).toMatchObject({
      lastFailure: { reason: 'bad_document' },
      snapshot: { state: 'in_use' },
    })
  })

  test('a token of a key that is newer than the snapshot is accepted in that very request', async () => {
    const { endpoint, verdict } = await startAfter(60, await saved())
    endpoint.document = B.publicJwk
    expect(await verdict(newToken)).toBe('accepted')
    expect(endpoint.requests).toHaveLength(1)
  })

  test('a key that was withdrawn since then proves only what comes before the first fetch has succeeded', async () => {
    const { clock, endpoint, verdict } = await startAfter(60, await saved())
    endpoint.document = B.publicJwk
    endpoint.delay = 1
    expect(await verdict(oldToken)).toBe('accepted')
    await clock.advance(0.5)
    expect(await verdict(oldToken)).toBe('accepted')
    await clock.advance(0.5)
    // The same token, which is remembered, and a new one.
    expect(await verdict(oldToken)).toBe('signature')
    expect(await verdict(await tokenOf(A))).toBe('signature')
  })

  test('a withdrawn key with the endpoint down: the time that status() states counts from the fetch', async () => {
    const { clock, endpoint, keys, verdict } = await startAfter(1000, await saved())
    endpoint.mode = 'down'
    const { endpointDown = 0 } = keys.status().withdrawnKeyTrust ?? {}
    await verdict(oldToken)
    await clock.advance(endpointDown - 1000 - 1)
    expect(await verdict(oldToken)).toBe('accepted')
    await clock.advance(1)
    expect(await verdict(oldToken)).toBe('unreachable')
  })

  test('with an overlap a withdrawn key is trusted no longer than if it had been fetched then', async () => {
    const options = { overlap: 30 }
    const { clock, endpoint, verdict } = await startAfter(60, await saved(), options)
    endpoint.document = B.publicJwk
    await verdict(oldToken)
    await clock.advance(29)
    expect(await verdict(oldToken)).toBe('accepted')
    await clock.advance(1)
    expect(await verdict(oldToken)).toBe('signature')
  })

  test('the maxAge of this process bounds the age, whatever the snapshot says of it', async () => {
    const snapshot = { ...(await saved()), freshnessLifetime: 1e9 }
    const { maxAge = 0 } = (await startAfter(0, snapshot)).keys.status()
    expect(maxAge).toBeLessThanOrEqual(3600 * 1.1)
    const own = (await startAfter(0, snapshot, { maxAge: 60 })).keys.status()
    expect(own.maxAge).toBeLessThanOrEqual(66)
  })

  test('a wall clock that is set forward afterwards makes the keys older', async () => {
    const { clock, keys } = await startAfter(60, await saved())
    clock.set(START + 1000)
    expect(keys.status()).toMatchObject({ freshness: 'expired', age: 1060 })
  })

  test('a wall clock that is set back afterwards makes them no younger', async () => {
    const { clock, keys } = await startAfter(60, await saved())
    await clock.advance(1000)
    clock.set(START)
    expect(keys.status()).toMatchObject({ freshness: 'expired', age: 1060 })
  })
})

describe('a snapshot that is ignored leaves a start without one', () => {
  test.each<[string, (snapshot: KeysSnapshot) => unknown, RegExp]>([
    ['from the future', (own) => ({ ...own, fetchedAt: START + 1 }), /from the future/],
    ['of another URL', (own) => ({ ...own, url: `${URL}?a` }), /another URL/],
    ['without a URL', (own) => ({ ...own, url: undefined }), /another URL/],
    ['of a later version', (own) => ({ ...own, version: 2 }), /version/],
    ['without a time', (own) => ({ ...own, fetchedAt: undefined }), /fetchedAt/],
    ['with a text for a time', (own) => ({ ...own, fetchedAt: '0' }), /fetchedAt/],
    ['with an endless time', (own) => ({ ...own, fetchedAt: -Infinity }), /fetchedAt/],
    ['with a time that is none', (own) => ({ ...own, fetchedAt: NaN }), /fetchedAt/],
    ['with a wrong lifetime', (own) => ({ ...own, freshnessLifetime: 'x' }), /freshnessLifetime/],
    [
      'without a document',
      (own) => ({ ...own, document: undefined }),
      /neither a JWK nor a JWK set/,
    ],
    ['with an empty set', (own) => ({ ...own, document: { keys: [] } }), /no usable key/],
    [
      'with a symmetric key',
      (own) => ({ ...own, document: { kty: 'oct', k: 'canary' } }),
      /no usable key: kty/,
    ],
    ['a key document alone', ({ document }) => document, /version/],
    ['an empty object', () => ({}), /version/],
    ['a list', () => [], /no object/],
    ['with inherited members alone', (own) => Object.create(own) as unknown, /version/],
  ])('%s', async (_title, change, detail) => {
    const snapshot = change(await saved()) as KeysSnapshot
    const { endpoint, keys, verdict } = world({ snapshot })
    expect(keys.status()).toMatchObject({ freshness: 'empty', snapshot: { state: 'ignored' } })
    expect(keys.status().snapshot?.detail).toMatch(detail)
    expect(keys.status().snapshot?.detail).not.toMatch(/canary|auth\.test/)
    expect(await verdict(oldToken)).toBe('accepted')
    expect(endpoint.requests).toHaveLength(1)
    expect(keys.status().snapshot).toMatchObject({ state: 'ignored' })
  })

  test.each([undefined, null])('%s is as none', (snapshot) => {
    expect(world({ snapshot }).keys.status()).toMatchObject({
      freshness: 'empty',
      snapshot: undefined,
    })
  })

  test.each<[string, unknown, RegExp]>([
    ['a text that nobody has parsed', '{}', /snapshot must be an object: pass JSON\.parse/],
    ['a promise', Promise.resolve(), /snapshot must be an object: it is a promise/],
    ['a number', 1, /snapshot must be an object$/],
  ])('but %s is a mistake of the program: TypeError at start-up', (_title, snapshot, message) => {
    const options = { snapshot } as RemoteKeysOptions
    expect(() => remoteKeys(URL, options)).toThrow(TypeError)
    expect(() => remoteKeys(URL, options)).toThrow(message)
  })

  test('that has private members starts, without them', async () => {
    const own = await saved()
    const snapshot = { ...own, document: { ...own.document, d: 'canary' } }
    const { keys } = world({ snapshot })
    expect(keys.status()).toMatchObject({ snapshot: { state: 'in_use' } })
    expect(JSON.stringify(keys.toSnapshot())).not.toContain('canary')
  })

  test('a snapshot of another service does not let its tokens in', async () => {
    const theirs = { ...(await saved(stranger.publicJwk)), url: 'https://other.test/key' }
    const { verdict } = world({ snapshot: theirs })
    expect(await verdict(await tokenOf(stranger))).toBe('signature')
  })

  test('what is changed in the object after the start changes nothing', async () => {
    const snapshot = await saved()
    const { keys } = world({ snapshot })
    Object.assign(snapshot, { fetchedAt: 0, document: {} })
    expect(keys.status()).toMatchObject({ freshness: 'fresh' })
  })
})

test.each([
  ['used', 0, { outcome: 'success', detail: undefined, freshness: 'fresh' }],
  [
    'ignored',
    86_400,
    { outcome: 'ignored', detail: 'the snapshot is not used: it is too old', freshness: 'empty' },
  ],
])('portcullis:keys says once that a snapshot is %s', async (_word, age, expected) => {
  const messages: KeysMessage[] = []
  const listen = (message: unknown) => {
    messages.push(message as KeysMessage)
  }
  const snapshot = await saved()
  const { keys } = world({ snapshot: { ...snapshot, fetchedAt: START - age } })
  // Also to somebody who begins to listen when there is a source.
  channel('portcullis:keys').subscribe(listen)
  onTestFinished(() => {
    channel('portcullis:keys').unsubscribe(listen)
  })
  await Promise.resolve()
  const ours = messages.filter(({ source }) => source === keys)
  expect(ours).toMatchObject([{ trigger: 'snapshot', duration: 0, removed: [], ...expected }])
  expect(ours[0]?.added).toEqual(keys.status().thumbprints)
})

describe('discoverKeys', () => {
  const ISSUER = 'https://auth.test'

  test('starts from a snapshot of its issuer, and reads metadata and keys behind the first request', async () => {
    const asked: string[] = []
    const fetch = async (url: string) => {
      asked.push(url)
      return await Promise.resolve(
        Response.json(
          url === `${ISSUER}/keys` ? A.publicJwk : { issuer: ISSUER, jwks_uri: `${ISSUER}/keys` },
        ),
      )
    }
    const clock = manualClock()
    const first = discoverKeys(ISSUER, { fetch, clock })
    await first.refresh()
    const snapshot = throughJson(first.toSnapshot())
    expect(snapshot.url).toBe(ISSUER)
    asked.length = 0
    const keys = discoverKeys(ISSUER, { fetch, clock, snapshot })
    expect(keys.status()).toMatchObject({ freshness: 'fresh', snapshot: { state: 'in_use' } })
    await createVerifier({ keys, issuer: null, audience: null }).ready()
    await vi.waitFor(() => {
      expect(keys.status().snapshot).toMatchObject({ state: 'replaced' })
    }, 60_000)
    expect(asked.at(-1)).toBe(`${ISSUER}/keys`)
  })

  test('ignores a snapshot of another issuer', async () => {
    const keys = discoverKeys(ISSUER, { snapshot: await saved() })
    expect(keys.status().snapshot?.detail).toBe('it is of another URL')
  })
})

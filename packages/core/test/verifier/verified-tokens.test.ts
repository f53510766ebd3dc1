import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { isDeepStrictEqual } from 'node:util'
import { runInNewContext } from 'node:vm'

import type { Instant } from '@portcullis/kit/time'
import { manualClock } from '@portcullis/testing'
import fc from 'fast-check'
import type { JWK } from 'jose'
import { describe, expect, test, vi } from 'vitest'

import {
  AuthError,
  createVerifier,
  localKeys,
  remoteKeys,
  type Verifier,
  type VerifyMessage,
} from '../../src/index.ts'
import { readKeyDocument } from '../../src/keys/key-document.ts'
import {
  type KeyRing,
  keySource,
  type KeySourceMethods,
  methodsOf,
  type Suspicion,
  type SuspicionAnswer,
  type VerificationKey,
} from '../../src/keys/key-source.ts'
import {
  createVerifiedTokens,
  isStillTrusted,
  type VerifiedToken,
} from '../../src/verifier/verified-tokens.ts'
import type { VerifierOptions } from '../../src/verifier/verifier-options.ts'

interface Signer {
  readonly kid: string
  readonly privateKey: KeyObject
  readonly jwk: JWK
}

function signer(kid: string): Signer {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { kid, privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid } }
}

function onlyKeyOf(jwk: JWK): VerificationKey {
  const [key] = readKeyDocument(jwk)?.keys ?? []
  if (key === undefined) throw new Error('the document has no usable key')
  return key
}

function tokenOf({ privateKey }: Signer, kid: string | undefined, claims: object): string {
  const input = [{ alg: 'ES256', kid }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  const signature = sign('sha256', Buffer.from(input), {
    key: privateKey,
    dsaEncoding: 'ieee-p1363',
  })
  return `${input}.${signature.toString('base64url')}`
}

const ada = signer('a')
const bob = signer('b')
const start = manualClock().now()
const lasting = tokenOf(ada, 'a', { exp: start + 600, scope: 'read' })

function verifiedOf(token: string, kid?: string): VerifiedToken {
  const header = kid === undefined ? { alg: 'ES256' } : { alg: 'ES256', kid }
  const key = onlyKeyOf(ada.jwk)
  return {
    token,
    claims: {},
    header,
    key,
    algorithm: 'ES256',
    foundIn: undefined,
    judged: undefined,
  }
}

describe('createVerifiedTokens', () => {
  test('finds the very token that was remembered, as another text too', () => {
    const tokens = createVerifiedTokens(10)
    const verified = verifiedOf('header.payload.signature')
    tokens.remember(verified)
    expect(tokens.find(['header', 'payload', 'signature'].join('.'))).toBe(verified)
  })

  test('another token with the same end is not found, and does not push it out', () => {
    const tokens = createVerifiedTokens(10)
    const verified = verifiedOf(`mallory.${'s'.repeat(40)}`)
    tokens.remember(verified)
    expect(tokens.find(`alice.${'s'.repeat(40)}`)).toBeUndefined()
    expect(tokens.find(verified.token)).toBe(verified)
  })

  test('two proven tokens with the same end share one place, and are never mistaken for each other', () => {
    const tokens = createVerifiedTokens(10)
    const [first, second] = [verifiedOf(`a.${'s'.repeat(40)}`), verifiedOf(`b.${'s'.repeat(40)}`)]
    tokens.remember(first)
    tokens.remember(second)
    expect(tokens.find(first.token)).toBeUndefined()
    expect(tokens.find(second.token)).toBe(second)
  })

  test.each(['a', 'a.b.c'])('a token shorter than its name would be: %j', (token) => {
    const tokens = createVerifiedTokens(10)
    tokens.remember(verifiedOf(token))
    expect(tokens.find(token)).toBeDefined()
    expect(tokens.find(`${token}x`)).toBeUndefined()
  })

  test('the one that was not used for longest makes room', () => {
    const tokens = createVerifiedTokens(2)
    for (const token of ['one', 'two']) tokens.remember(verifiedOf(token))
    tokens.find('one')
    tokens.remember(verifiedOf('three'))
    expect(['one', 'two', 'three'].filter((token) => tokens.find(token))).toEqual(['one', 'three'])
  })

  test('large tokens make room for fewer', () => {
    const tokens = createVerifiedTokens(8)
    const large = ['a', 'b', 'c'].map((letter) => letter.repeat(8000))
    for (const token of large) tokens.remember(verifiedOf(token))
    expect(large.filter((token) => tokens.find(token))).toEqual(large.slice(1))
  })

  test('forgets', () => {
    const tokens = createVerifiedTokens(10)
    tokens.remember(verifiedOf('one'))
    tokens.forget('one')
    expect(tokens.find('one')).toBeUndefined()
  })
})

describe('isStillTrusted', () => {
  const [key, other] = [onlyKeyOf(ada.jwk), onlyKeyOf(bob.jwk)]
  const rows: [string, boolean, KeyRing][] = [
    ['its key is the only one', true, { keys: [key], bare: true }],
    ['its key is among others', true, { keys: [other, key], bare: false }],
    ['its key has left', false, { keys: [other], bare: true }],
    ['there is no key', false, { keys: [], bare: false }],
    ['its key has come back as another entry', false, { keys: [{ ...key }], bare: false }],
  ]
  test.each(rows)('%s: %s', (_title, answer, ring) => {
    expect(isStillTrusted({ ...verifiedOf('token', 'a'), key }, ring, undefined)).toBe(answer)
  })

  test('the keys are those that it was found in: true, and nothing else is asked', () => {
    const keys = [other]
    const verified = { ...verifiedOf('token', 'a'), key }
    expect(isStillTrusted({ ...verified, foundIn: keys }, { keys, bare: true }, undefined)).toBe(
      true,
    )
    expect(
      isStillTrusted({ ...verified, foundIn: keys }, { keys: [other], bare: true }, undefined),
    ).toBe(false)
  })

  test('its key permits its algorithm no more: false', () => {
    const narrowed = { ...key, prepared: new Map() }
    const verified = { ...verifiedOf('token', 'a'), key: narrowed }
    expect(isStillTrusted(verified, { keys: [narrowed], bare: true }, undefined)).toBe(false)
  })

  test('its key would not be tried, since a set gives it another kid than the token: false', () => {
    const verified = { ...verifiedOf('token', 'z'), key }
    expect(isStillTrusted(verified, { keys: [key], bare: true }, undefined)).toBe(true)
    expect(isStillTrusted(verified, { keys: [key], bare: false }, undefined)).toBe(false)
  })

  test('other keys came: they are searched once, and not at each use of the token', () => {
    const has = vi.fn<(algorithm: unknown) => boolean>(() => true)
    const counted = { ...key, prepared: Object.assign(new Map(key.prepared), { has }) }
    const [before, after] = [[counted], [other, counted]]
    const verified: VerifiedToken = { ...verifiedOf('token', 'a'), key: counted, foundIn: before }
    for (let use = 0; use < 3; use += 1) {
      expect(isStillTrusted(verified, { keys: after, bare: false }, undefined)).toBe(true)
    }
    expect(has).toHaveBeenCalledTimes(1)
    expect(isStillTrusted(verified, { keys: [other], bare: false }, undefined)).toBe(false)
  })
})

describe('a verifier that remembers', () => {
  const options = { issuer: null, audience: null, algorithms: ['ES256'] } as const

  test('hands every request of a token the same frozen Auth', async () => {
    const verifier = createVerifier({
      keys: localKeys(ada.jwk),
      ...options,
      clock: manualClock(start),
    })
    const [first, second] = [await verifier.verify(lasting), await verifier.verify(lasting)]
    expect(second).toBe(first)
    expect([first, first.claims, first.header].every(Object.isFrozen)).toBe(true)
  })

  test('runs the schema at each use, whose output is neither shared nor frozen', async () => {
    const schema = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: (claims: unknown) => ({ value: { claims } }),
      },
    } as const
    const clock = manualClock(start)
    const verifier = createVerifier({ keys: localKeys(ada.jwk), ...options, clock, schema })
    const [first, second] = [await verifier.verify(lasting), await verifier.verify(lasting)]
    expect(second.claims).toEqual(first.claims)
    expect(second.claims).not.toBe(first.claims)
    expect(Object.isFrozen(second.claims)).toBe(false)
  })

  test('two verifiers over one source, one of which wants an audience, remember apart', async () => {
    const keys = localKeys(ada.jwk)
    const clock = manualClock(start)
    const lenient = createVerifier({ keys, ...options, clock })
    const strict = createVerifier({ keys, ...options, audience: 'api', clock })
    await expect(lenient.verify(lasting)).resolves.toBeDefined()
    await expect(strict.verify(lasting)).rejects.toMatchObject({ reason: 'audience' })
    await expect(lenient.verify(lasting)).resolves.toBeDefined()
  })

  test('keys with another clock than the verifier: the times are judged by the verifier’s', async () => {
    const clock = manualClock(start)
    const keys = remoteKeys('https://auth.test/keys', {
      clock: manualClock(start),
      fetch: async () => Response.json(ada.jwk),
    })
    const verifier = createVerifier({ keys, ...options, clock })
    await verifier.verify(lasting)
    await clock.advance(700)
    await expect(verifier.verify(lasting)).rejects.toMatchObject({ reason: 'expired' })
  })

  test('a token that expires while keys are awaited is judged by the time afterwards', async () => {
    const clock = manualClock(start)
    const answers: ((response: Response) => void)[] = []
    const fetch = async () => await new Promise<Response>((resolve) => answers.push(resolve))
    const keys = remoteKeys('https://auth.test/keys', {
      clock,
      fetch,
      maxAge: 60,
      staleWhileRevalidate: 0,
    })
    const verifier = createVerifier({ keys, ...options, clock })
    const first = verifier.verify(lasting)
    answers[0]?.(Response.json(ada.jwk))
    await first
    await clock.advance(604)
    const second = verifier.verify(lasting)
    await clock.advance(2)
    answers[1]?.(Response.json(ada.jwk))
    await expect(second).rejects.toMatchObject({ reason: 'expired' })
  })

  test('a token whose bearer changed nothing but the payload is not mistaken for it', async () => {
    const verifier = createVerifier({
      keys: localKeys(ada.jwk),
      ...options,
      clock: manualClock(start),
    })
    await verifier.verify(lasting)
    const [header, , signature] = lasting.split('.')
    const payload = Buffer.from(JSON.stringify({ exp: start + 9999, admin: true })).toString(
      'base64url',
    )
    const twisted = [header, payload, signature].join('.')
    await expect(verifier.verify(twisted)).rejects.toMatchObject({ reason: 'signature' })
  })

  const renamed = { ...ada.jwk, kid: 'c' }
  const rings = [
    ada.jwk,
    renamed,
    bob.jwk,
    { keys: [ada.jwk, bob.jwk] },
    { keys: [renamed] },
    { keys: [bob.jwk, { ...ada.jwk, use: 'enc' }] },
    { keys: [{ ...ada.jwk, alg: 'ES384' }, bob.jwk] },
  ].map((document) => localKeys(document))
  const times = [
    { iat: start, exp: start + 60 },
    { iat: start, exp: start + 600 },
    { iat: start, exp: start + 600, nbf: start + 30 },
    { iat: start - 250, exp: start + 600 },
  ]
  const tokens = [ada, bob].flatMap((by) =>
    ['a', 'b', undefined].flatMap((kid) => times.map((claims) => tokenOf(by, kid, claims))),
  )

  type Event =
    | { verify: number }
    | { publish: number }
    | { move: number }
    | { outage: boolean }
    | { stop: boolean }
  const SAME = 'the same verdict'
  const MAX_TOKENS = 5
  const usuallyNot = fc.nat(3).map((draw) => draw === 0)
  const events = fc.array(
    fc.oneof<fc.WeightedArbitrary<Event>[]>(
      { weight: 12, arbitrary: fc.record({ verify: fc.nat(MAX_TOKENS - 1) }) },
      { weight: 2, arbitrary: fc.record({ publish: fc.nat(rings.length - 1) }) },
      { weight: 2, arbitrary: fc.record({ move: fc.integer({ min: -200, max: 200 }) }) },
      { weight: 1, arbitrary: fc.record({ outage: usuallyNot }) },
      { weight: 1, arbitrary: fc.record({ stop: usuallyNot }) },
    ),
    { minLength: 40, maxLength: 120 },
  )

  test('judges every sequence of tokens, keys, times and evictions as one that does not', async () => {
    let hits = 0
    const count = (message: unknown) => {
      if ((message as VerifyMessage).remembered) hits++
    }
    subscribe('portcullis:verify', count)
    try {
      await fc.assert(
        fc.asyncProperty(
          events,
          fc.shuffledSubarray(tokens, { minLength: 1, maxLength: MAX_TOKENS }),
          fc.integer({ min: 1, max: MAX_TOKENS }),
          fc.boolean(),
          async (sequence, some, max, sharesClock) => {
            const world = worldOf(max, some, sharesClock)
            for (const event of sequence) expect(await world.after(event)).toBe(SAME)
          },
        ),
        { numRuns: 60 },
      )
    } finally {
      unsubscribe('portcullis:verify', count)
    }
    // Else nothing was compared.
    expect(hits).toBeGreaterThan(60)
  })

  /** Two verifiers that differ in nothing but their memory. */
  function worldOf(
    max: number,
    some: string[],
    sharesClock: boolean,
  ): { after(event: Event): Promise<unknown> } {
    const wall = manualClock(start)
    let isStopped = false
    let isDown = false
    let [source] = rings
    const clock = { ...wall, now: () => (isStopped ? NaN : wall.now()) }
    const keys = keySource({
      now: () => ({ wall: sharesClock ? clock.now() : 0, monotonic: 0 }),
      current: (moment: Instant) =>
        isDown || source === undefined ? undefined : methodsOf(source).current(moment),
      async wait() {
        throw new AuthError('keys_unavailable', 'unreachable')
      },
      suspect: async ({ ring }) => ({ key: undefined, why: undefined, ring }),
    })
    const own = sharesClock ? {} : { clock }
    const [remembering, forgetful] = ([{ max }, false] as const).map((remember) =>
      createVerifier({ keys, ...options, ...own, maxTokenAge: 300, remember }),
    )
    return {
      async after(event) {
        if ('move' in event) wall.set(wall.now() + event.move)
        if ('publish' in event) source = rings[event.publish]
        if ('outage' in event) isDown = event.outage
        if ('stop' in event) isStopped = event.stop
        if (!('verify' in event)) return SAME
        const token = some[event.verify % some.length] ?? ''
        const verdicts = [await verdict(remembering, token), await verdict(forgetful, token)]
        return isDeepStrictEqual(verdicts[0], verdicts[1]) ? SAME : verdicts
      },
    }
  }
})

async function verdict(verifier: Verifier | undefined, token: string): Promise<unknown> {
  try {
    return await verifier?.verify(token)
  } catch (error) {
    if (!(error instanceof AuthError)) throw error
    return `${error.code} ${error.reason}`
  }
}

/** What is published of the verdicts of one verifier. */
async function rememberedBy(verifier: Verifier, act: () => Promise<void>): Promise<boolean[]> {
  const messages: VerifyMessage[] = []
  const note = (message: unknown) => messages.push(message as VerifyMessage)
  subscribe('portcullis:verify', note)
  await act()
  unsubscribe('portcullis:verify', note)
  return messages
    .filter((message) => message.verifier === verifier)
    .map(({ remembered }) => remembered)
}

/** In an iteration of the event loop that has read or checked enough, tokens wait for others: what was before may have, on a busy machine. */
async function newIteration(): Promise<void> {
  await new Promise(setImmediate)
}

describe('keys that change while a token is judged', () => {
  const options = { issuer: null, audience: null, algorithms: ['ES256'] } as const
  const withKey: KeyRing = { keys: [onlyKeyOf(ada.jwk)], bare: true }
  const withoutKey: KeyRing = { keys: [onlyKeyOf(bob.jwk)], bare: true }

  /** A source whose keys a test changes. It notes for which moments it was asked. */
  class ChangingKeys implements KeySourceMethods {
    ring: KeyRing | Promise<KeyRing> = withKey
    readonly moments: number[] = []

    now() {
      return { wall: 0, monotonic: this.moments.length }
    }

    current({ monotonic }: Instant) {
      this.moments.push(monotonic)
      return 'keys' in this.ring ? this.ring : undefined
    }

    async wait() {
      return await this.ring
    }

    async suspect({ ring }: Suspicion): Promise<SuspicionAnswer> {
      return { key: undefined, why: undefined, ring }
    }
  }

  function verifierOf(
    keys: KeySourceMethods,
    more: Pick<VerifierOptions, 'remember'> = {},
  ): Verifier {
    const clock = manualClock(start)
    return createVerifier({ keys: keySource(keys), ...options, clock, ...more })
  }

  test('a key that leaves while the thread pool checks a signature proves nothing any more', async () => {
    const keys = new ChangingKeys()
    const verifier = verifierOf(keys, { remember: false })
    await newIteration()
    const verdicts = Array.from({ length: 20 }, async () => await verifier.verify(lasting))
    keys.ring = withoutKey
    const settled = await Promise.allSettled(verdicts)
    // The first few are answered before the key leaves.
    expect(settled.at(0)).toMatchObject({ status: 'fulfilled' })
    expect(settled.at(-1)).toMatchObject({ status: 'rejected', reason: { reason: 'signature' } })
  })

  test('one token that comes often at once: its signature is checked once, and nobody waits for the thread pool', async () => {
    const verifier = verifierOf(new ChangingKeys())
    let accepted = 0
    const verdicts = Array.from({ length: 20 }, async () => {
      await verifier.verify(lasting)
      accepted++
    })
    for (let step = 0; step < 10; step++) await Promise.resolve()
    expect(accepted).toBe(20)
    await Promise.all(verdicts)
  })

  test('a rotation that many wait for does not block the event loop: most are checked on the thread pool', async () => {
    const suspicions: Suspicion[] = []
    const keys = new ChangingKeys()
    keys.ring = withoutKey
    keys.suspect = async (suspicion: Suspicion) => {
      suspicions.push(suspicion)
      return { key: undefined, why: undefined, ring: suspicion.ring }
    }
    const verifier = verifierOf(keys)
    await Promise.allSettled(Array.from({ length: 20 }, async () => await verifier.verify(lasting)))
    let found = 0
    await newIteration()
    const answers = suspicions.map(async ({ findKey }) => {
      if ((await findKey(withKey)) !== undefined) found++
    })
    // However many promises are awaited, nothing comes from the thread pool before the event loop iterates.
    for (let step = 0; step < 100; step++) await Promise.resolve()
    expect(found).toBeGreaterThan(0)
    expect(found).toBeLessThan(10)
    await Promise.all(answers)
    expect(found).toBe(20)
  })

  test('a caller who has left meanwhile is told so, not the verdict', async () => {
    const verifier = verifierOf(new ChangingKeys(), { remember: false })
    const controller = new AbortController()
    const verdicts = Array.from(
      { length: 20 },
      async () => await verifier.verify(lasting, { signal: controller.signal }),
    )
    controller.abort(new Error('gone'))
    const settled = await Promise.allSettled(verdicts)
    expect(settled.at(-1)).toMatchObject({ status: 'rejected', reason: { message: 'gone' } })
  })

  test('a remembered token whose key has left: both looks at the keys are of one moment', async () => {
    const keys = new ChangingKeys()
    const verifier = verifierOf(keys)
    await verifier.verify(lasting)
    keys.ring = withoutKey
    await expect(verifier.verify(lasting)).rejects.toMatchObject({ reason: 'signature' })
    const [, ...moments] = keys.moments
    expect(moments).toEqual([1, 1])
  })

  test('a token whose key has left is forgotten: it is checked anew when the key comes back', async () => {
    const keys = new ChangingKeys()
    const verifier = verifierOf(keys)
    const remembered = await rememberedBy(verifier, async () => {
      for (const ring of [withKey, withKey, withoutKey, withKey]) {
        keys.ring = ring
        await verifier.verify(lasting).catch(() => {})
      }
    })
    expect(remembered).toEqual([false, true, false, false])
  })

  test('a token whose time has ended is forgotten: it is checked anew when the clock is set back', async () => {
    const clock = manualClock(start)
    const verifier = createVerifier({ keys: localKeys(ada.jwk), ...options, clock })
    const remembered = await rememberedBy(verifier, async () => {
      for (const time of [start, start, start + 700, start]) {
        clock.set(time)
        await verifier.verify(lasting).catch(() => {})
      }
    })
    expect(remembered).toEqual([false, true, true, false])
  })

  test('a remembered token whose keys have to be waited for is published as remembered', async () => {
    const keys = new ChangingKeys()
    const verifier = verifierOf(keys)
    const remembered = await rememberedBy(verifier, async () => {
      await verifier.verify(lasting)
      keys.ring = Promise.resolve(withKey)
      await verifier.verify(lasting)
    })
    expect(remembered).toEqual([false, true])
  })

  test('keys that have to be waited for may come by any kind of promise', async () => {
    const keys = new ChangingKeys()
    keys.ring = runInNewContext('Promise.resolve(ring)', { ring: withKey }) as Promise<KeyRing>
    const verifier = verifierOf(keys)
    await verifier.verify(lasting)
    await expect(verifier.verify(lasting)).resolves.toMatchObject({ token: lasting })
  })
})

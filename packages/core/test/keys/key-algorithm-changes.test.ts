import { systemClock } from '@portcullis/kit/time'
import { describe, expect, test } from 'vitest'

import type { Algorithm } from '../../src/algorithms/algorithms.ts'
import {
  type AuthError,
  createVerifier,
  type Verifier,
  type VerifierOptions,
} from '../../src/index.ts'
import { readKeyDocument } from '../../src/keys/key-document.ts'
import { keySource, type KeyRing } from '../../src/keys/key-source.ts'
import { signedWith, silentKey } from './stated-keys.ts'
import { type World, world } from './world.ts'

// A key document whose entries change what they are for, under verifiers with a list and without one.

const RSA = ['RS256', 'RS512', 'PS256'] as const
type Stated = (typeof RSA)[number] | 'none'
const STATED: readonly Stated[] = [...RSA, 'none']

function entry(stated: Stated): object {
  return stated === 'none' ? silentKey('RS512') : { ...silentKey('RS512'), alg: stated }
}

/** Whether the entry is for an algorithm: to a verifier that lists all of them, and to one that lists none. */
function isFor(stated: Stated, alg: Algorithm, isListed: boolean): boolean {
  return stated === alg || (stated === 'none' && (isListed || alg === 'RS512'))
}

interface Subject {
  readonly isListed: boolean
  readonly verdict: (token: string) => Promise<string>
}

function verifierOf(keys: World['keys'], options: Partial<VerifierOptions>): Verifier {
  return createVerifier({ keys, issuer: null, audience: null, ...options })
}

function judging(verifier: Verifier): (token: string) => Promise<string> {
  return async (token) =>
    await verifier.verify(token).then(
      () => 'accepted',
      (error: unknown) => (error as AuthError).reason,
    )
}

/** Both kinds of verifiers on one source, each with a memory and without one. */
function subjectsOf({ keys, clock }: World): readonly Subject[] {
  return [undefined, RSA].flatMap((algorithms) =>
    ([{ max: 100 }, false] as const).map((remember) => ({
      isListed: algorithms !== undefined,
      verdict: judging(verifierOf(keys, { algorithms, remember, clock })),
    })),
  )
}

const changes = STATED.flatMap((before) =>
  STATED.filter((after) => after !== before).map((after) => ({ before, after })),
)

describe.each([
  ['a bare key', (stated: Stated): object => entry(stated)],
  ['a set', (stated: Stated): object => ({ keys: [{ ...silentKey('ES256') }, entry(stated)] })],
])('the alg of %s changes', (_name, documentOf) => {
  test.each(changes)(
    'from $before to $after: tokens of what it is no longer for end, and ask for nothing',
    async ({ before, after }) => {
      const served = world()
      const { clock, endpoint, keys } = served
      endpoint.document = documentOf(before)
      const subjects = subjectsOf(served)
      const tokens = new Map(RSA.map((alg) => [alg, signedWith(alg, { iat: clock.now() })]))
      await keys.refresh()
      for (const [alg, token] of tokens) {
        for (const { isListed, verdict } of subjects) {
          const verdictBefore = isFor(before, alg, isListed) ? await verdict(token) : 'accepted'
          expect(verdictBefore).toBe('accepted')
        }
      }
      await clock.advance(2)
      endpoint.document = documentOf(after)
      await keys.refresh()
      const requests = endpoint.requests.length
      for (const [alg, token] of tokens) {
        for (const { isListed, verdict } of subjects) {
          const wasFor = isFor(before, alg, isListed)
          const isAccepted = isFor(after, alg, isListed)
          // What it was never for may ask, and is none of the tokens that end.
          if (!isAccepted && !wasFor) continue
          const refused = isListed ? 'unknown_key' : 'algorithm'
          expect(await verdict(token)).toBe(isAccepted ? 'accepted' : refused)
        }
      }
      // The key that left explains its tokens.
      expect(endpoint.requests).toHaveLength(requests)
    },
  )

  test.each(changes)(
    'from $before to $after with an overlap: its tokens end when that is over',
    async ({ before, after }) => {
      const served = world({ overlap: 60 })
      const { clock, endpoint, keys } = served
      endpoint.document = documentOf(before)
      const subjects = subjectsOf(served)
      const tokens = new Map(RSA.map((alg) => [alg, signedWith(alg, { iat: clock.now() })]))
      await keys.refresh()
      await clock.advance(2)
      endpoint.document = documentOf(after)
      await keys.refresh()
      for (const [seconds, isOver] of [
        [58, false],
        [4, true],
      ] as const) {
        await clock.advance(seconds)
        for (const [alg, token] of tokens) {
          for (const { isListed, verdict } of subjects) {
            const wasFor = isFor(before, alg, isListed) && !isOver
            const isAccepted = wasFor || isFor(after, alg, isListed)
            const refused = isListed ? 'unknown_key' : 'algorithm'
            expect(await verdict(token)).toBe(isAccepted ? 'accepted' : refused)
          }
        }
      }
    },
  )
})

describe('a rotation to another algorithm', () => {
  test('the first token of it has the keys fetched, and is accepted: nothing has to be stated', async () => {
    const { clock, endpoint, verdict } = world()
    endpoint.document = silentKey('RS512')
    expect(await verdict(signedWith('RS512'))).toBe('accepted')
    await clock.advance(60)
    for (const alg of ['ES256', 'Ed25519', 'PS256', 'ML-DSA-44'] as const) {
      endpoint.document = { keys: [{ ...silentKey(alg), alg }] }
      const requests = endpoint.requests.length
      const token = signedWith(alg)
      expect(await verdict(token)).toBe('accepted')
      expect(await verdict(token)).toBe('accepted')
      expect(endpoint.requests).toHaveLength(requests + 1)
      await clock.advance(60)
    }
    expect(await verdict(signedWith('RS512', { iat: 0 }))).toBe('algorithm')
  })

  test('a flood of tokens of an algorithm that no key is for costs as many requests as unknown keys do', async () => {
    const counts: number[] = []
    const floods = [
      [signedWith('PS256'), 'algorithm'],
      [signedWith('RS512', {}, { kid: 'other' }), 'unknown_key'],
    ] as const
    for (const [flooding, reason] of floods) {
      const { clock, endpoint, verdict } = world()
      endpoint.document = { keys: [{ ...silentKey('RS512'), kid: 'ours' }] }
      expect(await verdict(signedWith('RS512', {}, { kid: 'ours' }))).toBe('accepted')
      const [header, , signature] = flooding.split('.')
      const asked: Promise<string>[] = []
      for (let count = 0; count < 240; count++) {
        const payload = Buffer.from(JSON.stringify({ exp: 1e10, count })).toString('base64url')
        asked.push(verdict([header, payload, signature].join('.')))
        await clock.advance(0.25)
      }
      await clock.advance(20)
      expect(new Set(await Promise.all(asked))).toEqual(new Set([reason]))
      counts.push(endpoint.requests.length)
    }
    expect(counts[0]).toBe(counts[1])
    expect(counts[0]).toBeLessThanOrEqual(10)
  })

  test('a token that would be refused with any key asks for none', async () => {
    const { endpoint, verdict, clock } = world()
    endpoint.document = silentKey('RS512')
    expect(await verdict(signedWith('RS512'))).toBe('accepted')
    expect(await verdict(signedWith('ES256', { exp: clock.now() - 60 }))).toBe('algorithm')
    expect(endpoint.requests).toHaveLength(1)
  })

  test('in an outage it is 503 if its claims are right, and 401 if they are not', async () => {
    const { clock, endpoint, refusal, verdict } = world()
    endpoint.document = silentKey('RS512')
    expect(await verdict(signedWith('RS512'))).toBe('accepted')
    endpoint.mode = 'down'
    await clock.advance(310)
    expect(await verdict(signedWith('RS512'))).toBe('accepted')
    await clock.advance(0)
    expect(await refusal(signedWith('ES256'))).toMatch(/^503 Retry-After,\d+$/)
    expect(await refusal(signedWith('ES256', { exp: clock.now() - 60 }))).toBe('401')
    expect(await verdict(signedWith('ES256', {}, { alg: 'HS256' }))).toBe('algorithm')
  })
})

function ringOf(document: unknown): KeyRing {
  const ring = readKeyDocument(document)
  if (ring === undefined) throw new TypeError('the document of this test is none')
  return ring
}

describe('a key that changes while a token is judged', () => {
  test.each<[string, readonly Algorithm[] | undefined, Stated]>([
    ['without a list', undefined, 'none'],
    ['with a list', ['RS256'], 'PS256'],
  ])(
    'on the thread pool, %s: no token of before is accepted after',
    async (_name, algorithms, after) => {
      let ring = ringOf(entry('RS256'))
      const keys = keySource({
        now: () => ({ wall: 1e9, monotonic: 0 }),
        current: () => ring,
        wait: async () => ring,
        suspect: async ({ ring: current }) => ({ key: undefined, why: undefined, ring: current }),
      })
      // By its clock it takes no time to read tokens, however busy the machine is.
      const clock = { ...systemClock, monotonic: () => 0 }
      const verifier = createVerifier({ keys, issuer: null, audience: null, algorithms, clock })
      const judge = judging(verifier)
      const burst = Array.from({ length: 12 }, async () => await judge(signedWith('RS256')))
      ring = ringOf(entry(after))
      const verdicts = new Set(await Promise.all(burst))
      // Those that were proven on the main thread, before the change; and those on the thread pool.
      expect(verdicts).toEqual(new Set(['accepted', 'signature']))
    },
  )

  test('in its schema: the proof is gone', async () => {
    const { keys, endpoint, clock } = world()
    endpoint.document = entry('RS256')
    const schema = {
      '~standard': {
        version: 1 as const,
        vendor: 'test',
        async validate(value: unknown) {
          endpoint.document = entry('none')
          await keys.refresh()
          return { value }
        },
      },
    }
    const verifier = createVerifier({ keys, issuer: null, audience: null, clock, schema })
    await keys.refresh()
    await clock.advance(2)
    await expect(verifier.verify(signedWith('RS256'))).rejects.toMatchObject({
      reason: 'algorithm',
    })
  })
})

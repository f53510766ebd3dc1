import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { setImmediate as nextIteration } from 'node:timers/promises'

import { manualClock } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { createVerifier, type Verifier } from '../../src/index.ts'
import { readKeyDocument } from '../../src/keys/key-document.ts'
import { type KeyRing, keySource, type KeySourceMethods } from '../../src/keys/key-source.ts'

const clock = manualClock()

interface Signer {
  readonly privateKey: KeyObject
  readonly ring: KeyRing
}

function signer(): Signer {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const ring = readKeyDocument(publicKey.export({ format: 'jwk' }))
  if (ring === undefined) throw new TypeError('the document of this test is not usable')
  return { privateKey, ring }
}

function tokenOf({ privateKey }: Signer): string {
  const claims = { exp: clock.now() + 600 }
  const input = [{ alg: 'RS256' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${input}.${sign('sha256', Buffer.from(input), privateKey).toString('base64url')}`
}

const [ada, bob] = [signer(), signer()]
const token = tokenOf(ada)
/** A token of Ada is tried with Bob's key first. */
const both: KeyRing = { keys: [...bob.ring.keys, ...ada.ring.keys], bare: false }

/** A verifier whose keys a test changes. What has to be waited for is what there is in the end. */
function world(): { verifier: Verifier; keys: { ring: KeyRing | undefined } } {
  const keys: KeySourceMethods & { ring: KeyRing | undefined; final: KeyRing } = {
    ring: both,
    final: both,
    now: () => ({ wall: clock.now(), monotonic: clock.monotonic() }),
    current: () => keys.ring,
    async wait() {
      await Promise.resolve()
      keys.ring = keys.final
      return keys.final
    },
    suspect: async ({ ring }) => ({ key: undefined, why: undefined, ring }),
  }
  const options = { issuer: null, audience: null, algorithms: ['RS256'], clock } as const
  return { verifier: createVerifier({ keys: keySource(keys), ...options, remember: false }), keys }
}

/** So many at once that most are left to the thread pool. */
function many(verifier: Verifier): Promise<string>[] {
  return Array.from({ length: 20 }, async () => {
    return await verifier.verify(token).then(
      () => 'accepted',
      (error: unknown) => String((error as { reason: unknown }).reason),
    )
  })
}

describe('a token with two candidates', () => {
  test('is proven by the second', async () => {
    const { verifier } = world()
    expect(new Set(await Promise.all(many(verifier)))).toEqual(new Set(['accepted']))
  })

  test('the ring changes while the first is tried on the thread pool: the second proves nothing, tried at once as it may be', async () => {
    const { verifier, keys } = world()
    const verdicts = many(verifier)
    keys.ring = bob.ring
    const words = await Promise.all(verdicts)
    // The first few were answered before the ring changed: two checks for each of them.
    expect(words.slice(0, 2)).toEqual(['accepted', 'accepted'])
    expect(new Set(words.slice(2))).toEqual(new Set(['signature']))
  })

  test('the ring is a newer one with the same key: the second proves it', async () => {
    const { verifier, keys } = world()
    const verdicts = many(verifier)
    keys.ring = { keys: [...ada.ring.keys], bare: true }
    expect(new Set(await Promise.all(verdicts))).toEqual(new Set(['accepted']))
  })

  test('the ring has grown too old meanwhile: what there is after a wait decides', async () => {
    const { verifier, keys } = world()
    const verdicts = many(verifier)
    keys.ring = undefined
    expect(new Set(await Promise.all(verdicts))).toEqual(new Set(['accepted']))
    expect(keys.ring).toBe(both)
  })
})

test('the last of five candidates, which alone is tried on the thread pool, leaves meanwhile: its token is not taken for one of the first', async () => {
  const { verifier, keys } = world()
  const others = Array.from({ length: 4 }, () => bob.ring.keys).flat()
  keys.ring = { keys: [...others, ...ada.ring.keys], bare: false }
  // Those before may have left the event loop busy.
  await nextIteration()
  const verdict = verifier.verify(token)
  keys.ring = { keys: others, bare: false }
  await expect(verdict).rejects.toMatchObject({ reason: 'signature' })
})

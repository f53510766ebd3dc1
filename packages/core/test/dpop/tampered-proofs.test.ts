import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { localReplays } from '../../src/dpop/local-replays.ts'
import { createProofMaker, encode, ORIGIN, requestWith } from './proof-maker.ts'
import { client, guarding, makerOf, verdictOf } from './proof-verdicts.ts'

// What can be done to a sound proof without its key.

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'.split('')
const characters = fc.constantFrom(...ALPHABET, '', '.', '=', '+', '/', ' ', ',', '\u0141', 'AA')

const sound = ['ES256', 'Ed25519', 'PS256', 'RS256'].map((alg) => makerOf(alg).proof())
const proofs = guarding()
const verdict = async (proof: string) => await verdictOf(proofs.check(requestWith(proof)))

async function use(proof: string, guard = proofs): Promise<string> {
  const used = async () => {
    await guard.remember(await guard.check(requestWith(proof)))
  }
  return await verdictOf(used())
}

describe('a sound proof', () => {
  test('with another character, one less or one more, anywhere, is refused', async () => {
    const change = fc.record({
      proof: fc.constantFrom(...sound),
      // From the end as often: the header is longest.
      place: fc.double({ min: 0, max: 1, noNaN: true }),
      deleted: fc.constantFrom(0, 1, 1, 1),
      inserted: characters,
    })
    const property = fc.asyncProperty(change, async ({ proof, place, deleted, inserted }) => {
      const at = Math.floor(place * proof.length)
      const changed = proof.slice(0, at) + inserted + proof.slice(at + deleted)
      fc.pre(changed !== proof)
      expect(await verdict(changed)).not.toBe('accepted')
    })
    await fc.assert(property, { numRuns: 2000 })
    // Nothing that was sent before has changed how they are read.
    expect(await Promise.all(sound.map(verdict))).toEqual(sound.map(() => 'accepted'))
  })

  test('with the parts of others is refused', async () => {
    const others = [...sound, client.proof(), makerOf('RS256').proof()]
    const part = fc.constantFrom(...others)
    const property = fc.asyncProperty(part, part, part, async (header, payload, signature) => {
      const mixed = [header, payload, signature].map((proof, at) => proof.split('.')[at]).join('.')
      const isWhole = others.includes(mixed)
      expect((await verdict(mixed)) === 'accepted').toBe(isWhole)
    })
    await fc.assert(property, { numRuns: 300 })
  })
})

/** The order of the group of P-256. */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

/** ECDSA accepts a second signature, which anybody can make of the first one. */
function withOtherSignature(proof: string): string {
  const [header, payload, signature = ''] = proof.split('.')
  const octets = Buffer.from(signature, 'base64url')
  const s = BigInt(`0x${octets.subarray(32).toString('hex')}`)
  const other = Buffer.from((ORDER - s).toString(16).padStart(64, '0'), 'hex')
  return [header, payload, encode(Buffer.concat([octets.subarray(0, 32), other]))].join('.')
}

describe('a used proof', () => {
  test('with the other signature of ECDSA is replayed', async () => {
    const proof = client.proof()
    const other = withOtherSignature(proof)
    expect(other).not.toBe(proof)
    expect(await verdict(other)).toBe('accepted')
    expect(await use(proof)).toBe('accepted')
    expect(await use(other)).toBe('replayed_proof')
    const unused = client.proof()
    expect(await use(withOtherSignature(unused))).toBe('accepted')
    expect(await use(unused)).toBe('replayed_proof')
  })

  test('that its key has signed anew, or written otherwise, is replayed', async () => {
    const claims = { jti: 'the same' }
    expect(await use(client.proof({ claims }))).toBe('accepted')
    expect(await use(client.proof({ claims }))).toBe('replayed_proof')
    const htu = `${ORIGIN.toUpperCase().replace('HTTPS', 'https')}:443/./a?b`
    expect(await use(client.proof({ claims: { ...claims, htu, x: 1 } }))).toBe('replayed_proof')
    const header = { kid: 'a', jwk: { ...client.jwk, use: 'sig' } }
    expect(await use(client.proof({ header, claims }))).toBe('replayed_proof')
  })

  test('is replayed at every guard with the same memory, and of several at once one is taken', async () => {
    const replays = localReplays()
    const guards = [1, 2, 3].map(() => guarding({ replays }))
    const proof = client.proof()
    const verdicts = await Promise.all(guards.map(async (guard) => await use(proof, guard)))
    expect(verdicts.toSorted()).toEqual(['accepted', 'replayed_proof', 'replayed_proof'])
    expect(replays.size).toBe(1)
  })

  test('of another key with the same jti is another one', async () => {
    const stranger = await createProofMaker('ES256')
    const claims = { jti: 'of both' }
    expect(await use(stranger.proof({ claims }))).toBe('accepted')
    expect(await use(client.proof({ claims }))).toBe('accepted')
  })
})

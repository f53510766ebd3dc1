import { createVerifier } from '@portcullis/core'
import { decodeProtectedHeader } from 'jose'
import { describe, expect, test } from 'vitest'

import { manualClock } from '../../src/clock.ts'
import { createTestIssuer } from '../../src/issuer.ts'
import { tokenService } from '../../src/token-service.ts'

async function setUp() {
  const clock = manualClock()
  const issuer = await createTestIssuer({ clock })
  const service = tokenService(issuer)
  const verifier = createVerifier(issuer.verifierOptions)
  const published = async (): Promise<unknown> => await (await service.fetch(service.keyUrl)).json()
  const old = issuer.publicJwk
  /** Whether a new token is accepted, after the pause between two fetches of keys. */
  async function isAccepted(token: string): Promise<boolean> {
    await clock.advance(20)
    return await verifier.verify(token).then(
      () => true,
      () => false,
    )
  }
  return { clock, issuer, old, published, isAccepted }
}

const kidOf = (token: string) => decodeProtectedHeader(token).kid

describe('publish', () => {
  test('now, by default: document and signing change together', async () => {
    const { issuer, old, published, isAccepted } = await setUp()
    const oldToken = await issuer.token()
    expect(await isAccepted(oldToken)).toBe(true)
    const rotation = await issuer.rotate()
    expect(issuer.publicJwk.n).not.toBe(old.n)
    expect(await published()).toEqual(issuer.publicJwk)
    expect(await isAccepted(await issuer.token())).toBe(true)
    expect(await isAccepted(oldToken)).toBe(false)
    rotation.complete()
    expect(await published()).toEqual(issuer.publicJwk)
  })

  test('first: the document changes, then the signing', async () => {
    const { issuer, old, published } = await setUp()
    const rotation = await issuer.rotate({ publish: 'first' })
    expect(issuer.publicJwk).toEqual(old)
    expect(kidOf(await issuer.token())).toBe(old.kid)
    const next = await published()
    expect(next).not.toEqual(old)
    rotation.complete()
    expect(issuer.publicJwk).toEqual(next)
    expect(await published()).toEqual(next)
  })

  test('later: the signing changes, then the document', async () => {
    const { issuer, old, published, isAccepted } = await setUp()
    const rotation = await issuer.rotate({ publish: 'later' })
    const token = await issuer.token()
    expect(kidOf(token)).not.toBe(old.kid)
    expect(await published()).toEqual(old)
    expect(await isAccepted(token)).toBe(false)
    rotation.complete()
    expect(await published()).toEqual(issuer.publicJwk)
    expect(await isAccepted(await issuer.token({ claims: { jti: '2' } }))).toBe(true)
  })

  test('both: a set with both keys, then with the new one', async () => {
    const { issuer, old, published, isAccepted } = await setUp()
    const oldToken = await issuer.token()
    const rotation = await issuer.rotate({ publish: 'both' })
    expect(await published()).toEqual({ keys: [old, issuer.publicJwk] })
    expect(await isAccepted(oldToken)).toBe(true)
    expect(await isAccepted(await issuer.token())).toBe(true)
    rotation.complete()
    expect(await published()).toEqual({ keys: [issuer.publicJwk] })
  })
})

describe('kid', () => {
  test.each(['now', 'both'] as const)(
    'same, publish %s: new material, old name',
    async (publish) => {
      const { issuer, old, isAccepted } = await setUp()
      await issuer.rotate({ kid: 'same', publish })
      expect(issuer.publicJwk.kid).toBe(old.kid)
      expect(issuer.publicJwk.n).not.toBe(old.n)
      const token = await issuer.token()
      expect(kidOf(token)).toBe(old.kid)
      expect(await isAccepted(token)).toBe(true)
    },
  )

  test('none: neither the document nor a token has one, and same keeps it so', async () => {
    const { issuer, published, isAccepted } = await setUp()
    for (const kid of ['none', 'same'] as const) {
      await issuer.rotate({ kid })
      expect(await published()).not.toHaveProperty('kid')
      const token = await issuer.token()
      expect(decodeProtectedHeader(token)).toEqual({ alg: 'RS512', typ: 'JWT' })
      expect(await isAccepted(token)).toBe(true)
    }
    await issuer.rotate({ kid: 'new' })
    expect(kidOf(await issuer.token())).toBe(issuer.publicJwk.kid)
  })
})

describe('a roll-back', () => {
  test.each(['now', 'first', 'later', 'both'] as const)(
    'undoes both halves of a rotation, publish %s',
    async (publish) => {
      const { issuer, old, published, isAccepted } = await setUp()
      const oldToken = await issuer.token()
      const rotation = await issuer.rotate({ publish })
      rotation.complete()
      issuer.rollBack()
      expect(issuer.publicJwk).toEqual(old)
      expect(await published()).toEqual(old)
      expect(await isAccepted(oldToken)).toBe(true)
      expect(kidOf(await issuer.token())).toBe(old.kid)
    },
  )

  test('undoes a first half alone, whose second cannot follow then', async () => {
    const { issuer, old, published } = await setUp()
    const rotation = await issuer.rotate({ publish: 'first' })
    issuer.rollBack()
    expect(await published()).toEqual(old)
    expect(() => {
      rotation.complete()
    }).toThrow(new TypeError('complete: the issuer has rotated again since, or rolled back'))
  })

  test('goes one rotation back each time, until none is left', async () => {
    const issuer = await createTestIssuer({ algorithm: 'ES256' })
    const kids = [issuer.publicJwk.kid]
    for (let times = 0; times < 3; times++) {
      await issuer.rotate()
      kids.push(issuer.publicJwk.kid)
    }
    for (const kid of kids.toReversed().slice(1)) {
      issuer.rollBack()
      expect(issuer.publicJwk.kid).toBe(kid)
    }
    expect(() => {
      issuer.rollBack()
    }).toThrow(new TypeError('rollBack: there is no rotation to undo'))
  })

  test('makes the document before it the stale one', async () => {
    const { issuer } = await setUp()
    const service = tokenService(issuer)
    await issuer.rotate()
    const { kid } = issuer.publicJwk
    issuer.rollBack()
    issuer.outage('stale-key')
    expect(await (await service.fetch(service.keyUrl)).json()).toMatchObject({ kid })
  })
})

test('a second half can be called for twice, but not after the next rotation', async () => {
  const { issuer } = await setUp()
  const rotation = await issuer.rotate({ publish: 'first' })
  rotation.complete()
  rotation.complete()
  await issuer.rotate()
  expect(() => {
    rotation.complete()
  }).toThrow(new TypeError('complete: the issuer has rotated again since, or rolled back'))
})

test.each<[complaint: string, options: object]>([
  ['kid must be one of new, same, none', { kid: 'old' }],
  ['publish must be one of now, first, later, both', { publish: true }],
  ['unknown option "when", known are kid, publish', { when: 'now' }],
])('a wrong option changes nothing: %s', async (complaint, options) => {
  const { issuer, old } = await setUp()
  await expect(issuer.rotate(options)).rejects.toThrow(new TypeError(`rotate: ${complaint}`))
  expect(issuer.publicJwk).toEqual(old)
})

import { describe, expect, test } from 'vitest'

import { manualClock } from '../../src/clock.ts'
import { createTestIssuer } from '../../src/issuer.ts'

const START = 1_767_225_600

async function setUp() {
  const clock = manualClock()
  const issuer = await createTestIssuer({ clock, algorithm: 'ES256' })
  /** Of each key, in seconds since the start. */
  const phases = () =>
    issuer.keyPhases().map(({ published, signing }) => ({
      published: published.map(({ from, until }) => [from - START, until && until - START]),
      signing: signing.map(({ from, until }) => [from - START, until && until - START]),
    }))
  return { clock, issuer, phases }
}

describe('the phases of keys', () => {
  test('begin with the first key, which is published and signs', async () => {
    const { issuer } = await setUp()
    expect(issuer.keyPhases()).toEqual([
      {
        thumbprint: issuer.publicJwk.kid,
        publicJwk: issuer.publicJwk,
        published: [{ from: START, until: undefined }],
        signing: [{ from: START, until: undefined }],
      },
    ])
  })

  test.each([
    {
      publish: 'now' as const,
      old: { published: [[0, 10]], signing: [[0, 10]] },
      next: { published: [[10, undefined]], signing: [[10, undefined]] },
    },
    {
      publish: 'first' as const,
      old: { published: [[0, 10]], signing: [[0, 30]] },
      next: { published: [[10, undefined]], signing: [[30, undefined]] },
    },
    {
      publish: 'later' as const,
      old: { published: [[0, 30]], signing: [[0, 10]] },
      next: { published: [[30, undefined]], signing: [[10, undefined]] },
    },
    {
      publish: 'both' as const,
      old: { published: [[0, 30]], signing: [[0, 10]] },
      next: { published: [[10, undefined]], signing: [[10, undefined]] },
    },
  ])('follow a rotation, publish $publish', async ({ publish, old, next }) => {
    const { clock, issuer, phases } = await setUp()
    await clock.advance(10)
    const rotation = await issuer.rotate({ publish })
    await clock.advance(20)
    rotation.complete()
    expect(phases()).toEqual([old, next])
  })

  test('are several for a key that a roll-back brings back', async () => {
    const { clock, issuer, phases } = await setUp()
    await clock.advance(10)
    await issuer.rotate()
    await clock.advance(10)
    issuer.rollBack()
    const twice = [
      [0, 10],
      [20, undefined],
    ]
    expect(phases()).toEqual([
      { published: twice, signing: twice },
      { published: [[10, 20]], signing: [[10, 20]] },
    ])
  })

  test('tell keys apart that have one kid, or none', async () => {
    const { issuer } = await setUp()
    await issuer.rotate({ kid: 'same' })
    await issuer.rotate({ kid: 'none' })
    const all = issuer.keyPhases()
    expect(new Set(all.map(({ thumbprint }) => thumbprint)).size).toBe(3)
    expect(all.map(({ publicJwk: { kid } }) => kid)).toEqual([
      all[0]?.thumbprint,
      all[0]?.thumbprint,
      undefined,
    ])
  })

  test('are kept for 100 keys, and for 100 phases of each', async () => {
    const { issuer } = await setUp()
    const first = issuer.publicJwk.kid
    for (let times = 0; times < 110; times++) {
      await issuer.rotate()
      issuer.rollBack()
    }
    const all = issuer.keyPhases()
    expect(all).toHaveLength(100)
    expect(all[0]?.thumbprint).toBe(first)
    expect(all[0]?.signing).toHaveLength(100)
    expect(all[0]?.signing.at(-1)?.until).toBeUndefined()
  })

  test('are copies, without private members', async () => {
    const { issuer } = await setUp()
    for (const { publicJwk } of issuer.keyPhases()) Object.assign(publicJwk, { kid: 'other' })
    const [copy] = issuer.keyPhases()
    expect(copy?.publicJwk).toEqual(issuer.publicJwk)
    expect(copy?.publicJwk).not.toHaveProperty('d')
  })
})

import { createTestIssuer, manualClock, tokenService } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { createVerifier, remoteKeys } from '../../src/index.ts'

// What a stranger learns from the answer: 503 only for a token that would have been accepted of a trusted key.

// A key of it is made in no time.
const algorithm = 'ES256'
const names = { issuer: 'https://auth.test', audience: 'api' }
const header = { typ: 'at+jwt' }
const claims = { sub: 'eve' }

/** What a stranger can try, and whether the verifier would accept it of a trusted key. */
const TRIES = [
  { name: 'the right claims', isRight: true, options: { claims, header } },
  {
    name: 'another issuer',
    isRight: false,
    options: { claims: { ...claims, iss: 'https://other.test' }, header },
  },
  {
    name: 'another audience',
    isRight: false,
    options: { claims: { ...claims, aud: 'other' }, header },
  },
  { name: 'another type', isRight: false, options: { claims, header: { typ: 'JWT' } } },
  { name: 'a required claim less', isRight: false, options: { header } },
  {
    name: 'an expiry in the past',
    isRight: false,
    options: { claims, header, expiresIn: -60 },
  },
] as const

describe.each(TRIES)('a forged token with $name', ({ isRight, options }) => {
  test(`during an outage: ${isRight ? 503 : 401}`, async () => {
    const { clock, issuer, keys, stranger, verifier } = await setUp()
    issuer.outage(503)
    // Twice: after the first failure the next attempt is near enough for the token to wait for it.
    for (const pause of [2, 0]) {
      await expect(keys.refresh()).rejects.toMatchObject({ code: 'keys_unavailable' })
      await clock.advance(pause)
    }
    const verdict = verifier.verify(await stranger.token(options))
    await expect(verdict).rejects.toMatchObject({ status: isRight ? 503 : 401 })
  })

  test(`while the endpoint answers: 401, after ${isRight ? 1 : 0} requests to it`, async () => {
    const { issuer, stranger, verifier } = await setUp()
    const before = issuer.requests().length
    const verdict = verifier.verify(await stranger.token(options))
    await expect(verdict).rejects.toMatchObject({ status: 401 })
    expect(issuer.requests().length - before).toBe(isRight ? 1 : 0)
  })
})

async function setUp() {
  const clock = manualClock()
  const issuer = await createTestIssuer({ clock, algorithm, ...names })
  const stranger = await createTestIssuer({ clock, algorithm, ...names })
  const service = tokenService(issuer)
  const keys = remoteKeys(service.keyUrl, { fetch: service.fetch, clock })
  const rules = {
    ...names,
    algorithms: [algorithm] as const,
    type: header.typ,
    requiredClaims: ['sub'],
  }
  const verifier = createVerifier({ keys, ...rules, clock })
  await verifier.ready()
  await clock.advance(2)
  return { clock, issuer, keys, stranger, verifier }
}

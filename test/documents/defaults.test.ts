import { channel } from 'node:diagnostics_channel'

import {
  type Algorithm,
  AuthError,
  createVerifier,
  remoteKeys,
  type VerifyMessage,
} from '@portcullis/core'
import { createTestIssuer, manualClock, tokenService } from '@portcullis/testing'
import { describe, expect, onTestFinished, test } from 'vitest'

import { declarationsOf } from '../../docs/options.ts'
import { checkRedisRevocationsOptions } from '../../packages/redis/src/revocations/options.ts'

const declared = declarationsOf('core', 'VerifierOptions', 'RemoteKeysOptions')

/** What SECURITY.md says that an option is by default: its table is written from the declarations. */
function stated(option: string): string {
  const value = valueOf(declared.get(option)?.stated ?? '')
  if (value === undefined) throw new Error(`the declaration of ${option} states no default`)
  return value
}

describe('by default, as SECURITY.md says, a verifier', () => {
  test.each<[Algorithm, isStated: boolean, outcome: string]>([
    ['RS256', true, 'accepted'],
    ['RS512', true, 'accepted'],
    ['PS512', true, 'accepted'],
    ['ES256', true, 'accepted'],
    ['RS256', false, 'algorithm'],
    ['RS512', false, 'accepted'],
    ['PS512', false, 'algorithm'],
    ['ES256', false, 'accepted'],
  ])(
    'takes a key for %s where its entry says so (%j): %s',
    async (algorithm, isStated, outcome) => {
      expect(declared.get('algorithms')?.stated).toBe('what keys state')
      const omitFromKey = isStated ? [] : (['alg'] as const)
      const issuer = await createTestIssuer({ algorithm, omitFromKey })
      const { keys } = issuer.verifierOptions
      const verifier = createVerifier({ keys, issuer: null, audience: null })
      const verdict = await verifier.verify(await issuer.token()).then(
        () => 'accepted',
        (error: unknown) => (error instanceof AuthError ? error.reason : error),
      )
      expect(verdict).toBe(outcome)
    },
  )

  test('tolerates clocks that differ by so much, and no more', async () => {
    const { clock, issuer, verifier } = await setUp()
    const token = await issuer.token({ expiresIn: 60 })
    await clock.advance(60 + Number(stated('clockTolerance')) - 1)
    await expect(verifier.verify(token)).resolves.toBeDefined()
    await clock.advance(1)
    await expect(verifier.verify(token)).rejects.toMatchObject({ reason: 'expired' })
  })

  test('requires an expiry', async () => {
    const { issuer, verifier } = await setUp()
    expect(stated('requireExpiry')).toBe('true')
    const endless = await issuer.token({ omit: ['exp'] })
    await expect(verifier.verify(endless)).rejects.toMatchObject({ reason: 'missing_claim' })
  })

  test('reads a token of so many octets, and none that is longer', async () => {
    const { verifier } = await setUp()
    const longest = 'a'.repeat(Number(stated('maxTokenSize')))
    await expect(verifier.verify(longest)).rejects.toMatchObject({ reason: 'malformed' })
    await expect(verifier.verify(`${longest}a`)).rejects.toMatchObject({ reason: 'too_large' })
  })

  test('remembers so many tokens, and no more', async () => {
    const max = Number(/\d+/.exec(stated('remember'))?.[0])
    const issuer = await createTestIssuer({ algorithm: 'ES256' })
    const verifier = createVerifier(issuer.verifierOptions)
    let remembered: boolean | undefined
    const listener = (message: unknown) => {
      remembered = (message as VerifyMessage).remembered
    }
    channel('portcullis:verify').subscribe(listener)
    onTestFinished(() => {
      channel('portcullis:verify').unsubscribe(listener)
    })
    const tokens = await Promise.all(
      Array.from({ length: max + 1 }, async (_, at) => await issuer.token({ claims: { at } })),
    )
    const [first = '', second = ''] = tokens
    for (const token of tokens.slice(0, max)) await verifier.verify(token)
    await verifier.verify(first)
    expect(remembered).toBe(true)
    await verifier.verify(tokens.at(-1) ?? '')
    await verifier.verify(second)
    expect(remembered).toBe(false)
  })

  test.each(['issuer', 'audience'])('has no %s: it must be stated', async (name) => {
    const { issuer } = await setUp()
    expect(() => createVerifier({ ...issuer.verifierOptions, [name]: undefined })).toThrow(name)
  })
})

describe('by default, as SECURITY.md says, keys behind a URL', () => {
  test('are kept for so long: fresh, stale, and while the endpoint is down', async () => {
    const { keys, verifier } = await setUp()
    await verifier.ready()
    const { maxAge = 0, withdrawnKeyTrust } = keys.status()
    // Spread by 10 % for each process.
    expect(Math.abs(maxAge / Number(stated('maxAge')) - 1)).toBeLessThanOrEqual(0.1)
    expect(withdrawnKeyTrust?.endpointUp).toBeCloseTo(
      maxAge + Number(stated('staleWhileRevalidate')),
    )
    expect(withdrawnKeyTrust?.endpointDown).toBeCloseTo(maxAge + Number(stated('staleIfError')))
  })

  test('are trusted for so long after a document came that lacks them', async () => {
    expect(stated('overlap')).toBe('0')
    const { clock, issuer, keys, verifier } = await setUp()
    const token = await issuer.token()
    await expect(verifier.verify(token)).resolves.toBeDefined()
    await issuer.rotate()
    await clock.advance(1)
    await keys.refresh()
    await expect(verifier.verify(token)).rejects.toMatchObject({ code: 'invalid_token' })
  })

  test('are waited for so long, and no longer', async () => {
    const clock = manualClock()
    const keys = remoteKeys('https://auth.test/keys', {
      fetch: async () => await new Promise<never>(() => {}),
      clock,
    })
    let outcome: unknown
    void createVerifier({ keys, issuer: null, audience: null, clock })
      .ready()
      .catch((error: unknown) => {
        outcome = error
      })
    await clock.advance(Number(stated('timeout')) - 0.01)
    expect(outcome).toBeUndefined()
    await clock.advance(0.01)
    expect(outcome).toMatchObject({ code: 'keys_unavailable', reason: 'timeout' })
  })

  test('come over https', () => {
    expect(stated('allowInsecure')).toBe('false')
    expect(() => remoteKeys('http://auth.test/keys')).toThrow(TypeError)
  })
})

test('by default, as SECURITY.md says, a replica of revocations is so old at most, refuses then, and has so much room', () => {
  const { maxStaleness, whenStale, max } = checkRedisRevocationsOptions({
    url: 'redis://127.0.0.1',
  })
  const ofRedis = declarationsOf('redis', 'RedisRevocationsOptions')
  const found = ['maxStaleness', 'whenStale', 'max'].map((name) => [
    name,
    valueOf(ofRedis.get(name)?.stated ?? ''),
  ])
  expect(Object.fromEntries(found)).toEqual({
    maxStaleness: String(maxStaleness),
    whenStale: `'${whenStale}'`,
    max: String(max),
  })
})

async function setUp() {
  const clock = manualClock()
  const issuer = await createTestIssuer({ clock })
  const service = tokenService(issuer)
  const keys = remoteKeys(service.keyUrl, { fetch: service.fetch, clock })
  const verifier = createVerifier({ keys, issuer: null, audience: null, clock })
  return { clock, issuer, keys, verifier }
}

/** A default in one form: the code in which it is stated, or the number that it begins with. */
function valueOf(text: string): string | undefined {
  const [number] = /^\d[\d,_]*/.exec(text) ?? []
  return number === undefined ? text || undefined : number.replaceAll(/[,_]/g, '')
}

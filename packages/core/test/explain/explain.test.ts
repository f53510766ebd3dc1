import { createTestIssuer, manualClock, tokenService } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { explain } from '../../src/explain/explain.ts'
import type { Explanation } from '../../src/explain/finding.ts'
import { createVerifier, localKeys, localRevocations, remoteKeys } from '../../src/index.ts'
import { signedWith, silentKey } from '../keys/stated-keys.ts'

const clock = manualClock()
const issuer = await createTestIssuer({ clock, algorithm: 'ES256', issuer: 'https://auth.test' })
const options = issuer.verifierOptions

/** One line a finding, as people read it. */
/** A token of an RSA key that states no algorithm, and that key where it states the token's. */
function silentRsa(alg: 'RS256') {
  const jwk = silentKey(alg)
  return { token: signedWith(alg), keys: localKeys(jwk), stating: localKeys({ ...jwk, alg }) }
}

function outline({ findings }: Explanation): readonly string[] {
  return findings.map(({ check, outcome, reason }) =>
    [check, outcome, reason].filter((each) => each !== undefined).join(' '),
  )
}

function named({ hints }: Explanation): readonly string[] {
  return hints.map(({ name }) => name)
}

describe('a sound token', () => {
  test('is accepted, with a finding for each check in the order of the verifier', async () => {
    const explanation = await explain(await issuer.token(), options)
    expect(explanation).toMatchObject({ verdict: 'accepted', refusal: undefined, hints: [] })
    expect(outline(explanation)).toEqual([
      'form ok',
      'algorithm ok',
      'key ok',
      'signature ok',
      'type skipped',
      'issuer ok',
      'audience skipped',
      'exp ok',
      'nbf skipped',
      'iat ok',
    ])
  })

  test('has the claims that are required before the times, and what they have to be behind them', async () => {
    const requiredClaims = { sub: true, token_use: 'access' }
    const token = await issuer.token({ claims: { sub: 'ada', token_use: 'access' } })
    const explanation = await explain(token, { ...options, requiredClaims })
    expect(outline(explanation).slice(-5)).toEqual([
      'required ok',
      'exp ok',
      'nbf skipped',
      'iat ok',
      'values ok',
    ])
  })

  test('has its claims as proven ones, and none that are not', async () => {
    const explanation = await explain(await issuer.token({ claims: { sub: 'ada' } }), options)
    expect(explanation.provenClaims).toMatchObject({ sub: 'ada' })
    expect(explanation.unprovenClaims).toBeUndefined()
  })
})

test.each([{ toString: null }, { toString: 'a' }, ['RS512'], 1])(
  'an alg that is no text, %j, is a finding and no fault of the program',
  async (alg) => {
    const [, payload = '', signature = ''] = (await issuer.token()).split('.')
    const header = Buffer.from(JSON.stringify({ alg })).toString('base64url')
    const explanation = await explain(`${header}.${payload}.${signature}`, options)
    expect(outline(explanation)).toContain('algorithm fail algorithm')
  },
)

describe('a token with several faults', () => {
  test('has a finding for each, and the refusal of the verifier', async () => {
    const token = await issuer.token({ expiresIn: -300, claims: { iss: 'https://other.test' } })
    const explanation = await explain(token, { ...options, audience: 'api' })
    expect(outline(explanation).filter((line) => line.includes('fail'))).toEqual([
      'issuer fail issuer',
      'audience fail audience',
      'exp fail expired',
    ])
    expect(explanation.refusal).toMatchObject({ reason: 'issuer', status: 401 })
    expect(explanation.refusal?.headers['WWW-Authenticate']).toContain('error="invalid_token"')
  })

  test.each([
    ['what is missing before a time that is over', ['iat', 'exp'], { iat: undefined }, 'iat'],
    ['a time that is none before one that is over', ['exp', 'nbf'], { nbf: 'soon' }, 'nbf'],
    ['what is required before a time that is over', ['exp'], { token_use: undefined }, 'required'],
    ['a time that is over before another value', ['exp', 'values'], { token_use: 'id' }, 'exp'],
    [
      'what is missing, and of the others what they are not',
      ['exp', 'values'],
      { sub: undefined, token_use: 'id' },
      'required',
    ],
  ])('%s, as a verifier has it', async (_title, checks, change, first) => {
    const claims = { sub: 'ada', token_use: 'access', ...change }
    const omit = Object.entries(claims).filter(([, value]) => value === undefined)
    const token = await issuer.token({
      expiresIn: -300,
      claims,
      omit: [...omit.map(([name]) => name), ...('iat' in change ? ['iat'] : [])],
    })
    const stated = {
      ...options,
      maxTokenAge: 600,
      requiredClaims: { sub: true, token_use: 'access' },
    }
    const { findings, refusal } = await explain(token, stated)
    const failed = findings.filter(({ outcome }) => outcome === 'fail')
    expect(failed.map(({ check }) => check)).toEqual([...new Set([first, ...checks])])
    expect(failed[0]?.reason).toBe(refusal?.reason)
  })

  test('says times for people, and in the summary without the value of the claim', async () => {
    const explanation = await explain(await issuer.token({ expiresIn: -300 }), options)
    const exp = explanation.findings.find(({ check }) => check === 'exp')
    expect(exp?.summary).toBe('5 min ago (tolerance 5 s)')
    expect(exp?.detail).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z, 5 min ago \(tolerance 5 s\)$/)
  })
})

describe('whose key made the signature', () => {
  test('claims of a token that no trusted key proves are unproven', async () => {
    const stranger = await createTestIssuer({ clock, algorithm: 'ES256' })
    const token = await stranger.token({ claims: { sub: 'eve' } })
    const explanation = await explain(token, options)
    expect(explanation).toMatchObject({ verdict: 'refused', provenClaims: undefined })
    expect(explanation.unprovenClaims).toMatchObject({ sub: 'eve' })
    expect(explanation.signer).toBeUndefined()
  })

  test('one of another environment, where its keys are given by name', async () => {
    const staging = await createTestIssuer({ clock, algorithm: 'ES256' })
    const explanation = await explain(await staging.token(), options, {
      otherKeys: [{ name: 'staging', keys: localKeys(staging.publicJwk) }],
    })
    expect(explanation).toMatchObject({ verdict: 'refused', signer: { foundIn: 'staging' } })
    expect(named(explanation)).toEqual(['other_keys'])
  })

  test('the previous one, where a service has it in hand and the document no longer', async () => {
    const { service, rotated } = await rotation()
    const inHand = service()
    const old = await rotated.token()
    await createVerifier({ ...rotated.verifierOptions, keys: inHand }).verify(old)
    await rotated.rotate()
    const explanation = await explain(
      old,
      { ...rotated.verifierOptions, keys: service() },
      { keysInHand: inHand },
    )
    expect(explanation).toMatchObject({
      verdict: 'refused',
      inHand: { verdict: 'accepted' },
      signer: { foundIn: 'keysInHand' },
    })
    expect(named(explanation)).toEqual(['previous_key'])
  })

  test('a newer one than a service has in hand', async () => {
    const { service, rotated } = await rotation()
    const inHand = service()
    const verifier = createVerifier({ ...rotated.verifierOptions, keys: inHand })
    await verifier.verify(await rotated.token())
    await rotated.rotate()
    const explanation = await explain(
      await rotated.token(),
      { ...rotated.verifierOptions, keys: service() },
      { keysInHand: inHand },
    )
    expect(explanation).toMatchObject({ verdict: 'accepted', inHand: { verdict: 'refused' } })
    expect(named(explanation)).toEqual(['rotation_not_seen'])
  })

  test('one with another kid than the header states', async () => {
    const { kid: _, ...material } = issuer.publicJwk
    const keys = localKeys([
      { ...material, kid: 'b' },
      { ...issuer.publicJwk, kid: 'c', use: 'enc' },
    ])
    const explanation = await explain(await issuer.token(), { ...options, keys })
    expect(explanation.refusal).toMatchObject({ reason: 'unknown_key' })
    expect(named(explanation)).toEqual(['kid_of_another_key', 'unusable_keys'])
  })

  test('with an algorithm that is not listed', async () => {
    const keys = localKeys(issuer.publicJwk)
    const token = await issuer.token()
    const listed = { keys, issuer: null, audience: null, algorithms: ['RS512'] } as const
    const explanation = await explain(token, listed)
    expect(explanation.refusal).toMatchObject({ reason: 'algorithm' })
    expect(outline(explanation).slice(1, 4)).toEqual([
      'algorithm fail algorithm',
      'key skipped',
      'signature skipped',
    ])
    expect(named(explanation)).toEqual(['algorithm_not_listed'])
  })

  test('with an algorithm that its key could be for, and is not since nobody says so', async () => {
    const { token, keys } = silentRsa('RS256')
    const unlisted = { keys, issuer: null, audience: null } as const
    const explanation = await explain(token, unlisted)
    const refusal = await createVerifier(unlisted)
      .verify(token)
      .catch((error: unknown) => error)
    expect(explanation.refusal).toEqual(refusal)
    expect(explanation.refusal?.detail).toContain("state algorithms: ['RS256']")
    expect(outline(explanation).slice(1, 4)).toEqual([
      'algorithm fail algorithm',
      'key skipped',
      'signature skipped',
    ])
    expect(named(explanation)).toEqual(['algorithm_not_listed'])
    const listing = await explain(token, { ...unlisted, algorithms: ['RS256'] })
    expect(listing.verdict).toBe('accepted')
  })

  test('the algorithm is judged by the keys in hand as well, each by its own', async () => {
    const { token, keys, stating } = silentRsa('RS256')
    const unlisted = { keys: stating, issuer: null, audience: null } as const
    const explanation = await explain(token, unlisted, { keysInHand: keys })
    expect(explanation).toMatchObject({
      verdict: 'accepted',
      inHand: { verdict: 'refused', refusal: { reason: 'algorithm' } },
    })
    expect(outline(explanation).slice(1, 4)).toEqual(['algorithm ok', 'key ok', 'signature ok'])
  })
})

describe('revocations', () => {
  const revoked = { claims: { iss: 'https://auth.test', jti: 'a' } }

  test('a token that has been revoked is refused, with a finding', async () => {
    const explanation = await explain(await issuer.token(revoked), await revoking('a'))
    expect(explanation).toMatchObject({ verdict: 'refused', refusal: { reason: 'revoked' } })
    expect(outline(explanation).at(-1)).toBe('revocations fail revoked')
  })

  test('one that has expired as well is refused for that first, and asked about all the same', async () => {
    const token = await issuer.token({ ...revoked, expiresIn: -300 })
    const explanation = await explain(token, await revoking('a'))
    expect(explanation.refusal).toMatchObject({ reason: 'expired' })
    expect(outline(explanation).at(-1)).toBe('revocations fail revoked')
  })

  test('one that has not is accepted', async () => {
    const explanation = await explain(await issuer.token(revoked), await revoking('b'))
    expect(explanation.verdict).toBe('accepted')
    expect(outline(explanation).at(-1)).toBe('revocations ok')
  })

  test('that know nothing leave it undecided', async () => {
    const revocations = { statusOf: () => 'unknown' as const }
    const explanation = await explain(await issuer.token(), { ...options, revocations })
    expect(explanation).toMatchObject({ verdict: 'undecided', refusal: { status: 503 } })
    expect(outline(explanation).at(-1)).toBe('revocations fail stale')
  })

  test.each<[what: string, given: Parameters<typeof issuer.token>[0], isStranger: boolean]>([
    ['is not proven', {}, true],
    ['has no times that are numbers', { claims: { iat: 'now' } }, false],
  ])('are not asked about a token that %s', async (_, given, isStranger) => {
    const asked: unknown[] = []
    const revocations = {
      statusOf(claims: unknown) {
        asked.push(claims)
        return 'valid' as const
      },
    }
    const signer = isStranger ? await createTestIssuer({ clock, algorithm: 'ES256' }) : issuer
    const explanation = await explain(await signer.token(given), { ...options, revocations })
    expect(asked).toEqual([])
    expect(outline(explanation).at(-1)).toBe('revocations skipped')
  })

  test('a signal ends the wait for them', async () => {
    await expect(
      explain(
        await issuer.token(),
        { ...options, revocations: { statusOf: neverAnswering } },
        { signal: AbortSignal.abort(new Error('enough')) },
      ),
    ).rejects.toThrow('enough')
  })
})

test.each([
  ['an exp that looks like milliseconds', { exp: 190_000_000_000 }, ['milliseconds']],
  ['an ID token', { nonce: 'n' }, ['id_token']],
])('a hint for %s, also of a token that is accepted', async (_, claims, names) => {
  const explanation = await explain(await issuer.token({ claims }), options)
  expect(explanation.verdict).toBe('accepted')
  expect(named(explanation)).toEqual(names)
})

test.each(['exp', 'nbf', 'iat'])(
  'an %s in milliseconds is refused, and only the detail has its value',
  async (name) => {
    const at = 1_900_000_000_000
    const { verdict, findings } = await explain(
      await issuer.token({ claims: { [name]: at } }),
      options,
    )
    expect(verdict).toBe('refused')
    expect(findings.find(({ check }) => check === name)).toEqual({
      check: name,
      outcome: 'fail',
      reason: 'claim',
      summary: 'not in seconds',
      detail: `${name} is in milliseconds or finer; it must be in seconds: ${at}`,
    })
  },
)

test('without keys nothing is decided, and everything else is found all the same', async () => {
  const keys = remoteKeys('https://auth.test/keys.json', {
    clock,
    fetch: async () => await Promise.reject(new Error('down')),
  })
  const token = await issuer.token({ expiresIn: -300 })
  const explanation = await explain(token, { ...options, keys })
  expect(explanation).toMatchObject({ verdict: 'undecided', refusal: { status: 503 } })
  expect(outline(explanation)).toEqual(
    expect.arrayContaining(['key fail unreachable', 'signature skipped', 'exp fail expired']),
  )
})

test('of a text that is no token there is one finding', async () => {
  const explanation = await explain('hello', options, { keysInHand: options.keys })
  expect(outline(explanation)).toEqual(['form fail malformed'])
  expect(explanation).toMatchObject({ verdict: 'refused', inHand: { verdict: 'refused' } })
})

test('no summary has the value of a claim', async () => {
  const claims = { iss: 'https://secret.test', aud: 'secret', sub: 'secret', jti: 'secret' }
  for (const expected of [null, 'other', 'secret', 'https://secret.test']) {
    const token = await issuer.token({ claims })
    const { findings, hints } = await explain(token, {
      ...options,
      issuer: expected,
      audience: expected,
    })
    const texts = [...findings.map(({ summary }) => summary), ...hints.map(({ text }) => text)]
    expect(texts.join('\n')).not.toContain('secret')
  }
})

test.each<[what: string, given: object, complaint: string]>([
  ['keysInHand', { keysInHand: {} }, 'explain: keysInHand must be a key source'],
  ['otherKeys', { otherKeys: [{ name: 'a' }] }, 'explain: otherKeys must be a list'],
  ['names', { otherKeys: [{ name: 'keys', keys: options.keys }] }, 'must have different names'],
  ['signal', { signal: 1 }, 'explain: signal must be an AbortSignal'],
  ['misspelt', { other: 1 }, 'known are keysInHand, otherKeys, possession, signal'],
])('a wrong option is a TypeError: %s', async (_, given, complaint) => {
  await expect(explain('a.b.c', options, given)).rejects.toThrow(complaint)
})

async function neverAnswering(): Promise<never> {
  return await new Promise(() => {})
}

async function revoking(jti: string) {
  const revocations = localRevocations({ clock })
  await revocations.revoke({ iss: 'https://auth.test', jti, exp: clock.now() + 300 })
  return { ...options, revocations }
}

async function rotation() {
  const rotated = await createTestIssuer({ clock, algorithm: 'ES256' })
  const { keyUrl, fetch } = tokenService(rotated)
  return { rotated, service: () => remoteKeys(keyUrl, { fetch, clock }) }
}

describe('a bound token', async () => {
  const jkt = '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I'
  const token = await issuer.token({ claims: { cnf: { jkt } } })

  test('is refused as a bearer token, and the hint says what it is bound to', async () => {
    const explanation = await explain(token, options)
    expect(explanation).toMatchObject({ verdict: 'refused', refusal: { reason: 'binding' } })
    expect(outline(explanation).at(-1)).toBe('binding fail binding')
    expect(named(explanation)).toEqual(['bound_token'])
    expect(explanation.hints[0]?.text).toMatch(
      /^it is bound to the key 0ZcOCORZ\.\.\. \(cnf\.jkt\)/,
    )
  })

  test('is accepted with what its sender has proven', async () => {
    const explanation = await explain(token, options, { possession: { jkt } })
    expect(explanation).toMatchObject({ verdict: 'accepted', hints: [] })
    expect(outline(explanation).at(-1)).toBe('binding ok')
  })

  test('is not looked at where confirmation is ignored', async () => {
    const explanation = await explain(token, { ...options, confirmation: 'ignore' })
    expect(explanation).toMatchObject({ verdict: 'accepted', hints: [] })
    expect(outline(explanation).at(-1)).toBe('binding skipped')
  })

  test('that is refused for something else as well has that refusal, and both findings', async () => {
    const expired = await issuer.token({ claims: { cnf: 'key' }, expiresIn: -300 })
    const explanation = await explain(expired, options)
    expect(explanation.refusal).toMatchObject({ reason: 'expired' })
    expect(outline(explanation).at(-1)).toBe('binding fail binding')
    expect(explanation.hints[0]?.text).toContain('names nothing that can be confirmed')
  })

  test('an unbound one with a proof is refused, without a hint', async () => {
    const explanation = await explain(await issuer.token(), options, { possession: { jkt } })
    expect(explanation).toMatchObject({ refusal: { reason: 'binding' }, hints: [] })
  })

  test('a possession that is no object is a TypeError', async () => {
    await expect(explain(token, options, { possession: [] as object })).rejects.toThrow(
      new TypeError('explain: possession must be an object'),
    )
  })
})

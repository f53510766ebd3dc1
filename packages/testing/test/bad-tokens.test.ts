import { type Algorithm, AuthError, createVerifier, type VerifierOptions } from '@portcullis/core'
import { errors, importJWK, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'

import { manualClock } from '../src/clock.ts'
import { createTestIssuer, type TestIssuer, type TestIssuerOptions } from '../src/issuer.ts'

const STRICT = { issuer: 'https://auth.test', audience: ['api', 'other api'] }

/** What jose accepts, and why we do not. */
const JOSE_ACCEPTS: Readonly<Record<string, string>> = {
  'padded base64': 'one token has one spelling, so that lists of tokens hold (RFC 7515 section 2)',
  'too large': 'a stranger does not decide how much is read',
  'kid not a string': 'RFC 7515 section 4.1.4 makes it one',
  'duplicate members': 'another parser may read the other one (RFC 7519 section 4)',
  'member __proto__': 'it changes whatever the claims are assigned to',
  'number beyond a double': 'it is read as Infinity, which every comparison lets pass',
  'nested too deep': 'who writes it to a log runs out of stack',
  'byte order mark': 'RFC 8259 section 8.1 forbids to write it',
  'issued in the future': 'an issuer whose clock is an hour ahead makes tokens that live too long',
}

function ourVerdicts(issuer: TestIssuer, more: Partial<VerifierOptions> = {}) {
  const verifier = createVerifier({ ...issuer.verifierOptions, ...more })
  return async (token: string): Promise<string> => {
    try {
      await verifier.verify(token)
      return 'accepted'
    } catch (error) {
      return error instanceof AuthError ? `${error.code} ${error.reason}` : String(error)
    }
  }
}

/** As jose judges when it is told the same. */
async function joseVerdicts(issuer: TestIssuer) {
  const { clock, algorithms, issuer: iss, audience } = issuer.verifierOptions
  const key = await importJWK(issuer.publicJwk)
  const options = {
    algorithms: [...algorithms],
    ...(iss === null ? {} : { issuer: iss }),
    ...(audience === null ? {} : { audience: [audience].flat() }),
    requiredClaims: ['exp'],
    clockTolerance: 5,
    currentDate: new Date(clock.now() * 1000),
  }
  return async (token: string): Promise<string> => {
    try {
      await jwtVerify(token, key, options)
      return 'accepted'
    } catch (error) {
      return error instanceof errors.JOSEError ? 'refused' : String(error)
    }
  }
}

const issuers: readonly (TestIssuerOptions & { readonly algorithm: Algorithm })[] = [
  { algorithm: 'RS512', ...STRICT },
  { algorithm: 'RS512' },
  { algorithm: 'RS256', ...STRICT, audience: 'api' },
  { algorithm: 'PS384' },
  { algorithm: 'ES256', ...STRICT },
  { algorithm: 'Ed25519', issuer: STRICT.issuer },
]

describe.each(issuers)('$algorithm, issuer $issuer, audience $audience', async (options) => {
  const issuer = await createTestIssuer({ clock: manualClock(), ...options })
  const ours = ourVerdicts(issuer)
  const joses = await joseVerdicts(issuer)

  test.each(await issuer.badTokens())('$name: refused for $reason', async (bad) => {
    expect(await ours(bad.token)).toBe(`${bad.code} ${bad.reason}`)
    const accepted = Object.hasOwn(JOSE_ACCEPTS, bad.name)
    expect(await joses(bad.token)).toBe(accepted ? 'accepted' : 'refused')
  })

  test.each(await issuer.edgeTokens())('$name: accepted', async ({ token }) => {
    expect(await ours(token)).toBe('accepted')
    expect(await joses(token)).toBe('accepted')
  })
})

const strict = await createTestIssuer({ clock: manualClock(), ...STRICT })

async function namesOf(issuer: TestIssuer): Promise<readonly string[]> {
  return (await issuer.badTokens()).map(({ name }) => name)
}

test('every difference to jose is about a token of the table', async () => {
  expect(await namesOf(strict)).toEqual(expect.arrayContaining(Object.keys(JOSE_ACCEPTS)))
})

test('no two rows have one name', async () => {
  const names = [...(await namesOf(strict)), ...(await strict.edgeTokens()).map((row) => row.name)]
  expect(new Set(names).size).toBe(names.length)
})

test('each can be sent in a header: it is a b64token (RFC 6750 section 2.1)', async () => {
  const rows = [...(await strict.badTokens()), ...(await strict.edgeTokens())]
  for (const { token } of rows) expect(token).toMatch(/^[\w.~+/-]+=*$/)
})

test('what nobody states nobody is refused for', async () => {
  const reasons = (await (await createTestIssuer()).badTokens()).map(({ reason }) => reason)
  expect(reasons).not.toContain('issuer')
  expect(reasons).not.toContain('audience')
})

test('a verifier that requires more refuses each for the same, if each has what it requires', async () => {
  const verdict = ourVerdicts(strict, {
    type: 'at+jwt',
    requiredClaims: ['tenant'],
    clockTolerance: 600,
  })
  const base = { claims: { tenant: 'acme' }, header: { typ: 'at+jwt' } }
  for (const { token, reason } of await strict.badTokens(base)) {
    expect(await verdict(token)).toBe(`invalid_token ${reason}`)
  }
  for (const { name, token } of await strict.edgeTokens(base)) {
    expect([name, await verdict(token)]).toEqual([
      name,
      name === 'no typ' ? 'invalid_token type' : 'accepted',
    ])
  }
})

test.each([
  { kid: 'new', reason: 'unknown_key' },
  { kid: 'none', reason: 'signature' },
] as const)('an unknown kid beside keys in a set, kid $kid: $reason', async ({ kid, reason }) => {
  const issuer = await createTestIssuer({ clock: manualClock() })
  await issuer.rotate({ kid, publish: 'both' })
  const verdict = ourVerdicts(issuer)
  const rows = await issuer.badTokens()
  expect(rows.find(({ name }) => name === 'unknown kid')).toMatchObject({ reason })
  for (const bad of rows) expect(await verdict(bad.token)).toBe(`${bad.code} ${bad.reason}`)
})

test.each(['badTokens', 'edgeTokens'] as const)('%s: a misspelt option', async (table) => {
  const call = strict[table]({ claim: {} } as object)
  await expect(call).rejects.toThrow(`${table}: there is no option "claim", but claims, header`)
})

import {
  type Algorithm,
  AuthError,
  authErrorReasons,
  createVerifier,
  type VerifierOptions,
} from '@portcullis/core'
import { errors, importJWK, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'

import { manualClock } from '../../src/clock.ts'
import type { TestIssuerOptions } from '../../src/issuer-options.ts'
import { createTestIssuer, type TestIssuer } from '../../src/issuer.ts'
import type { BadToken } from '../../src/tokens/bad-token.ts'

const STRICT = { issuer: 'https://auth.test', audience: ['api', 'other api'] }

/** What jose accepts, and why we do not. */
const JOSE_ACCEPTS: Readonly<Record<string, string>> = {
  'logout token': 'it looks at typ only if told to',
  'DPoP proof in another case': 'the same',
  credential: 'the same',
  'padded base64': 'one token has one spelling, so that lists of tokens hold (RFC 7515 section 2)',
  'too large': 'a stranger does not decide how much is read',
  'kid not a string': 'RFC 7515 section 4.1.4 makes it one',
  'duplicate members': 'another parser may read the other one (RFC 7519 section 4)',
  'member __proto__': 'it changes whatever the claims are assigned to',
  'number beyond a double': 'it is read as Infinity, which every comparison lets pass',
  'nested too deep': 'who writes it to a log runs out of stack',
  'byte order mark': 'RFC 8259 section 8.1 forbids to write it',
  'expiry in milliseconds': 'it would be valid for 50,000 years (RFC 7519 section 2)',
  'bound to the key of somebody else': 'whoever has stolen it could use it (RFC 9449 section 7.2)',
  'bound to the certificate of somebody else': 'the same (RFC 8705 section 3)',
  'bound to nothing that is known': 'what was meant to protect it would not (RFC 7800 section 3)',
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

/** The verdicts of jose with the same options. */
async function joseVerdicts(issuer: TestIssuer) {
  const { clock, algorithms, issuer: iss, audience, type } = issuer.verifierOptions
  const key = await importJWK(issuer.publicJwk, algorithms[0])
  const options = {
    algorithms: [...algorithms],
    ...(iss === null ? {} : { issuer: iss }),
    ...(audience === null ? {} : { audience: [audience].flat() }),
    requiredClaims: ['exp'],
    // It takes one type alone: the one that the tokens of this issuer have.
    ...(type === undefined ? {} : { typ: String([type].flat()[0]) }),
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
  { algorithm: 'ML-DSA-87', issuer: STRICT.issuer },
  { algorithm: 'RS512', omitFromKey: ['kid', 'alg', 'use'] },
  { algorithm: 'ES256', ...STRICT, type: 'at+jwt' },
  { algorithm: 'ES256', ...STRICT, type: ['txntoken+jwt', 'at+jwt'] },
]

describe.each(issuers)(
  '$algorithm, $issuer, $audience, $type, without $omitFromKey',
  async (stated) => {
    const issuer = await createTestIssuer({ clock: manualClock(), ...stated })
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
  },
)

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

test('every reason to refuse a token has a row, if the issuer states everything and the token can have it', async () => {
  const stated = { ...STRICT, type: 'at+jwt', maxTokenAge: 60 }
  const issuer = await createTestIssuer({ clock: manualClock(), algorithm: 'ES256', ...stated })
  await issuer.rotate({ publish: 'both' })
  const rows = await issuer.badTokens()
  // Neither is in the token: only a verifier with `revocations` knows, and only the issuer of an opaque token.
  const reasons = authErrorReasons.invalid_token.filter(
    (reason) => reason !== 'revoked' && reason !== 'inactive',
  )
  expect(reasons).toContain('malformed')
  expect(
    new Set(rows.map(({ reason }) => reason)),
    'packages/testing/src/tokens: add a row, and here what the issuer has to state for it',
  ).toEqual(new Set(reasons))
  const verdict = ourVerdicts(issuer)
  for (const bad of rows) expect(await verdict(bad.token)).toBe(`${bad.code} ${bad.reason}`)
})

test('what an issuer does not state no token is refused for', async () => {
  const rows = await (await createTestIssuer()).badTokens()
  const reasons = new Set<string>(rows.map(({ reason }) => reason))
  expect(
    authErrorReasons.invalid_token.filter((reason) => !reasons.has(reason)),
    'packages/testing/TESTING.md and the comment of badTokens() in src/issuer.ts say which these are',
  ).toEqual(['unknown_key', 'inactive', 'too_old', 'issuer', 'audience', 'revoked'])
})

test('with a maxTokenAge the tables hold until then', async () => {
  const clock = manualClock()
  const stated = { ...STRICT, type: 'JWT', maxTokenAge: 300 }
  const issuer = await createTestIssuer({ clock, algorithm: 'ES256', ...stated })
  const { bad, edge } = await tablesOf(issuer)
  await clock.advance(299)
  const tables = { bad, edge: edge.filter(({ name }) => name !== 'expiry within tolerance') }
  const { given, wanted } = await verdictsOn(issuer, tables)
  expect(given).toEqual(wanted)
  await clock.advance(7)
  expect(await ourVerdicts(issuer)(edge[0]?.token ?? '')).toBe('invalid_token too_old')
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

/** What a verifier answers to both tables, and what the tables demand. */
async function verdictsOn(issuer: TestIssuer, { bad, edge }: Tables) {
  const verdict = ourVerdicts(issuer)
  const given: [name: string, verdict: string][] = []
  for (const { name, token } of [...bad, ...edge]) given.push([name, await verdict(token)])
  const wanted = [
    ...bad.map(({ name, code, reason }) => [name, `${code} ${reason}`]),
    ...edge.map(({ name }) => [name, 'accepted']),
  ]
  return { given, wanted }
}

interface Tables {
  readonly bad: readonly BadToken[]
  readonly edge: Awaited<ReturnType<TestIssuer['edgeTokens']>>
}

async function tablesOf(issuer: TestIssuer): Promise<Tables> {
  return { bad: await issuer.badTokens(), edge: await issuer.edgeTokens() }
}

test.each([
  { issuer: 'https://stranger.test', audience: 'stranger' },
  { issuer: 'https://stranger.test/', audience: ['stranger', 'other'] },
  {
    issuer: 'https://stranger.test/https://stranger.test',
    audience: ['https://stranger.test/', 'https://stranger.test/1', 'https://stranger.test/2'],
  },
])('wrong is wrong for any issuer and audience: $issuer, $audience', async (stated) => {
  const issuer = await createTestIssuer({ clock: manualClock(), algorithm: 'ES256', ...stated })
  const { given, wanted } = await verdictsOn(issuer, await tablesOf(issuer))
  expect(given).toEqual(wanted)
})

test('what is not about time has not expired when the clock has moved', async () => {
  const clock = manualClock()
  const issuer = await createTestIssuer({ clock, algorithm: 'ES256', ...STRICT })
  const { bad, edge } = await tablesOf(issuer)
  await clock.advance(310)
  const tables = { bad, edge: edge.filter(({ name }) => name !== 'expiry within tolerance') }
  const { given, wanted } = await verdictsOn(issuer, tables)
  expect(given).toEqual(wanted)
})

test('what is not about time lives longer than other tokens of the issuer', async () => {
  const clock = manualClock()
  const issuer = await createTestIssuer({ clock, algorithm: 'ES256', lifetime: -60, ...STRICT })
  const { given, wanted } = await verdictsOn(issuer, await tablesOf(issuer))
  expect(given).toEqual(wanted)
})

describe.each(['now', 'first', 'later', 'both'] as const)('rotated, publish %s', (publish) => {
  test.each(['new', 'same', 'none'] as const)(
    'kid %s: tables fit the document, after each half',
    async (kid) => {
      const clock = manualClock()
      const issuer = await createTestIssuer({ clock, algorithm: 'ES256', ...STRICT })
      const rotation = await issuer.rotate({ kid, publish })
      const half = await verdictsOn(issuer, await tablesOf(issuer))
      expect(half.given).toEqual(half.wanted)
      rotation.complete()
      await clock.advance(600)
      const whole = await verdictsOn(issuer, await tablesOf(issuer))
      expect(whole.given).toEqual(whole.wanted)
    },
  )
})

test('tables fit a document that is two keys behind', async () => {
  const issuer = await createTestIssuer({ clock: manualClock(), algorithm: 'ES256', ...STRICT })
  await issuer.rotate({ publish: 'later' })
  await issuer.rotate({ publish: 'later' })
  const { given, wanted } = await verdictsOn(issuer, await tablesOf(issuer))
  expect(given).toEqual(wanted)
})

test('tables made during an outage are for the document without it', async () => {
  const issuer = await createTestIssuer({ clock: manualClock(), algorithm: 'ES256', ...STRICT })
  const outage = issuer.outage('key-set')
  const tables = await tablesOf(issuer)
  outage.restore()
  const { given, wanted } = await verdictsOn(issuer, tables)
  expect(given).toEqual(wanted)
})

test.each(['badTokens', 'edgeTokens'] as const)('%s: a misspelt option', async (table) => {
  const call = strict[table]({ claim: {} } as object)
  await expect(call).rejects.toThrow(`${table}: unknown option "claim", known are claims, header`)
})

import { createTestIssuer, dpopClient, manualClock, stubVerifier } from '@portcullis/testing'
import { beforeEach, describe, expect, test } from 'vitest'

import {
  authenticateRequest,
  AuthError,
  byIssuer,
  createVerifier,
  dpopProofs,
  type GuardOptions,
  localRevocations,
  type Verifier,
  type VerifierOptions,
} from '../../src/index.ts'
import { brandedMutualTls } from '../../src/possession/mutual-tls.ts'
import { checkGuardOptions } from '../../src/request/guard-options.ts'
import { createProvenVerifier } from '../../src/verifier/proven-verifier.ts'
import { createSelectedVerifier } from '../../src/verifier/selected-verifier.ts'

// The profile `fapi2` of a guard: what is wrong at start-up, and what it adds at each request.

const ORIGIN = 'https://api.example.com'
const CERTIFICATE = 'A4DtL2JmUMhAsvJj5tKyn64SqzmuXbMrJa0n761y5v0'

const clock = manualClock()
const issuer = await createTestIssuer({ clock, algorithm: 'ES256', issuer: 'https://a.test' })
const keeping: VerifierOptions = {
  ...issuer.verifierOptions,
  algorithms: ['ES256', 'PS256', 'EdDSA', 'Ed25519'],
  revocations: localRevocations({ clock }),
}
const verifier = createVerifier(keeping)
const [client, rsaClient] = await Promise.all([
  dpopClient({ clock }),
  dpopClient({ clock, algorithm: 'RS256' }),
])
const [byKey, byRsaKey, byCertificate, byBoth, unbound] = await Promise.all([
  issuer.token({ boundTo: client }),
  issuer.token({ boundTo: rsaClient }),
  issuer.token({ claims: { cnf: { 'x5t#S256': CERTIFICATE } } }),
  issuer.token({ claims: { cnf: { jkt: client.jkt, 'x5t#S256': CERTIFICATE } } }),
  issuer.token(),
])

const certificates = (shown?: string) =>
  brandedMutualTls({ required: false, thumbprintOf: () => shown })
let dpop = dpopProofs({ origin: ORIGIN, clock })
beforeEach(() => {
  dpop = dpopProofs({ origin: ORIGIN, clock })
})

/** An introspecting verifier, as far as a guard can tell. */
function asking(algorithms: readonly string[] | undefined, more: object = {}): Verifier<unknown> {
  const prover = { algorithms, asksIssuer: true }
  return createProvenVerifier(prover as never, {
    issuer: null,
    audience: null,
    requireExpiry: false,
    ...more,
  })
}

const without = (...names: readonly (keyof VerifierOptions)[]) =>
  createVerifier(
    Object.fromEntries(
      Object.entries(keeping).filter(([name]) => !names.includes(name as never)),
    ) as unknown as VerifierOptions,
  )

const STATED = 'the verifier must state algorithms, of PS256, ES256, EdDSA, Ed25519'
const UNKNOWN = "the verifier must state profiles: ['fapi2'], since nothing else is known of it"

test.each<[title: string, verifier: Verifier<unknown>, complaint: string]>([
  ['without algorithms', without('algorithms'), STATED],
  [
    'with another algorithm among them',
    createVerifier({ ...keeping, algorithms: ['ES256', 'RS256'] }),
    'the verifier must not use RS256, but PS256, ES256, EdDSA, Ed25519 alone',
  ],
  ['without revocations', without('revocations'), 'the verifier must state revocations, or null'],
  [
    'that takes tokens without exp',
    createVerifier({ ...keeping, requireExpiry: false }),
    'the verifier must not have requireExpiry: false',
  ],
  [
    'that waives bindings',
    createVerifier({ ...keeping, confirmation: 'ignore' }),
    "the verifier must not have confirmation: 'ignore'",
  ],
  ['of the user, which states nothing', stubVerifier(), UNKNOWN],
  [
    'that somebody has wrapped',
    { ...verifier, verify: async (token) => await verifier.verify(token) },
    UNKNOWN,
  ],
  ['of issuers that a function finds', byIssuer(() => verifier), UNKNOWN],
  [
    'of issuers, one of which does not keep it',
    byIssuer({ 'https://a.test': without('revocations') }),
    'the verifier must state revocations, or null',
  ],
  [
    'of a form, one of which does not keep it',
    createSelectedVerifier<unknown>([verifier, without('algorithms')], () => verifier),
    STATED,
  ],
  ['that asks an issuer and takes whatever its keys have signed', asking(undefined), STATED],
  ['that signs assertions with another one', asking(['RS256']), 'the verifier must not use RS256'],
])('a verifier %s is a mistake', (_title, wrong, complaint) => {
  expect(() => checkGuardOptions(wrong, { profile: 'fapi2', dpop })).toThrow(
    new TypeError(`authenticate: profile fapi2: ${complaint}`).message,
  )
})

test.each<[title: string, verifier: Verifier<unknown>]>([
  ['that states algorithms and revocations', verifier],
  ['whose revocations are waived in writing', createVerifier({ ...keeping, revocations: null })],
  ['that asks an issuer, whose answers are not signed', asking([])],
  ['that asks an issuer for signed answers', asking(['PS256', 'ES256'])],
  ['of issuers that keep it', byIssuer({ 'https://a.test': verifier })],
  [
    'of a form, all of which keep it',
    createSelectedVerifier<unknown>([verifier, asking([])], () => verifier),
  ],
  ['of the user, which states it', { ...stubVerifier(), profiles: ['fapi2'] }],
  [
    'of issuers that a function finds, where that is stated',
    Object.assign(
      byIssuer(() => verifier),
      { profiles: ['fapi2' as const] },
    ),
  ],
])('a verifier %s keeps it', (_title, right) => {
  expect(() => checkGuardOptions(right, { profile: 'fapi2', dpop })).not.toThrow()
})

test('nothing of this is a mistake without the profile, and an inherited statement is none', () => {
  expect(() => checkGuardOptions(without('algorithms', 'revocations'), { dpop })).not.toThrow()
  const heir = Object.create({ profiles: ['fapi2'] }) as object
  const inheriting = Object.assign(heir, stubVerifier())
  expect(() => checkGuardOptions(inheriting, { profile: 'fapi2', dpop })).toThrow(UNKNOWN)
})

test.each([
  ['a text that has it within', 'not-fapi2'],
  ['no list', 1],
  ['null', null],
])('a verifier of the user that states %s keeps nothing', (_title, profiles) => {
  const careless = Object.assign(stubVerifier(), { profiles }) as Verifier
  expect(() => checkGuardOptions(careless, { profile: 'fapi2', dpop })).toThrow(UNKNOWN)
})

test.each<[title: string, options: object, complaint: string]>([
  ['another profile', { profile: 'fapi1' }, 'authenticate: profile must be one of fapi2'],
  ['nothing that proves a binding', {}, 'profile fapi2: dpop or mutualTls must be stated'],
  [
    'a token in another header',
    { mutualTls: certificates(), credentials: { header: 'x-token' } },
    'profile fapi2: credentials must be left out',
  ],
  [
    'proofs of other algorithms alone',
    { dpop: dpopProofs({ origin: ORIGIN, algorithms: ['RS256'] }) },
    'profile fapi2: dpop must accept proofs with one of PS256, ES256, EdDSA, Ed25519',
  ],
])('a guard with %s is a mistake', (_title, options, complaint) => {
  expect(() => checkGuardOptions(verifier, { profile: 'fapi2', ...options })).toThrow(complaint)
})

interface Sent {
  readonly authorization: string
  readonly dpop?: string
}

const requestOf = (headers: Sent) => ({ method: 'GET', url: '/accounts', headers })

async function proven(
  token: string,
  by = client,
  claims: Readonly<Record<string, unknown>> = {},
): Promise<Sent> {
  return await by.headers({ url: `${ORIGIN}/accounts`, token, claims })
}

async function refusalOf(
  sent: Sent,
  options: GuardOptions,
  by: Verifier<unknown> = verifier,
): Promise<AuthError | undefined> {
  const guard = checkGuardOptions(by, { profile: 'fapi2', ...options } as const)
  try {
    const request = requestOf(sent)
    await authenticateRequest(by, request, guard, request)
    return undefined
  } catch (error) {
    if (error instanceof AuthError) return error
    throw error
  }
}

const reasonOf = async (...call: Parameters<typeof refusalOf>) => (await refusalOf(...call))?.reason
const bearer = (token: string): Sent => ({ authorization: `Bearer ${token}` })

describe('a token', () => {
  test('that is bound to nothing is refused, also once it was accepted elsewhere', async () => {
    const request = requestOf(bearer(unbound))
    await authenticateRequest(verifier, request, checkGuardOptions(verifier, {}), request)
    for (const options of [{ dpop }, { mutualTls: certificates(CERTIFICATE) }]) {
      expect(await reasonOf(bearer(unbound), options)).toBe('binding')
    }
    const both = { dpop, mutualTls: certificates(CERTIFICATE) }
    const refused = await refusalOf(bearer(unbound), both)
    expect(refused).toMatchObject({ reason: 'binding' })
    expect(refused?.detail).toContain('profile fapi2')
    expect(await reasonOf(await proven(unbound), both)).toBe('binding')
  })

  test('is accepted with the one binding that it has, where a guard takes both', async () => {
    const both = { dpop, mutualTls: certificates(CERTIFICATE) }
    expect(await reasonOf(await proven(byKey), both)).toBeUndefined()
    expect(await reasonOf(bearer(byCertificate), both)).toBeUndefined()
    expect(await reasonOf(await proven(byBoth), both)).toBeUndefined()
    expect(await reasonOf(bearer(byBoth), both)).toBe('binding')
    const stranger = { dpop, mutualTls: certificates('another') }
    expect(await reasonOf(bearer(byCertificate), stranger)).toBe('binding')
  })

  test('that a verifier of the user accepts without a word of its binding is refused', async () => {
    const careless = { ...stubVerifier(), profiles: ['fapi2'] as const }
    const options = { mutualTls: certificates() }
    expect(await reasonOf(bearer('any'), options, careless)).toBe('binding')
  })
})

describe('a proof', () => {
  test('of an algorithm that the profile does not have is refused, and no challenge names it', async () => {
    const refused = await refusalOf(await proven(byRsaKey, rsaClient), { dpop })
    expect(refused).toMatchObject({ code: 'invalid_dpop_proof', reason: 'proof_algorithm' })
    expect(refused?.detail).toContain('accepted are PS256, ES256, EdDSA, Ed25519')
    expect(refused?.headers['WWW-Authenticate']).toBe(
      'DPoP realm="api", error="invalid_dpop_proof", error_description="The DPoP proof is signed with another algorithm", algs="ES256 Ed25519 EdDSA PS256"',
    )
  })

  test.each([
    ['10 s ahead, where less is stated', 0, 10, undefined],
    ['11 s ahead, where less is stated', 0, 11, 'proof_time'],
    ['30 s ahead, where nothing is stated', undefined, 30, undefined],
    ['60 s ahead, where more is stated', 300, 60, undefined],
    ['61 s ahead, where more is stated', 300, 61, 'proof_time'],
  ])('of %s', async (_title, clockTolerance, ahead, reason) => {
    dpop = dpopProofs({ origin: ORIGIN, clock, clockTolerance })
    for (const name of ['iat', 'nbf']) {
      const sent = await proven(byKey, client, { [name]: clock.now() + ahead })
      expect(await reasonOf(sent, { dpop })).toBe(reason)
    }
  })

  test('that a guard without the profile has taken is judged again, and is not used twice', async () => {
    const sent = await proven(byKey)
    const request = requestOf(sent)
    const [plain, strict] = [
      checkGuardOptions(verifier, { dpop }),
      checkGuardOptions(verifier, { dpop, profile: 'fapi2' } as const),
    ]
    await authenticateRequest(verifier, request, plain, request)
    await authenticateRequest(verifier, request, strict, request)
    await authenticateRequest(verifier, request, plain, request)
    const other = requestOf(await proven(byRsaKey, rsaClient))
    await authenticateRequest(verifier, other, plain, other)
    await expect(authenticateRequest(verifier, other, strict, other)).rejects.toMatchObject({
      reason: 'proof_algorithm',
    })
    const again = requestOf(sent)
    await expect(authenticateRequest(verifier, again, strict, again)).rejects.toMatchObject({
      reason: 'replayed_proof',
    })
  })
})

test('the challenge names the ways that there are', async () => {
  const ofBoth = await refusalOf(bearer(unbound), { dpop, mutualTls: certificates() })
  expect(ofBoth?.headers['WWW-Authenticate']).toMatch(
    /^Bearer .*, DPoP realm="api", algs="ES256 Ed25519 EdDSA PS256"$/,
  )
  const ofKeys = await refusalOf(bearer(unbound), { dpop })
  expect(ofKeys?.headers['WWW-Authenticate']).toMatch(/^DPoP realm="api", error="invalid_token"/)
  expect(ofKeys?.headers['WWW-Authenticate']).not.toContain('Bearer')
  const ofCertificates = await refusalOf(bearer(unbound), { mutualTls: certificates() })
  expect(ofCertificates?.headers['WWW-Authenticate']).toMatch(/^Bearer realm="api"/)
})

test('nonces work as without it', async () => {
  dpop = dpopProofs({ origin: ORIGIN, clock, nonces: { secret: 's'.repeat(32) } })
  const refused = await refusalOf(await proven(byKey), { dpop })
  expect(refused).toMatchObject({ code: 'use_dpop_nonce' })
  const nonce = refused?.headers['DPoP-Nonce'] ?? ''
  const sent = await client.headers({ url: `${ORIGIN}/accounts`, token: byKey, nonce })
  expect(await reasonOf(sent, { dpop })).toBeUndefined()
})

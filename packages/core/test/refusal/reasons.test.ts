import { createTestIssuer, manualClock, type TokenOptions, tokenService } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { proofMethods } from '../../src/dpop/proof-check.ts'
import {
  acr,
  authenticatedWithin,
  type AuthErrorCode,
  type AuthErrorReasons,
  check,
  claim,
  createVerifier,
  dpopProofs,
  type DpopProofsOptions,
  localRevocations,
  remoteKeys,
  type ReplayAnswer,
  type Requirement,
  scope,
  type VerifierOptions,
} from '../../src/index.ts'
import { AuthError } from '../../src/refusal/errors.ts'
import { refusals } from '../../src/refusal/refusals.ts'
import { parseBearer } from '../../src/request/bearer.ts'
import { parseTokenHeader } from '../../src/request/token-header.ts'
import { checkRequirements } from '../../src/requirement/requirement-list.ts'
import { createProvenVerifier } from '../../src/verifier/proven-verifier.ts'
import type { TokenProver } from '../../src/verifier/token-prover.ts'
import { createProofMaker, type Draft, NOW, ORIGIN, requestWith } from '../dpop/proof-maker.ts'

// Each reason of each code, with the sentence that a developer reads. A new reason without one fails here.

interface Case {
  readonly refuse: () => unknown
  readonly detail: string | RegExp
  /** Whether a trusted key has made the signature of the token. */
  readonly isProven?: true
}

const clock = manualClock(1_795_341_600)
const [issuer, stranger, client] = await Promise.all([
  createTestIssuer({ clock }),
  createTestIssuer({ clock }),
  createProofMaker('ES256'),
])
const [, payload = '', signature = ''] = (await issuer.token()).split('.')

async function verify(token: unknown, options: Partial<VerifierOptions> = {}): Promise<unknown> {
  const verifier = createVerifier({ ...issuer.verifierOptions, ...options })
  return await verifier.verify(token as string)
}

function signed(token: TokenOptions, options?: Partial<VerifierOptions>) {
  return {
    refuse: async () => await verify(await issuer.token(token), options),
    isProven: true as const,
  }
}

function withHeader(header: object): string {
  const encoded = Buffer.from(JSON.stringify(header)).toString('base64url')
  return `${encoded}.${payload}.${signature}`
}

function requiring(...requirements: Requirement[]) {
  return async () => {
    const token = await issuer.token({
      claims: { scope: 'read', role: 'guest', auth_time: clock.now() - 90 },
    })
    await checkRequirements(
      await createVerifier(issuer.verifierOptions).verify(token),
      requirements,
    )
  }
}

function withKeyEndpoint(fetch: () => Promise<Response>) {
  return async () => {
    const keys = remoteKeys('https://user-agent.test:8443/secret-path/keys?key=secret', {
      fetch,
      clock,
    })
    const verdict = verify(await issuer.token(), { keys })
    // Handled here as well, because the time passes before anybody else looks at it.
    verdict.catch(() => {})
    await clock.advance(5)
    await verdict
  }
}

function authorized(authorization: string) {
  return () => parseBearer({ headers: { authorization } })
}

function proofs(options: Partial<DpopProofsOptions> = {}) {
  return proofMethods(dpopProofs({ origin: ORIGIN, clock: manualClock(NOW), ...options }))
}

function proving(draft: Draft, options?: Partial<DpopProofsOptions>) {
  return async () => await proofs(options).check(requestWith(client.proof(draft)))
}

function remembering(remember: () => ReplayAnswer) {
  return async () => {
    const guard = proofs({ replays: { remember } })
    await guard.remember(await guard.check(requestWith(client.proof())))
  }
}

/** A guard that reads the header `x-token` gets this value. */
function stated(value: string): string {
  const headers: object = { 'x-token': value }
  return parseTokenHeader({ headers }, { header: 'x-token' })
}

const CASES: {
  [Code in AuthErrorCode]: Record<AuthErrorReasons[Code], Case>
} = {
  missing_token: {
    missing_header: {
      refuse: () => parseBearer({ headers: {} }),
      detail: 'the request has no Authorization header',
    },
    other_scheme: {
      refuse: authorized('basic c2VjcmV0'),
      detail: 'the scheme of the Authorization header is Basic; expected Bearer',
    },
  },
  invalid_request: {
    repeated_header: {
      refuse: () =>
        parseBearer({ rawHeaders: ['Authorization', 'a', 'authorization', 'b'], headers: {} }),
      detail: /^the request has more than one Authorization header/,
    },
    repeated_credentials: {
      refuse: () => stated('a, b'),
      detail: 'the request has more than one header x-token, or several joined by a comma',
    },
  },
  invalid_token: {
    malformed: {
      refuse: async () => await verify(`Bearer ${await issuer.token()}`),
      detail: 'not a JWS: the text begins with "Bearer "; verify takes the token alone',
    },
    too_large: {
      refuse: async () => await verify('x'.repeat(16_385)),
      detail: 'the token is longer than maxTokenSize (16,384 characters)',
    },
    algorithm: {
      refuse: async () => await verify(withHeader({ alg: 'RS256' })),
      detail:
        "the header's alg is \"RS256\"; this verifier accepts RS512; if your tokens are signed so, state algorithms: ['RS256']",
    },
    critical_header: {
      refuse: async () => await verify(withHeader({ alg: 'RS512', crit: ['b64'] })),
      detail: `the header's crit requires "b64"; no extension is supported`,
    },
    unknown_key: {
      refuse: async () => {
        const options = { keys: await setOfTwo(), clock }
        const token = withHeader({ alg: 'RS512', kid: '7' })
        await expect(verify(token, options)).rejects.toThrow(AuthError)
        await clock.advance(2)
        await verify(token, options)
      },
      detail: /^kid "7" is not among the 2 keys; newer keys were not asked for, because this token/,
    },
    signature: {
      refuse: async () =>
        await verify(await stranger.token({ header: { kid: issuer.publicJwk.kid } })),
      detail: /^no key made the signature of the token with kid "[\w-]+": tried the only key/,
    },
    inactive: {
      refuse: byProver(() => new AuthError('invalid_token', 'inactive', () => 'not active')),
      detail: 'not active',
    },
    expired: {
      ...signed({ expiresIn: -3600 }),
      detail: 'exp was before now, by clockTolerance (5 s) or more',
    },
    not_yet_valid: {
      ...signed({ notBefore: 90 }),
      detail:
        "nbf is after now, by clockTolerance (5 s) or more: is this clock slow, or the issuer's fast?",
    },
    issued_in_future: {
      ...signed({ claims: { iat: clock.now() + 7200 } }),
      detail:
        "iat is after now, by the tolerance of clocks (60 s) or more: is this clock slow, or the issuer's fast?",
    },
    too_old: {
      ...signed({ claims: { iat: clock.now() - 7200 } }, { maxTokenAge: 3600 }),
      detail: 'iat was before now, by maxTokenAge (3,600 s) or more',
    },
    issuer: {
      ...signed({ claims: { iss: 'https://auth.test/' } }, { issuer: 'https://auth.test' }),
      detail:
        'iss is "https://auth.test/"; expected "https://auth.test"; they differ only in the slash at the end',
    },
    audience: {
      ...signed({ claims: { aud: 'shop' } }, { audience: 'api' }),
      detail: 'aud is "shop"; expected "api"',
    },
    type: {
      ...signed({}, { type: 'at+jwt' }),
      detail: `the header's typ is "JWT"; expected "at+jwt"`,
    },
    missing_claim: {
      ...signed({}, { requiredClaims: ['exp', 'tenant'] }),
      detail: 'requiredClaims: "tenant" is missing',
    },
    claim: {
      ...signed({ claims: { exp: '2026-11-22' } }),
      detail: 'exp is a string; it must be a number of seconds since 1970-01-01T00:00:00Z',
    },
    revoked: {
      refuse: async () => {
        const revocations = localRevocations({ clock })
        await revocations.revokeBefore({ iss: 'https://auth.test' })
        const claims = { iss: 'https://auth.test', iat: clock.now() - 60 }
        await signed({ claims }, { revocations }).refuse()
      },
      isProven: true,
      detail: 'the token, which is from "https://auth.test", has been revoked',
    },
    binding: {
      ...signed({ claims: { cnf: { jkt: 'thumbprint' } } }),
      detail:
        /^the token is bound to a key \(cnf\.jkt\), and came without a DPoP proof: a stolen token, a client/,
    },
  },
  invalid_dpop_proof: {
    missing_proof: {
      refuse: async () => await proofs().check(requestWith(undefined)),
      detail:
        'the request has the scheme DPoP and no header DPoP: each request needs a proof of its own',
    },
    malformed_proof: {
      refuse: proving({ header: { typ: 'JWT' } }),
      detail: `the DPoP proof's typ is "JWT"; it must be dpop+jwt`,
    },
    proof_algorithm: {
      refuse: proving({ header: { alg: 'HS256' } }),
      detail: /^the DPoP proof's alg is "HS256"; accepted are ES256, Ed25519, EdDSA, PS256, RS256$/,
    },
    proof_key: {
      refuse: proving({ header: { jwk: client.privateJwk } }),
      detail: `the DPoP proof's jwk cannot be used: it has d, a member of private keys`,
    },
    proof_signature: {
      refuse: async () => {
        const proof = client.proof().replace(/[^.]*$/, 'A'.repeat(86))
        await proofs().check(requestWith(proof))
      },
      detail: 'the key in the DPoP proof has not made its signature',
    },
    proof_method: {
      refuse: proving({ claims: { htm: 'POST' } }),
      detail: `the DPoP proof's htm is "POST"; the method of the request is "GET"`,
    },
    proof_url: {
      refuse: proving({ claims: { htu: 'http://internal.test:8080/a?key=secret' } }),
      detail: `the DPoP proof's htu is at "http://internal.test:8080"; origin is "https://api.example.com"`,
    },
    proof_time: {
      refuse: proving({ claims: { iat: NOW - 90 } }),
      detail: "the DPoP proof's iat is before now; maxAge is 60 s, clockTolerance 5 s",
    },
    proof_token: {
      refuse: proving({ claims: { ath: undefined } }),
      detail: 'the DPoP proof has no ath: it is one for a token endpoint',
    },
    replayed_proof: {
      refuse: async () => {
        const guard = proofs()
        const proof = await guard.check(requestWith(client.proof()))
        await guard.remember(proof)
        await guard.remember(proof)
      },
      detail: /^the DPoP proof has been used before, with the key "[\w-]{43}"$/,
    },
  },
  use_dpop_nonce: {
    missing_nonce: {
      refuse: proving({}, { nonces: { secret: 's'.repeat(32) } }),
      detail: 'the DPoP proof has no nonce; the answer has one in the header DPoP-Nonce',
    },
    invalid_nonce: {
      refuse: proving({ claims: { nonce: 'a' } }, { nonces: { secret: 's'.repeat(32) } }),
      detail:
        /^the DPoP proof's nonce is too old, or was made with another secret; the answer has a/,
    },
  },
  replay_unavailable: {
    unreachable: {
      refuse: remembering(() => 'unavailable'),
      detail:
        'the memory of DPoP proofs answered unavailable: it cannot tell whether this one was used before',
    },
    full: {
      refuse: remembering(() => 'full'),
      detail: 'the memory of DPoP proofs has no room for another one, of this key or in all',
    },
  },
  insufficient_user_authentication: {
    acr: {
      refuse: requiring(acr('phr', 'phrh')),
      detail:
        'acr is missing; the route wants one of "phr", "phrh": does the issuer put it into access tokens?',
    },
    age: {
      refuse: requiring(authenticatedWithin(60, { clock })),
      detail: 'the user authenticated longer ago (auth_time); the route wants 60 s at most',
    },
  },
  insufficient_scope: {
    scope: {
      refuse: requiring(scope('read write')),
      detail: 'the token lacks "write"; the route requires scope read write',
    },
    claim: {
      refuse: requiring(claim('role', 'editor')),
      detail: 'claim role is a string; expected "editor"',
    },
    check: {
      refuse: requiring(check(function isOwner() {} as () => boolean)),
      detail: 'the route requires check isOwner, which answered undefined, and only true meets it',
    },
  },
  keys_unavailable: {
    unreachable: {
      refuse: withKeyEndpoint(async () => new Response('', { status: 404 })),
      detail: 'the key URL answered 404 (https://user-agent.test:8443)',
    },
    timeout: {
      refuse: withKeyEndpoint(async () => await new Promise<never>(() => {})),
      detail: 'no answer in 5 s (https://user-agent.test:8443)',
    },
    bad_document: {
      refuse: withKeyEndpoint(async () => Response.json({ keys: [{ kty: 'RSA', use: 'enc' }] })),
      detail: /^the document has no usable key: entry 0: use \(enc\) is not sig \(https:/,
    },
  },
  revocation_unavailable: {
    stale: {
      ...signed({}, { revocations: { statusOf: () => 'unknown' } }),
      detail: 'revocations answered unknown: what they know is too old, or they know nothing yet',
    },
  },
  introspection_unavailable: {
    unreachable: unavailable('unreachable'),
    timeout: unavailable('timeout'),
    bad_answer: unavailable('bad_answer'),
    busy: unavailable('busy'),
  },
}

/** The sentences of `@portcullis/introspection` are tested there. */
function unavailable(reason: AuthErrorReasons['introspection_unavailable']): Case {
  const detail = `${reason}, as the prover says`
  const fault = () => new AuthError('introspection_unavailable', reason, () => detail)
  return { refuse: byProver(fault), detail }
}

function byProver(fault: () => AuthError) {
  const prover: TokenProver = {
    recall: () => undefined,
    prove: async () => {
      throw fault()
    },
    stands: () => false,
    check: () => false,
    late: fault,
    ready: async () => {},
  }
  const verifier = createProvenVerifier(prover, { issuer: null, audience: null })
  return async () => await verifier.verify('opaque')
}

async function setOfTwo() {
  const document = { keys: [issuer.publicJwk, stranger.publicJwk] }
  const keys = remoteKeys('https://auth.test/keys', {
    clock,
    fetch: async () => Response.json(document),
  })
  await keys.refresh()
  await clock.advance(12)
  return keys
}

const cases = Object.entries(CASES).flatMap(([code, reasons]) =>
  Object.entries<Case>(reasons).map(([reason, each]) => ({
    code,
    reason,
    refuse: each.refuse,
    detail: each.detail,
    isProven: each.isProven === true,
  })),
)

describe('detail', () => {
  test('has a sentence for every reason that there is', () => {
    const known = Object.entries(refusals).flatMap(([code, { reasons }]) =>
      Object.keys(reasons).map((reason) => `${code} ${reason}`),
    )
    expect(cases.map(({ code, reason }) => `${code} ${reason}`).toSorted()).toEqual(
      known.toSorted(),
    )
  })

  test.each(cases)('says why: $code $reason', async ({ code, reason, refuse, detail }) => {
    const error = await refusalOf(refuse)
    expect(error).toMatchObject({ code, reason })
    expect(error.detail).toMatch(detail instanceof RegExp ? detail : exactly(detail))
  })

  test.each(cases)('is not what the client reads: $code $reason', async ({ refuse }) => {
    const error = (await refusalOf(refuse)).presentedBy({ respond: 'problem' })
    const sent = [error.message, JSON.stringify(error), JSON.stringify(error.headers), error.body]
    expect(sent.join('\n')).not.toContain(error.detail)
    expect(Object.keys(error)).not.toContain('detail')
  })

  test.each(cases.filter(({ code }) => code === 'invalid_token'))(
    'the client learns the reason if the issuer has signed the token, and never else: $reason',
    async ({ refuse, isProven }) => {
      expect('reason' in (await refusalOf(refuse)).toJSON()).toBe(isProven)
    },
  )

  test('keeps what was known when the token was refused: rotations and time change nothing', async () => {
    const world = await createTestIssuer({ clock })
    const service = tokenService(world)
    const keys = remoteKeys(service.keyUrl, { fetch: service.fetch, clock })
    await keys.refresh()
    await clock.advance(12)
    const expired = await refusalOf(async () => {
      await verify(await world.token({ expiresIn: -60 }), { ...world.verifierOptions, keys, clock })
    })
    const forged = await refusalOf(async () => {
      await verify(withHeader({ alg: 'RS512', kid: 'x' }), {
        ...world.verifierOptions,
        keys,
        clock,
      })
    })
    const before = [expired.detail, forged.detail]
    await world.rotate()
    await clock.advance(100)
    await keys.refresh()
    expect([expired.detail, forged.detail]).toEqual(before)
  })
})

async function refusalOf(refuse: () => unknown): Promise<AuthError> {
  try {
    await refuse()
  } catch (error) {
    if (error instanceof AuthError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

function exactly(text: string): RegExp {
  return new RegExp(`^${text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)}$`)
}

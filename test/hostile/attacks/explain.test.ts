import { createVerifier, localKeys, type VerifierOptions } from '@portcullis/core'
import { explain } from '@portcullis/core/explain'
import { createTestIssuer, manualClock } from '@portcullis/testing'
import { afterAll, describe, expect, test } from 'vitest'

import { otherPrivateKey, privateKey, publicJwkOf, signed } from '../fuzz/signed.ts'
import { corpusOf } from './corpus/corpus.ts'
import { startCanary } from './corpus/guards.ts'
import { createWorld } from './corpus/judge.ts'
import type { Row } from './corpus/row.ts'
import { createTokenMaker } from './corpus/token-maker.ts'

// An explanation agrees with the verdict of a verifier with the same options, on everything hostile that we know of.

/** Where the verifier asks for newer keys than it has, in vain. An explanation judges by those that are there. */
const WITHOUT_ASKING: ReadonlyMap<string, string> = new Map([
  ['a forged token while it cannot be told', 'unknown_key'],
])

const canary = await startCanary()
const maker = await createTokenMaker(canary.url)
const rows = Object.values(corpusOf(maker)).flat()

afterAll(async () => {
  await canary[Symbol.asyncDispose]()
})

test.each(titled(rows))('%s', async (_title, row) => {
  const world = createWorld(row, maker)
  for (const step of row.before ?? []) await world.take(step)
  // The verifier asks first, so that both see the same keys.
  await world.judge(row)
  const expected = WITHOUT_ASKING.get(row.name) ?? row.verdict
  expect(await explainedVerdict(row.token, () => world.optionsFor(row))).toBe(expected)
  expect(canary.visits).toBe(0)
})

function titled(each: readonly Row[]): (readonly [title: string, row: Row])[] {
  return each.map((row) => [`${row.name}: ${row.verdict}`, row])
}

async function explainedVerdict(
  token: unknown,
  optionsOf: () => Parameters<typeof explain>[1],
): Promise<string> {
  try {
    const explanation = await explain(token as string, optionsOf())
    const { verdict, refusal, findings } = explanation
    const reasons = findings.flatMap(({ reason }) => reason ?? [])
    // The refusal is the first of them; without one nothing has failed.
    expect(reasons[0], 'packages/core/src/explain: the findings have another order').toBe(
      refusal?.reason,
    )
    return refusal?.reason ?? verdict
  } catch (error) {
    if (error instanceof TypeError) return 'TypeError'
    throw error
  }
}

/** What is wrong with a token, beside what else is wrong with it. */
interface Draft {
  header: Record<string, unknown>
  claims: Record<string, unknown>
  /** In the place of the claims. */
  payload?: string
  isForged?: boolean
  revocation?: 'revoked' | 'unknown'
}

const NOW = 1_767_225_600

/** One defect for each check of a verifier, more where a check has several parts. */
const DEFECTS: Readonly<Record<string, (draft: Draft) => void>> = {
  'a critical header': ({ header }) => (header['crit'] = ['exp']),
  'kid that is no text': ({ header }) => (header['kid'] = 5),
  'an algorithm that no table knows': ({ header }) => (header['alg'] = 'none'),
  'an algorithm of no key': ({ header }) => (header['alg'] = 'RS512'),
  'a kid of no key': ({ header }) => (header['kid'] = 'other'),
  'another signature': (draft) => (draft.isForged = true),
  'another typ': ({ header }) => (header['typ'] = 'logout+jwt'),
  'no JSON': (draft) => (draft.payload = '{'),
  'a member twice': (draft) => (draft.payload = '{"sub":"ada","sub":"bob"}'),
  events: ({ claims }) => (claims['events'] = { 'https://a.example/e': {} }),
  'another iss': ({ claims }) => (claims['iss'] = 'https://b.example'),
  'another aud': ({ claims }) => (claims['aud'] = ['b']),
  'no exp': ({ claims }) => delete claims['exp'],
  'exp as a text': ({ claims }) => (claims['exp'] = 'never'),
  expired: ({ claims }) => (claims['exp'] = NOW - 60),
  'nbf ahead': ({ claims }) => (claims['nbf'] = NOW + 60),
  'no iat': ({ claims }) => delete claims['iat'],
  'iat ahead': ({ claims }) => (claims['iat'] = NOW + 100),
  'too old': ({ claims }) => (claims['iat'] = NOW - 4000),
  'no role': ({ claims }) => delete claims['role'],
  'another role': ({ claims }) => (claims['role'] = 'guest'),
  'cnf of nobody': ({ claims }) => (claims['cnf'] = { jkt: 'x' }),
  'cnf that is unreadable': ({ claims }) => (claims['cnf'] = 'x'),
  revoked: (draft) => (draft.revocation = 'revoked'),
  'revocations that know nothing': (draft) => (draft.revocation = 'unknown'),
}

describe('every pair of defects', () => {
  const keys = localKeys({ keys: [{ ...publicJwkOf(privateKey), kid: 'a' }] })
  const names = Object.keys(DEFECTS)
  const pairs = names.flatMap((one, at) => names.slice(at).map((other) => [one, other] as const))

  test.each(pairs)(
    '%s, %s: the first check that fails is that of the verifier',
    async (...pair) => {
      const draft: Draft = {
        header: { alg: 'EdDSA', kid: 'a' },
        claims: {
          iss: 'https://a.example',
          aud: 'a',
          sub: 'ada',
          role: 'admin',
          iat: NOW - 10,
          exp: NOW + 600,
        },
      }
      for (const name of pair) DEFECTS[name]?.(draft)
      const options: VerifierOptions = {
        keys,
        issuer: 'https://a.example',
        audience: 'a',
        maxTokenAge: 3600,
        requiredClaims: { role: 'admin' },
        revocations: { statusOf: () => draft.revocation ?? 'valid' },
        clock: manualClock(NOW),
      }
      const { header, claims, payload = JSON.stringify(claims), isForged } = draft
      const key = isForged ? otherPrivateKey : privateKey
      const token = signed(JSON.stringify(header), payload, key)
      const verdict = await createVerifier(options)
        .verify(token)
        .then(
          () => 'accepted',
          (error: unknown) => (error as { reason: unknown }).reason,
        )
      expect(verdict).not.toBe('accepted')
      expect(await explainedVerdict(token, () => options)).toBe(verdict)
    },
  )
})

describe('what testing makes', async () => {
  const issuer = await createTestIssuer({ clock: manualClock(), issuer: 'https://auth.test' })
  const options = issuer.verifierOptions
  const verifier = createVerifier(options)
  const [bad, edge] = await Promise.all([issuer.badTokens(), issuer.edgeTokens()])

  test.each(bad)('a bad token, $reason: $name', async ({ token, reason }) => {
    await expect(verifier.verify(token)).rejects.toMatchObject({ reason })
    expect(await explainedVerdict(token, () => options)).toBe(reason)
  })

  test.each(edge)('an unusual token: $name', async ({ token }) => {
    await expect(verifier.verify(token)).resolves.toBeDefined()
    expect(await explainedVerdict(token, () => options)).toBe('accepted')
  })
})

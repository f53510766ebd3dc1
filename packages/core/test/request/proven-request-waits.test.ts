import {
  createTestIssuer,
  type ManualClock,
  manualClock,
  type TestIssuer,
} from '@portcullis/testing'
import { beforeEach, describe, expect, test } from 'vitest'

import {
  brandedProofs,
  type DpopProofs,
  type DpopProofsMethods,
} from '../../src/dpop/proof-check.ts'
import { byIssuer } from '../../src/issuers/by-issuer.ts'
import { AuthError } from '../../src/refusal/errors.ts'
import { authenticateRequest } from '../../src/request/http.ts'
import { type LocalRevocations, localRevocations } from '../../src/revocation/local-revocations.ts'
import { createVerifier } from '../../src/verifier/create-verifier.ts'
import type { VerifierOptions } from '../../src/verifier/verifier-options.ts'
import type { Verifier } from '../../src/verifier/verifier.ts'

// A memory of proofs that several processes share takes its time. What was true of the token before need not be true after it.

const ISSUER = 'https://auth.test'
const JKT = '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I'

const REVOKED = { iss: ISSUER, jti: '1' }

let clock: ManualClock
let issuer: TestIssuer
let revocations: LocalRevocations

const verifier = (more: Partial<VerifierOptions> = {}): Verifier =>
  createVerifier({ ...issuer.verifierOptions, revocations, ...more })

const boundToken = async () => await issuer.token({ claims: { cnf: { jkt: JKT }, jti: '1' } })

beforeEach(async () => {
  clock = manualClock()
  revocations = localRevocations({ clock })
  issuer = await createTestIssuer({ clock, algorithm: 'ES256', issuer: ISSUER })
})

/** A proof is the thumbprint of its key. While it is remembered, something happens. */
function proofs(remember: DpopProofsMethods['remember']): DpopProofs {
  return brandedProofs({
    algorithms: ['ES256'],
    required: false,
    check: async ({ proof }) => ({ jkt: String(proof), jti: '1', expires: Infinity }),
    remember,
    nonce: () => undefined,
  })
}

async function verdictOf(
  by: Verifier<unknown>,
  token: string,
  remember: DpopProofsMethods['remember'],
): Promise<string> {
  const request = {
    method: 'GET',
    url: '/',
    headers: { authorization: `DPoP ${token}`, dpop: JKT },
  }
  try {
    await authenticateRequest(by, request, { dpop: proofs(remember) })
    return 'accepted'
  } catch (error) {
    return error instanceof AuthError ? error.reason : String(error)
  }
}

const revoke = async () => await revocations.revoke(REVOKED)
const wait = async () => await Promise.resolve()
const atOnce = () => undefined

describe('while a proof is remembered', () => {
  test.each<[string, string, () => unknown]>([
    ['nothing happens', 'accepted', () => undefined],
    ['the token expires', 'expired', async () => await clock.advance(4000)],
    ['the token is revoked', 'revoked', revoke],
    [
      'the key of the token is withdrawn',
      'signature',
      async () => {
        await issuer.rotate()
        await clock.advance(1)
        await issuer.verifierOptions.keys.refresh()
      },
    ],
  ])('%s: %s', async (_, verdict, happens) => {
    const remember = async () => void (await happens())
    expect(await verdictOf(verifier(), await boundToken(), remember)).toBe(verdict)
  })

  test.each<[string, () => Verifier<unknown>]>([
    ['of several issuers', () => byIssuer({ [ISSUER]: verifier() })],
    ['of a function', () => byIssuer(() => verifier())],
    ['that remembers nothing', () => verifier({ remember: false })],
    [
      'that is wrapped',
      () => {
        const inner = verifier()
        return { ...inner, verify: async (...given) => await inner.verify(...given) }
      },
    ],
  ])('a verifier %s is asked again: revoked', async (_, make) => {
    expect(await verdictOf(make(), await boundToken(), revoke)).toBe('revoked')
  })

  test('a verifier that forgets what was proven is not believed the second time either', async () => {
    const inner = verifier()
    let calls = 0
    const verify: Verifier['verify'] = async (token, options) => {
      calls += 1
      const auth = await inner.verify(token, options)
      return calls === 1 ? auth : { ...auth, possession: undefined }
    }
    expect(await verdictOf({ ...inner, verify }, await boundToken(), wait)).toBe('binding')
    expect(calls).toBe(2)
  })
})

test('a proof that is remembered at once: the token is judged once', async () => {
  const inner = verifier()
  let calls = 0
  const verify: Verifier['verify'] = async (...given) => {
    calls += 1
    return await inner.verify(...given)
  }
  expect(await verdictOf({ ...inner, verify }, await boundToken(), atOnce)).toBe('accepted')
  expect(calls).toBe(1)
})

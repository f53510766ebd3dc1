import { AuthError, dpopProofs } from '@portcullis/core'
import { describe, expect, test } from 'vitest'

import { proofMethods } from '../../../core/src/dpop/proof-check.ts'
import { manualClock } from '../../src/clock.ts'
import { dpopClient } from '../../src/dpop/dpop-client.ts'

const clock = manualClock()
const secret = 'a secret of at least 32 octets, for tests'
const origin = 'https://api.test'
const guards = {
  'no nonces': dpopProofs({ origin, clock }),
  nonces: dpopProofs({ origin, clock, nonces: { secret } }),
}

type Guard = (typeof guards)['nonces']

/** The verdict of a guard on the proof of `GET https://api.test/v1/a?b=c`. */
async function verdict(guard: Guard, jkt: string, token: string, proof: string | undefined) {
  try {
    const proven = await proofMethods(guard).check({
      proof,
      method: 'GET',
      target: '/v1/a?b=c',
      token,
    })
    return proven.jkt === jkt ? 'accepted' : 'invalid_token binding'
  } catch (error) {
    return error instanceof AuthError ? `${error.code} ${error.reason}` : String(error)
  }
}

describe.each(['ES256', 'Ed25519', 'PS256'] as const)('bad proofs with %s', async (algorithm) => {
  const client = await dpopClient({ clock, algorithm })
  const token = 'a.b.c'

  test.each(Object.entries(guards))('are refused for their reason, %s', async (_title, guard) => {
    const request = { url: `${origin}/v1/a?b=c`, token, nonce: guard.nonce() }
    const sound = await client.headers(request)
    expect(await verdict(guard, client.jkt, token, sound.dpop)).toBe('accepted')
    const rows = await client.badProofs(request)
    for (const { name, code, reason, headers } of rows) {
      expect(headers.authorization).toBe(`DPoP ${token}`)
      const answer = await verdict(guard, client.jkt, token, headers.dpop)
      expect.soft(answer, name).toBe(`${code} ${reason}`)
    }
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length)
  })
})

test('every reason to refuse a proof has a row but that it was replayed', async () => {
  const client = await dpopClient({ clock })
  const rows = await client.badProofs({ url: origin, token: 'a', nonce: 'n', method: 'POST' })
  expect(new Set(rows.map(({ code, reason }) => `${code} ${reason}`))).toEqual(
    new Set([
      'invalid_dpop_proof missing_proof',
      'invalid_dpop_proof malformed_proof',
      'invalid_dpop_proof proof_algorithm',
      'invalid_dpop_proof proof_key',
      'invalid_dpop_proof proof_signature',
      'invalid_dpop_proof proof_method',
      'invalid_dpop_proof proof_url',
      'invalid_dpop_proof proof_time',
      'invalid_dpop_proof proof_token',
      'use_dpop_nonce missing_nonce',
      'use_dpop_nonce invalid_nonce',
      'invalid_token binding',
    ]),
  )
})

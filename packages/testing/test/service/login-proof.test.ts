import { decodeJwt } from 'jose'
import { describe, expect, test } from 'vitest'

import { manualClock } from '../../src/clock.ts'
import { dpopClient } from '../../src/dpop/dpop-client.ts'
import type { ProofOptions } from '../../src/dpop/proof.ts'
import { createTestIssuer } from '../../src/issuer.ts'
import { tokenService } from '../../src/token-service.ts'

const clock = manualClock()
const issuer = await createTestIssuer({ clock, algorithm: 'ES256' })
const client = await dpopClient({ clock })

async function logIn(
  { authUrl, fetch = globalThis.fetch }: { authUrl: string; fetch?: typeof globalThis.fetch },
  { password = 'demo', ...options }: Partial<ProofOptions> & { password?: string } = {},
): Promise<Response> {
  const url = `${authUrl}/tokenservice/token/api`
  const headers = { dpop: await client.proof({ method: 'POST', url, ...options }) }
  const body = new URLSearchParams({ loginId: 'demo', password })
  return await fetch(url, { method: 'POST', headers, body })
}

describe('a login with a DPoP proof', () => {
  test('gives a token that is bound to its key', async () => {
    const response = await logIn(tokenService(issuer))
    const { cnf, sub } = decodeJwt(await response.text())
    expect(cnf).toEqual({ jkt: client.jkt })
    expect(sub).toBe('demo')
  })

  test('does so on a port', async () => {
    await using service = await tokenService(issuer).listen()
    const response = await logIn(service)
    expect(decodeJwt(await response.text())['cnf']).toEqual({ jkt: client.jkt })
  })

  test.each<[title: string, options: Partial<ProofOptions>]>([
    ['for another method', { method: 'GET' }],
    ['for another URL', { url: 'https://other.test/tokenservice/token/api' }],
    ['of another time', { claims: { iat: clock.now() - 100 } }],
    ['without a jti', { omit: ['jti'] }],
    ['of another type', { header: { typ: 'JWT' } }],
    ['signed by another key', { header: { jwk: issuer.publicJwk } }],
    ['of no form at all', { payload: 'proof' }],
  ])('%s is refused', async (_title, options) => {
    const response = await logIn(tokenService(issuer), options)
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({ error: 'invalid_dpop_proof' })
  })

  test('is refused if its header or its payload has more than 1000 levels', async () => {
    for (const levels of [999, 1000]) {
      const deep = JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as unknown
      const claims = { deep }
      const { status } = await logIn(tokenService(issuer), { claims })
      expect(status).toBe(levels === 999 ? 200 : 400)
    }
  })

  test('must have the nonce, if the service asks for one', async () => {
    let nonce = 'first'
    const service = tokenService(issuer, { dpopNonce: () => nonce })
    const refused = await logIn(service)
    expect(refused.status).toBe(400)
    expect(await refused.json()).toEqual({ error: 'use_dpop_nonce' })
    expect(refused.headers.get('dpop-nonce')).toBe('first')
    expect((await logIn(service, { nonce: 'first' })).status).toBe(200)
    nonce = 'second'
    expect((await logIn(service, { nonce: 'first' })).headers.get('dpop-nonce')).toBe('second')
  })

  test('does not replace the password', async () => {
    expect((await logIn(tokenService(issuer), { password: 'wrong' })).status).toBe(401)
  })
})

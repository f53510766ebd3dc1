import { X509Certificate } from 'node:crypto'

import { decodeJwt } from 'jose'
import { describe, expect, test } from 'vitest'

import { dpopClient } from '../../src/dpop/dpop-client.ts'
import { createTestIssuer } from '../../src/issuer.ts'
import type { Binding } from '../../src/tokens/binding.ts'
import type { TokenOptions } from '../../src/tokens/token.ts'

// Of RFC 8705, appendix A: a certificate and its thumbprint.
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBBjCBrAIBAjAKBggqhkjOPQQDAjAPMQ0wCwYDVQQDDARtdGxzMB4XDTE4MTAx
ODEyMzcwOVoXDTIyMDUwMjEyMzcwOVowDzENMAsGA1UEAwwEbXRsczBZMBMGByqG
SM49AgEGCCqGSM49AwEHA0IABNcnyxwqV6hY8QnhxxzFQ03C7HKW9OylMbnQZjjJ
/Au08/coZwxS7LfA4vOLS9WuneIXhbGGWvsDSb0tH6IxLm8wCgYIKoZIzj0EAwID
SQAwRgIhAP0RC1E+vwJD/D1AGHGzuri+hlV/PpQEKTWUVeORWz83AiEA5x2eXZOV
bUlJSGQgjwD5vaUaKlLR50Q2DmFfQj1L+SY=
-----END CERTIFICATE-----`
const THUMBPRINT = 'A4DtL2JmUMhAsvJj5tKyn64SqzmuXbMrJa0n761y5v0'

const issuer = await createTestIssuer({ algorithm: 'ES256' })
const client = await dpopClient()
const certificate = new X509Certificate(CERTIFICATE)

async function confirmationOf(options: TokenOptions): Promise<unknown> {
  return decodeJwt(await issuer.token(options))['cnf']
}

describe('boundTo', () => {
  test.each<[to: string, boundTo: Binding | readonly Binding[], cnf: object]>([
    ['a client', client, { jkt: client.jkt }],
    ['a certificate', certificate, { 'x5t#S256': THUMBPRINT }],
    ['the thumbprint of a key', { jkt: 'a' }, { jkt: 'a' }],
    ['the thumbprint of a certificate', { x5tS256: 'b' }, { 'x5t#S256': 'b' }],
    ['both thumbprints', { jkt: 'a', x5tS256: 'b' }, { jkt: 'a', 'x5t#S256': 'b' }],
    ['a list', [client, certificate], { jkt: client.jkt, 'x5t#S256': THUMBPRINT }],
  ])('%s becomes the claim cnf', async (_to, boundTo, cnf) => {
    expect(await confirmationOf({ boundTo })).toEqual(cnf)
  })

  test('nothing by default', async () => {
    expect(await confirmationOf({})).toBeUndefined()
  })

  test('a claim cnf of its own takes its place', async () => {
    expect(await confirmationOf({ boundTo: client, claims: { cnf: 'odd' } })).toBe('odd')
  })

  test('binds every token of a table', async () => {
    for (const { token, name } of await issuer.edgeTokens({ boundTo: client })) {
      expect.soft(decodeJwt(token)['cnf'], name).toEqual({ jkt: client.jkt })
    }
  })

  test.each<[title: string, boundTo: unknown]>([
    ['text', client.jkt],
    ['null', null],
    ['an empty list', []],
    ['an object with neither', {}],
    ['an empty thumbprint', { jkt: '' }],
    ['a certificate as PEM in raw', { raw: CERTIFICATE }],
  ])('%s is refused', async (_title, boundTo) => {
    await expect(issuer.token({ boundTo: boundTo as Binding })).rejects.toThrow(
      'token: boundTo must be what dpopClient() returned, an X509Certificate, { jkt, x5tS256 }, or a list of these',
    )
  })
})

import { readFileSync } from 'node:fs'

import {
  AuthError,
  authenticateRequest,
  createVerifier,
  localKeys,
  remoteKeys,
} from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'
import { expect, test } from 'vitest'

// What the page of refusals says of `detail` is what a developer sees.

const issuer = await createTestIssuer({ algorithm: 'ES256' })
const stated = { issuer: null, audience: null }
const verifier = createVerifier({ keys: localKeys(issuer.publicJwk), ...stated })

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const signature = Buffer.alloc(64, 1).toString('base64url')
/** Of 64 and 20 octets, so that each part has padding. */
const ofBalancer = [
  { typ: 'JWT', alg: 'ES256', signer: 'arn:aws' },
  { sub: 'ada', exp: 2e9 },
]
  .map((value) => `${part(value)}=`)
  .concat(`${signature}==`)
  .join('.')

async function withDocument(text: string): Promise<unknown> {
  const keys = remoteKeys('https://auth.test/keys', {
    fetch: async () => await Promise.resolve(new Response(text)),
  })
  return await createVerifier({ keys, ...stated }).verify(await issuer.token())
}

const PEM = '-----BEGIN CERTIFICATE-----\nMIIB'

const refused: readonly (readonly [what: string, act: () => Promise<unknown>])[] = [
  [
    'a token with a shared secret',
    () => verifier.verify(`${part({ alg: 'HS256' })}.${part({ sub: 'ada' })}.${signature}`),
  ],
  ['an encrypted token', () => verifier.verify(`${part({ alg: 'dir', enc: 'A256GCM' })}..a.b.c`)],
  [
    'a token of an Application Load Balancer',
    () =>
      authenticateRequest(
        verifier,
        new Request('https://api.test/', { headers: { 'x-amzn-oidc-data': ofBalancer } }),
        { credentials: { header: 'x-amzn-oidc-data' } },
      ),
  ],
  ['the same, to `verify`', () => verifier.verify(ofBalancer)],
  [
    'a key document with certificates',
    () => withDocument(JSON.stringify({ keys: [{ kty: 'RSA', x5c: ['MIIB'] }] })),
  ],
  ['certificates by the id of their key', () => withDocument(JSON.stringify({ one: PEM }))],
  ['a file or a URL of PEM', () => withDocument(PEM)],
]

const page = readFileSync(new URL('../REFUSED.md', import.meta.url), 'utf8')
const rows = [...page.matchAll(/^\| ((?!What comes|---).*?) \| `(.*)` \|$/gm)].map(
  ([, what = '', sentence = '']) => [what, sentence] as const,
)

test('the page has a row for each of them, in their order', () => {
  expect(rows.map(([what]) => what)).toEqual(refused.map(([what]) => what))
})

test.each(refused)('%s is refused, and `detail` is that of the page', async (what, act) => {
  const refusal: unknown = await act().catch((error: unknown) => error)
  if (!(refusal instanceof AuthError)) throw new Error('it was not refused')
  const [, sentence = ''] = rows.find(([each]) => each === what) ?? []
  const parts = sentence.split('...')
  expect(refusal.detail.startsWith(parts[0] ?? '')).toBe(true)
  expect(parts.every((each) => refusal.detail.includes(each))).toBe(true)
  expect(sentence).not.toBe('')
})

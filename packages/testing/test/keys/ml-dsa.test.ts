import { createVerifier, dpopProofs } from '@portcullis/core'
import { expect, test } from 'vitest'

import { proofMethods } from '../../../core/src/dpop/proof-check.ts'
import { dpopClient } from '../../src/dpop/dpop-client.ts'
import { createTestIssuer } from '../../src/issuer.ts'
import { checkPlatform } from '../../src/keys/ml-dsa.ts'

const algorithm = 'ML-DSA-44'
const nowhere = async () => false

test('where WebCrypto has no ML-DSA, that is what the TypeError says', async () => {
  await expect(checkPlatform('createTestIssuer', 'ES256', nowhere)).resolves.toBeUndefined()
  await expect(checkPlatform('createTestIssuer', 'ML-DSA-87', nowhere)).rejects.toThrow(
    new TypeError(
      'createTestIssuer: algorithm "ML-DSA-87" needs a platform whose WebCrypto has ML-DSA, such as Node 24.7 or later, and this one has not',
    ),
  )
})

test('a key of ML-DSA cannot leave its alg out', async () => {
  await expect(createTestIssuer({ algorithm, omitFromKey: ['kid', 'alg'] })).rejects.toThrow(
    new TypeError(
      'createTestIssuer: omitFromKey must not have alg with algorithm "ML-DSA-44", whose keys have to say what they are for',
    ),
  )
  const issuer = await createTestIssuer({ algorithm, omitFromKey: ['kid', 'use'] })
  expect(Object.keys(issuer.publicJwk).toSorted()).toEqual(['alg', 'kty', 'pub'])
  const verifier = createVerifier(issuer.verifierOptions)
  await expect(verifier.verify(await issuer.token())).resolves.toHaveProperty('claims')
})

test('a client with a key of ML-DSA makes proofs that are accepted, and bad ones that are refused', async () => {
  const client = await dpopClient({ algorithm })
  const request = { url: 'https://api.test/', token: 'a.b.c' }
  const proofs = dpopProofs({ origin: 'https://api.test', algorithms: [algorithm] })
  const check = async (proof: string | undefined) =>
    await proofMethods(proofs).check({ proof, method: 'GET', target: '/', token: 'a.b.c' })
  await expect(check(await client.proof(request))).resolves.toMatchObject({ jkt: client.jkt })
  for (const { name, reason, headers } of await client.badProofs(request)) {
    if (reason === 'binding') continue
    const outcome = await check(headers.dpop).catch((error: unknown) => error)
    expect.soft(outcome, name).toMatchObject({ reason })
  }
})

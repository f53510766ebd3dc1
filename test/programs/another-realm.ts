import { runInNewContext } from 'node:vm'

import { createVerifier, dpopProofs, localKeys } from '@portcullis/core'
import { createTestIssuer, dpopClient, tokenService } from '@portcullis/testing'

import { proofMethods } from '../../packages/core/src/dpop/proof-check.ts'

// A program in which octets are of another realm than those of Node's own objects, as jsdom has them in a test runner. Prints what
// became of each kind of token.

Object.defineProperty(globalThis, 'Uint8Array', { value: runInNewContext('Uint8Array') as unknown })

const issuer = await createTestIssuer()
const client = await dpopClient()
const verifier = createVerifier({ ...issuer.verifierOptions, keys: localKeys(issuer.publicJwk) })
const origin = 'https://api.test'

const token = await issuer.token()
const payload = new TextEncoder().encode(JSON.stringify({ sub: 'ada', exp: 9_999_999_999 }))
await verifier.verify(token)
await issuer.token({ payload })
await issuer.badTokens()
await issuer.edgeTokens()
const proof = await client.proof({ method: 'GET', url: `${origin}/`, token })
await proofMethods(dpopProofs({ origin })).check({ proof, method: 'GET', target: '/', token })
await client.badProofs({ method: 'GET', url: `${origin}/`, token })
const service = tokenService(issuer)
const answer = await service.fetch(`${service.authUrl}/tokenservice/pubkey.json`)
await answer.json()
console.log('done')

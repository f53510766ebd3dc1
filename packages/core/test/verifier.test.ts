import { createTestIssuer, manualClock, tokenService } from '@portcullis/testing'
import { expect, test } from 'vitest'

import { createVerifier, remoteKeys } from '../src/index.ts'

test('a token of the service is accepted', async () => {
  const clock = manualClock()
  const issuer = await createTestIssuer({ clock })
  const service = tokenService(issuer)
  const keys = remoteKeys(service.keyUrl, { fetch: service.fetch, clock })
  const verifier = createVerifier({ keys, issuer: null, audience: null, clock })
  const auth = await verifier.verify(await issuer.token({ claims: { sub: 'ada' } }))
  expect(auth.claims.sub).toBe('ada')
  expect(keys.status()).toMatchObject({ freshness: 'fresh', fetching: false })
})

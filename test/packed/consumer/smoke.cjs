const assert = require('node:assert/strict')

const { AuthError, createVerifier, localKeys } = require('@portcullis/core')
const { authenticate } = require('@portcullis/express')
const { createTestIssuer } = require('@portcullis/testing')

async function main() {
  const issuer = await createTestIssuer()
  const keys = localKeys(issuer.publicJwk)
  const verifier = createVerifier({ keys, issuer: null, audience: null })
  const { claims } = await verifier.verify(await issuer.token({ claims: { sub: 'ada' } }))
  assert.equal(claims.sub, 'ada')
  await assert.rejects(verifier.verify('a.b.c'), AuthError)
  assert.equal(typeof authenticate(verifier), 'function')
}

void main()

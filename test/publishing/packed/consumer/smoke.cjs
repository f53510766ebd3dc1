const assert = require('node:assert/strict')

const { AuthError, createVerifier, localKeys } = require('@portcullis/core')
const { authenticate } = require('@portcullis/express')
const guardedFastify = require('@portcullis/fastify')
const guardedHono = require('@portcullis/hono')
const guardedKoa = require('@portcullis/koa')
const guardedNest = require('@portcullis/nest')
const { createTestIssuer } = require('@portcullis/testing')

async function main() {
  const issuer = await createTestIssuer()
  const keys = localKeys(issuer.publicJwk)
  const verifier = createVerifier({ keys, issuer: null, audience: null })
  const { claims } = await verifier.verify(await issuer.token({ claims: { sub: 'ada' } }))
  assert.equal(claims.sub, 'ada')
  await assert.rejects(verifier.verify('a.b.c'), AuthError)
  for (const guard of [{ authenticate }, guardedFastify, guardedHono, guardedKoa]) {
    assert.equal(typeof guard.authenticate(verifier), 'function')
  }
  assert.equal(guardedNest.PortcullisModule.forRoot({ verifier }).global, true)
}

void main()

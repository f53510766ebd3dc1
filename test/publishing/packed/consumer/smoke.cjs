const assert = require('node:assert/strict')
const { readdirSync } = require('node:fs')
const { join } = require('node:path')

const { AuthError, createVerifier, localKeys } = require('@portcullis/core')
const { PortcullisModule } = require('@portcullis/nest')
const { createTestIssuer } = require('@portcullis/testing')

async function main() {
  const issuer = await createTestIssuer()
  const keys = localKeys(issuer.publicJwk)
  const verifier = createVerifier({ keys, issuer: null, audience: null })
  const { claims } = await verifier.verify(await issuer.token({ claims: { sub: 'ada' } }))
  assert.equal(claims.sub, 'ada')
  await assert.rejects(verifier.verify('a.b.c'), AuthError)

  // All that can be imported: a program cannot.
  const packages = readdirSync(join(__dirname, 'node_modules', '@portcullis'))
    .map((folder) => `@portcullis/${folder}`)
    .filter((name) => require(`${name}/package.json`).main !== undefined)
  assert.ok(packages.length > 1)
  for (const { authenticate = () => () => {} } of packages.map((name) => require(name))) {
    assert.equal(typeof authenticate(verifier), 'function')
  }
  assert.equal(PortcullisModule.forRoot({ verifier }).global, true)
  await knowsOneCopy(verifier, await issuer.token())
}

/** `require` and `import`, and all entries, find the same classes, and remember in the same maps. */
async function knowsOneCopy(verifier, token) {
  const core = await import('@portcullis/core')
  assert.equal(core.AuthError, AuthError)
  const { applySchema, checkGuardOptions, hasPassed, isAtOnce } =
    await import('@portcullis/core/adapter')
  const validate = () => ({ issues: [] })
  const refused = applySchema({ '~standard': { version: 1, validate } }, { claims: {} })
  await assert.rejects(refused, AuthError)
  // A verifier made by `require` is asked at once what it remembers.
  await verifier.verify(token)
  const request = { headers: { authorization: `Bearer ${token}` } }
  const options = checkGuardOptions(verifier, {})
  assert.equal(isAtOnce(core.authenticateRequest(verifier, request, options, request)), true)
  assert.equal(hasPassed(request, options), true)
}

void main()

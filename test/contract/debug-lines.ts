import { check, createVerifier, remoteKeys, scope } from '@portcullis/core'
import { createTestIssuer, tokenService } from '@portcullis/testing'

import { frameworks } from './frameworks/index.ts'

// A program, since NODE_DEBUG is read at start-up and what is printed is the point. Each request is refused in another place.

const framework = frameworks.find(({ name }) => name === process.argv[2])
if (framework === undefined) throw new TypeError('the argument must be the name of a framework')

const issuer = await createTestIssuer({ issuer: 'https://auth.test', audience: 'api' })
const service = tokenService(issuer)
const verifier = createVerifier({
  keys: remoteKeys(service.keyUrl, { fetch: service.fetch }),
  issuer: 'https://auth.test',
  audience: 'api',
})
const tokens = [
  await issuer.token({ claims: { aud: 'shop', sub: 'canary' } }),
  await issuer.token({ claims: { scope: 'read', sub: 'canary' } }),
]

for (const respond of ['forward', 'problem'] as const) {
  const app = await framework.createApp({
    guards: [{ verifier, options: { respond } }],
    requirements: [scope('write'), check(() => false)],
    routers: { '/v1': { routes: [{ path: '/places', handle: () => ({}) }] } },
    // Whatever else a framework prints of a refusal.
    silent: true,
  })
  for (const headers of [{}, ...tokens.map((token) => ({ authorization: `Bearer ${token}` }))]) {
    const response = await fetch(`${app.url}/v1/places?key=canary`, { headers })
    await response.text()
  }
  await app[Symbol.asyncDispose]()
}

import { check, createVerifier, remoteKeys, scope } from '@portcullis/core'
import { createTestIssuer, tokenService } from '@portcullis/testing'

import { frameworks } from './frameworks/index.ts'

// A program, since NODE_DEBUG is read at start-up and what is printed is the point. Each request is refused in another place.
// One process for all frameworks: to start it costs the most. It prints the name of each before what is printed of it.

const issuer = await createTestIssuer({ issuer: 'https://auth.test', audience: 'api' })
const service = tokenService(issuer)
const tokens = [
  await issuer.token({ claims: { aud: 'shop', sub: 'canary' } }),
  await issuer.token({ claims: { scope: 'read', sub: 'canary' } }),
]

for (const { name, createApp } of frameworks) {
  process.stderr.write(`--- ${name}\n`)
  const verifier = createVerifier({
    keys: remoteKeys(service.keyUrl, { fetch: service.fetch }),
    issuer: 'https://auth.test',
    audience: 'api',
  })
  for (const respond of ['forward', 'problem'] as const) {
    const app = await createApp({
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
}

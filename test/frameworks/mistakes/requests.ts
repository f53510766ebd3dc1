import { setImmediate } from 'node:timers/promises'

import { createVerifier, localKeys, scope } from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'

import type { AppSpec, Framework, Route } from '../contract/frameworks/framework.ts'
import { frameworks } from '../contract/frameworks/index.ts'

// A program that makes mistakes with every framework, and prints what the server answers. What the framework and
// NODE_DEBUG=portcullis print comes between.

const issuer = await createTestIssuer({ audience: 'api' })
const keys = localKeys(issuer.publicJwk)
const verifier = createVerifier({ keys, issuer: null, audience: 'api' })
const token = await issuer.token()
const idToken = await issuer.bearer({ claims: { aud: 'web-app', nonce: 'canary' } })

const places: Route = { path: '/places', handle: (view) => view.getAuth().claims }
const guarded: AppSpec = { guards: [{ verifier }], routes: [places] }

interface Mistake {
  readonly app: AppSpec
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
}

const mistakes: Readonly<Record<string, Mistake>> = {
  'authorize without a guard': { app: { requirements: [scope('read')], routes: [places] } },
  'a guard on another router': {
    app: {
      routers: { '/v1': { guards: [{ verifier }], routes: [places] }, '': { routes: [places] } },
    },
  },
  'getAuth of an anonymous request': {
    app: { guards: [{ verifier, options: { optional: true } }], routes: [places] },
  },
  'a preflight at the guard': {
    app: guarded,
    method: 'OPTIONS',
    headers: { origin: 'https://web.test', 'access-control-request-method': 'GET' },
  },
  'a header without Bearer': { app: guarded, headers: { authorization: token } },
  'a header with Bearer twice': {
    app: guarded,
    headers: { authorization: `Bearer Bearer ${token}` },
  },
  'a header with a promise': {
    app: guarded,
    headers: { authorization: 'Bearer [object Promise]' },
  },
  'a header with undefined': { app: guarded, headers: { authorization: 'Bearer undefined' } },
  'an ID token': { app: guarded, headers: idToken },
}

async function show({ createApp }: Framework, mistake: Mistake): Promise<void> {
  const { app, method = 'GET', headers = {} } = mistake
  await using server = await createApp({ ...app, development: true })
  const response = await fetch(`${server.url}/places`, { method, headers })
  console.error(`answer: ${response.status} ${await response.text()}`)
  await setImmediate() // Express prints after its answer
}

for (const framework of frameworks) {
  for (const [name, mistake] of Object.entries(mistakes)) {
    console.error(`# ${framework.name}: ${name}`)
    await show(framework, mistake)
  }
}

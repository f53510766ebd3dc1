import { createVerifier, remoteKeys } from '@portcullis/core'
import { createTestIssuer, tokenService } from '@portcullis/testing'

import { frameworks } from './frameworks/index.ts'

// A program, since it replaces a global, as zone.js and some tracers do: what asynchronous functions return is no instance of
// that `Promise`. It prints the statuses of its answers.

const framework = frameworks.find(({ name }) => name === process.argv[2])
if (framework === undefined) throw new TypeError('the first argument must name a framework')

const issuer = await createTestIssuer()
const service = tokenService(issuer)
const keys = remoteKeys(service.keyUrl, { fetch: service.fetch })
const verifier = createVerifier({ keys, issuer: null, audience: null })
const good = await issuer.bearer()
const [head, payload] = good.authorization.split('.')
const forged = { authorization: `${head}.${payload}.${'A'.repeat(342)}` }

const replace = () => {
  globalThis.Promise = class extends Promise<unknown> {} as PromiseConstructor // as much of one as they make
}
if (process.argv[3] === 'before') replace()
const app = await framework.createApp({
  guards: [{ verifier }],
  routes: [{ path: '/', handle: () => 'in' }],
  silent: true,
})
if (process.argv[3] === 'after') replace()

const statuses: number[] = []
for (const headers of [{}, forged, good, good, forged, {}]) {
  const response = await fetch(app.url, { headers })
  await response.text()
  statuses.push(response.status)
}
console.log(JSON.stringify(statuses))
await app[Symbol.asyncDispose]()

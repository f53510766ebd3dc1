import { createVerifier, remoteKeys } from '@portcullis/core'
import { createTestIssuer, tokenService } from '@portcullis/testing'

import type { Application } from './frameworks/framework.ts'
import { frameworks } from './frameworks/index.ts'

// A program, since it replaces a global, as zone.js and some tracers do: what asynchronous functions return is no instance of
// that `Promise`. It prints the statuses of the answers of each framework. One process for all: to start it costs the most.

const moment = process.argv[2]
const issuer = await createTestIssuer()
const service = tokenService(issuer)
const good = await issuer.bearer()
const [head, payload] = good.authorization.split('.')
const forged = { authorization: `${head}.${payload}.${'A'.repeat(342)}` }

const replace = () => {
  globalThis.Promise = class extends Promise<unknown> {} as PromiseConstructor // as much of one as they make
}

// A verifier of its own for each, which has not seen the token.
async function createApp({ createApp: create }: (typeof frameworks)[number]): Promise<Application> {
  const keys = remoteKeys(service.keyUrl, { fetch: service.fetch })
  const verifier = createVerifier({ keys, issuer: null, audience: null })
  const routes = [{ path: '/', handle: () => 'in' }]
  return await create({ guards: [{ verifier }], routes, silent: true })
}

if (moment === 'before') replace()
const apps = new Map<string, Application>()
for (const framework of frameworks) apps.set(framework.name, await createApp(framework))
if (moment === 'after') replace()

const statuses: Record<string, number[]> = {}
for (const [name, app] of apps) {
  const seen: number[] = []
  for (const headers of [{}, forged, good, good, forged, {}]) {
    const response = await fetch(app.url, { headers })
    await response.text()
    seen.push(response.status)
  }
  statuses[name] = seen
  await app[Symbol.asyncDispose]()
}
console.log(JSON.stringify(statuses))

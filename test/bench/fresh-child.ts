import { createServer } from 'node:http'
import { performance } from 'node:perf_hooks'
import { duplexPair } from 'node:stream'

import type { RequestHandler } from 'express'

// One start, in a fresh process, in the project where the packages are: node fresh-child.ts WHAT JSON. It prints milliseconds.
//
// `import` with two lists of modules says how long the import of the second takes. The name of a guard is a cold start, as a function in
// the cloud has it: it imports Express and the guard, sends itself one request over a socket in memory, and prints how long that took
// since the process began. The keys come from another process, over the loopback.

interface Keys {
  readonly urls: { readonly bare: string; readonly set: string }
  readonly token: string
  readonly issuer: string
  readonly audience: string
}

/** By name: imports what it takes, and makes a middleware of it. */
const GUARDS: Readonly<Record<string, (keys: Keys) => Promise<RequestHandler>>> = {
  '@portcullis/express': async ({ urls, issuer, audience }) => {
    const { createVerifier, remoteKeys } = await import('@portcullis/core')
    const { authenticate } = await import('@portcullis/express')
    return authenticate(createVerifier({ keys: remoteKeys(urls.bare), issuer, audience }))
  },
  'jose, by hand': async ({ urls, issuer, audience }) => {
    const { createRemoteJWKSet, jwtVerify } = await import('jose')
    const keys = createRemoteJWKSet(new URL(urls.set))
    return async (request, _response, next) => {
      const [, token = ''] = request.headers.authorization?.split(' ') ?? []
      await jwtVerify(token, keys, { issuer, audience, algorithms: ['RS512'] })
      next()
    }
  },
}

export const FIRST_ANSWERS: readonly string[] = Object.keys(GUARDS)

async function importOnce(before: readonly string[], modules: readonly string[]): Promise<number> {
  for (const name of before) await import(name)
  const start = performance.now()
  for (const name of modules) await import(name)
  return performance.now() - start
}

async function answerOnce(guard: RequestHandler, token: string): Promise<void> {
  const { default: express } = await import('express')
  const app = express().use(guard)
  app.get('/', (_request, response) => {
    response.json({ ok: true })
  })
  const server = createServer(app)
  const [client, socket] = duplexPair()
  server.emit('connection', socket)
  client.write(`GET / HTTP/1.1\r\nhost: api.test\r\nauthorization: Bearer ${token}\r\n\r\n`)
  for await (const chunk of client) {
    const text = String(chunk)
    if (text.startsWith('HTTP/') && !text.startsWith('HTTP/1.1 200 ')) throw new Error(text)
    if (text.endsWith('}')) return
  }
}

const [what = '', given = ''] = process.argv.slice(2)
if (what === 'import') {
  const [before, modules] = JSON.parse(given) as [string[], string[]] // written by consumer.ts
  console.log(await importOnce(before, modules))
}
const makeGuard = GUARDS[what]
if (makeGuard !== undefined) {
  const keys = JSON.parse(given) as Keys // written by starts.ts
  await answerOnce(await makeGuard(keys), keys.token)
  console.log(performance.now())
  process.exit()
}

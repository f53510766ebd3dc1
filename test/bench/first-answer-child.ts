import { createServer, type Server } from 'node:http'
import { duplexPair } from 'node:stream'

import type { RequestHandler } from 'express'

// One cold start, in a fresh process, as a function in the cloud has it: node first-answer-child.ts GUARD KEYS. It imports Express
// and a guard, sends itself one request over a socket in memory, and prints how long that took since the process began, in
// milliseconds. The keys come from another process, over the loopback.

interface Keys {
  readonly urls: { readonly bare: string; readonly set: string }
  readonly token: string
  readonly issuer: string
  readonly audience: string
}

/** By name: imports what it takes, and makes a middleware of it. */
const GUARDS: Readonly<Record<string, (keys: Keys) => Promise<RequestHandler>>> = {
  open: async () => (_request, _response, next) => {
    next()
  },
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
  'express-oauth2-jwt-bearer': async ({ urls, issuer, audience }) => {
    const { auth } = await import('express-oauth2-jwt-bearer')
    return auth({ issuer, audience, jwksUri: urls.set, tokenSigningAlg: 'RS512' })
  },
}

export const FIRST_ANSWERS = Object.keys(GUARDS)

const [name = '', given = ''] = process.argv.slice(2)
const makeGuard = GUARDS[name]
if (makeGuard !== undefined) {
  const keys = JSON.parse(given) as Keys // written by starts.ts
  const { default: express } = await import('express')
  const app = express()
  app.use(await makeGuard(keys))
  app.get('/', (_request, response) => {
    response.json({ ok: true })
  })
  await answerOnce(createServer(app), keys.token)
  console.log(performance.now())
  process.exit()
}

async function answerOnce(server: Server, token: string): Promise<void> {
  const [client, socket] = duplexPair()
  server.emit('connection', socket)
  client.write(`GET / HTTP/1.1\r\nhost: api.test\r\nauthorization: Bearer ${token}\r\n\r\n`)
  for await (const chunk of client) {
    const text = String(chunk)
    if (text.startsWith('HTTP/') && !text.startsWith('HTTP/1.1 200 ')) throw new Error(text)
    if (text.endsWith('}')) return
  }
}

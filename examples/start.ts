import { once } from 'node:events'
import type { Server } from 'node:net'

import { createTestIssuer, tokenService } from '@portcullis/testing'

// Runs an example API together with a token service of its own, in one process: `pnpm start`, `pnpm start koa`.

interface Api {
  /** HTTP/2 servers have no `closeAllConnections`. */
  readonly server: Server & { closeAllConnections?(): void }
}

const EXAMPLES: Readonly<Record<string, () => Promise<Api>>> = {
  express: async () => await import('./express/src/server.ts'),
  koa: async () => await import('./koa/src/server.ts'),
  fastify: async () => await import('./fastify/src/server.ts'),
  hono: async () => await import('./hono/src/server.ts'),
  nest: async () => await import('./nest/src/server.ts'),
}

const [example = 'express'] = process.argv.slice(2)
const load = Object.hasOwn(EXAMPLES, example) ? EXAMPLES[example] : undefined
if (load === undefined) {
  fail(
    `there is no example ${JSON.stringify(example)}, choose from ${Object.keys(EXAMPLES).join(', ')}`,
  )
}

const apiPort = portOf('PORT', '3000')
const servicePort = portOf('TOKEN_SERVICE_PORT', apiPort === 0 ? '0' : '4010')

const issuer = await createTestIssuer()
const claims = { scope: 'locations:write' }
const service = tokenService(issuer, { logins: { demo: { password: 'demo', claims } } })
const auth = await service.listen({ port: servicePort }).catch((error: unknown) => {
  const message = error instanceof Error ? error.message : String(error)
  return fail(`token service: ${message} (TOKEN_SERVICE_PORT sets another port)`)
})
console.log(`token service  ${auth.url}`)

process.env['AUTH_URL'] = auth.url
process.env['PORT'] = String(apiPort)
const { server } = await load()
if (!server.listening) await once(server, 'listening')
const address = server.address()
const api = `http://127.0.0.1:${typeof address === 'object' ? address?.port : apiPort}`

// Before the calls are shown: who sees them may already send a signal.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    server.close()
    server.closeAllConnections?.()
    void auth.close()
  })
}

console.log(`
Log in, call with the token, call without:

TOKEN=$(curl -s -d loginId=demo -d password=demo ${auth.url}/tokenservice/token/api)
curl -i -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"city":"Oslo"}' ${api}/v1/clientLocations
curl -i -X POST ${api}/v1/clientLocations
`)

function portOf(name: string, preset: string): number {
  const text = process.env[name] ?? preset
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) {
    fail(`${name} must be a port from 0 to 65535, not ${JSON.stringify(text)}`)
  }
  return Number(text)
}

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}

import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import type { Server } from 'node:net'
import { join, sep } from 'node:path'

import { reportVerdicts } from '@portcullis/testing'

import { run } from '../packages/cli/src/program/program.ts'
import { systemClock } from '../packages/kit/src/time.ts'

// Runs an example API together with `portcullis serve`, in one process: `pnpm start`, `pnpm start koa`.

interface Manifest {
  readonly peerDependencies?: object
  /** Those that are optional. */
  readonly peerDependenciesMeta?: object
}

interface Api {
  /** HTTP/2 servers have no `closeAllConnections`. */
  readonly server: Server & { closeAllConnections?(): void }
}

/** The example of a framework has the name of our package for it, which has that framework as its peer. */
const examples = globSync('../packages/*/package.json', { cwd: import.meta.dirname })
  .filter((path) => {
    const text = readFileSync(join(import.meta.dirname, path), 'utf8')
    const { peerDependencies = {}, peerDependenciesMeta = {} } = JSON.parse(text) as Manifest
    return Object.keys(peerDependencies).some(
      (peer) => peer !== '@portcullis/core' && !(peer in peerDependenciesMeta),
    )
  })
  .map((path) => path.split(sep).at(-2) ?? '')
  .toSorted()

const [example = 'express'] = process.argv.slice(2)
if (!examples.includes(example)) {
  fail(`there is no example ${JSON.stringify(example)}, choose from ${examples.join(', ')}`)
}

const apiPort = portOf('PORT', '3000')
const servicePort = portOf('TOKEN_SERVICE_PORT', apiPort === 0 ? '0' : '4010')

const service = await serve(servicePort)
console.log(`token service  ${service.url}`)

process.env['AUTH_URL'] = service.url
process.env['PORT'] = String(apiPort)
const { server } = (await import(`./${example}/src/server.ts`)) as Api
if (!server.listening) await once(server, 'listening')
const address = server.address()
const api = `http://127.0.0.1:${typeof address === 'object' ? address?.port : apiPort}`

const reports = reportVerdicts({ url: service.url, name: `example ${example}` })

// Before the calls are shown: who sees them may already send a signal.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    server.close()
    server.closeAllConnections?.()
    void reports.close().then(() => {
      service.end()
    })
  })
}

console.log(`
Log in, call with the token, call without:

TOKEN=$(curl -s -d loginId=demo -d password=demo ${service.url}/tokenservice/token/api)
curl -i -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"city":"Oslo"}' ${api}/v1/clientLocations
curl -i -X POST ${api}/v1/clientLocations

The console, with keys, logins and the verdicts of the API: ${service.url}/
`)

/** `portcullis serve` until it is ended. What it would print is in the console. */
async function serve(port: number) {
  const interrupted = new AbortController()
  const claim = ['--login', 'demo:demo', '--claim', 'scope=locations:write']
  let said = ''
  const url = await new Promise<string>((resolve) => {
    const ended = run({
      args: ['serve', '--json', '--port', String(port), ...claim],
      env: process.env,
      cwd: process.cwd(),
      stdin: process.stdin,
      stdout: {
        write(line) {
          // The first line says where it listens; each other is an event.
          const { authUrl } = JSON.parse(line) as { readonly authUrl?: string }
          if (authUrl !== undefined) resolve(authUrl)
        },
      },
      stderr: { write: (text) => (said += text) },
      fetch: globalThis.fetch,
      clock: systemClock,
      signal: interrupted.signal,
    })
    void ended.then((exitCode) => {
      if (exitCode === 3) said = `127.0.0.1:${port} is taken (TOKEN_SERVICE_PORT sets another port)`
      if (exitCode !== 0) fail(`token service: ${said.trim()}`)
    })
  })
  return {
    url,
    end() {
      interrupted.abort()
    },
  }
}

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

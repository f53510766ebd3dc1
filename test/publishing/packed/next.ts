import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath, pathToFileURL } from 'node:url'

import { install } from './consumers.ts'
import type { Report } from './report.ts'

// What FRAMEWORKS.md says of Next.js: a guard in a route, in `proxy`, in `middleware` and on the edge runtime. `node next.ts FOLDER`, in the
// folder that has the packages.

const PACKAGES = { next: '16.4.6', react: '19.3.1', 'react-dom': '19.3.1' }

const GUARD = `import { authenticateRequest, createVerifier, refusalResponse, remoteKeys } from '@portcullis/core'
const keys = remoteKeys(process.env.KEY_URL)
const verifier = createVerifier({ keys, issuer: null, audience: null })
export async function guard(request) {
  try {
    await authenticateRequest(verifier, request)
  } catch (error) {
    return refusalResponse(error)
  }
}
`
const OPEN = "export const GET = async () => Response.json('hello')\n"
const GUARDED = `import { guard } from '../../../guard.js'
export const GET = async (request) => (await guard(request)) ?? Response.json('hello')
`
const ahead = (name: string) => `import { guard } from './guard.js'
export const ${name} = async (request) => await guard(request)
export const config = { matcher: '/api/:path*' }
`
const ROUTE = 'app/api/hello/route.js'

/** The files of each way, and what strangers and users get; `undefined` where it cannot be built. */
const WAYS: readonly (readonly [string, Readonly<Record<string, string>>, string | undefined])[] = [
  ['a route', { [ROUTE]: GUARDED }, '401 200'],
  ['proxy', { [ROUTE]: OPEN, 'proxy.js': ahead('proxy') }, '401 200'],
  ['middleware', { [ROUTE]: OPEN, 'middleware.js': ahead('middleware') }, '500 500'],
  ['edge', { [ROUTE]: `${GUARDED}export const runtime = 'edge'\n` }, undefined],
]

export async function checkNext(
  folder: string,
  tarballs: ReadonlyMap<string, string>,
  report: Report,
): Promise<void> {
  await install(folder, tarballs, PACKAGES)
  const command = [process.execPath, fileURLToPath(import.meta.url), folder]
  await report.check('Next.js: a route, proxy, middleware and edge', command, folder)
}

function nextIn(folder: string, args: readonly string[], keyUrl: string) {
  const program = join(folder, 'node_modules', 'next', 'dist', 'bin', 'next')
  const env = { ...process.env, KEY_URL: keyUrl, NEXT_TELEMETRY_DISABLED: '1' }
  return spawn(process.execPath, [program, ...args], { cwd: folder, env })
}

async function built(folder: string, keyUrl: string): Promise<boolean> {
  const child = nextIn(folder, ['build'], keyUrl)
  child.stdout.resume()
  child.stderr.resume()
  const [status] = (await once(child, 'close')) as [number | null]
  return status === 0
}

/** Read on afterwards: a program that cannot write any more ends. */
async function portOf(stdout: Readable): Promise<string | undefined> {
  let text = ''
  return await new Promise((resolvePort) => {
    stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      const [, port] = /http:\/\/127\.0\.0\.1:(\d+)[^]*Ready/.exec(text) ?? []
      if (port !== undefined) resolvePort(port)
    })
    stdout.on('close', () => {
      resolvePort(undefined)
    })
  })
}

async function statuses(folder: string, keyUrl: string, token: string): Promise<string> {
  const child = nextIn(folder, ['start', '-p', '0', '-H', '127.0.0.1'], keyUrl)
  child.stderr.resume()
  try {
    const port = await portOf(child.stdout)
    const found: number[] = []
    for (const headers of [{}, { authorization: `Bearer ${token}` }]) {
      const response = await fetch(`http://127.0.0.1:${port}/api/hello`, { headers })
      await response.arrayBuffer()
      found.push(response.status)
    }
    return found.join(' ')
  } finally {
    const end = once(child, 'close')
    child.kill()
    await end
  }
}

async function main(folder: string): Promise<void> {
  const testing = pathToFileURL(join(folder, 'node_modules/@portcullis/testing/dist/index.js')).href
  const { createTestIssuer, tokenService } = (await import(
    testing
  )) as typeof import('@portcullis/testing')
  const issuer = await createTestIssuer()
  await using service = await tokenService(issuer).listen()
  const { keyUrl } = service
  const token = await issuer.token({ expiresIn: 3600 })
  mkdirSync(join(folder, 'app/api/hello'), { recursive: true })
  const layout = 'export default ({ children }) => <html><body>{children}</body></html>\n'
  writeFileSync(join(folder, 'app/layout.js'), layout)
  writeFileSync(join(folder, 'guard.js'), GUARD)
  for (const [title, files, expected] of WAYS) {
    for (const name of ['proxy.js', 'middleware.js']) rmSync(join(folder, name), { force: true })
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    const isBuilt = await built(folder, keyUrl)
    const found = isBuilt ? await statuses(folder, keyUrl, token) : undefined
    if (found !== expected) throw new Error(`${title}: ${found}, and not ${expected}`)
  }
}

const [, program, folder] = process.argv
const isProgram = program !== undefined && resolve(program) === fileURLToPath(import.meta.url)
if (isProgram && folder !== undefined) await main(resolve(folder))

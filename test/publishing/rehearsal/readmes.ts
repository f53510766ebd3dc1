import { deepEqual, equal, match } from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import type { IdentityProvider } from '../../documents/identity-provider.ts'
import { blocksOf, exampleOf } from '../../documents/markdown.ts'
import type { RedisServer } from '../../simulation/redis/redis-server.ts'
import { type Folder, mustType, start, type } from './folder.ts'

// The first example of each README, installed as the README says, with the provider of the tests in place of the one that it names and
// with any free port in place of its own. What it answers is what the README says of it.

export interface Situation {
  readonly folder: Folder
  readonly provider: IdentityProvider
  readonly redis: RedisServer
}

export interface Example {
  readonly readme: string
  /** What the README says to save it as. */
  readonly file: string
  /** Whether the README says to compile it. */
  readonly isCompiled?: boolean
  readonly tryOut: (situation: Situation) => Promise<void>
}

const root = join(import.meta.dirname, '..', '..', '..')
const read = (readme: string) => readFileSync(join(root, readme), 'utf8')
const SAVE = '/v1/clientLocations'

export const EXAMPLES: readonly Example[] = [
  ...['README.md', ...['express', 'koa', 'fastify', 'hono'].map(readmeOf)].map(
    (readme): Example => ({ readme, file: 'app.mjs', tryOut: guards(200) }),
  ),
  { readme: readmeOf('nest'), file: 'app.mts', isCompiled: true, tryOut: compiledGuard },
  { readme: readmeOf('core'), file: 'app.mjs', tryOut: printsWhose },
  { readme: readmeOf('client'), file: 'app.mjs', tryOut: callsAnApi },
  { readme: readmeOf('providers'), file: 'app.mts', tryOut: refusesRequests },
  { readme: readmeOf('introspection'), file: 'app.mts', tryOut: refusesRequests },
  { readme: readmeOf('events'), file: 'app.mjs', tryOut: receivesLogouts },
  { readme: readmeOf('redis'), file: 'app.mjs', tryOut: followsRevocations },
  { readme: readmeOf('metrics'), file: 'app.mjs', tryOut: measures },
  { readme: readmeOf('testing'), file: 'app.test.ts', tryOut: isTested },
  { readme: readmeOf('mcp'), file: 'app.mjs', tryOut: guardsTools },
]

/** The lines above the first example. */
export function installingLines(readme: string): readonly string[] {
  const [before = ''] = read(readme).split('```ts\n')
  const { code } = blocksOf(before).findLast(({ language }) => language === 'sh') ?? { code: '' }
  const lines = code.trimEnd().split('\n')
  if (!lines.every((line) => line.startsWith('npm install '))) throw new Error(`${readme}: ${code}`)
  return lines
}

/** What these READMEs install, in two lines. */
export function installingAll(examples: readonly Example[]): readonly string[] {
  const lines = examples.flatMap(({ readme }) => installingLines(readme))
  const always = namesIn(lines.filter((line) => !isForDevelopment(line)))
  const further = namesIn(lines.filter(isForDevelopment)).filter((name) => !always.includes(name))
  return [`npm install ${always.join(' ')}`, `npm install --save-dev ${further.join(' ')}`]
}

function isForDevelopment(line: string): boolean {
  return line.includes(' --save-dev ')
}

function namesIn(lines: readonly string[]): readonly string[] {
  const words = lines.flatMap((line) => line.split(' ').slice(2))
  return [...new Set(words.filter((word) => !word.startsWith('--')))]
}

/** Writes the example into the folder that has what it imports, and tries it. */
export async function tryExample({ readme, file, tryOut }: Example, situation: Situation) {
  const { folder, provider } = situation
  const code = provider.namedIn(exampleOf(read(readme), 0)).replaceAll(/\b300[01]\b/g, '0')
  writeFileSync(join(folder.path, file), code)
  await tryOut(situation)
}

function readmeOf(name: string): string {
  return `packages/${name}/README.md`
}

function guards(created: number) {
  return async ({ folder, provider }: Situation) => {
    await using app = await start('app.mjs', folder)
    const post = async (scope?: string) => {
      const headers =
        scope === undefined ? {} : await provider.bearer({ claims: { sub: 'ada', scope } })
      return await fetch(`${app.urls[0]}${SAVE}`, { method: 'POST', headers })
    }
    const saved = await post('locations:write')
    deepEqual([saved.status, await saved.json()], [created, { savedBy: 'ada' }])
    equal((await post('locations:read')).status, 403)
    equal((await post()).status, 401)
  }
}

/** Decorators are compiled first, by lines of the README. */
async function compiledGuard(situation: Situation): Promise<void> {
  const [, commands] = blocksOf(read(readmeOf('nest'))).filter(({ language }) => language === 'sh')
  const [install = '', compile = ''] = commands?.code.split('\n') ?? []
  await mustType(install, situation.folder)
  await mustType(compile, situation.folder)
  await guards(201)(situation)
}

async function printsWhose({ folder, provider }: Situation): Promise<void> {
  const TOKEN = await provider.token({ claims: { sub: 'ada' } })
  equal(await mustType('node app.mjs', folder, { TOKEN }), 'ada\n')
}

async function callsAnApi({ folder, provider }: Situation): Promise<void> {
  const names = { AUTH_URL: provider.authUrl, API_URL: provider.url }
  // The provider has no such route: it answers 404 to who has a token, and the client prints that.
  equal(await mustType('node app.mjs', folder, names), '404\n')
}

async function refusesRequests({ folder }: Situation): Promise<void> {
  const asking = "(await import('./app.mts')).answer(new Request('http://127.0.0.1/'))"
  writeFileSync(join(folder.path, 'ask.mjs'), `console.log((await ${asking}).status)\n`)
  equal(await mustType('node ask.mjs', folder), '401\n')
}

async function receivesLogouts({ folder }: Situation): Promise<void> {
  await using app = await start('app.mjs', folder)
  const body = new URLSearchParams({ logout_token: 'a.b.c' })
  const { status } = await fetch(`${app.urls[0]}/backchannel-logout`, { method: 'POST', body })
  equal(status, 400)
}

async function followsRevocations({ folder, provider, redis }: Situation): Promise<void> {
  // As those of `serve`, which the README says to start.
  const claims = { iss: undefined, aud: undefined, sub: 'ada', jti: 'one' }
  const TOKEN = await provider.token({ claims })
  const names = { AUTH_URL: provider.authUrl, REDIS_URL: redis.url, TOKEN }
  const file = join(folder.path, 'app.mjs')
  const line = "console.log((await verifier.verify(process.env['TOKEN'])).claims)"
  writeFileSync(file, `${readFileSync(file, 'utf8')}${line}\n`)
  await redis.command('FLUSHALL')
  await mustType('npx portcullis-revocations create', folder, names)
  match(await mustType('node app.mjs', folder, names), /jti: 'one'/)
  await mustType('npx portcullis-revocations revoke --jti one', folder, names)
  match((await type('node app.mjs', folder, names)).stderr, /reason: 'revoked'/)
}

async function get(url: string, headers: object = {}): Promise<string> {
  return await (await fetch(url, { headers: { ...headers } })).text()
}

async function measures({ folder, provider }: Situation): Promise<void> {
  await using app = await start('app.mjs', folder, { AUTH_URL: provider.authUrl }, 2)
  const [outside = '', inside = ''] = app.urls
  equal(await get(`${inside}/readyz`), 'OK')
  match(await get(`${outside}/v1/me`, await provider.bearer({ claims: { sub: 'ada' } })), /"ada"/)
  match(await get(`${inside}/metrics`), /^portcullis_keys_usable\{source="main"\} 1$/m)
}

async function isTested({ folder }: Situation): Promise<void> {
  match(await mustType('npx vitest run', folder), /1 passed/)
}

async function guardsTools({ folder, provider }: Situation): Promise<void> {
  await using app = await start('app.mjs', folder)
  const params = { name: 'whoami', arguments: {} }
  const call = async (headers: object) =>
    await fetch(`${app.urls[0]}/mcp`, {
      method: 'POST',
      headers: {
        ...headers,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    })
  equal((await call({})).status, 401)
  const aud = 'https://mcp.example.com/mcp'
  const answer = await call(await provider.bearer({ claims: { sub: 'ada', scope: 'tools', aud } }))
  match(await answer.text(), /"text":"ada"/)
}

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import { describe, expect, test } from 'vitest'

import type { Mistake } from '../contract/frameworks/framework.ts'
import { adapters, frameworks } from '../contract/frameworks/index.ts'

// What a developer reads, on the console and in the answer, who has made a usual mistake with a guard. NODE_DEBUG is set.

const NO_GUARD =
  /no guard has seen the request.* must come before, and authenticateRequest\(\) must be/
const NO_VERIFIER =
  'authenticate: the first argument must be a verifier: write authenticate(verifier'
const NO_REQUIREMENT =
  /authorize: each argument must be a requirement, as in authorize\(scope\('read'\)\)/

describe('a request', async () => {
  const printed = await run(new URL('requests.ts', import.meta.url))

  describe.each(frameworks)('with $name', ({ name }) => {
    test.each<[string, number, string | RegExp]>([
      ['authorize without a guard', 500, NO_GUARD],
      ['a guard on another router', 500, NO_GUARD],
      ['getAuth of an anonymous request', 500, 'is anonymous; use findAuth on an optional route'],
      ['a preflight at the guard', 401, 'it is a CORS preflight, which never has one; put CORS'],
      ['a header without Bearer', 401, 'looks like a token: write "Bearer " before it'],
      ['a header with Bearer twice', 401, '"Bearer" is written twice in the Authorization header'],
      ['a header with a promise', 401, 'is "[object Promise]": is an `await` missing'],
      ['a header with undefined', 401, 'what JavaScript makes of a missing value'],
      ['an ID token', 401, 'expected "api"; it has nonce or at_hash, as an ID token has'],
    ])('%s is %i, and the cause is named', (mistake, status, cause) => {
      const read = printed.get(`${name}: ${mistake}`)
      expect(read, `requests.ts ended early: ${[...printed].at(-1)?.join('\n')}`).toBeDefined()
      expect(read).toMatch(cause)
      expect(read).toContain(`answer: ${status} `)
      expect(read).not.toMatch(/eyJ|canary/)
    })
  })
})

/** What names the cause of each mistake that is made with the functions of an adapter. */
const CAUSES: Readonly<Record<Mistake, string | RegExp>> = {
  'a guard after the route': NO_GUARD,
  'authenticate is not called': NO_VERIFIER,
  'authenticate is registered and not called':
    /a Fastify instance in place of a verifier: write register\(auth/,
  'authorize is not called': NO_REQUIREMENT,
  'getAuth of the request': /no guard has seen the request \(in Koa and Hono, the context\)/,
}

test.each(adapters.filter(({ functions }) => functions !== null))(
  'what $folder prints of guards in a wrong place names the cause',
  async ({ folder, functions }) => {
    const made = Object.keys(functions?.mistakes ?? {}) as Mistake[]
    expect(made).toContain('authorize is not called')
    const printed = await run(new URL('orders.ts', import.meta.url), folder)
    expect([...printed.keys()]).toEqual(made)
    for (const name of made) expect(printed.get(name)).toMatch(CAUSES[name])
  },
)

/** What a program prints of each mistake. Some of them end it. */
async function run(program: URL, ...words: string[]): Promise<ReadonlyMap<string, string>> {
  const path = fileURLToPath(program)
  const flags = ['--conditions=@portcullis/source', '--disable-warning=ExperimentalWarning']
  const env = { ...process.env, NODE_DEBUG: 'portcullis', NO_COLOR: '1', NODE_ENV: 'development' }
  const printed = await new Promise<string>((resolve) => {
    execFile(
      process.execPath,
      [...flags, path, ...words],
      { env, timeout: 100_000 },
      (_, out, err) => {
        resolve(out + err)
      },
    )
  })
  const [, ...parts] = printed.split(/^# (.*)$/m)
  return new Map(parts.flatMap((part, at) => (at % 2 === 0 ? [[part, parts[at + 1] ?? '']] : [])))
}

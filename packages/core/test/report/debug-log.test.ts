import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { expect, test } from 'vitest'

// What is printed depends on the environment at start-up, so each test is a process of its own.

const SET_UP = `
  import { AuthError, authenticateRequest, createVerifier, remoteKeys } from '@portcullis/core'
  import { checkGuardOptions } from '@portcullis/core/adapter'
  import { createTestIssuer, manualClock, tokenService } from '@portcullis/testing'
  const clock = manualClock()
  const issuer = await createTestIssuer({ clock })
  const service = tokenService(issuer)
  const keys = remoteKeys(service.keyUrl, { fetch: service.fetch, clock })
  const verifier = createVerifier({ keys, issuer: null, audience: null, clock })
  const guard = checkGuardOptions(verifier, {}, 'express')
  const refuse = async (request, options = guard, subject = request) => {
    await authenticateRequest(verifier, request, options, subject).catch((error) => {
      if (!(error instanceof AuthError)) throw error
    })
  }
  const headers = {}
`

async function run(
  program: string,
  debug = 'portcullis',
  before = '',
): Promise<{ lines: string[]; stdout: string }> {
  const flags = ['--conditions=@portcullis/source', '--disable-warning=ExperimentalWarning']
  const preload = `data:text/javascript,${encodeURIComponent(before)}`
  const args = [...flags, '--import', preload, '--input-type=module', '--eval', SET_UP + program]
  const { stderr, stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    env: { ...process.env, NODE_DEBUG: debug },
    timeout: 100_000,
  })
  const lines = stderr.split('\n').filter((line) => line !== '')
  return { lines: lines.map((line) => line.replace(/^PORTCULLIS \d+: /, '')), stdout }
}

const MISSING = 'missing_token missing_header: the request has no Authorization header'

test('a refusal is one line: framework, method, path without query, status, code, reason, detail', async () => {
  const { lines } = await run(`
    await refuse({ method: 'POST', originalUrl: '/v1/a?token=canary', url: '/a?token=canary', headers })
  `)
  expect(lines).toEqual([`refused: express POST /v1/a: 401 ${MISSING}`])
})

test('a request may be of any kind, and be anything', async () => {
  const { lines } = await run(String.raw`
    const request = new Request('https://api.test:8443/v1/b?canary#canary', { method: 'PUT' })
    await refuse({ method: request.method, url: request.url, headers })
    await refuse({ headers }, guard, { req: request })
    await refuse({ headers }, guard, { raw: { method: 'GET', url: '/c' } })
    await refuse({ method: 'GET', url: '/d', headers }, guard, {})
    const inObjects = { method: 'get', url: new URL('https://api.test/canary'), raw: { req: { method: 'GET', url: '/f' } } }
    await refuse({ headers }, guard, inObjects)
    await refuse({ method: 'OPTIONS', url: '*', headers })
    await refuse({ headers })
    await refuse({ method: 'GET', url: 42, headers })
    await refuse({ get method() { throw new Error('canary') }, get url() { throw new Error('canary') }, headers })
    await refuse({ method: 'GET', get url() { throw new Error('canary') }, headers })
    await refuse({ method: 'GET', url: '/e', headers }, {})
  `)
  const places = lines.map((line) => line.replace(`: 401 ${MISSING}`, '').replace('refused: ', ''))
  expect(places).toEqual([
    'express PUT /v1/b',
    'express PUT /v1/b',
    'express GET /c',
    'express GET /d',
    'express GET /f',
    'express OPTIONS *',
    'express - -',
    'express GET -',
    'express - -',
    'express GET -',
    'http GET /e',
  ])
})

test('what a request says is escaped and cut, and no token is shown', async () => {
  const { lines } = await run(String.raw`
    const token = 'eyJhbGciOiJSUzUxMiJ9.e30.c2ln'
    await refuse({ method: 'GET\n' + 'x'.repeat(99), url: '/reset/' + token + '/\u202E\n\u001B[31m x', headers })
    await refuse({ method: 'GET', url: '/y'.repeat(9999), headers })
  `)
  expect(lines[0]).toMatch(
    /^refused: express GET\\u000ax{12}\.\.\. \/reset\/\(a%20token\)\/\\u202e\\u000a\\u001b\[31m%20x: 401 /,
  )
  expect(lines[1]?.length).toBeLessThan(400)
  expect(lines).toHaveLength(2)
})

test('of a path no long word is shown, and no name or password', async () => {
  const { lines } = await run(String.raw`
    const token = await issuer.token()
    const [header, payload, signature] = token.split('.')
    const encoded = (text) => '%' + Buffer.from(text).toString('hex').match(/../g).join('%')
    const urls = [
      token,
      [header, payload, signature].join('%2E'),
      [header, payload, signature].join('%2e') + '/now',
      [header, payload, signature].join('%252E'),
      encoded(signature),
      signature,
      payload + ';x',
      'a'.repeat(31) + '/' + 'b'.repeat(32) + '/',
      'http://user:canary@api.test/a',
    ].map((each) => '/v1/' + each)
    for (const url of [...urls, '//user:canary@api.test/a', '//api.test/b?to=//c@d/canary', '/'.repeat(3), '/' + 'z'.repeat(3e7)]) {
      await refuse({ method: 'GET', url, headers })
    }
  `)
  const paths = lines.map((line) => line.split(' ')[3]?.replace(/:$/, ''))
  expect(paths).toEqual([
    '/v1/(redacted)',
    '/v1/(redacted)',
    '/v1/(redacted)/now',
    '/v1/(redacted)',
    '/v1/(redacted)',
    '/v1/(redacted)',
    '/v1/(redacted);x',
    `/v1/${'a'.repeat(31)}/(redacted)/`,
    '/v1/http://api.test/a',
    '//api.test/a',
    '//api.test/b',
    '///',
    '/(redacted)',
  ])
})

test('a settled attempt is one line: origin, trigger, outcome, duration, detail, keys, freshness', async () => {
  const { lines } = await run(`
    await keys.refresh()
    issuer.outage(404)
    await clock.advance(2)
    await keys.refresh().catch(() => {})
  `)
  expect(lines).toEqual([
    expect.stringMatching(
      /^keys from https?:\/\/[\w.:-]+: refresh: success in [\d.]+ s; added [\w-]{43}, removed none, now fresh$/,
    ),
    expect.stringMatching(
      /^keys from https?:\/\/[\w.:-]+: refresh: unreachable in [\d.]+ s: the key URL answered 404; added none, removed none, now fresh$/,
    ),
  ])
})

test.each(['', 'other'])(
  'with NODE_DEBUG=%j nothing is printed, and nothing composed',
  async (debug) => {
    const { lines, stdout } = await run(
      `
    let composed = 0
    const detail = () => String(composed++)
    const failing = { verify: async () => { throw new AuthError('invalid_token', 'claim', detail) } }
    let reads = 0
    const request = { get method() { reads++ }, get url() { reads++ }, headers: { authorization: 'Bearer a' } }
    await authenticateRequest(failing, request, guard, request).catch(() => {})
    console.log(composed, reads)
  `,
      debug,
    )
    expect([lines, stdout]).toEqual([[], '0 0\n'])
  },
)

test('a verifier without a guard prints nothing', async () => {
  const { lines } = await run(`await verifier.verify('x').catch(() => {})`)
  expect(lines).toEqual([])
})

test.each([
  ['', []],
  ['portcullis', [`refused: express GET /a: 401 ${MISSING}`]],
])('on a platform that enables every log, with NODE_DEBUG=%j', async (debug, expected) => {
  const { lines } = await run(
    `
    await refuse({ method: 'GET', url: '/a', headers })
  `,
    debug,
    // As in Cloudflare Workers.
    `
    import { syncBuiltinESMExports } from 'node:module'
    import util from 'node:util'
    util.debuglog = () => Object.assign((...args) => console.error(util.format(...args)), { enabled: true })
    syncBuiltinESMExports()
  `,
  )
  expect(lines).toEqual(expected)
})

test('times stand behind the sentence of a refusal, as dates', async () => {
  const { lines } = await run(`
    const token = await issuer.token({ expiresIn: -60 })
    await refuse({ headers: { authorization: 'Bearer ' + token }, method: 'GET', url: '/' })
  `)
  expect(lines.at(-1)).toMatch(
    /invalid_token expired: exp was before now, by clockTolerance \(5 s\) or more.* \(iat=2026-01-01T\S+Z, exp=2025-12-31T23:59:00Z, now=2026-01-01T00:00:00Z\)$/,
  )
})

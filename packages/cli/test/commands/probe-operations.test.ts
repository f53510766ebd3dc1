import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

import {
  authenticateRequest,
  authorizeRequest,
  createVerifier,
  refusal,
  scope,
} from '@portcullis/core'
import { systemClock } from '@portcullis/kit/time'
import { createTestIssuer } from '@portcullis/testing'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'

import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { runProgram } from '../run-program.ts'

// `probe --openapi`: which requests reach an API, and what is made of its answers.

const issuer = await createTestIssuer()
const verifier = createVerifier(issuer.verifierOptions)
const token = await issuer.token({ claims: { sub: 'ada', scope: 'read' } })
const file = join(temporaryFolder(afterAll), 'openapi.json')

const ROUTES = {
  '/health': { get: { security: [] } },
  '/me': { get: {}, head: {}, delete: {} },
  '/read': { get: { security: [{ oauth: ['read'] }] } },
  '/admin/{id}': { get: { security: [{ oauth: ['admin'] }] } },
}

function described(paths: object, more: object = {}): string {
  const securitySchemes = { bearer: { type: 'http', scheme: 'bearer' }, oauth: { type: 'oauth2' } }
  const document = { openapi: '3.1.0', security: [{ bearer: [] }], components: { securitySchemes } }
  return JSON.stringify({ ...document, ...more, paths })
}

/** What an API does with a request: a status, or what core does. */
type Guard = (request: IncomingMessage) => number | 'guarded' | 'hangs up'

let seen: string[] = []
beforeEach(() => {
  seen = []
})

async function listening(guard: Guard) {
  const server = createServer((request, response) => {
    void (async () => {
      const { method = '', url = '' } = request
      seen.push(`${method} ${url}`)
      const outcome = guard(request)
      if (outcome === 'hangs up') return request.socket.destroy()
      if (typeof outcome === 'number') return response.writeHead(outcome).end('{}')
      try {
        await authenticateRequest(verifier, request)
        if (url.startsWith('/admin')) await authorizeRequest(request, [scope('admin')])
        return response.end('{}')
      } catch (error) {
        const answer = refusal(error)
        return response.writeHead(answer?.status ?? 500, answer?.headers).end(answer?.body)
      }
    })()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // of a server that listens on a port
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function asked(guard: Guard, args: readonly string[] = [], text = described(ROUTES)) {
  await using api = await listening(guard)
  writeFileSync(file, text)
  // A key of this algorithm is made faster than the usual one.
  const words = ['probe', api.url, '--openapi', file, '--algorithm', 'ES256', ...args]
  return await runProgram(words, { clock: systemClock, env: { TOKEN: token } })
}

interface Report {
  readonly verdict: string
  readonly rows: readonly { name: string; outcome: string; status?: number; expected: string }[]
  readonly findings: readonly { level: string; text: string; requests: readonly string[] }[]
  readonly open: readonly string[]
  readonly tested: readonly string[]
  readonly notTested: readonly { what: string; why: string }[]
}

async function reportOf(guard: Guard, args: readonly string[] = [], text?: string) {
  const { exitCode, stdout } = await asked(guard, ['--json', ...args], text)
  return { exitCode, ...(JSON.parse(stdout) as Report) }
}

const own = ['--env', 'TOKEN']
const all: Guard = () => 'guarded'
const at =
  (place: string, outcome: ReturnType<Guard>): Guard =>
  ({ method = '', url = '' }) =>
    `${method} ${url}` === place ? outcome : 'guarded'

describe('an API that is guarded by us', () => {
  test('is sound: each GET and HEAD that needs a token is asked without one and with a forged one', async () => {
    const report = await reportOf(all)
    expect(report).toMatchObject({ exitCode: 0, schemaVersion: 2, verdict: 'sound', findings: [] })
    expect(seen).toEqual(
      ['GET /me', 'HEAD /me', 'GET /read', 'GET /admin/1'].flatMap((name) => [name, name]),
    )
    expect(report.tested).toEqual(['GET /me', 'HEAD /me', 'GET /read', 'GET /admin/{id}'])
    expect(report.open).toEqual(['GET /health'])
    const noScope = 'state a token of yours that lacks some: --file, --env or --stdin'
    expect(report.notTested).toEqual([
      { what: 'scopes of GET /read', why: noScope },
      { what: 'scopes of GET /admin/{id}', why: noScope },
      { what: 'DELETE /me', why: 'its method may change something: --unsafe-methods' },
    ])
  })

  test('is sent your token where that lacks a scope, and nowhere else', async () => {
    const report = await reportOf(all, own)
    expect(report).toMatchObject({ exitCode: 0, verdict: 'sound', findings: [] })
    expect(report.rows.filter(({ name }) => name.includes('your token'))).toEqual([
      { name: 'GET /admin/{id}: your token', outcome: 'ok', status: 403, expected: '403' },
    ])
    expect(report.notTested).toContainEqual({
      what: 'scopes of GET /read',
      why: 'your token has them',
    })
  })

  test('is asked by methods that may change something only where that is wanted', async () => {
    await reportOf(all, ['--unsafe-methods'])
    expect(seen.filter((name) => name.startsWith('DELETE'))).toHaveLength(2)
  })

  test('gets the values that are stated', async () => {
    await reportOf(all, ['--value', 'id=a/b'])
    expect(seen).toContain('GET /admin/a%2Fb')
  })

  test('is reported to people, without a token', async () => {
    const { exitCode, stdout, stderr } = await asked(all, own)
    expect(stdout).toMatch(
      /^SOUND as far as tested; not tested: what is named below\nthe operations of a description, at http:\/\/127\.0\.0\.1:\d+\/\n/,
    )
    expect(stdout).toMatch(/ok {6}GET \/admin\/\{id\}: your token +403 +403\n/)
    expect(stdout).toContain('Open by the description, and not asked: GET /health\n')
    expect(stdout).toContain('Not tested: DELETE /me (its method may change something')
    expect(stderr).toMatch(/^Sends 4 bad tokens, which may fire an alarm/)
    expect(stdout + stderr).not.toContain('eyJ')
    expect(exitCode).toBe(0)
  })
})

describe('finds', () => {
  test('an operation that nobody guards', async () => {
    const report = await reportOf(at('GET /me', 200))
    expect(report).toMatchObject({ exitCode: 1, verdict: 'breach' })
    expect(report.findings.map(({ level, text, requests }) => [level, text, requests])).toEqual([
      ['breach', 'let through without a token', ['GET /me: no token']],
      [
        'breach',
        'let through, though anybody can write such a token (RFC 8725)',
        ['GET /me: another key'],
      ],
    ])
  })

  test('a HEAD that nobody guards, beside a GET that is guarded', async () => {
    const report = await reportOf(at('HEAD /me', 204))
    expect(report.findings[0]?.requests).toEqual(['HEAD /me: no token'])
  })

  test('an operation that looks at no scope', async () => {
    const report = await reportOf(
      ({ headers, url }) =>
        url === '/admin/1' && headers.authorization === `Bearer ${token}` ? 200 : 'guarded',
      own,
    )
    expect(report).toMatchObject({ exitCode: 1, verdict: 'breach' })
    expect(report.findings).toMatchObject([
      {
        text: 'let through, though the token lacks a scope that the description names',
        requests: ['GET /admin/{id}: your token'],
      },
    ])
  })

  test.each([302, 400, 403, 500])('%i in place of a refusal', async (status) => {
    const report = await reportOf(at('GET /me', status))
    expect(report).toMatchObject({ exitCode: 1, verdict: 'faulty' })
  })
})

describe('says what is not known', () => {
  test.each([404, 405, 429])('of %i, which is no refusal', async (status) => {
    const report = await reportOf(at('GET /me', status))
    expect(report).toMatchObject({ exitCode: 3, verdict: 'unclear' })
    expect(report.tested).not.toContain('GET /me')
    expect(report.notTested).toContainEqual({
      what: 'GET /me',
      why: 'the answer does not say whether the token was refused',
    })
  })

  test.each([302, 400, 401, 404])('of scopes by %i', async (status) => {
    const report = await reportOf(
      ({ headers }) => (headers.authorization === `Bearer ${token}` ? status : 'guarded'),
      own,
    )
    expect(report).toMatchObject({ exitCode: 3, verdict: 'unclear' })
    expect(report.tested).not.toContain('GET /admin/{id}')
  })

  test('of one that hangs up, and asks the others', async () => {
    const report = await reportOf(at('GET /read', 'hangs up'))
    expect(report).toMatchObject({ exitCode: 3, verdict: 'unclear' })
    expect(report.tested).toEqual(['GET /me', 'HEAD /me', 'GET /admin/{id}'])
  })

  test('of an API whose operations are all open', async () => {
    const { exitCode, stdout } = await asked(
      all,
      [],
      described(ROUTES, { security: [] }).replaceAll(/\[\{"oauth":\["\w+"\]\}\]/g, '[]'),
    )
    expect(seen).toEqual([])
    expect(stdout).toMatch(/^UNCLEAR/)
    expect(stdout).toContain(
      'Unclear: nothing was asked: no operation that needs a token could be\n',
    )
    expect(exitCode).toBe(3)
  })

  test('of a token that states no scopes', async () => {
    await using api = await listening(all)
    writeFileSync(file, described(ROUTES))
    const env = { TOKEN: await issuer.token({ claims: { sub: 'ada' } }) }
    const words = ['probe', api.url, '--openapi', file, '--json', ...own]
    const { stdout } = await runProgram(words, { clock: systemClock, env })
    expect((JSON.parse(stdout) as Report).notTested).toContainEqual({
      what: 'scopes of GET /read',
      why: 'your token does not say which scopes it has',
    })
  })

  test('of more than twenty operations by their number', async () => {
    const many = Object.fromEntries(Array.from({ length: 25 }, (_, n) => [`/${n}`, { put: {} }]))
    const { stdout } = await asked(all, [], described({ ...ROUTES, ...many }))
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('PUT /18 and 6 more (--json) (its method')
  })
})

test('what a description says moves no cursor', async () => {
  const { stdout } = await asked(
    all,
    [],
    described({ '/a\u{9b}2J{\u{1b}}': { get: {}, post: {} } }),
  )
  expect([stdout.includes('\u{1b}'), stdout.includes('\u{9b}')]).toEqual([false, false])
})

test('an API that cannot be reached is undecided: 3', async () => {
  const { exitCode, stdout, stderr } = await asked(() => 'hangs up')
  expect(stderr).toContain('the API does not answer: the connection failed (ECONNRESET)')
  expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: '' })
})

const wrong = async (args: readonly string[]) => {
  const { exitCode, stdout, stderr } = await runProgram(['probe', ...args], {
    env: { TOKEN: token },
    clock: systemClock,
  })
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
  return stderr
}

describe('a wrong command line: 2, and what is wrong', () => {
  test.each<[what: string, args: readonly string[], said: string]>([
    ['no file', ['--openapi', '/nowhere.json'], 'cannot be read (ENOENT)'],
    ['a folder', ['--openapi', '/'], 'cannot be read (EISDIR)'],
    ['a method', ['--openapi', file, '--method', 'POST'], '--openapi does not take --method'],
    ['keys', ['--openapi', file, '--auth-url', 'x'], '--openapi does not take --auth-url'],
    ['no description', ['--unsafe-methods'], '--unsafe-methods needs --openapi'],
    ['values without a description', ['--value', 'a=b'], '--value needs --openapi'],
    ['a value without a name', ['--openapi', file, '--value', 'b'], 'a name, = and a text'],
    [
      'a value that none takes',
      ['--openapi', file, '--value', 'a=b'],
      'no operation that is asked has',
    ],
    ['an algorithm that is none', ['--openapi', file, '--algorithm', 'HS256'], 'algorithm'],
  ])('%s', async (_, args, said) => {
    writeFileSync(file, described(ROUTES))
    expect(await wrong(['http://127.0.0.1:1/', ...args])).toContain(said)
  })

  test('a URL with a query', async () => {
    const args = ['http://127.0.0.1:1/?a=1', '--openapi', file]
    expect(await wrong(args)).toContain('the URL must have no query')
  })

  test('a token in the clear', async () => {
    expect(await wrong(['http://api.test/', '--openapi', file, ...own])).toContain('https:')
  })

  test('a file of more than 16 MiB', async () => {
    writeFileSync(file, Buffer.alloc(16 * 1024 * 1024 + 1, ' '))
    expect(await wrong(['http://127.0.0.1:1/', '--openapi', file])).toContain('more than 16 MiB')
  })

  test('YAML, and how to convert it', async () => {
    writeFileSync(file, 'openapi: 3.1.0\npaths: {}\n')
    const said = await wrong(['http://127.0.0.1:1/', '--openapi', file])
    expect(said).toContain('npx js-yaml openapi.yaml > openapi.json')
  })
})

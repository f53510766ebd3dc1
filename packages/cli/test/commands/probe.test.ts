import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

import {
  authenticateRequest,
  createVerifier,
  dpopProofs,
  type GuardOptions,
  refusal,
} from '@portcullis/core'
import { createTestIssuer, dpopClient, tokenService } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { type Outcome, runProgram } from '../run-program.ts'
import { systemClock } from '../system-clock.ts'

const issuer = await createTestIssuer()
const service = tokenService(issuer)
const good = await issuer.token({ claims: { sub: 'ada' } })
const keys = ['--keys-url', service.keyUrl]

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown

async function listening(handler: Handler) {
  const server = createServer((request, response) => void handler(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // of a server that listens on a port
  return {
    url: `http://127.0.0.1:${port}/v1/me?secret=1`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function probed(
  handler: Handler,
  args: readonly string[] = [],
  token = '',
): Promise<Outcome> {
  await using api = await listening(handler)
  return await runProgram(['probe', api.url, ...args], {
    clock: systemClock,
    fetch: service.fetch,
    env: { TOKEN: token },
  })
}

const verifier = createVerifier(issuer.verifierOptions)

/** An API that is guarded by core. */
const guarded = guardedWith({})

function guardedWith(options: GuardOptions): Handler {
  return async (request, response) => {
    try {
      await authenticateRequest(verifier, request, { respond: 'problem', ...options })
      response.end('{}')
    } catch (error) {
      const answer = refusal(error)
      response.writeHead(answer?.status ?? 500, answer?.headers).end(answer?.body)
    }
  }
}

/** One that refuses whatever does not satisfy it, in one way. */
function refusing(
  isFine: (value: string) => boolean,
  headers: Record<string, string> = {},
  status = 401,
): Handler {
  return ({ headers: { authorization = '' } }, response) => {
    if (isFine(authorization)) response.end('{}')
    else response.writeHead(status, headers).end('refused')
  }
}

const CHALLENGE = { 'www-authenticate': 'Bearer realm="api"', 'cache-control': 'no-store' }

describe('an API that is guarded by us', () => {
  test('is sound, without a token of ours', async () => {
    const { exitCode, stdout } = await probed(guarded)
    expect(stdout).toMatch(/^SOUND {2}GET http:\/\/127\.0\.0\.1:\d+\/v1\/me\n/)
    expect(stdout).toContain('Not tried: a sound token')
    expect(exitCode).toBe(0)
  })

  test('is sound, and agrees with explain about each token', async () => {
    const { exitCode, stdout, stderr } = await probed(
      guarded,
      [...keys, '--env', 'TOKEN', '--json'],
      good,
    )
    const report = JSON.parse(stdout) as {
      rows: { name: string; status: number; reason?: string }[]
    }
    expect(report).toMatchObject({ schemaVersion: 1, verdict: 'sound', findings: [], untried: [] })
    const rows = new Map(report.rows.map((row) => [row.name, row]))
    expect(rows.get('your token')).toMatchObject({ status: 200 })
    expect(rows.get('your token, "bearer"')).toMatchObject({ status: 200 })
    expect(rows.get('your token, two headers')).toMatchObject({ status: 400 })
    expect(rows.get('HS256 with the public key')).toMatchObject({
      status: 401,
      reason: 'algorithm',
    })
    expect(rows.get('yours, other claims')).toMatchObject({ status: 401, reason: 'signature' })
    expect(stderr).toBe('No token is in this report.\n')
    expect(exitCode).toBe(0)
  })

  test('refuses a token of ours that explain refuses as well', async () => {
    const expired = await issuer.token({ expiresIn: -60 })
    const { exitCode, stdout } = await probed(guarded, [...keys, '--env', 'TOKEN'], expired)
    expect(stdout).toMatch(/ok {4}your token +401 +401 +expired/)
    expect(exitCode).toBe(0)
  })
})

describe('an API that takes DPoP proofs', async () => {
  const origin = 'https://api.test'
  const bound = await issuer.token({ boundTo: await dpopClient() })

  test.each<[title: string, required: boolean, token: string]>([
    ['beside bearer tokens is sound', false, good],
    ['beside bearer tokens refuses a bound one', false, bound],
    ['alone is sound', true, bound],
  ])('%s', async (_, required, token) => {
    const api = guardedWith({ dpop: dpopProofs({ origin, required }) })
    const { stdout } = await probed(api, [...keys, '--env', 'TOKEN', '--json'], token)
    expect(JSON.parse(stdout)).toMatchObject({ verdict: 'sound', findings: [] })
  })

  test('alone refuses your bearer token, and the report says that it wants a proof', async () => {
    const api = guardedWith({ dpop: dpopProofs({ origin, required: true }) })
    const { stdout } = await probed(api, [...keys, '--env', 'TOKEN'], good)
    expect(stdout).toContain('Note: refused: the API takes DPoP-bound tokens alone')
    expect(stdout).not.toContain('compare issuer')
  })
})

describe('finds', () => {
  test.each<[what: string, handler: Handler, said: RegExp]>([
    ['an API that is open', refusing(() => true), /Breach: let through without a token: no token;/],
    [
      'one that takes alg none',
      refusing((value) => value.startsWith('Bearer eyJhbGciOiJub25l'), CHALLENGE),
      /Breach: let through, though anybody .*: alg none/,
    ],
    [
      'a refusal without a challenge',
      refusing(() => false),
      /Problem: 401 without one Bearer challenge/,
    ],
    ['403 for bad tokens', refusing(() => false, CHALLENGE, 403), /Problem: 403, not 401/],
    ['a redirect', refusing(() => false, { location: '/login' }, 302), /Problem: a redirect/],
    ['a failure', refusing(() => false, {}, 500), /Problem: 500, not 401/],
    [
      'an error code without credentials',
      refusing(() => false, { ...CHALLENGE, 'www-authenticate': 'Bearer error="invalid_token"' }),
      /Note: an error code, though there is no token/,
    ],
    [
      'a refusal that something may keep',
      refusing(() => false, { 'www-authenticate': 'Bearer error="invalid_token"' }),
      /Note: 401 without Cache-Control: no-store/,
    ],
    [
      'an answer that repeats the token',
      ({ headers: { authorization } }, response) =>
        response.writeHead(401, CHALLENGE).end(`no: ${authorization}`),
      /Problem: the answer repeats the token/,
    ],
    [
      'answers that tell which check failed',
      ({ headers: { authorization = '' } }, response) =>
        response.writeHead(401, CHALLENGE).end(authorization.includes('.') ? 'signature' : 'form'),
      /Note: answered in another way .*: one word/,
    ],
  ])('%s', async (_, handler, said) => {
    const { stdout } = await probed(handler)
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(said)
  })

  test('nothing in bodies that differ from request to request', async () => {
    let count = 0
    const { stdout } = await probed((_, response) =>
      response
        .writeHead(401, { ...CHALLENGE, 'www-authenticate': 'Bearer error="invalid_token"' })
        .end(String(count++)),
    )
    expect(stdout).not.toContain('answered in another way')
  })

  test('an API that refuses what explain accepts', async () => {
    const { exitCode, stdout } = await probed(
      refusing(() => false, CHALLENGE),
      [...keys, '--env', 'TOKEN'],
      good,
    )
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
      'refused; a verifier accepts it: compare issuer',
    )
    expect(exitCode).toBe(1)
  })

  test('an API that accepts what explain refuses', async () => {
    const { exitCode, stdout } = await probed(
      refusing((value) => value.endsWith(good), CHALLENGE),
      [...keys, '--env', 'TOKEN', '--issuer', 'https://auth.test'],
      good,
    )
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('200, but a verifier answers 401: issuer')
    expect(exitCode).toBe(1)
  })
})

/** One that shows whatever it got. */
const echo: Handler = ({ headers: { authorization = '' } }, response) =>
  response
    .writeHead(401, {
      'www-authenticate': `Bearer realm="${authorization}"`,
      location: authorization,
    })
    .end(authorization)

test('no part of a token is in the report, whatever the API does', async () => {
  for (const form of [[], ['--json']]) {
    const { stdout, stderr } = await probed(echo, [...keys, '--env', 'TOKEN', ...form], good)
    expect(stdout + stderr).not.toMatch(/eyJ|secret/)
    for (const part of good.split('.')) expect(stdout + stderr).not.toContain(part)
  }
})

test('without keys that can be fetched it is judged all the same', async () => {
  await using api = await listening(guarded)
  const { exitCode, stdout, stderr } = await runProgram(['probe', api.url, ...keys], {
    clock: systemClock,
  })
  expect(stderr).toContain(`no keys from ${service.keyUrl}: `)
  expect(stdout).toContain('Not tried: HS256 keyed with the public key')
  expect(exitCode).toBe(0)
})

test('a path without anything is undecided: 3', async () => {
  const { exitCode, stdout } = await probed(refusing(() => false, {}, 404))
  expect(stdout).toMatch(/^UNCLEAR/)
  expect(exitCode).toBe(3)
})

test('an API that hangs up is undecided: 3', async () => {
  const { exitCode, stdout, stderr } = await probed((request) => request.socket.destroy())
  expect(stderr).toContain('the API does not answer: the connection failed (ECONNRESET)')
  expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: '' })
})

test.each<[what: string, args: readonly string[], said: string]>([
  ['no URL', ['api'], 'the URL must be like'],
  ['another protocol', ['file:///etc/passwd'], 'must begin with https: or http:'],
  ['credentials in the URL', ['https://a:b@api.test/'], 'must not contain credentials'],
  ['a token in the clear', ['http://api.test/', '--env', 'TOKEN'], 'must begin with https:'],
  ['no method', ['https://api.test/', '--method', 'get it'], '--method must be'],
  ['a timeout that is too long', ['https://api.test/', '--timeout', '99'], '--timeout must be'],
  ['an algorithm that is none', ['http://127.0.0.1:1/', '--algorithm', 'HS256'], 'algorithm'],
])('%s: 2, and what is wrong', async (_, args, said) => {
  const { exitCode, stdout, stderr } = await runProgram(['probe', ...args], {
    env: { TOKEN: good },
    clock: systemClock,
  })
  expect(stderr).toContain(said)
  expect(stderr).not.toContain('eyJ')
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
})

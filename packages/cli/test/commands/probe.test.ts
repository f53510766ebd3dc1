import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

import {
  authenticateRequest,
  createVerifier,
  dpopProofs,
  type GuardOptions,
  refusal,
} from '@portcullis/core'
import { systemClock } from '@portcullis/kit/time'
import { createTestIssuer, dpopClient, tokenService } from '@portcullis/testing'
import { afterAll, describe, expect, test } from 'vitest'

import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { createProvider, ISSUER } from '../provider.ts'
import { type Outcome, runProgram } from '../run-program.ts'

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

function guardedWith(options: GuardOptions, by = verifier): Handler {
  return async (request, response) => {
    try {
      await authenticateRequest(by, request, { respond: 'problem', ...options })
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
    expect(stdout).toMatch(
      /^SOUND as far as tested; not tested: a valid token, [^]*exp, nbf, iss, aud, typ,[^]*\?access_token=,[^]*access_token\s+in a form\nGET http:\/\/127\.0\.0\.1:\d+\/v1\/me\n/,
    )
    expect(stdout).toContain(
      'Not tested: a valid token, form of the token, other schemes (state one of yours:\n            --file, --env or --stdin)',
    )
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
      tested: string[]
      notTested: { what: string; why: string }[]
    }
    expect(report).toMatchObject({ schemaVersion: 2, verdict: 'sound', findings: [] })
    expect(report.tested.join(', ')).toBe(
      'a valid token, HS256 with the public key, form of the token, other schemes, HEAD, OPTIONS',
    )
    expect(report.notTested.map(({ what }) => what).join(', ')).toBe(
      'exp, nbf, iss, aud, typ, crit, iat, cnf, alg, form of the claims, ?access_token=, access_token in a form',
    )
    const rows = new Map(report.rows.map((row) => [row.name, row]))
    expect(rows.get('your token')).toMatchObject({ status: 200 })
    expect(rows.get('your token, "bearer"')).toMatchObject({ status: 200 })
    expect(rows.get('your token, two headers')).toMatchObject({ status: 400 })
    expect(rows.get('HS256 with the public key')).toMatchObject({
      status: 401,
      reason: 'algorithm',
    })
    expect(rows.get('yours, other claims')).toMatchObject({ status: 401, reason: 'signature' })
    expect(stderr).toMatch(
      /^Sends \d\d bad tokens, which may fire an alarm .*\nNo token is in this report.\n$/,
    )
    expect(exitCode).toBe(0)
  })

  test('refuses a token of ours that explain refuses as well', async () => {
    const expired = await issuer.token({ expiresIn: -60 })
    const { exitCode, stdout } = await probed(guarded, [...keys, '--env', 'TOKEN'], expired)
    expect(stdout).toMatch(/ok {6}your token +401 +401 +expired/)
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
    ['an API that is open', refusing(() => true), /BREACH: let through without a token: no token;/],
    [
      'one that takes alg none',
      refusing((value) => value.startsWith('Bearer eyJhbGciOiJub25l'), CHALLENGE),
      /BREACH: let through, though anybody .*: alg none/,
    ],
    [
      'a refusal without a challenge',
      refusing(() => false),
      /Warning: 401 without one Bearer challenge/,
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

describe('a token of the user that has expired', async () => {
  const expired = join(temporaryFolder(afterAll), 'expired.txt')

  /** Which level of finding there is about expiry, and whether it counts as tested. */
  async function expiryAt(handler: Handler, old: string, args: readonly string[]) {
    writeFileSync(expired, old)
    const words = ['--expired-file', expired, '--json', ...args]
    const { exitCode, stdout, stderr } = await probed(handler, words, good)
    const report = JSON.parse(stdout) as {
      verdict: string
      tested: string[]
      notTested: { what: string; why: string }[]
    }
    const { verdict, tested, notTested } = report
    const why = notTested.find(({ what }) => what === 'exp')?.why
    return { exitCode, stderr, verdict, isTested: tested.includes('exp'), why }
  }

  const old = await issuer.token({ claims: { sub: 'ada' }, expiresIn: -3600 })
  const own = ['--env', 'TOKEN']

  test('is refused by a sound API, which tests exp', async () => {
    const outcome = await expiryAt(guarded, old, [...keys, ...own])
    expect(outcome).toMatchObject({ exitCode: 0, verdict: 'sound', isTested: true })
  })

  test.each<[where: string, args: readonly string[]]>([
    ['with the key', [...keys, ...own]],
    ['without the key', own],
    ['without a valid token', []],
  ])('that is let through is a breach, %s', async (_, args) => {
    const open = refusing((value) => value.endsWith(good) || value.endsWith(old), CHALLENGE)
    const outcome = await expiryAt(open, old, args)
    expect(outcome).toMatchObject({ exitCode: 1, verdict: 'breach', isTested: true })
  })

  test('that is let through as the token of the user is a breach as well', async () => {
    const open = refusing((value) => value.endsWith(old), CHALLENGE)
    const { exitCode, stdout } = await probed(open, own, old)
    expect(stdout).toMatch(/^BREACH; not tested: /)
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
      'BREACH: let through, though the token has expired (RFC 7519 section 4.1.4): your token',
    )
    expect(exitCode).toBe(1)
  })

  test.each<[what: string, handler: Handler, token: string, args: readonly string[], why: string]>([
    ['no key is known', guarded, old, own, 'state the key, so that the signature'],
    ['there is no valid one beside it', guarded, old, keys, 'state your valid token as well'],
    [
      'another issuer has signed it',
      guarded,
      await (await createTestIssuer()).token({ expiresIn: -3600 }),
      [...keys, ...own],
      'for another reason: ',
    ],
    [
      'it differs from the valid one in more',
      guarded,
      await issuer.token({ claims: { sub: 'ada', aud: 'other' }, expiresIn: -3600 }),
      [...keys, ...own],
      'your tokens differ in more than their times',
    ],
    [
      'the API refuses all',
      refusing(() => false, CHALLENGE),
      old,
      [...keys, ...own],
      'answers no valid token otherwise than a forged one',
    ],
    [
      'the API fails then',
      ({ headers: { authorization = '' } }, response) => {
        const status = authorization.endsWith(good) ? 200 : authorization.endsWith(old) ? 500 : 401
        response.writeHead(status, CHALLENGE).end()
      },
      old,
      [...keys, ...own],
      'the answer does not say whether the token was refused',
    ],
    [
      'the valid one is forbidden as well',
      ({ headers: { authorization = '' } }, response) => {
        const isOurs = authorization.endsWith(good) || authorization.endsWith(old)
        response.writeHead(isOurs ? 403 : 401, CHALLENGE).end()
      },
      old,
      [...keys, ...own],
      'the answer does not say whether the token was refused',
    ],
  ])('tests nothing if %s, and the report says so', async (_, handler, token, args, why) => {
    const outcome = await expiryAt(handler, token, args)
    expect(outcome).toMatchObject({ isTested: false })
    expect(outcome.why).toContain(why)
  })

  test.each([
    ['has not expired', 300],
    ['expired a moment ago', -590],
  ])('that %s is a wrong command line: 2', async (_, expiresIn) => {
    writeFileSync(expired, await issuer.token({ expiresIn }))
    const { exitCode, stderr } = await probed(guarded, ['--expired-file', expired])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('must have expired 10 minutes ago or longer')
  })

  test('is not sent in the clear', async () => {
    writeFileSync(expired, old)
    const args = ['probe', 'http://api.test/', '--expired-file', expired]
    const { exitCode, stderr } = await runProgram(args, { clock: systemClock })
    expect(exitCode).toBe(2)
    expect(stderr).toContain('must begin with https:')
  })
})

/** Whether something counts as tested, and what is found. */
async function placeIn(what: string, handler: Handler, args: readonly string[] = [], token = good) {
  const { stdout } = await probed(handler, ['--env', 'TOKEN', '--json', ...args], token)
  const { verdict, tested, notTested, findings } = JSON.parse(stdout) as {
    verdict: string
    tested: readonly string[]
    notTested: readonly { what: string; why: string }[]
    findings: readonly { level: string; text: string; requests: readonly string[] }[]
  }
  const why = notTested.find((each) => each.what === what)?.why
  return { verdict, isTested: tested.includes(what), why, findings }
}

describe('a token in a form', () => {
  const post = ['--method', 'POST']
  const what = 'access_token in a form'

  /** As middleware does that takes a token of whatever place. */
  const readsForms: Handler = async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const form = new URLSearchParams(Buffer.concat(chunks).toString())
    const isForm = request.headers['content-type'] === 'application/x-www-form-urlencoded'
    const token = isForm ? form.get('access_token') : null
    if (token !== null) request.headers.authorization = `Bearer ${token}`
    if (token !== null) request.rawHeaders.push('Authorization', `Bearer ${token}`)
    await guarded(request, response)
  }

  test('is sent where POST is probed, and one that is read is found', async () => {
    const outcome = await placeIn(what, readsForms, post)
    expect(outcome).toMatchObject({ verdict: 'sound', isTested: true })
    const read = outcome.findings.filter(({ level }) => level === 'warning')
    expect(read.map(({ requests }) => requests)).toEqual([
      ['your token in a form'],
      ['a forged one in a form'],
    ])
  })

  test.each<[string, Handler]>([
    ['a guard that reads none', guarded],
    [
      'an API that takes no forms',
      (request, response) =>
        request.headers['content-type'] === undefined
          ? guarded(request, response)
          : response.writeHead(415).end(),
    ],
  ])('is tested, and nothing is found, at %s', async (_, handler) => {
    expect(await placeIn(what, handler, post)).toMatchObject({ isTested: true, findings: [] })
  })

  test.each<[string, string, readonly string[], string]>([
    ['where GET is probed, which has no body', good, [], 'only requests that may change something'],
    ['without a token of the user', '', post, 'state one of yours'],
  ])('is not tested %s, and the report says so', async (_, token, args, why) => {
    const { stdout } = await probed(
      guarded,
      [...(token === '' ? [] : ['--env', 'TOKEN']), '--json', ...args],
      token,
    )
    const { notTested } = JSON.parse(stdout) as { notTested: object[] }
    expect(notTested).toContainEqual({ what, why: expect.stringContaining(why) as string })
  })
})

describe('OPTIONS behind CORS middleware that lets it go on (preflightContinue)', () => {
  let count = 0
  const cors = { 'access-control-allow-origin': '*', 'access-control-allow-methods': 'GET,POST' }
  const withCors =
    (behind: Handler): Handler =>
    async (request, response) => {
      for (const [name, value] of Object.entries(cors)) response.setHeader(name, value)
      await behind(request, response)
    }
  /** Without a guard, or with one that lets OPTIONS through. */
  const unless =
    (body: () => string): Handler =>
    async (request, response) => {
      if (request.method === 'OPTIONS') response.end(body())
      else await guarded(request, response)
    }

  test.each<[string, Handler, object]>([
    ['to a guard', withCors(guarded), { verdict: 'sound', isTested: true }],
    [
      'to the code behind it, which answers as to a right token',
      withCors(unless(() => '{}')),
      { verdict: 'breach', isTested: true },
    ],
    [
      'to the code behind it, whose answer is another one each time: not tested',
      withCors(unless(() => String(count++))),
      {
        verdict: 'sound',
        isTested: false,
        why: expect.stringContaining('preflightContinue') as string,
      },
    ],
    [
      'to the framework, which says which methods there are',
      withCors(({ method }, response) =>
        method === 'OPTIONS'
          ? response.setHeader('Allow', 'GET').end('GET')
          : response.writeHead(401, CHALLENGE).end(),
      ),
      { isTested: true },
    ],
  ])('%s', async (_, handler, expected) => {
    expect(await placeIn('OPTIONS', handler)).toMatchObject(expected)
  })

  test('a right token that is answered with nothing, as a preflight is: not tested', async () => {
    const outcome = await placeIn('OPTIONS', ({ method, headers }, response) => {
      const isRight = method === 'OPTIONS' || headers.authorization?.endsWith(good) === true
      response.writeHead(isRight ? 204 : 401, isRight ? cors : CHALLENGE).end()
    })
    expect(outcome.isTested).toBe(false)
  })
})

test('a breach is the first line, and comes before all that was sent', async () => {
  const { stdout } = await probed(refusing(() => true))
  const lines = stdout.split('\n')
  expect(lines[0]).toMatch(/^BREACH; not tested: /)
  expect(lines.findIndex((line) => line.startsWith('BREACH: '))).toBeLessThan(
    lines.findIndex((line) => line.includes('answer  expected')),
  )
})

test('a right status without a challenge is a warning, and not a fault', async () => {
  const { exitCode, stdout } = await probed(
    refusing((value) => /^bearer /i.test(value) && value.endsWith(good)),
    ['--env', 'TOKEN'],
    good,
  )
  expect(stdout).toMatch(/^SOUND as far as tested/)
  expect(stdout).toMatch(/warn {4}no token +401/)
  expect(stdout).not.toContain('FAIL')
  expect(exitCode).toBe(0)
})

test('with --discover the keys are those that the metadata of the issuer name', async () => {
  const provider = await createProvider(systemClock)
  await using api = await listening(
    guardedWith({}, createVerifier(provider.issuer.verifierOptions)),
  )
  const args = ['--discover', ISSUER, '--audience', 'api', '--env', 'TOKEN', '--json']
  const { exitCode, stdout } = await runProgram(['probe', api.url, ...args], {
    clock: systemClock,
    fetch: provider.fetchWith(),
    env: { TOKEN: await provider.issuer.token() },
  })
  const { verdict, rows } = JSON.parse(stdout) as {
    verdict: string
    rows: { name: string; reason?: string }[]
  }
  expect([verdict, exitCode]).toEqual(['sound', 0])
  expect(rows).toContainEqual(
    expect.objectContaining({ name: 'yours, other claims', status: 401, reason: 'signature' }),
  )
  expect(provider.asked).toEqual([provider.metadataUrl, provider.keyUrl])
})

test('only an issuer of the user is asked to mint: no other gets more than the question for its keys', async () => {
  const asked: string[] = []
  await using api = await listening(guarded)
  await runProgram(['probe', api.url, ...keys, '--env', 'TOKEN'], {
    clock: systemClock,
    env: { TOKEN: good, PORTCULLIS_SECRET: 'geheim-geheim-16' },
    fetch: async (input, init) => {
      asked.push(new Request(input, init).url)
      return await service.fetch(input, init)
    },
  })
  expect(new Set(asked)).toEqual(new Set([service.keyUrl]))
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
  expect(stdout).toContain('Not tested: HS256 with the public key (')
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

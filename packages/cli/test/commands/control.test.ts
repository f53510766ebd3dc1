import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:http'

import { systemClock } from '@portcullis/kit/time'
import { manualClock } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { run } from '../../src/program/program.ts'
import { runProgram } from '../run-program.ts'
import { serving } from '../serving.ts'

const keyOf = async (url: string): Promise<unknown> =>
  await (await fetch(`${url}/tokenservice/pubkey.json`)).json()

describe('mint', () => {
  test('prints a token alone on stdout', async () => {
    await using at = await serving()
    const { exitCode, stdout, stderr } = await at.command('mint', '--claim', 'sub=ada')
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/)
  })

  test('prints a bad token by its kind, and lists the kinds', async () => {
    await using at = await serving()
    const { stdout } = await at.command('mint', '--kinds')
    expect(stdout).toMatch(/^expired +expired$/m)
    expect((await at.command('mint', '--bad', 'expired')).stdout).toContain('.')
  })

  test.each<[typed: string, said: string]>([
    ['expird', "there is no such kind of bad token: did you mean 'expired'? `portcullis mint"],
    ['not_yet_valid', "did you mean 'not yet valid'?"],
    ['issuer', 'no such kind of bad token; `portcullis mint --kinds` lists all'],
    ['binding', "did you mean 'bound to the key of somebody else', 'bound to the certificate"],
    ['nonsense', 'there is no such kind of bad token; `portcullis mint --kinds` lists all'],
  ])('of no kind, %s: what was meant, and where all kinds are', async (typed, said) => {
    await using at = await serving()
    const { exitCode, stdout, stderr } = await at.command('mint', '--bad', typed)
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toContain(said)
  })

  test.each<[typed: string, seconds: number]>([
    ['5m', 300],
    ['30s', 30],
    ['2h', 7200],
    ['1d', 86_400],
    ['-5m', -300],
    ['90', 90],
  ])('--expires-in %s', async (typed, seconds) => {
    await using at = await serving()
    const { stdout } = await at.command('mint', '--expires-in', typed, '--claim', 'iat=1000')
    const [, payload = ''] = stdout.split('.')
    const { exp } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { exp: number }
    const { now } = (await (await fetch(`${at.url}/control/state`)).json()) as { now: number }
    expect(Math.abs(exp - now - seconds)).toBeLessThan(10)
  })

  test.each(['5x', '1h30m', 'soon', ''])('--expires-in %j is a mistake', async (typed) => {
    const { exitCode, stdout, stderr } = await runProgram(['mint', '--expires-in', typed])
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toContain('It must be a time such as 30s, 5m, 2h or 1d')
  })
})

test('rotate prints the key that signs, and a roll-back brings the one before', async () => {
  await using at = await serving()
  const first = await keyOf(at.url)
  const rotated = await at.command('rotate', '--publish', 'later')
  expect(rotated.stderr).toContain(
    'what is left of the rotation (publish) waits for `portcullis rotate --complete`',
  )
  expect(await keyOf(at.url)).toEqual(first)
  await at.command('rotate', '--complete')
  expect(await keyOf(at.url)).toMatchObject({ kid: rotated.stdout.trim() })
  expect((await at.control('rollback')).status).toBe(200)
  expect(await keyOf(at.url)).toEqual(first)
  expect((await at.control('rollback')).status).toBe(400)
})

test('fault begins and clears', async () => {
  await using at = await serving()
  const begun = await at.command('fault', 'keys', '503', '--count', '2', '--for', '60')
  expect(begun).toMatchObject({ exitCode: 0, stdout: '' })
  expect(begun.stderr).toBe(
    'keys: 503, for 60 s, or for 2 answers, or until `portcullis fault clear`\n',
  )
  const status = async () => (await fetch(`${at.url}/tokenservice/pubkey.json`)).status
  expect(await status()).toBe(503)
  expect((await at.command('fault', 'clear')).stderr).toBe('cleared: 1\n')
  expect(await status()).toBe(200)
  const wrong = await at.command('fault', 'keys', 'nonsense')
  expect(wrong.exitCode).toBe(2)
  expect(wrong.stderr).toContain('or one of hang, reset')
})

test.each([
  ['behind', (url: string) => ['fault', 'clear', '--auth-url', url]],
  ['before', (url: string) => ['fault', '--auth-url', url, 'clear']],
])('fault clear asks the service that is stated %s it', async (_, wordsOf) => {
  await using at = await serving()
  await at.command('fault', 'keys', '503')
  const given = { fetch: globalThis.fetch, clock: systemClock, env: {} }
  const { exitCode, stderr } = await runProgram(wordsOf(at.url), given)
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: 'cleared: 1\n' })
})

describe('log', () => {
  test('prints a line for each event, or JSON', async () => {
    await using at = await serving()
    await at.logIn('demo', 'wrong')
    expect((await at.command('log')).stdout).toMatch(
      /^\d\d:\d\d:\d\d UTC {2}token {2}401 {2}"demo"\n$/,
    )
    const { stdout } = await at.command('log', '--json')
    expect(JSON.parse(stdout)).toMatchObject({ id: 1, status: 401 })
  })

  test('-f goes on, and Ctrl-C ends it', async () => {
    await using at = await serving()
    await at.logIn('demo', 'demo')
    const interrupted = new AbortController()
    let stdout = ''
    const following = run({
      args: ['log', '-f', '--auth-url', at.url],
      env: {},
      cwd: '.',
      stdin: (async function* () {})(),
      stdout: {
        write(text) {
          stdout += text
          // The first line is of before; the second comes while it listens.
          if (stdout.split('\n').length === 2) void at.logIn('demo', 'wrong')
          else interrupted.abort()
        },
      },
      stderr: { write: () => undefined },
      fetch: globalThis.fetch,
      clock: systemClock,
      signal: interrupted.signal,
    })
    expect(await following).toBe(130)
    expect(stdout).toMatch(/200 {2}"demo"\n.*401 {2}"demo"\n$/)
  })
})

describe('log of another server', () => {
  test.each<[what: string, body: string]>([
    ['no JSON', 'hello'],
    ['no list', '{"events":{"length":1}}'],
    ['no events', '{}'],
    ['null', 'null'],
    ['events that are none', '{"events":[5]}'],
    ['an event without a time', '{"events":[{"type":"request"}]}'],
    ['a time that no date can show', '{"events":[{"type":"request","time":1e300}]}'],
    ['a type that is none', '{"events":[{"type":{},"time":1}]}'],
  ])('with %s: it says so, and ends with 3', async (_what, body) => {
    for (const args of [['log'], ['log', '--json']]) {
      const { exitCode, stderr } = await runProgram(args, {
        fetch: introduced(async () => await Promise.resolve(answering(body))),
      })
      expect(exitCode).toBe(3)
      expect(stderr).toMatch(/is not this version|no token service of ours/)
    }
  })

  test('whose events have other members prints what it can', async () => {
    const events = [
      { type: 'request', time: 0, endpoint: 5, status: {}, loginId: ['x'] },
      { type: 'rotated', time: 0 },
      { type: '\u{1b}[2J', time: 0 },
    ]
    const fetch = introduced(
      async () => await Promise.resolve(answering(JSON.stringify({ events }))),
    )
    const { exitCode, stdout } = await runProgram(['log'], { fetch })
    expect(exitCode).toBe(0)
    expect(stdout.split('\n')).toEqual([
      '00:00:00 UTC  5      ---  "?"',
      '00:00:00 UTC  rotated, publish ?: ? signs',
      '00:00:00 UTC  something that this version does not know',
      '',
    ])
  })

  test.each<[what: string, text: string]>([
    ['no JSON', 'data: {\n\n'],
    ['no event', 'data: {}\n\n'],
    ['a line without end', 'x'.repeat(200_000)],
  ])('-f, with %s: it says so, and ends with 3', async (_what, text) => {
    const fetch = introduced(async () => await Promise.resolve(new Response(text)))
    const { exitCode, stderr } = await runProgram(['log', '-f'], { fetch })
    expect(exitCode).toBe(3)
    expect(stderr).toContain('is not this version')
  })
})

test('rotate --for says when the rest follows, and log shows verdicts', async () => {
  await using at = await serving()
  const { exitCode, stderr } = await at.command('rotate', '--publish', 'later', '--for', '60')
  expect(exitCode).toBe(0)
  expect(stderr).toBe(
    'what is left of the rotation (publish) comes in 60 s, or by `portcullis rotate --complete`\n',
  )
  expect((await at.command('rotate', '--complete', '--for', '5')).exitCode).toBe(2)
  const refused = { code: 'invalid_token', reason: 'expired', detail: 'exp was 5 s ago', count: 2 }
  await fetch(`${at.url}/control/verdicts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ api: 'orders', verdicts: [{}, refused], dropped: 7 }),
  })
  const { stdout } = await at.command('log')
  expect(stdout).toMatch(
    /orders {2}accepted\n.*orders {2}refused 2 times {2}expired: exp was 5 s ago\n/,
  )
  expect(stdout).toMatch(/orders {2}too many to report: 7\n$/)
})

test('a body without end ends the connection, and the service goes on', async () => {
  await using at = await serving()
  const body = 'x'.repeat(2 * 1024 * 1024)
  const headers = { 'content-type': 'application/json' }
  const asked = fetch(`${at.url}/control/mint`, { method: 'POST', headers, body })
  await expect(asked).rejects.toThrow('fetch failed')
  expect((await at.command('health')).exitCode).toBe(0)
})

describe('an answer without an end', () => {
  const commands = [
    ['log'],
    ['mint'],
    ['mint', '--kinds'],
    ['health'],
    ['rotate'],
    ['fault', 'clear'],
  ]

  test.each(commands)('is left after 16 MiB, by %s %s', async (...args) => {
    for (const status of [200, 500]) {
      let sent = 0
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          sent += 65_536
          controller.enqueue(new Uint8Array(65_536).fill(0x20))
        },
      })
      const { exitCode, stdout } = await runProgram(
        args.filter((each) => each !== undefined),
        { fetch: async () => await Promise.resolve(new Response(body, { status })) },
      )
      expect({ exitCode, stdout }).toEqual({ exitCode: args[0] === 'health' ? 1 : 3, stdout: '' })
      expect(sent).toBeLessThanOrEqual(16 * 1024 * 1024 + 3 * 65_536)
    }
  })

  test.each(commands)('is left after 30 seconds, by %s %s', async (...args) => {
    const clock = manualClock()
    const { asked, fetch } = noticing(hanging)
    const words = args.filter((each) => each !== undefined)
    const running = runProgram(words, { fetch, clock })
    await asked
    await clock.advance(30)
    expect((await running).exitCode).toBe(args[0] === 'health' ? 1 : 3)
  })

  test('that does not begin is left after 30 seconds, also by log -f', async () => {
    const clock = manualClock()
    const { asked, fetch } = noticing(silent)
    const running = runProgram(['log', '-f'], { fetch, clock })
    await asked
    await clock.advance(30)
    const { exitCode, stderr } = await running
    expect(exitCode).toBe(3)
    expect(stderr).toContain('is `portcullis serve` running?')
  })
})

/** The same, and when it is asked: before, a command reads its modules, which takes as long as it takes. */
function noticing(answer: typeof hanging) {
  const asking = new EventEmitter()
  const fetch: typeof hanging = async (...request) => {
    asking.emit('asked')
    return await answer(...request)
  }
  return { asked: once(asking, 'asked'), fetch }
}

/** Answers with a body that sends nothing, and fails when the request is given up. */
async function hanging(_: unknown, init?: RequestInit): Promise<Response> {
  const body = new ReadableStream({
    start(controller) {
      init?.signal?.addEventListener('abort', () => {
        controller.error(new TypeError('terminated'))
      })
    },
  })
  return await Promise.resolve(new Response(body))
}

/** Does not answer until the request is given up. */
async function silent(_: unknown, init?: RequestInit): Promise<Response> {
  return await new Promise((_resolve, reject) => {
    init?.signal?.addEventListener('abort', () => {
      reject(new TypeError('fetch failed'))
    })
  })
}

describe('the secret', () => {
  const PORTCULLIS_SECRET = 'geheim-geheim-16'
  const state = { keys: [{ thumbprint: 'T', signing: [{}] }] }

  async function rotatedAt(url: string, ...args: string[]) {
    const sent: (string | null)[] = []
    const outcome = await runProgram(['rotate', '--auth-url', url, ...args], {
      env: { PORTCULLIS_SECRET },
      fetch: introduced(async (_, init) => {
        sent.push(new Headers(init?.headers).get('authorization'))
        return await Promise.resolve(Response.json(state))
      }),
    })
    return { sent, ...outcome }
  }

  test.each(['http://tokens:4010', 'http://192.0.2.1', 'http://localhost.evil.test:4010'])(
    'is not sent in the clear to %s: 2, and nothing is asked',
    async (url) => {
      const { exitCode, stderr, sent } = await rotatedAt(url)
      expect({ exitCode, sent }).toEqual({ exitCode: 2, sent: [] })
      expect(stderr).toContain('must begin with https: (--allow-insecure sends PORTCULLIS_SECRET')
      expect(stderr).not.toContain('geheim')
    },
  )

  test.each<[url: string, args: readonly string[]]>([
    ['https://tokens.example.com', []],
    ['http://localhost:4010', []],
    ['http://[::1]:4010', []],
    ['http://tokens:4010', ['--allow-insecure']],
  ])('is sent to %s %j', async (url, args) => {
    const { exitCode, sent } = await rotatedAt(url, ...args)
    expect({ exitCode, sent }).toEqual({ exitCode: 0, sent: [`Bearer ${PORTCULLIS_SECRET}`] })
  })

  test('that no header can carry is a mistake of the user: 2', async () => {
    const { exitCode, stderr } = await runProgram(['mint'], { env: { PORTCULLIS_SECRET: 'ключ' } })
    expect(exitCode).toBe(2)
    expect(stderr).toContain('PORTCULLIS_SECRET must have visible ASCII characters alone')
  })
})

describe('health', () => {
  test('is the exit code alone', async () => {
    await using at = await serving()
    expect(await at.command('health')).toEqual({ exitCode: 0, stdout: '', stderr: '' })
  })

  test('of what does not answer is 1, also after waiting', async () => {
    const { url, end } = await serving()
    await end()
    const given = { fetch: globalThis.fetch, clock: systemClock }
    for (const args of [['health'], ['health', '--wait', '0.3']]) {
      const outcome = await runProgram([...args, '--auth-url', url], given)
      expect(outcome).toEqual({ exitCode: 1, stdout: '', stderr: '' })
    }
  })
})

describe('a command', () => {
  test('says so if nothing answers', async () => {
    const { url, end } = await serving()
    await end()
    const given = { fetch: globalThis.fetch, clock: systemClock }
    const { exitCode, stderr } = await runProgram(['rotate', '--auth-url', url], given)
    expect(exitCode).toBe(3)
    expect(stderr).toContain('is `portcullis serve` running?')
  })

  test.each(['nonsense', 'file:///etc/passwd', 'localhost:4010'])(
    'refuses %s, which is no URL of a service',
    async (url) => {
      const { exitCode, stderr } = await runProgram(['rotate', '--auth-url', url])
      expect(exitCode).toBe(2)
      expect(stderr).toContain('must be like http://127.0.0.1:4010')
    },
  )

  test.each<[name: string, status: number, body: string, said: string]>([
    ['no JSON', 200, 'hello', 'is `portcullis serve` running?'],
    ['other JSON', 200, '{"keys":5}', 'is not this version'],
    ['an error of its own', 500, '{"error":"\\u001b[2Jno"}', String.raw`\u001b[2Jno (500)`],
  ])('that a service of another version answers with %s says so', async (_, status, body, said) => {
    const fetch = introduced(async () => await Promise.resolve(new Response(body, { status })))
    const { exitCode, stderr } = await runProgram(['rotate'], { fetch, clock: systemClock })
    expect(exitCode).toBe(3)
    expect(stderr).toContain(said)
  })

  test.each<[name: string, status: number, body: string]>([
    ['whatever it is asked with a token', 200, '{"token":"a.b.c","status":"ok","kinds":[]}'],
    ['a page', 200, '<html>'],
    ['an error', 404, '{"error":"no"}'],
    ['nothing', 204, ''],
  ])(
    'is refused where another program answers %s, and that gets no secret',
    async (_, status, body) => {
      const seen: (string | undefined)[] = []
      await using server = createServer((request, response) => {
        seen.push(request.headers.authorization)
        response.writeHead(status).end(body)
      })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      const address = server.address()
      const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
      const env = { PORTCULLIS_SECRET: 'geheim-geheim-16', PORTCULLIS_URL: url }
      const given = { fetch: globalThis.fetch, clock: systemClock, env }
      for (const words of [
        ['mint'],
        ['mint', '--kinds'],
        ['rotate'],
        ['fault', 'clear'],
        ['log', '-f'],
      ]) {
        const { exitCode, stdout, stderr } = await runProgram(words, given)
        expect([exitCode, stdout]).toEqual([3, ''])
        expect(stderr).toContain(`another program answers at ${url}: state where`)
      }
      expect((await runProgram(['health'], given)).exitCode).toBe(1)
      expect(seen.slice(0, 5)).toEqual(Array.from({ length: 5 }, () => undefined))
      server.closeAllConnections()
    },
  )
})

/** What first says of itself that it is our service. */
function introduced(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input)
    return pathname === '/control/health'
      ? Response.json({ status: 'ok', program: 'portcullis serve' })
      : await fetch(input, init)
  }
}

function answering(body: string): Response {
  return new Response(body, { headers: { 'content-type': 'application/json' } })
}

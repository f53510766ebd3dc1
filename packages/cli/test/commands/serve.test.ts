import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { chmod, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'

import { createVerifier, discoverKeys } from '@portcullis/core'
import { systemClock } from '@portcullis/kit/time'
import { describe, expect, test } from 'vitest'

import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { runProgram } from '../run-program.ts'
import { serving } from '../serving.ts'

const claimsOf = (token: string): unknown =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())

const headerOf = (token: string): unknown =>
  JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString())

const keyOf = async (url: string): Promise<unknown> =>
  await (await fetch(`${url}/tokenservice/pubkey.json`)).json()

/** The status of a login; `fetch` sets the header itself. */
async function postWithHost(url: string, path: string, host: string): Promise<number | undefined> {
  const headers = { host, 'content-type': 'application/x-www-form-urlencoded' }
  const asking = request(url, { method: 'POST', path, headers }).end('loginId=demo&password=demo')
  const [response] = (await once(asking, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode
}

/** Windows has no such modes. */
const modeOf = async (path: string) =>
  process.platform === 'win32' ? 0o600 : (await stat(path)).mode & 0o777

describe('serve', () => {
  test('prints its URL on stdout, and how to use it on stderr; Ctrl-C ends it with 0', async () => {
    const at = await serving()
    expect(at.written.stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\n$/)
    expect(at.written.stderr).toContain(`curl -d loginId=demo -d password=demo ${at.url}`)
    expect((await at.logIn('demo', 'demo')).status).toBe(200)
    expect(await at.end()).toBe(0)
    await expect(fetch(at.url)).rejects.toThrow('fetch failed')
  })

  test('takes logins, claims, lifetime, issuer, audience and the form of the answer', async () => {
    const logins = '--login ada:a:b --login bob: --claim roles=["x"] --claim scope=read'
    const tokens = '--lifetime 60 --issuer https://auth.test --audience one --audience two'
    const args = `${logins} ${tokens} --response json:jwt`
    await using at = await serving(args.split(' '))
    expect((await at.logIn('demo', 'demo')).status).toBe(401)
    expect((await at.logIn('bob', '')).status).toBe(200)
    const { jwt } = (await (await at.logIn('ada', 'a:b')).json()) as { jwt: string }
    const claims = claimsOf(jwt) as { iat: number; exp: number }
    expect(claims).toMatchObject({
      sub: 'ada',
      roles: ['x'],
      scope: 'read',
      iss: 'https://auth.test',
      aud: ['one', 'two'],
    })
    expect(claims.exp - claims.iat).toBe(60)
  })

  test('reads a file of logins and faults, and the command line comes before it', async () => {
    const path = join(temporaryFolder(), 'serve.json')
    const faults = [{ endpoint: 'keys', kind: 503, times: 1 }]
    const logins = { eve: { password: 'e', claims: { admin: true }, lifetime: -5 } }
    await writeFile(path, JSON.stringify({ logins, faults, lifetime: 10, claims: { a: 1 } }))
    await using at = await serving(['--config', path, '--claim', 'a=2'])
    expect((await fetch(`${at.url}/tokenservice/pubkey.json`)).status).toBe(503)
    expect((await fetch(`${at.url}/tokenservice/pubkey.json`)).status).toBe(200)
    const claims = claimsOf(await (await at.logIn('eve', 'e')).text())
    expect(claims).toMatchObject({ sub: 'eve', admin: true, a: 2 })
  })

  test('shows neither a password nor a token, in its log and in its errors', async () => {
    await using at = await serving(['--login', 'ada:geheim'])
    const token = await (await at.logIn('ada', 'geheim')).text()
    await at.logIn('ada', 'falsch')
    await at.logIn('\u{1b}[2J', 'x')
    const all = at.written.stdout + at.written.stderr
    expect(all).toMatch(
      /token {2}200 {2}"ada"\n.*token {2}401 {2}"ada"\n.*token {2}401 {2}"\\u001b/,
    )
    for (const secret of ['geheim', 'falsch', token, '\u{1b}']) expect(all).not.toContain(secret)
  })

  test('with --json prints nothing that a terminal would obey', async () => {
    await using at = await serving(['--json'])
    await at.logIn('\u{9b}2J\u{9d}0;\u{7f}\u{202e}', 'x')
    const { stdout } = await at.command('log', '--json')
    for (const text of [at.written.stdout, stdout]) {
      expect(text.replaceAll('\n', '')).not.toMatch(/\p{C}/u)
      expect(text).toContain(String.raw`"loginId":"\u009b2J\u009d0;\u007f\u202e"`)
    }
  })

  test('lets nobody log in under a foreign name, as a page does that lets its name point here', async () => {
    await using at = await serving()
    const { port } = new URL(at.url)
    for (const host of ['evil.test', `evil.test:${port}`, 'localhost.evil.test']) {
      expect(await postWithHost(at.url, '/tokenservice/token/api', host)).toBe(403)
      expect(await postWithHost(at.url, '/tokenservice/token/API/..//token/api', host)).toBe(403)
    }
    expect(await postWithHost(at.url, '/tokenservice/token/api', `localhost:${port}`)).toBe(200)
    expect((await fetch(`${at.url}/tokenservice/pubkey.json`)).status).toBe(200)
  })

  test('lets log in under any name where other machines reach it', async () => {
    await using at = await serving(['--host', '0.0.0.0'])
    expect(await postWithHost(at.url, '/tokenservice/token/api', 'tokens:4010')).toBe(200)
  })

  test('with --json prints lines of JSON alone', async () => {
    await using at = await serving(['--json'])
    await at.logIn('demo', 'demo')
    const lines = at.written.stdout.trim().split('\n')
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      { type: 'ready', authUrl: at.url, keyUrl: `${at.url}/tokenservice/pubkey.json` },
      { id: 1, type: 'request', endpoint: 'token', status: 200, loginId: 'demo' },
    ])
    expect(at.written.stderr).toBe('')
  })

  test('writes a ready file that its owner alone can read, and removes it in the end', async () => {
    const at = temporaryFolder()
    const path = join(at, 'ready.json')
    const { url, end } = await serving(['--ready-file', path])
    expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ authUrl: url })
    expect(await modeOf(path)).toBe(0o600)
    await end()
    expect(await readdir(at)).toEqual([])
  })
})

describe('the key file', () => {
  test('keeps the key across restarts, also after a rotation; only its owner can read it', async () => {
    const path = join(temporaryFolder(), 'key.json')
    const kept: unknown[] = []
    for (const operations of [['rotate'], ['rotate', 'rollback'], ['rotate']]) {
      await using at = await serving(['--private-key-file', path])
      kept.push(await keyOf(at.url))
      for (const operation of operations) expect((await at.control(operation)).status).toBe(200)
      kept.push(await keyOf(at.url))
      expect(await modeOf(path)).toBe(0o600)
    }
    const [first, second, ...others] = kept
    expect(second).not.toEqual(first)
    expect(others).toEqual([second, second, second, kept.at(-1)])
    expect(kept.at(-1)).not.toEqual(second)
  })

  test.each(['first', 'later', 'both'])(
    'keeps a rotation that is half done, publish %s, and the names of its keys',
    async (publish) => {
      const path = join(temporaryFolder(), 'key.json')
      const kept: unknown[] = []
      for (const command of [['rotate', '--publish', publish, '--kid', 'same'], ['health']]) {
        await using at = await serving(['--private-key-file', path])
        expect((await at.command(...command)).exitCode).toBe(0)
        const { kid } = headerOf((await at.command('mint')).stdout) as { kid: string }
        kept.push([await keyOf(at.url), kid])
      }
      expect(kept[1]).toEqual(kept[0])
      await using at = await serving(['--private-key-file', path])
      expect((await at.command('rotate', '--complete')).exitCode).toBe(0)
    },
  )

  test('that cannot be written any more: the command says so, and so does the service', async () => {
    const at = temporaryFolder()
    await using service = await serving(['--private-key-file', join(at, 'key.json')])
    await rm(at, { recursive: true })
    const { exitCode, stderr } = await service.command('rotate')
    expect(exitCode).toBe(3)
    expect(stderr).toMatch(/^portcullis: done, but these keys cannot be kept: .*ENOENT.*\(500\)\n$/)
    expect(service.written.stderr).toMatch(/portcullis: these keys cannot be kept: .*ENOENT/)
    expect((await service.command('mint')).exitCode).toBe(0)
  })

  test('that cannot be written at all: serve does not start', async () => {
    const path = join(temporaryFolder(), 'nowhere', 'key.json')
    const outcome = await runProgram(['serve', '--port', '0', '--private-key-file', path])
    expect(outcome.exitCode).toBe(2)
    expect(outcome.stderr).toMatch(/^portcullis: these keys cannot be kept: .*ENOENT.*\n$/)
  })

  test('can be PEM, which stays as it is until another key signs', async () => {
    const path = join(temporaryFolder(), 'key.pem')
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    await writeFile(path, pem, { mode: 0o600 })
    const { end } = await serving(['--private-key-file', path])
    await end()
    expect(await readFile(path, 'utf8')).toBe(pem)
  })

  test.each<[name: string, text: string, mode: number, said: string]>([
    ['that others can read', '{}', 0o644, 'can be read by others; run: chmod 600'],
    ['that holds no key', 'geheim', 0o600, 'key must be a private key for RS512'],
    ['that is broken JSON', '{"d":"geheim"', 0o600, 'is neither PEM nor a JWK'],
  ])('%s is refused, and not shown', async (_name, text, mode, said) => {
    const path = join(temporaryFolder(), 'key.json')
    await writeFile(path, text)
    await chmod(path, mode)
    const { exitCode, stdout, stderr } = await runProgram([
      'serve',
      '--port',
      '0',
      '--private-key-file',
      path,
    ])
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toContain(said)
    expect(stderr).not.toContain('geheim')
  })
})

describe('does not start', () => {
  test.each(['production', 'Production', 'PRODUCTION', ' production\t'])(
    'in production, written as %j',
    async (NODE_ENV) => {
      const args = ['serve', '--config', 'nowhere.json']
      const { exitCode, stderr } = await runProgram(args, { env: { NODE_ENV } })
      expect(exitCode).toBe(2)
      expect(stderr).toContain('does not run with NODE_ENV=production')
    },
  )

  test.each<[secret: string, said: string]>([
    ['fifteen-letters', 'must have at least 16 characters'],
    ['sixteen letters!', 'must have visible ASCII characters alone'],
    ['sechzehn-zeichén', 'must have visible ASCII characters alone'],
    ['sixteen-letters\n', 'must have visible ASCII characters alone'],
  ])('on another host with the secret %j', async (secret, said) => {
    const args = ['serve', '--port', '0', '--host', '0.0.0.0']
    const { exitCode, stdout, stderr } = await runProgram(args, {
      env: { PORTCULLIS_SECRET: secret },
    })
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toContain(said)
    expect(stderr).not.toContain(secret)
  })

  test('on a port that is taken, and says which one to take', async () => {
    await using at = await serving()
    const { port } = new URL(at.url)
    const { exitCode, stderr } = await runProgram(['serve', '--port', port])
    expect(exitCode).toBe(3)
    expect(stderr).toContain('is taken; --port 0 takes a free one')
  })

  test.each<[args: string[], said: string]>([
    [['--port', '65536'], 'It must be a port'],
    [['--login', 'geheim'], '--login must be id:password'],
    [['--login', ':geheim'], '--login must be id:password'],
    [['--claim', 'scope'], 'It must be name=value'],
    [['--lifetime', '5x'], 'It must be a time such as 30s, 5m, 2h or 1d'],
    [['--response', 'xml'], 'It must be text, json or json:field'],
    [['--issuer', ''], 'It must not be empty'],
    [['--config', 'nowhere.json'], 'cannot be read (ENOENT)'],
    [['--prot', '1'], 'Did you mean --port?'],
  ])('with %j', async (args, said) => {
    const { exitCode, stdout, stderr } = await runProgram(['serve', ...args])
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toContain(said)
    expect(stderr).not.toContain('geheim')
  })

  test.each<[text: string, said: string]>([
    ['{"logins":{"a":{"password":"geheim"}}', 'is not JSON'],
    ['[]', 'must be an object'],
    ['{"login":{}}', 'there is no "login", but $schema, issuer, audience,'],
    ['{"logins":{"a":{"password":5}}}', 'logins: "a": password must be a text'],
    ['{"logins":{"a":{}}}', 'logins: "a": password must be stated'],
    ['{"lifetime":"5m"}', 'lifetime must be a number of seconds'],
    ['{"response":"xml"}', 'response must be one of text, json'],
    ['{"audience":[1]}', 'audience: number 1 must be a text'],
    ['{"faults":[{"endpoint":"keys","kind":99}]}', 'the kind must be a status'],
    ['{"faults":[{"endpoint":"keys","kind":"stale-key"}]}', 'no key is stale before'],
    ['{"__proto__":{}}', 'there is no "__proto__"'],
  ])('with the configuration %s', async (text, said) => {
    const path = join(temporaryFolder(), 'serve.json')
    await writeFile(path, text)
    const { exitCode, stderr } = await runProgram(['serve', '--port', '0', '--config', path])
    expect(exitCode).toBe(2)
    expect(stderr).toContain(said)
    expect(stderr).not.toContain('geheim')
  })
})

describe('on another host', () => {
  test('it warns, prints a secret, and the other commands need it', async () => {
    await using at = await serving(['--host', '0.0.0.0'])
    expect(at.written.stderr).toContain('warning: on 0.0.0.0 others in the network can log in')
    const [, secret = ''] = /PORTCULLIS_SECRET=(\S+)/.exec(at.written.stderr) ?? []
    expect(secret.length).toBeGreaterThanOrEqual(32)
    expect(at.written.stderr).toContain(`console ${at.url}/ (any user; the password is`)
    const denied = await at.command('rotate')
    expect(denied.exitCode).toBe(3)
    expect(denied.stderr).toContain('the secret that `portcullis serve` printed is needed (401)')
    const env = { PORTCULLIS_SECRET: secret, PORTCULLIS_URL: at.url }
    const given = { env, fetch: globalThis.fetch, clock: systemClock }
    expect((await runProgram(['rotate'], given)).exitCode).toBe(0)
    expect((await at.command('health')).exitCode).toBe(0)
  })

  test('the secret can be given, and is not printed then', async () => {
    await using at = await serving(['--host', '0.0.0.0'], { PORTCULLIS_SECRET: 'geheim-geheim-16' })
    expect((await at.command('rotate')).exitCode).toBe(0)
    expect(at.written.stdout + at.written.stderr).not.toContain('geheim')
  })
})

const ask = async (url: string, token: string, credentials = 'orders:se:cret') =>
  await fetch(`${url}/introspect`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(credentials)}` },
    body: new URLSearchParams({ token }),
  })

test.each([[[]], [['--opaque', 'orders:secret']]])(
  'serve %j has metadata and a key set, by which discoverKeys finds its keys',
  async (args) => {
    await using at = await serving(args)
    const verifier = createVerifier({ keys: discoverKeys(at.url), issuer: null, audience: null })
    const { stdout } = await at.command('mint', '--claim', 'sub=ada')
    expect((await verifier.verify(stdout.trim())).claims.sub).toBe('ada')
    const explained = await runProgram(['explain', '--discover', at.url], {
      stdin: (await at.command('mint', '--claim', `iss=${at.url}`)).stdout,
      fetch: globalThis.fetch,
      clock: systemClock,
    })
    expect(explained.stdout).toMatch(/^ACCEPTED/)
    expect(at.written.stderr).toContain(`curl ${at.url}/.well-known/openid-configuration`)
    const { keys } = (await (await fetch(`${at.url}/tokenservice/jwks.json`)).json()) as {
      keys: unknown[]
    }
    expect(keys).toEqual([await (await fetch(`${at.url}/tokenservice/pubkey.json`)).json()])
  },
)

describe('serve --opaque', () => {
  test('brings opaque tokens, and says what they are to its clients alone', async () => {
    await using at = await serving(['--opaque', 'orders:se:cret', '--claim', 'scope=read'])
    expect(at.written.stderr).toContain(`curl -u client:secret -d token=... ${at.url}/introspect`)
    const token = await (await at.logIn('demo', 'demo')).text()
    expect(token).toMatch(/^opaque_[\w-]+$/)
    const said = await (await ask(at.url, token)).json()
    expect(said).toMatchObject({ active: true, iss: at.url, sub: 'demo', scope: 'read' })
    expect((await ask(at.url, token, 'orders:other')).status).toBe(401)
    const written = at.written.stdout + at.written.stderr
    expect(written).toContain('introspection  200  "orders"')
    expect(written).not.toMatch(new RegExp(`se:cret|${token}`))
  })

  test('is what explain asks, and its endpoint can fail', async () => {
    await using at = await serving(['--opaque', 'orders:secret'])
    const token = await (await at.logIn('demo', 'demo')).text()
    const explained = async () =>
      await runProgram(
        ['explain', '--discover', at.url, '--client-id', 'orders', '--client-secret-env', 'SECRET'],
        { env: { SECRET: 'secret' }, stdin: token, fetch: globalThis.fetch, clock: systemClock },
      )
    expect((await explained()).stdout).toMatch(/^ACCEPTED/)
    expect((await at.command('fault', 'introspection', '503')).exitCode).toBe(0)
    expect((await explained()).stdout).toMatch(/^UNDECIDED {2}unreachable {2}-> {2}503/)
  })

  test('takes the clients of a configuration, and tells where to ask in its ready line', async () => {
    const file = join(temporaryFolder(), 'serve.json')
    await writeFile(file, JSON.stringify({ opaque: { orders: { secret: 'secret' } } }))
    await using at = await serving(['--config', file, '--json'])
    const [ready = ''] = at.written.stdout.split('\n')
    expect(JSON.parse(ready)).toMatchObject({ introspectionUrl: `${at.url}/introspect` })
    const token = await (await at.logIn('demo', 'demo')).text()
    expect((await ask(at.url, token, 'orders:secret')).status).toBe(200)
  })

  test.each(['orders', 'orders:', ':secret'])('%s is no client: 2', async (client) => {
    const { exitCode, stderr } = await runProgram(['serve', '--opaque', client])
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringContaining('--opaque must be client:secret'),
    ])
  })
})

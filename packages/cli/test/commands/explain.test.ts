import { createHmac, createPublicKey } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import {
  createTestIssuer,
  dpopClient,
  introspectionService,
  manualClock,
  tokenService,
} from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { createProvider, FAULTS, ISSUER } from '../provider.ts'
import { type Given, type Outcome, runProgram } from '../run-program.ts'
import { wordsOf } from '../shell.ts'

const clock = manualClock()
const issuer = await createTestIssuer({ clock, issuer: 'https://auth.test' })
const service = tokenService(issuer)
const keys = ['--keys-url', service.keyUrl]

async function unreachable(): Promise<never> {
  return await Promise.reject(new TypeError('down'))
}

async function explained(
  token: string,
  args: readonly string[] = keys,
  given: Given = {},
): Promise<Outcome> {
  return await runProgram(['explain', ...args], {
    stdin: token,
    clock,
    fetch: service.fetch,
    ...given,
  })
}

test('a token that is accepted: 0, each check, and its claims as proven', async () => {
  const { exitCode, stdout, stderr } = await explained(await issuer.token())
  expect(stdout).toMatch(/^ACCEPTED\n\n {2}ok {4}form/)
  expect(stdout).toContain('  ok    signature   proven\n')
  expect(stdout).toContain(
    '--    issuer      not checked: no --issuer given; iss is "https://auth.test"',
  )
  expect(stdout).toContain('Claims, proven by the signature:')
  expect(stdout).toMatch(/^ {2}"exp": \d+,? \/\/ \d{4}-\d\d-\d\dT\S+Z, in 5 min$/m)
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
})

test('one that has expired: 1, the answer of a service, and what to do', async () => {
  const { exitCode, stdout } = await explained(await issuer.token({ expiresIn: -300 }))
  expect(stdout).toMatch(
    /^REFUSED {2}expired {2}-> {2}401 {2}Bearer realm="api", error="invalid_token"/,
  )
  expect(stdout).toMatch(/FAIL {2}exp {9}\S+, 5 min ago \(tolerance 5 s\)/)
  expect(stdout).toContain('What to do: log in again')
  expect(exitCode).toBe(1)
})

test('one of nobody: its claims stand under "not proven"', async () => {
  const stranger = await createTestIssuer({ clock })
  const { exitCode, stdout } = await explained(await stranger.token({ claims: { sub: 'eve' } }))
  const [before = '', after = ''] = stdout.split('Not proven, anybody can write this:')
  expect(before).not.toContain('eve')
  expect(after).toContain('"sub": "eve"')
  expect(before).toMatch(/FAIL {2}signature [^]*not proven, since no trusted key[^]* exp /)
  expect(exitCode).toBe(1)
})

test('without keys: 3', async () => {
  const { exitCode, stdout } = await explained(await issuer.token(), keys, { fetch: unreachable })
  expect(stdout).toMatch(/^UNDECIDED {2}unreachable {2}-> {2}503 {2}Retry-After: /)
  expect(stdout).toContain('not proven, since the signature was not checked:')
  expect(exitCode).toBe(3)
})

describe('with --revocations', () => {
  test('and no server: 3, the answer of an API in that state, and no password', async () => {
    const env = { REDIS_URL: 'redis://:geheim@127.0.0.1:1' }
    const args = [...keys, '--revocations']
    const { exitCode, stdout, stderr } = await explained(await issuer.token(), args, { env })
    expect(stdout).toMatch(/^UNDECIDED {2}stale {2}-> {2}503 {2}Retry-After: /)
    expect(stdout).toContain('  ok    signature   proven\n')
    expect(stderr).toMatch(/^revocations: no connection to the store of revocations/)
    expect(stdout + stderr).not.toContain('geheim')
    expect(exitCode).toBe(3)
  })

  test.each([['--revocations'], ['--stream', 'mine']])('%s and no URL: 2', async (...args) => {
    const { exitCode, stderr } = await explained(await issuer.token(), [...keys, ...args])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('state --redis-url or REDIS_URL')
  })
})

test('--share has no value of a claim, and no signature', async () => {
  const token = await issuer.token({
    expiresIn: -300,
    claims: { sub: 'secret', iss: 'https://secret.test', aud: 'secret' },
  })
  for (const form of [[], ['--json']]) {
    const args = [...keys, '--audience', 'api', '--issuer', 'https://auth.test', '--share', ...form]
    const { stdout, stderr } = await explained(token, args)
    expect(stdout).toContain('5 min ago')
    expect(stdout + stderr).not.toMatch(/secret|"exp":/)
    expect(stdout + stderr).not.toContain(token.split('.')[2])
  }
})

test('--json is an object with the version of its form', async () => {
  const { stdout } = await explained(await issuer.token({ expiresIn: -300 }), [...keys, '--json'])
  expect(JSON.parse(stdout)).toMatchObject({
    schemaVersion: 1,
    verdict: 'refused',
    refusal: { code: 'invalid_token', reason: 'expired', status: 401 },
    provenClaims: { iss: 'https://auth.test' },
  })
})

describe('hints', () => {
  test('a token of another environment', async () => {
    const staging = await createTestIssuer({ clock })
    const other = tokenService(staging)
    const { stdout } = await explained(
      await staging.token(),
      [...keys, '--other', 'staging=https://staging.test/keys.json'],
      {
        fetch: (async (url: string, init: RequestInit) =>
          url.startsWith('https://staging.test')
            ? await other.fetch(other.keyUrl, init)
            : await service.fetch(url, init)) as typeof globalThis.fetch,
      },
    )
    expect(stdout).toContain('of "staging" made the signature')
  })

  test('a MAC that is keyed with the public key', async () => {
    const [, payload = ''] = (await issuer.token()).split('.')
    const header = Buffer.from('{"alg":"HS512"}').toString('base64url')
    const pem = createPublicKey({ key: { ...issuer.publicJwk }, format: 'jwk' })
      .export({ type: 'spki', format: 'pem' })
      .toString()
    const mac = createHmac('sha512', pem).update(`${header}.${payload}`).digest('base64url')
    const { exitCode, stdout } = await explained(`${header}.${payload}.${mac}`)
    expect(stdout).toContain('keyed with the public key')
    expect(exitCode).toBe(1)
  })

  test('a clock that differs from that of the service', async () => {
    const fetch = async () =>
      Response.json(issuer.publicJwk, {
        headers: { date: new Date((clock.now() + 600) * 1000).toUTCString() },
      })
    const { stdout } = await explained(await issuer.token(), keys, { fetch })
    expect(stdout).toMatch(/clock of the token service is (?:600|599) s ahead of/)
  })
})

test('AUTH_URL says where the token service is', async () => {
  const env = { AUTH_URL: new URL('/', service.keyUrl).href }
  const { exitCode } = await explained(await issuer.token(), [], { env })
  expect(exitCode).toBe(0)
})

test.each<[what: string, args: readonly string[], said: string]>([
  ['no keys', [], 'state where the keys are'],
  ['two places of keys', [...keys, '--auth-url', 'https://a.test'], 'state one of --auth-url'],
  ['a key URL without https', ['--keys-url', 'http://a.test/k'], 'must begin with https:'],
  ['an algorithm that is none', [...keys, '--algorithm', 'HS256'], 'is not supported'],
  [
    'a tolerance that is no number',
    [...keys, '--clock-tolerance', 'much'],
    'It must be a time such as 30s',
  ],
  [
    'a tolerance that is too large',
    [...keys, '--clock-tolerance', '601'],
    '--clock-tolerance must be',
  ],
  ['other keys without a name', [...keys, '--other', 'https://a.test'], 'must be a name'],
  ['other keys named keys', [...keys, '--other', 'keys=a.json'], 'cannot be named keys'],
  ['two of one name', [...keys, '--other', 'a=a', '--other', 'a=b'], 'two --other are named a'],
  ['a name of an algorithm alone', [...keys, '--algorithm-name', 'RSA512'], 'and an algorithm'],
  ['a name for no algorithm', [...keys, '--algorithm-name', 'a=b'], '--algorithm-name must name'],
  ['a timeout that is too long', [...keys, '--timeout', '61'], '--timeout must be'],
  ['a key file that is none', ['--keys-file', import.meta.filename], 'neither JSON nor PEM'],
])('%s: 2, and what is wrong', async (_, args, said) => {
  const { exitCode, stdout, stderr } = await explained('a.b.c', args)
  expect(stderr).toContain(said)
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
})

describe('options of the verifier', () => {
  test.each<[flag: string, args: readonly string[], outcome: string]>([
    ['--required-claim', ['--required-claim', 'sub', '--required-claim', 'org'], 'missing_claim'],
    ['--max-token-age', ['--max-token-age', '60'], 'too_old'],
    ['--type', ['--type', 'at+jwt'], 'type'],
    ['--algorithm', ['--algorithm', 'ES256'], 'algorithm'],
  ])('%s', async (_, args, reason) => {
    const token = await issuer.token({ claims: { iat: clock.now() - 100 } })
    const { exitCode, stdout } = await explained(token, [...keys, ...args])
    expect(stdout).toMatch(new RegExp(`^REFUSED {2}${reason}`))
    expect(exitCode).toBe(1)
  })

  test.each([
    [['--required-claim', 'use=access'], { use: 'access' }, 0],
    [['--required-claim', 'use=access'], { use: 'id' }, 1],
    [['--required-claim', 'use=access'], { use: ['access'] }, 1],
    [['--required-claim', 'use=access', '--required-claim', 'use=job'], { use: 'job' }, 0],
    [['--required-claim', 'use=access', '--required-claim', 'use'], { use: 'id' }, 1],
    [['--required-claim', 'use=access', '--required-claim', 'org'], { use: 'access' }, 1],
    [['--required-claim', 'flag'], { flag: false }, 0],
    [
      ['--required-claim', 'use=access', '--required-claim', 'flag'],
      { use: 'access', flag: 'x' },
      0,
    ],
    [
      ['--required-claim', 'use=access', '--required-claim', 'flag'],
      { use: 'access', flag: false },
      1,
    ],
    [
      ['--required-claim', 'use=access', '--required-claim', 'flag'],
      { use: 'access', flag: ['x'] },
      1,
    ],
    [['--required-claim', 'flag=a=b'], { flag: 'a=b' }, 0],
    [['--required-claim', '__proto__=a'], {}, 1],
  ])('%j of a token with %j: %j', async (args, claims, code) => {
    const token = await issuer.token({ claims })
    expect((await explained(token, [...keys, ...args])).exitCode).toBe(code)
  })

  test('--required-claim with a name alone: the refusal and the help say what a value beside it changes', async () => {
    const token = await issuer.token({ claims: { use: 'access', flag: 'false' } })
    const args = ['--required-claim', 'use=access', '--required-claim', 'flag']
    const { stdout } = await explained(token, [...keys, ...args])
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
      '--required-claim: "flag" is a string; where true is required',
    )
    const help = await runProgram(['explain', '--help'])
    expect(help.stdout.replaceAll(/\s+/g, ' ')).toContain(
      'beside such a value, a name alone is { name: true }, which also refuses false, null, 0',
    )
  })

  test('--type that is repeated accepts each', async () => {
    const types = ['--type', 'wit+jwt', '--type', 'txntoken+jwt']
    const listed = await issuer.token({ header: { typ: 'txntoken+jwt' } })
    const other = await issuer.token({ header: { typ: 'wpt+jwt' } })
    expect((await explained(listed, [...keys, ...types])).exitCode).toBe(0)
    expect((await explained(other, [...keys, ...types])).exitCode).toBe(1)
    expect((await explained(listed, keys)).exitCode).toBe(1)
  })

  test('--no-require-expiry accepts a token without exp', async () => {
    const token = await issuer.token({ omit: ['exp'] })
    expect((await explained(token)).exitCode).toBe(1)
    expect((await explained(token, [...keys, '--no-require-expiry'])).exitCode).toBe(0)
  })

  test('--algorithm-name gives another name a meaning, in the header and in the key', async () => {
    const fetch = async () =>
      await Promise.resolve(Response.json({ ...issuer.publicJwk, alg: 'RSA512' }))
    const [, payload = ''] = (await issuer.token()).split('.')
    const token = `${Buffer.from('{"alg":"RSA512"}').toString('base64url')}.${payload}.AAAA`
    const args = [...keys, '--algorithm-name', 'RSA512=RS512']
    const { stdout } = await explained(token, args, { fetch })
    expect(stdout).toContain('"RSA512", which means RS512')
    expect(stdout).toContain('published at')
  })
})

test('a token in hand with a key file: nothing tells of clocks, and it says so', async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'key.json')
  await writeFile(path, JSON.stringify(issuer.publicJwk))
  const { stdout } = await explained(await issuer.token({ expiresIn: -60 }), ['--keys-file', path])
  expect(stdout).toMatch(/Hint: whether the clock of the token service differs/)
})

test('colour is for terminals alone, and NO_COLOR turns it off', async () => {
  const token = await issuer.token()
  const inTerminal = await explained(token, keys, { isTerminal: true })
  expect(inTerminal.stdout).toContain('\u{1b}[32mACCEPTED')
  // Neither dim nor yellow, which cannot be read on white.
  expect(inTerminal.stdout).toContain('\n  --    nbf')
  expect(inTerminal.stdout).not.toContain('\u{1b}[33m')
  for (const given of [{ isTerminal: true, env: { NO_COLOR: '1' } }, { isTerminal: false }]) {
    expect((await explained(token, keys, given)).stdout).not.toContain('\u{1b}')
  }
})

describe('a token that is bound to a key', async () => {
  const client = await dpopClient({ clock })
  const token = await issuer.token({ boundTo: client })

  test('is refused as a bearer token: what it is bound to, and what to do', async () => {
    const { exitCode, stdout } = await explained(token)
    expect(stdout).toMatch(/^REFUSED {2}binding {2}-> {2}401 {2}Bearer /)
    expect(stdout).toContain(`Hint: it is bound to the key ${client.jkt.slice(0, 8)}`)
    expect(stdout).toMatch(/What to do: send it with a proof .*\s+under\s+the\s+scheme\s+DPoP/)
    expect(exitCode).toBe(1)
  })

  test.each([[['--share']], [['--share', '--json']]])(
    'is shared without its key: %j',
    async (args) => {
      const { stdout } = await explained(token, [...keys, ...args])
      expect(stdout).toMatch(/bound\s+to\s+a\s+key/)
      expect(stdout).not.toContain(client.jkt.slice(0, 8))
    },
  )

  test.each<[title: string, args: readonly string[], exitCode: number]>([
    ['with a proof of that key is accepted', ['--jkt', client.jkt], 0],
    ['with a proof of another key is refused', ['--jkt', 'a'.repeat(43)], 1],
    ['with a certificate alone is refused', ['--x5t-s256', client.jkt], 1],
    ['is accepted where confirmations are ignored', ['--confirmation', 'ignore'], 0],
  ])('%s', async (_, args, exitCode) => {
    expect((await explained(token, [...keys, ...args])).exitCode).toBe(exitCode)
  })

  test('is read from the header of a request', async () => {
    const args = [...keys, '--jkt', client.jkt]
    const { exitCode, stderr } = await explained(`Authorization: DPoP ${token}`, args)
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr: 'read without: Authorization:, DPoP\n',
    })
  })

  test.each<[what: string, args: readonly string[], said: string]>([
    ['a thumbprint that is none', ['--jkt', 'key.json'], '--jkt must be a thumbprint'],
    ['another word', ['--confirmation', 'never'], '--confirmation must be'],
  ])('%s: 2, and what is wrong', async (_, args, said) => {
    const { exitCode, stderr } = await explained(token, [...keys, ...args])
    expect(stderr).toContain(said)
    expect(exitCode).toBe(2)
  })
})

describe('with --discover', async () => {
  const provider = await createProvider(clock)
  const token = await provider.issuer.token()
  const discover = ['--discover', ISSUER, '--audience', 'api']
  const fetch = provider.fetchWith()

  test('the keys are those that the metadata name, and iss must be the issuer', async () => {
    const { exitCode, stdout } = await explained(token, discover, { fetch })
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(`published at ${provider.keyUrl}`)
    expect(stdout).toContain(`ok    issuer      iss is "${ISSUER}"`)
    expect(exitCode).toBe(0)
    const other = await provider.issuer.token({ claims: { iss: 'https://a.test' } })
    const refused = await explained(other, discover, { fetch })
    expect(refused.stdout).toMatch(/^REFUSED {2}issuer /)
    const stated = [...discover, '--issuer', 'https://a.test']
    expect((await explained(other, stated, { fetch })).exitCode).toBe(0)
  })

  test.each(FAULTS)('metadata or keys %s: that is said, and 3', async (_, faults, said) => {
    const given = { fetch: provider.fetchWith(faults), env: { AUTH_URL: 'https://auth.test' } }
    const { exitCode, stdout } = await explained(token, discover, given)
    expect(stdout).toMatch(/^UNDECIDED/)
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(said)
    expect(exitCode).toBe(3)
    // The command that it advises says the same.
    const command = stdout.split('\n').find((line) => line.startsWith('  portcullis keys')) ?? ''
    const next = await runProgram(await wordsOf(command), { ...given, clock })
    expect(next.stdout.replaceAll(/\s+/g, ' ')).toMatch(said)
  })

  test('an issuer without metadata: 3, and that to wait does not help', async () => {
    const nowhere = ['--discover', 'https://other.example.com/']
    const { exitCode, stdout } = await explained(token, nowhere, { fetch })
    const said = stdout.replaceAll(/\s+/g, ' ')
    expect(said).toContain('Hint: this issuer has no metadata (404 at each place)')
    expect(said).toContain('What to do: compare the issuer with `iss` of a token.')
    expect(said).toContain('state --auth-url (a token service with one key) or --keys-url')
    expect(said).not.toMatch(/repeat the request|OPERATING/)
    expect(exitCode).toBe(3)
  })

  test('an issuer that is down: the guide of core, by its package', async () => {
    const down = { fetch: unreachable }
    const { stdout } = await explained(token, discover, down)
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
      'See OPERATING.md#the-key-endpoint-is-down of @portcullis/core.',
    )
    expect(stdout).not.toContain('no metadata')
  })

  test.each([
    [
      'a URL of metadata',
      `${ISSUER}/.well-known/openid-configuration`,
      'the issuer must be without',
    ],
    ['http of another machine', 'http://a.test', 'must begin with https: (--allow-insecure'],
  ])('%s: 2, and what is wrong', async (_, issuerStated, said) => {
    const { exitCode, stderr } = await explained(token, ['--discover', issuerStated], { fetch })
    expect(stderr).toContain(said)
    expect(exitCode).toBe(2)
  })
})

describe('without a place of keys', async () => {
  const provider = await createProvider(clock)
  const token = await provider.issuer.token()

  test('the command that is suggested runs as it is printed, and nothing is fetched before', async () => {
    const fetch = provider.fetchWith()
    const { exitCode, stdout, stderr } = await explained(token, ['--audience', 'api'], { fetch })
    expect({ exitCode, stdout, asked: provider.asked }).toEqual({
      exitCode: 2,
      stdout: '',
      asked: [],
    })
    expect(stderr).toContain('which anybody can write')
    const command = stderr.split('\n').find((line) => line.startsWith('  portcullis ')) ?? ''
    expect(command).toBe(`  portcullis explain --discover ${ISSUER} --audience api`)
    const next = await runProgram(await wordsOf(command), { stdin: token, clock, fetch })
    expect([next.exitCode, next.stdout]).toEqual([0, expect.stringMatching(/^ACCEPTED/)])
    expect(provider.asked).toEqual([provider.metadataUrl, provider.keyUrl])
  })

  test('what a token writes never reaches the terminal as a control', async () => {
    const evil = await provider.issuer.token({ claims: { iss: 'https://a.test/\u{1b}[2J' } })
    const { exitCode, stdout, stderr } = await explained(evil, [], { isTerminal: true })
    expect(stdout + stderr).not.toContain('\u{1b}[2J')
    expect(stderr).not.toContain('--discover https')
    expect(exitCode).toBe(2)
  })
})

test('the command that looks at keys has what else was stated about fetching them', async () => {
  const place = ['--keys-url', 'http://a.test/k', '--allow-insecure']
  const others = ['--timeout', '2', '--algorithm-name', 'RSA512=RS512']
  const given = { fetch: unreachable }
  const { stdout } = await explained(await issuer.token(), [...place, ...others], given)
  const command = stdout.split('\n').find((line) => line.startsWith('  portcullis ')) ?? ''
  expect((await wordsOf(command)).toSorted()).toEqual(
    ['keys', 'http://a.test/k', '--allow-insecure', ...others].toSorted(),
  )
  const next = await runProgram(await wordsOf(command), { clock, ...given })
  expect([next.exitCode, next.stdout]).toEqual([3, expect.stringContaining('FAIL  unreachable')])
})

test('other keys that cannot be had: that is said', async () => {
  const fetch = (async (url: string, init: RequestInit) =>
    url.startsWith('https://qa.test')
      ? new Response('', { status: 500 })
      : await service.fetch(url, init)) as typeof globalThis.fetch
  const { stdout } = await explained(
    await issuer.token(),
    [...keys, '--other', 'qa=https://qa.test/keys'],
    { fetch },
  )
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
    'Hint: the keys of --other qa cannot be used: the key URL answered 500',
  )
})

describe('an opaque token', () => {
  const opaque = introspectionService(issuer)
  const asking = ['--introspection-url', opaque.introspectionUrl, '--issuer', 'https://auth.test']
  const secret = ['--client-id', 'api', '--client-secret-env', 'SECRET']
  const given = { env: { SECRET: 'secret' }, fetch: opaque.fetch }
  const questions = () =>
    issuer.requests().filter(({ endpoint }) => endpoint === 'introspection').length

  test('that is active: 0, and the claims that the issuer states', async () => {
    const token = opaque.issue({ claims: { sub: 'ada' } })
    const { exitCode, stdout, stderr } = await explained(token, [...asking, ...secret], given)
    expect(stdout).toMatch(/^ACCEPTED\n\n {2}the issuer says that it is active\n/)
    expect(stdout).toMatch(/Claims, as the issuer states them:\n[^]*"sub": "ada"/)
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  })

  test('is found by the metadata, with the secret of a file', async () => {
    const file = join(temporaryFolder(), 'secret')
    await writeFile(file, 'secret\n')
    const args = ['--discover', opaque.authUrl, '--client-id', 'api', '--client-secret-file', file]
    const { exitCode } = await explained(opaque.issue(), args, given)
    expect(exitCode).toBe(0)
  })

  test('that nobody has issued: 1, the answer of a service, and what to do', async () => {
    const { exitCode, stdout } = await explained('invented', [...asking, ...secret], given)
    expect(stdout).toMatch(/^REFUSED {2}inactive {2}-> {2}401 {2}Bearer realm="api"/)
    expect(stdout).toContain('the issuer says that the token is not active')
    expect(stdout).toContain('What to do: log in again, once.')
    expect(exitCode).toBe(1)
  })

  test('is not what begins as a JWT in a way that readers pass over: the issuer is not asked', async () => {
    const before = questions()
    const header = Buffer.from(`${' '.repeat(100)}{"alg":"RS512"}`).toString('base64url')
    const { exitCode } = await explained(`${header}.e30.c2ln`, [...asking, ...secret], given)
    expect(exitCode).not.toBe(0)
    expect(questions()).toBe(before)
  })

  test('for another audience: 1', async () => {
    const token = opaque.issue({ claims: { aud: 'orders' } })
    const args = [...asking, ...secret, '--audience', 'invoices']
    const { exitCode, stdout } = await explained(token, args, given)
    expect(stdout).toMatch(/^REFUSED {2}audience /)
    expect(exitCode).toBe(1)
  })

  test('whose issuer refuses the client: 3, and no secret anywhere', async () => {
    const env = { SECRET: 'geheim' }
    const token = opaque.issue()
    for (const format of [[], ['--json']]) {
      const args = [...asking, ...secret, ...format]
      const { exitCode, stdout, stderr } = await explained(token, args, { ...given, env })
      expect(stdout).toContain('refuses this API as its client (401)')
      expect(stdout + stderr).not.toMatch(new RegExp(`geheim|${token}`))
      expect(exitCode).toBe(3)
    }
  })

  test('that is bound to a key: 0 with --jkt, 1 without', async () => {
    const client = await dpopClient({ clock, algorithm: 'ES256' })
    const token = opaque.issue({ boundTo: client })
    const args = [...asking, ...secret]
    expect((await explained(token, args, given)).stdout).toMatch(/^REFUSED {2}binding /)
    const proven = await explained(token, [...args, '--jkt', client.jkt], given)
    expect(proven.exitCode).toBe(0)
  })

  test('as JSON, and with --share without claims', async () => {
    const token = opaque.issue({ claims: { sub: 'ada' } })
    const args = [...asking, ...secret, '--json']
    const { stdout } = await explained(token, args, given)
    expect(JSON.parse(stdout)).toMatchObject({
      schemaVersion: 1,
      verdict: 'accepted',
      opaque: true,
      claims: { sub: 'ada' },
    })
    const shared = await explained(token, [...args, '--share'], given)
    expect(shared.stdout).not.toContain('ada')
  })

  test('without a client: what it is, and how to ask', async () => {
    const before = questions()
    const withKeys = await explained(opaque.issue(), keys)
    expect(withKeys.stdout).toMatch(/Hint: This is no JWT\. If it is an opaque token, only its/)
    expect(withKeys.exitCode).toBe(1)
    const without = await explained(opaque.issue(), [])
    expect(without.stderr).toContain('state who asks, with --client-id')
    expect([without.exitCode, questions()]).toEqual([2, before])
  })

  test('is what a JWT never is: nobody is asked about a forged one', async () => {
    const stranger = await createTestIssuer({ clock })
    const before = questions()
    const args = [...keys, ...secret]
    const { exitCode } = await explained(await stranger.token(), args, given)
    expect([exitCode, questions()]).toEqual([1, before])
  })

  test.each([
    {
      args: ['--client-id', 'api'],
      says: 'state where to ask: --introspection-url, or --discover',
    },
    {
      args: [...asking, '--client-id', 'api'],
      says: 'needs --client-secret-env or --client-secret-file',
    },
    { args: [...asking, ...secret, '--issuer', 'b'], says: 'state one --issuer' },
    {
      args: [...asking, ...secret, '--client-secret-file', 'a'],
      says: 'state one of --client-sec',
    },
    { args: [...asking, '--client-id', 'api', '--client-secret-env', 'NO'], says: 'NO is not set' },
  ])('wrong options: 2, $says', async ({ args, says }) => {
    const { exitCode, stderr } = await explained('opaque', args, given)
    expect(stderr).toContain(says)
    expect(exitCode).toBe(2)
  })
})

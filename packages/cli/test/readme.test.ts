import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

import { authenticateRequest, createVerifier, refusal } from '@portcullis/core'
import { systemClock } from '@portcullis/kit/time'
import { createTestIssuer, tokenService } from '@portcullis/testing'
import { Command } from 'commander'
import { expect, test } from 'vitest'

import { takesVerifierFlags } from '../src/input/verifier-flags.ts'
import { createProvider } from './provider.ts'
import { runProgram } from './run-program.ts'
import { serving } from './serving.ts'

// The command lines of README.md and SERVE.md, and what the first shows of a report.

const [readme, guide] = ['README.md', 'SERVE.md'].map((name) =>
  readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'),
) as [string, string]
const [[ofProvider = [], keysOfProvider = [], first = []] = [], [piped = []] = []] =
  commandsOf(readme)
const [commands = []] = commandsOf(guide)
const [, sample = ''] = /```\n(BREACH.*?)```/s.exec(readme) ?? []

/** For each piece of code that is pasted into a shell, the words of its lines. */
function commandsOf(text: string): readonly (readonly string[][])[] {
  return [...text.matchAll(/```sh\n(.*?)```/gs)].map(([, code = '']) =>
    code
      .trimEnd()
      .split('\n')
      .map((line) => line.replace(/ +#.*/, '').replaceAll('npx @portcullis/cli ', '').split(' ')),
  )
}

test('the first two lines are about an identity provider: a token of it, and its keys', async () => {
  const provider = await createProvider(systemClock)
  const [words = '', file] = ofProvider.join(' ').split(' < ')
  expect(file).toBe('token.txt')
  const given = { fetch: provider.fetchWith(), clock: systemClock }
  const stdin = await provider.issuer.token({ claims: { aud: 'https://api.example.com' } })
  const explained = await runProgram(words.split(' '), { ...given, stdin })
  expect([explained.exitCode, explained.stdout]).toEqual([0, expect.stringMatching(/^ACCEPTED/)])
  expect(await runProgram(keysOfProvider, given)).toMatchObject({ exitCode: 0 })
})

test('the third line explains a token from a file', async () => {
  const issuer = await createTestIssuer()
  const service = tokenService(issuer)
  const [words = '', file] = first.join(' ').split(' < ')
  expect(file).toBe('token.txt')
  const args = words.replace('https://auth.example.com', service.authUrl).split(' ')
  const stdin = `${await issuer.token()}\n`
  const { exitCode, stdout } = await runProgram(args, {
    stdin,
    fetch: service.fetch,
    clock: systemClock,
  })
  expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^ACCEPTED/)])
})

test('every flag for an option of a verifier is named', () => {
  const flags = takesVerifierFlags(new Command()).options.map(({ long }) => long ?? '')
  expect(flags).toContain('--issuer')
  expect(
    flags.filter((flag) => !new RegExp(`\`${flag}[ \`]`).test(readme)),
    'add these to "The options of a verifier" in packages/cli/README.md',
  ).toEqual([])
})

test('the line with a pipe explains a token of a service on this machine', async () => {
  const [mint = '', explain = ''] = piped.join(' ').split(' | ')
  await using at = await serving([])
  const { stdout: stdin } = await at.command(...mint.split(' '))
  const { exitCode, stdout } = await runProgram(
    explain.replace('http://127.0.0.1:4010', at.url).split(' '),
    { stdin, fetch, clock: systemClock },
  )
  expect([exitCode, stdout]).toEqual([1, expect.stringMatching(/^REFUSED {2}expired/)])
})

test('each line about a token service does something', async () => {
  const [[serve, ...args] = [], ...others] = commands
  expect([serve, others.length]).toEqual(['serve', 4])
  await using at = await serving(args)
  expect((await at.logIn('ada', 'secret')).status).toBe(200)
  for (const words of others) {
    // What follows a log would go on; that it does is tested with `log`.
    const command = words.filter((word) => word !== '-f')
    const { exitCode, stdout, stderr } = await at.command(...command)
    expect({ command, exitCode, said: stdout + stderr }).toEqual({
      command,
      exitCode: 0,
      said: expect.stringMatching(/\S/) as unknown,
    })
  }
})

test('a report has the lines that are shown', async () => {
  const issuer = await createTestIssuer()
  const { keyUrl, fetch } = tokenService(issuer)
  const good = await issuer.token()
  const verifier = createVerifier(issuer.verifierOptions)
  const unsigned = Buffer.from('{"alg":"none').toString('base64url')
  async function answer(request: IncomingMessage): Promise<ReturnType<typeof refusal>> {
    const { authorization = '' } = request.headers
    // Its one mistake.
    if (authorization.startsWith(`Bearer ${unsigned}`) && !authorization.endsWith('.'))
      return undefined
    try {
      await authenticateRequest(verifier, request)
      return undefined
    } catch (error) {
      return refusal(error)
    }
  }
  const api = createServer((request, response) => {
    void (async () => {
      const refused = await answer(request)
      response.writeHead(refused?.status ?? 200, refused?.headers).end()
    })()
  }).listen(0, '127.0.0.1')
  await once(api, 'listening')
  const { port } = api.address() as AddressInfo // it listens on a port
  const url = `http://127.0.0.1:${port}/v1/me`
  const { stdout } = await runProgram(['probe', url, '--env', 'TOKEN', '--keys-url', keyUrl], {
    env: { TOKEN: good },
    clock: systemClock,
    fetch: async (input, init) => await (input === keyUrl ? fetch : globalThis.fetch)(input, init),
  })
  api.close()
  const printed = stdout.replaceAll(url, 'https://api.example.com/v1/me').split('\n')
  const lines = sample.trimEnd().split('\n')
  expect(lines).toHaveLength(10)
  expect(lines.filter((line) => !printed.includes(line))).toEqual([])
})

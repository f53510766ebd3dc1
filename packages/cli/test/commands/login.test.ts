import { createTestIssuer, tokenService } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { type Given, runProgram } from '../run-program.ts'

const issuer = await createTestIssuer({ algorithm: 'ES256' })
const service = tokenService(issuer)
const authUrl = new URL('/', service.keyUrl).href
const clock = {
  now: () => Date.now() / 1000,
  monotonic: () => performance.now() / 1000,
  after: () => () => undefined,
}
const PASSWORD = 'demo'

async function loggedIn(args: readonly string[], given: Given = {}) {
  const common = ['login', '--auth-url', authUrl, '--id', 'demo']
  return await runProgram([...common, ...args], { clock, fetch: service.fetch, ...given })
}

describe('prints the token alone, with a password', () => {
  test.each<[where: string, args: readonly string[], given: Given, said: string]>([
    ['of the environment', ['--password-env', 'P'], { env: { P: PASSWORD } }, ''],
    ['on stdin', ['--password-stdin'], { stdin: `${PASSWORD}\n` }, ''],
    ['in an argument, with a warning', ['--password', PASSWORD], {}, 'note: the password is seen'],
    ['typed at the prompt', [], { stdin: 'dxm\u{7f}\u{7f}emo\r', isTerminal: true }, 'Password: '],
  ])('%s', async (_, args, given, said) => {
    const { exitCode, stdout, stderr } = await loggedIn(args, given)
    expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/)
    expect(exitCode).toBe(0)
    expect(stderr).toContain(said)
    expect(stderr).not.toContain('demo')
  })
})

test('a wrong password is refused with 1, and is shown nowhere', async () => {
  const { exitCode, stdout, stderr } = await loggedIn(['--password-stdin'], { stdin: 'hunter2' })
  expect(stderr).toContain('credentials_rejected')
  expect(stdout + stderr).not.toContain('hunter2')
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
})

test('Ctrl-C at the prompt ends with 130', async () => {
  const { exitCode, stdout } = await loggedIn([], { stdin: 'de\u{3}', isTerminal: true })
  expect({ exitCode, stdout }).toEqual({ exitCode: 130, stdout: '' })
})

test.each<[what: string, args: readonly string[], said: string]>([
  ['no password and no terminal', [], 'stdin is no terminal'],
  ['two sources', ['--password-stdin', '--password-env', 'P'], 'state one of'],
  ['an empty password', ['--password-stdin'], 'the password is empty'],
  ['a variable that is not set', ['--password-env', 'P'], 'P is not set'],
])('%s: 2, and what is wrong', async (_, args, said) => {
  const { exitCode, stdout, stderr } = await loggedIn(args)
  expect(stderr).toContain(said)
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
})

test('--dpop: 2, and why a bound token alone is of no use', async () => {
  const { exitCode, stdout, stderr } = await loggedIn(['--dpop', '--password-stdin'], {
    stdin: 'demo',
  })
  expect(stderr).toContain('its key would be gone')
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
})

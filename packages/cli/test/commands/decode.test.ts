import { createTestIssuer, manualClock } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { runProgram } from '../run-program.ts'

const issuer = await createTestIssuer({ algorithm: 'ES256' })
const token = await issuer.token({ claims: { sub: 'ada' } })

test('shows header and payload on stdout, and says on stderr that nothing is checked', async () => {
  const { exitCode, stdout, stderr } = await runProgram(['decode'], { stdin: `${token}\n` })
  expect(JSON.parse(stdout)).toMatchObject({ header: { alg: 'ES256' }, payload: { sub: 'ada' } })
  expect(stderr).toContain('Nothing of this is checked')
  expect(exitCode).toBe(0)
})

test('says on stderr what its times mean, and leaves stdout JSON', async () => {
  const clock = manualClock(1_795_647_600)
  const other = await createTestIssuer({ clock, lifetime: 240 })
  const stdin = await other.token({ claims: { auth_time: 1_795_644_000 } })
  const { stdout, stderr } = await runProgram(['decode'], { stdin, clock })
  expect(JSON.parse(stdout)).toMatchObject({ payload: { exp: 1_795_647_840 } })
  expect(stderr).toContain('exp 1795647840: 2026-11-25T23:04:00Z, in 4 min\n')
  expect(stderr).toContain('iat 1795647600: 2026-11-25T23:00:00Z, 0 s ago\n')
  expect(stderr).toContain('auth_time 1795644000: 2026-11-25T22:00:00Z, 1 h ago\n')
})

test('never shows the signature', async () => {
  const { stdout, stderr } = await runProgram(['decode'], { stdin: token })
  expect(stdout + stderr).not.toContain(token.split('.')[2])
})

describe('reads the token', () => {
  test.each([
    ['from a header line', `Authorization: Bearer ${token}\r\n`, 'Authorization:, Bearer'],
    [
      'from a curl option',
      `-H "authorization: bearer ${token}"`,
      '-H, quotes, Authorization:, Bearer',
    ],
    ['from a JSON string', `"${token}"`, 'quotes'],
  ])('%s, and says what it took off', async (_, stdin, stripped) => {
    const { exitCode, stderr } = await runProgram(['decode'], { stdin })
    expect(stderr).toContain(`read without: ${stripped}\n`)
    expect(exitCode).toBe(0)
  })

  test('from an environment variable, without a word of process lists', async () => {
    const { exitCode, stderr } = await runProgram(['decode', '--env', 'T'], { env: { T: token } })
    expect(stderr).not.toContain('note:')
    expect(exitCode).toBe(0)
  })

  test('from an argument, with a word of process lists', async () => {
    const { exitCode, stderr } = await runProgram(['decode', token])
    expect(stderr).toContain('note: arguments are seen by other users')
    expect(exitCode).toBe(0)
  })
})

test.each<[what: string, args: readonly string[], exitCode: number, said: string]>([
  ['two sources', ['decode', 'a.b.c', '--env', 'T'], 2, 'state one of'],
  ['a variable that is not set', ['decode', '--env', 'T'], 2, 'T is not set'],
  [
    'a file that is not there',
    ['decode', '--file', 'nowhere.txt'],
    2,
    'nowhere.txt cannot be read (ENOENT)',
  ],
  ['nothing', ['decode'], 2, 'the input is empty'],
  ['no token', ['decode', 'a.b'], 1, 'it has no three parts'],
  ['an encrypted token', ['decode', 'a.b.c.d.e'], 1, 'it is encrypted (JWE)'],
  ['no JSON', ['decode', 'a.b.c'], 1, 'its header is not'],
  ['a command that is misspelt', ['decod'], 2, 'Did you mean decode?'],
  ['an option that is misspelt', ['decode', '--flie', 'x'], 2, 'Did you mean --file?'],
])('of %s says what is wrong', async (_, args, exitCode, said) => {
  const outcome = await runProgram(args)
  expect(outcome.stderr).toContain(said)
  expect(outcome).toMatchObject({ exitCode, stdout: '' })
})

test('what a token says cannot reach the terminal as a control character', async () => {
  const hostile = await issuer.token({ claims: { sub: '\u{9b}2J\u{202e}\u{7}' } })
  const { stdout } = await runProgram(['decode'], { stdin: hostile })
  expect(stdout).toContain(String.raw`\u009b2J\u202e\u0007`)
})

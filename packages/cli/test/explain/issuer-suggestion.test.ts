import { describe, expect, test } from 'vitest'

import { namedIssuer, suggestion } from '../../src/explain/issuer-suggestion.ts'
import { wordsOf } from '../shell.ts'

function tokenOf(iss: unknown): string {
  return `e30.${Buffer.from(JSON.stringify({ iss })).toString('base64url')}.AAAA`
}

test.each([
  'https://tenant.eu.auth0.com/',
  'https://kc.example.com/realms/shop',
  'http://127.0.0.1:3005',
  "https://a.example/';id;'$(id)`id`",
])('%s is suggested, in a command that a shell reads so', async (iss) => {
  const text = suggestion(tokenOf(iss), undefined, { args: ['explain', '--json'], env: {} })
  const command = text?.split('\n')[1] ?? ''
  expect(await wordsOf(command)).toEqual(['explain', '--discover', iss, '--json'])
})

test.each<[what: string, iss: unknown]>([
  ['none', undefined],
  ['no text', ['https://a.example']],
  ['no URL', 'acme'],
  ['http of another machine', 'http://a.example'],
  ['another scheme', 'file:///etc/passwd'],
  ['a user, who looks like a host', 'https://login.example.com@evil.example'],
  ['a query', 'https://a.example/?a'],
  ['controls of a terminal', 'https://a.example/\u{1b}[2J\u{1b}]0;x\u{7}'],
  ['a line', 'https://a.example/\nrm -rf'],
  ['text from right to left', 'https://a.example/\u{202e}moc'],
  ['letters that look like others', 'https://\u{430}.example'],
  ['a space', 'https://a.example/ --allow-insecure'],
  ['too long', `https://a.example/${'a'.repeat(300)}`],
])('an iss that is %s: none is suggested', (_, iss) => {
  expect(namedIssuer(tokenOf(iss))).toBeUndefined()
})

test.each(['', 'a', 'a.b', 'a.%%%.c', `a.${Buffer.from('[]').toString('base64url')}.c`])(
  'of %j, which is no token, none is suggested',
  (text) => {
    expect(suggestion(text, undefined, { args: ['explain'], env: {} })).toBeUndefined()
  },
)

describe('the command', () => {
  const iss = 'https://login.example.com'
  const token = tokenOf(iss)

  test.each([
    [['explain', token, '--audience', 'api'], ['--audience', 'api'], true],
    [['explain', '--file', 'my token.txt'], ['--file', 'my token.txt'], false],
    [['explain', '--env=TOKEN', '--share'], ['--env=TOKEN', '--share'], false],
  ])('repeats what was stated but the token: %#', async (args, rest, readsStdin) => {
    const text = suggestion(token, token, { args, env: {} }) ?? ''
    expect(text).not.toContain(token)
    expect(await wordsOf(text.split('\n')[1] ?? '')).toEqual([
      'explain',
      '--discover',
      iss,
      ...rest,
    ])
    expect(text.includes('stdin')).toBe(readsStdin)
  })
})

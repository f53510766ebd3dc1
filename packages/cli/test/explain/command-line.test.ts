import { expect, test } from 'vitest'

import { commandLine } from '../../src/explain/command-line.ts'
import { wordsOf } from '../shell.ts'

test.each([
  ['nothing to quote', ['keys', '--discover', 'https://login.example.com/realms/a:1']],
  [
    'what a shell would run',
    ['keys', 'a b', '$(id)', '`id`', ';id', "it's", "''", '', '*', '~', '!!', '#'],
  ],
])('a shell reads the words again: %s', async (_, words) => {
  expect(await wordsOf(commandLine(words, {}) ?? '')).toEqual(words)
})

test('within npx it is a command of npx', () => {
  expect(commandLine(['doctor'], { npm_command: 'exec' })).toBe('npx @portcullis/cli doctor')
  expect(commandLine(['doctor'], { npm_command: 'run-script' })).toBe('portcullis doctor')
})

test.each(['a\u{1b}[2J', 'a\nb', 'a\u{202e}b', 'a\u{0}'])(
  'a word that a terminal does not show as it is: there is no command, %j',
  (word) => {
    expect(commandLine(['keys', word], {})).toBeUndefined()
  },
)

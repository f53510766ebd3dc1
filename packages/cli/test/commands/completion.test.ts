import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

import { describe, expect, test } from 'vitest'

import { runProgram } from '../run-program.ts'

async function scriptFor(shell: string): Promise<string> {
  const { exitCode, stdout } = await runProgram(['completion', shell])
  expect(exitCode).toBe(0)
  return stdout
}

test.each(['bash', 'zsh', 'fish'])(
  'the script for %s has each command with its options',
  async (shell) => {
    const script = await scriptFor(shell)
    for (const word of ['explain', 'probe', 'doctor', 'rollback', 'clear']) {
      expect(script).toContain(word)
    }
    expect(script).toMatch(shell === 'fish' ? /explain' -l audience/ : /--audience/)
  },
)

test('another shell: 2, and which there are', async () => {
  const { exitCode, stderr } = await runProgram(['completion', 'tcsh'])
  expect(stderr).toContain('bash, zsh, fish')
  expect(exitCode).toBe(2)
})

describe('in bash', () => {
  test.each<[typed: readonly string[], expected: readonly string[]]>([
    [['exp'], ['explain']],
    [['explain', '--aud'], ['--audience']],
    [['fault', 'cl'], ['clear']],
    [['completion', 'z'], ['zsh']],
    [['nothing', '--'], []],
  ])('%j is completed to %j', async (typed, expected) => {
    const words = ['portcullis', ...typed].map((word) => `'${word}'`).join(' ')
    const ask = `COMP_WORDS=(${words}); COMP_CWORD=${typed.length}; _portcullis; printf '%s\\n' "\${COMPREPLY[@]}"`
    const script = `${await scriptFor('bash')}\n${ask}`
    const { stdout } = await promisify(execFile)('bash', ['-c', script])
    expect(stdout.split('\n').filter((line) => line !== '')).toEqual(expected)
  })
})

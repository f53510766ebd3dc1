import { expect, test } from 'vitest'

import { runProgram } from '../run-program.ts'

const { stdout: help } = await runProgram(['--help'])
const names = [...help.matchAll(/^ {2}(?<name>[a-z]+) /gm)].flatMap(({ groups }) =>
  groups?.['name'] === undefined || groups['name'] === 'help' ? [] : [groups['name']],
)

test('the help lists the commands', () => {
  expect(names).toEqual(expect.arrayContaining(['serve', 'explain', 'keys', 'probe', 'doctor']))
})

test.each([['help'], ['-h'], ['--help', '--help'], ['help', 'help'], ['help', '--help']])(
  '%s %s prints the same help, in the width of the terminal',
  async (...args) => {
    const { exitCode, stdout } = await runProgram(args)
    expect(stdout).toBe(help)
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
    expect(exitCode).toBe(0)
  },
)

test('without a command the same help is a mistake, and not data', async () => {
  expect(await runProgram([])).toMatchObject({ exitCode: 2, stdout: '', stderr: help })
})

test.each(names)('the help of %s has examples, and fits 80 columns', async (name) => {
  const { exitCode, stdout } = await runProgram([name, '--help'])
  expect(stdout).toMatch(/^Examples:\n {2}\S/m)
  expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
  expect(exitCode).toBe(0)
})

test.each(names)('the help says the same of the arguments of %s in both places', async (name) => {
  const { stdout } = await runProgram([name, '--help'])
  const [, usage = ''] = new RegExp(`^Usage: portcullis ${name} (.*)$`, 'm').exec(stdout) ?? []
  const [, listed = ''] = new RegExp(`^ {2}${name} (\\S+(?: \\S+)*)`, 'm').exec(help) ?? []
  expect(withoutWords(listed)).toBe(withoutWords(usage))
})

test.each<[typed: readonly string[], meant: string]>([
  [['explan'], 'explain'],
  [['prob'], 'probe'],
  [['help', 'explan'], 'explain'],
  [['help', 'keyz', 'more'], 'keys'],
  [['key'], 'keys'],
  [['explain', '--audiense', 'a'], '--audience'],
  [['keys', '--timeot', '1'], '--timeout'],
])('%j is a mistake, and %s is what was meant', async (typed, meant) => {
  const { exitCode, stdout, stderr } = await runProgram(typed)
  expect(stderr).toContain(`Did you mean ${meant}?`)
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
})

test.each(['completion', 'login', 'rollback', 'watch'])('there is no command %s', async (name) => {
  const { exitCode, stdout, stderr } = await runProgram([name])
  expect(stderr).toMatch(new RegExp(`^error: unknown command '${name}'\n`))
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
})

test('of a command that there is not, help says so', async () => {
  const { exitCode, stdout, stderr } = await runProgram(['help', 'foo'])
  expect(stderr).toBe("error: unknown command 'foo'\n(--help shows what there is)\n")
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
})

test('of a command that there is, help prints its help', async () => {
  const { stdout } = await runProgram(['help', 'mint'])
  expect(stdout).toMatch(/^Usage: portcullis mint /)
  expect(stdout).toBe((await runProgram(['mint', '--help'])).stdout)
})

/** A command that has commands of its own says so where its own help is. */
function withoutWords(text: string): string {
  return text.replaceAll(/\[(?:options|command)\] ?/g, '')
}

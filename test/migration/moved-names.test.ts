import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test, vi } from 'vitest'

import { temporaryFolder } from '../temporary-folder.ts'
import { asCandidate, FOLLOWING, MOVED } from './moved-names.ts'
import { peers } from './peers.ts'

// What UPGRADING.md says to paste, on an application that used the old names, and on those that used none of them.

const here = import.meta.dirname
const after = readFileSync(join(here, 'candidate', 'after.ts'), 'utf8')

/** A file of a folder after the commands, in a shell. */
function followed(text: string): string {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'src'))
  writeFileSync(join(folder, 'src', 'service.ts'), text)
  execFileSync('bash', ['-euc', FOLLOWING], { cwd: folder })
  return readFileSync(join(folder, 'src', 'service.ts'), 'utf8')
}

/** With a line for each name that it imports. */
function broken(text: string): string {
  return text.replaceAll(/^import \{ (.*) \} from/gm, (_, names: string) =>
    ['import {', ...names.split(', ').map((name) => `  ${name},`), '} from'].join('\n'),
  )
}

test('the application uses each name of the table', () => {
  expect(MOVED.length).toBeGreaterThan(20)
  const lines = asCandidate(after).split('\n')
  const code = lines.filter((line) => !line.startsWith('import ')).join('\n')
  const unused = MOVED.filter(({ was }) => !new RegExp(`\\b${was}\\b`).test(code))
  expect(unused).toEqual([])
})

// Each line of the table starts some programs, which a busy machine may take long for.
vi.setConfig({ testTimeout: 120_000 })

test('the commands make of the application with the old names the one with the new names', () => {
  expect(followed(asCandidate(after))).toBe(after)
})

test('they do the same where a list of imports has a line for each name', () => {
  expect(followed(broken(asCandidate(after)))).toBe(broken(after))
})

test('they change nothing twice', () => {
  expect(followed(after)).toBe(after)
})

test('a name of another package is left, also if it is the same word', () => {
  const text =
    "import { refusal } from '@portcullis/core'\nimport { type Phase } from './phase.ts'\n"
  expect(followed(text)).toBe(text)
})

test('the applications that came from other packages used none of these names, and stay as they are', () => {
  const folder = temporaryFolder()
  const names = peers.map(({ name }) => name.replace('@', '').replace('/', '-'))
  for (const name of names) cpSync(join(here, name), join(folder, 'src', name), { recursive: true })
  execFileSync('bash', ['-euc', FOLLOWING], { cwd: folder })
  const files = names.flatMap((name) => [join(name, 'before.ts'), join(name, 'after.ts')])
  const changed = files.filter(
    (file) =>
      readFileSync(join(folder, 'src', file), 'utf8') !== readFileSync(join(here, file), 'utf8'),
  )
  expect(changed).toEqual([])
})

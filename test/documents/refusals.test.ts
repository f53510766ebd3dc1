import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { AuthError, authErrorReasons } from '@portcullis/core'
import { expect, test } from 'vitest'

import { root } from '../../docs/entries.ts'
import { tableUnder } from './markdown.ts'

const clientReadme = read('packages/client/README.md')
const clientSource = read('packages/client/src/answer/errors.ts')

test('no wording of a refusal is in the types that are exported, so each may change', () => {
  const reports = globSync('docs/api/*.md', { cwd: root }).map(read)
  const texts = Object.entries(authErrorReasons).flatMap(([code, reasons]) =>
    reasons.map((reason) => errorOf(code, reason).message),
  )
  expect(reports.join('')).toContain("invalid_nonce'")
  expect(texts.filter((text) => reports.some((report) => report.includes(text)))).toEqual([])
})

test('the error codes of packages/client/README.md are those of its errors.ts, in order', () => {
  expect(tableUnder(clientReadme, 'Errors', 'code').rows.map(([code = '']) => code)).toEqual(
    codesOfClient(clientSource).map((code) => `\`${code}\``),
  )
  expect(codesOfClient(clientSource).length).toBeGreaterThan(4)
})

/** @throws TypeError if the code has no such reason. */
function errorOf(code: string, reason: string): AuthError {
  const pair = [code, reason, { scope: 'a' }] as ConstructorParameters<typeof AuthError>
  return new AuthError(...pair)
}

function codesOfClient(code: string): readonly string[] {
  const [, body = ''] = /^export type TokenClientErrorCode =(.*?)\n\n/ms.exec(code) ?? []
  return literalsOf(withoutComments(body))
}

function literalsOf(code: string): readonly string[] {
  return [...code.matchAll(/'(\w+)'/g)].map(([, literal = '']) => literal)
}

function withoutComments(code: string): string {
  return code.replaceAll(/\/\*.*?\*\/|\/\/[^\n]*/gs, '')
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

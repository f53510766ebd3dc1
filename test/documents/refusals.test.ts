import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { AuthError, authErrorReasons } from '@portcullis/core'
import { expect, test } from 'vitest'

import { root } from '../../docs/entries.ts'
import { codeSpans, tableUnder } from './markdown.ts'

const guide = read('packages/core/ERRORS.md')
const clientReadme = read('packages/client/README.md')
const clientSource = read('packages/client/src/answer/errors.ts')

test('the challenge of each code in ERRORS.md is that of its refusals', () => {
  expect(complaints(guide)).toEqual([])
})

test.each<[what: string, guide: string, complaint: string]>([
  [
    'another challenge',
    guide.replace('with `error="invalid_request"`', 'with `error="invalid_token"`'),
    'invalid_request: the challenge has no error="invalid_token"',
  ],
  [
    'a challenge where there is none',
    guide.replace('none; `Retry-After`', '`Bearer`'),
    'keys_unavailable: the challenge has no Bearer',
  ],
  [
    'no challenge where there is one',
    guide.replace('with `error="invalid_request"`', 'none'),
    'invalid_request: there is a challenge',
  ],
  [
    'an error code that is not mentioned',
    guide.replace('with `error="invalid_request"`', 'yes'),
    'invalid_request: the error code is not mentioned',
  ],
  [
    'a code without one',
    guide.replace('with `error="invalid_request"`', ''),
    'invalid_request: it says nothing',
  ],
])('%s is found', (_, text, complaint) => {
  expect(complaints(text)).toContain(complaint)
})

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

function complaints(text: string): readonly string[] {
  const { rows } = tableUnder(text, 'Refusals', 'code')
  return rows.flatMap(([cell = '', , challenge = '']) => {
    const code = codeSpans(cell).join()
    const [, reasons = []] = Object.entries(authErrorReasons).find(([name]) => name === code) ?? []
    const found = reasons.flatMap((reason) => challengeComplaints(challenge, errorOf(code, reason)))
    return found.map((complaint) => `${code}: ${complaint}`)
  })
}

/** What the column says of the headers: each piece of code is in them, and `none` means no challenge. */
function challengeComplaints(cell: string, { headers }: AuthError): readonly string[] {
  const challenge = headers['WWW-Authenticate']
  if (cell === '') return ['it says nothing']
  if (cell.startsWith('none') && challenge !== undefined) return ['there is a challenge']
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const mentionsError = cell.includes('error=')
  return [
    ...codeSpans(cell)
      .filter((code) => !lines.join('\n').includes(code))
      .map((code) => `the challenge has no ${code}`),
    ...(challenge?.includes('error=') === true && !mentionsError
      ? ['the error code is not mentioned']
      : []),
  ]
}

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

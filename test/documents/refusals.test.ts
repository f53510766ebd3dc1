import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { AuthError } from '@portcullis/core'
import { expect, test } from 'vitest'

import { codeSpans, tableUnder } from './markdown.ts'

const guide = read('packages/core/ERRORS.md')
const source = read('packages/core/src/refusal/refusals.ts')
const clientReadme = read('packages/client/README.md')
const clientSource = read('packages/client/src/errors.ts')

test('the refusals of ERRORS.md are those of refusals.ts: codes, statuses, challenges and reasons, in order', () => {
  expect(reasonsOf(source).size).toBeGreaterThan(4)
  expect(complaints(guide, source)).toEqual([])
})

test.each<[what: string, guide: string, source: string, complaint: string]>([
  [
    'a reason that the table lacks',
    guide.replace('`too_old`, ', ''),
    source,
    'invalid_token: the row lacks too_old',
  ],
  [
    'a reason that is new in the code',
    guide,
    source.replace("| 'too_old'", "| 'too_old'\n    | 'too_new'"),
    'invalid_token: the row lacks too_new',
  ],
  [
    'a reason that the code lacks',
    guide,
    source.replace("    | 'too_old'\n", ''),
    'invalid_token: the code has no too_old',
  ],
  [
    'a code that the table lacks',
    guide.replace(/^\| `invalid_request`.*\n/m, ''),
    source,
    'the codes differ',
  ],
  [
    'another order',
    guide.replace('`missing_nonce`, `invalid_nonce`', '`invalid_nonce`, `missing_nonce`'),
    source,
    'use_dpop_nonce: the order in the code is missing_nonce,invalid_nonce',
  ],
  [
    'another status',
    guide.replace('| 503 ', '| 502 '),
    source,
    'keys_unavailable: the status differs',
  ],
  [
    'another challenge',
    guide.replace('with `error="invalid_request"`', 'with `error="invalid_token"`'),
    source,
    'invalid_request: the challenge has no error="invalid_token"',
  ],
  [
    'a challenge where there is none',
    guide.replace('none; `Retry-After`', '`Bearer`'),
    source,
    'keys_unavailable: the challenge has no Bearer',
  ],
  [
    'an error code that is not mentioned',
    guide.replace('with `error="invalid_request"`', 'yes'),
    source,
    'invalid_request: the error code is not mentioned',
  ],
  [
    'a described reason among those before the signature',
    guide.replace('; proven: `expired`', ', `expired`; proven:'),
    source,
    'invalid_token: the client learns of expired',
  ],
])('%s is found', (_, text, code, complaint) => {
  expect(complaints(text, code)).toContain(complaint)
})

test('the error codes of packages/client/README.md are those of its errors.ts, in order', () => {
  expect(tableUnder(clientReadme, 'Errors', 'code').rows.map(([code = '']) => code)).toEqual(
    codesOfClient(clientSource).map((code) => `\`${code}\``),
  )
  expect(codesOfClient(clientSource).length).toBeGreaterThan(4)
})

function complaints(text: string, code: string): readonly string[] {
  const { rows } = tableUnder(text, 'Refusals', 'code')
  const expected = reasonsOf(code)
  const codes = rows.map(([cell = '']) => codeSpans(cell).join())
  if (codes.join() !== [...expected.keys()].join()) return ['the codes differ']
  return rows.flatMap(([cell = '', status = '', challenge = '', reasons = '']) => {
    const name = codeSpans(cell).join()
    const [stated, known] = [codeSpans(reasons), expected.get(name) ?? []]
    const errors = stated
      .filter((reason) => known.includes(reason))
      .map((reason) => errorOf(name, reason))
    return [
      ...differences(stated, known),
      ...(errors.some((error) => String(error.status) !== status) ? ['the status differs'] : []),
      ...errors.flatMap((error) => challengeComplaints(challenge, error)),
      ...learned(reasons, errors).map((reason) => `the client learns of ${reason}`),
    ].map((complaint) => `${name}: ${complaint}`)
  })
}

function differences(stated: readonly string[], known: readonly string[]): readonly string[] {
  const lacking = known.filter((reason) => !stated.includes(reason))
  const unknown = stated.filter((reason) => !known.includes(reason))
  // Each by itself, so that one that is new is a complaint of the first test alone.
  if (lacking.length + unknown.length > 0) {
    return [
      ...lacking.map((reason) => `the row lacks ${reason}`),
      ...unknown.map((reason) => `the code has no ${reason}`),
    ]
  }
  return stated.join() === known.join() ? [] : [`the order in the code is ${known.join()}`]
}

/** What the column says of the headers: each piece of code is in them, and `none` means no challenge. */
function challengeComplaints(cell: string, { headers }: AuthError): readonly string[] {
  const challenge = headers['WWW-Authenticate']
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

/** Reasons that are said to be from before the signature is proven, and are told to the client all the same. */
function learned(cell: string, errors: readonly AuthError[]): readonly string[] {
  const [, unproven = ''] = /not proven:([^;]*)/.exec(cell) ?? []
  const said = codeSpans(unproven)
  return errors
    .filter((error) => said.includes(error.reason) && 'reason' in error.toJSON())
    .map(({ reason }) => reason)
}

/** @throws TypeError if the code has no such reason. */
function errorOf(code: string, reason: string): AuthError {
  const pair = [code, reason, { scope: 'a' }] as ConstructorParameters<typeof AuthError>
  return new AuthError(...pair)
}

/** The type from which the compiler makes sure that the table of refusals is complete. */
function reasonsOf(code: string): ReadonlyMap<string, readonly string[]> {
  const [, body = ''] = /^export interface AuthErrorReasons \{\n(.*?)^\}/ms.exec(code) ?? []
  const members = withoutComments(body).split(/^ {2}(?=\w+:)/m)
  return new Map(
    members
      .map((member) => [member.split(':')[0] ?? '', literalsOf(member)] as const)
      .filter(([, reasons]) => reasons.length > 0),
  )
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
  return readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8')
}

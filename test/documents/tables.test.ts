import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { root } from '../../docs/entries.ts'
import { declarationsOf } from '../../docs/options.ts'
import { documentsOf } from '../../docs/pages.ts'
import { partsOf } from '../../docs/parts.ts'
import { ExplainedError, TokenClientError } from '../../packages/client/src/answer/errors.ts'
import { type OAuthError, oauthErrors } from '../../packages/client/src/oauth/oauth-error.ts'
import { FRAMEWORKS } from '../../packages/metrics/src/words.ts'
import { GUARDING } from '../frameworks/packages.ts'
import { codeSpans, tableUnder } from './markdown.ts'

// Tables are written from declarations, whose types say which options there are. Here, that the code does what comments and tables
// by hand say beside that.

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const readAll = (pattern: string) => globSync(pattern, { cwd: root }).map(read)

/** What the code names, or leaves to a function of another package, instead of a value beside the option. */
const NAMED = new Set(['property', 'respond', 'clientAuthentication', 'stream', 'type'])
const defaults = [...new Set(documentsOf().flatMap((path) => partsOf(read(path))))]
  .filter((part) => /^(?:own-)?options /.test(part))
  .flatMap((part) => {
    const [, name = '', ...interfaces] = part.split(' ')
    return [...declarationsOf(name, ...interfaces)].flatMap(([option, { stated = '' }]) => {
      const [value] = /^(?:\d[\d_]*|true|'[^']*'|\{.*\})/.exec(stated) ?? []
      return value === undefined || NAMED.has(option)
        ? []
        : [[name, option, value, interfaces] as const]
    })
  })

const plain = (text: string) => text.replaceAll(/(?<=\d)_(?=\d)/g, '')

test.each(defaults)(
  '%s: %s is %s by default, as its comment says',
  (name, option, value, interfaces) => {
    const all = readAll(`packages/{${name},core}/src/**/*.ts`).map((source) =>
      plain(source.replaceAll(/\/\*\*[\s\S]*?\*\//g, '')),
    )
    // Others may have an option of that name, with another default: what names the interface decides, if it has one.
    const uses = new RegExp(`\\b(?:${interfaces.join('|')})\\b`)
    const sets = new RegExp(`\\b${option}(?:: \\w+)?(?: =| \\?\\?) `)
    const own = all.filter((source) => uses.test(source))
    const isOwn = own.some((source) => sets.test(source))
    const sources = (isOwn ? own : all).join('\n')
    const isObject = value.startsWith('{')
    const pairs = isObject
      ? [...value.matchAll(/(\w+): ([\w']+)/g)].map(
          ([, member = '', of = '']) => [member, of] as const,
        )
      : [[option, value] as const]
    for (const [member, of] of pairs) {
      const set = `\\b${member}(?:: \\w+)?(?: =| \\?\\?${isObject ? '|:' : ''})`
      expect(sources).toMatch(new RegExp(`${set} ${plain(of)}(?!\\w)`))
      const another = new RegExp(`${set} (?!${plain(of)}\\b)\\d`)
      expect(isOwn && !isObject && another.test(sources)).toBe(false)
    }
  },
)

test.each(
  tableUnder(read('packages/client/OAUTH.md'), 'Errors', 'code').rows.flatMap(
    ([codes = '', status]) => codeSpans(codes).map((code) => [code, status] as const),
  ),
)('packages/client/OAUTH.md: %s is %s', (code, status) => {
  const toError = oauthErrors(true)
  const refused = toError(
    new ExplainedError('credentials_rejected', 'no', { reason: code }),
  ) as OAuthError
  const failed = new TokenClientError(code as TokenClientError['code'], 'no')
  expect(refused.code === code ? refused : toError(failed)).toMatchObject({
    code,
    status: Number(status),
  })
})

test('what each guard and endpoint calls itself is a word of the label, so that its refusals are not counted as other', () => {
  const called = /check(?:Guard|Endpoint)Options\([^)]*?'(?<name>[\w-]+)'\)/g
  const names = readAll('packages/*/src/**/*.ts').flatMap((text) =>
    [...text.matchAll(called)].map(({ groups }) => groups?.['name'] ?? ''),
  )
  expect(names).toEqual(expect.arrayContaining([...GUARDING, 'mcp-express', 'mcp-fetch']))
  expect(names.filter((name) => !Object.hasOwn(FRAMEWORKS.words, name))).toEqual([])
})

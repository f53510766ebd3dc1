import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { authErrorReasons } from '@portcullis/core'
import { describe, expect, test } from 'vitest'

import { root } from '../../docs/entries.ts'
import { withRefusals } from '../../docs/errors-guide.ts'
import { ERRORS } from '../../docs/sections.ts'
import { writtenFiles } from '../../docs/written.ts'

// What `pnpm write` writes is in the repository as it would write it now. docs/api is compared by `pnpm api --check`.

const read = (path: string) => readFileSync(join(root, path), 'utf8')

test.each(writtenFiles())('$path is as its sources say: run `pnpm write`', ({ path, text }) => {
  expect(existsSync(join(root, path)) && read(path)).toBe(text)
})

describe('ERRORS.md is written', () => {
  const guide = read(ERRORS)
  const written = (text: string) => withRefusals(text, read('packages/core/OPERATING.md'))

  test.each([
    ['a reason that the table of codes lacks', '`too_old`, ', ''],
    [
      'a reason that a client may not read among those that it may',
      '`expired`',
      '`signature`, `expired`',
    ],
    ['another status', '| 503 ', '| 502 '],
    ['a row that a code lacks', /^.*invalid_token-revoked.*\n/m, ''],
    [
      'a row of a reason that there is not',
      /^(.*)invalid_token-revoked(.*\n)/m,
      '$1invalid_token-invented$2$&',
    ],
    ['another meaning', '`exp` has passed', '`exp` has not passed'],
    ['another advice', 'Ask the issuer: there is no option', 'Do nothing'],
    ['a link with another text', '[Rotating a key]', '[Keys]'],
  ])('over %s', (_, found, change) => {
    const changed = guide.replace(found, change)
    expect(changed).not.toBe(guide)
    expect(written(changed)).toBe(guide)
  })

  test('with a row for each code, whose challenge is for somebody to write', () => {
    const without = guide.replace(/^\| `use_dpop_nonce`.*\n/m, '')
    expect(written(without)).toMatch(/^\| `use_dpop_nonce` +\| 401 +\| +\| `missing_nonce`/m)
  })

  test('and its own sentences stay', () => {
    const sentence = 'This sentence is somebody else’s.'
    expect(written(`${guide}\n${sentence}\n`)).toBe(`${guide}\n${sentence}\n`)
  })

  test('not without a section of each code, which somebody has to write', () => {
    expect(() => written(guide.replace('### use_dpop_nonce', '### other'))).toThrow(
      'write "### use_dpop_nonce"',
    )
  })
})

/** As `git ls-files` would list them, but for what is built. */
const files = globSync(
  '{docs,examples,packages,test}/**/*.{html,js,json,md,mjs,svelte,ts,tsx,yml}',
  {
    cwd: root,
    exclude: (path) => /(?:^|\/)(?:node_modules|dist|build|site|\.\w+)(?:\/|$)/.test(path),
  },
)

test.each(['invalid_token', 'invalid_dpop_proof'] as const)(
  'all reasons of %s are by hand in two sources and in the test of their sentences, and nowhere else',
  (code) => {
    const words = authErrorReasons[code].map((reason) => new RegExp(`\\b${reason}\\b`))
    const listed = files.filter((path) => {
      const text = read(path)
      return words.every((word) => word.test(text))
    })
    const written = new Set(writtenFiles().map(({ path }) => path))
    expect(
      listed.filter((path) => !path.startsWith('docs/api/') && !written.has(path)).toSorted(),
      'let `pnpm write` write it, or take `authErrorReasons`',
    ).toEqual([
      'packages/core/src/explain/advice-table.ts',
      'packages/core/src/refusal/refusals.ts',
      'packages/core/test/refusal/reasons.test.ts',
    ])
  },
)

test('docs/wide-changes.md lists at most 12 places of a reason that are by hand, and each is there', () => {
  const [, section = ''] =
    /^## A reason to refuse\n([\s\S]*?)^## /m.exec(read('docs/wide-changes.md')) ?? []
  const places = [...section.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, path = '']) => path)
  expect(places.length).toBeGreaterThan(2)
  expect(places.length).toBeLessThanOrEqual(12)
  expect(places.filter((path) => !existsSync(join(root, path)))).toEqual([])
})

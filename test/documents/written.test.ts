import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { authErrorReasons } from '@portcullis/core'
import { expect, test } from 'vitest'

import { root } from '../../docs/entries.ts'
import { excerptOf } from '../../docs/excerpts.ts'
import { faultsOfMistakes, messagesIn } from '../../docs/mistakes.ts'
import { documentsOf } from '../../docs/pages.ts'
import { partsOf, withParts, wordsOf } from '../../docs/parts.ts'
import { ERRORS, MISTAKES } from '../../docs/sections.ts'
import { MAKERS, writtenFiles } from '../../docs/written.ts'
import { refusals } from '../../packages/core/src/refusal/refusals.ts'

// What `pnpm write` writes is in the repository as it would write it now, so that each file is also what its maker is compared
// with. docs/api is compared by .ci/run.

const read = (path: string) => readFileSync(join(root, path), 'utf8')

test.each(writtenFiles())('$path is as its sources say: run `pnpm write`', ({ path, text }) => {
  expect(existsSync(join(root, path)) && read(path)).toBe(text)
})

const list = (...words: readonly string[]) => words.join(', ')

test('a part of a document is written anew, has no words of somebody, and needs a maker and an end', () => {
  const text = 'By hand.\n\n<!-- written: list one two -->\nold\n<!-- end -->\n\nBy hand, too.\n'
  const written = withParts(text, { list })
  expect(written).toBe(text.replace('\nold\n', '\n\none, two\n\n'))
  expect(wordsOf(written)).toEqual({ byHand: 5, written: 2 })
  expect(() => withParts(text, {})).toThrow('nothing makes <!-- written: list one two -->')
  expect(() => withParts(text.replace('<!-- end -->', ''), { list })).toThrow('no <!-- end -->')
})

test('an excerpt is a region that a source has, and names that it imports', () => {
  const source = 'test/frameworks/apps/koa.ts'
  expect(excerptOf(source, 'routes', 'import', 'describeRoutes', 'refusal', 'assertGuarded')).toBe(
    `\`\`\`ts
import { refusal } from '@portcullis/core'
import { describeRoutes } from '@portcullis/koa/routes'
import { assertGuarded } from '@portcullis/testing'

assertGuarded(describeRoutes(app), { open: ['GET /health'], before: ['logger'] })
\`\`\``,
  )
  expect(() => excerptOf(source, 'other')).toThrow('there is no region other')
  expect(() => excerptOf(source, 'routes', 'import', 'other')).toThrow('nothing imports other')
})

test('everything that can be written is in a document, and each code in ERRORS.md below its heading', () => {
  const parts = documentsOf().flatMap((path) => partsOf(read(path)))
  const used = new Set(parts.map((part) => part.split(' ')[0]))
  expect(Object.keys(MAKERS).filter((name) => !used.has(name))).toEqual([])
  for (const code of Object.keys(refusals))
    expect(read(ERRORS)).toMatch(
      new RegExp(`^### ${code}\n(?:(?!#).*\n)*<!-- written: reasons ${code} -->`, 'm'),
    )
})

test('each TypeError of a package has a row in MISTAKES.md, and each row is what its source says', () => {
  expect(faultsOfMistakes(read(MISTAKES))).toEqual([])
  expect(faultsOfMistakes('').length).toBeGreaterThan(90)
})

test('messages of a source are found with their parts left out', () => {
  const code = `
    throw new TypeError('a: it\\'s wrong')
    throw new TypeError(\`\${name}: takes \${count === 1 ? 'one' : \`\${count}\`}; see \${{ a: 1 }.a}\`)
    throw new TypeError(explained('b'))
    throw new TypeError(complaint)`
  expect(messagesIn(code)).toEqual(["a: it's wrong", '…: takes …; see …', 'b', '…'])
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
    const written = new Set(writtenFiles().map(({ path }) => path))
    const listed = files.filter((path) => {
      if (path.startsWith('docs/api/') || written.has(path)) return false
      const text = read(path)
      return words.every((word) => word.test(text))
    })
    expect(listed.toSorted(), 'let `pnpm write` write it, or take `authErrorReasons`').toEqual([
      'packages/core/src/explain/advice-table.ts',
      'packages/core/src/refusal/refusals.ts',
      'packages/core/test/refusal/reasons.test.ts',
    ])
  },
)

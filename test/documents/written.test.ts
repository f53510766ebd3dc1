import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

import { authErrorReasons } from '@portcullis/core'
import { describe, expect, test } from 'vitest'

import { root } from '../../docs/entries.ts'
import { documentsOf } from '../../docs/pages.ts'
import { partsOf, tableOf, withParts, wordsOf } from '../../docs/parts.ts'
import { ERRORS } from '../../docs/sections.ts'
import { skillOf } from '../../docs/skills.ts'
import { MAKERS, writtenFiles } from '../../docs/written.ts'
import { refusals } from '../../packages/core/src/refusal/refusals.ts'
import { manifestPaths } from '../publishing/published.ts'

// What `pnpm write` writes is in the repository as it would write it now. docs/api is compared by .ci/run.

const read = (path: string) => readFileSync(join(root, path), 'utf8')

test.each(writtenFiles())('$path is as its sources say: run `pnpm write`', ({ path, text }) => {
  expect(existsSync(join(root, path)) && read(path)).toBe(text)
})

describe('a part of a document', () => {
  const text = 'By hand.\n\n<!-- written: list one two -->\nold\n<!-- end -->\n\nBy hand, too.\n'
  const makers = { list: (...words: readonly string[]) => words.join(', ') }

  test('is what is made for its name, and everything around it stays', () => {
    const written = withParts(text, makers)
    expect(written).toBe(text.replace('\nold\n', '\n\none, two\n\n'))
    expect(withParts(written, makers)).toBe(written)
    expect(partsOf(text)).toEqual(['list one two'])
  })

  test('that nothing makes, or that has no end, is an error', () => {
    expect(() => withParts(text, {})).toThrow('nothing makes <!-- written: list one two -->')
    expect(() => withParts(text.replace('<!-- end -->', ''), makers)).toThrow('has no <!-- end -->')
  })

  test('has no words of somebody', () => {
    const words = wordsOf(
      'One, `two` and three.\n\n<!-- written: list -->\n| four | 5 |\n<!-- end -->\n| - |\n',
    )
    expect(words).toEqual({ byHand: 4, written: 2 })
  })
})

describe('ERRORS.md', () => {
  const guide = read(ERRORS)

  test('has the table of codes, and a part for each code below its heading', () => {
    expect(partsOf(guide)).toEqual([
      'codes',
      ...Object.keys(refusals).map((code) => `reasons ${code}`),
    ])
    for (const code of Object.keys(refusals))
      expect(guide).toMatch(
        new RegExp(`^### ${code}\n(?:(?!#).*\n)*<!-- written: reasons ${code} -->`, 'm'),
      )
  })

  test('is written over what has changed in any part', () => {
    const changed = guide.replaceAll(/^\| <a id=.*\n/gm, '').replace('| 503 ', '| 502 ')
    expect(changed).not.toBe(guide)
    expect(withParts(changed, MAKERS)).toBe(guide)
  })

  test('has no table of a code that there is not', () => {
    const invented = guide.replace('reasons use_dpop_nonce', 'reasons invented')
    expect(() => withParts(invented, MAKERS)).toThrow('there is no code invented')
  })
})

test('a cell of a table escapes what would end it', () => {
  expect(tableOf(['a', 'b'], [['c', 'd | e']])).toBe(
    '| a | b |\n| --- | --- |\n' + String.raw`| c | d \| e |` + '\n',
  )
})

test('everything that can be written is in a document', () => {
  const parts = documentsOf().flatMap((path) => partsOf(read(path)))
  const used = new Set(parts.map((part) => part.split(' ')[0]))
  expect(Object.keys(MAKERS).filter((name) => !used.has(name))).toEqual([])
})

test('SKILL.md of core is for the whole family, has what an agent needs, and is short; each other leads to it', () => {
  const folders = manifestPaths.map((path) => basename(dirname(path)))
  const skill = skillOf('core', folders)
  expect(skill).toMatch(/^---\nname: portcullis\ndescription: ".{40,1024}"\n---\n\n# Portcullis\n/)
  for (const folder of folders) expect(skill).toContain(`- \`@portcullis/${folder}\`: `)
  expect(skill.match(/^```\w+$/gm)).toEqual(expect.arrayContaining(['```sh', '```ts']))
  expect(skill).not.toMatch(/\]\(/)
  expect(skill.split(/\s+/).length).toBeLessThan(1600)
  expect(skillOf('express', folders)).toMatch(/^.*@portcullis\/core\/SKILL\.md.*\n$/)
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

test('docs/tour.md lists at most 12 places of a reason that are by hand', () => {
  const [, section = ''] =
    /^### A reason to refuse\n([\s\S]*?)^### /m.exec(read('docs/tour.md')) ?? []
  const places = section.match(/^\d+\. `[^`]+`/gm) ?? []
  expect(places.length).toBeGreaterThan(2)
  expect(places.length).toBeLessThanOrEqual(12)
})

import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import type { Verifier } from '@portcullis/core'
import * as providers from '@portcullis/providers'
import { afterAll, expect, test } from 'vitest'

import { wordsOf } from '../../docs/parts.ts'
import { writtenExamples } from './examples.ts'
import { blocksOf, linksOf } from './markdown.ts'

// The pages of the providers: their code as it stands, and what each must have.

const folder = fileURLToPath(new URL('../../packages/providers/', import.meta.url))
const examples = writtenExamples('.provider-pages')
const pages = globSync('*.md', { cwd: join(folder, 'docs') }).toSorted()
const read = (page: string) => readFileSync(join(folder, 'docs', page), 'utf8')

afterAll(() => {
  examples.remove()
})

test.each(pages)(
  '%s: the verifier of "How to test" accepts the token of that section',
  async (page) => {
    const code = blocksOf(read(page)).filter(({ language }) => language === 'ts')
    const { tested, token } = (await examples.run(
      basename(page, '.md'),
      code.map((block) => block.code).join('\n'),
    )) as { tested: Verifier; token: string } // the page exports them, or `verify` is no function
    await expect(tested.verify(token)).resolves.toMatchObject({ token })
  },
)

test.each(pages)(
  '%s leads to the README, which says how to install, and where its verifier goes',
  (page) => {
    const [head = ''] = read(page).split('\n## ')
    expect(head).toContain('`@portcullis/providers`')
    const readme = readFileSync(join(folder, 'README.md'), 'utf8')
    expect(readme).toContain('npm install @portcullis/core @portcullis/providers')
    expect(readme).toContain('`authenticate(verifier)`')
  },
)

test.each(pages)('%s has from 150 to 500 words by hand', (page) => {
  const { byHand } = wordsOf(read(page))
  expect(byHand).toBeGreaterThanOrEqual(150)
  expect(byHand).toBeLessThanOrEqual(500)
})

test('the README: without a token its example answers 401', async () => {
  const text = readFileSync(join(folder, 'README.md'), 'utf8')
  const code = blocksOf(text).find(({ language }) => language === 'ts')?.code ?? ''
  const { answer } = (await examples.run('readme', code)) as {
    answer: (request: Request) => Promise<Response> // or the test fails at the call
  }
  expect((await answer(new Request('https://api.example.com'))).status).toBe(401)
})

test('each provider has a page', () => {
  const named = Object.keys(providers).map((name) =>
    name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
  )
  expect(named.map((name) => `${name}.md`).toSorted()).toEqual(pages)
})

test('the README leads to each page', () => {
  const links = linksOf(readFileSync(join(folder, 'README.md'), 'utf8'))
  const toPages = links.filter((link) => link.startsWith('docs/'))
  expect(toPages.toSorted()).toEqual(pages.map((page) => `docs/${page}`).toSorted())
})

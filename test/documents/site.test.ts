import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { afterAll, describe, expect, test } from 'vitest'

import { brokenLinks } from '../../docs/broken-links.ts'
import { entriesOf } from '../../docs/entries.ts'
import { isBelow, LANGUAGES, pagesOf, withoutLinks } from '../../docs/pages.ts'
import { blocksOf } from './markdown.ts'

// What the API reference is made of. The site itself is built by `pnpm run docs`.

const site = mkdtempSync(join(tmpdir(), 'portcullis-site-'))
afterAll(() => {
  rmSync(site, { recursive: true })
})

describe('a link of the site', () => {
  write('index.html', '<h1 id="top"></h1><a href="guides/keys.html#rotation"></a>')
  write('assets/icons.svg', '<symbol id="anchor"></symbol>')

  test.each([
    ['to a page that does not exist', 'nowhere.html'],
    ['to a place that its page does not have', '../index.html#bottom'],
    ['to a place of its own page that does not exist', '#nowhere'],
    ['to a part of a picture that does not exist', '../assets/icons.svg#menu'],
  ])('%s is found', (_, link) => {
    write('guides/keys.html', `<h2 id="rotation"></h2><a href="${link}">a</a>`)
    expect(brokenLinks(site)).toEqual([`guides/keys.html links to ${link}`])
  })

  test.each([
    ['to a place of another page', '../index.html#top'],
    ['to a part of a picture', '../assets/icons.svg#anchor'],
    ['to another site', 'https://example.com/nowhere'],
  ])('%s is left alone', (_, link) => {
    write('guides/keys.html', `<h2 id="rotation"></h2><a href="${link}">a</a>`)
    expect(brokenLinks(site)).toEqual([])
  })
})

test('a link to what is not on the site becomes its text; others and pictures stay', () => {
  const text = '[a](on.md#x), [b](off.md#x), ![c](off.svg), [d](#here), [e](https://example.com)'
  expect(withoutLinks(text, (path) => path === 'on.md')).toBe(text.replace('[b](off.md#x)', 'b'))
})

test('every module of every package is in it, and every guide', () => {
  const modules = entriesOf().map(({ module }) => module)
  expect(modules).toEqual(expect.arrayContaining(['@portcullis/core', '@portcullis/core/explain']))
  const paths = pagesOf().map(({ path }) => path)
  expect(paths).toEqual(expect.arrayContaining(['README.md', 'packages/core/KEYS.md']))
})

test('code is in languages that the site shows in colour', () => {
  const used = pagesOf().flatMap(({ text }) => blocksOf(text).map(({ language }) => language))
  const known: readonly string[] = LANGUAGES
  expect([...new Set(used)].filter((name) => name !== '' && !known.includes(name))).toEqual([])
})

test('no source file is copied beside the documents, where typedoc would compile it', () => {
  const files = pagesOf().flatMap((page) => page.files)
  expect(files).toContain('LICENSE')
  expect(files.filter((path) => /\.[cm]?[jt]s$/.test(path))).toEqual([])
})

test('no title has marks of code, which the site would show as a path', () => {
  expect(pagesOf().filter(({ title }) => /[`*_]/.test(title))).toEqual([])
})

test('documents that are not of a package are below one of two', () => {
  const pages = pagesOf().filter(({ path }) => !/^(?:packages\/|README)/.test(path))
  const top = pages.filter((page) => !pages.some((parent) => isBelow(parent, page)))
  expect(top.map(({ path }) => path)).toEqual(['CONTRIBUTING.md', 'SECURITY.md'])
})

function write(path: string, html: string): void {
  mkdirSync(dirname(join(site, path)), { recursive: true })
  writeFileSync(join(site, path), html)
}

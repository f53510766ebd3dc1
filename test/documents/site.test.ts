import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { afterAll, describe, expect, test } from 'vitest'

import { brokenLinks } from '../../docs/broken-links.ts'
import { errorPagesOf } from '../../docs/error-pages.ts'
import { relinked } from '../../docs/links.ts'
import { faultsOfPages } from '../../docs/page-rules.ts'
import {
  documentsOf,
  faultsOfSections,
  headOf,
  LANGUAGES,
  type Page,
  pagesOf,
  plain,
  programsOf,
} from '../../docs/pages.ts'
import { ERRORS, MISTAKES, SECTIONS } from '../../docs/sections.ts'
import { refusals } from '../../packages/core/src/refusal/refusals.ts'
import { blocksOf, tablesOf } from './markdown.ts'

// What the site is made of. The site as a browser shows it is looked at in test/programs/site.

const site = mkdtempSync(join(tmpdir(), 'portcullis-site-'))
afterAll(() => {
  rmSync(site, { recursive: true })
})

const pages = pagesOf()
const byPath = new Map(pages.map((page) => [page.path, page]))

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

describe('a page', () => {
  const policy = '<meta http-equiv="Content-Security-Policy" content="x">'

  test.each([
    [
      'that loads a script of others',
      '<script src="https://example.com/x.js"></script>',
      'loads https://example.com/x.js, which is of others',
    ],
    [
      'with a picture of others',
      '<img alt="" src="//example.com/x.png">',
      'loads //example.com/x.png, which is of others',
    ],
    ['with a script within it', '<script>1</script>', 'has <script, which the policy forbids'],
    ['with a style within it', '<style>a {}</style>', 'has <style, which the policy forbids'],
    [
      'with the style of an element',
      '<td class="a" style="b">',
      'has <td class="a" style=, which the policy forbids',
    ],
    ['with a handler', '<a onclick="b">', 'has <a onclick=, which the policy forbids'],
    ['of 300 kB', 'x'.repeat(300_000), `loads ${300_000 + policy.length} bytes, more than 300000`],
  ])('%s is found', (_, html, fault) => {
    write('guides/keys.html', policy + html)
    write('index.html', policy)
    expect(faultsOfPages(site)).toEqual([`guides/keys.html ${fault}`])
  })

  test('without a policy is found', () => {
    write('guides/keys.html', '<p>style="x"</p>')
    write('index.html', policy)
    expect(faultsOfPages(site)).toEqual(['guides/keys.html has no policy'])
  })
})

describe('the list of sections', () => {
  test('has every Markdown document of the repository', () => {
    expect(faultsOfSections(documentsOf())).toEqual([])
  })

  test('names a document that it does not have, and says where to add it', () => {
    expect(faultsOfSections([...documentsOf(), 'packages/new/README.md'])).toEqual([
      'packages/new/README.md is in no section: add a row for it to SECTIONS in docs/sections.ts',
    ])
  })

  test('names a row whose document is gone, and one that is there twice', () => {
    const [start, ...others] = SECTIONS
    if (start === undefined) throw new Error('there are no sections')
    const rows = [...start.rows, ['GONE.md', 'gone', 'Gone'] as const, ...start.rows.slice(0, 1)]
    expect(faultsOfSections(documentsOf(), [{ ...start, rows }, ...others])).toEqual([
      'GONE.md does not exist: take its row out of SECTIONS in docs/sections.ts',
      'README.md, or its address, is twice in SECTIONS in docs/sections.ts',
    ])
  })

  test('has the sections that people look for, in this order', () => {
    expect(SECTIONS.map(({ name }) => name)).toEqual([
      'Start',
      'Guides',
      'Frameworks',
      'Providers',
      'Testing',
      'Operating',
      'Command line',
      'Reference',
      'Why and security',
      'Contribute',
    ])
  })
})

describe('the links of a page', () => {
  test.each([
    ['to a document', '[a](REVOKING.md#x)', '[a](revoking.html#x)'],
    ['to a document of another section', '[a](README.md)', '[a](../start/core.html)'],
    ['to a place of its own', '[a](#here)', '[a](#here)'],
    ['to another site', '[a](https://example.com)', '[a](https://example.com)'],
    ['with code as its text', '[`a`](REVOKING.md)', '[`a`](revoking.html)'],
    ['to a source', '[`a`](src/index.ts)', '`a`'],
    ['to a folder', '[a](src)', 'a'],
    [
      'to a package that a text names',
      'see `@portcullis/redis`',
      'see [`@portcullis/redis`](../operating/redis.html)',
    ],
    [
      'to a guide of another package',
      '`REPLAYS.md` of `@portcullis/redis`',
      '[Used proofs of a fleet](../operating/replays.html)',
    ],
    [
      'to a heading of such a guide',
      '`REPLAYS.md#when-redis-is-away` of `@portcullis/redis`',
      '[Used proofs of a fleet](../operating/replays.html#when-redis-is-away)',
    ],
    [
      'to an example that a text names',
      '`examples/README.md`, `examples/nowhere.ts`',
      '[`examples/README.md`](../start/examples.html), `examples/nowhere.ts`',
    ],
    [
      'whose text is the name of a file',
      '[REVOKING.md](REVOKING.md#across-a-restart), [`ERRORS.md`](ERRORS.md)',
      '[Revoking tokens](revoking.html#across-a-restart), [Errors](../errors/index.html)',
    ],
  ])('%s: %s', (_, text, expected) => {
    expect(relinked(pageWith(text), byPath, '.html').text).toBe(expected)
  })

  test.each([
    ['a piece of code', '```ts\na[b](REVOKING.md)\n```'],
    ['code in a line', '`a[b](REVOKING.md)`'],
    ['a heading that names a package', '# `@portcullis/redis`'],
    ['the package of the page itself', 'this is `@portcullis/redis`'],
  ])('%s is left alone', (_, text) => {
    const path = 'packages/redis/README.md'
    expect(relinked(pageWith(text, path), byPath, '.html').text).toBe(text)
  })

  test('a page for programs leads to pages for programs', () => {
    expect(relinked(pageWith('[a](REVOKING.md)'), byPath, '.md').text).toBe('[a](revoking.md)')
  })

  test('a picture is copied, and one that does not exist is an error', () => {
    const { text, files } = relinked(pageWith('![a](pictures/outage.svg)'), byPath, '.html')
    expect(text).toBe('![a](../files/packages/core/pictures/outage.svg)')
    expect(files).toEqual(['packages/core/pictures/outage.svg'])
    expect(() => relinked(pageWith('![a](nowhere.svg)'), byPath, '.html')).toThrow('nowhere.svg')
  })
})

describe('the pages of errors', () => {
  const errors = errorPagesOf(documentAt(ERRORS))
  const addresses = new Set(errors.map(({ address }) => address))

  test.each(Object.entries(refusals))(
    '%s has one, and each of its reasons',
    (code, { reasons }) => {
      expect(addresses).toContain(`errors/${code}/index`)
      for (const reason of Object.keys(reasons))
        expect(addresses).toContain(`errors/${code}/${reason}`)
    },
  )

  test('every message has one', () => {
    const document = documentAt(MISTAKES)
    const rows = tablesOf(document.text)
      .filter(({ columns: [first] }) => first === 'Message')
      .flatMap((table) => table.rows)
    const messages = errorPagesOf(document).filter(({ address }) =>
      address.startsWith('errors/messages/'),
    )
    expect(messages.length).toBe(rows.length)
    expect(messages.length).toBeGreaterThan(50)
  })

  test('the page of a reason says what it means, what to do and what the client reads', () => {
    const page = errors.find(({ address }) => address === 'errors/invalid_token/expired')
    expect(page?.text).toMatch(
      /^# invalid_token: expired\n\n[^#]+\n\n## The client\n\n[^#]+## Whoever runs the API\n\n/,
    )
    expect(page?.text).toContain('The access token has expired')
  })
})

test('every program that the index of examples links to is a page', () => {
  const programs = programsOf(pages).map(({ path }) => path)
  expect(programs).toContain('examples/callers/src/websocket.ts')
  expect(programs).toContain('test/frameworks/apps/express.ts')
})

test('code is in languages that the site shows in colour', () => {
  const used = pages.flatMap(({ text }) => blocksOf(text).map(({ language }) => language))
  const known: readonly string[] = LANGUAGES
  expect([...new Set(used)].filter((name) => name !== '' && !known.includes(name))).toEqual([])
})

test('the title and the first sentence of a document are its words', () => {
  expect(headOf('# `a` and *b*\n\nIt [reads](x.md) `c`, e.g. d. More.\n', 'x.md')).toEqual({
    title: 'a and *b*',
    about: 'It reads c, e.g. d.',
  })
  expect(plain('<a id="x"></a>**a** \\<`B`\\>')).toBe('a <B>')
})

/** A document with another text. */
function pageWith(text: string, path = 'packages/core/KEYS.md'): Page {
  return { ...documentAt(path), text }
}

function documentAt(path: string): Page {
  const found = byPath.get(path)
  if (found === undefined) throw new Error(`${path} is in no section`)
  return found
}

function write(path: string, html: string): void {
  mkdirSync(dirname(join(site, path)), { recursive: true })
  writeFileSync(join(site, path), html)
}

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { afterAll, describe, expect, test } from 'vitest'

import { relinked } from '../../docs/links.ts'
import { brokenLinks, faultsOfPages } from '../../docs/page-rules.ts'
import { documentsOf, faultsOfSections, type Page, pagesOf } from '../../docs/pages.ts'

// What the site is made of. The site as a browser shows it is looked at in test/programs/site.

const site = mkdtempSync(join(tmpdir(), 'portcullis-site-'))
afterAll(() => {
  rmSync(site, { recursive: true })
})

const pages = pagesOf()
const byPath = new Map(pages.map((page) => [page.path, page]))

const forbids = (found: string) => `has ${found}, which the policy forbids`

describe('what is looked for in each page', () => {
  const policy = '<meta http-equiv="Content-Security-Policy" content="x">'
  const link = (target: string) => `${policy}<h2 id="rotation"></h2><a href="${target}">a</a>`

  test.each([
    [link('nowhere.html'), 'links to nowhere.html'],
    [link('../index.html#bottom'), 'links to ../index.html#bottom'],
    [link('#nowhere'), 'links to #nowhere'],
    [link('../assets/icons.svg#menu'), 'links to ../assets/icons.svg#menu'],
    [link('../index.html#top'), undefined],
    [link('../assets/icons.svg#anchor'), undefined],
    [link('https://example.com/nowhere'), undefined],
    ['<p>style="x"</p>', 'has no policy'],
    [
      `${policy}<script src="https://b.test/x.js"></script>`,
      'loads https://b.test/x.js, which is of others',
    ],
    [`${policy}<img alt="" src="//b.test/x.png">`, 'loads //b.test/x.png, which is of others'],
    [`${policy}<script>1</script>`, forbids('<script')],
    [`${policy}<style>a {}</style>`, forbids('<style')],
    [`${policy}<td class="a" style="b">`, forbids('<td class="a" style=')],
    [`${policy}<a onclick="b">`, forbids('<a onclick=')],
    [policy + 'x'.repeat(300_000), `loads ${300_000 + policy.length} bytes, more than 300000`],
  ])('%#: %j is %s', (html, fault) => {
    write('assets/icons.svg', '<symbol id="anchor"></symbol>')
    write('index.html', `${policy}<h1 id="top"></h1>`)
    write('guides/keys.html', html)
    const found = [...brokenLinks(site), ...faultsOfPages(site)]
    expect(fault === undefined ? found : found.slice(-1)).toEqual(
      fault === undefined ? [] : [`guides/keys.html ${fault}`],
    )
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
})

test('the navigation calls no two documents of a section the same', () => {
  const names = pages.map(({ section, label }) => `${section.name}: ${label}`)
  expect(names.filter((name, at) => names.indexOf(name) < at)).toEqual([])
})

describe('the links of a page', () => {
  test.each([
    ['to a document', '[a](REVOKING.md#x)', '[a](revoking.html#x)'],
    ['to a document of another section', '[a](README.md)', '[a](../start/core.html)'],
    ['to a place of its own', '[a](#here)', '[a](#here)'],
    ['to another site', '[a](https://example.com)', '[a](https://example.com)'],
    ['to what each tarball has', '[a](SECURITY.md)', '[a](../security/promises.html)'],
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

  test('a picture is copied', () => {
    const { text, files } = relinked(pageWith('![a](pictures/outage.svg)'), byPath, '.html')
    expect(text).toBe('![a](../files/packages/core/pictures/outage.svg)')
    expect(files).toEqual(['packages/core/pictures/outage.svg'])
  })

  test.each([
    ['![a](nowhere.svg)', 'nowhere.svg'],
    ['[`a`](nowhere.md#a)', 'nowhere.md#a'],
    ['[a](../../../wt)', '../../../wt'],
    ['see `NOWHERE.md`', '`NOWHERE.md`'],
    ['`NOWHERE.md#a` of `@portcullis/redis`', '`NOWHERE.md#a` of `@portcullis/redis`'],
  ])('%s is an error, because that is not there', (text, named) => {
    expect(() => relinked(pageWith(text), byPath, '.html')).toThrow(
      `packages/core/KEYS.md leads to ${named}, which is not there`,
    )
  })
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

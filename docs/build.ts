import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

import { root } from './entries.ts'
import { errorPagesOf, withLinksToErrors } from './error-pages.ts'
import { listForPrograms, textForPrograms } from './for-programs.ts'
import { frontOf, listOfAll, sectionPage } from './front.ts'
import { layoutOf, type Shown } from './layout.ts'
import { fileAddress, relinked } from './links.ts'
import { render } from './markdown.ts'
import { type Page, programsOf } from './pages.ts'
import { searchIndexOf } from './search-index.ts'
import { ERRORS, EXAMPLES, MISTAKES, type Section, SECTIONS } from './sections.ts'

const THEME = join(import.meta.dirname, 'theme')

/**
 * Writes the site into a folder, which is emptied before.
 *
 * @param documents The documents of the repository.
 * @param reference What the packages export, as pages.
 * @returns All pages.
 */
export async function buildSite(
  site: string,
  documents: readonly Page[],
  reference: readonly Page[],
): Promise<readonly Page[]> {
  const pages = [...inOrder(documents), ...reference]
  const byPath = new Map(pages.map((page) => [page.path, page]))
  const overview = byPath.get('README.md')
  if (overview === undefined) throw new Error('README.md is in no section')
  rmSync(site, { recursive: true, force: true })

  const files = new Set(['LICENSE'])
  const texts = new Map<string, string>()
  const shown: Shown[] = []
  for (const [at, page] of pages.entries()) {
    const { text, files: used } = relinked(page, byPath, '.html')
    for (const file of used) files.add(file)
    texts.set(page.address, relinked(page, byPath, '.md').text)
    const { previous, next } = neighboursOf(pages, at)
    shown.push({ ...page, ...render(text), previous, next })
  }
  for (const page of shown) {
    write(site, `${page.address}.html`, await layoutOf(page, pages))
    write(site, `${page.address}.md`, texts.get(page.address) ?? '')
  }

  const first = { ...overview, address: 'index' }
  const front = { ...first, text: relinked(first, byPath, '.html').text }
  write(site, 'index.html', await frontOf(front, pages, (text) => render(text).html))
  write(site, 'all.html', await listOfAll(pages))
  for (const name of ['index.md', 'llms.txt']) write(site, name, listForPrograms(overview, pages))
  write(site, 'llms-full.txt', textForPrograms(pages, texts))
  write(site, 'search.json', JSON.stringify(searchIndexOf(shown)))
  for (const path of files) copy(join(root, path), site, fileAddress(path))
  for (const name of globSync('*.{css,js}', { cwd: THEME }))
    copy(join(THEME, name), site, `theme/${name}`)
  copy(join(root, 'packages/cli/browser/icon.svg'), site, 'theme/icon.svg')
  const search = dirname(dirname(createRequire(import.meta.url).resolve('minisearch')))
  const library = readFileSync(join(search, 'es/index.js'), 'utf8')
  // Its map is not on the site.
  write(site, 'theme/minisearch.js', library.replace(/^\/\/# sourceMappingURL=.*$/m, ''))
  return pages
}

/** The pages of each section begin with that of the section. More pages follow the document that they are made of. */
function inOrder(documents: readonly Page[]): readonly Page[] {
  return SECTIONS.flatMap((section) => withItsPage(section, documents))
}

function withItsPage(section: Section, documents: readonly Page[]): readonly Page[] {
  const inside = documents.filter((page) => page.section.name === section.name)
  return [sectionPage(section, documents), ...inside.flatMap((page) => withMore(page, documents))]
}

function withMore(page: Page, documents: readonly Page[]): readonly Page[] {
  if (page.path === EXAMPLES) return [page, ...programsOf(documents)]
  if (page.path !== ERRORS && page.path !== MISTAKES) return [page]
  return [{ ...page, text: withLinksToErrors(page.text) }, ...errorPagesOf(page)]
}

/** What is read before a page and after it. Pages about one reason or one export follow each other, and no document. */
function neighboursOf(pages: readonly Page[], at: number): Pick<Shown, 'previous' | 'next'> {
  const parent = pages[at]?.parent
  const follows = (page: Page) => page.parent === parent || page.parent === undefined
  return {
    previous: pages.slice(0, at).findLast(follows),
    next: pages.slice(at + 1).find(follows),
  }
}

function write(site: string, address: string, text: string): void {
  const path = join(site, address)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

function copy(from: string, site: string, address: string): void {
  const path = join(site, address)
  mkdirSync(dirname(path), { recursive: true })
  copyFileSync(from, path)
}

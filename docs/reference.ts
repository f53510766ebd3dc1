import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { Application } from 'typedoc'

import { brokenLinks } from './broken-links.ts'
import { entriesOf, type Entry, pathFrom, root } from './entries.ts'
import { isBelow, LANGUAGES, type Page, pagesOf } from './pages.ts'

// The API reference with all guides, as a site in docs/site: `pnpm run docs`. A warning fails it, and so does a link that leads
// nowhere.

/** What typedoc reads: documents as they are on the site, and a file for each module. */
const WORK = 'docs/.reference'
const SITE = join(import.meta.dirname, 'site')

const pages = pagesOf()
const entries = entriesOf()
rmSync(join(root, WORK), { recursive: true, force: true })
for (const page of pages) writePage(page)
const app = await Application.bootstrap({
  name: 'Portcullis',
  readme: join(root, WORK, 'README.md'),
  entryPoints: entries.map((entry) => writeEntry(entry, pages)),
  projectDocuments: pages
    .filter(({ path }) => path !== 'README.md' && !hasModule(path))
    .filter((page) => !pages.some((parent) => isBelow(parent, page)))
    .map(({ path }) => join(root, WORK, path)),
  tsconfig: join(import.meta.dirname, 'tsconfig.reference.json'),
  basePath: root,
  displayBasePath: root,
  out: SITE,
  cleanOutputDir: true,
  customCss: join(import.meta.dirname, 'site.css'),
  treatWarningsAsErrors: true,
  excludePrivate: true,
  excludeInternal: true,
  // The repository has no address yet that they could lead to.
  disableSources: true,
  // Its links lead nowhere where a class extends one of another package.
  includeHierarchySummary: false,
  hideGenerator: true,
  highlightLanguages: [...LANGUAGES],
  searchInDocuments: true,
  navigation: { includeFolders: false },
})
const project = await app.convert()
if (project === undefined) throw new Error('the sources cannot be read')
app.validate(project)
await app.generateOutputs(project)
const broken = brokenLinks(SITE)
for (const link of broken) console.error(link)
if (app.logger.hasErrors() || app.logger.hasWarnings() || broken.length > 0) process.exitCode = 1
else console.log(`docs/site/index.html: ${entries.length} modules, ${pages.length} documents`)

/** Whether a document belongs to a package that can be imported: it is shown with its module. */
function hasModule(path: string): boolean {
  return entries.some(({ folder }) => folder === dirname(path))
}

function writePage(page: Page): void {
  const { path, title, text, files } = page
  const children = pages
    .filter((each) => isBelow(page, each))
    .map((each) => `  - ${pathFrom(dirname(path), each.path)}\n`)
  const below = children.length === 0 ? '' : `children:\n${children.join('')}`
  write(path, `---\ntitle: ${JSON.stringify(title)}\n${below}---\n\n${text}`)
  for (const file of files) {
    mkdirSync(dirname(join(root, WORK, file)), { recursive: true })
    copyFileSync(join(root, file), join(root, WORK, file))
  }
}

/** Typedoc takes the names of modules and their guides from comments. */
function writeEntry({ module, folder, source, isMain }: Entry, all: readonly Page[]): string {
  const path = `${module.replace('@portcullis/', '')}.ts`
  const here = dirname(join(WORK, path))
  const guides = all.filter((page) => isMain && dirname(page.path) === folder)
  const comment = [
    `@module ${module}`,
    ...guides.map((guide) => `@document ${pathFrom(here, join(WORK, guide.path))}`),
  ]
  write(
    path,
    `/**\n${comment.map((line) => ` * ${line}\n`).join('')} */\nexport * from '${pathFrom(here, source)}'\n`,
  )
  return join(root, WORK, path)
}

function write(path: string, text: string): void {
  const absolute = join(root, WORK, path)
  mkdirSync(dirname(absolute), { recursive: true })
  writeFileSync(absolute, text)
}

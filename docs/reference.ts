import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { Application } from 'typedoc'

import { brokenLinks } from './broken-links.ts'
import { entriesOf, type Entry, pathFrom, root } from './entries.ts'
import { isBelow, LANGUAGES, type Page, pagesOf, withoutLinks } from './pages.ts'

// The API reference with all guides, as a site in docs/site: `pnpm run docs`. A warning fails it, and so does a link that leads
// nowhere.

/** What typedoc reads: documents as they are on the site, and a file for each module. */
const WORK = 'docs/.reference'
const SITE = join(import.meta.dirname, 'site')

/** What the modules are for that have no README of their own. */
const OTHER_MODULES: Readonly<Record<string, string>> = {
  '@portcullis/client/oauth':
    'Obtains tokens of any OAuth 2.0 issuer, for a service itself (client credentials) or for its user (token exchange), and sends them. It is what calls onwards from behind a guard.',
  '@portcullis/core/adapter':
    'What only packages for a framework need, such as `@portcullis/express`. The document "Any other framework" of `@portcullis/core` says how to guard routes without it.',
  '@portcullis/core/explain':
    'Says why a verifier accepts or refuses a token: the result of every check. It shows claims that are not proven, so it is for people, not for requests.',
  '@portcullis/core/json':
    'Reads JSON that somebody else wrote, without the texts that crash V8. The other packages of Portcullis use it; guards need nothing of it.',
  '@portcullis/core/verifier':
    'What a package needs whose verifier proves tokens by something else than a key, as `@portcullis/introspection` does: the steps behind the proof, and what reads answers of others. Applications have `createVerifier`.',
  '@portcullis/metrics/opentelemetry':
    'Metrics and spans by the API of OpenTelemetry, which has to be installed as well.',
  '@portcullis/metrics/prometheus':
    'Metrics in a registry of prom-client, which has to be installed as well.',
  '@portcullis/express/request':
    "Declares `request.auth` for TypeScript: `import '@portcullis/express/request'`. It exports nothing.",
}

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
  // What people call comes before the types that it takes, and modules come before what is written about the repository.
  groupOrder: ['Documents', 'Functions', 'Classes', 'Variables', '*'],
  kindSortOrder: ['Module', 'Document', 'Function', 'Class', 'Variable', 'Interface', 'TypeAlias'],
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

/** Typedoc takes the names of modules, what they are for and their guides from comments. */
function writeEntry({ module, folder, source, isMain }: Entry, all: readonly Page[]): string {
  const path = `${module.replace('@portcullis/', '')}.ts`
  const here = dirname(join(WORK, path))
  const guides = all.filter((page) => isMain && dirname(page.path) === folder)
  const about = isMain ? introductionOf(folder, all) : OTHER_MODULES[module]
  if (about === undefined) throw new Error(`say in OTHER_MODULES what ${module} is for`)
  const comment = [
    ...about.split('\n'),
    '',
    `@module ${module}`,
    ...guides.map((guide) => `@document ${pathFrom(here, join(WORK, guide.path))}`),
  ]
  write(
    path,
    `/**\n${comment.map((line) => ` * ${line}\n`).join('')} */\nexport * from '${pathFrom(here, source)}'\n`,
  )
  return join(root, WORK, path)
}

/** The first paragraph of a package's README. Its links are relative to the package, so only their texts are kept. */
function introductionOf(folder: string, all: readonly Page[]): string | undefined {
  const readme = all.find(({ path }) => path === `${folder}/README.md`)?.text ?? ''
  const [, paragraph] = /^# [^\n]*\n\n(.*?)\n\n/s.exec(readme) ?? []
  return paragraph && withoutLinks(paragraph, () => false)
}

function write(path: string, text: string): void {
  const absolute = join(root, WORK, path)
  mkdirSync(dirname(absolute), { recursive: true })
  writeFileSync(absolute, text)
}

import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { entriesOf, root } from './entries.ts'

/** A document of the site. */
export interface Page {
  /** From the root of the repository. */
  readonly path: string
  readonly title: string
  /** What is written there, without links to what is not on the site. */
  readonly text: string
  /** What it shows or links to beside documents, such as pictures, from the root of the repository. */
  readonly files: readonly string[]
}

const OUTSIDE_OF_PACKAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'docs/*.md',
  'docs/decisions/*.md',
  'test/**/README.md',
]

/** What the code of documents is written in. Typedoc warns of a language that it does not know. */
export const LANGUAGES = ['diff', 'js', 'json', 'sh', 'ts'] as const

/** Where a document outside of packages is on the site: below another one, by the folder that it is in. */
export function isBelow(parent: Page, { path }: Page): boolean {
  if (path === parent.path) return false
  if (parent.path === 'docs/decisions/README.md') return path.startsWith('docs/decisions/')
  const isAbout = /^test\/|^docs\/[^/]+$|\/README\.md$/.test(path) && !path.startsWith('packages/')
  return parent.path === 'CONTRIBUTING.md' && isAbout
}

/** A link or a picture, but none to another site and none within the page. */
const LINK = /(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)\s#]+)(?:#[^)\s]*)?\)/g

/** All documents, those of a package with its README first. */
export function pagesOf(): readonly Page[] {
  const paths = globSync(
    [...OUTSIDE_OF_PACKAGES, 'packages/*/*.md', 'packages/providers/docs/*.md'],
    {
      cwd: root,
      exclude: (path) => path.includes('node_modules') || path.endsWith('CHANGELOG.md'),
    },
  )
  const onSite = new Set(paths)
  const modules = new Set(entriesOf().map(({ folder }) => folder))
  return paths.toSorted(readmeFirst).map((path) => {
    const text = readFileSync(join(root, path), 'utf8')
    const [heading = '', title = path] = /^# (.*)\n/m.exec(text) ?? []
    const isReadme = path.endsWith('/README.md') && modules.has(dirname(path))
    const isFront = path === 'README.md'
    return {
      path,
      // A module of that name is beside it.
      // Typedoc shows a title as it stands, and none that has marks of code.
      title: isReadme ? 'README' : title.replaceAll('`', ''),
      // The front page has that heading already.
      text: withoutLinks(isFront ? text.replace(heading, '') : text, (link) =>
        isOnSite(join(dirname(path), link), onSite),
      ),
      files: [...text.matchAll(LINK)]
        .map(([, , , link = '']) => join(dirname(path), link))
        .filter((file) => !file.endsWith('.md') && isOnSite(file, onSite)),
    }
  })
}

/** Links to files of the repository that are not on the site become their text. */
export function withoutLinks(text: string, isKept: (path: string) => boolean): string {
  return text.replaceAll(LINK, (link: string, mark: string, shown: string, path: string) =>
    mark === '!' || isKept(path) ? link : shown,
  )
}

/** Documents, and single files such as the licence, which are copied. No sources. */
function isOnSite(path: string, documents: ReadonlySet<string>): boolean {
  if (path.endsWith('.md')) return documents.has(path)
  // Typedoc would compile a copy of it.
  if (path.endsWith('.ts')) return false
  const absolute = join(root, path)
  return existsSync(absolute) && statSync(absolute).isFile()
}

function readmeFirst(a: string, b: string): number {
  return rankOf(a) < rankOf(b) ? -1 : 1
}

function rankOf(path: string): string {
  return `${dirname(path)}/${path.endsWith('/README.md') ? '' : path}`
}

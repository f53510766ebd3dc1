import { globSync, readFileSync } from 'node:fs'
import { join, matchesGlob, posix } from 'node:path'

import { root } from './entries.ts'
import { EXAMPLES, LEFT_OUT, type Section, SECTIONS } from './sections.ts'

// The documents of the repository as pages: which there are, and what each is called.

/** A page of the site, before its links are those of the site. */
export interface Page {
  /** What it is made of, from the root of the repository. */
  readonly path: string
  /** Where it is on the site, without the ending: `.html` for people, `.md` for programs. */
  readonly address: string
  readonly section: Section
  /** What it is called in the navigation. */
  readonly label: string
  /** Its first heading, without marks. */
  readonly title: string
  /** Its first sentence, without marks. */
  readonly about: string
  readonly text: string
  /** The folder that its links are relative to, if it is not that of `path`. */
  readonly base?: string
  /** What stands above the title, such as what kind of export it is. */
  readonly kind?: string
  /** The page that the navigation shows it below. */
  readonly parent?: string
}

/** The paths of all Markdown documents of the repository. Those of packages are made of the SECURITY.md in the root by `pnpm build`. */
export function documentsOf(): readonly string[] {
  const paths = globSync(['**/*.md', '.changeset/**/*.md', '.github/**/*.md'], {
    cwd: root,
    exclude: (path) =>
      /(?:^|\/)(?:node_modules|coverage|\.reference|\.readme[^/]*)$|^docs\/site$/.test(path),
  })
  return paths.filter((path) => !/^packages\/[a-z]+\/SECURITY\.md$/.test(path)).toSorted()
}

/** What is wrong with the list of sections, in words that say what to do. */
export function faultsOfSections(documents: readonly string[]): readonly string[] {
  const rows = SECTIONS.flatMap(({ folder, rows: some }) =>
    some.map(([path, name]) => ({ path, address: posix.join(folder, name) })),
  )
  return [
    ...documents
      .filter((path) => !isLeftOut(path) && !rows.some((row) => row.path === path))
      .map((path) => `${path} is in no section: add a row for it to SECTIONS in docs/sections.ts`),
    ...rows
      .filter(({ path }) => !documents.includes(path))
      .map(
        ({ path }) => `${path} does not exist: take its row out of SECTIONS in docs/sections.ts`,
      ),
    ...rows
      .filter(({ path, address }, at) =>
        rows.slice(0, at).some((row) => row.path === path || row.address === address),
      )
      .map(({ path }) => `${path}, or its address, is twice in SECTIONS in docs/sections.ts`),
  ]
}

function isLeftOut(path: string): boolean {
  return LEFT_OUT.some(([paths]) => matchesGlob(path, paths))
}

/** The pages that are documents, in the order of the sections. */
export function pagesOf(): readonly Page[] {
  return SECTIONS.flatMap((section) =>
    section.rows.map(([path, name, label]) => {
      const text = readFileSync(join(root, path), 'utf8')
      const head = headOf(text, path)
      const address = posix.join(section.folder, name)
      return { ...head, path, address, section, label: label ?? head.title, text }
    }),
  )
}

/** Programs of the repository that documents link to, as pages. Other sources are read where they are. */
export function programsOf(documents: readonly Page[]): readonly Page[] {
  const list = documents.find(({ path }) => path === EXAMPLES)
  if (list === undefined) return []
  const paths = [...list.text.matchAll(/\]\(([^)\s]+\.[jt]s)\)/g)].map(([, target = '']) =>
    posix.join(posix.dirname(EXAMPLES), target),
  )
  return [...new Set(paths)].map((path): Page => {
    const code = readFileSync(join(root, path), 'utf8')
    const name = path.replace(/^examples\/|^test\/frameworks\//, '')
    return {
      path,
      address: `start/examples/${name.replace('/src/', '/').replace(/\.[jt]s$/, '')}`,
      section: list.section,
      label: name.replace('/src/', '/').replace(/\.[jt]s$/, ''),
      title: name,
      about: `A program: ${path}.`,
      kind: 'Program',
      parent: list.address,
      text: `# ${name}\n\nIn the repository it is \`${path}\`.\n\n\`\`\`${path.slice(-2)}\n${code.trimEnd()}\n\`\`\`\n`,
    }
  })
}

/** The title of a document, and its first sentence. */
export function headOf(text: string, path: string): Pick<Page, 'title' | 'about'> {
  const [, title] = /^# (.*)$/m.exec(text) ?? []
  if (title === undefined) throw new Error(`${path} has no heading`)
  const [, paragraph = ''] = /^# .*\n\n(?!#|```|\||!|-|>)((?:.+\n?)+)/m.exec(text) ?? []
  const [sentence = ''] = /^.*?[.:](?=\s+\p{Lu}|$)/su.exec(plain(paragraph)) ?? [plain(paragraph)]
  return { title: plain(title), about: sentence.replace(/:$/, '.').trim() }
}

/** For who reads a text where its links lead nowhere: their texts are enough. */
export function withoutLinks(markdown: string): string {
  return markdown.replaceAll(/!?\[((?:`[^`]*`|[^\]`])*)\]\([^)]*\)/g, '$1')
}

/** A piece of Markdown as its words. */
export function plain(markdown: string): string {
  return withoutLinks(markdown.replaceAll(/(?<!\\)<[^>]+>/g, ''))
    .replaceAll(/\\([\\`*_{}[\]()<>#+.!|-])/g, '$1')
    .replaceAll(/\*\*|`/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

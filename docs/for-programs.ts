import type { Page } from './pages.ts'
import { SECTIONS } from './sections.ts'

// The site for programs that read: a list of the pages with what each is about, and all documents as one text.

/** https://llmstxt.org: a title, what it is, and links with a sentence each. */
export function listForPrograms(overview: Page, pages: readonly Page[]): string {
  const parts = SECTIONS.map(({ name, about }) => {
    const rows = pages.filter((page) => page.section.name === name && page.parent === undefined)
    const lines = rows.map((page) => `- [${page.title}](${page.address}.md): ${page.about}`)
    return `## ${name}\n\n${about}\n\n${lines.join('\n')}\n`
  })
  return `# ${overview.title}\n\n> ${overview.about}\n\n${parts.join('\n')}`
}

/** @param texts The text of each page, with the links of the site. */
export function textForPrograms(
  pages: readonly Page[],
  texts: ReadonlyMap<string, string>,
): string {
  return pages
    .filter(({ path }) => SECTIONS.some(({ rows }) => rows.some(([row]) => row === path)))
    .map(({ address }) => `<!-- ${address}.md -->\n\n${texts.get(address)?.trim() ?? ''}\n`)
    .join('\n')
}

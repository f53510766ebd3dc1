import { html, raw } from 'hono/html'

import { tableUnder } from '../test/documents/markdown.ts'
import { document } from './layout.ts'
import { pathBetween } from './links.ts'
import type { Page } from './pages.ts'
import type { Section } from './sections.ts'

// The pages that lead to others: the first one, that of each section, and the list of all. What the first one says stands in
// README.md; what each link says, in the document that it leads to.

/**
 * @param overview README.md with the links of the first page, of which are shown: the first paragraph and picture, the commands
 * that need no clone, the example, and the table of what people want to do.
 */
export async function frontOf(
  overview: Page,
  pages: readonly Page[],
  render: (markdown: string) => string,
): Promise<string> {
  const [, lead = ''] = /^# .*\n\n((?:.+\n)+)/m.exec(overview.text) ?? []
  const [picture = ''] = /^!\[.*\)$/m.exec(overview.text) ?? []
  const { rows } = tableUnder(overview.text, 'Where to go next', 'You want to')
  return await document({
    address: 'index',
    title: 'Portcullis: guards for HTTP APIs',
    about: overview.about,
    markdown: 'index.md',
    isFront: true,
    body: html`<main id="content" tabindex="-1">
      <section class="hero">
        <div>
          <h1>${overview.title}</h1>
          <div class="lead">${raw(render(lead))}</div>
          <p class="actions">
            <a class="primary" href="${addressOf('packages/express/README.md', pages)}"
              >Protect a route</a
            >
            <a href="${addressOf('README.md', pages)}">What it is</a>
          </p>
          ${raw(render(tried(overview.text)))}
        </div>
        <div class="sample">${raw(render(blockOf(overview.text, 'ts')))}</div>
      </section>
      <div class="picture">${raw(render(picture))}</div>
      <h2>What do you want to do?</h2>
      <ul class="cards">
        ${rows.map(
          ([want = '', read = '']) =>
            html`<li>
              <h3>${want.charAt(0).toUpperCase() + want.slice(1)}</h3>
              ${raw(render(read))}
            </li>`,
        )}
      </ul>
      ${['Frameworks', 'Providers', 'Guides'].map((name) => row(name, pages))}
    </main>`,
  })
}

/** The pages of a section, in one row. */
function row(name: string, pages: readonly Page[]) {
  const inside = pages.filter(
    ({ section, parent }) => section.name === name && parent === undefined,
  )
  return html`<section class="chips">
    <h2>${name}</h2>
    <ul>
      ${inside.map(({ address, label }) => html`<li><a href="${address}.html">${label}</a></li>`)}
    </ul>
  </section>`
}

function addressOf(path: string, pages: readonly Page[]): string {
  const found = pages.find((page) => page.path === path)
  if (found === undefined) throw new Error(`the first page leads to ${path}, which is no page`)
  return `${found.address}.html`
}

/** The page of a section, in Markdown: what is in it, each with its first sentence. */
export function sectionPage(section: Section, pages: readonly Page[]): Page {
  const rows = pages.filter(
    (page) => page.section.name === section.name && page.parent === undefined,
  )
  const address = `${section.folder}/index`
  const list = rows.map((page) => `- [${page.label}](/${page.path}): ${page.about}`)
  return {
    path: `${address}.md`,
    address,
    section,
    label: section.name,
    title: section.name,
    about: section.about,
    text: `# ${section.name}\n\n${section.about}\n\n${list.join('\n')}\n`,
    parent: address,
  }
}

/** Links to all pages, for whoever has no search. */
export async function listOfAll(pages: readonly Page[]): Promise<string> {
  const sections = [...new Set(pages.map(({ section }) => section))]
  return await document({
    address: 'all',
    title: 'All pages · Portcullis',
    about: 'Every page of this site.',
    markdown: 'llms.txt',
    isFront: true,
    body: html`<main id="content" tabindex="-1" class="all">
      <h1>All pages</h1>
      ${sections.map(
        (section) =>
          html`<h2>${section.name}</h2>
            <ul>
              ${pages.filter((page) => page.section === section).map((page) => html`<li><a href="${pathBetween('all', `${page.address}.html`)}">${page.title}</a></li>`)}
            </ul>`,
      )}
    </main>`,
  })
}

/** The first piece of code in a language, with its fence. */
function blockOf(text: string, language: string): string {
  const [block] = new RegExp(`^\`\`\`${language}\\n[\\s\\S]*?^\`\`\`$`, 'm').exec(text) ?? []
  if (block === undefined) throw new Error(`README.md has no code in ${language}`)
  return block
}

/** What whoever has only npm can run, and what that does. */
function tried(text: string): string {
  const [part] = /^.+\n\n```sh\n(?:npx @portcullis\/cli .*\n)+```$/m.exec(text) ?? []
  if (part === undefined) throw new Error('README.md has no commands of @portcullis/cli')
  return part
}

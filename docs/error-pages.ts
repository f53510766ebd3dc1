import { type AuthErrorCode, refusals } from '../packages/core/src/refusal/refusals.ts'
import { tablesOf } from '../test/documents/markdown.ts'
import { type Page, plain } from './pages.ts'
import { ERRORS } from './sections.ts'

// A page for each code and each reason of ERRORS.md, and for each message of MISTAKES.md, at an address that does not change:
// `errors/CODE`, `errors/CODE/REASON` and `errors/messages/NAME`.

/** @param document ERRORS.md or MISTAKES.md. */
export function errorPagesOf(document: Page): readonly Page[] {
  return chaptersOf(document.text).flatMap((chapter) => pagesOfChapter(document, chapter))
}

function pagesOfChapter(document: Page, chapter: Chapter): readonly Page[] {
  const [table] = tablesOf(chapter.text)
  const [first = ''] = table?.columns ?? []
  if (table === undefined || (first !== 'Message' && first !== 'Reason')) return []
  const rows = table.rows.map((cells) => rowOf(cells, table.columns))
  if (first === 'Message') return rows.map((row) => messagePage(document, chapter, row))
  return [
    codePage(document, chapter, rows),
    ...rows.map((row) => reasonPage(document, chapter, row)),
  ]
}

/** The document itself, where each reason and message is a link to its page. */
export function withLinksToErrors(text: string): string {
  return text
    .replaceAll(/(<a id="(\w+)-(\w+)"><\/a>)(`\w+`)/g, '$1[$4](/errors/$2/$3.md)')
    .replaceAll(/(<a id="error-([a-z\d-]+)"><\/a>)(`[^`\n]+`)/g, '$1[$3](/errors/messages/$2.md)')
    .replaceAll(/^### (\w+_\w+)$/gm, '### [$1](/errors/$1/index.md)')
}

interface Chapter {
  readonly heading: string
  readonly text: string
}

interface Row {
  readonly id: string
  /** The reason, or the message. */
  readonly name: string
  readonly cells: readonly (readonly [column: string, text: string])[]
}

/** The parts of a document below its headings. */
function chaptersOf(text: string): readonly Chapter[] {
  return text
    .split(/^(?=#{2,3} )/m)
    .slice(1)
    .map((part) => {
      const [, heading = '', rest = ''] = /^#+ (.*)\n([\s\S]*)$/.exec(part) ?? []
      return { heading, text: rest.trim() }
    })
}

/** A cell of a table as text outside of one: there `|` needs no backslash. */
function inText(cell: string): string {
  return cell.replaceAll('\\|', '|')
}

function rowOf([first = '', ...others]: readonly string[], columns: readonly string[]): Row {
  const [, id, name] = /^<a id="([^"]+)"><\/a>`([^`]+)`$/.exec(first) ?? []
  if (id === undefined || name === undefined) throw new Error(`no place to link to in ${first}`)
  const cells = others.map((cell, at) => [columns[at + 1] ?? '', inText(cell)] as const)
  return { id, name, cells }
}

function codePage(document: Page, { heading, text }: Chapter, rows: readonly Row[]): Page {
  const { status, title, description } = refusalOf(heading)
  const [introduction = ''] = text.split(/^(?:\||<!--)/m)
  const list = rows.map(
    ({ name, cells }) => `- [\`${name}\`](/errors/${heading}/${name}.md): ${cells[0]?.[1] ?? ''}`,
  )
  return page(document, {
    address: `errors/${heading}/index`,
    title: heading,
    kind: `Error ${status} ${title}`,
    about: plain(introduction),
    parent: 'errors/index',
    text: `# ${heading}\n\n${introduction.trim()}\n\nThe client reads: “${description}”.\n\n## Reasons\n\n${list.join('\n')}\n`,
  })
}

function reasonPage(document: Page, { heading }: Chapter, { id, name, cells }: Row): Page {
  const { status, title, description, reasons } = refusalOf(heading)
  const told = new Map(Object.entries(reasons)).get(name) ?? description
  const [[, meaning] = ['', ''], ...advice] = cells
  const parts = advice.map(([column, text]) => `## ${column}\n\n${sentence(text)}\n`)
  return page(document, {
    address: `errors/${heading}/${name}`,
    title: `${heading}: ${name}`,
    kind: `Error ${status} ${title}`,
    about: sentence(plain(meaning)),
    parent: `errors/${heading}/index`,
    text: `# ${heading}: ${name}\n\n${sentence(meaning)}\n\n${parts.join('\n')}\n## What the client reads\n\n“${told}”. The code is [\`${heading}\`](/errors/${heading}/index.md), and the row in the table of all errors is [here](/${ERRORS}#${id}).\n`,
  })
}

function messagePage(document: Page, { heading }: Chapter, { id, name, cells }: Row): Page {
  const parts = cells.map(([, text]) => sentence(text))
  return page(document, {
    address: `errors/messages/${id.replace(/^error-/, '')}`,
    title: name,
    kind: `TypeError: ${heading}`,
    about: plain(parts[0] ?? ''),
    parent: 'errors/messages/index',
    text: `# \`${name}\`\n\n${parts.join('\n\n')}\n\nIn the message, \`…\` stands for text that differs. The row in the table of all messages is [here](/${document.path}#${id}).\n`,
  })
}

function page(
  { section }: Page,
  { address, ...rest }: Pick<Page, 'address' | 'title' | 'about' | 'text' | 'kind' | 'parent'>,
): Page {
  // Links in it are those of the document that it is made of.
  return {
    ...rest,
    address,
    section,
    path: `${address}.md`,
    base: 'packages/core',
    label: rest.title,
  }
}

function refusalOf(code: string) {
  if (!Object.hasOwn(refusals, code)) throw new Error(`${ERRORS}: there is no code ${code}`)
  return refusals[code as AuthErrorCode]
}

function sentence(text: string): string {
  const trimmed = text.trim()
  const begun = trimmed.charAt(0).toUpperCase() + trimmed.slice(1)
  return /[.!?:]$/.test(begun) ? begun : `${begun}.`
}

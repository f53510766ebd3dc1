import type { Page } from './pages.ts'
import { plain } from './pages.ts'
import { REFERENCE } from './sections.ts'

// What the search looks through: for each page its title, and the words below each of its headings. The browser loads it when
// somebody opens the search, and not before.

/** A page: its address, its title, and what kind or section it is of. */
type Found = readonly [address: string, title: string, where: string]
/** The words below a heading: the number of the page, what follows `#`, the heading, the text. */
type Part = readonly [page: number, anchor: string, heading: string, text: string]

export interface SearchIndex {
  readonly pages: readonly Found[]
  readonly parts: readonly Part[]
}

interface Searched extends Page {
  readonly headings: readonly { readonly id: string; readonly text: string }[]
}

export function searchIndexOf(pages: readonly Searched[]): SearchIndex {
  return {
    pages: pages.map(({ address, title, section, kind }) => [address, title, kind ?? section.name]),
    parts: pages.flatMap((page, at) => partsOf(page, at)),
  }
}

function partsOf(page: Searched, at: number): readonly Part[] {
  // Of an export its name, and what it is for: the rest are types, which are found by their own names.
  if (page.address.startsWith(`${REFERENCE}/`)) return [[at, '', '', page.about]]
  // All of it is on pages of their own.
  if (/^errors\/(?:messages\/)?index$/.test(page.address)) return [[at, '', '', page.about]]
  // One that is short is one result, whatever of it was found.
  if (page.address.startsWith('errors/')) return [[at, '', '', words(page.text)]]
  const [, ...texts] = withoutCode(page.text).split(/^#{1,6} .*$/m)
  return texts.map((text, part): Part => {
    const { id = '', text: heading = '' } = page.headings[part] ?? {}
    return [at, part === 0 ? '' : id, part === 0 ? '' : heading, words(text)]
  })
}

/** The marks of fences go, and lines of code that begin as a heading does are none. */
function withoutCode(text: string): string {
  return text.replaceAll(/^( *)```\w*\n([\s\S]*?)^\1```$/gm, (_, __, code: string) =>
    code.replaceAll(/^#+ /gm, ''),
  )
}

function words(text: string): string {
  return plain(text.replaceAll(/^\|[\s:|-]+\|$/gm, '').replaceAll('|', ' '))
}

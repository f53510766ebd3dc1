// A part of a document that is written by `pnpm write`, and what makes it. Words in such a part are nobody's: docs/words.ts does
// not count them.

/** `<!-- written: options core RemoteKeysOptions -->`: the first word names what makes it, the others are for that. */
const PART = /(<!-- written: ([^\n]+?) -->\n)[\s\S]*?(<!-- end -->)/g

export type Maker = (...words: readonly string[]) => string

/** @throws Error for a part that nothing makes, and one without an end. */
export function withParts(text: string, makers: Readonly<Record<string, Maker>>): string {
  const begun = text.match(/<!-- written: /g)?.length ?? 0
  if (begun !== partsOf(text).length) throw new Error('a part that is written has no <!-- end -->')
  return text.replaceAll(PART, (_, begin: string, name: string, end: string) => {
    const [maker = '', ...words] = name.split(' ')
    if (!Object.hasOwn(makers, maker)) throw new Error(`nothing makes <!-- written: ${name} -->`)
    return `${begin}\n${makers[maker]?.(...words).trim()}\n\n${end}`
  })
}

/** The names of the parts of a document. */
export function partsOf(text: string): readonly string[] {
  return [...text.matchAll(PART)].map(([, , name = '']) => name)
}

/** What a part of a document says now. */
export function partOf(text: string, asked: string): string {
  const found = [...text.matchAll(PART)].find(([, , name]) => name === asked)
  if (found === undefined) throw new Error(`there is no <!-- written: ${asked} -->`)
  const [all, begin = '', , end = ''] = found
  return all.slice(begin.length, -end.length)
}

export interface Words {
  readonly byHand: number
  readonly written: number
}

/** How many words of a document somebody wrote, and how many are in such parts. The lines of a table are no words. */
export function wordsOf(text: string): Words {
  const byHand = countOf(text.replaceAll(PART, ''))
  return { byHand, written: countOf(text) - byHand }
}

function countOf(text: string): number {
  const shown = text.replaceAll(/<!--.*?-->/g, '')
  return shown.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length
}

/** A table of Markdown whose columns are not aligned, so that a new row changes one line. */
export function tableOf(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  return [columns, columns.map(() => '---'), ...rows].map(lineOf).join('')
}

function lineOf(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |\n`
}

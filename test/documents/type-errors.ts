import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A message that a source of ours gives a TypeError. */
export interface Message {
  readonly path: string
  /** With `…` for each part that is put in. */
  readonly text: string
}

/** The messages of all TypeErrors in the sources of packages. */
export function messagesOf(...packages: readonly string[]): readonly Message[] {
  return packages
    .flatMap((name) => globSync(`packages/${name}/src/**/*.ts`, { cwd: root }))
    .toSorted()
    .flatMap((path) =>
      messagesIn(readFileSync(root + path, 'utf8')).map((text) => ({ path, text })),
    )
}

/** What is not written where the error is made is all put in. */
export function messagesIn(code: string): readonly string[] {
  return [...code.matchAll(/new TypeError\(\s*(?:explained\()?/g)].map(({ 0: call, index }) => {
    const start = index + call.length
    const quote = code[start] ?? ''
    return ['"', "'", '`'].includes(quote) ? literalAt(code, start + 1, quote) : '…'
  })
}

/** A literal, of which only templates have parts that are put in. */
function literalAt(code: string, start: number, quote: string): string {
  let text = ''
  for (let at = start; code[at] !== quote; at += 1) {
    if (at >= code.length) throw new Error('a literal without an end')
    if (quote === '`' && code.startsWith('${', at)) {
      at = endOfPart(code, at)
      text += '…'
    } else if (code[at] === '\\') {
      at += 1
      text += code[at]
    } else text += code[at]
  }
  return text
}

/** Where `}` closes what begins with `${` there. What is in between has braces in pairs. */
function endOfPart(code: string, start: number): number {
  let depth = 0
  for (let at = start; at < code.length; at += 1) {
    if (code[at] === '{') depth += 1
    if (code[at] === '}') depth -= 1
    if (code[at] === '}' && depth === 0) return at
  }
  throw new Error('a template without an end')
}

/** Whether a message is that of a row, which may leave out its end. In a row `…:` is the name of any function. */
export function begins(text: string, row: string): boolean {
  return row.startsWith('…: ')
    ? text.replace(/^[^\s:]+: /, '…: ').startsWith(row)
    : text.startsWith(row)
}

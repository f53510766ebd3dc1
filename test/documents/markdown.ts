export interface Table {
  /** The heading that it is under. */
  readonly heading: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** The tables of a Markdown text, in their order. Columns are named without the marks of code. */
export function tablesOf(markdown: string): readonly Table[] {
  const tables: { heading: string; lines: string[] }[] = []
  let heading = ''
  let isInside = false
  for (const line of withoutFences(markdown).split('\n')) {
    heading = /^#+ (.*)/.exec(line)?.[1] ?? heading
    if (!line.startsWith('|')) isInside = false
    else if (isInside) tables.at(-1)?.lines.push(line)
    else {
      tables.push({ heading, lines: [line] })
      isInside = true
    }
  }
  return tables.map(({ heading: above, lines }) => {
    const [columns = [], , ...rows] = lines.map(cellsOf)
    return { heading: above, columns: columns.map((name) => name.replaceAll('`', '')), rows }
  })
}

/**
 * The one table under a heading whose first column has a name.
 *
 * @throws Error if there is none: the document has changed, and the test must follow.
 */
export function tableUnder(markdown: string, heading: string, column: string): Table {
  const found = tablesOf(markdown).find(
    (table) => table.heading === heading && table.columns[0] === column,
  )
  if (found === undefined) throw new Error(`no table of ${column} under the heading ${heading}`)
  return found
}

/**
 * The code of one example, from 0.
 *
 * @throws Error if there is none: the document has changed, and the test must follow.
 */
export function exampleOf(markdown: string, place: number): string {
  const [, code] = [...markdown.matchAll(/```ts\n(.*?)```/gs)][place] ?? []
  if (code === undefined) throw new Error(`there is no example ${place}`)
  return code
}

/** An example with the lines that a document has for the token service in place of its own, as the document says. */
export function withTokenService(code: string, lines: string): string {
  const [imports = '', ...others] = lines.split('\n\n')
  const own =
    /^const issuer = .*\nconst audience = .*\n(?:const keys = .*\n)?const verifier = .*\n/m
  const changed = code.replace(own, others.join('\n\n')).replace('discoverKeys', 'remoteKeys')
  if (!imports.startsWith('import ') || !own.test(code) || changed.includes('discoverKeys'))
    throw new Error('the lines of the token service have no place in the example')
  return changed
}

/** The lines that a document has for a token service whose tokens have neither `iss` nor `aud`. */
export function linesForTokenService(markdown: string): string {
  const isIt = /remoteKeys\(.*issuer: null, audience: null/s
  const found = blocksOf(markdown).find(
    ({ language, code }) => language === 'ts' && isIt.test(code),
  )
  if (found === undefined) throw new Error('there are no lines for a token service')
  return found.code
}

/** The first example of a README with those lines. */
export function exampleWithTokenService(markdown: string): string {
  return withTokenService(exampleOf(markdown, 0), linesForTokenService(markdown))
}

export interface Block {
  /** What is behind the fence, such as `ts`; empty without. */
  readonly language: string
  readonly code: string
}

/** All pieces of code, of every language, also those within lists. */
export function blocksOf(markdown: string): readonly Block[] {
  return [...markdown.matchAll(/^( *)```(\w*)\n(.*?)^\1```$/gms)].map(
    ([, , language = '', code = '']) => ({ language, code }),
  )
}

/** What the README of core writes behind its example of a `Request`, somewhere. */
export function whatFollows(markdown: string, where: string): string {
  const { rows } = tableUnder(markdown, 'Any other framework', 'Where')
  const [, code = ''] = rows.find(([name]) => name === where) ?? []
  const [line] = codeSpans(code)
  if (line === undefined) throw new Error(`the table says nothing of ${where}`)
  return `${line}\n`
}

export function codeSpans(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)
}

/** What a document links to, images included. */
export function linksOf(markdown: string): readonly string[] {
  const text = withoutFences(markdown).replaceAll(/`[^`\n]*`/g, 'code')
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
}

function withoutFences(markdown: string): string {
  return markdown.replaceAll(/^(`{3,}|~{3,})[^\n]*\n.*?^\1[^\n]*$/gms, '')
}

function cellsOf(line: string): readonly string[] {
  return line
    .replace(/^\|/, '')
    .replace(/\|\s*$/, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim())
}

import MarkdownIt from 'markdown-it'

import { slugsOf } from '../test/documents/markdown.ts'
import { createHighlighter, escaped } from './highlight.ts'

// Markdown as HTML: headings that can be linked to as GitHub does, tables and code that scroll by themselves, and no `style`.

export interface Heading {
  readonly level: number
  readonly id: string
  readonly text: string
}

export interface Rendered {
  readonly html: string
  readonly headings: readonly Heading[]
}

export async function createRenderer(): Promise<(markdown: string) => Rendered> {
  const highlight = await createHighlighter()
  // All documents are ours, so that HTML in them is, too.
  const markdown = new MarkdownIt({ html: true })
  const { rules } = markdown.renderer

  rules['fence'] = (tokens, at) => {
    const { content = '', info = '' } = tokens[at] ?? {}
    const language = info.trim().split(/\s+/)[0] ?? ''
    const code = highlight(content.replace(/\n$/, ''), language)
    return `<div class="code"><pre tabindex="0" data-language="${escaped(language)}"><code>${code}\n</code></pre></div>\n`
  }
  rules['code_block'] = (tokens, at) =>
    `<div class="code"><pre tabindex="0"><code>${escaped(tokens[at]?.content ?? '')}</code></pre></div>\n`
  rules['heading_close'] = (tokens, at) => {
    const id = tokens[at - 2]?.attrGet('id')
    const { tag = '' } = tokens[at] ?? {}
    if (!id || tag === 'h1') return `</${tag}>\n`
    const heading = tokens[at - 1]
    const label = `Link to: ${heading === undefined ? '' : wordsOf(heading)}`
    return `<a class="anchor" href="#${id}" aria-label="${escaped(label)}">#</a></${tag}>\n`
  }
  rules['table_open'] = (tokens, at, _, env: Env) => {
    const columns = columnsOf(tokens, at)
    return `<div class="table" role="region" tabindex="0" aria-label="${escaped(`Table ${(env.tables += 1)}: ${columns.join(', ')}`)}"><table>\n`
  }
  // A cell that heads no column is no heading.
  rules['th_open'] = (tokens, at) => (tokens[at + 1]?.content === '' ? '<td>' : '<th>')
  rules['th_close'] = (tokens, at) => (tokens[at - 1]?.content === '' ? '</td>' : '</th>')
  rules['table_close'] = () => '</table></div>\n'

  return (text) => {
    const env: Env = { tables: 0 }
    const tokens = markdown.parse(text, env)
    const headings = tokens.flatMap((token, at): Heading[] => {
      // What it says of columns, it says in a `style`.
      token.attrs = token.attrs?.filter(([name]) => name !== 'style') ?? null
      if (token.type !== 'heading_open') return []
      const inline = tokens[at + 1]
      if (inline === undefined) return []
      return [{ level: Number(token.tag.slice(1)), id: '', text: wordsOf(inline) }]
    })
    // As GitHub names them, so that links lead to the same place there.
    const slugs = slugsOf(headings.map((heading) => heading.text))
    const named = headings.map(({ level, text: words }, at) => ({
      level,
      id: slugs[at] ?? '',
      text: words,
    }))
    let next = 0
    for (const token of tokens) {
      if (token.type === 'heading_open') token.attrSet('id', named[next++]?.id ?? '')
    }
    return { html: markdown.renderer.render(tokens, markdown.options, env), headings: named }
  }
}

interface Env {
  tables: number
}

type Token = ReturnType<MarkdownIt['parse']>[number]

/** The text of what is in a line. */
function wordsOf({ children }: Token): string {
  return (children ?? [])
    .filter(({ type }) => type === 'text' || type === 'code_inline')
    .map(({ content }) => content)
    .join('')
}

function columnsOf(tokens: readonly Token[], at: number): readonly string[] {
  const end = tokens.findIndex(({ type }, index) => index > at && type === 'thead_close')
  return tokens.slice(at, end).flatMap((token) => {
    const words = token.type === 'inline' ? wordsOf(token).trim() : ''
    return words === '' ? [] : [words]
  })
}

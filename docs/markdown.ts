import { createRequire } from 'node:module'

import GithubSlugger from 'github-slugger'
import MarkdownIt from 'markdown-it'

// Markdown as HTML: headings that can be linked to as GitHub does, tables and code that scroll by themselves, code in colour by
// classes, and no `style`, which would be against the policy of the site.

export interface Heading {
  readonly level: number
  readonly id: string
  readonly text: string
}

export interface Rendered {
  readonly html: string
  readonly headings: readonly Heading[]
}

// Its own types bring those of a browser, which are not those of Node.
const require = createRequire(import.meta.url)
const hljs = require('highlight.js/lib/common') as {
  highlight(code: string, options: { language: string }): { value: string }
}
// All documents are ours, so that HTML in them is, too.
const markdown = new MarkdownIt({ html: true })
const { rules } = markdown.renderer
const { escapeHtml } = markdown.utils

/** @throws Error for code in a language that has no colours. */
rules['fence'] = (tokens, at) => {
  const { content = '', info: language = '' } = tokens[at] ?? {}
  const code = language === '' ? escapeHtml(content) : hljs.highlight(content, { language }).value
  return `<div class="code"><pre tabindex="0"><code>${code}</code></pre></div>\n`
}
rules['heading_close'] = (tokens, at) => {
  const id = tokens[at - 2]?.attrGet('id')
  const { tag = '' } = tokens[at] ?? {}
  if (!id || tag === 'h1') return `</${tag}>\n`
  const label = escapeHtml(`Link to: ${wordsOf(tokens[at - 1])}`)
  return `<a class="anchor" href="#${id}" aria-label="${label}">#</a></${tag}>\n`
}
rules['table_open'] = (tokens, at, _, env: { tables: number }) => {
  const end = tokens.findIndex(({ type }, index) => index > at && type === 'thead_close')
  const cells = tokens.slice(at, end).map((token) => wordsOf(token).trim())
  const columns = cells.filter((words) => words !== '').join(', ')
  const label = escapeHtml(`Table ${(env.tables += 1)}: ${columns}`)
  return `<div class="table" role="region" tabindex="0" aria-label="${label}"><table>\n`
}
rules['table_close'] = () => '</table></div>\n'
// A cell that heads no column is no heading.
rules['th_open'] = (tokens, at) => (tokens[at + 1]?.content === '' ? '<td>' : '<th>')
rules['th_close'] = (tokens, at) => (tokens[at - 1]?.content === '' ? '</td>' : '</th>')

export function render(text: string): Rendered {
  const env = { tables: 0 }
  const tokens = markdown.parse(text, env)
  // What it says of columns, it says in a `style`.
  for (const token of tokens)
    token.attrs = token.attrs?.filter(([name]) => name !== 'style') ?? null
  // As GitHub names them, so that links lead to the same place there.
  const slugger = new GithubSlugger()
  const headings = tokens.flatMap((token, at): readonly Heading[] => {
    if (token.type !== 'heading_open') return []
    const words = wordsOf(tokens[at + 1])
    const id = slugger.slug(words)
    token.attrSet('id', id)
    return [{ level: Number(token.tag.slice(1)), id, text: words }]
  })
  return { html: markdown.renderer.render(tokens, markdown.options, env), headings }
}

type Token = ReturnType<MarkdownIt['parse']>[number]

/** The text of what is in a line. */
function wordsOf(token: Token | undefined): string {
  return (token?.children ?? [])
    .filter(({ type }) => type === 'text' || type === 'code_inline')
    .map(({ content }) => content)
    .join('')
}

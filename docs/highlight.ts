import {
  bundledLanguages,
  codeToTokensWithThemes,
  createOnigurumaEngine,
  createShikiInternal,
  loadBuiltinWasm,
} from '@gerrit0/mini-shiki'

import { LANGUAGES } from './pages.ts'

// Code in colour. The page names what a piece of code is by a class, and the style sheet gives it a colour for each scheme: a
// `style` at each word would be against the policy of the site.

/** Colours that stand for classes. */
const CLASSES = new Map([
  ['#000001', ''],
  ['#000002', 'c-comment'],
  ['#000003', 'c-string'],
  ['#000004', 'c-keyword'],
  ['#000005', 'c-name'],
  ['#000006', 'c-call'],
  ['#000007', 'c-added'],
  ['#000008', 'c-removed'],
])

const SCOPES: readonly (readonly [color: string, scopes: readonly string[]])[] = [
  ['#000002', ['comment', 'punctuation.definition.comment']],
  ['#000003', ['string', 'constant.numeric', 'constant.language', 'punctuation.definition.string']],
  ['#000004', ['keyword', 'storage', 'keyword.operator.expression', 'variable.language']],
  ['#000001', ['keyword.operator', 'punctuation', 'meta.brace']],
  [
    '#000005',
    [
      'support.type.property-name',
      'entity.name.type',
      'support.class',
      'entity.name.tag',
      'constant.other.option',
    ],
  ],
  ['#000006', ['entity.name.function', 'support.function', 'entity.name.command']],
  ['#000007', ['markup.inserted', 'punctuation.definition.inserted']],
  ['#000008', ['markup.deleted', 'punctuation.definition.deleted']],
]

const NAMES = {
  sh: 'shellscript',
  ts: 'typescript',
  js: 'javascript',
  json: 'json',
  diff: 'diff',
  yaml: 'yaml',
} as const

/** Shows a piece of code as HTML; in a language that is not known, without colour. */
export async function createHighlighter(): Promise<(code: string, language: string) => string> {
  await loadBuiltinWasm()
  const shiki = await createShikiInternal({
    engine: createOnigurumaEngine(),
    langs: LANGUAGES.map((name) => bundledLanguages[NAMES[name]]),
    themes: [
      {
        name: 'classes',
        type: 'light',
        fg: '#000001',
        bg: '#ffffff',
        settings: [
          { settings: { foreground: '#000001' } },
          ...SCOPES.map(([foreground, scope]) => ({ scope: [...scope], settings: { foreground } })),
        ],
      },
    ],
  })
  return (code, language) => {
    const lang = LANGUAGES.find((name) => name === language)
    if (lang === undefined) return escaped(code)
    const lines = codeToTokensWithThemes(shiki, code, {
      lang: NAMES[lang],
      themes: { one: 'classes' },
    })
    return lines
      .map((tokens) =>
        tokens
          .map(({ content, variants }) => {
            const name = CLASSES.get((variants['one']?.color ?? '#000001').toLowerCase())
            return name ? `<span class="${name}">${escaped(content)}</span>` : escaped(content)
          })
          .join(''),
      )
      .join('\n')
  }
}

export function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

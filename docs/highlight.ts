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

/** What the grammars call the pieces of each class. The order decides: a later row is asked first. */
const CLASSES: readonly (readonly [name: string, scopes: string])[] = [
  ['', ''],
  ['c-comment', 'comment, punctuation.definition.comment'],
  ['c-string', 'string, constant.numeric, constant.language, punctuation.definition.string'],
  ['c-keyword', 'keyword, storage, keyword.operator.expression, variable.language'],
  ['', 'keyword.operator, punctuation, meta.brace'],
  [
    'c-name',
    'support.type.property-name, entity.name.type, support.class, entity.name.tag, constant.other.option',
  ],
  ['c-call', 'entity.name.function, support.function, entity.name.command'],
  ['c-added', 'markup.inserted, punctuation.definition.inserted'],
  ['c-removed', 'markup.deleted, punctuation.definition.deleted'],
]

/** A colour that stands for a class. */
const colourOf = (place: number) => `#00000${place}`

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
        fg: colourOf(0),
        bg: '#ffffff',
        settings: CLASSES.map(([, scopes], place) => ({
          ...(scopes !== '' && { scope: scopes.split(', ') }),
          settings: { foreground: colourOf(place) },
        })),
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
            const [name] = CLASSES[Number(variants['one']?.color?.at(-1) ?? 0)] ?? ['']
            return name === ''
              ? escaped(content)
              : `<span class="${name}">${escaped(content)}</span>`
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

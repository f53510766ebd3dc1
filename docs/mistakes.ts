import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import ts from 'typescript'

import { root } from './entries.ts'
import { tableOf } from './parts.ts'

// The tables of MISTAKES.md: what stands beside a check in the sources as `// Mistake `MESSAGE`: what to write instead`. The message may
// leave out its end, and has `…` for what differs.

interface Mistake {
  /** From the root of the repository. */
  readonly path: string
  /** What its place in the document, and its address on the site, end with. */
  readonly id: string
  readonly message: string
  readonly advice: string
}

/** @param code A source. */
function mistakesIn(code: string, path: string): readonly Mistake[] {
  const comments = code.matchAll(/^( *)\/\/ (Mistake .*(?:\n\1\/\/ (?!Mistake ).*)*)/gm)
  return [...comments].map(([, , comment = '']) => {
    const text = comment.replaceAll(/\n *\/\/ /g, ' ')
    const [, stated, message, advice] =
      /^Mistake (?:(error-[a-z\d-]+) )?`([^`]+)`: (.+)$/.exec(text) ?? []
    if (message === undefined || advice === undefined)
      throw new Error(`${path}: write // Mistake \`MESSAGE\`: ADVICE`)
    return { path, id: stated ?? idOf(message), message, advice }
  })
}

/** @param folders Below `packages`, such as `kit` and `core/src/keys`. Without any, of all packages. */
function mistakesOf(...folders: readonly string[]): readonly Mistake[] {
  const patterns = (folders.length === 0 ? ['*'] : folders).map((folder) =>
    folder.includes('/') ? `packages/${folder}/**/*.ts` : `packages/${folder}/src/**/*.ts`,
  )
  return patterns.flatMap((pattern) =>
    globSync(pattern, { cwd: root })
      .toSorted()
      .flatMap((path) => mistakesIn(readFileSync(join(root, path), 'utf8'), path)),
  )
}

/** Whether a message is that of a row, which may leave out its end. In a row `…:` is the name of any function. */
function begins(text: string, row: string): boolean {
  return (row.startsWith('…: ') ? text.replace(/^[^\s:]+: /, '…: ') : text).startsWith(row)
}

/**
 * What is wrong with the comments of all packages. `testing` and the programs say theirs to the person who has just written the call
 * or the command, and guides of core name no provider.
 *
 * @param document MISTAKES.md.
 */
export function faultsOfMistakes(document: string): readonly string[] {
  const all = mistakesOf()
  const paths = globSync('packages/!(cli|providers|testing)/src/**/*.ts', { cwd: root })
  const said = paths
    .filter((path) => !path.startsWith('packages/redis/src/program'))
    .flatMap((path) =>
      messagesIn(readFileSync(join(root, path), 'utf8')).map((text) => ({ path, text })),
    )
  return [
    ...said
      .filter(({ text }) => !SELDOM.has(text) && !all.some(({ message }) => begins(text, message)))
      .map(({ path, text }) => `${path}: write // Mistake \`MESSAGE\`: ADVICE above: ${text}`),
    ...all
      .filter(
        (each) => !said.some(({ path, text }) => path === each.path && begins(text, each.message)),
      )
      .map(({ path, message }) => `${path}: nothing here says ${message}`),
    ...all
      .filter(({ id }) => document.split(`<a id="${id}"></a>`).length !== 2)
      .map(({ path, id }) => `${path}: MISTAKES.md must have ${id} once`),
  ]
}

/** Decorators that contradict each other are named in their message. No key has another kind, and WebCrypto makes pairs. */
const SELDOM = new Set(['…', 'unknown kind of key: …', 'not a key pair'])

/** A row for each mistake in these folders. */
export function tableOfMistakes(...folders: readonly string[]): string {
  const rows = mistakesOf(...folders).map(({ id, message, advice }) => [
    `<a id="${id}"></a>\`${message}\``,
    advice,
  ])
  if (rows.length === 0) throw new Error(`there are no mistakes in ${folders.join(', ')}`)
  return tableOf(['Message', 'What to write, and why'], rows)
}

function idOf(message: string): string {
  const words =
    message
      .replaceAll('…', '')
      .toLowerCase()
      .match(/[a-z\d]+/g) ?? []
  return `error-${words.join('-')}`
}

/** The messages of the TypeErrors of a source, with `…` for each part that is put in. */
export function messagesIn(code: string): readonly string[] {
  const messages: string[] = []
  if (!code.includes('TypeError')) return messages
  function look(node: ts.Node): void {
    if (ts.isNewExpression(node) && node.expression.getText() === 'TypeError') {
      const [given] = node.arguments ?? []
      const said =
        given && ts.isCallExpression(given) && given.expression.getText() === 'explained'
          ? given.arguments[0]
          : given
      messages.push(said === undefined ? '' : textOf(said))
    }
    ts.forEachChild(node, look)
  }
  look(ts.createSourceFile('a.ts', code, ts.ScriptTarget.Latest, true))
  return messages
}

/** What is not written where the error is made is all put in. */
function textOf(node: ts.Expression): string {
  if (ts.isStringLiteralLike(node)) return node.text
  if (!ts.isTemplateExpression(node)) return '…'
  return node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join('')
}

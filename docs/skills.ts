import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { tablesOf } from '../test/documents/markdown.ts'
import { begins, messagesOf } from '../test/documents/type-errors.ts'
import { root } from './entries.ts'
import { headOf, plain } from './pages.ts'
import { MISTAKES } from './sections.ts'

// SKILL.md of a package, for coding agents: what it is for, the first lines, and the mistakes that are made with it. All of it stands
// in the README of the package and in MISTAKES.md.

/** Parts of a README that keep somebody from a mistake, in its order. */
const WARNINGS = ['Why 401?', 'Behind the guard', 'CORS', 'Refusals', 'What it does not do']

/** @param folder Of the package, such as `express`. */
export function skillOf(folder: string): string {
  const readme = readFileSync(join(root, 'packages', folder, 'README.md'), 'utf8')
  const { title, about } = headOf(readme, folder)
  const [, lead = ''] = /^# .*\n\n((?:.+\n)+)/m.exec(readme) ?? []
  const mistakes = mistakesOf(folder, readme.includes('authenticate(verifier')).map(
    ([message, advice]) => `- \`${message}\`: ${advice}`,
  )
  return (
    [
      `---\nname: portcullis-${folder}\ndescription: ${JSON.stringify(about)}\n---`,
      `# ${title}`,
      withoutLinks(lead).trim(),
      '## The first lines',
      ...blocksOf(readme),
      'The README beside this file has all options.',
      ...(mistakes.length === 0 ? [] : ['## Mistakes, by their messages', mistakes.join('\n')]),
      ...WARNINGS.flatMap((heading) => sectionOf(readme, heading)),
    ].join('\n\n') + '\n'
  )
}

/** What the sources of a package say to who has made a mistake, and what to do then. `…` stands for text that differs. */
function mistakesOf(
  folder: string,
  isGuard: boolean,
): readonly (readonly [message: string, advice: string])[] {
  // What guards say is written once for all of them, in core.
  const ofGuards = messagesOf('core').filter(({ path }) => path.includes('/src/request/'))
  const messages = [
    ...messagesOf(folder),
    ...(usesKit(folder) ? messagesOf('kit') : []),
    ...(isGuard ? ofGuards : []),
  ]
  return tablesOf(readFileSync(join(root, MISTAKES), 'utf8'))
    .filter(({ columns: [first] }) => first === 'Message')
    .flatMap(({ rows }) => rows)
    .flatMap(([cell = '', advice = '']) => {
      const message = plain(cell)
      // One that fits every function says nothing of this package.
      const isOwn = message !== '…: … …' && messages.some(({ text }) => begins(text, message))
      return isOwn ? [[message, withoutLinks(advice)] as const] : []
    })
}

/** What it is published with, and so says what that says. */
function usesKit(folder: string): boolean {
  return globSync(`packages/${folder}/src/**/*.ts`, { cwd: root }).some((path) =>
    readFileSync(join(root, path), 'utf8').includes("'@portcullis/kit/"),
  )
}

/** How it is installed, and its first example. */
function blocksOf(readme: string): readonly string[] {
  const blocks = readme.match(/^```(?:sh|ts|js)\n[\s\S]*?^```$/gm) ?? []
  const example = blocks.find((block) => !block.startsWith('```sh'))
  return [blocks[0], example].filter((block) => block !== undefined)
}

function sectionOf(readme: string, heading: string): readonly string[] {
  const section = readme.split(/^(?=## )/m).find((part) => part.startsWith(`## ${heading}\n`))
  return section === undefined ? [] : [withoutLinks(section).trim()]
}

/** Links are for who reads the README; here their texts are enough. */
function withoutLinks(text: string): string {
  return text.replaceAll(/\[((?:`[^`]*`|[^\]`])*)\]\([^)]*\)/g, '$1')
}

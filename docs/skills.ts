import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { root } from './entries.ts'
import { headOf, withoutLinks } from './pages.ts'

// SKILL.md of core, for coding agents, is about the whole family: its packages, the first lines of a verifier and of a guard, and what
// keeps somebody from a mistake. All of it stands in READMEs and in GUARDS.md. That of any other package leads to it.

/** Parts of GUARDS.md, in its order. */
const WARNINGS = ['Where things are', 'Optional routes', 'CORS', 'Why 401?', 'Refusals', 'Tests']

/**
 * @param folder Of the package, such as `express`.
 * @param guards What GUARDS.md says, with what is written in it.
 */
export function skillOf(folder: string, folders: readonly string[], guards: string): string {
  return folder === 'core'
    ? ofFamily(folders, guards)
    : `Read \`node_modules/@portcullis/core/SKILL.md\`, which is for all packages of the family, and the README beside this file.\n`
}

function ofFamily(folders: readonly string[], guards: string): string {
  const about =
    'Verifies access tokens (JWT, opaque, DPoP) in Node.js: guards for Express, Koa, Fastify, Hono, NestJS and MCP, clients, tests.'
  return (
    [
      `---\nname: portcullis\ndescription: ${JSON.stringify(about)}\n---`,
      '# Portcullis',
      `${about} State \`issuer\` and \`audience\` of every verifier. A wrong option is a \`TypeError\` at start-up: what to write instead is in \`MISTAKES.md\` beside this file, by its message. A refusal is an \`AuthError\`: \`ERRORS.md\`, by its reason. All options of guards are in \`GUARDS.md\`.`,
      '## Packages',
      folders.map((folder) => `- \`@portcullis/${folder}\`: ${aboutOf(folder)}`).join('\n'),
      '## A verifier',
      ...blocksOf(read('packages/core/README.md')),
      '## A guard',
      ...blocksOf(read('packages/express/README.md')),
      ...WARNINGS.flatMap((heading) => sectionOf(guards, heading)),
    ].join('\n\n') + '\n'
  )
}

function aboutOf(folder: string): string {
  return headOf(read(`packages/${folder}/README.md`), folder).about
}

/** How it is installed, and its first example. */
function blocksOf(readme: string): readonly string[] {
  const blocks = readme.match(/^```(?:sh|ts|js)\n[\s\S]*?^```$/gm) ?? []
  const example = blocks.find((block) => !block.startsWith('```sh'))
  return [blocks[0], example].filter((block) => block !== undefined)
}

/** @throws Error if there is none: the document has changed, and this must follow. */
function sectionOf(text: string, heading: string): readonly string[] {
  const section = text.split(/^(?=## )/m).find((part) => part.startsWith(`## ${heading}\n`))
  if (section === undefined) throw new Error(`there is no section ${heading}`)
  return [
    withoutLinks(section)
      .replaceAll(/^<!-- .* -->\n\n/gm, '')
      .trim(),
  ]
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

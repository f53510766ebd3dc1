import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { adapters } from '../../../frameworks/contract/frameworks/index.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))

const COMMENTS = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm
/** `.name`, `name:`, `{ name, name }` and `'name'`: too many rather than too few. */
const NAMES = [
  /\.\s*#?(?<names>[A-Za-z_$][\w$]*)/g,
  /(?<names>[A-Za-z_$][\w$]*)\??\s*:/g,
  /\{(?<names>[^{}]*)\}\s*(?:=|:|\)|of\b)/g,
  /'(?<names>[A-Za-z_$][\w$-]*)'/g,
]

/**
 * Every name that the sources of core, introspection, mcp and the adapters could read of an object. Those that all objects have anyway are
 * left out: a polluted `toString` breaks the language.
 */
export function memberNames(): readonly string[] {
  const names = new Set<string>()
  const folders = ['core', 'introspection', 'mcp', ...adapters.map(({ folder }) => folder)]
  const patterns = folders.map((folder) => `packages/${folder}/src/**/*.ts`)
  for (const path of globSync(patterns, { cwd: root })) {
    const text = readFileSync(`${root}/${path}`, 'utf8').replaceAll(COMMENTS, ' ')
    for (const pattern of NAMES) {
      for (const { groups } of text.matchAll(pattern)) {
        for (const name of groups?.['names']?.match(/[A-Za-z_$][\w$-]*/g) ?? []) names.add(name)
      }
    }
  }
  return [...names].filter((name) => !(name in Object.prototype)).toSorted()
}

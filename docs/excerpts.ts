import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { root } from './entries.ts'

/**
 * Regions of a source that a test runs (`// #region NAME` to `// #endregion`), and above them where names that they use come from:
 * `excerpt PATH region region import name name`.
 *
 * @throws Error if the source has no such region, or imports no such name.
 */
export function excerptOf(path = '', ...words: readonly string[]): string {
  const source = readFileSync(join(root, path), 'utf8')
  const at = words.includes('import') ? words.indexOf('import') : words.length
  const imports = importsOf(source, words.slice(at + 1))
  const pieces = words.slice(0, at).map((name) => regionOf(source, name))
  const text = pieces.map((lines) => (/\n./.test(lines) ? `\n${lines}` : lines)).join('')
  return `\`\`\`ts\n${imports === '' ? '' : `${imports}\n`}${text.trimStart()}\`\`\``
}

function regionOf(source: string, name: string): string {
  const region = new RegExp(`^( *)// #region ${name}\\n(.*?)^ *// #endregion$`, 'ms')
  const [, indentation, lines] = region.exec(source) ?? []
  if (lines === undefined) throw new Error(`there is no region ${name}`)
  return lines.replaceAll(new RegExp(`^${indentation}`, 'gm'), '')
}

/** A line for each module. */
function importsOf(source: string, names: readonly string[]): string {
  const lines = [...source.matchAll(/^import \{([^}]*)\} from (.*)$/gm)].flatMap(
    ([, list = '', from = '']) => {
      const used = list.split(',').filter((name) => names.includes(name.trim()))
      return used.length === 0 ? [] : [`import {${used.join(',').trimEnd()} } from ${from}\n`]
    },
  )
  const missing = names.find((name) => !lines.some((line) => line.includes(` ${name}`)))
  if (missing !== undefined) throw new Error(`nothing imports ${missing}`)
  return lines.join('')
}

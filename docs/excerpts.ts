import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { root } from './entries.ts'

/**
 * A piece of a source that a test runs: from what has the first name, with its comment, to the end of what has the last one.
 *
 * @throws Error if the source declares no such name.
 */
export function excerptOf(path = '', first = '', last = first): string {
  const lines = readFileSync(join(root, path), 'utf8').trimEnd().split('\n')
  const lineOf = (name: string) => {
    const found = lines.findIndex((line) => DECLARED.exec(line)?.[1] === name)
    if (found === -1) throw new Error(`${path} declares no ${name}`)
    return found
  }
  const declared = lineOf(first)
  const from = lines[declared - 1]?.startsWith('/** ') ? declared - 1 : declared
  const end = lines.indexOf('}', lineOf(last))
  const piece = lines.slice(from, end === -1 ? undefined : end + 1)
  return `\`\`\`ts\n${piece.join('\n')}\n\`\`\``
}

const DECLARED = /^(?:export )?(?:async )?(?:function|const|class) (\w+)/

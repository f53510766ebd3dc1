import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { diff } from 'node:util'

import { root } from './entries.ts'

/** What changes in an application of another package: the lines of test/migration that differ, or the hunks of these by their numbers. */
export function migrated(peer = '', ...numbers: readonly string[]): string {
  const [before = [], after = []] = ['before', 'after'].map((side) =>
    readFileSync(join(root, 'test/migration', peer, `${side}.ts`), 'utf8')
      .trimEnd()
      .split('\n'),
  )
  const hunks = diff(before, after)
    .map(([side, line]) => (side === 0 ? '' : `${side > 0 ? '-' : '+'} ${line}`.trimEnd()))
    .join('\n')
    .trim()
    .split(/\n{2,}/)
  const chosen = numbers.length === 0 ? hunks : numbers.map((number) => hunks[Number(number) - 1])
  if (chosen.includes(undefined)) throw new Error(`the diff of ${peer} has ${hunks.length} hunks`)
  return `\`\`\`diff\n${chosen.join('\n@@\n')}\n\`\`\``
}

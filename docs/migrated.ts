import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { root } from './entries.ts'

// What changes in an application of another package, for the guides about moving: the lines of test/migration that differ.

/** Lines that differ, with the one above them if the lines of that side are the same there. */
type Hunk = readonly string[]

/** The diff of an application, or those of its hunks that are named by their numbers. */
export function migrated(peer = '', ...numbers: readonly string[]): string {
  const [before, after] = ['before', 'after'].map((side) => linesOf(peer, side))
  const hunks = hunksOf(before ?? [], after ?? [])
  const chosen = numbers.length === 0 ? hunks : numbers.map((number) => hunks[Number(number) - 1])
  const texts = chosen.map((hunk) => {
    if (hunk === undefined) throw new Error(`the diff of ${peer} has ${hunks.length} hunks`)
    return hunk.join('\n')
  })
  return `\`\`\`diff\n${texts.join('\n@@\n')}\n\`\`\``
}

function linesOf(peer: string, side: string): readonly string[] {
  const path = join(root, 'test/migration', peer, `${side}.ts`)
  return readFileSync(path, 'utf8').trimEnd().split('\n')
}

function hunksOf(before: readonly string[], after: readonly string[]): readonly Hunk[] {
  const hunks: string[][] = []
  let hunk: string[] = []
  const end = () => {
    if (hunk.length > 0) hunks.push(hunk)
    hunk = []
  }
  let at = 0
  let to = 0
  for (const [same, there] of [...common(before, after), [before.length, after.length] as const]) {
    hunk.push(...before.slice(at, same).map((line) => `- ${line}`.trimEnd()))
    hunk.push(...after.slice(to, there).map((line) => `+ ${line}`.trimEnd()))
    end()
    at = same + 1
    to = there + 1
  }
  return hunks
}

/** Where the lines of the longest common subsequence are, in both texts. */
function common(
  before: readonly string[],
  after: readonly string[],
): readonly (readonly [number, number])[] {
  const lengths = before.map(() => after.map(() => 0))
  const lengthAt = (at: number, to: number) => lengths[at]?.[to] ?? 0
  for (let at = before.length - 1; at >= 0; at--)
    for (let to = after.length - 1; to >= 0; to--) {
      const row = lengths[at]
      if (row === undefined) continue
      row[to] =
        before[at] === after[to]
          ? lengthAt(at + 1, to + 1) + 1
          : Math.max(lengthAt(at + 1, to), lengthAt(at, to + 1))
    }
  const found: (readonly [number, number])[] = []
  let at = 0
  let to = 0
  while (at < before.length && to < after.length)
    if (before[at] === after[to]) found.push([at++, to++])
    else if (lengthAt(at + 1, to) >= lengthAt(at, to + 1)) at++
    else to++
  return found
}

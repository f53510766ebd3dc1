import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { blocksOf } from '../documents/markdown.ts'

// The names that have moved since a release candidate, as UPGRADING.md has them, and how it follows them.

export interface Moved {
  /** Without the scope. */
  readonly package: string
  readonly was: string
  readonly now: string
}

const root = join(import.meta.dirname, '..', '..')
const [, following] = blocksOf(readFileSync(join(root, 'packages/core/UPGRADING.md'), 'utf8'))

/** The commands, in a folder that has `src`. */
export const FOLLOWING = following?.code ?? ''

export const MOVED: readonly Moved[] = [...FOLLOWING.matchAll(/^(\S+) (\w+) (\S.*)$/gm)]
  .filter(([line]) => !/[$;]|^done|^while/.test(line))
  .map(([, from = '', was = '', now = '']) => ({ package: from, was, now }))

/** Whether it is a member of another type now. */
function isTaken({ now }: Moved): boolean {
  return now.includes('import(')
}

/** The application of today as it was with that candidate. */
export function asCandidate(text: string): string {
  // First what is taken from another type, whose name may have moved.
  const taken = MOVED.filter(isTaken).reduce(
    (before, { package: from, was, now }) =>
      before
        .replaceAll(now, () => was)
        .replace(
          new RegExp(`^(import \\{ )(.* from '@portcullis/${from}')$`, 'm'),
          `$1type ${was}, $2`,
        ),
    text,
  )
  return MOVED.filter((each) => !isTaken(each)).reduce(
    (before, { was, now }) => before.replaceAll(new RegExp(`\\b${now}\\b`, 'g'), was),
    taken,
  )
}

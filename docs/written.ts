import { basename, dirname } from 'node:path'

import { manifestPaths } from '../test/publishing/published.ts'
import { errorsGuide } from './errors-guide.ts'
import { REFUSAL_WORDS, refusalWords } from './refusal-words.ts'
import { ERRORS } from './sections.ts'
import { skillOf } from './skills.ts'

// The files, or parts of files, that say once more what stands elsewhere. `pnpm write` writes them, and a test compares.

export interface WrittenFile {
  /** From the root of the repository. */
  readonly path: string
  readonly text: string
}

export function writtenFiles(): readonly WrittenFile[] {
  const packages = manifestPaths.map((path) => basename(dirname(path)))
  return [
    { path: ERRORS, text: errorsGuide() },
    { path: REFUSAL_WORDS, text: refusalWords() },
    ...packages.map((folder) => ({ path: `packages/${folder}/SKILL.md`, text: skillOf(folder) })),
  ]
}

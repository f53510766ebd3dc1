import { existsSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'

// Whether this machine has a program. Not part of describe-with.ts, since scripts without vitest want to know, too.

/** Where a program is, by its name or its path, or `undefined` if it is not installed. */
export function pathOf(program: string): string | undefined {
  if (isAbsolute(program)) return existsSync(program) ? program : undefined
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const paths = folders.filter((folder) => folder !== '').map((folder) => join(folder, program))
  return paths.find((path) => existsSync(path))
}

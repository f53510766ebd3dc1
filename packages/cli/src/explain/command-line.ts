import { printable } from '../surroundings/printable.ts'
import type { Surroundings } from '../surroundings/surroundings.ts'

// Writes commands of this program that somebody can paste into a shell.

/** A command that runs as it stands, on one line; `undefined` if a terminal could not show a word as it is. */
export function commandLine(words: readonly string[], env: Surroundings['env']) {
  const line = [nameOf(env), ...words.map(shellQuoted)].join(' ')
  return printable(line) === line && !line.includes('\n') ? line : undefined
}

/** How the program was started. npm sets this for `npx`, where nothing of ours need be in `PATH`. */
function nameOf(env: Surroundings['env']): string {
  return env['npm_command'] === 'exec' ? 'npx @portcullis/cli' : 'portcullis'
}

/** Within single quotes of a POSIX shell nothing has a meaning but the quote itself. */
function shellQuoted(word: string): string {
  return /^[\w%+,./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}

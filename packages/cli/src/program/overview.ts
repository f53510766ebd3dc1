import { wrapped } from '../surroundings/wrapped.ts'

// What `portcullis --help` prints. It needs nothing but this file, because what reads command lines takes longer to load than Node to
// start.

/** A command in the list of all. */
export interface Listed {
  readonly name: string
  /** Its arguments, as the help lists them. */
  readonly usage: string
  readonly description: string
}

export const DESCRIPTION =
  'Explains access tokens, looks at key documents, asks APIs what they accept.'

export const OPTIONS = {
  version: ['-V, --version', 'print the version'],
  help: ['-h, --help', 'print help'],
} as const

export const HELP_COMMAND = ['help [command]', 'print help for a command'] as const

const ASKS_FOR_HELP: ReadonlySet<string | undefined> = new Set(['-h', '--help', 'help'])

/** Whether the arguments ask for the overview and nothing else. */
export function asksForOverview(args: readonly string[]): boolean {
  const [first, second = first] = args
  return args.length <= 2 && ASKS_FOR_HELP.has(first) && ASKS_FOR_HELP.has(second)
}

/** @param columns Characters of a line. */
export function overview(commands: readonly Listed[], columns: number): string {
  const terms = commands.map(
    ({ name, usage, description }) => [`${name} ${usage}`, description] as const,
  )
  const listed = [...terms, HELP_COMMAND]
  const width = Math.max(...listed.map(([term]) => term.length))
  const line = ([term, text]: readonly [string, string]) =>
    `  ${term.padEnd(width)}  ${wrapped(text, columns, width + 4)}\n`
  return [
    'Usage: portcullis [options] [command]\n\n',
    `${DESCRIPTION}\n\n`,
    'Options:\n',
    ...Object.values(OPTIONS).map(line),
    '\nCommands:\n',
    ...listed.map(line),
  ].join('')
}

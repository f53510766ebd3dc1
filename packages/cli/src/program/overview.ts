import { wrapped } from '../surroundings/wrapped.ts'

// What `portcullis --help` prints. It needs nothing but this file, because what reads command lines takes longer to load than Node to
// start.

const TABLE = `
try [options] | watch a guard for a minute, through a rotation and a flood of forged tokens
serve [options] | run a token service for development and tests
mint [options] | print a token that the running service signs, sound or not
rotate [options] | let the running service change to a new key
fault [options] <endpoint> <kind> | let an endpoint of the running service misbehave
revoke [options] [token] | revoke a token, or all of a user, for every API that follows a Redis stream
log [options] | print what happened in the running service: the newest 1,000 events
health [options] | ask whether the service runs; the answer is the exit code alone
explain [options] [token] | say why a token is accepted or refused: every check of the verifier
decode [options] [token] | show what a token says, without checking any of it
keys [options] [place] | fetch a key document, and say what a verifier makes of it
probe [options] <url> | call an API without a token, with bad ones and with yours, and judge its answers
doctor [options] | look at the service in this folder: Node, packages, TypeScript, keys, clock
`

export const COMMANDS: readonly {
  readonly name: string
  readonly usage: string
  readonly description: string
}[] = TABLE.trim()
  .split('\n')
  .map((row) => {
    const [term = '', description = ''] = row.split(' | ')
    const [name = '', ...usage] = term.split(' ')
    return { name, usage: usage.join(' '), description }
  })

export const DESCRIPTION =
  'Explains access tokens, looks at key documents, asks APIs what they accept.'

export const OPTIONS = {
  version: ['-V, --version', 'print the version'],
  help: ['-h, --help', 'print help'],
} as const

export const HELP_COMMAND = ['help [command]', 'print help for a command'] as const

const ASKS_FOR_HELP: ReadonlySet<string | undefined> = new Set(['-h', '--help', 'help'])

export function asksForOverview(args: readonly string[]): boolean {
  const [first, second = first] = args
  return args.length <= 2 && ASKS_FOR_HELP.has(first) && ASKS_FOR_HELP.has(second)
}

export function overview(columns: number): string {
  const terms = COMMANDS.map(
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

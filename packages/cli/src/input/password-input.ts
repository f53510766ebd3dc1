import type { Context } from '../surroundings/context.ts'
import { CommandError, EXIT, usageError } from '../surroundings/exit-code.ts'
import { textsOf } from '../surroundings/interruption.ts'
import { readAll } from './token-input.ts'

// Where `login` gets the password from: a prompt without echo, stdin, the environment, or, with a warning, an argument.

/** Where a password may come from. */
export interface PasswordOptions {
  readonly password?: string
  readonly passwordEnv?: string
  readonly passwordStdin?: boolean
}

const NOTE =
  'note: the password is seen by other users of the machine (ps) and kept in the history of the shell; prefer --password-env or the prompt'

/**
 * Reads a password from where the user says, or asks for it on a terminal.
 *
 * @throws CommandError without the password.
 */
export async function readPassword(options: PasswordOptions, context: Context): Promise<string> {
  const { password, passwordEnv, passwordStdin } = options
  const sources = [password, passwordEnv, passwordStdin].filter((each) => each !== undefined)
  if (sources.length > 1) {
    throw usageError('state one of --password-env, --password-stdin and --password')
  }
  const text = await read(options, context)
  if (text === '') throw usageError('the password is empty')
  return text
}

async function read(
  { password, passwordEnv, passwordStdin }: PasswordOptions,
  context: Context,
): Promise<string> {
  const { env, stdin, terminal } = context
  if (password !== undefined) {
    terminal.say(NOTE)
    return password
  }
  if (passwordEnv !== undefined) {
    const value = env[passwordEnv]
    if (value === undefined) throw usageError(`the environment variable ${passwordEnv} is not set`)
    return value
  }
  if (passwordStdin === true) return (await readAll(context)).replace(/\r?\n$/, '')
  if (stdin.isTTY === true && stdin.setRawMode !== undefined) return await prompted(context)
  throw usageError('stdin is no terminal: state --password-env or --password-stdin')
}

const INTERRUPT = '\u{3}'
const END = '\u{4}'
const ERASE: ReadonlySet<string> = new Set(['\u{8}', '\u{7f}'])

/** Reads a line from the terminal, which in raw mode shows nothing of it. */
async function prompted(context: Context): Promise<string> {
  const { stdin, terminal } = context
  const typed: string[] = []
  terminal.ask('Password: ')
  stdin.setRawMode?.(true)
  try {
    for await (const text of textsOf(context)) {
      for (const character of text) {
        if (character === '\r' || character === '\n' || character === END) return typed.join('')
        if (character === INTERRUPT) throw new CommandError(EXIT.interrupted, 'interrupted')
        if (ERASE.has(character)) typed.pop()
        else typed.push(character)
      }
    }
    return typed.join('')
  } finally {
    stdin.setRawMode?.(false)
    terminal.say('')
  }
}

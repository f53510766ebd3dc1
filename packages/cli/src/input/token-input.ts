import type { Command } from 'commander'

import { usageError } from '../surroundings/exit-code.ts'
import { textsOf } from '../surroundings/interruption.ts'
import type { Context } from '../surroundings/terminal.ts'
import { readTextFile } from './named-file.ts'

// Where commands get a token from: an argument, a file, the environment or stdin, with or without the text around it.

export interface TokenOptions {
  readonly file?: string
  readonly env?: string
}

export interface TokenInput {
  readonly token: string
  /** What was taken off, in words: `Authorization:`, `Bearer`, quotes, white space. */
  readonly stripped: readonly string[]
}

/** Characters: more than any server reads in a header. */
const LONGEST_INPUT = 1_000_000

const ARGUMENT_NOTE =
  'note: arguments are seen by other users of the machine (ps) and kept in the history of the shell; prefer stdin, --file or --env'

export function takesToken(command: Command): Command {
  return command
    .argument('[token]', 'the token or the whole Authorization line; - or nothing reads stdin')
    .option('--file <path>', 'read it from a file')
    .option('--env <name>', 'read it from an environment variable')
}

export async function readToken(
  argument: string | undefined,
  options: TokenOptions,
  context: Context,
): Promise<TokenInput> {
  const sources = [argument, options.file, options.env].filter((each) => each !== undefined)
  if (sources.length > 1) throw usageError('state one of a token, --file and --env')
  return tokenIn(await read(argument, options, context))
}

async function read(argument: string | undefined, { file, env }: TokenOptions, context: Context) {
  if (file !== undefined) return await readTextFile(file, context)
  if (env !== undefined) return readVariable(env, context)
  if (argument !== undefined && argument !== '-') {
    context.terminal.say(ARGUMENT_NOTE)
    return argument
  }
  if (context.stdin.isTTY === true) context.terminal.say('Paste the token, then Enter and Ctrl-D:')
  let text = ''
  for await (const more of textsOf(context)) {
    text += more
    if (text.length > LONGEST_INPUT) throw usageError('the input is too long for a token')
  }
  return text
}

export function readVariable(name: string, { env }: Context): string {
  const value = env[name]
  if (value === undefined) throw usageError(`the environment variable ${name} is not set`)
  return value
}

/** @throws CommandError if there is nothing. */
export function tokenIn(text: string): TokenInput {
  const stripped: string[] = []
  let rest = text.trim()
  if (rest !== text.replace(/\r?\n$/, '')) stripped.push('white space')
  for (const [name, pattern] of WRAPPINGS) {
    const inner = pattern.exec(rest)?.groups?.['inner']
    if (inner === undefined) continue
    stripped.push(name)
    rest = inner.trim()
  }
  if (rest === '') throw usageError('there is no token: the input is empty')
  return { token: rest, stripped }
}

const QUOTES = ['quotes', /^(?<quote>["'])(?<inner>.*)\k<quote>,?$/s] as const

/** From the outside inwards, so that `-H "Authorization: Bearer ..."` is read as a whole. */
const WRAPPINGS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['-H', /^(?:-H|--header)[\s=]+(?<inner>\S.*)$/s],
  QUOTES,
  ['Authorization:', /^authorization\s*:(?<inner>.*)$/is],
  QUOTES,
  ['Bearer', /^bearer\s+(?<inner>.*)$/is],
  ['DPoP', /^dpop\s+(?<inner>.*)$/is],
  QUOTES,
]

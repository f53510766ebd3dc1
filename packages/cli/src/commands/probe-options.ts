import type { Command } from 'commander'

import { readToken, type TokenOptions } from '../input/token-input.ts'
import type { VerifierFlags } from '../input/verifier-flags.ts'
import type { KeyOptions } from '../keys/key-choice.ts'
import { lastingClaims } from '../probe/claims.ts'
import type { Answer, NoAnswer, Target } from '../probe/exchange.ts'
import type { ProbeFindings } from '../probe/findings.ts'
import { isConfidential } from '../serve/secret.ts'
import { CommandError, EXIT, type ExitCode, usageError } from '../surroundings/exit-code.ts'
import type { Context, Terminal } from '../surroundings/terminal.ts'

// What both ways of the command `probe` have in common: its options, where the API is, the token of the user, and the exit codes.

export interface ProbeOptions extends KeyOptions, TokenOptions, VerifierFlags {
  readonly stdin?: boolean
  readonly expiredFile?: string
  readonly method: string
  readonly openapi?: string
  readonly unsafeMethods?: boolean
  readonly value?: Readonly<Record<string, string>>
  readonly json?: boolean
}

export const EXIT_CODES: Readonly<Record<ProbeFindings['verdict'], ExitCode>> = {
  sound: EXIT.ok,
  breach: EXIT.refused,
  faulty: EXIT.refused,
  unclear: EXIT.undecided,
}

/** The options that `--openapi` takes, and those that nothing else takes. */
const WITH_OPERATIONS: ReadonlySet<string> = new Set([
  '--file',
  '--env',
  '--stdin',
  '--algorithm',
  '--issuer',
  '--audience',
  '--timeout',
  '--allow-insecure',
  '--json',
])
const OF_OPERATIONS: ReadonlySet<string> = new Set(['--openapi', '--unsafe-methods', '--value'])

/** @throws CommandError for options that say nothing beside each other. */
export function checkTogether(command: Command): void {
  const stated = command.options
    .filter((option) => command.getOptionValueSource(option.attributeName()) === 'cli')
    .map(({ long }) => String(long))
  if (!stated.includes('--openapi')) {
    const lonely = stated.find((flag) => OF_OPERATIONS.has(flag))
    if (lonely !== undefined) throw usageError(`${lonely} needs --openapi`)
    return
  }
  const other = stated.find((flag) => !WITH_OPERATIONS.has(flag) && !OF_OPERATIONS.has(flag))
  if (other !== undefined) throw usageError(`--openapi does not take ${other}`)
}

export async function goodToken({ file, env, stdin }: ProbeOptions, context: Context) {
  if (file === undefined && env === undefined && stdin !== true) return undefined
  const stated = { ...(file && { file }), ...(env && { env }) }
  const { token } = await readToken(stdin === true ? '-' : undefined, stated, context)
  return token
}

export function claimsLike(
  token: string | undefined,
  { issuer, discover, audience }: ProbeOptions,
) {
  const own = token === undefined ? { sub: 'portcullis-probe' } : lastingClaims(token)
  return {
    ...own,
    ...((issuer ?? discover) !== undefined && { iss: issuer?.[0] ?? discover }),
    ...(audience && { aud: audience[0] }),
  }
}

export function targetOf(
  text: string,
  { method, timeout = 5, allowInsecure }: ProbeOptions,
  hasToken: boolean,
): Target {
  if (!URL.canParse(text)) throw usageError('the URL must be like https://api.example.com/v1/me')
  const url = new URL(text)
  if (!/^https?:$/.test(url.protocol)) throw usageError('the URL must begin with https: or http:')
  if (url.username !== '' || url.password !== '') {
    throw usageError('the URL must not contain credentials')
  }
  if (hasToken && !isConfidential(url) && allowInsecure !== true) {
    throw usageError(
      'the URL must begin with https: (--allow-insecure sends your token in the clear)',
    )
  }
  if (!/^[A-Z]+$/.test(method)) throw usageError('--method must be a name such as GET or POST')
  if (!(timeout > 0 && timeout <= 60)) throw usageError('--timeout must be at most 60 seconds')
  return { url, method, timeout }
}

/** @throws CommandError if the first request has no answer. */
export function checkReached({ failure }: Answer | NoAnswer): void {
  if (failure === undefined) return
  throw new CommandError(EXIT.undecided, `the API does not answer: ${failure}`)
}

export function warnOf(badTokens: number, terminal: Terminal): void {
  terminal.say(
    `Sends ${badTokens} bad tokens, which may fire an alarm that watches for a flood of them.`,
  )
}

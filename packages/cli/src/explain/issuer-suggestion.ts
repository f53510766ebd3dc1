import { discoverKeys } from '@portcullis/core'

import { memberOf, partOf } from '../input/unread-json.ts'
import type { Surroundings } from '../surroundings/surroundings.ts'
import { commandLine } from './command-line.ts'

// Which issuer a token names, for whoever has not said where its keys are. Nothing is fetched: anybody can write a token.

/** Characters. Those of known providers have less than a hundred. */
const LONGEST_ISSUER = 300

/**
 * The `iss` of a token that nobody has checked, if keys could be discovered there: a URL in printable ASCII, https or on this
 * machine, without credentials, query or fragment.
 */
export function namedIssuer(token: string): string | undefined {
  const iss = memberOf(partOf(token, 'payload'), 'iss')
  if (typeof iss !== 'string' || iss.length > LONGEST_ISSUER || !/^[!-~]+$/.test(iss)) {
    return undefined
  }
  return isDiscoverable(iss) ? iss : undefined
}

function isDiscoverable(issuer: string): boolean {
  try {
    discoverKeys(issuer) // which asks for nothing before it is used
    return true
  } catch {
    return false
  }
}

export function suggestion(
  token: string,
  argument: string | undefined,
  { args, env }: Pick<Surroundings, 'args' | 'env'>,
): string | undefined {
  const issuer = namedIssuer(token)
  if (issuer === undefined) return undefined
  const [command = '', ...stated] = args
  // A token in an argument is in no message.
  const others = stated.filter((each) => each !== argument)
  const line = commandLine([command, '--discover', issuer, ...others], env)
  if (line === undefined) return undefined
  const hasOtherSource = others.some((each) => /^--(?:file|env)(?:=|$)/.test(each))
  return [
    'The token names an issuer, which anybody can write. If it is the one that you expect, run',
    `  ${line}`,
    ...(hasOtherSource ? [] : ['which reads the token from stdin.']),
  ].join('\n')
}

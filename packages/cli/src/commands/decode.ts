import { parseJson } from '@portcullis/kit/json'
import type { Command } from 'commander'

import { timeLines } from '../explain/claim-times.ts'
import { readToken, takesToken, type TokenOptions } from '../input/token-input.ts'
import type { Context } from '../surroundings/context.ts'
import { CommandError, EXIT } from '../surroundings/exit-code.ts'
import { printable, printableJson } from '../surroundings/printable.ts'

// The command `decode`: prints header and payload, and judges nothing.

export function registerDecode(command: Command, context: Context): void {
  takesToken(command)
    .addHelpText(
      'after',
      '\nExamples:\n  portcullis decode < token.txt\n  portcullis decode --env TOKEN\n',
    )
    .action(async (argument: string | undefined, options: TokenOptions) => {
      const { token, stripped } = await readToken(argument, options, context)
      const { terminal, clock } = context
      if (stripped.length > 0) terminal.say(`read without: ${stripped.join(', ')}`)
      const [header, payload] = partsOf(token)
      terminal.print(printableJson({ header, payload }, 2))
      for (const line of timeLines(payload, clock.now())) terminal.say(printable(line))
      terminal.say('Nothing of this is checked: anybody can write it. `portcullis explain` checks.')
    })
}

function partsOf(token: string): readonly [header: unknown, payload: unknown] {
  const parts = token.split('.', 6)
  if (parts.length === 5) throw undecodable('it is encrypted (JWE)')
  if (parts.length !== 3) throw undecodable('it has no three parts')
  const [header = '', payload = ''] = parts
  return [readPart('header', header), readPart('payload', payload)]
}

function readPart(name: string, part: string): unknown {
  const value = parseJson(Buffer.from(part, 'base64url').toString('utf8'))
  if (value === undefined) throw undecodable(`its ${name} is not the base64url of JSON`)
  return value
}

function undecodable(why: string): CommandError {
  return new CommandError(EXIT.refused, `this is no JSON Web Token that can be read: ${why}`)
}

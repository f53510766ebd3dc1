import type { Command } from 'commander'

import { timeLines } from '../explain/claim-times.ts'
import { readToken, takesToken, type TokenOptions } from '../input/token-input.ts'
import { partOf } from '../input/unread-json.ts'
import { CommandError, EXIT } from '../surroundings/exit-code.ts'
import { printable, printableJson } from '../surroundings/printable.ts'
import type { Context } from '../surroundings/terminal.ts'

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
      const [header, payload] = [read(token, 'header'), read(token, 'payload')]
      terminal.print(printableJson({ header, payload }, 2))
      for (const line of timeLines(payload, clock.now())) terminal.say(printable(line))
      terminal.say('Nothing of this is checked: anybody can write it. `portcullis explain` checks.')
    })
}

function read(token: string, part: 'header' | 'payload'): unknown {
  const parts = token.split('.', 6).length
  if (parts === 5) throw undecodable('it is encrypted (JWE)')
  if (parts !== 3) throw undecodable('it has no three parts')
  const value = partOf(token, part)
  if (value === undefined) throw undecodable(`its ${part} is not the base64url of JSON`)
  return value
}

function undecodable(why: string): CommandError {
  return new CommandError(EXIT.refused, `this is no JSON Web Token that can be read: ${why}`)
}

import type { Command } from 'commander'

import { seconds } from '../input/seconds.ts'
import { algorithmName } from '../input/verifier-flags.ts'
import { type KeyOptions, placeIn, statedPlace } from '../keys/key-choice.ts'
import { inspect, type KeyInspection } from '../keys/key-inspection.ts'
import { keysJson, printKeys } from '../keys/key-report.ts'
import { EXIT, type ExitCode, usageError } from '../surroundings/exit-code.ts'
import { printableJson } from '../surroundings/printable.ts'
import type { Context } from '../surroundings/terminal.ts'

// The command `keys`: fetches or reads a key document, and prints what a verifier makes of it.

const EXAMPLES = `
Examples:
  portcullis keys https://auth.example.com/tokenservice/pubkey.json
  portcullis keys --discover https://login.example.com
  portcullis keys key.pem
  AUTH_URL=https://auth.example.com portcullis keys

Exit codes: 0 sound, 1 something should be mended, 2 wrong command line,
3 cannot be fetched
`

export function registerKeys(command: Command, context: Context): void {
  command
    .argument('[place]', 'a URL or a file: JWK, JWKS or PEM; without it the key of AUTH_URL')
    .option('--discover <issuer>', 'an issuer: the keys that its metadata name')
    .option('--timeout <time>', 'how long an answer may take (5s)', seconds)
    .option(
      '--algorithm-name <name=alg>',
      'another name of an algorithm, such as RSA512=RS512; may be repeated',
      algorithmName,
    )
    .option('--allow-insecure', 'permit http: beyond this machine')
    .option('--json', 'print JSON')
    .addHelpText('after', EXAMPLES)
    .action(
      async (place: string | undefined, options: KeyOptions & { readonly json?: boolean }) => {
        const inspection = await inspect(placeOf(place, options, context), options, context)
        const { terminal } = context
        if (options.json === true) terminal.print(printableJson(keysJson(inspection), 2))
        else printKeys(inspection, terminal)
        context.exitWith(exitCodeOf(inspection))
      },
    )
}

function placeOf(argument: string | undefined, { discover }: KeyOptions, { env }: Context) {
  if (argument !== undefined && discover !== undefined) {
    throw usageError('state one of a place and --discover')
  }
  if (argument !== undefined) return placeIn(argument)
  const place = statedPlace({ ...(discover !== undefined && { discover }) }, { env })
  if (place === undefined) throw usageError('state a URL or a file or --discover, or set AUTH_URL')
  return place
}

function exitCodeOf({ failure, remarks }: KeyInspection): ExitCode {
  // A document that cannot be used is there, and something is wrong with it.
  if (failure !== undefined && failure.reason !== 'bad_document') return EXIT.undecided
  const isSound = failure === undefined && remarks.every(({ level }) => level === 'note')
  return isSound ? EXIT.ok : EXIT.refused
}

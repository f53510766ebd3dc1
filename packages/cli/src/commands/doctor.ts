import type { Command } from 'commander'

import { checkPackages } from '../doctor/packages.ts'
import { checkService } from '../doctor/service.ts'
import { checkTypeScript } from '../doctor/typescript.ts'
import { seconds } from '../input/seconds.ts'
import type { KeyOptions } from '../keys/key-choice.ts'
import { EXIT } from '../surroundings/exit-code.ts'
import { untilInterrupted } from '../surroundings/interruption.ts'
import { printable, printableJson } from '../surroundings/printable.ts'
import type { Context } from '../surroundings/terminal.ts'

// The command `doctor`: runs the checks of doctor/ and of the token service, and prints them. It only reads.

const EXAMPLES = `
Examples:
  portcullis doctor
  AUTH_URL=https://auth.example.com portcullis doctor --json

Run it in the folder of a service, with the environment of the service.
It asks the TypeScript of that folder for its settings, and changes nothing.

Exit codes: 0 sound, 1 something should be mended
`

export function registerDoctor(command: Command, context: Context): void {
  command
    .option('--auth-url <url>', 'the token service, or an issuer (or set AUTH_URL)')
    .option('--timeout <time>', 'how long the token service may take (5s)', seconds)
    .option('--allow-insecure', 'permit http: beyond this machine')
    .option('--json', 'print JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (options: KeyOptions & { readonly json?: boolean }) => {
      const { cwd, terminal, signal } = context
      const lists = await untilInterrupted(
        Promise.all([
          checkPackages(cwd, process.versions.node),
          checkTypeScript(cwd),
          checkService(options, context),
        ]),
        signal,
      )
      const checks = lists.flat()
      if (options.json === true) {
        terminal.print(printableJson({ schemaVersion: 1, checks }, 2))
      } else {
        const width = Math.max(...checks.map(({ name }) => name.length)) + 2
        for (const { name, outcome, text } of checks) {
          terminal.check(outcome, name.padEnd(width), printable(text))
        }
      }
      const isSound = checks.every(({ outcome }) => outcome !== 'problem')
      context.exitWith(isSound ? EXIT.ok : EXIT.refused)
    })
}

import { readFileSync } from 'node:fs'

import { Command, CommanderError } from 'commander'

import { registerCompletion } from './commands/completion.ts'
import {
  registerFault,
  registerMint,
  registerRollback,
  registerRotate,
} from './commands/control.ts'
import { registerDecode } from './commands/decode.ts'
import { registerDoctor } from './commands/doctor.ts'
import { registerExplain } from './commands/explain.ts'
import { registerKeys } from './commands/keys.ts'
import { registerLogin } from './commands/login.ts'
import { registerProbe } from './commands/probe.ts'
import { registerRevoke } from './commands/revoke.ts'
import { registerServe } from './commands/serve.ts'
import { registerHealth, registerLog } from './commands/watch.ts'
import type { Context } from './context.ts'
import { CommandError, EXIT, type ExitCode } from './exit-code.ts'
import type { Surroundings } from './surroundings.ts'
import { createTerminal, type Terminal } from './terminal.ts'

/** Every command, in the order of the help. */
const COMMANDS: readonly ((program: Command, context: Context) => void)[] = [
  registerServe,
  registerMint,
  registerRotate,
  registerRollback,
  registerFault,
  registerRevoke,
  registerLog,
  registerHealth,
  registerExplain,
  registerDecode,
  registerKeys,
  registerProbe,
  registerDoctor,
  registerLogin,
  registerCompletion,
]

/**
 * Runs the program once.
 *
 * @returns What the process should end with.
 */
export async function run(surroundings: Surroundings): Promise<ExitCode> {
  const terminal = createTerminal(surroundings)
  let exitCode: ExitCode = EXIT.ok
  const context: Context = {
    ...surroundings,
    terminal,
    exitWith(code) {
      exitCode = code
    },
  }
  try {
    await createProgram(surroundings, context).parseAsync([...surroundings.args], { from: 'user' })
    return exitCode
  } catch (error) {
    return failure(error, surroundings, terminal)
  }
}

/** The program with all its commands, which reads arguments from nowhere by itself. */
function createProgram({ stdout, stderr }: Surroundings, context: Context): Command {
  const { terminal } = context
  const program = new Command('portcullis')
    .description('Explains access tokens, looks at key documents, asks APIs what they accept.')
    .version(version(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'print help for a command')
    .showHelpAfterError('(--help shows what there is)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
      getOutHelpWidth: () => terminal.columns,
      getErrHelpWidth: () => terminal.columns,
      getOutHasColors: () => terminal.hasColour.stdout,
      getErrHasColors: () => terminal.hasColour.stderr,
    })
  for (const register of COMMANDS) register(program, context)
  return program
}

/** What a failure means for the process. Commander has already said what is wrong with the command line. */
function failure(error: unknown, { signal }: Surroundings, terminal: Terminal): ExitCode {
  if (signal.aborted) return EXIT.interrupted
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  if (error instanceof CommandError) {
    terminal.say(`portcullis: ${error.message}`)
    return error.exitCode
  }
  throw error
}

function version(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  // oxlint-disable-next-line eslint/no-restricted-properties -- of this very package
  return (JSON.parse(text) as { version: string }).version
}

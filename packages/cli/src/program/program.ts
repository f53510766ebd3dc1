import type { Command, CommanderError } from 'commander'

import { MANIFEST } from '../package-files.ts'
import { CommandError, EXIT, type ExitCode } from '../surroundings/exit-code.ts'
import type { Surroundings } from '../surroundings/surroundings.ts'
import { type Context, createTerminal, type Terminal } from '../surroundings/terminal.ts'
import {
  asksForOverview,
  COMMANDS,
  DESCRIPTION,
  HELP_COMMAND,
  OPTIONS,
  overview,
} from './overview.ts'

// The program without the process: its commands, its options, and the exit code of a failure.

const LOAD: Readonly<Record<string, () => Promise<(command: Command, context: Context) => void>>> =
  {
    try: async () => (await import('../commands/try.ts')).registerTry,
    serve: async () => (await import('../commands/serve.ts')).registerServe,
    mint: async () => (await import('../commands/control.ts')).registerMint,
    rotate: async () => (await import('../commands/control.ts')).registerRotate,
    fault: async () => (await import('../commands/control.ts')).registerFault,
    revoke: async () => (await import('../commands/revoke.ts')).registerRevoke,
    log: async () => (await import('../commands/status.ts')).registerLog,
    health: async () => (await import('../commands/status.ts')).registerHealth,
    explain: async () => (await import('../commands/explain.ts')).registerExplain,
    decode: async () => (await import('../commands/decode.ts')).registerDecode,
    keys: async () => (await import('../commands/keys.ts')).registerKeys,
    probe: async () => (await import('../commands/probe.ts')).registerProbe,
    doctor: async () => (await import('../commands/doctor.ts')).registerDoctor,
  }

export async function run(surroundings: Surroundings): Promise<ExitCode> {
  const terminal = createTerminal(surroundings)
  if (asksForOverview(surroundings.args)) {
    surroundings.stdout.write(overview(terminal.columns))
    return EXIT.ok
  }
  let exitCode: ExitCode = EXIT.ok
  const context: Context = {
    ...surroundings,
    terminal,
    exitWith(code) {
      exitCode = code
    },
  }
  try {
    const program = await createProgram(surroundings, context)
    await program.parseAsync(knownArgs(surroundings.args), { from: 'user' })
    return exitCode
  } catch (error) {
    return failure(error, surroundings, terminal)
  }
}

/** The program, which reads arguments from nowhere by itself. Commands that nobody names have no options yet. */
async function createProgram({ args, stdout, stderr }: Surroundings, context: Context) {
  const { terminal } = context
  const commander = await import('commander')
  // The overview needs no file, and this module takes a tenth of the time in which Node starts.
  const { readFileSync } = await import('node:fs')
  const program = new commander.Command('portcullis')
    .description(DESCRIPTION)
    .version(versionIn(readFileSync(MANIFEST, 'utf8')), ...OPTIONS.version)
    .helpOption(...OPTIONS.help)
    .helpCommand(...HELP_COMMAND)
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
  // The help of a command is commander's.
  program.helpInformation = () => overview(terminal.columns)
  for (const { name, description } of COMMANDS) {
    const command = program.command(name).description(description)
    if (args.includes(name)) (await LOAD[name]?.())?.(command, context)
  }
  return program
}

/** Commander prints the help of all for `help foo`, and says of `foo` that there is none, and what was meant. */
function knownArgs(args: readonly string[]): string[] {
  const [first, name] = args
  const isUnknown = name !== undefined && !COMMANDS.some((each) => each.name === name)
  return args.slice(first === 'help' && isUnknown && !name.startsWith('-') ? 1 : 0)
}

/** What a failure means for the process. Commander has already said what is wrong with the command line. */
function failure(error: unknown, { signal }: Surroundings, terminal: Terminal): ExitCode {
  if (signal.aborted) return EXIT.interrupted
  if (isCommanderError(error)) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  if (error instanceof CommandError) {
    terminal.say(`portcullis: ${error.message}`)
    return error.exitCode
  }
  throw error
}

/** Without the module, which need not be loaded. */
function isCommanderError(error: unknown): error is CommanderError {
  return error instanceof Error && error.name === 'CommanderError'
}

function versionIn(text: string): string {
  // oxlint-disable-next-line eslint/no-restricted-properties -- of this very package
  return (JSON.parse(text) as { version: string }).version
}

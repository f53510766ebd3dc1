import type { Command, CommanderError } from 'commander'

import { MANIFEST } from '../package-files.ts'
import { CommandError, EXIT, type ExitCode } from '../surroundings/exit-code.ts'
import type { Surroundings } from '../surroundings/surroundings.ts'
import { type Context, createTerminal, type Terminal } from '../surroundings/terminal.ts'
import {
  asksForOverview,
  DESCRIPTION,
  HELP_COMMAND,
  type Listed,
  OPTIONS,
  overview,
} from './overview.ts'

// The program without the process: its commands, its options, and the exit code of a failure.

interface Entry extends Listed {
  /** Reads the module, and answers what gives the command its options. */
  readonly load: () => Promise<(command: Command, context: Context) => void>
}

/** Every command, in the order of the help, which is printed without reading their modules. */
const COMMANDS: readonly Entry[] = [
  {
    name: 'try',
    usage: '[options]',
    description: 'watch a guard for a minute, through a rotation and a flood of forged tokens',
    load: async () => (await import('../commands/try.ts')).registerTry,
  },
  {
    name: 'serve',
    usage: '[options]',
    description: 'run a token service for development and tests',
    load: async () => (await import('../commands/serve.ts')).registerServe,
  },
  {
    name: 'mint',
    usage: '[options]',
    description: 'print a token that the running service signs, sound or not',
    load: async () => (await import('../commands/control.ts')).registerMint,
  },
  {
    name: 'rotate',
    usage: '[options]',
    description: 'let the running service change to a new key',
    load: async () => (await import('../commands/control.ts')).registerRotate,
  },
  {
    name: 'fault',
    usage: '[options] <endpoint> <kind>',
    description: 'let an endpoint of the running service misbehave',
    load: async () => (await import('../commands/control.ts')).registerFault,
  },
  {
    name: 'revoke',
    usage: '[options] [token]',
    description: 'revoke a token, or all of a user, for every API that follows a Redis stream',
    load: async () => (await import('../commands/revoke.ts')).registerRevoke,
  },
  {
    name: 'log',
    usage: '[options]',
    description: 'print what happened in the running service: the newest 1,000 events',
    load: async () => (await import('../commands/status.ts')).registerLog,
  },
  {
    name: 'health',
    usage: '[options]',
    description: 'ask whether the service runs; the answer is the exit code alone',
    load: async () => (await import('../commands/status.ts')).registerHealth,
  },
  {
    name: 'explain',
    usage: '[options] [token]',
    description: 'say why a token is accepted or refused: every check of the verifier',
    load: async () => (await import('../commands/explain.ts')).registerExplain,
  },
  {
    name: 'decode',
    usage: '[options] [token]',
    description: 'show what a token says, without checking any of it',
    load: async () => (await import('../commands/decode.ts')).registerDecode,
  },
  {
    name: 'keys',
    usage: '[options] [place]',
    description: 'fetch a key document, and say what a verifier makes of it',
    load: async () => (await import('../commands/keys.ts')).registerKeys,
  },
  {
    name: 'probe',
    usage: '[options] <url>',
    description: 'call an API without a token, with bad ones and with yours, and judge its answers',
    load: async () => (await import('../commands/probe.ts')).registerProbe,
  },
  {
    name: 'doctor',
    usage: '[options]',
    description: 'look at the service in this folder: Node, packages, TypeScript, keys, clock',
    load: async () => (await import('../commands/doctor.ts')).registerDoctor,
  },
]

/**
 * Runs the program once.
 *
 * @returns What the process should end with.
 */
export async function run(surroundings: Surroundings): Promise<ExitCode> {
  const terminal = createTerminal(surroundings)
  if (asksForOverview(surroundings.args)) {
    surroundings.stdout.write(overview(COMMANDS, terminal.columns))
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
async function createProgram(
  { args, stdout, stderr }: Surroundings,
  context: Context,
): Promise<Command> {
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
  program.helpInformation = () => overview(COMMANDS, terminal.columns)
  for (const { name, description, load } of COMMANDS) {
    const command = program.command(name).description(description)
    if (args.includes(name)) (await load())(command, context)
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

/** Whether it is one, without the module, which need not be loaded. */
function isCommanderError(error: unknown): error is CommanderError {
  return error instanceof Error && error.name === 'CommanderError'
}

function versionIn(text: string): string {
  // oxlint-disable-next-line eslint/no-restricted-properties -- of this very package
  return (JSON.parse(text) as { version: string }).version
}

import type { ExitCode } from './exit-code.ts'
import type { Surroundings } from './surroundings.ts'
import type { Terminal } from './terminal.ts'

// The surroundings as commands get them: with a terminal in place of the streams.

/** What a command works with. */
export interface Context extends Omit<Surroundings, 'stdout' | 'stderr'> {
  readonly terminal: Terminal
  /** Sets what the program ends with, once the command is done. Without it, 0. */
  exitWith(code: ExitCode): void
}

// How the program ends: the exit codes, and the error that brings one of them with a message for the user.

/** What the program ends with. Scripts read it, so a number never changes its meaning. */
export const EXIT = {
  /** Accepted, or done. */
  ok: 0,
  /** Refused, or something was found. */
  refused: 1,
  /** The command line is wrong. */
  usage: 2,
  /** It cannot be decided: keys cannot be fetched, an API does not answer. */
  undecided: 3,
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** A command cannot do what it was asked to. The message is for the user, and holds neither token nor password. */
export class CommandError extends Error {
  readonly exitCode: ExitCode

  constructor(exitCode: ExitCode, message: string) {
    super(message)
    this.exitCode = exitCode
  }
}

export function usageError(message: string): CommandError {
  return new CommandError(EXIT.usage, message)
}

/** The code of an error of the platform, such as ENOENT: its message shows more than a user should read. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}

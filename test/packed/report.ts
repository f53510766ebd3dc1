import { spawnSync } from 'node:child_process'

// Runs programs, and says what came of them.

/** What came of a program. */
export interface Outcome {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Reads an outcome: `undefined`, or what is wrong with it. */
export type Examine = (outcome: Outcome) => string | undefined

export interface Report {
  /** Runs a program and prints a line: it passed, or it failed and why. */
  check(title: string, command: readonly string[], cwd: string, examine?: Examine): void
  failures(): number
}

export function createReport(): Report {
  let failures = 0
  return {
    check(title, command, cwd, examine = succeeds) {
      const complaint = examine(run(command, cwd))
      if (complaint !== undefined) failures += 1
      console.log(`${complaint === undefined ? 'passed' : 'FAILED'}  ${title}`)
      if (complaint !== undefined) console.log(complaint)
    },
    failures: () => failures,
  }
}

export const succeeds: Examine = ({ status, stdout, stderr }) =>
  status === 0 ? undefined : stdout + stderr

/** A warning of Node is on stderr as well. */
export const succeedsInSilence: Examine = (outcome) =>
  succeeds(outcome) ?? (outcome.stderr === '' ? undefined : `it warns: ${outcome.stderr}`)

/** @throws Error with the output if the program fails. */
export function mustRun(command: readonly string[], cwd: string): void {
  const complaint = succeeds(run(command, cwd))
  if (complaint !== undefined) throw new Error(`${command.join(' ')}\n${complaint}`)
}

/** Inside a pnpm script this is the pnpm that runs it. */
export function pnpm(...args: string[]): string[] {
  const own = process.env['npm_execpath']
  if (own === undefined) throw new Error('run this as: pnpm test:packed')
  return /\.[cm]?js$/.test(own) ? [process.execPath, own, ...args] : [own, ...args]
}

function run(command: readonly string[], cwd: string): Outcome {
  const [program = '', ...args] = command
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, encoding: 'utf8' })
  return error === undefined
    ? { status, stdout, stderr }
    : { status: null, stdout: '', stderr: String(error) }
}

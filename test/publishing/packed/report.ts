import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { text } from 'node:stream/consumers'

// Runs programs, and says what came of them.

/** What came of a program. */
export interface Outcome {
  /** How long it took. */
  readonly seconds: number
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Reads an outcome: `undefined`, or what is wrong with it. */
export type Examine = (outcome: Outcome) => string | undefined

export interface Report {
  /**
   * Runs a program, as soon as a processor is free, and prints a line: it passed, or it failed and why.
   *
   * @returns When it has ended, whatever came of it.
   */
  check(
    title: string,
    command: readonly string[],
    cwd: string,
    examine?: Examine,
    env?: NodeJS.ProcessEnv,
  ): Promise<void>
  /** Runs a program, as soon as a processor is free, and prints nothing. */
  run(command: readonly string[], cwd: string): Promise<Outcome>
  /** Prints a line: something passed, or it failed because of a complaint. */
  tell(title: string, complaint: string | undefined): void
  failures(): number
}

export function createReport(): Report {
  let failures = 0
  let free = availableParallelism()
  const waiting: (() => void)[] = []

  async function whenFree(): Promise<void> {
    if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve))
    else free -= 1
  }
  function release(): void {
    const next = waiting.shift()
    if (next === undefined) free += 1
    else next()
  }

  async function runWhenFree(
    command: readonly string[],
    cwd: string,
    env?: NodeJS.ProcessEnv,
  ): Promise<Outcome> {
    await whenFree()
    const outcome = await run(command, cwd, env)
    release()
    return outcome
  }
  function tell(title: string, complaint: string | undefined): void {
    if (complaint !== undefined) failures += 1
    console.log(`${complaint === undefined ? 'passed' : 'FAILED'}  ${title}`)
    if (complaint !== undefined) console.log(complaint)
  }

  return {
    async check(title, command, cwd, examine = succeeds, env = process.env) {
      const outcome = await runWhenFree(command, cwd, env)
      tell(`${title} (${outcome.seconds.toFixed(1)} s)`, examine(outcome))
    },
    run: runWhenFree,
    tell,
    failures: () => failures,
  }
}

export const succeeds: Examine = ({ status, stdout, stderr }) =>
  status === 0 ? undefined : stdout + stderr

/** A warning of Node is on stderr as well. */
export const succeedsInSilence: Examine = (outcome) =>
  succeeds(outcome) ?? (outcome.stderr === '' ? undefined : `it warns: ${outcome.stderr}`)

/**
 * What the program prints.
 *
 * @throws Error with that, if it fails.
 */
export async function mustRun(
  command: readonly string[],
  cwd: string,
  env?: NodeJS.ProcessEnv,
): Promise<string> {
  const { status, stdout, stderr } = await run(command, cwd, env)
  if (status !== 0) throw new Error([...command, '\n', stdout, stderr].join(' '))
  return stdout
}

/** Inside a pnpm script this is the pnpm that runs it. */
export function pnpm(...args: string[]): string[] {
  const own = process.env['npm_execpath']
  if (own === undefined) throw new Error('run this by pnpm')
  return /\.[cm]?js$/.test(own) ? [process.execPath, own, ...args] : [own, ...args]
}

/** Whatever comes of it. */
export async function run(
  [program = '', ...args]: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Outcome> {
  const begun = performance.now()
  const seconds = () => (performance.now() - begun) / 1000
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve)
  })
  try {
    const [status, stdout, stderr] = await Promise.all([
      ended,
      text(child.stdout),
      text(child.stderr),
    ])
    return { seconds: seconds(), status, stdout, stderr }
  } catch (error) {
    return { seconds: seconds(), status: null, stdout: '', stderr: String(error) }
  }
}

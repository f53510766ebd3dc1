import { run } from '../src/program/program.ts'
import type { Input, Surroundings } from '../src/surroundings/surroundings.ts'

export interface Outcome {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** What a test gives the program instead of the process's own. */
export interface Given extends Partial<Omit<Surroundings, 'args' | 'stdin' | 'stdout' | 'stderr'>> {
  readonly stdin?: string
  readonly isTerminal?: boolean
}

/** Runs the program in this process. Nothing that it writes is lost, and nothing else is reached. */
export async function runProgram(
  args: readonly string[],
  { stdin = '', isTerminal = false, ...given }: Given = {},
): Promise<Outcome> {
  const written = { stdout: '', stderr: '' }
  const exitCode = await run({
    args,
    env: {},
    cwd: import.meta.dirname,
    stdin: inputOf(stdin, isTerminal),
    stdout: { isTTY: isTerminal, columns: 80, write: (text) => (written.stdout += text) },
    stderr: { isTTY: isTerminal, columns: 80, write: (text) => (written.stderr += text) },
    fetch: async () => await Promise.reject(new TypeError('no network here')),
    clock: { now: () => 0, monotonic: () => 0, after: () => () => undefined },
    signal: new AbortController().signal,
    ...given,
  })
  return { exitCode, ...written }
}

function inputOf(text: string, isTTY: boolean): Input {
  return {
    isTTY,
    async *[Symbol.asyncIterator]() {
      yield text
    },
  }
}

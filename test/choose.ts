import { spawnSync } from 'node:child_process'

// Finds the program that a script of the root was asked for by name, and runs it.

export interface Program {
  /** Beside the file that has the table. */
  readonly file: string
  /** One line, for who asks which names there are. */
  readonly does: string
  /** Of Node. */
  readonly options?: readonly string[]
  /** What the name alone says, before what the user says. */
  readonly flags?: readonly string[]
}

export type Programs<Each extends Program = Program> = Readonly<Record<string, Each>>

/** The names, each with what it does. */
export function listed(script: string, programs: Programs): string {
  const width = Math.max(...Object.keys(programs).map((name) => name.length))
  const lines = Object.entries(programs).map(
    ([name, { does }]) => `  ${name.padEnd(width)}  ${does}`,
  )
  return [`pnpm ${script} NAME:`, ...lines].join('\n')
}

/** The program of that name, or what to tell the user. */
export function choose<Each extends Program>(
  script: string,
  programs: Programs<Each>,
  name: string | undefined,
): Each | string {
  if (name === undefined) return listed(script, programs)
  const program = Object.hasOwn(programs, name) ? programs[name] : undefined
  return program ?? `${script} has no ${JSON.stringify(name)}.\n\n${listed(script, programs)}`
}

/** Says it, as an answer if nothing was asked for, and otherwise as an error. */
export function tell(text: string, name: string | undefined): void {
  if (name === undefined) {
    console.log(text)
    return
  }
  console.error(text)
  process.exitCode = 1
}

/** The exit code of a Node with these arguments. */
export function run(node: string, args: readonly string[]): number {
  return spawnSync(node, args, { stdio: 'inherit' }).status ?? 1
}

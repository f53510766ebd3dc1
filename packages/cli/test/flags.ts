import { Command } from 'commander'

import { registerExplain } from '../src/commands/explain.ts'
import { registerServe } from '../src/commands/serve.ts'
import type { Context } from '../src/surroundings/terminal.ts'

const REGISTERS = { explain: registerExplain, serve: registerServe }

/** The options of a command as its help has them: README.md and SERVE.md have tables of them. */
export function flagsOf(name: string): readonly (readonly [flags: string, description: string])[] {
  const register = Object.entries(REGISTERS).find(([each]) => each === name)?.[1]
  if (register === undefined) throw new Error(`there is no table of ${name}`)
  const command = new Command(name)
  // Options are declared without a look at the surroundings.
  register(command, {} as Context)
  return command.options.map(({ flags, description }) => [flags, description])
}

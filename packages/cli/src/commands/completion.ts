import { Argument, type Command } from 'commander'

import type { Context } from '../surroundings/context.ts'
import { type Completable, completionScript, type Shell, SHELLS } from './completion-script.ts'

// The command `completion`: collects the names of all commands and options from the program itself, so that none is listed twice.

const EXAMPLES = `
Examples:
  eval "$(portcullis completion bash)"
  portcullis completion fish > ~/.config/fish/completions/portcullis.fish
`

export function registerCompletion(command: Command, { terminal }: Context): void {
  command
    .addArgument(new Argument('<shell>', 'your shell').choices(SHELLS))
    .addHelpText('after', EXAMPLES)
    .action((shell: Shell) => {
      const commands = command.parent?.commands ?? []
      terminal.print(completionScript(shell, commands.map(completableOf)).trimEnd())
    })
}

function completableOf(command: Command): Completable {
  const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? [])
  return {
    name: command.name(),
    description: command.description(),
    options: command.options.flatMap(({ long, description }) =>
      long === undefined || long === null ? [] : [{ flag: long, description }],
    ),
    words: [...command.commands.map((each) => each.name()), ...choices],
  }
}

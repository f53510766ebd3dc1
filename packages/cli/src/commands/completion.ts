import { Argument, type Command } from 'commander'

import { type Completable, completionScript, type Shell, SHELLS } from '../completion-script.ts'
import type { Context } from '../context.ts'

const EXAMPLES = `
Examples:
  eval "$(portcullis completion bash)"
  portcullis completion fish > ~/.config/fish/completions/portcullis.fish
`

export function registerCompletion(program: Command, { terminal }: Context): void {
  program
    .command('completion')
    .description('print what completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'your shell').choices(SHELLS))
    .addHelpText('after', EXAMPLES)
    .action((shell: Shell) => {
      terminal.print(completionScript(shell, program.commands.map(completableOf)).trimEnd())
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

// Writes the scripts that bash, zsh and fish load. It knows shells, and no command of ours.

/** A command, as far as a shell completes it. */
export interface Completable {
  readonly name: string
  readonly description: string
  readonly options: readonly { readonly flag: string; readonly description: string }[]
  /** Words that may follow: commands of its own, or choices of its argument. */
  readonly words: readonly string[]
}

export const SHELLS = ['bash', 'zsh', 'fish'] as const

export type Shell = (typeof SHELLS)[number]

/** What a shell reads to complete the program. File names are completed where nothing else fits. */
export function completionScript(shell: Shell, commands: readonly Completable[]): string {
  switch (shell) {
    case 'bash':
      return bashScript(commands)
    case 'zsh':
      return zshScript(commands)
    case 'fish':
      return fishScript(commands)
    default:
      return unknownShell(shell)
  }
}

function unknownShell(shell: never): never {
  throw new TypeError(`unknown shell: ${String(shell)}`)
}

function bashScript(commands: readonly Completable[]): string {
  const cases = commands.map(
    (command) => `    ${command.name}) words='${wordsOf(command).join(' ')}' ;;`,
  )
  const names = commands.map(({ name }) => name).join(' ')
  return `# portcullis: put this into ~/.bashrc: eval "$(portcullis completion bash)"
_portcullis() {
  local words
  if [ "$COMP_CWORD" -eq 1 ]; then words='${names}'
  else case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
    *) words='' ;;
  esac; fi
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _portcullis portcullis
`
}

function zshScript(commands: readonly Completable[]): string {
  const described = commands.map(
    ({ name, description }) => `    ${quoted(`${name}:${description}`)}`,
  )
  const cases = commands.map((command) => {
    const options = command.options.map(({ flag, description }) =>
      quoted(`${flag}:${description.replaceAll(':', String.raw`\:`)}`),
    )
    return `    ${command.name}) words=(${[...options, ...command.words.map(quoted)].join(' ')}) ;;`
  })
  return `#compdef portcullis
# portcullis: put this into ~/.zshrc, behind compinit: eval "$(portcullis completion zsh)"
_portcullis() {
  local -a words_of_command=(
${described.join('\n')}
  )
  if (( CURRENT == 2 )); then _describe command words_of_command; return; fi
  local -a words
  local command=\${(Q)\${(z)BUFFER}[2]}
  case "$command" in
${cases.join('\n')}
  esac
  _describe option words || _files
}
compdef _portcullis portcullis
`
}

function fishScript(commands: readonly Completable[]): string {
  const lines = commands.flatMap(({ name, description, options, words }) => [
    `complete -c portcullis -n __fish_use_subcommand -f -a ${name} -d ${quoted(description)}`,
    ...options.map(
      ({ flag, description: text }) =>
        `complete -c portcullis -n '__fish_seen_subcommand_from ${name}' -l ${flag.slice(2)} -d ${quoted(text)}`,
    ),
    ...words.map(
      (word) => `complete -c portcullis -n '__fish_seen_subcommand_from ${name}' -a ${word}`,
    ),
  ])
  return `# portcullis: put this into ~/.config/fish/completions/portcullis.fish\n${lines.join('\n')}\n`
}

function wordsOf({ options, words }: Completable): readonly string[] {
  return [...options.map(({ flag }) => flag), ...words]
}

/** For all three shells: a text that says what it says. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", '’')}'`
}

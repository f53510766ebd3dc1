import { styleText } from 'node:util'

import type { Output, Surroundings } from './surroundings.ts'

// What reaches stdout and what stderr, and where colours are shown.

/** Those that can be read on black and on white: yellow and dim text cannot. */
export type Style = 'plain' | 'bold' | 'red' | 'green'

/** Says things: data on stdout, talk on stderr. The one place that decides about colour. */
export interface Terminal {
  /** A line of data. */
  print(line?: string): void
  /** A line for the user, who may have sent stdout elsewhere. */
  say(line: string): void
  /** A question to the user, whose answer follows on the same line. */
  ask(question: string): void
  /** A text of `print` in a style, where stdout shows styles. The text must mean the same without. */
  style(style: Style, text: string): string
  /** Characters of a line of stdout. */
  readonly columns: number
  /** Whether a person reads stdout at this moment. */
  readonly isInteractive: boolean
  readonly hasColour: { readonly stdout: boolean; readonly stderr: boolean }
}

const WIDTH = 80

export function createTerminal({ stdout, stderr, env }: Surroundings): Terminal {
  const hasColour = { stdout: showsColour(stdout, env), stderr: showsColour(stderr, env) }
  return {
    print(line = '') {
      stdout.write(`${line}\n`)
    },
    say(line) {
      stderr.write(`${line}\n`)
    },
    ask(question) {
      stderr.write(question)
    },
    style: (style, text) =>
      hasColour.stdout && style !== 'plain'
        ? styleText(style, text, { validateStream: false })
        : text,
    columns: stdout.columns ?? WIDTH,
    isInteractive: stdout.isTTY === true,
    hasColour,
  }
}

/** @see https://no-color.org: any value that is not empty; `FORCE_COLOR` is for tests and for pagers */
function showsColour(output: Output, env: Surroundings['env']): boolean {
  if ((env['NO_COLOR'] ?? '') !== '') return false
  const forced = env['FORCE_COLOR']
  if (forced !== undefined) return forced !== '0' && forced !== 'false'
  return output.isTTY === true && env['TERM'] !== 'dumb'
}

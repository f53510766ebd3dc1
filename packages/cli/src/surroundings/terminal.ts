import { styleText } from 'node:util'

import type { ExitCode } from './exit-code.ts'
import type { Output, Surroundings } from './surroundings.ts'
import { wrapped } from './wrapped.ts'

// What reaches stdout and what stderr, and where colours are shown.

/** Those that can be read on black and on white: yellow and dim text cannot. */
export type Style = 'plain' | 'bold' | 'red' | 'green'

const MARKS = {
  ok: ['green', 'ok  '],
  problem: ['red', 'FAIL'],
  note: ['bold', 'note'],
  skipped: ['plain', '--  '],
} as const

export type StyledLine = readonly (readonly [style: Style, text: string])[]

/** Says things: data on stdout, talk on stderr. The one place that decides about colour. */
export type Terminal = ReturnType<typeof createTerminal>

/** The surroundings as a command gets them: with a terminal in place of the streams. */
export interface Context extends Omit<Surroundings, 'stdout' | 'stderr'> {
  readonly terminal: Terminal
  /** Sets what the program ends with, once the command is done. Without it, 0. */
  exitWith(code: ExitCode): void
}

const WIDTH = 80
/** Columns. On a narrower terminal, lines that are replaced would say too little. */
const NARROWEST = 72

export function createTerminal({ stdout, stderr, env }: Surroundings) {
  let rewritable = 0
  const hasColour = { stdout: showsColour(stdout, env), stderr: showsColour(stderr, env) }
  /** A text of `print` in a style, where stdout shows styles. The text must mean the same without. */
  const style = (name: Style, text: string) =>
    hasColour.stdout && name !== 'plain' ? styleText(name, text, { validateStream: false }) : text
  return {
    print(line = ''): void {
      stdout.write(`${line}\n`)
    },
    /** After an empty line, a text behind a word, broken into lines below its beginning. */
    paragraph(word: string, text: string, name: Style = 'plain'): void {
      const lines = wrapped(text, stdout.columns ?? WIDTH, word.length + 2)
      stdout.write(`\n${style(name, word)}: ${lines}\n`)
    },
    /** What came of a check, with a text that is broken into lines below its beginning. */
    check(outcome: keyof typeof MARKS, label: string, text: string): void {
      const [name, mark] = MARKS[outcome]
      const lines = wrapped(text, stdout.columns ?? WIDTH, mark.length + label.length + 4)
      stdout.write(`  ${style(name, mark)}  ${label}${lines}\n`)
    },
    /** Whether lines of stdout can be replaced: a person reads a terminal that has so many. */
    canRewrite: (lines: number) =>
      stdout.isTTY === true &&
      env['TERM'] !== 'dumb' &&
      (stdout.columns ?? WIDTH) >= NARROWEST &&
      (stdout.rows ?? 0) > lines,
    /** Lines in place of those that the last call has written. What is too long for a line is left out. */
    rewrite(lines: readonly StyledLine[]): void {
      const columns = stdout.columns ?? WIDTH
      const texts = lines.map((line) =>
        clipped(line, columns)
          .map(([name, text]) => style(name, text))
          .join(''),
      )
      // Up to the first of the lines before, and from there all is erased (ECMA-48: CUU, ED).
      const back = rewritable === 0 ? '' : `\u{1b}[${rewritable}A\r\u{1b}[J`
      stdout.write(`${back}${texts.join('\n')}\n`)
      rewritable = lines.length
    },
    /** A line for the user, who may have sent stdout elsewhere. */
    say(line: string): void {
      stderr.write(`${line}\n`)
    },
    style,
    columns: stdout.columns ?? WIDTH,
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

/** As much of a line as fits: a longer one would break into two, and the way back would be too short. */
function clipped(line: StyledLine, columns: number): StyledLine {
  let room = columns - 1
  return line.map(([style, text]) => {
    const part = text.slice(0, room)
    room -= part.length
    return [style, part] as const
  })
}

import { printable } from '../surroundings/printable.ts'
import type { Terminal } from '../surroundings/terminal.ts'
import { wrapped } from '../surroundings/wrapped.ts'
import type { Remark } from './key-lint.ts'

// How a report about keys shows its remarks.

/** What should be mended, and what is worth knowing. */
export function printRemarks(remarks: readonly Remark[], terminal: Terminal): void {
  for (const level of ['problem', 'note'] as const) {
    for (const { text } of remarks.filter((each) => each.level === level)) {
      const [word, style] = level === 'problem' ? PROBLEM : NOTE
      const lines = wrapped(printable(text), terminal.columns, word.length + 2)
      terminal.print(`\n${terminal.style(style, word)}: ${lines}`)
    }
  }
}

const PROBLEM = ['Problem', 'red'] as const
const NOTE = ['Note', 'bold'] as const

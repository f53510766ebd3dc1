import { inFlags } from '../input/flag-names.ts'
import { printable } from '../surroundings/printable.ts'
import type { Terminal } from '../surroundings/terminal.ts'
import { wrapped } from '../surroundings/wrapped.ts'
import type { KeyAnswer, KeyInspection } from './key-inspection.ts'
import type { LintedKey } from './key-lint.ts'

// Prints what `keys` found, for people and as JSON.

const LABEL = 14

export function printKeys(inspection: KeyInspection, terminal: Terminal): void {
  const { where, discovered, keys, others, failure, answer, remarks } = inspection
  const line = (label: string, text: string) => {
    const rest = wrapped(printable(text), terminal.columns, LABEL)
    terminal.print(`  ${label.padEnd(LABEL - 2)}${rest}`)
  }
  terminal.print(printable(where))
  for (const { url, status } of discovered?.metadata ?? []) {
    line('metadata', `${status ?? 'no answer'}, ${url}`)
  }
  if (discovered?.keyUrl !== undefined) line('key URL', discovered.keyUrl)
  if (answer !== undefined) printAnswer(answer, line)
  if (failure !== undefined) {
    const start = `${terminal.style('red', 'FAIL')}  ${failure.reason}: `
    const indent = `FAIL  ${failure.reason}: `.length
    terminal.print(
      `\n${start}${wrapped(printable(inFlags(failure.detail)), terminal.columns, indent)}`,
    )
  }
  for (const key of keys) {
    const [style, word] = key.unusable === undefined ? OK : UNUSED
    terminal.print(`\n${terminal.style(style, word)}  key ${key.place} of ${keys.length + others}`)
    printKey(key, line)
  }
  if (others > 0) terminal.print(`\n... and ${others} more entries`)
  for (const level of ['problem', 'note'] as const) {
    for (const { text } of remarks.filter((each) => each.level === level)) {
      const [word, style] = level === 'problem' ? PROBLEM : NOTE
      terminal.paragraph(word, printable(text), style)
    }
  }
}

const PROBLEM = ['Problem', 'red'] as const
const NOTE = ['Note', 'bold'] as const
const OK = ['green', 'ok  '] as const
const UNUSED = ['bold', 'skip'] as const

type Line = (label: string, text: string) => void

function printAnswer(answer: KeyAnswer, line: Line): void {
  const { status, contentType, cacheControl, age, maxAge, clockDifference } = answer
  if (status === undefined) return
  line('answer', [String(status), contentType].filter(Boolean).join(', '))
  const stated = cacheControl === undefined ? 'no Cache-Control' : `Cache-Control: ${cacheControl}`
  line('caching', age === undefined ? stated : `${stated}, Age: ${age}`)
  if (maxAge !== undefined) {
    line('kept for', `${Math.round(maxAge)} s by this process; others differ by up to 20 %`)
  }
  if (clockDifference === undefined) return
  const seconds = Math.round(clockDifference)
  const text =
    Math.abs(seconds) <= 1
      ? 'as here'
      : `${Math.abs(seconds)} s ${seconds > 0 ? 'ahead' : 'behind'}`
  line('its clock', text)
}

function printKey(key: LintedKey, line: Line): void {
  const { kid, kind, use, alg, algorithms, thumbprint, unusable } = key
  line('kid', kid ?? 'none')
  line('kind', kind)
  line('use, alg', `${use ?? 'not stated'}, ${alg ?? 'not stated'}`)
  if (unusable !== undefined) line('not used', unusable)
  if (thumbprint === undefined) return
  line('verifies', algorithms.join(', '))
  line('thumbprint', thumbprint)
}

/** A change that breaks readers gets another version. */
export function keysJson({ where, keys, ...inspection }: KeyInspection): object {
  return { schemaVersion: 1, keys: where, ...inspection, entries: keys }
}

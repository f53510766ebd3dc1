import { printable } from '../printable.ts'
import type { Style, Terminal } from '../terminal.ts'
import { wrapped } from '../wrapped.ts'
import { LEVELS, type ProbeFinding, type ProbeFindings, type ProbeRow } from './findings.ts'

/** A report that anybody may read: it has no token in it. */
export interface ProbeReport extends ProbeFindings {
  /** Without its query. */
  readonly url: string
  readonly method: string
  /** What was not tried, and why. */
  readonly untried: readonly string[]
}

type Word = readonly [text: string, style: Style]

const VERDICTS: Readonly<Record<ProbeFindings['verdict'], Word>> = {
  sound: ['SOUND', 'green'],
  faulty: ['FAULTY', 'red'],
  unclear: ['UNCLEAR', 'bold'],
}
const MARKS: Readonly<Record<ProbeRow['outcome'], Word>> = {
  ok: ['ok  ', 'green'],
  breach: ['FAIL', 'red'],
  problem: ['FAIL', 'red'],
  unclear: ['?   ', 'bold'],
  note: ['note', 'bold'],
}
const WORDS: Readonly<Record<ProbeFinding['level'], Word>> = {
  breach: ['Breach', 'red'],
  problem: ['Problem', 'red'],
  unclear: ['Unclear', 'bold'],
  note: ['Note', 'bold'],
}

export function printProbe(report: ProbeReport, terminal: Terminal): void {
  const { url, method, verdict, rows, findings, untried } = report
  const [word, style] = VERDICTS[verdict]
  terminal.print(`${terminal.style(style, word)}  ${method} ${printable(url)}`)
  const width = Math.max(...rows.map(({ name }) => name.length))
  terminal.print(`\n        ${'sent'.padEnd(width)}  answer  expected  explain`)
  for (const { name, outcome, status, expected, reason = '' } of rows) {
    const [text, mark] = MARKS[outcome]
    const cells = [name.padEnd(width), String(status ?? 'none').padEnd(6), expected.padEnd(8)]
    const line = [...cells, reason].join('  ').trimEnd()
    terminal.print(`  ${terminal.style(mark, text)}  ${line}`)
  }
  for (const level of LEVELS) {
    for (const finding of findings.filter((each) => each.level === level)) {
      printFinding(finding, rows.length, terminal)
    }
  }
  for (const text of untried) {
    terminal.print(`\n${wrapped(`Not tried: ${text}`, terminal.columns, 11)}`)
  }
}

/** More requests than that are counted. */
const NAMED = 4

function printFinding(
  { level, text, requests }: ProbeFinding,
  count: number,
  terminal: Terminal,
): void {
  const [word, style] = WORDS[level]
  const about =
    requests.length > NAMED ? `${requests.length} of ${count} requests` : requests.join('; ')
  const line = wrapped(printable(`${text}: ${about}`), terminal.columns, word.length + 2)
  terminal.print(`\n${terminal.style(style, word)}: ${line}`)
}

/** The same for programs. A change that breaks readers gets another version. */
export function probeJson(report: ProbeReport): object {
  return { schemaVersion: 1, ...report }
}

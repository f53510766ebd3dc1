import { printable } from '../surroundings/printable.ts'
import type { Style, Terminal } from '../surroundings/terminal.ts'
import { wrapped } from '../surroundings/wrapped.ts'
import type { ProbeFinding, ProbeFindings } from './findings.ts'

// Prints the findings of a probe, for people and as JSON.

/** A report that anybody may read: it has no token in it. The URL is without its query. */
export type ProbeReport = ProbeFindings & { readonly url: string; readonly method: string }

type ProbeRow = ProbeFindings['rows'][number]

const VERDICTS: Readonly<Record<ProbeFindings['verdict'], readonly [text: string, Style]>> = {
  breach: ['BREACH', 'red'],
  sound: ['SOUND', 'green'],
  faulty: ['FAULTY', 'red'],
  unclear: ['UNCLEAR', 'bold'],
}
/** Of a level: in a row of the table, and before a finding. */
const LEVELS: Readonly<
  Record<ProbeRow['outcome'], readonly [mark: string, word: string, style: Style]>
> = {
  ok: ['ok    ', 'ok', 'green'],
  breach: ['BREACH', 'BREACH', 'red'],
  problem: ['FAIL  ', 'Problem', 'red'],
  unclear: ['?     ', 'Unclear', 'bold'],
  warning: ['warn  ', 'Warning', 'bold'],
  note: ['note  ', 'Note', 'plain'],
}

/** A breach comes before everything else, and what was not tested is said beside the verdict. */
export function printProbe(report: ProbeReport, terminal: Terminal): void {
  const { url, method, rows, findings } = report
  printVerdict(report, terminal)
  terminal.print(`${method} ${printable(url)}`)
  const breaches = findings.filter(({ level }) => level === 'breach')
  for (const finding of breaches) printFinding(finding, rows.length, terminal)
  printRows(rows, terminal)
  for (const finding of findings.slice(breaches.length)) {
    printFinding(finding, rows.length, terminal)
  }
  for (const why of new Set(report.notTested.map((each) => each.why))) {
    const names = report.notTested.filter((each) => each.why === why)
    const text = `${names.map(({ what }) => what).join(', ')} (${why})`
    terminal.paragraph('Not tested', text)
  }
}

function printVerdict({ verdict, notTested }: ProbeReport, terminal: Terminal): void {
  const [word, style] = VERDICTS[verdict]
  if (notTested.length === 0) {
    terminal.print(terminal.style(style, word))
    return
  }
  const extent = verdict === 'sound' ? ' as far as tested' : ''
  const start = `${word}${extent}; not tested: `
  const names = wrapped(
    notTested.map(({ what }) => what).join(', '),
    terminal.columns,
    start.length,
  )
  terminal.print(`${terminal.style(style, word)}${start.slice(word.length)}${names}`)
}

function printRows(rows: readonly ProbeRow[], terminal: Terminal): void {
  const width = Math.max(...rows.map(({ name }) => name.length))
  terminal.print(`\n          ${'sent'.padEnd(width)}  answer  expected  explain`)
  for (const { name, outcome, status, expected, reason = '' } of rows) {
    const [mark, , style] = LEVELS[outcome]
    const cells = [name.padEnd(width), String(status ?? 'none').padEnd(6), expected.padEnd(8)]
    const line = [...cells, reason].join('  ').trimEnd()
    terminal.print(`  ${terminal.style(style, mark)}  ${line}`)
  }
}

const NAMED = 4

function printFinding({ level, text, requests }: ProbeFinding, count: number, terminal: Terminal) {
  const [, word, style] = LEVELS[level]
  const about =
    requests.length > NAMED ? `${requests.length} of ${count} requests` : requests.join('; ')
  terminal.paragraph(word, printable(`${text}: ${about}`), style)
}

/** A change that breaks readers gets another version. */
export function probeJson(report: ProbeReport): object {
  return { schemaVersion: 2, ...report }
}

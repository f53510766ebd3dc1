import { printable } from '../surroundings/printable.ts'
import type { Style, Terminal } from '../surroundings/terminal.ts'
import { wrapped } from '../surroundings/wrapped.ts'
import type { ProbeFinding, ProbeFindings } from './findings.ts'
import type { OperationFindings } from './operations.ts'

// Prints the findings of a probe, for people and as JSON.

/** A report that anybody may read: it has no token in it. The URL is without its query. */
export type ProbeReport = ProbeFindings & { readonly url: string; readonly method: string }

/** The same of all operations of a description. */
export type OperationsReport = OperationFindings & { readonly url: string }

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
  const { url, method, notTested } = report
  printVerdict(report.verdict, notTested.map(({ what }) => what).join(', '), terminal)
  terminal.print(`${method} ${printable(url)}`)
  printAnswers(report, terminal)
  printNotTested(notTested, terminal)
}

/** How many operations are named in a line; `--json` names all. */
const LISTED = 20

export function printOperations(report: OperationsReport, terminal: Terminal): void {
  const { url, open, notTested } = report
  printVerdict(report.verdict, notTested.length === 0 ? '' : 'what is named below', terminal)
  terminal.print(`the operations of a description, at ${printable(url)}`)
  printAnswers(report, terminal)
  if (open.length > 0) {
    terminal.paragraph('Open by the description, and not asked', printable(listed(open)))
  }
  printNotTested(notTested, terminal)
}

function listed(names: readonly string[]): string {
  const more = names.length - LISTED
  return more > 0
    ? `${names.slice(0, LISTED).join(', ')} and ${more} more (--json)`
    : names.join(', ')
}

type Answers = Pick<ProbeFindings, 'rows' | 'findings'>

function printAnswers({ rows, findings }: Answers, terminal: Terminal): void {
  const breaches = findings.filter(({ level }) => level === 'breach')
  for (const finding of breaches) printFinding(finding, rows.length, terminal)
  if (rows.length > 0) printRows(rows, terminal)
  for (const finding of findings.slice(breaches.length)) {
    printFinding(finding, rows.length, terminal)
  }
}

function printNotTested(notTested: ProbeFindings['notTested'], terminal: Terminal): void {
  for (const why of new Set(notTested.map((each) => each.why))) {
    const names = notTested.filter((each) => each.why === why).map(({ what }) => what)
    terminal.paragraph('Not tested', printable(`${listed(names)} (${why})`))
  }
}

function printVerdict(
  verdict: ProbeFindings['verdict'],
  notTested: string,
  terminal: Terminal,
): void {
  const [word, style] = VERDICTS[verdict]
  if (notTested === '') {
    terminal.print(terminal.style(style, word))
    return
  }
  const extent = verdict === 'sound' ? ' as far as tested' : ''
  const start = `${word}${extent}; not tested: `
  const names = wrapped(notTested, terminal.columns, start.length)
  terminal.print(`${terminal.style(style, word)}${start.slice(word.length)}${names}`)
}

function printRows(rows: readonly ProbeRow[], terminal: Terminal): void {
  const width = Math.max(...rows.map(({ name }) => name.length))
  terminal.print(`\n          ${'sent'.padEnd(width)}  answer  expected  explain`)
  for (const { name, outcome, status, expected, reason = '' } of rows) {
    const [mark, , style] = LEVELS[outcome]
    const cells = [
      printable(name).padEnd(width),
      String(status ?? 'none').padEnd(6),
      expected.padEnd(8),
    ]
    const line = [...cells, reason].join('  ').trimEnd()
    terminal.print(`  ${terminal.style(style, mark)}  ${line}`)
  }
}

const NAMED = 4

function printFinding({ level, text, requests }: ProbeFinding, count: number, terminal: Terminal) {
  const [, word, style] = LEVELS[level]
  const about = requests.length > NAMED ? [`${requests.length} of ${count} requests`] : requests
  terminal.paragraph(word, printable([text, about.join('; ')].filter(Boolean).join(': ')), style)
}

/** A change that breaks readers gets another version. */
export function probeJson(report: ProbeReport | OperationsReport): object {
  return { schemaVersion: 2, ...report }
}

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { tableOf, withParts } from '../../../docs/parts.ts'
import { picture } from './picture.ts'
import type { SoakResult } from './soak.ts'

// Prints what a run has found, and keeps it: a row for each major of Node, and the picture of the longest run.

const FIGURES = join(import.meta.dirname, 'figures.json')
const README = join(import.meta.dirname, 'README.md')
const PICTURE = join(import.meta.dirname, 'soak.svg')

/** The figures of one run, by what they are called in the table. */
type Row = Readonly<Record<string, string>>

export function printReport(result: SoakResult): void {
  const { tally, growth, version, seconds, schedule, isSound } = result
  console.log(`Node ${version}, ${seconds / 60} min, ${schedule.length} disturbances`)
  for (const [kind, { right, outage, wrong, strict }] of Object.entries(tally.counts)) {
    const refusals = `${strict} when nothing could excuse a refusal`
    console.log(`${kind}: ${right} right, ${outage} in an outage, ${wrong} wrong; ${refusals}`)
  }
  for (const [title, figures] of Object.entries(tally.figures)) console.log(title, figures)
  for (const { process, heap, resident, handles, listeners, isFlat } of growth) {
    const parts = [
      `heap ${heap.map(mebibytes).join(' -> ')} MiB`,
      `resident ${resident.map(mebibytes).join(' -> ')} MiB`,
      `handles ${handles.join(' -> ')}`,
    ]
    const end = `listeners ${listeners.join(' -> ')}${isFlat ? '' : ', which is not flat'}`
    console.log(`${process}: ${[...parts, end].join(', ')}`)
  }
  console.log(rowOf(result))
  for (const { why, evidence } of tally.faults)
    console.log(`wrong: ${why}`, JSON.stringify(evidence))
  console.log(isSound ? 'soak: nothing is wrong' : 'soak: something is wrong')
}

/** Keeps it in README.md. */
export function writeReport(result: SoakResult): void {
  const major = result.version.split('.')[0]?.slice(1) ?? ''
  const rows = { ...readRows(), [major]: rowOf(result) }
  writeFileSync(FIGURES, `${JSON.stringify(rows, undefined, 2)}\n`)
  const text = readFileSync(README, 'utf8')
  writeFileSync(README, withParts(text, { soak: () => tableOfRuns(rows) }))
  const longest = Math.max(...Object.values(rows).map(({ Minutes }) => Number(Minutes)))
  if (result.seconds / 60 >= longest) writeFileSync(PICTURE, picture(result))
}

/** The table of README.md. */
export function tableOfRuns(kept: Readonly<Record<string, Row>> = readRows()): string {
  const runs = Object.values(kept)
  const line = (title: string) => runs.map((row) => row[title] ?? '')
  const titles = Object.keys(runs[0] ?? {}).filter((title) => title !== 'Node')
  return tableOf(
    ['Of a run', ...line('Node')],
    titles.map((title) => [title].concat(line(title))),
  )
}

function readRows(): Readonly<Record<string, Row>> {
  if (!existsSync(FIGURES)) return {}
  return JSON.parse(readFileSync(FIGURES, 'utf8')) as Record<string, Row> /* as written above */
}

function rowOf(result: SoakResult): Row {
  const { tally, growth, version, seconds, keyRequests, processes, schedule, busy } = result
  const all = Object.values(tally.counts)
  const sum = (read: (counts: (typeof all)[number]) => number) =>
    all.reduce((total, counts) => total + read(counts), 0)
  const minutes = seconds / 60
  const largest = (read: (each: (typeof growth)[number]) => readonly [number, number]) =>
    mebibytes(Math.max(...growth.map((each) => read(each)[1])))
  const grown = growth.map(({ heap }) => ((heap[1] - heap[0]) / heap[0]) * 100)
  return {
    Node: version,
    Minutes: String(minutes),
    Disturbances: String(schedule.length),
    'Answers that were judged': String(sum(({ right, outage, wrong }) => right + outage + wrong)),
    'Of these, when nothing could excuse a refusal': String(sum(({ strict }) => strict)),
    'Wrong verdicts': String(tally.wrong),
    'Seconds in which others kept the machine too busy': busy.toFixed(0),
    'Refused because of an outage': String(sum(({ outage }) => outage)),
    'Accepted requests, median and 99th percentile': `${tally.percentile(0.5).toFixed(1)} and ${tally.percentile(0.99).toFixed(1)} ms`,
    'Requests to the key endpoint, a minute and process': (
      keyRequests /
      processes /
      minutes
    ).toFixed(1),
    'At the end, largest heap and largest memory of a process': `${largest((each) => each.heap)} and ${largest((each) => each.resident)} MiB`,
    'Growth of the heap, of the process where it is largest': `${Math.max(...grown).toFixed(1)} %`,
    Date: new Date().toISOString().slice(0, '2026-01-01'.length),
  }
}

function mebibytes(octets: number): string {
  return (octets / 2 ** 20).toFixed(1)
}

import { readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

import {
  describeLimit,
  type Figures,
  type Floor,
  FLOORS,
  GUARD_FLOORS,
  isWithin,
  METRICS_FLOORS,
  START_FLOORS,
} from './floors.ts'
import { describeMachine } from './machine.ts'
import { markdownTable } from './table.ts'

// What a bench says of its figures: beside their goals, with `--check` beside their floors, and with `--write` in README.md.

/** The flags that benches share. `--quick` shows whether a bench runs; its figures mean nothing. */
export const flags = parseArgs({
  options: { check: { type: 'boolean' }, quick: { type: 'boolean' }, write: { type: 'boolean' } },
  strict: false,
}).values

/** Of a bench whose figures have floors: prints its table, and what is asked for. */
export async function report<Results>(
  bench: string,
  floors: readonly Floor[],
  measure: () => Promise<Results>,
  {
    print,
    figuresOf,
  }: { print: (results: Results) => void; figuresOf: (results: Results) => Figures },
): Promise<void> {
  console.log(`${describeMachine()}\n`)
  const results = await measure()
  const figures = figuresOf(results)
  if (flags.check) {
    checkFloors(floors, figures)
    return
  }
  print(results)
  console.log(`\n${rowsOf(floors, figures, 'goal')}`)
  if (flags.write) writeFigures(bench, describeMachine(), figures)
}

/**
 * A floor that is missed is printed and fails nothing: how long something takes also says who else uses the machine.
 *
 * @throws Error for a figure that was not measured: then the bench itself is broken.
 */
export function checkFloors(floors: readonly Floor[], figures: Figures): void {
  const checked = floors.filter(({ floor }) => floor !== undefined)
  const missing = checked.find(({ figure }) => !Number.isFinite(figures.get(figure)))
  if (missing !== undefined) throw new Error(`not measured: ${missing.figure}`)
  console.log(rowsOf(checked, figures, 'floor'))
}

function rowsOf(floors: readonly Floor[], figures: Figures, of: 'floor' | 'goal'): string {
  const rows = floors.flatMap((floor) => {
    const value = figures.get(floor.figure)
    const limit = floor[of]
    if (value === undefined) return []
    const verdict = limit === undefined ? '' : isWithin(value, limit) ? 'met' : 'missed'
    return [[floor.figure, describeLimit(limit), value.toFixed(3), verdict]]
  })
  return markdownTable(['Figure', of, 'measured', ''], rows)
}

const here = dirname(fileURLToPath(import.meta.url))
/** Beside the sources, also when this is the copy in `built`. */
const folder = basename(here) === 'built' ? dirname(here) : here
const FIGURES = join(folder, 'results', 'figures.json')

/** What each bench has measured last, and on what. */
type Measured = Readonly<Record<string, { machine: string; figures: Record<string, number> }>>

/** Keeps the figures of a bench, and writes the table of README.md from those of all. */
function writeFigures(bench: string, machine: string, figures: Figures): void {
  const rounded = [...figures].map(([name, value]) => [name, Number(value.toFixed(3))] as const)
  const kept = { ...readFigures(), [bench]: { machine, figures: Object.fromEntries(rounded) } }
  writeFileSync(FIGURES, `${JSON.stringify(kept, undefined, 2)}\n`)
  const path = join(folder, 'README.md')
  const [begin, end] = ['<!-- written: goals -->\n', '<!-- end -->']
  const readme = readFileSync(path, 'utf8')
  const [before, rest] = [readme.indexOf(begin) + begin.length, readme.indexOf(end)]
  writeFileSync(path, `${readme.slice(0, before)}\n${goalsTable()}\n\n${readme.slice(rest)}`)
}

function readFigures(): Measured {
  return JSON.parse(readFileSync(FIGURES, 'utf8')) as Measured // as written above
}

/** Each figure with a goal or a floor, what was measured last, and on what. */
export function goalsTable(): string {
  const measured = Object.entries(readFigures())
  const rows = [...FLOORS, ...GUARD_FLOORS, ...START_FLOORS, ...METRICS_FLOORS].map(
    ({ figure, goal, floor }) => {
      const [, last] = measured.find(([, { figures }]) => Object.hasOwn(figures, figure)) ?? []
      const value = last?.figures[figure]
      const isMissed = value !== undefined && goal !== undefined && !isWithin(value, goal)
      const said = value === undefined ? '' : `${value}${isMissed ? ', missed' : ''}`
      return [figure, describeLimit(goal), describeLimit(floor), said]
    },
  )
  const machines = measured.map(([bench, { machine }]) => `\`${bench}\`: ${machine}`)
  // In a document a new row changes one line.
  const header = ['Figure', 'goal', 'floor', 'measured']
  const lines = [header, header.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`)
  return `${machines.join('\\\n')}\n\n${lines.join('\n')}`
}

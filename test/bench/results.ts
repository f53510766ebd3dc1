import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import {
  describeLimit,
  type Figures,
  FLOORS,
  GUARD_FLOORS,
  isWithin,
  type Limit,
  METRICS_FLOORS,
  START_FLOORS,
} from './floors.ts'
import { markdownTable } from './table.ts'

const here = dirname(fileURLToPath(import.meta.url))
/** Beside the sources, also when this is the copy in `built`. */
const folder = join(basename(here) === 'built' ? dirname(here) : here, 'results')

const FIGURES = 'figures.json'

/** What one bench has measured last, and on what. */
interface Measured {
  readonly machine: string
  readonly figures: Readonly<Record<string, number>>
}

/** Keeps the figures of a bench, and writes the table of README.md from those of all. */
export function writeFigures(bench: string, machine: string, figures: Figures): void {
  const kept = { ...readFigures(), [bench]: { machine, figures: rounded(figures) } }
  writeFileSync(join(folder, FIGURES), `${JSON.stringify(kept, undefined, 2)}\n`)
  const path = join(folder, '..', 'README.md')
  const [before, , after] = partsOf(readFileSync(path, 'utf8'))
  writeFileSync(path, `${before}${goalsTable()}${after}`)
}

function readFigures(): Readonly<Record<string, Measured>> {
  const path = join(folder, FIGURES)
  if (!existsSync(path)) return {}
  return JSON.parse(readFileSync(path, 'utf8')) as Record<string, Measured> /* as written above */
}

function rounded(figures: Figures): Readonly<Record<string, number>> {
  return Object.fromEntries([...figures].map(([name, value]) => [name, Number(value.toFixed(3))]))
}

/** README.md before the table of goals, that table, and what follows. */
function partsOf(readme: string): readonly [before: string, table: string, after: string] {
  const [begin, end] = ['<!-- written: goals -->\n', '<!-- end -->']
  const [before, rest] = [readme.indexOf(begin) + begin.length, readme.indexOf(end)]
  return [readme.slice(0, before), readme.slice(before, rest), readme.slice(rest)]
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
      return [figure, inWords(goal), inWords(floor), said]
    },
  )
  const machines = measured.map(([bench, { machine }]) => `\`${bench}\`: ${machine}`)
  const table = markdownTable(['Figure', 'goal', 'floor', 'measured'], rows)
  return `\n${machines.join('\\\n')}\n\n${notAligned(table)}\n\n`
}

/** In a document a new row changes one line. */
function notAligned(table: string): string {
  return table
    .replaceAll(/-{4,}/g, '---')
    .replaceAll(/(?<=\S) +(?= \|)/g, '')
    .replaceAll(/\| +(?=\|)/g, '|  ')
}

function inWords(limit: Limit | undefined): string {
  return limit === undefined ? '' : describeLimit(limit)
}

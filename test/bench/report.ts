import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'

import { describeLimit, type Figures, type Floor, FLOORS, isWithin } from './floors.ts'
import type { Plan } from './measure.ts'
import { markdownTable } from './table.ts'

// What a bench says of its figures: beside their goals, with `--check` beside their floors, and with `--write` in README.md.

const SWITCH = { type: 'boolean' } as const

/** The flags that benches share. `--quick` shows whether a bench runs; its figures mean nothing. */
export const flags = parseArgs({
  options: { beside: { type: 'string' }, check: SWITCH, quick: SWITCH, write: SWITCH },
  strict: false,
}).values

/** A file of the benches in the clone that `--beside` names, as its own last bench has built it: with its own packages. */
export async function builtBeside<Exports>(file: string): Promise<Exports | undefined> {
  if (flags.beside === undefined) return undefined
  const path = resolve(String(flags.beside), 'test', 'bench', 'built', file)
  return (await import(pathToFileURL(path).href)) as Exports // of that file
}

/** How much is measured, by these flags. */
export function planOf(whole: Plan, checked: Partial<Plan> = {}): Plan {
  if (flags.quick) return { rounds: 1, milliseconds: 5, warmUp: 10 }
  return flags.check ? { ...whole, rounds: 7, garbage: 'minor', ...checked } : whole
}

/** The number that this bench prints in a process of its own, which is told what to measure before its other words. */
export function printedAlone(...words: readonly string[]): number {
  const [node, program = '', ...others] = process.argv
  const args = [...process.execArgv, program, ...words, ...others]
  return Number(execFileSync(node ?? '', args, { encoding: 'utf8' }))
}

/** What the figures of a run come from. */
export function describeMachine(): string {
  const models = cpus().map(({ model }) => model.trim())
  const [model = 'unknown processor'] = models
  const { versions, version } = process
  const [load = 0] = loadavg()
  const date = new Date().toISOString().slice(0, '2026-01-01'.length)
  return `Node ${version}, OpenSSL ${versions.openssl}, ${models.length} x ${model}; ${date}, load ${load.toFixed(1)}.`
}

/** Of a bench whose figures have floors: prints its table, and what is asked for. */
export async function report<Results>(
  bench: keyof typeof FLOORS,
  measure: () => Promise<Results>,
  print: (results: Results) => void,
  figuresOf: (results: Results) => Figures,
): Promise<void> {
  console.log(`${describeMachine()}\n`)
  const results = await measure()
  const figures = figuresOf(results)
  if (flags.check) {
    checkFloors(FLOORS[bench], figures)
    return
  }
  print(results)
  console.log(`\n${rowsOf(FLOORS[bench], figures, 'goal')}`)
  const goals = goalsTable(bench, describeMachine(), figures)
  if (flags.write)
    writeFileSync(
      README,
      readFileSync(README, 'utf8').replace(GOALS, () => `\n${goals}\n\n`),
    )
}

/**
 * A floor that is missed is printed and fails nothing: how long something takes also says who else uses the machine.
 *
 * @throws Error for a figure that was not measured: then the bench itself is broken.
 */
export function checkFloors(floors: readonly Floor[], figures: Figures): void {
  const checked = floors.filter(({ floor }) => floor !== undefined)
  const missing = checked.find(({ figure }) => !Number.isFinite(figures[figure]))
  if (missing !== undefined) throw new Error(`not measured: ${missing.figure}`)
  console.log(rowsOf(checked, figures, 'floor'))
}

function rowsOf(floors: readonly Floor[], figures: Figures, of: 'floor' | 'goal'): string {
  const rows = floors.flatMap((floor) => {
    const value = figures[floor.figure]
    const limit = floor[of]
    if (value === undefined) return []
    const verdict = limit === undefined ? '' : isWithin(value, limit) ? 'met' : 'missed'
    return [[floor.figure, describeLimit(limit), value.toFixed(3), verdict]]
  })
  return markdownTable(['Figure', of, 'measured', ''], rows)
}

const here = dirname(fileURLToPath(import.meta.url))
/** Beside the sources, also when this is the copy in `built`. Nothing else has what was measured last. */
const README = join(basename(here) === 'built' ? dirname(here) : here, 'README.md')
const GOALS = /(?<=<!-- written: goals -->\n)[^]*?(?=<!-- end -->)/

/** Each figure with a goal or a floor, what was measured last, and on what: as the document has it, but for the bench that ran. */
export function goalsTable(bench?: string, machine = '', figures: Figures = {}): string {
  const lines = GOALS.exec(readFileSync(README, 'utf8'))?.[0].split('\n') ?? []
  const rows = Object.values(FLOORS)
    .flat()
    .map(({ figure, goal, floor }) => {
      const last = lines
        .find((line) => line.startsWith(`| ${figure} |`))
        ?.split(' | ')
        .at(-1)
      const value = figures[figure]?.toFixed(3) ?? /-?\d[\d.]*/.exec(last ?? '')?.[0]
      const isMissed = value !== undefined && goal !== undefined && !isWithin(Number(value), goal)
      const said = value === undefined ? '' : `${Number(value)}${isMissed ? ', missed' : ''}`
      return [figure, describeLimit(goal), describeLimit(floor), said]
    })
  const machines = Object.keys(FLOORS).map((name) => {
    const last = lines.find((line) => line.startsWith(`\`bench ${name}\`: `)) ?? ''
    return name === bench ? `\`bench ${name}\`: ${machine}` : last.replace(/\\$/, '')
  })
  const table = markdownTable(['Figure', 'goal', 'floor', 'measured'], rows, false)
  return `${machines.join('\\\n')}\n\n${table}`
}

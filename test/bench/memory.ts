import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import { describeMachine } from './machine.ts'
import { type Growth, VERIFIERS } from './memory-child.ts'
import { flags } from './report.ts'
import { type Column, printTable } from './table.ts'

// What remembering costs, and what is left after very many tokens:
//
//   pnpm bench memory           all of it: ten minutes, most of them for eleven million verifications
//   pnpm bench memory --quick   to see whether it runs
//
// Every measurement is a process of its own.

const REMEMBERED = flags.quick ? 500 : 5000
const DISTINCT = flags.quick ? 4000 : 1_000_000
const RANDOM_KIDS = flags.quick ? 20_000 : 10_000_000

/** Who is asked a million times: minutes each. */
const LASTING = ['no verifier', 'Portcullis', 'fast-jwt']

function measureGrowth(scenario: string, name: string, count: number): Growth {
  const path = fileURLToPath(new URL('./memory-child.ts', import.meta.url))
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [...process.execArgv, path, scenario, name, String(count)],
    { encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`${scenario} ${name}:\n${stderr}`)
  // memory-child.ts prints nothing else
  return JSON.parse(stdout) as Growth
}

interface Row {
  readonly name: string
  readonly growth: Growth
}

const megabytes: readonly Column<Row>[] = [
  ['Verifier', ({ name }) => name],
  ['heap', ({ growth }) => growth.heap / 1e6, 1],
  ['outside of it', ({ growth }) => growth.external / 1e6, 1],
  ['resident', ({ growth }) => growth.resident / 1e6, 1],
]
const rowsOf = (scenario: string, names: readonly string[], count: number) =>
  names.map((name): Row => ({ name, growth: measureGrowth(scenario, name, count) }))

console.log(`${describeMachine()}\n`)
printTable(
  `Octets for each of ${REMEMBERED} remembered tokens of 700:`,
  [
    ['Verifier', ({ name }) => name],
    ['heap', ({ growth: { heap, count } }) => heap / count, 0],
    ['outside of it', ({ growth: { external, count } }) => external / count, 0],
  ],
  rowsOf('remembered', VERIFIERS, REMEMBERED),
)
const distinct = `MB more after ${DISTINCT} distinct tokens, with room for 1,000:`
printTable(distinct, megabytes, rowsOf('distinct', LASTING, DISTINCT))
const forged = `MB more after ${RANDOM_KIDS} forged tokens, each with a random kid:`
printTable(forged, megabytes, rowsOf('random kids', ['Portcullis'], RANDOM_KIDS))

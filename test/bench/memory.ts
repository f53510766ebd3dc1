import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import { describeMachine } from './machine.ts'
import { type Growth, VERIFIERS } from './memory-child.ts'
import { flags } from './report.ts'
import { markdownTable } from './table.ts'

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

function printRemembered(): void {
  const rows = VERIFIERS.map((name) => {
    const { heap, external, count } = measureGrowth('remembered', name, REMEMBERED)
    return [name, (heap / count).toFixed(0), (external / count).toFixed(0)]
  })
  console.log(`Octets for each of ${REMEMBERED} remembered tokens of 700:\n`)
  console.log(`${markdownTable(['Verifier', 'heap', 'outside of it'], rows)}\n`)
}

function printDistinct(): void {
  const rows = LASTING.map((name) => growthRow(name, measureGrowth('distinct', name, DISTINCT)))
  console.log(`MB more after ${DISTINCT} distinct tokens, with room for 1,000:\n`)
  console.log(`${markdownTable(['Verifier', 'heap', 'outside of it', 'resident'], rows)}\n`)
}

function printRandomKids(): void {
  const row = growthRow('Portcullis', measureGrowth('random kids', '', RANDOM_KIDS))
  console.log(`MB more after ${RANDOM_KIDS} forged tokens, each with a random kid:\n`)
  console.log(`${markdownTable(['Verifier', 'heap', 'outside of it', 'resident'], [row])}\n`)
}

function growthRow(name: string, { heap, external, resident }: Growth): string[] {
  return [name, ...[heap, external, resident].map((octets) => (octets / 1e6).toFixed(1))]
}

console.log(`${describeMachine()}\n`)
printRemembered()
printDistinct()
printRandomKids()

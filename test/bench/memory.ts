import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

import { AUDIENCE, createSigner, ISSUER, publicKeyOf } from './inputs.ts'
import { describeMachine } from './machine.ts'
import { median } from './measure.ts'
import { type Growth, VERIFIERS } from './memory-child.ts'
import { type Startup, STARTUPS } from './startup-child.ts'
import { markdownTable } from './table.ts'

// What remembering costs, what is left after very many tokens, and what it takes to begin:
//
//   pnpm bench memory           all of it: ten minutes, most of them for eleven million verifications
//   pnpm bench memory --quick   to see whether it runs
//
// Every measurement is a process of its own.

const { values: flags } = parseArgs({ options: { quick: { type: 'boolean' } } })
const REMEMBERED = flags.quick ? 500 : 5000
const DISTINCT = flags.quick ? 4000 : 1_000_000
const RANDOM_KIDS = flags.quick ? 20_000 : 10_000_000
const STARTS = flags.quick ? 3 : 21

/** Who is asked a million times: minutes each. */
const LASTING = ['no verifier', 'Portcullis', 'fast-jwt']

function runChild(file: './memory-child.ts' | './startup-child.ts', args: string[]): unknown {
  const path = fileURLToPath(new URL(file, import.meta.url))
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [...process.execArgv, path, ...args],
    { encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`${args.slice(0, 2).join(' ')}:\n${stderr}`)
  return JSON.parse(stdout)
}

function measureGrowth(scenario: string, name: string, count: number): Growth {
  // memory-child.ts prints nothing else
  return runChild('./memory-child.ts', [scenario, name, String(count)]) as Growth
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

function printStartups(): void {
  const signer = createSigner()
  const pem = publicKeyOf(signer.jwk).export({ type: 'spki', format: 'pem' }).toString()
  const token = signer.token(0)
  const keys = JSON.stringify({ jwk: signer.jwk, pem, token, issuer: ISSUER, audience: AUDIENCE })
  const startups = new Map(STARTUPS.map((name): [string, Startup[]] => [name, []]))
  for (let round = 0; round < STARTS; round += 1) {
    for (const [name, measured] of startups) {
      // startup-child.ts prints nothing else
      measured.push(runChild('./startup-child.ts', [name, keys]) as Startup)
    }
  }
  const importOf = (name: string) =>
    median((startups.get(name) ?? []).map(({ imported }) => imported))
  const rows = [...startups].map(([name, measured]) => [
    name,
    importOf(name).toFixed(1),
    (importOf(name) / importOf('jose')).toFixed(2),
    median(measured.map(({ verdict }) => verdict)).toFixed(1),
  ])
  console.log(`Milliseconds, medians of ${STARTS} fresh processes in turn:\n`)
  const header = ['Package', 'import', 'times that of jose', 'start to first verdict']
  console.log(`${markdownTable(header, rows)}\n`)
}

console.log(`${describeMachine()}\n`)
printRemembered()
printStartups()
printDistinct()
printRandomKids()

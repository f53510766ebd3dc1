import { parseArgs } from 'node:util'

import fc from 'fast-check'

import { nearSeeds } from './near-seeds.ts'
import { addSeed, readSeeds } from './seeds.ts'
import { examine, type FuzzTarget } from './target.ts'
import { targets } from './targets/index.ts'

// pnpm fuzz [target...] [--seconds N] [--seed N]: the targets share the seconds.

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '120' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
  },
})
const unknown = positionals.find((name) => !Object.hasOwn(targets, name))
if (unknown !== undefined) {
  throw new TypeError(`${unknown} is none of ${Object.keys(targets).join(', ')}`)
}

const chosen = Object.entries(targets).filter(
  ([name]) => positionals.length === 0 || positionals.includes(name),
)
const seconds = Number(values.seconds) / chosen.length
const seed = Number(values.seed)
console.log(`seed ${seed}, ${seconds} s each`)
for (const [name, target] of chosen) await fuzz(name, target)

async function fuzz(name: string, target: FuzzTarget): Promise<void> {
  const seeds = readSeeds(name).map(({ input }) => input)
  const start = performance.now()
  const { numRuns, counterexample, errorInstance } = await fc.check(
    fc.asyncProperty(fc.oneof(target.inputs, nearSeeds(seeds)), async (input) => {
      await examine(target, input)
    }),
    { seed, numRuns: Infinity, interruptAfterTimeLimit: seconds * 1000 },
  )
  const elapsed = (performance.now() - start) / 1000
  console.log(`${name}: ${numRuns} executions, ${Math.round(numRuns / elapsed)}/s`)
  if (counterexample === null) return
  console.error(`${String(errorInstance)}: kept as ${addSeed(name, counterexample[0])}`)
  process.exitCode = 1
}

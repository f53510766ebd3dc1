import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

import { printReport, writeReport } from './report.ts'
import { soak } from './soak.ts'

// pnpm soak [--minutes N] [--seed N] [--node PATH] [--write]: README.md beside this says what it does. Ends with 1 if anything is
// wrong.

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    node: { type: 'string', default: process.execPath },
    write: { type: 'boolean', default: false },
  },
})
const minutes = Number(values.minutes)
const seed = Number(values.seed)
if (!(minutes >= 1) || !Number.isSafeInteger(seed)) {
  throw new TypeError('--minutes must be a number from 1 on, --seed an integer')
}
console.log(`seed ${seed}`)
const result = await soak({ seconds: minutes * 60, seed, node: resolve(values.node) })
printReport(result)
if (values.write) writeReport(result)
// What a killed server has left half open must not keep this process.
process.exit(result.isSound ? 0 : 1)

import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

import { fuzz } from './fuzz.ts'
import { seedsFolder } from './seeds.ts'
import { targets } from './targets/index.ts'

// pnpm fuzz [target...] [--seconds N] [--seed N] [--node PATH] [--untimed]: the targets share the seconds.

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '120' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    node: { type: 'string', default: process.execPath },
    untimed: { type: 'boolean', default: false },
  },
})
const unknown = positionals.find((name) => !Object.hasOwn(targets, name))
if (unknown !== undefined) {
  throw new TypeError(`${unknown} is none of ${Object.keys(targets).join(', ')}`)
}

const names = positionals.length === 0 ? Object.keys(targets) : positionals
const seconds = Number(values.seconds) / names.length
const seed = Number(values.seed)
const node = resolve(values.node)
const { stdout, error } = spawnSync(node, ['--version'], { encoding: 'utf8' })
if (error !== undefined) throw error
console.log(`seed ${seed}, ${seconds} s each, Node ${stdout.trim()}`)
const isSound = await fuzz(names, {
  program: fileURLToPath(new URL('program.ts', import.meta.url)),
  node,
  seeds: seedsFolder,
  seed,
  seconds,
  isTimed: !values.untimed,
  print: console.error,
})
if (!isSound) process.exitCode = 1

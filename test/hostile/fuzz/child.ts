import { readFileSync } from 'node:fs'

import fc from 'fast-check'

import { createJournal } from './journal.ts'
import { nearSeeds } from './near-seeds.ts'
import { readSeeds } from './seeds.ts'
import { examine, type FuzzTarget } from './target.ts'

// What runs in a process of its own, which an input may end. It writes each input down before it tries it.

/** What such a process is to do: a file of JSON, which its command line names. */
export interface Job {
  readonly target: string
  /** The file in which it writes its inputs down. */
  readonly journal: string
  readonly seed: number
  readonly seconds: number
  readonly isTimed: boolean
  /** Only some of the inputs of the seed, the first of which is 1, to find the one that a process died of. */
  readonly replay?: Replay
}

export interface Replay {
  readonly first: number
  readonly last: number
  /** How often each input is tried. */
  readonly tries: number
  /** After how many inputs all garbage is collected: where an input has damaged the memory, the process often dies then. */
  readonly interval: number
}

/** The exit code of a process that has found a promise broken, by the input that it wrote down last. */
export const BROKEN = 3

export async function runJob(targets: Readonly<Record<string, FuzzTarget>>): Promise<void> {
  const job = JSON.parse(readFileSync(String(process.argv[2]), 'utf8')) as Job
  const { target: name, seed, seconds, isTimed, replay } = job
  const target = targets[name]
  if (target === undefined) throw new TypeError(`${name} is no target`)
  const note = createJournal(job.journal)
  let execution = 0
  const start = performance.now()
  const inputs = fc.oneof(target.inputs, nearSeeds(readSeeds(name).map(({ input }) => input)))
  const { counterexample, errorInstance } = await fc.check(
    fc.asyncProperty(inputs, async (input) => {
      execution++
      if (execution < (replay?.first ?? 1)) return
      note({ execution, input })
      for (let tries = replay?.tries ?? 1; tries > 0; tries--) {
        await examine(target, input, isTimed)
      }
      if (replay !== undefined && execution % replay.interval === 0) globalThis.gc?.()
    }),
    replay === undefined
      ? { seed, numRuns: Infinity, interruptAfterTimeLimit: seconds * 1000 }
      : { seed, numRuns: replay.last },
  )
  if (counterexample !== null) {
    note({ execution, input: counterexample[0] })
    console.error(String(errorInstance))
    process.exitCode = BROKEN
  }
  if (replay !== undefined) return
  const elapsed = (performance.now() - start) / 1000
  console.log(`${name}: ${execution} executions, ${Math.round(execution / elapsed)}/s`)
}

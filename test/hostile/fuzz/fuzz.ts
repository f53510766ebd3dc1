import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { build, defaultServerConditions } from 'vite'

import { BROKEN, type Job, type Replay } from './child.ts'
import { type Entry, readJournal } from './journal.ts'
import { addSeed } from './seeds.ts'

// Runs targets in processes of their own, and names the input that such a process has died of.

/** Seconds that a process may take for more than its inputs: to start, or to collect garbage. What takes longer hangs. */
const MARGIN = 60

const PROGRAM = 'program.mjs'
const LONGEST_SHOWN = 500

export interface FuzzOptions {
  /** The file with the targets, which calls `runJob`. */
  readonly program: string
  /** The Node that runs it. */
  readonly node: string
  /** The folder of the seeds. */
  readonly seeds: string
  readonly seed: number
  /** For each target. */
  readonly seconds: number
  /** Whether an input that takes long is a finding. */
  readonly isTimed: boolean
  readonly print: (line: string) => void
}

/** @returns Whether every target kept its promises. */
export async function fuzz(names: readonly string[], options: FuzzOptions): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-fuzz-'))
  try {
    await bundle(options.program, folder)
    // The bundle looks for them beside itself.
    symlinkSync(options.seeds, join(folder, 'seeds'))
    const sound = names.map((name) => isSound(name, folder, options))
    return sound.every(Boolean)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** One file without types, since not every Node removes them. */
async function bundle(program: string, folder: string): Promise<void> {
  await build({
    configFile: false,
    publicDir: false,
    logLevel: 'warn',
    ssr: {
      noExternal: true,
      resolve: { conditions: ['@portcullis/source', ...defaultServerConditions] },
    },
    build: {
      ssr: program,
      target: 'node20',
      outDir: folder,
      emptyOutDir: false,
      rolldownOptions: { output: { entryFileNames: PROGRAM, codeSplitting: false } },
    },
  })
}

function isSound(name: string, folder: string, options: FuzzOptions): boolean {
  const finding = findingOf(name, folder, options)
  if (finding === undefined) return true
  const { input, what } = finding
  options.print(`${name}, seed ${options.seed}: ${what}: ${shown(input)}`)
  options.print(`kept as ${addSeed(name, input, options.seeds)}`)
  return false
}

interface Finding {
  readonly input: string
  readonly what: string
}

function findingOf(name: string, folder: string, options: FuzzOptions): Finding | undefined {
  const { node, seed, seconds, isTimed } = options
  const job = { target: name, journal: join(folder, name), seed, seconds, isTimed }
  const { end, last } = run(node, job)
  if (end === 0) return undefined
  if (last === undefined) throw new Error(`${name}: the process ended (${end}) before any input`)
  const { input, execution } = last
  if (end === BROKEN) return { input, what: 'a promise is broken by' }
  const found = culpritOf(execution, (which) =>
    run(node, { ...job, journal: `${job.journal}-${which.interval}`, replay: which }),
  )
  return found === undefined
    ? { input, what: `the process died (${end}) of this input, or of one before` }
    : { input: found, what: `the process died (${end}) of` }
}

/**
 * Which input a process has died of. It need not be the last one: memory that an input has damaged may be used much later. So
 * the inputs of the seed are tried again, with all garbage collected every so often, until that ends the process. Then those
 * shortly before are, with a tenth of the distance, and in the end each for itself.
 */
function culpritOf(executions: number, replay: (which: Replay) => Outcome): string | undefined {
  let [first, last] = [1, executions]
  let interval = Math.ceil(executions / 30)
  for (;;) {
    const { end, last: entry } = replay({ first, last, tries: interval > 500 ? 1 : 5, interval })
    if (end === 0 || entry === undefined) return undefined
    if (interval === 1) return entry.input
    // Twice the distance: the process may have survived the collection that came first.
    first = Math.max(first, entry.execution - 2 * interval)
    last = entry.execution
    interval = Math.ceil(interval / 10)
  }
}

interface Outcome {
  /** The exit code of the process, or the signal that has ended it. */
  readonly end: number | string
  readonly last: Entry | undefined
}

function run(node: string, job: Job): Outcome {
  const file = `${job.journal}.json`
  writeFileSync(file, JSON.stringify(job))
  const program = join(dirname(job.journal), PROGRAM)
  const { status, signal, error } = spawnSync(node, ['--expose-gc', program, file], {
    stdio: ['ignore', 'inherit', 'inherit'],
    // Node takes whole milliseconds alone, and targets may share the seconds in fractions.
    timeout: Math.ceil(((job.replay?.tries ?? 1) * job.seconds + MARGIN) * 1000),
    killSignal: 'SIGKILL',
  })
  const end = status ?? signal
  if (end === null) throw error ?? new Error('the process has no end')
  return { end, last: existsSync(job.journal) ? readJournal(job.journal) : undefined }
}

function shown(input: string): string {
  const text = JSON.stringify(input)
  return text.length <= LONGEST_SHOWN
    ? text
    : `${text.slice(0, LONGEST_SHOWN)}... (${input.length} characters)`
}

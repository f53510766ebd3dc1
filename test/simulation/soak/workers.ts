import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { KeysSnapshot } from '@portcullis/core'

import { type Running, start } from '../flow/processes.ts'
import type { Settings } from './api.ts'
import type { Measured } from './child.ts'
import type { Programs } from './programs.ts'

// The processes of the API: two for each framework. The first of two stays for the whole run, so that what grows in it is seen;
// the second is replaced and killed.

const FRAMEWORKS = ['express', 'fastify', 'hono', 'koa', 'nest'] as const

/** Debian's libfaketime: it changes what the system says of the wall clock, under the process. */
const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1'

/** A place in the fleet. Its process may be another one later. */
export interface Worker extends AsyncDisposable {
  readonly name: string
  /** Whether it is the first of its framework. */
  readonly isResident: boolean
  readonly url: string
  readonly inbox: string
  /** Sets its wall clock: seconds by which it is wrong. */
  setClock(offset: number): Promise<void>
  measure(): Promise<Measured>
  /** What it knows of its newest refusals. */
  why(): Promise<unknown>
  /** Starts another process from what this one has in memory, and ends this one when nobody calls it any more. */
  replace(): Promise<void>
  /** Kills the process, and starts another one that knows nothing. */
  crash(): Promise<void>
}

interface Process {
  readonly running: Running
  readonly url: string
  readonly inbox: string
}

export interface WorkerOptions {
  readonly programs: Programs
  readonly node: string
  readonly settings: Omit<Settings, 'framework' | 'snapshot'>
}

/** Seconds. */
const READY = 20
const DRAIN = 1.5

export interface Fleet extends AsyncDisposable {
  readonly workers: readonly Worker[]
}

export async function startWorkers(options: WorkerOptions): Promise<Fleet> {
  const workers = await Promise.all(
    FRAMEWORKS.flatMap((framework) =>
      [true, false].map(async (isResident) => await startWorker(framework, isResident, options)),
    ),
  )
  return {
    workers,
    async [Symbol.asyncDispose]() {
      for (const worker of workers) await worker[Symbol.asyncDispose]()
    },
  }
}

async function startWorker(
  framework: string,
  isResident: boolean,
  { programs, node, settings }: WorkerOptions,
): Promise<Worker> {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-soak-'))
  const timeFile = join(folder, 'time')
  // Of a pair, one has a wrong clock as an option, and the other a wrong clock.
  const hasFakeTime = !isResident && existsSync(FAKETIME)
  writeTime(0)

  function writeTime(offset: number): void {
    // Somebody may read it in this moment.
    writeFileSync(`${timeFile}.new`, `${offset < 0 ? '' : '+'}${offset}`)
    renameSync(`${timeFile}.new`, timeFile)
  }

  async function startProcess(snapshot: KeysSnapshot | null): Promise<Process> {
    const env = {
      SETTINGS: JSON.stringify({ ...settings, framework, snapshot } satisfies Settings),
      ...(hasFakeTime && {
        LD_PRELOAD: FAKETIME,
        FAKETIME_TIMESTAMP_FILE: timeFile,
        FAKETIME_CACHE_DURATION: '1',
        // Deadlines are by a clock that nobody sets.
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
        DONT_FAKE_MONOTONIC: '1',
      }),
    }
    const flags = ['--expose-gc', '--trace-warnings', '--disable-warning=ExperimentalWarning']
    const running = await start(programs.file('api'), env, { node, flags })
    const { api, inbox } = await running.ask<{ api: number; inbox: number }>('ports')
    const ready = running.ask('ready').catch(() => undefined)
    await Promise.race([ready, afterSeconds(READY)])
    return { running, url: `http://127.0.0.1:${api}/`, inbox: `http://127.0.0.1:${inbox}/` }
  }

  let current = await startProcess(null)

  async function setOffset({ running }: Process, offset: number): Promise<void> {
    if (hasFakeTime) writeTime(offset)
    else await running.ask('step', offset)
  }

  return {
    name: `${framework} ${isResident ? 1 : 2}`,
    isResident,
    get url() {
      return current.url
    },
    get inbox() {
      return current.inbox
    },
    setClock: async (offset) => {
      await setOffset(current, offset)
    },
    measure: async () => await current.running.ask<Measured>('measure'),
    why: async () => await current.running.ask('why'),
    async replace() {
      const former = current
      const snapshot = await former.running.ask<KeysSnapshot | undefined>('snapshot')
      current = await startProcess(snapshot ?? null)
      await afterSeconds(DRAIN)
      await former.running[Symbol.asyncDispose]()
    },
    async crash() {
      await current.running.kill()
      current = await startProcess(null)
    },
    async [Symbol.asyncDispose]() {
      await current.running[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export async function afterSeconds(seconds: number): Promise<void> {
  await new Promise((resolve) => {
    setTimeout(resolve, seconds * 1000)
  })
}

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'

import { mustRun, type Outcome, run } from '../packed/report.ts'
import type { Manager } from './managers.ts'

// What a user does in a folder: types lines as a README has them, and starts applications.

export interface Folder {
  readonly path: string
  readonly manager: Manager
  readonly env: NodeJS.ProcessEnv
}

export interface Application extends AsyncDisposable {
  /** One for each port that it takes, in this order. */
  readonly urls: readonly string[]
}

const PORTS = pathToFileURL(join(import.meta.dirname, 'ports.ts')).href

/** A line of a README as the package manager of the folder has it: installing, a program that was installed, or Node. */
function wordsOf(line: string, manager: Manager): string[] {
  const { add, addForDevelopment } = manager
  const [first = '', second, ...rest] = line.split(' ')
  if (first === 'npm' && second === 'install') {
    const names = rest.filter((word) => !word.startsWith('--'))
    return [...(names.length < rest.length ? addForDevelopment : add), ...names]
  }
  const begin = first === 'npx' ? manager.run : first === 'node' ? manager.node : undefined
  if (begin === undefined || second === undefined) throw new Error(`nobody can read: ${line}`)
  return [...begin, second, ...rest]
}

/** Runs a line of a README, whatever comes of it. */
export async function type(line: string, folder: Folder, more: object = {}): Promise<Outcome> {
  return await run(wordsOf(line, folder.manager), folder.path, { ...folder.env, ...more })
}

/**
 * What a line of a README prints.
 *
 * @throws Error with that, if it fails
 */
export async function mustType(line: string, folder: Folder, more: object = {}): Promise<string> {
  return await mustRun(wordsOf(line, folder.manager), folder.path, { ...folder.env, ...more })
}

/** Starts `node FILE`, which takes some ports, and waits until it has them. */
export async function start(
  file: string,
  folder: Folder,
  more: object = {},
  ports = 1,
): Promise<Application> {
  const [program = '', ...args] = folder.manager.node
  // A group of its own: Yarn starts Node as a process of its own, which would outlive it.
  const child = spawn(program, [...args, '--import', PORTS, file], {
    cwd: folder.path,
    env: { ...folder.env, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const closed = new Promise((resolve) => child.once('close', resolve))
  const complaints = text(child.stderr)
  const urls: string[] = []
  // Read until it ends: a program that cannot write any more ends.
  const lines = createInterface({ input: child.stdout })
  await new Promise<void>((resolve) => {
    lines.on('close', resolve).on('line', (line) => {
      if (/^\d+$/.test(line)) urls.push(`http://127.0.0.1:${line}`)
      if (urls.length === ports) resolve()
    })
  })
  if (urls.length < ports) throw new Error(`${file} has ended: ${await complaints}`)
  return {
    urls,
    async [Symbol.asyncDispose]() {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
      await closed
    },
  }
}

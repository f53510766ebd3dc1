import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

import type { Message, Usage } from './http-server.ts'
import type { PublicJwk } from './inputs.ts'
import type { KeyUrls } from './key-server.ts'

/** A server with one route, in a process of its own. */
export interface GuardedServer {
  readonly guard: string
  readonly port: number
  /** What it used since this was called last. */
  usage(): Promise<Usage>
  stop(): void
}

export interface Placement {
  /** As `taskset` names them. Absent: all. */
  readonly cores?: string | undefined
  /** One process for each core, by `node:cluster`. */
  readonly isCluster?: boolean
  /** How many of them, if not one for each core. */
  readonly workers?: number
  /** A module that is loaded before the server. */
  readonly preload?: string
}

export async function startServer(
  framework: string,
  guard: string,
  keys: { readonly jwk: PublicJwk; readonly urls: KeyUrls },
  { isCluster = false, ...placement }: Placement = {},
): Promise<GuardedServer> {
  const server = isCluster ? './http-cluster.ts' : './http-server.ts'
  const child = forkPinned(server, [framework, guard, JSON.stringify(keys)], placement)
  const { port } = await nextMessage(child)
  if (port === undefined) throw new Error(`${guard}: a server did not say where it listens`)
  return {
    guard,
    port,
    async usage() {
      child.send('usage')
      const { usage } = await nextMessage(child)
      if (usage === undefined) throw new Error(`${guard}: a server did not say what it used`)
      return usage
    },
    stop() {
      child.disconnect()
    },
  }
}

/** Runs a script of this folder, on some of the cores alone if told so. */
export function forkPinned(
  script: './bare-server.ts' | './http-cluster.ts' | './http-server.ts' | './load-generator.ts',
  args: readonly string[],
  { cores, preload, workers }: Omit<Placement, 'isCluster'> = {},
): ChildProcess {
  const path = fileURLToPath(new URL(script, import.meta.url))
  const options = [
    ...process.execArgv,
    ...(preload === undefined ? [] : ['--import', new URL(preload, import.meta.url).href]),
  ]
  // Express writes each error that a peer hands on to standard error, unless this is a test.
  const count = workers === undefined ? {} : { WORKERS: String(workers) }
  const env = { ...process.env, NODE_ENV: 'test', ...count }
  return cores === undefined
    ? fork(path, args, { execArgv: options, env })
    : fork(path, args, {
        execPath: 'taskset',
        execArgv: ['-c', cores, process.execPath, ...options],
        env,
      })
}

async function nextMessage(child: ChildProcess): Promise<Message> {
  const [message] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => {
      throw new Error('a server has ended')
    }),
  ])) as [Message] /* http-server.ts sends nothing else */
  return message
}

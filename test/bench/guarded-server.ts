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
  /** A module that is loaded before the server. */
  readonly preload?: string
}

export async function startServer(
  framework: string,
  guard: string,
  keys: { readonly jwk: PublicJwk; readonly urls: KeyUrls },
  placement: Placement = {},
): Promise<GuardedServer> {
  const child = forkPinned([framework, guard, JSON.stringify(keys)], placement)
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

/** On some of the cores alone if told so. */
function forkPinned(args: readonly string[], { cores, preload }: Placement): ChildProcess {
  const path = fileURLToPath(new URL('./http-server.ts', import.meta.url))
  const options = [
    ...process.execArgv,
    ...(preload === undefined ? [] : ['--import', new URL(preload, import.meta.url).href]),
  ]
  // Express writes each error that a peer hands on to standard error, unless this is a test.
  const env = { ...process.env, NODE_ENV: 'test' }
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

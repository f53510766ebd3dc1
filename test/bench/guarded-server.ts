import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

import autocannon from 'autocannon'

import type { Keys, Message } from './http-server.ts'

/** A server with one route, in a process of its own. */
export interface GuardedServer {
  readonly guard: string
  readonly child: ChildProcess
  /** Loads it as long as said, and answers what a round was like. @throws Error if a request was refused. */
  load(load: Load): Promise<Round>
  stop(): void
}

export interface Placement {
  /** As `taskset` names them. Absent: all. */
  readonly cores?: string | undefined
  /** A module that is loaded before the server. */
  readonly preload?: string
}

export interface Round {
  /** Requests a second. */
  readonly rate: number
  /** Microseconds of the server's CPU time for each request. */
  readonly cpu: number
}

interface Load {
  readonly seconds: number
  readonly tokens: readonly string[]
}

export const CONNECTIONS = 50

export async function startServer(
  framework: string,
  guard: string,
  keys: Keys,
  placement: Placement = {},
): Promise<GuardedServer> {
  const { jwk, urls, redis = '' } = keys
  const child = forkPinned([framework, guard, JSON.stringify({ jwk, urls, redis })], placement)
  const { port = 0 } = await nextMessage(child)
  const usage = async () => {
    child.send('usage')
    return (await nextMessage(child)).cpu ?? Number.NaN
  }
  return {
    guard,
    child,
    async load({ seconds, tokens }) {
      await usage()
      let connection = 0
      const result = await autocannon({
        url: `http://127.0.0.1:${port}/`,
        connections: CONNECTIONS,
        duration: seconds,
        setupClient(client) {
          client.setRequests(
            shareOf(tokens, connection).map((token) => ({
              headers: { authorization: `Bearer ${token}` },
            })),
          )
          connection += 1
        },
      })
      const answered = result['2xx']
      if (result.non2xx > 0 || result.errors > 0 || answered === 0)
        throw new Error(`${guard}: ${result.non2xx} refusals, ${result.errors} errors`)
      return { rate: answered / result.duration, cpu: (await usage()) / answered }
    },
    stop() {
      child.disconnect()
    },
  }
}

/** Few tokens are everybody's. Of many, each connection has some of its own, so that one is always new when its turn comes. */
function shareOf(tokens: readonly string[], connection: number): readonly string[] {
  if (tokens.length <= CONNECTIONS) return tokens
  const size = Math.floor(tokens.length / CONNECTIONS)
  return tokens.slice(connection * size, (connection + 1) * size)
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
  if (cores === undefined) return fork(path, args, { execArgv: options, env })
  const execArgv = ['-c', cores, process.execPath, ...options]
  return fork(path, args, { execPath: 'taskset', execArgv, env })
}

export async function nextMessage(child: ChildProcess): Promise<Message> {
  const [message] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => {
      throw new Error('a server has ended')
    }),
  ])) as [Message] /* http-server.ts sends nothing else */
  return message
}

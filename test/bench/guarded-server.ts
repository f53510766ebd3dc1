import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

import autocannon from 'autocannon'

import type { Message, Usage } from './answer-parent.ts'
import type { PublicJwk } from './inputs.ts'
import type { KeyUrls } from './key-server.ts'

/** A server with one route, in a process of its own. */
export interface GuardedServer {
  readonly guard: string
  readonly port: number
  readonly child: ChildProcess
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
  const args = [framework, guard, JSON.stringify(keys)]
  return serverOf(guard, forkPinned(args, placement))
}

/** A process that says where it listens, and what it used when it is asked. */
export async function serverOf(guard: string, child: ChildProcess): Promise<GuardedServer> {
  const { port } = await nextMessage(child)
  if (port === undefined) throw new Error(`${guard}: a server did not say where it listens`)
  return {
    guard,
    port,
    child,
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

/** One round of one server. */
export interface Round {
  /** Requests a second. */
  readonly rate: number
  /** Microseconds of the server's CPU time for each request. */
  readonly cpu: number
  readonly busy: number
}

export type Headers = Readonly<Record<string, string>>

export interface Load {
  readonly connections: number
  /** How long, or how many requests. */
  readonly limit: { readonly duration: number } | { readonly amount: number }
  readonly headersFor: (connection: number) => readonly Headers[]
}

/** @throws Error if a request was refused. */
export async function loadServer(
  server: GuardedServer,
  { connections, limit, headersFor }: Load,
): Promise<Round> {
  const headers = Array.from({ length: connections }, (_, connection) => headersFor(connection))
  await server.usage()
  let connection = 0
  const result = await autocannon({
    url: `http://127.0.0.1:${server.port}/`,
    connections,
    ...limit,
    setupClient(client) {
      client.setRequests((headers[connection] ?? []).map((each) => ({ headers: { ...each } })))
      connection += 1
    },
  })
  const { cpu, busy } = await server.usage()
  const answered = result['2xx']
  if (result.non2xx > 0 || result.errors > 0 || answered === 0) {
    throw new Error(`${server.guard}: ${result.non2xx} refusals, ${result.errors} errors`)
  }
  return { rate: answered / result.duration, cpu: cpu / answered, busy }
}

/** Of many tokens each connection has some of its own, so that one is always new when its turn comes. */
export function shareOf(
  tokens: readonly string[],
  connection: number,
  connections: number,
): readonly string[] {
  const size = Math.floor(tokens.length / connections)
  return tokens.slice(connection * size, (connection + 1) * size)
}

export function bearersOf(tokens: readonly string[]): readonly Headers[] {
  return tokens.map((token) => ({ authorization: `Bearer ${token}` }))
}

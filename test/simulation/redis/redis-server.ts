import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Certificate } from '../../certificate.ts'
import { connect, type Connection } from './connection.ts'
import { end, run as runProgram, type Running, runOnFreePort } from './redis-process.ts'

export interface ServerOptions {
  readonly program?: string
  /** Every write is on the disk before it is answered, so that `kill` loses none. */
  readonly isPersistent?: boolean
  readonly password?: string
  /** Then the server speaks TLS alone. */
  readonly certificate?: Certificate
  /** Octets, with `noeviction`. */
  readonly maxMemory?: number
  /** The port of the primary that this one copies. */
  readonly replicaOf?: number
  /** Whether it is a node of a cluster. */
  readonly isCluster?: boolean
  /** Further settings, as its command line takes them. */
  readonly settings?: readonly string[]
}

/** Debian's `redis-server`, or another one, as a process of its own, on one port for its whole life. */
export interface RedisServer extends AsyncDisposable {
  readonly port: number
  /** Without the password. */
  readonly url: string
  /** A command on a connection of its own. @throws Error with what the server says */
  command(...words: readonly (string | number)[]): Promise<unknown>
  connect(): Promise<Connection>
  /** SIGKILL: connections are reset, and what is not on the disk is lost. */
  kill(): Promise<void>
  /** SIGSTOP: connections stay open, nothing is answered. */
  pause(): void
  /** SIGCONT */
  resume(): void
  /** Starts it again after `kill`, on the same port; perhaps another program. */
  restart(options?: { readonly withData?: boolean; readonly program?: string }): Promise<void>
}

/** `VALKEY_SERVER` names another one, of Valkey. */
export const PROGRAM = process.env['VALKEY_SERVER'] ?? 'redis-server'

export async function startRedis(options: ServerOptions = {}): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-redis-'))
  const running = await runOnFreePort(async (port) => await run(port, folder, options))
  return controlled(running, folder, options)
}

function controlled(first: Running, folder: string, options: ServerOptions): RedisServer {
  const { port } = first
  const { password, certificate } = options
  let running: Running | undefined = first

  async function connectHere(): Promise<Connection> {
    const connection = await connect(port, certificate)
    if (password !== undefined) await connection.command('AUTH', password)
    return connection
  }

  async function kill(): Promise<void> {
    if (running === undefined) return
    const ending = end(running)
    running = undefined
    await ending
  }

  return {
    port,
    url: `${certificate === undefined ? 'redis' : 'rediss'}://127.0.0.1:${port}`,
    connect: connectHere,
    async command(...words) {
      const connection = await connectHere()
      try {
        return await connection.command(...words)
      } finally {
        connection.close()
      }
    },
    kill,
    pause: () => running?.child.kill('SIGSTOP'),
    resume: () => running?.child.kill('SIGCONT'),
    async restart({ withData = true, program } = {}) {
      await kill()
      if (!withData) rmSync(join(folder, 'appendonlydir'), { recursive: true, force: true })
      // A connection that is being made may hold the port for a moment.
      for (let attempt = 0; running === undefined && attempt < 50; attempt += 1) {
        running = await run(port, folder, program === undefined ? options : { ...options, program })
      }
      if (running === undefined) throw new Error(`port ${port} is no longer free`)
    },
    async [Symbol.asyncDispose]() {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function run(
  port: number,
  folder: string,
  options: ServerOptions,
): Promise<Running | undefined> {
  const ready = /Ready to accept connections/
  const { program = PROGRAM } = options
  return await runProgram(program, settings(port, folder, options), { port, folder, ready })
}

function settings(port: number, folder: string, options: ServerOptions): string[] {
  const { isPersistent = false, password, certificate, maxMemory = 0, replicaOf } = options
  const { isCluster = false, settings: further = [] } = options
  const { certFile = '', keyFile = '' } = certificate ?? {}
  const tls = ['--tls-port', String(port), '--tls-cert-file', certFile, '--tls-key-file', keyFile]
  const listening =
    certificate === undefined
      ? ['--port', String(port)]
      : ['--port', '0', '--tls-auth-clients', 'no', ...tls]
  const common = ['--bind', '127.0.0.1', '--dir', folder, '--save', '', '--daemonize', 'no']
  const memory = ['--maxmemory', String(maxMemory), '--maxmemory-policy', 'noeviction']
  // A replica gets its copy at once.
  const replication = ['--repl-diskless-sync-delay', '0']
  return [
    ...common,
    ...listening,
    ...memory,
    ...replication,
    ...(isPersistent ? ['--appendonly', 'yes', '--appendfsync', 'always'] : []),
    ...(password === undefined ? [] : ['--requirepass', password]),
    ...(isCluster ? ['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000'] : []),
    ...further,
    ...(replicaOf === undefined ? [] : ['--replicaof', '127.0.0.1', String(replicaOf)]),
  ]
}

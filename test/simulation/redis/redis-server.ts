import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import type { Certificate } from '../../certificate.ts'
import { connect, type Connection } from './connection.ts'

export interface ServerOptions {
  /** Every write is on the disk before it is answered, so that `kill` loses none. */
  readonly isPersistent?: boolean
  readonly password?: string
  /** Then the server speaks TLS alone. */
  readonly certificate?: Certificate
  /** Octets, with `noeviction`. */
  readonly maxMemory?: number
  /** The port of the primary that this one copies. */
  readonly replicaOf?: number
}

/** Debian's `redis-server` as a process of its own, on one port for its whole life. */
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
  /** Starts it again after `kill`, on the same port. */
  restart(options?: { readonly withData: boolean }): Promise<void>
}

export const PROGRAM = 'redis-server'
export async function startRedis(options: ServerOptions = {}): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-redis-'))
  let running: Running | undefined
  // Somebody else may take a free port before the server does.
  for (let attempt = 0; running === undefined && attempt < 20; attempt += 1) {
    running = await run(await freePort(), folder, options)
  }
  if (running === undefined) throw new Error('no free port for a redis-server')
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
    const { child, guard } = running
    running = undefined
    const gone = once(child, 'exit')
    // First the guard: afterwards the number may be another process's.
    guard.kill('SIGKILL')
    child.kill('SIGKILL')
    await gone
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
    async restart({ withData } = { withData: true }) {
      await kill()
      if (!withData) rmSync(join(folder, 'appendonlydir'), { recursive: true, force: true })
      // A connection that is being made may hold the port for a moment.
      for (let attempt = 0; running === undefined && attempt < 50; attempt += 1) {
        running = await run(port, folder, options)
      }
      if (running === undefined) throw new Error(`port ${port} is no longer free`)
    },
    async [Symbol.asyncDispose]() {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

interface Running {
  readonly port: number
  readonly child: ChildProcess
  /** Ends the server when this process ends, however it ends. */
  readonly guard: ChildProcess
}

/** Nothing, if the port is taken. */
async function run(
  port: number,
  folder: string,
  options: ServerOptions,
): Promise<Running | undefined> {
  const child = spawn(PROGRAM, settings(port, folder, options), {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  await once(child, 'spawn')
  const script = 'read -r line; kill -9 "$0"; rm -rf "$1"'
  const guard = spawn('sh', ['-c', script, String(child.pid), folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  let printed = ''
  for await (const line of createInterface({ input: child.stdout ?? [] })) {
    printed += `${line}\n`
    if (line.includes('Ready to accept connections')) {
      // A pipe that nobody reads fills up, and then the server waits for us.
      child.stdout?.resume()
      return { port, child, guard }
    }
  }
  guard.kill('SIGKILL')
  if (/already in use|Failed listening/.test(printed)) return undefined
  throw new Error(`redis-server has ended:\n${printed}`)
}

function settings(port: number, folder: string, options: ServerOptions): string[] {
  const { isPersistent = false, password, certificate, maxMemory = 0, replicaOf } = options
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
    ...(replicaOf === undefined ? [] : ['--replicaof', '127.0.0.1', String(replicaOf)]),
  ]
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Certificate } from '../../certificate.ts'
import { connect } from './connection.ts'
import { end, run, type Running, runOnFreePort } from './redis-process.ts'
import type { RedisServer } from './redis-server.ts'
import { until } from './waiting.ts'

// Debian's `redis-sentinel` as processes of their own: three of them watch a primary, and promote a replica when two say that it is
// gone.

const PRIMARY = 'main'
/** The one that sentinels log in as, where there is one. */
export const WATCHER = 'watcher'

export interface SentinelOptions {
  readonly count?: number
  /** Whether they log in at the servers as `WATCHER`, with this password. */
  readonly password?: string
  /** Then they, and the servers, speak TLS alone. */
  readonly certificate?: Certificate
}

export interface Sentinels extends AsyncDisposable {
  /** As the option `sentinel` takes them. */
  readonly option: { readonly primary: string; readonly urls: readonly string[] }
  command(at: number, ...words: readonly (string | number)[]): Promise<unknown>
  /** The port of the primary, by one of them. */
  primary(at?: number): Promise<number>
  /** Waits until all of them name that server. */
  name(server: RedisServer): Promise<void>
  kill(at: number): Promise<void>
  /** SIGSTOP: connections stay open, nothing is answered. */
  pause(at: number): void
}

export const SENTINEL = process.env['VALKEY_SERVER'] ?? 'redis-sentinel'

/** They know each other, and the replicas, when this has resolved. */
export async function startSentinels(
  server: RedisServer,
  replicas: number,
  options: SentinelOptions = {},
): Promise<Sentinels> {
  const { count = 3, certificate } = options
  const folders: string[] = []
  const running = await Promise.all(
    Array.from({ length: count }, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'portcullis-sentinel-'))
      folders.push(folder)
      return await runOnFreePort(async (port) => await start(port, folder, server, options))
    }),
  )

  async function command(at: number, ...words: readonly (string | number)[]): Promise<unknown> {
    const connection = await connect(running[at]?.port ?? 0, certificate)
    try {
      return await connection.command(...words)
    } finally {
      connection.close()
    }
  }

  async function primary(at = 0): Promise<number> {
    const reply = await command(at, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', PRIMARY)
    return Number((reply as readonly string[])[1])
  }

  const sentinels: Sentinels = {
    option: {
      primary: PRIMARY,
      urls: running.map(
        ({ port }) => `${certificate === undefined ? 'redis' : 'rediss'}://127.0.0.1:${port}`,
      ),
    },
    command,
    primary,
    async name({ port }) {
      for (const at of running.keys()) {
        await until('the sentinels name it', async () => (await primary(at)) === port)
      }
    },
    kill: async (at) => {
      const { [at]: one } = running
      if (one !== undefined) await end(one)
    },
    pause: (at) => running[at]?.child.kill('SIGSTOP'),
    async [Symbol.asyncDispose]() {
      for (const each of running) await end(each)
      for (const folder of folders) rmSync(folder, { recursive: true, force: true })
    },
  }
  for (const at of running.keys()) {
    await until('the sentinels know each other', async () => {
      const reply = (await command(at, 'SENTINEL', 'MASTER', PRIMARY)) as readonly string[]
      const said = (name: string) => Number(reply[reply.indexOf(name) + 1])
      return said('num-slaves') === replicas && said('num-other-sentinels') === count - 1
    })
  }
  return sentinels
}

async function start(
  port: number,
  folder: string,
  server: RedisServer,
  { count = 3, password, certificate }: SentinelOptions,
): Promise<Running | undefined> {
  const { certFile = '', keyFile = '' } = certificate ?? {}
  const listening =
    certificate === undefined
      ? [`port ${port}`]
      : [
          'port 0',
          `tls-port ${port}`,
          `tls-cert-file ${certFile}`,
          `tls-key-file ${keyFile}`,
          `tls-ca-cert-file ${certFile}`,
          'tls-auth-clients no',
          'tls-replication yes',
        ]
  const lines = [
    ...listening,
    'bind 127.0.0.1',
    `dir ${folder}`,
    `sentinel monitor ${PRIMARY} 127.0.0.1 ${server.port} ${Math.floor(count / 2) + 1}`,
    // On a busy machine an answer may take longer than a second: they would move it back and forth.
    `sentinel down-after-milliseconds ${PRIMARY} 3000`,
    `sentinel failover-timeout ${PRIMARY} 5000`,
    ...(password === undefined
      ? []
      : [`sentinel auth-user ${PRIMARY} ${WATCHER}`, `sentinel auth-pass ${PRIMARY} ${password}`]),
  ]
  const file = join(folder, 'sentinel.conf')
  writeFileSync(file, `${lines.join('\n')}\n`)
  const options = { port, folder, ready: /\+monitor master/ }
  return await run(SENTINEL, [file, '--sentinel'], options)
}

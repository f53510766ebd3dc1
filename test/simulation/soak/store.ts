import { type Proxy, startProxy } from '../redis/proxy.ts'
import { type RedisServer, startRedis } from '../redis/redis-server.ts'
import { createStream } from '../redis/scene.ts'
import { until } from '../redis/waiting.ts'
import { afterSeconds } from './workers.ts'

// The store of revocations as it is operated: a primary, a replica, and one address that leads to the primary.

export interface Store extends AsyncDisposable {
  readonly url: string
  /** Resolves when the primary has answered, or cannot. */
  ping(): Promise<void>
  /** The primary hangs for so many seconds. */
  hang(seconds: number): Promise<void>
  /** The primary is killed, and comes back with its data. */
  crash(seconds: number): Promise<void>
  /** The primary is killed, the replica becomes the primary, and the former one comes back as its replica. */
  failOver(seconds: number): Promise<void>
}

export async function startStore(): Promise<Store> {
  let primary = await startRedis({ isPersistent: true })
  let replica = await startRedis({ isPersistent: true })
  await createStream(primary)
  await follow(replica, primary)
  const proxy = await startProxy(primary.port)
  return {
    url: proxy.url,
    async ping() {
      await primary.command('PING').catch(() => undefined)
    },
    async hang(seconds) {
      primary.pause()
      await afterSeconds(seconds)
      primary.resume()
    },
    async crash(seconds) {
      await primary.kill()
      await afterSeconds(seconds)
      await primary.restart()
      await inStep(replica)
    },
    async failOver(seconds) {
      await primary.kill()
      await afterSeconds(seconds)
      await replica.command('REPLICAOF', 'NO', 'ONE')
      const promoted = replica
      replica = primary
      primary = promoted
      leadTo(proxy, primary)
      await replica.restart()
      await follow(replica, primary)
    },
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]()
      await primary[Symbol.asyncDispose]()
      await replica[Symbol.asyncDispose]()
    },
  }
}

function leadTo(proxy: Proxy, server: RedisServer): void {
  proxy.target = server.port
  // Connections that are open stay with the one before.
  proxy.cut()
}

async function follow(replica: RedisServer, primary: RedisServer): Promise<void> {
  await replica.command('REPLICAOF', '127.0.0.1', primary.port)
  await inStep(replica)
}

/** Until it has all that the primary has: otherwise the next fail-over loses it. */
async function inStep(replica: RedisServer): Promise<void> {
  await until('the replica has its copy', async () =>
    String(await replica.command('INFO', 'replication')).includes('master_link_status:up'),
  )
}

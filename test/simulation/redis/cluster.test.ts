import { redisReplays } from '@portcullis/redis'
import { expect, test } from 'vitest'

import { describeWithRedis } from './describe-with-redis.ts'
import { type RedisServer, startRedis } from './redis-server.ts'
import { append, createStream, issue, join, STREAM } from './scene.ts'
import { until } from './waiting.ts'

// A cluster of three: the stream is one key, so one node has all of it, and the others only say which.

const LAST_SLOT = 16_383

interface Cluster extends AsyncDisposable {
  readonly nodes: readonly RedisServer[]
  /** The node that has a key, and one that has not. */
  nodesFor(key: string): Promise<readonly [owner: RedisServer, other: RedisServer]>
}

async function createCluster(): Promise<Cluster> {
  const nodes = await Promise.all(
    [0, 1, 2].map(async () => await startRedis({ isPersistent: true, isCluster: true })),
  )
  const [first, ...others] = nodes
  if (first === undefined) throw new Error('no node')
  const bounds = (at: number) => Math.ceil(((LAST_SLOT + 1) * at) / nodes.length)
  for (const [at, node] of nodes.entries()) {
    await node.command('CLUSTER', 'ADDSLOTSRANGE', bounds(at), bounds(at + 1) - 1)
  }
  for (const { port } of others) await first.command('CLUSTER', 'MEET', '127.0.0.1', port)
  for (const node of nodes) {
    await until('one cluster', async () => {
      const said = String(await node.command('CLUSTER', 'INFO'))
      return said.includes('cluster_state:ok') && said.includes('cluster_known_nodes:3')
    })
  }
  return {
    nodes,
    async nodesFor(key) {
      const slot = Number(await first.command('CLUSTER', 'KEYSLOT', key))
      const at = nodes.findIndex((_, each) => slot >= bounds(each) && slot < bounds(each + 1))
      const [owner, other] = [nodes[at], nodes[(at + 1) % nodes.length]]
      if (owner === undefined || other === undefined) throw new Error('no owner')
      return [owner, other]
    },
    async [Symbol.asyncDispose]() {
      for (const node of nodes) await node[Symbol.asyncDispose]()
    },
  }
}

describeWithRedis('a cluster', () => {
  test('the node that has the stream serves it as any server does; another one is refused, and it is said why', async () => {
    await using cluster = await createCluster()
    const [owner, other] = await cluster.nodesFor(STREAM)
    await createStream(owner)
    await using member = join(owner.url)
    const [fresh, valid] = [await issue(), await issue()]
    await member.comesTo('accepted', valid)
    await append(owner, fresh)
    await member.comesTo('revoked', fresh)
    await member.revocations.revoke((await issue()).claims)

    await using lost = join(other.url)
    const moved = 'refused: MOVED, it is a cluster, and another node has the stream'
    await expect(lost.revocations.ready()).rejects.toThrow(moved)
    await expect(lost.revocations.revoke(fresh.claims)).rejects.toThrow(moved)
    expect(await lost.verdict(valid)).toBe('stale')
  })

  test('the stream moves to another node: the former one is left, and what is revoked stays so', async () => {
    await using cluster = await createCluster()
    const [owner, other] = await cluster.nodesFor(STREAM)
    await createStream(owner)
    await using member = join(owner.url)
    const [revoked, valid] = [await issue(), await issue()]
    await member.comesTo('accepted', valid)
    await member.revocations.revoke(revoked.claims)
    const slot = String(await owner.command('CLUSTER', 'KEYSLOT', STREAM))
    const [from, to] = [
      await owner.command('CLUSTER', 'MYID'),
      await other.command('CLUSTER', 'MYID'),
    ]
    await other.command('CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(from))
    await owner.command('CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(to))
    await owner.command('MIGRATE', '127.0.0.1', other.port, STREAM, 0, 5000)
    for (const node of [other, owner]) {
      await node.command('CLUSTER', 'SETSLOT', slot, 'NODE', String(to))
    }
    const { reason } = await member.acceptedUntil(valid)
    expect(reason).toBe('stale')
    expect(member.revocations.status().lastFailure?.detail).toContain('MOVED')
    expect(await member.verdict(revoked)).toBe('revoked')
    await using moved = join(other.url)
    await moved.comesTo('revoked', revoked)
    await moved.comesTo('accepted', valid)
  })

  test('used proofs are in one slot, so the node that has it serves them', async () => {
    await using cluster = await createCluster()
    const [owner, other] = await cluster.nodesFor('{portcullis:replays}:')
    await using replays = redisReplays({ url: owner.url, timeout: 10 })
    const now = Date.now() / 1000
    for (const jkt of ['one', 'two', 'three', 'four']) {
      const proof = { jkt, jti: 'id', expires: now + 60 }
      expect(await replays.remember(proof, now)).toBe('new')
      expect(await replays.remember(proof, now)).toBe('replayed')
    }
    await using elsewhere = redisReplays({ url: other.url, timeout: 10 })
    const proof = { jkt: 'one', jti: 'id', expires: now + 60 }
    expect(await elsewhere.remember(proof, now)).toBe('unavailable')
  })
})

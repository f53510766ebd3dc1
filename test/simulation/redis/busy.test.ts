import { setImmediate as turn } from 'node:timers/promises'

import { expect, test } from 'vitest'

import { describeWithRedis } from './describe-with-redis.ts'
import { startRedis } from './redis-server.ts'
import { createScene, createStream, issue, join, MAX_STALENESS } from './scene.ts'

// A process that keeps its event loop busy, so that it hears late of everything.

/** @param seconds In which nothing else happens in this process. */
function work(seconds: number): void {
  const end = performance.now() + seconds * 1000
  while (performance.now() < end);
}

describeWithRedis('a process whose event loop is busy', () => {
  test('for longer than an answer may take: it keeps its connection', async () => {
    await using scene = await createScene()
    const { reader, revoked, valid } = scene
    work(MAX_STALENESS + 0.1)
    // As old as that it says of nothing that it was not revoked.
    expect(await reader.verdict(valid)).toBe('stale')
    expect(await reader.verdict(revoked)).toBe('revoked')
    await reader.comesTo('accepted', valid)
    expect(reader.revocations.status().lastFailure).toBeUndefined()
  })

  test('all the time, for longer than an answer may take: it comes to know, all the same', async () => {
    await using server = await startRedis()
    await createStream(server)
    await using member = join(server.url, { maxStaleness: 1 })
    const valid = await issue()
    let verdict = ''
    for (let turns = 0; turns < 30 && verdict !== 'accepted'; turns += 1) {
      // A quarter of maxStaleness is what an answer may take.
      work(0.3)
      await turn()
      verdict = await member.verdict(valid)
    }
    expect(verdict).toBe('accepted')
  })
})

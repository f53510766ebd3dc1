import { expect, test } from 'vitest'

import { createEventQueue } from './event-queue.ts'
import { seededRandom } from './random.ts'
import {
  createRedis,
  HEARTBEAT,
  runDeploy,
  runReplicas,
  startReplica,
} from './simulated-replicas.ts'

test('every process learns of every entry, in order and once, also of those that come close together', () => {
  const queue = createEventQueue()
  const redis = createRedis(queue)
  const learnt = Array.from({ length: 5 }, (): number[] => [])
  for (const own of learnt) {
    startReplica(queue, redis, (last) => own.push(last))
  }
  const random = seededRandom(1)
  for (let entry = 0; entry < 100; entry++) {
    queue.at(2 + random() * 3, () => {
      redis.append()
    })
  }
  queue.runUntil(10)
  for (const own of learnt) {
    expect(own.at(-1)).toBe(100)
    expect(own).toEqual([...new Set(own)].toSorted((one, other) => one - other))
  }
})

test('while nothing is revoked each process has seven commands at each heartbeat', () => {
  const { quiet } = runReplicas(createEventQueue(), seededRandom(1), 10)
  expect(quiet.commands / 10).toBeCloseTo(7 / HEARTBEAT, 1)
})

test('an entry wakes all who wait', () => {
  const { busy, quiet, lastKnows } = runReplicas(createEventQueue(), seededRandom(1), 100)
  expect(busy.octets).toBeGreaterThan(quiet.octets)
  expect(lastKnows).toBeGreaterThan(0)
  expect(lastKnows).toBeLessThan(0.1)
})

test('a deployment reads the snapshot once for each process', () => {
  const options = { entries: 1000, within: 10 }
  const one = runDeploy(createEventQueue(), seededRandom(1), { size: 1, ...options })
  const ten = runDeploy(createEventQueue(), seededRandom(1), { size: 10, ...options })
  expect(ten.octets).toBe(10 * one.octets)
})

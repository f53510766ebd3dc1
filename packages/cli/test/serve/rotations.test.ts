import { describe, expect, test } from 'vitest'

import { createKeyKeeper } from '../../src/serve/key-keeper.ts'
import { setUp } from './service-for-test.ts'

type Own = Awaited<ReturnType<typeof setUp>>

const happened = (own: Own) => own.service.log.after(0).map(({ type }) => type)
const pending = async (own: Own) => {
  const state = await own.state()
  return [state['pending'], state['pendingSecondsLeft']]
}

describe('a rotation whose second half follows by itself', () => {
  test.each([
    { publish: 'first', next: 'sign' },
    { publish: 'later', next: 'publish' },
    { publish: 'both', next: 'withdraw' },
  ])('publish $publish: it says how long, and then does it', async ({ publish, next }) => {
    const own = await setUp()
    expect((await own.post('rotate', { publish, seconds: 30 })).status).toBe(200)
    expect(await pending(own)).toEqual([next, 30])
    await own.clock.advance(10)
    expect(await pending(own)).toEqual([next, 20])
    await own.clock.advance(20)
    expect(await pending(own)).toEqual([undefined, undefined])
    expect(happened(own)).toEqual(['rotated', 'completed'])
  })

  test.each<[what: string, operation: string, body: object, then: readonly string[]]>([
    ['completed by hand', 'complete', {}, ['rotated', 'completed']],
    ['rolled back', 'rollback', {}, ['rotated', 'rolled back']],
    ['rotated again', 'rotate', { publish: 'later' }, ['rotated', 'rotated']],
  ])('%s before: the time brings nothing more', async (_what, operation, body, then) => {
    const own = await setUp()
    await own.post('rotate', { publish: 'later', seconds: 30 })
    await own.clock.advance(10)
    expect((await own.post(operation, body)).status).toBe(200)
    await own.clock.advance(100)
    expect(happened(own)).toEqual(then)
  })

  test('the second of two has its own time', async () => {
    const own = await setUp()
    await own.post('rotate', { publish: 'later', seconds: 30 })
    await own.clock.advance(20)
    await own.post('rotate', { publish: 'later', seconds: 30 })
    await own.clock.advance(20)
    expect(happened(own)).toEqual(['rotated', 'rotated'])
    await own.clock.advance(10)
    expect(happened(own)).toEqual(['rotated', 'rotated', 'completed'])
  })

  test('the time comes while another is under way: both are done, in this order', async () => {
    const own = await setUp()
    await own.post('rotate', { publish: 'later', seconds: 30 })
    const rotated = own.post('rotate', { publish: 'first' })
    await own.clock.advance(30)
    expect((await rotated).status).toBe(200)
    expect(happened(own)).toEqual(['rotated', 'completed', 'rotated'])
    expect(await pending(own)).toEqual(['sign', undefined])
  })

  test('a service that has ended does nothing more', async () => {
    const own = await setUp()
    await own.post('rotate', { publish: 'later', seconds: 30 })
    await own.service.close()
    await own.clock.advance(100)
    expect(happened(own)).toEqual(['rotated'])
  })

  test.each<[error: string, body: object]>([
    ['seconds goes with publish first, later and both', { seconds: 5 }],
    ['seconds goes with publish first, later and both', { publish: 'now', seconds: 5 }],
    ['seconds must be a day at most', { publish: 'later', seconds: 86_401 }],
    ['seconds must be 0 or more', { publish: 'later', seconds: -1 }],
    ['seconds must be a number of seconds', { publish: 'later', seconds: '5' }],
  ])('is refused: %s', async (error, body) => {
    const own = await setUp()
    const response = await own.post('rotate', body)
    expect(response.status).toBe(400)
    expect(((await response.json()) as { error: string }).error).toContain(error)
    expect(happened(own)).toEqual([])
  })

  test('keys that cannot be kept are reported, since nobody waits for an answer', async () => {
    const failures: string[] = []
    let isFull = false
    const keeper = createKeyKeeper('keys.json', failures.push.bind(failures), async () => {
      await Promise.resolve()
      if (isFull) throw new Error('the disk is full')
    })
    const own = await setUp({}, undefined, keeper)
    await own.post('rotate', { publish: 'later', seconds: 30 })
    isFull = true
    await own.clock.advance(30)
    await own.service.close()
    expect(happened(own)).toEqual(['rotated', 'completed'])
    expect(failures).toEqual([expect.stringContaining('cannot be kept: the disk is full')])
  })
})

test('a rolled back rotation leads back into the middle of the one before, which can be completed', async () => {
  const own = await setUp()
  await own.post('rotate', { publish: 'first' })
  await own.post('rotate', { publish: 'both' })
  await own.post('rollback')
  expect(await pending(own)).toEqual(['sign', undefined])
  expect((await own.post('complete')).status).toBe(200)
  expect(await pending(own)).toEqual([undefined, undefined])
})

import { getEventListeners } from 'node:events'

import { manualClock } from '@portcullis/testing'
import { describe, expect, test, vi } from 'vitest'

import type { Caller } from '../../src/keys/key-source.ts'
import { createWaitingRoom, type Place } from '../../src/keys/waiting-room.ts'

const ROOM = 24 * 1024 * 1024
const PLACE = 6 * 1024

function setup() {
  const clock = manualClock()
  const arrive = (options: Partial<Caller> = {}): Caller => ({
    arrived: { wall: clock.now(), monotonic: clock.monotonic() },
    tokenSize: 100,
    signal: undefined,
    ...options,
  })
  return { clock, arrive, room: createWaitingRoom(clock, 5) }
}

async function forever(): Promise<never> {
  return await new Promise<never>(() => {})
}

describe('the room', () => {
  test('a token that just fits may wait, one octet more may not', async () => {
    const { arrive, room } = setup()
    const fits = arrive({ tokenSize: ROOM - PLACE })
    const exceeds = arrive({ tokenSize: ROOM - PLACE + 1 })
    expect([room.isFull(fits), room.isFull(exceeds)]).toEqual([false, true])
    expect(await room.wait(fits, async () => 'waited')).toBe('waited')
    const refused = room.wait(exceeds, async () => 'waited')
    await expect(refused).rejects.toMatchObject({ code: 'keys_unavailable', reason: 'timeout' })
  })

  test('who has left makes room again', async () => {
    const { arrive, room } = setup()
    const large = arrive({ tokenSize: ROOM / 2 })
    const waiting = room.wait(large, async () => {
      await Promise.resolve()
      return room.isFull(large)
    })
    expect(await waiting).toBe(true)
    expect(room.isFull(large)).toBe(false)
  })
})

describe('a place', () => {
  test('is left when the work is done: what should be cancelled then, is', async () => {
    const { arrive, room } = setup()
    const cancel = vi.fn<() => void>()
    const place = await room.wait(arrive(), async (held: Place) => {
      held.whenLeft(cancel)
      expect(held.hasLeft).toBe(false)
      expect(cancel).not.toHaveBeenCalled()
      return held
    })
    expect(place.hasLeft).toBe(true)
    expect(cancel).toHaveBeenCalledTimes(1)
  })

  test('is left when patience ends, five seconds after the arrival', async () => {
    const { clock, arrive, room } = setup()
    const early = arrive()
    await clock.advance(2)
    const refusal = room.wait(early, forever).catch((error: unknown) => error)
    await clock.advance(3)
    expect(await refusal).toMatchObject({ reason: 'timeout', headers: { 'Retry-After': '1' } })
  })

  test('is left when the signal says so, which is then listened to no more', async () => {
    const { arrive, room } = setup()
    const controller = new AbortController()
    const { signal } = controller
    const waiting = room.wait(arrive({ signal }), forever)
    controller.abort(new Error('gone'))
    await expect(waiting).rejects.toThrow('gone')
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test('leaves no timer and no listener behind when the work is done', async () => {
    const { clock, arrive } = setup()
    const { signal } = new AbortController()
    const cancel = vi.fn<() => void>()
    const room = createWaitingRoom({ ...clock, after: () => cancel }, 5)
    await room.wait(arrive({ signal }), async () => {
      expect(getEventListeners(signal, 'abort')).toHaveLength(1)
      await Promise.resolve()
    })
    expect(getEventListeners(signal, 'abort')).toEqual([])
    expect(cancel).toHaveBeenCalledTimes(1)
  })
})

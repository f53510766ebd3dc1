import { getEventListeners } from 'node:events'

import { manualClock } from '@portcullis/testing'
import { describe, expect, test, vi } from 'vitest'

import { createWaitingRoom, pause, type Place, type Waiting } from '../src/waiting.ts'
import { REFUSALS } from './refusals.ts'

const ROOM = 24 * 1024 * 1024
const PLACE = 6 * 1024

function setup() {
  const clock = manualClock()
  const arrive = (options: Partial<Waiting> = {}): Waiting => ({
    arrived: { wall: clock.now(), monotonic: clock.monotonic() },
    tokenSize: 100,
    signal: undefined,
    ...options,
  })
  return { clock, arrive, room: createWaitingRoom(clock, 5, REFUSALS) }
}

async function forever(): Promise<never> {
  return await new Promise<never>(() => {})
}

describe('the room', () => {
  test('a token that just fits may wait, one octet more may not', async () => {
    const { arrive, room } = setup()
    const fits = arrive({ tokenSize: ROOM - PLACE })
    const exceeds = arrive({ tokenSize: ROOM - PLACE + 1 })
    expect(await room.wait(fits, async () => 'waited')).toBe('waited')
    const refused = room.wait(exceeds, async () => 'waited')
    await expect(refused).rejects.toThrow('full')
  })

  test('who finds it full is told at once, and no work is done', async () => {
    const { arrive, room } = setup()
    const work = vi.fn<() => Promise<string>>(async () => 'waited')
    const refused = room.wait(arrive({ tokenSize: ROOM }), work)
    await expect(refused).rejects.toThrow('full')
    expect(work).not.toHaveBeenCalled()
  })

  test('who waits takes up room, who has left makes room again', async () => {
    const { clock, arrive, room } = setup()
    const large = arrive({ tokenSize: ROOM / 2 })
    const waiting = room.wait(large, forever).catch((error: unknown) => error)
    await expect(room.wait(large, async () => 'waited')).rejects.toThrow('full')
    await clock.advance(5)
    expect(await waiting).toMatchObject({ message: 'late after 5 s' })
    expect(await room.wait(large, async () => 'waited')).toBe('waited')
  })

  test('a place whose timer was lost with its request is given back, to who finds the room full', async () => {
    const clock = manualClock()
    const timers = { areLost: true }
    const after = (seconds: number, fn: () => void) =>
      timers.areLost ? () => {} : clock.after(seconds, fn)
    const room = createWaitingRoom({ ...clock, after }, 5, REFUSALS)
    const half = { arrived: undefined, tokenSize: ROOM / 2 - PLACE, signal: undefined }
    void room.wait(half, forever)
    await clock.advance(5)
    timers.areLost = false
    const waiting = room.wait(half, forever).catch((error: unknown) => error)
    await expect(room.wait(half, async () => 'waited')).rejects.toThrow('full')
    await clock.advance(1.1)
    expect(await room.wait(half, async () => 'waited')).toBe('waited')
    // The other half is still taken, and given back once.
    await expect(
      room.wait({ ...half, tokenSize: ROOM - PLACE }, async () => 'waited'),
    ).rejects.toThrow('full')
    await clock.advance(4)
    expect(await waiting).toMatchObject({ message: 'late after 5 s' })
    const all = { ...half, tokenSize: ROOM - PLACE }
    expect(await room.wait(all, async () => 'waited')).toBe('waited')
  })

  test('a caller who has left before it comes gets its own reason, also where there is no room', async () => {
    const { arrive, room } = setup()
    const gone = new Error('gone')
    const caller = arrive({ signal: AbortSignal.abort(gone), tokenSize: ROOM })
    await expect(room.wait(caller, forever)).rejects.toBe(gone)
  })

  test('work that fails makes room again', async () => {
    const { arrive, room } = setup()
    const large = arrive({ tokenSize: ROOM / 2 })
    const failing = room.wait(large, async () => await Promise.reject(new Error('failed')))
    await expect(failing).rejects.toThrow('failed')
    expect(await room.wait(large, async () => 'waited')).toBe('waited')
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

  test('cancels what it was given once, in that order, and at once what comes meanwhile', async () => {
    const { arrive, room } = setup()
    const cancelled: string[] = []
    await room.wait(arrive(), async (place: Place) => {
      place.whenLeft(() => {
        place.whenLeft(() => cancelled.push(`meanwhile: ${place.hasLeft}`))
        cancelled.push('first')
      })
      place.whenLeft(() => cancelled.push('second'))
      expect(place.hasLeft).toBe(false)
    })
    expect(cancelled).toEqual(['meanwhile: true', 'first', 'second'])
  })

  test('that is left already cancels at once what it is given', async () => {
    const { arrive, room } = setup()
    const cancel = vi.fn<() => void>()
    const place = await room.wait(arrive(), async (held: Place) => held)
    place.whenLeft(cancel)
    expect(cancel).toHaveBeenCalledTimes(1)
  })

  test('a pause of who has left keeps no timer', async () => {
    const { clock, arrive, room } = setup()
    const cancel = vi.fn<() => void>()
    const place = await room.wait(arrive(), async (held: Place) => held)
    void pause(60, { ...clock, after: () => cancel }, place)
    expect(cancel).toHaveBeenCalledTimes(1)
  })

  test('is left at once by a caller whom the work itself has aborted', async () => {
    const { arrive, room } = setup()
    const controller = new AbortController()
    const waiting = room.wait(arrive({ signal: controller.signal }), async () => {
      controller.abort(new Error('gone'))
      return await forever()
    })
    await expect(waiting).rejects.toThrow('gone')
  })

  test('is left when patience ends, five seconds after the arrival', async () => {
    const { clock, arrive, room } = setup()
    const early = arrive()
    await clock.advance(2)
    const refusal = room.wait(early, forever).catch((error: unknown) => error)
    await clock.advance(3)
    expect(await refusal).toMatchObject({ message: 'late after 3 s' })
  })

  test('has no time left for who arrived too long ago', async () => {
    const { clock, arrive, room } = setup()
    const early = arrive()
    await clock.advance(7)
    const refusal = room.wait(early, forever).catch((error: unknown) => error)
    await clock.advance(0)
    expect(await refusal).toMatchObject({ message: 'late after 0 s' })
  })

  test('a deadline that the work sets comes before that of the caller', async () => {
    const { clock, arrive, room } = setup()
    const waiting = room.wait(arrive(), async () => {
      await new Promise<void>((resolve) => {
        clock.after(5, resolve)
      })
      return 'in time'
    })
    await clock.advance(5)
    expect(await waiting).toBe('in time')
  })

  test('lasts from now on for who does not say when it arrived, however long its work took to begin', async () => {
    const { clock, arrive } = setup()
    let looks = 0
    const ticking = { ...clock, monotonic: () => clock.monotonic() + ++looks }
    const room = createWaitingRoom(ticking, 5, REFUSALS)
    let isOver = false
    const waiting = room.wait({ ...arrive(), arrived: undefined }, forever).catch(() => {
      isOver = true
    })
    await clock.advance(4.9)
    expect(isOver).toBe(false)
    await clock.advance(0.1)
    await waiting
    expect(isOver).toBe(true)
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
    const room = createWaitingRoom({ ...clock, after: () => cancel }, 5, REFUSALS)
    const waiting = room.wait(arrive({ signal }), async () => {
      await Promise.resolve()
    })
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    await waiting
    expect(getEventListeners(signal, 'abort')).toEqual([])
    expect(cancel).toHaveBeenCalledTimes(1)
  })
})

import { describe, expect, test } from 'vitest'

import { untilEnded } from '../src/event-stream.ts'

function watched(source: ReadableStream<Uint8Array>) {
  const calls: string[] = []
  const ends: (() => void)[] = []
  const stream = untilEnded(source, (end) => {
    ends.push(end)
    return () => {
      calls.push('watched no longer')
    }
  })
  return { calls, reader: stream.getReader(), end: () => ends[0]?.() }
}

describe('a stream of events', () => {
  test('has all that its source has, and is watched until the end of that', async () => {
    const parts = ['data: a\n\n', 'data: b\n\n'].map((text) => Buffer.from(text))
    const { calls, reader } = watched(ReadableStream.from(parts))
    expect([await reader.read(), await reader.read(), calls]).toEqual([
      { done: false, value: parts[0] },
      { done: false, value: parts[1] },
      [],
    ])
    expect([await reader.read(), calls]).toEqual([
      { done: true, value: undefined },
      ['watched no longer'],
    ])
  })

  test('fails as its source does, and is watched no longer', async () => {
    const error = new Error('of the source')
    const source = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.error(error)
      },
    })
    const { calls, reader } = watched(source)
    await expect(reader.read()).rejects.toBe(error)
    expect(calls).toEqual(['watched no longer'])
  })

  test('that nobody reads any more: its source is told why', async () => {
    const told: unknown[] = []
    const source = new ReadableStream<Uint8Array>({
      cancel(reason) {
        told.push(reason)
      },
    })
    const { calls, reader } = watched(source)
    await reader.cancel('left')
    expect([told, calls]).toEqual([['left'], ['watched no longer']])
  })

  test('may be ended before anybody reads it, and a second time', async () => {
    let isCancelled = false
    const source = new ReadableStream<Uint8Array>({
      cancel() {
        isCancelled = true
      },
    })
    const stream = untilEnded(source, (end) => {
      end()
      return end
    })
    const reader = stream.getReader()
    expect([await reader.read(), isCancelled]).toEqual([{ done: true, value: undefined }, true])
  })

  test('that was ended is at its end, also if its source cannot be cancelled', async () => {
    const told: unknown[] = []
    const source = new ReadableStream<Uint8Array>({
      async cancel(reason) {
        told.push(reason)
        await Promise.reject(new Error('of the source'))
      },
    })
    const { reader, end } = watched(source)
    const pending = reader.read()
    end()
    expect([await pending, await reader.read(), told]).toEqual([
      { done: true, value: undefined },
      { done: true, value: undefined },
      [undefined],
    ])
  })
})

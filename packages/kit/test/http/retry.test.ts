import { describe, expect, test } from 'vitest'

import { createRetry, isWorthRetrying } from '../../src/http/retry.ts'

const live = { aborted: false }
const over = { aborted: true }
const named = (name: string) => Object.assign(new Error('no'), { name })

describe('whether a request without an answer is sent again', () => {
  test.each<[string, unknown, boolean, Pick<AbortSignal, 'aborted'>, boolean]>([
    ['after a success, what the platform throws', new TypeError('fetch failed'), true, live, true],
    ['after a success, no error at all', undefined, true, live, true],
    ['before any success', new TypeError('fetch failed'), false, live, false],
    ['once the attempt is over', new TypeError('fetch failed'), true, over, false],
    ['what was aborted by others', named('AbortError'), true, live, false],
    ['a deadline of others', named('TimeoutError'), true, live, false],
    ['a name that ends like one', named('MyTimeoutError'), true, live, true],
    ['a name that begins like one', named('AbortErrors'), true, live, true],
  ])('%s', (_title, error, hasSucceeded, signal, expected) => {
    expect(isWorthRetrying(error, hasSucceeded, signal)).toBe(expected)
  })
})

/** A source whose requests are answered in turn: by a status, by anything else, or by an error. */
function source(...answers: readonly unknown[]) {
  const controller = new AbortController()
  const left = [...answers]
  const retry = createRetry()
  let requests = 0
  const ask = async () =>
    await retry(async () => {
      requests++
      const answer = left.shift()
      if (answer instanceof Error) throw answer
      return (typeof answer === 'number' ? { status: answer } : answer) as { status: number }
    }, controller.signal)
  return { ask, controller, requests: () => requests }
}

const LOST = new TypeError('fetch failed')

describe('the requests of one source', () => {
  test('after a success a request that is lost is sent again, and no more often', async () => {
    const { ask, requests } = source(200, LOST, 200, LOST, LOST, 200)
    await ask()
    expect(await ask()).toEqual({ status: 200 })
    expect(requests()).toBe(3)
    await expect(ask()).rejects.toBe(LOST)
    expect(requests()).toBe(5)
  })

  test('the second failure is the one that is told', async () => {
    const second = new Error('second')
    const { ask } = source(200, LOST, second)
    await ask()
    await expect(ask()).rejects.toBe(second)
  })

  test.each([200, 204, 299])('an answer of %i is a success', async (status) => {
    const { ask, requests } = source(status, LOST, 200)
    await ask()
    await ask()
    expect(requests()).toBe(3)
  })

  test.each([199, 300, 304, 400, 401, 429, 500, '200', undefined, null, {}])(
    'an answer of %j is none, and is handed on',
    async (answer) => {
      const { ask, requests } = source(answer, LOST)
      await ask()
      await expect(ask()).rejects.toBe(LOST)
      expect(requests()).toBe(2)
    },
  )

  test('a success counts for good, whatever comes after it', async () => {
    const { ask, requests } = source(200, 500, LOST, LOST, LOST, 200)
    await ask()
    await ask()
    await expect(ask()).rejects.toBe(LOST)
    await ask()
    expect(requests()).toBe(6)
  })

  test('an attempt that ends while its request fails sends nothing more', async () => {
    const retry = createRetry()
    const controller = new AbortController()
    await retry(async () => ({ status: 200 }), controller.signal)
    let requests = 0
    const asked = retry(async () => {
      requests++
      controller.abort()
      throw LOST
    }, controller.signal)
    await expect(asked).rejects.toBe(LOST)
    expect(requests).toBe(1)
  })

  test('the successes of another source do not count', async () => {
    const [one, other] = [source(200), source(LOST)]
    await one.ask()
    await expect(other.ask()).rejects.toBe(LOST)
    expect(other.requests()).toBe(1)
  })
})

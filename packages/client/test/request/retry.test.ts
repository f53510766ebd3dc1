import { describe, expect, test } from 'vitest'

import { TokenClientError } from '../../src/answer/errors.ts'
import { createRetry } from '../../src/request/retry.ts'

/** A client whose requests are numbered, and answered in turn. */
function client(mayFollow: (first: number, second: number) => boolean = () => true) {
  const answers: (Response | Error)[] = []
  const sent: number[] = []
  const retry = createRetry()
  const { signal } = new AbortController()
  let composed = 0
  const ask = async () =>
    await retry(
      {
        compose: () => ++composed,
        async send(request) {
          sent.push(request)
          const answer = answers.shift()
          if (answer instanceof Response) return { response: answer }
          throw answer ?? new Error('no answer')
        },
        mayFollow,
      },
      signal,
    )
  return { ask, answers, sent, composed: () => composed }
}

const OUTAGE = { code: 'service_unavailable' }
const lost = () => new TypeError('fetch failed')

describe('the requests of one client', () => {
  test('what is sent again was composed anew', async () => {
    const { ask, answers, sent } = client()
    answers.push(new Response(), lost(), new Response('second'))
    await ask()
    const { response } = await ask()
    expect(await response.text()).toBe('second')
    expect(sent).toEqual([1, 2, 3])
  })

  test('an attempt is two requests at most, and then an outage', async () => {
    const { ask, answers, sent } = client()
    answers.push(new Response(), lost(), lost())
    await ask()
    await expect(ask()).rejects.toMatchObject(OUTAGE)
    expect(sent).toHaveLength(3)
  })

  test('what may not follow the first is not sent', async () => {
    const { ask, answers, sent, composed } = client((first, second) => first === second)
    answers.push(new Response(), lost())
    await ask()
    await expect(ask()).rejects.toMatchObject(OUTAGE)
    expect(sent).toEqual([1, 2])
    expect(composed()).toBe(3)
  })

  test('a refusal is no success, and no reason to send anything again', async () => {
    const { ask, answers, sent } = client()
    answers.push(new Response(null, { status: 401 }), lost())
    expect(await ask()).toMatchObject({ response: { status: 401 } })
    await expect(ask()).rejects.toMatchObject(OUTAGE)
    expect(sent).toHaveLength(2)
  })

  test('an error of a request that cannot be composed is handed on', async () => {
    const retry = createRetry()
    const failure = new TokenClientError('credentials_rejected', 'no')
    const compose = () => {
      throw failure
    }
    const exchange = {
      compose,
      send: async () => ({ response: new Response() }),
      mayFollow: () => true,
    }
    await expect(retry(exchange, new AbortController().signal)).rejects.toBe(failure)
  })
})

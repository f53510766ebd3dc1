import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { EventEmitter, once } from 'node:events'

import { type Clock, localKeys } from '@portcullis/core'
import { createTestIssuer, eventTransmitter, manualClock } from '@portcullis/testing'
import { describe, expect, onTestFinished, test } from 'vitest'

import {
  type EventMessage,
  type EventReport,
  pollEvents,
  type PollEventsOptions,
} from '../src/index.ts'
import { createPoll } from '../src/poll-events.ts'
import { AUDIENCE, createStore, ISSUER, NEVER } from './scene.ts'

const ENDPOINT = 'https://login.test/poll'

interface Poll {
  /** On the monotonic clock. */
  readonly at: number
  readonly body: string
}

function textOf({ body }: RequestInit): string {
  return typeof body === 'string' ? body : ''
}

/** A transmitter that is polled in virtual time. `faults` answer in its place, one for each request. */
async function scene(options: Partial<PollEventsOptions> = {}) {
  const clock = manualClock()
  const issuer = await createTestIssuer({ clock, issuer: ISSUER, algorithm: 'ES256' })
  const transmitter = eventTransmitter(issuer, { audience: AUDIENCE })
  const store = createStore()
  const polls: Poll[] = []
  const timers = new Set<object>()
  const told: EventMessage[] = []
  const faults: ((init: RequestInit) => Response | Promise<Response>)[] = []
  const start = () => {
    const poll = pollEvents({
      endpoint: ENDPOINT,
      async fetch(url, init) {
        polls.push({ at: clock.monotonic(), body: textOf(init) })
        const fault = faults.shift()
        return fault === undefined ? await transmitter.pollFetch(url, init) : await fault(init)
      },
      keys: issuer.verifierOptions.keys,
      issuer: ISSUER,
      audience: AUDIENCE,
      revocations: store.revocations,
      revokes: 'subject',
      clock: {
        ...clock,
        after(seconds, fn) {
          const timer = {}
          const end = () => timers.delete(timer)
          timers.add(timer)
          const cancel = clock.after(seconds, () => {
            end()
            fn()
          })
          return () => {
            end()
            cancel()
          }
        },
      },
      onEvent: (message) => void told.push(message),
      ...options,
    })
    onTestFinished(async () => {
      const closed = poll.close()
      // What hangs is given up.
      await clock.advance(30)
      await closed
    })
    return poll
  }
  let count = 0
  return {
    clock,
    store,
    polls,
    told,
    faults,
    transmitter,
    /** Those of the clock that are not over. */
    timers,
    start,
    /** Publishes an event, and returns its name. */
    publish: async (sub = 'ada', jti = `j-${++count}`): Promise<string> => {
      const subject = { format: 'iss_sub', iss: ISSUER, sub }
      const claims = { jti }
      const token = await transmitter.securityEvent({ type: 'session-revoked', subject, claims })
      transmitter.publish(jti, token)
      return jti
    },
    /** Lets virtual time pass until something holds. Signatures take real time. */
    until: async (holds: () => boolean): Promise<void> => {
      while (!holds()) await clock.advance(0.05)
    },
    /** The same without any time, however long the thread pool takes. */
    atOnce: async (holds: () => boolean): Promise<void> => {
      while (!holds()) await clock.advance(0)
    },
  }
}

const gaps = (polls: readonly Poll[]) =>
  polls.slice(1).map(({ at }, index) => at - (polls[index]?.at ?? 0))

const status = (code: number, headers: Record<string, string> = {}) => {
  return () => new Response('no', { status: code, headers })
}

test('an event is recorded, and acknowledged in the next request, which waits for the next event', async () => {
  const { start, publish, until, store, transmitter, polls } = await scene()
  const name = await publish()
  const poll = start()
  expect(poll.status()).toMatchObject({ state: 'starting', answerAge: undefined })
  await until(() => transmitter.acknowledged().length === 1)
  expect(store.entries()).toMatchObject([{ sub: 'ada' }])
  expect(polls.map(({ body }) => body)).toEqual([
    '{"maxEvents":100}',
    `{"maxEvents":100,"ack":["${name}"]}`,
  ])
  expect(poll.status()).toMatchObject({ state: 'current', failures: 0, lastFailure: undefined })
  await publish('eve')
  await until(() => transmitter.acknowledged().length === 2)
  expect(polls).toHaveLength(3)
})

test('more than one answer can hold is asked for at once', async () => {
  const { start, publish, until, transmitter, polls } = await scene({ interval: 300 })
  for (let count = 0; count < 250; count++) await publish(`user-${count}`)
  start()
  await until(() => transmitter.acknowledged().length === 250)
  const [first] = polls
  expect(polls).toHaveLength(4)
  expect((polls.at(-1)?.at ?? 0) - (first?.at ?? 0)).toBeLessThan(300)
})

test('every bad event is refused by setErrs, with its err, and nothing is recorded', async () => {
  const { start, until, transmitter, store, told } = await scene()
  const kinds = await transmitter.badEvents({ kind: 'security', revokes: 'subject' })
  // Those that have no name, or another one, are refused for it as well.
  kinds.forEach(({ token }, at) => {
    transmitter.publish(`bad-${at}`, token)
  })
  start()
  await until(() => transmitter.errors().size === kinds.length)
  const found = kinds.map((_, at) => transmitter.errors().get(`bad-${at}`)?.err)
  expect(found).toEqual(kinds.map(({ err }) => err))
  expect(transmitter.acknowledged()).toEqual([])
  expect([store.calls, told.length]).toEqual([0, kinds.length])
})

test('an event under the name of another one is refused', async () => {
  const { start, until, transmitter, store } = await scene()
  const subject = { format: 'iss_sub', iss: ISSUER, sub: 'ada' }
  transmitter.publish(
    'another',
    await transmitter.securityEvent({ type: 'session-revoked', subject }),
  )
  start()
  await until(() => transmitter.errors().size === 1)
  expect(transmitter.errors().get('another')).toEqual({
    err: 'invalid_request',
    description: 'The token has another jti than its name',
  })
  expect(store.calls).toBe(0)
})

test('the channel says of which poll an event came', async () => {
  const { start, publish, until, transmitter } = await scene()
  const sources: unknown[] = []
  const listen = (message: unknown) =>
    void sources.push((message as EventReport) /* what the channel is for */.source)
  subscribe('portcullis:events', listen)
  await publish()
  const poll = start()
  await until(() => transmitter.acknowledged().length === 1)
  unsubscribe('portcullis:events', listen)
  expect(sources).toEqual([poll])
})

test.each(['__proto__', 'constructor', 'toString'])('an event may be named %s', async (name) => {
  const { start, publish, until, transmitter, faults, store } = await scene()
  await publish('ada', name)
  start()
  await until(() => transmitter.acknowledged().length === 1 || transmitter.errors().size === 1)
  expect(faults).toEqual([])
  expect([transmitter.acknowledged(), store.calls]).toEqual([[name], 1])
})

async function lost(): Promise<never> {
  return await Promise.reject(new TypeError('fetch failed'))
}

test('a poll that is lost is sent again at once, with the same acknowledgements, and no failure is counted', async () => {
  const { start, publish, until, transmitter, polls, faults } = await scene()
  const name = await publish()
  faults.push(async (init) => await transmitter.pollFetch(ENDPOINT, init), lost)
  const poll = start()
  await until(() => transmitter.acknowledged().length === 1)
  expect(polls[2]).toEqual(polls[1])
  expect(polls[2]?.body).toContain(name)
  expect(poll.status()).toMatchObject({ failures: 0, lastFailure: undefined })
})

test('an acknowledgement whose answer is lost is said again, and the event is not recorded again', async () => {
  const { start, publish, until, transmitter, polls, faults, store } = await scene()
  const name = await publish()
  faults.push(async (init) => await transmitter.pollFetch(ENDPOINT, init), lost, lost, status(502))
  const poll = start()
  await until(() => polls.length === 4)
  await until(() => poll.status().failures === 2)
  expect(poll.status()).toMatchObject({
    state: 'failing',
    lastFailure: 'the endpoint answered 502',
  })
  await until(() => transmitter.acknowledged().length === 1)
  expect(polls.slice(1).map(({ body }) => body.includes(name))).toEqual(Array(4).fill(true))
  expect(store.calls).toBe(1)
})

test('what cannot be recorded is neither acknowledged nor refused, and is recorded when it comes again', async () => {
  const { start, publish, until, transmitter, polls, store } = await scene()
  const name = await publish()
  store.isDown = true
  const poll = start()
  await until(() => poll.status().failures === 3)
  expect(poll.status().lastFailure).toBe('some events could not be judged or recorded')
  expect(polls.every(({ body }) => !body.includes(name))).toBe(true)
  expect(transmitter.waiting()).toEqual([name])
  store.isDown = false
  await until(() => transmitter.acknowledged().length === 1)
  expect(store.entries()).toHaveLength(1)
  await until(() => poll.status().state === 'current' || transmitter.waiting().length === 0)
})

test('of several events, one that cannot be recorded keeps no other from being acknowledged', async () => {
  const { start, publish, until, transmitter, polls, store } = await scene()
  const [first, second, third] = [await publish('ada'), await publish('bob'), await publish('eve')]
  store.failsFor.add('bob')
  const poll = start()
  await until(() => transmitter.acknowledged().length === 2)
  store.failsFor.clear()
  await until(() => transmitter.acknowledged().length === 3)
  expect(polls[1]?.body).toBe(`{"maxEvents":100,"ack":["${first}","${third}"]}`)
  expect(transmitter.acknowledged()).toEqual([first, third, second])
  expect([store.entries().length, poll.status().failures]).toEqual([3, 0])
})

describe('what hangs', () => {
  test('a store that never answers is given up after 10 s, and the event that comes again is recorded', async () => {
    const { start, publish, until, transmitter, store, told } = await scene()
    store.pause = NEVER
    await publish()
    const poll = start()
    await until(() => store.calls === 1)
    store.pause = undefined
    await until(() => transmitter.acknowledged().length === 1)
    expect(poll.status().lastFailure).toBe('some events could not be judged or recorded')
    expect(told).toMatchObject([
      { outcome: 'unavailable', error: new Error('revocations did not answer in 10 s') },
      { outcome: 'recorded', error: undefined },
    ])
    expect([store.calls, store.entries().length]).toEqual([2, 1])
  })

  test('a store that never answers is called 25 times for an answer of 100 events', async () => {
    const { start, publish, until, store, polls, faults, transmitter } = await scene()
    store.pause = NEVER
    faults.push(
      async (init) => await transmitter.pollFetch(ENDPOINT, init),
      async () => await NEVER,
    )
    for (let count = 0; count < 100; count++) await publish(`user-${count}`)
    start()
    await until(() => polls.length === 2)
    expect(store.calls).toBe(25)
  })

  test('the end may be stated', async () => {
    const { start, publish, until, told, store } = await scene({ recordTimeout: 2 })
    store.pause = NEVER
    await publish()
    start()
    await until(() => told.length === 1)
    expect(told).toMatchObject([{ error: new Error('revocations did not answer in 2 s') }])
  })

  test('a mapSubject that never answers for one event keeps no other from being recorded at once', async () => {
    const { start, publish, until, atOnce, transmitter, store, told, polls } = await scene({
      mapSubject: async ({ sub }) => (sub === 'eve' ? await NEVER : undefined),
    })
    await publish('eve')
    await publish('ada')
    const poll = start()
    await atOnce(() => store.entries().length === 1)
    expect(polls).toHaveLength(1)
    await until(() => transmitter.acknowledged().length === 1)
    expect(poll.status()).toMatchObject({ state: 'current', failures: 0, stuck: 1 })
    expect(told).toMatchObject([
      { outcome: 'recorded' },
      { outcome: 'unavailable', error: new Error('mapSubject did not answer in 10 s') },
    ])
  })
})

describe('an event that fails by itself', () => {
  test('is neither acknowledged nor refused, is counted by itself, and slows nothing', async () => {
    const { start, publish, until, transmitter, polls, told } = await scene({
      mapSubject({ sub }) {
        if (sub === 'eve') throw new Error('of the directory')
        return undefined
      },
    })
    const poisoned = await publish('eve')
    const poll = start()
    await until(() => polls.length === 6)
    for (const gap of gaps(polls)) expect(gap).toBeCloseTo(5, 0)
    expect(poll.status()).toMatchObject({ state: 'current', failures: 0, stuck: 1 })
    await publish('ada')
    await until(() => transmitter.acknowledged().length === 1)
    expect(polls).toHaveLength(8)
    expect(transmitter.waiting()).toEqual([poisoned])
    expect(transmitter.errors().size).toBe(0)
    expect(new Set(told.map(({ outcome }) => outcome))).toEqual(
      new Set(['unavailable', 'recorded']),
    )
  })

  test('the same holds of one that the store never takes, once the store has taken another', async () => {
    const { start, publish, until, transmitter, polls, store } = await scene()
    store.failsFor.add('eve')
    await publish('eve')
    const poll = start()
    await until(() => poll.status().failures === 2)
    await publish('ada')
    await until(() => transmitter.acknowledged().length === 1)
    const since = polls.length
    await until(() => polls.length === since + 3)
    for (const gap of gaps(polls.slice(since))) expect(gap).toBeCloseTo(5, 0)
    expect(poll.status()).toMatchObject({ state: 'current', failures: 0, stuck: 1 })
    store.failsFor.clear()
    await until(() => transmitter.acknowledged().length === 2)
    await until(() => poll.status().stuck === 0)
  })

  test('a store that then fails for all is a failure of the poll', async () => {
    const { start, publish, until, store } = await scene()
    store.failsFor.add('eve')
    await publish('eve')
    await publish('ada')
    const poll = start()
    await until(() => poll.status().stuck === 1)
    store.isDown = true
    await publish('bob')
    await until(() => poll.status().failures === 1)
    expect(poll.status().state).toBe('failing')
  })
})

test('a transmitter with a new junk name in each answer is polled once in a second', async () => {
  const { start, until, polls, faults } = await scene()
  faults.push(
    ...Array.from({ length: 8 }, (_, at) => () => Response.json({ sets: { [`junk-${at}`]: 'x' } })),
  )
  const poll = start()
  await until(() => polls.length === 8)
  for (const gap of gaps(polls)) {
    expect(gap).toBeGreaterThanOrEqual(1)
    expect(gap).toBeLessThan(1.2)
  }
  expect(poll.status()).toMatchObject({ state: 'current', failures: 0 })
})

test.each<[string, () => Response]>([
  ['no members', () => Response.json({})],
  ['moreAvailable alone', () => Response.json({ moreAvailable: false })],
  ['sets that are null', () => Response.json({ sets: null })],
  ['sets as an empty list', () => Response.json({ sets: [] })],
  ['the status 204', () => new Response(null, { status: 204 })],
])('an answer with %s has no events, and is no failure', async (_, answer) => {
  const { start, until, polls, faults, told } = await scene({ interval: 1 })
  faults.push(answer, answer, answer)
  const poll = start()
  await until(() => polls.length === 3)
  expect(poll.status()).toMatchObject({ state: 'current', failures: 0, lastFailure: undefined })
  for (const gap of gaps(polls)) expect(gap).toBeGreaterThanOrEqual(1)
  expect(told).toEqual([])
})

test('a transmitter that answers again is current, and its failures are over', async () => {
  const { start, publish, until, polls, faults } = await scene()
  faults.push(status(500), status(500))
  const poll = start()
  await until(() => poll.status().failures === 2)
  await publish()
  await until(() => poll.status().state === 'current')
  expect(poll.status()).toMatchObject({
    failures: 0,
    lastFailure: 'the endpoint answered 500',
    answerAge: expect.closeTo(0, 0) as number,
  })
  expect(polls).toHaveLength(4)
})

test('a poll is a POST of JSON to the endpoint, and follows no redirect', async () => {
  const sent: [string, RequestInit][] = []
  const { start } = await scene({
    endpoint: new URL(`${ENDPOINT}?stream=1#part`),
    async fetch(url, init) {
      sent.push([url, init])
      return await new Promise(() => undefined)
    },
  })
  start()
  expect(sent).toEqual([
    [
      `${ENDPOINT}?stream=1`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: '{"maxEvents":100}',
        redirect: 'manual',
        credentials: 'omit',
        cache: 'no-store',
        signal: expect.any(AbortSignal) as unknown,
      },
    ],
  ])
})

test('events are judged by the clock of the options', async () => {
  const { start, publish, until, told } = await scene({
    clock: manualClock(manualClock().now() - 3600),
  })
  await publish()
  start()
  await until(() => told.length === 1)
  const description = 'The token was issued in the future'
  expect(told).toMatchObject([{ refused: { err: 'invalid_request', description } }])
})

test('a polluted prototype has no events', async () => {
  const { start, until, faults, told } = await scene()
  faults.push(() => Response.json({}))
  Reflect.defineProperty(Object.prototype, 'sets', {
    __proto__: null,
    value: { a: 'not a token' },
    configurable: true,
  } as PropertyDescriptor)
  try {
    const poll = start()
    await until(() => poll.status().state !== 'starting')
    expect([poll.status().state, told]).toEqual(['current', []])
  } finally {
    Reflect.deleteProperty(Object.prototype, 'sets')
  }
})

describe('the pace', () => {
  test('a transmitter that fails is asked after 1 s, then after twice that, at the latest after 36 s', async () => {
    const { start, until, polls, faults } = await scene()
    faults.push(...Array.from({ length: 9 }, () => status(500)))
    start()
    await until(() => polls.length === 9)
    const expected = [1, 2, 4, 8, 16, 30, 30, 30]
    gaps(polls).forEach((gap, at) => {
      expect(gap).toBeGreaterThanOrEqual((expected[at] ?? 0) * 0.79)
      expect(gap).toBeLessThanOrEqual((expected[at] ?? 0) * 1.21 + 0.1)
    })
  })

  test('it waits as long as the transmitter says, up to a minute', async () => {
    const { start, until, polls, faults } = await scene()
    faults.push(status(429, { 'retry-after': '20' }), status(503, { 'retry-after': '9999' }))
    start()
    await until(() => polls.length === 3)
    const [first = 0, second = 0] = gaps(polls)
    expect(first).toBeGreaterThanOrEqual(20)
    expect(second).toBeGreaterThanOrEqual(60)
    expect(second).toBeLessThan(61)
  })

  test.each([
    ['that breaks when it is not read', async () => await Promise.reject(new Error('broken'))],
    ['that never ends', async () => await new Promise<never>(() => undefined)],
  ])('it waits so long as well after a refusal with a body %s', async (_, cancel) => {
    const { start, until, polls, faults } = await scene()
    let cancelled = 0
    const body = () =>
      new ReadableStream({
        async cancel() {
          cancelled += 1
          await cancel()
        },
      })
    faults.push(() => new Response(body(), { status: 503, headers: { 'retry-after': '20' } }))
    const poll = start()
    await until(() => polls.length === 2)
    const [gap = 0] = gaps(polls)
    expect(gap).toBeGreaterThanOrEqual(20)
    expect(gap).toBeLessThan(21)
    expect(poll.status().lastFailure).toBe('the endpoint answered 503')
    expect(cancelled).toBe(1)
  })

  test('the interval counts from the start of a poll: one that waited longer is followed at once', async () => {
    const { start, until, polls, faults, clock } = await scene()
    faults.push(async () => {
      await new Promise<void>((resolve) => void clock.after(20, resolve))
      return Response.json({ sets: {} })
    })
    start()
    await until(() => polls.length === 2)
    expect(gaps(polls)[0]).toBeLessThan(20.2)
  })

  test('a transmitter that answers at once with nothing is asked once in each interval', async () => {
    const { start, until, polls, faults } = await scene({ interval: 7 })
    faults.push(...Array.from({ length: 5 }, () => () => Response.json({ sets: {} })))
    start()
    await until(() => polls.length === 5)
    for (const gap of gaps(polls)) expect(gap).toBeCloseTo(7, 0)
  })

  test('one that gives the same event for ever is asked once in each interval', async () => {
    const { start, until, polls, faults, publish, transmitter } = await scene()
    await publish()
    const init = { method: 'POST', body: '{}' }
    const answer = await (await transmitter.pollFetch(ENDPOINT, init)).text()
    faults.push(...Array.from({ length: 5 }, () => () => new Response(answer)))
    start()
    await until(() => polls.length === 5)
    const [first = 9, ...others] = gaps(polls)
    expect(first).toBeLessThan(2)
    for (const gap of others) expect(gap).toBeCloseTo(5, 0)
  })

  test('two that share nothing, behind one address, are asked once in each interval', async () => {
    const { start, until, polls, faults, publish, transmitter, store } = await scene()
    const init = { method: 'POST', body: '{}' }
    const answers: string[] = []
    for (const sub of ['ada', 'eve', 'bob']) {
      const name = await publish(sub)
      const { sets } = (await (await transmitter.pollFetch(ENDPOINT, init)).json()) as {
        sets: Record<string, string>
      }
      answers.push(JSON.stringify({ sets: { [name]: sets[name], 'no token': 7 } }))
    }
    // Each has an event of its own, and is never told that it was acknowledged.
    const turns = Array.from({ length: 9 }, (_, turn) => answers[turn % 3])
    faults.push(...turns.map((answer) => () => new Response(answer)))
    start()
    await until(() => polls.length >= 9)
    const waits = gaps(polls).slice(0, 8)
    for (const gap of waits.slice(0, 3)) expect(gap).toBeLessThan(2)
    for (const gap of waits.slice(3)) expect(gap).toBeGreaterThanOrEqual(4.9)
    expect(store.calls).toBe(3)
  })

  test('one that never answers is asked again after a minute, if nothing else is stated', async () => {
    const { start, until, polls, faults } = await scene()
    faults.push(async () => await new Promise(() => undefined))
    const poll = start()
    await until(() => polls.length === 2)
    expect(gaps(polls)[0]).toBeCloseTo(60, 0)
    expect(poll.status().lastFailure).toBe('no answer in 60 s')
  })

  test('it waits until the date that the transmitter says, by the wall clock', async () => {
    const { start, until, polls, faults, clock } = await scene()
    const date = new Date((clock.now() + 30) * 1000).toUTCString()
    faults.push(status(503, { 'retry-after': date }))
    start()
    await until(() => polls.length === 2)
    expect(gaps(polls)[0]).toBeGreaterThanOrEqual(28.9)
    expect(gaps(polls)[0]).toBeLessThan(31)
  })

  test('one that never answers is asked again after the timeout, and its signal has ended', async () => {
    const { start, until, polls, faults } = await scene({ timeout: 40 })
    const signals: (AbortSignal | null | undefined)[] = []
    faults.push(async ({ signal }) => {
      signals.push(signal)
      return await new Promise(() => undefined)
    })
    const poll = start()
    await until(() => polls.length === 2)
    expect(gaps(polls)[0]).toBeGreaterThanOrEqual(40)
    expect(signals[0]?.aborted).toBe(true)
    expect(poll.status().lastFailure).toBe('no answer in 40 s')
  })
})

/** As a `fetch` answers that follows redirects though it is told not to. */
function redirected(members: { url?: string }): Response {
  const isRedirected = members.url === undefined
  return Object.defineProperties(Response.json({ sets: {} }), {
    redirected: { value: isRedirected },
    url: { value: members.url ?? ENDPOINT },
  })
}

describe('what is no answer', () => {
  const deep = '['.repeat(100_000)
  const NO_SETS = 'the answer is no JSON object with sets'
  const REDIRECTED = 'the endpoint answered with a redirect, which is not followed'
  const ELSEWHERE =
    'the answer of the endpoint has another url than was asked for: a fetch must follow no redirect, and one that asks elsewhere must give an answer whose url is empty'
  const mock = { ok: true, status: 200, json: async () => ({ sets: {} }) }
  test.each<[string, () => Response, string]>([
    [
      'another status',
      () => new Response('{"sets":{}}', { status: 202 }),
      'the endpoint answered 202',
    ],
    [
      'a redirect',
      () => Response.redirect('https://elsewhere.test/', 302),
      'the endpoint answered 302',
    ],
    ['an answer that a redirect led to', () => redirected({}), REDIRECTED],
    ['an answer from elsewhere', () => redirected({ url: 'https://elsewhere.test/' }), ELSEWHERE],
    [
      'a mock',
      // The types forbid what plain JavaScript can do.
      () => mock as unknown as Response,
      'fetch gave an object without a url, headers.get, a body that is a stream or null: it must give a Response, or an object with status, url, headers and body as a Response has them',
    ],
    ['HTML', () => new Response('<html>'), NO_SETS],
    ['a list', () => Response.json([]), NO_SETS],
    ['another object', () => Response.json({ error: 'x' }), NO_SETS],
    ['another object with empty sets in a list', () => Response.json({ sets: [{}] }), NO_SETS],
    ['sets that are a text', () => Response.json({ sets: '' }), NO_SETS],
    ['inherited sets', () => new Response('{"__proto__":{"sets":{}}}'), NO_SETS],
    ['no UTF-8', () => new Response(Buffer.from('{"sets":{"\xff":""}}', 'latin1')), NO_SETS],
    ['a text that is too deep', () => new Response(`{"sets":${deep}`), NO_SETS],
    [
      'a text that is too long',
      () => new Response(`{"sets":{}}${' '.repeat(1_048_566)}`),
      'the answer has more than 1048576 bytes',
    ],
    [
      'a body that breaks',
      () => new Response(new ReadableStream({ pull: (c) => c.error(1) })),
      'the connection to the endpoint failed',
    ],
  ])('%s', async (_, answer, lastFailure) => {
    const { start, until, faults, store, polls } = await scene()
    faults.push(answer)
    const poll = start()
    await until(() => poll.status().failures === 1)
    expect(poll.status()).toMatchObject({ state: 'failing', lastFailure })
    expect([polls.length, store.calls]).toEqual([1, 0])
  })

  test.each([
    ['another status', 500, {}],
    ['a redirect that was followed', 200, { redirected: { value: true } }],
    ['another place', 200, { url: { value: 'https://elsewhere.test/' } }],
  ])('of an answer with %s nothing is read', async (_, code, members) => {
    const { start, until, faults } = await scene()
    let cancelled = 0
    const body = new ReadableStream({ cancel: () => void (cancelled += 1) })
    faults.push(() => Object.defineProperties(new Response(body, { status: code }), members))
    const poll = start()
    await until(() => poll.status().failures === 1)
    expect(cancelled).toBe(1)
  })

  test.each<[string, () => Response]>([
    ['of 1 MiB', () => new Response(`{"sets":{}}${' '.repeat(1_048_565)}`)],
    [
      'with the URL of the endpoint',
      () => Object.defineProperty(Response.json({ sets: {} }), 'url', { value: ENDPOINT }),
    ],
  ])('an answer %s is one', async (_, answer) => {
    const { start, until, faults } = await scene()
    faults.push(answer)
    const poll = start()
    await until(() => poll.status().state === 'current')
    expect(poll.status().lastFailure).toBeUndefined()
  })

  test('a set that is no text is refused, and the others count', async () => {
    const { start, until, faults, publish, transmitter, polls, told } = await scene()
    const name = await publish()
    const init = { method: 'POST', body: '{}' }
    const { sets } = (await (await transmitter.pollFetch(ENDPOINT, init)).json()) as {
      sets: object
    }
    faults.push(() => Response.json({ sets: { a: 7, b: { c: 1 }, ...sets } }))
    start()
    await until(() => transmitter.acknowledged().length === 1)
    expect(polls[1]?.body).toMatch(
      new RegExp(
        `"ack":\\["${name}"\\],"setErrs":\\{"a":\\{"err":"invalid_request","description":"The token is not a signed JWT"\\},"b":`,
      ),
    )
    expect(told.map(({ outcome }) => outcome)).toEqual(['refused', 'refused', 'recorded'])
  })
})

test('of more events than were asked for, a thousand are taken, and the others when they come again', async () => {
  const { start, until, faults, publish, transmitter, polls, told } = await scene()
  const name = await publish()
  const init = { method: 'POST', body: '{}' }
  const { sets } = (await (await transmitter.pollFetch(ENDPOINT, init)).json()) as { sets: object }
  const wrong = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`wrong-${at}`, at]))
  faults.push(() => Response.json({ sets: { ...wrong, ...sets } }))
  const poll = start()
  await until(() => transmitter.acknowledged().length === 1)
  expect(polls[1]?.body).not.toContain(name)
  expect(told.filter(({ outcome }) => outcome === 'refused')).toHaveLength(1000)
  expect(poll.status()).toMatchObject({ state: 'current', failures: 0 })
})

describe('close', () => {
  test('takes no further events in than those that are being recorded', async () => {
    const { start, until, publish, store, told } = await scene()
    const held = new EventEmitter()
    store.pause = once(held, 'over').then(() => undefined)
    for (let count = 0; count < 30; count++) await publish(`user-${count}`)
    const poll = start()
    await until(() => store.calls === 25)
    const closed = poll.close()
    held.emit('over')
    await closed
    expect([store.calls, told.length, poll.status().state]).toEqual([25, 25, 'closed'])
    expect(store.entries()).toHaveLength(25)
  })

  test('resolves though the store never answers', async () => {
    const { start, until, publish, store, clock } = await scene()
    store.pause = NEVER
    await publish()
    const poll = start()
    await until(() => store.calls === 1)
    const closed = poll.close()
    await clock.advance(10)
    await closed
    expect(poll.status().state).toBe('closed')
  })

  test('resolves though mapSubject never answers', async () => {
    let asked = 0
    const { start, until, publish, clock } = await scene({
      async mapSubject() {
        asked += 1
        return await NEVER
      },
    })
    await publish()
    const poll = start()
    await until(() => asked === 1)
    const closed = poll.close()
    await clock.advance(10)
    await closed
    expect(asked).toBe(1)
  })

  test('resolves though it is called within fetch, which then never answers', async () => {
    const closes: Promise<void>[] = []
    const { start, clock, until, polls, faults } = await scene()
    faults.push(status(500), async () => {
      closes.push(poll.close())
      return await NEVER
    })
    const poll = start()
    await until(() => polls.length === 2)
    await Promise.all(closes)
    await clock.advance(1000)
    expect([closes.length, polls.length]).toEqual([1, 2])
  })

  test('ends the request that waits, and nothing is asked afterwards', async () => {
    const { start, until, clock, polls, publish, store } = await scene()
    const poll = start()
    await until(() => polls.length === 1)
    await poll.close()
    await poll.close()
    await publish()
    await clock.advance(1000)
    expect(polls).toHaveLength(1)
    expect([store.calls, poll.status().state]).toEqual([0, 'closed'])
  })

  test('waits for what is recorded, and says nothing of it any more', async () => {
    const { start, until, polls, publish, store, transmitter } = await scene()
    const held = new EventEmitter()
    store.pause = once(held, 'over').then(() => undefined)
    await publish()
    const poll = start()
    await until(() => store.calls === 1)
    let isClosed = false
    const closed = poll.close().then(() => (isClosed = true))
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect([isClosed, store.entries().length]).toEqual([false, 0])
    held.emit('over')
    await closed
    expect([polls.length, store.entries().length]).toEqual([1, 1])
    expect(transmitter.acknowledged()).toEqual([])
  })

  test('leaves no timer', async () => {
    const { start, until, faults, timers } = await scene()
    faults.push(status(500))
    const poll = start()
    await until(() => poll.status().failures === 1)
    expect(timers.size).toBe(1)
    await poll.close()
    expect(timers.size).toBe(0)
  })

  test('ends a pause, and a request whose fetch does not look at its signal', async () => {
    const { start, until, clock, polls, faults } = await scene()
    faults.push(status(500))
    const pausing = start()
    await until(() => pausing.status().failures === 1)
    await pausing.close()
    faults.push(async () => await new Promise(() => undefined))
    const waiting = start()
    await until(() => polls.length === 2)
    await waiting.close()
    expect(waiting.status()).toMatchObject({ state: 'closed', lastFailure: 'closed' })
    await clock.advance(1000)
    expect(polls).toHaveLength(2)
  })
})

describe('options', () => {
  test.each([
    ['endpoint', 'http://login.test/poll'],
    ['endpoint', 'https://user:secret@login.test/poll'],
    ['endpoint', undefined],
    ['fetch', undefined],
    ['interval', 0],
    ['timeout', 601],
    ['authorize', null],
  ])('%s: %j is a TypeError, without the URL', async (name, value) => {
    const { start } = await scene({ [name]: value })
    expect(start).toThrow(TypeError)
    expect(start).toThrow(new RegExp(`^pollEvents: (unknown option "${name}",|${name} must )`))
    expect(start).not.toThrow(/login\.test/)
  })
})

const hanging = (clock: Clock): PollEventsOptions => ({
  endpoint: ENDPOINT,
  fetch: async () => await new Promise<never>(() => {}),
  keys: localKeys({
    kty: 'OKP',
    crv: 'Ed25519',
    x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
  }),
  issuer: ISSUER,
  audience: AUDIENCE,
  revocations: createStore().revocations,
  revokes: 'subject',
  clock,
})

function disallowed(): never {
  throw new Error('Disallowed operation called within global scope')
}

describe('on Cloudflare Workers', () => {
  test('outside of a request, where no timer can be set: a TypeError, and not a poll that never starts', () => {
    expect(() =>
      createPoll(hanging({ ...manualClock(), after: disallowed }), { endsWithRequest: true }),
    ).toThrow(
      new TypeError(
        'pollEvents: no timers can be set here, so nothing can be polled: on Cloudflare Workers receive events with receiveEvents',
      ),
    )
  })

  test.each([
    [
      true,
      'failing',
      'the request that began to poll has ended, and the runtime has ended its timers',
    ],
    [false, 'starting', undefined],
  ])('a poll whose request has ended says so (%s)', async (ends, state, lastFailure) => {
    const clock = manualClock()
    const poll = createPoll(hanging({ ...clock, after: () => () => {} }), { endsWithRequest: ends })
    await clock.advance(60.9)
    expect(poll.status()).toMatchObject({ state: 'starting', lastFailure: undefined })
    await clock.advance(0.2)
    expect(poll.status()).toMatchObject({ state, lastFailure })
  })
})

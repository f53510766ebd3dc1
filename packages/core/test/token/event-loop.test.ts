import { createHook } from 'node:async_hooks'

import { systemClock } from '@portcullis/kit/time'
import { createTestIssuer } from '@portcullis/testing'
import { afterEach, describe, expect, test, vi } from 'vitest'

import { byIssuer, createVerifier, localKeys, type VerifierOptions } from '../../src/index.ts'
import {
  type EventLoopWatch,
  timeReading,
  turnToRead,
  watchEventLoop,
} from '../../src/token/event-loop.ts'
import { requestWith } from '../dpop/proof-maker.ts'
import { client, guarding } from '../dpop/proof-verdicts.ts'

const LIMIT = 4

function createWatch({ run = LIMIT, iteration = Infinity } = {}): EventLoopWatch {
  return watchEventLoop({ run, iteration })
}

/** What a piece of work that comes now is told; it is done and counted unless the event loop is busy. */
function work(watch: EventLoopWatch, cost = 1): 'done' | 'busy' {
  if (watch.isBusy(cost)) return 'busy'
  watch.count(cost)
  return 'done'
}

function several(watch: EventLoopWatch, pieces = LIMIT + 1): string[] {
  return Array.from({ length: pieces }, () => work(watch))
}

/** How many pieces are done one after the other, each awaited, until one of the watches, asked in turn, is busy. */
async function inTurn(watches: readonly EventLoopWatch[]): Promise<number> {
  for (let pieces = 0; pieces < 1000; pieces++) {
    const watch = watches[pieces % watches.length]
    if (watch === undefined || work(watch) === 'busy') return pieces
    await Promise.resolve()
  }
  return Infinity
}

async function nextIteration(): Promise<void> {
  await new Promise<void>((resolve) => {
    setImmediate(resolve)
  })
}

// What one test counts in an iteration must not count in the next test.
afterEach(nextIteration)

describe('one synchronous run', () => {
  test('may do as many pieces as the limit says', () => {
    const watch = createWatch()
    expect(several(watch)).toEqual(['done', 'done', 'done', 'done', 'busy'])
    expect(several(createWatch({ run: 1 }), 2)).toEqual(['done', 'busy'])
  })

  test('may do what costs as much together as the limit, and no more', () => {
    const watch = createWatch()
    expect([3, 2, 1, 1].map((cost) => work(watch, cost))).toEqual(['done', 'busy', 'done', 'busy'])
  })

  test('may not do one piece that costs more than the limit', () => {
    const watch = createWatch()
    expect([LIMIT + 1, LIMIT].map((cost) => work(watch, cost))).toEqual(['busy', 'done'])
  })

  test('ends where somebody awaits: the next may do as many again', async () => {
    const watch = createWatch()
    several(watch)
    await Promise.resolve()
    expect(several(watch)).toEqual(['done', 'done', 'done', 'done', 'busy'])
  })

  test('what was done in one before counts no more', async () => {
    const watch = createWatch()
    work(watch)
    await Promise.resolve()
    expect(several(watch, LIMIT)).toEqual(['done', 'done', 'done', 'done'])
  })

  test('a burst is counted to its end, whatever came just before it', async () => {
    const watch = createWatch()
    work(watch)
    const burst = Promise.resolve().then(() => several(watch, LIMIT))
    work(watch)
    const next = Promise.resolve().then(() => work(watch))
    expect(await burst).toEqual(['done', 'done', 'done', 'done'])
    expect(await next).toBe('busy')
  })

  test('each watch counts its own', () => {
    several(createWatch())
    expect(work(createWatch())).toBe('done')
  })
})

describe('one iteration of the event loop', () => {
  test('who waits for each piece may do more than one run may, and no more than an iteration may', async () => {
    const watch = createWatch({ iteration: 10 })
    expect(await inTurn([watch])).toBe(10)
    expect(await inTurn([watch])).toBe(0)
    await nextIteration()
    expect(await inTurn([watch])).toBe(10)
  })

  test('a piece that is too much for what is left of it: only less is done', async () => {
    const watch = createWatch({ iteration: 5 })
    const answers: string[] = []
    for (const cost of [4, 2, 1, 1]) {
      answers.push(work(watch, cost))
      await Promise.resolve()
    }
    expect(answers).toEqual(['done', 'busy', 'done', 'busy'])
  })

  test('all that watch it share what it may cost, and its end is awaited once', async () => {
    const scheduled: string[] = []
    const hook = createHook({ init: (_id, type) => scheduled.push(type) }).enable()
    const watches = [1, 2, 3].map(() => createWatch({ iteration: 10 }))
    expect(await inTurn(watches)).toBe(10)
    hook.disable()
    expect(scheduled.filter((type) => type === 'Immediate')).toHaveLength(1)
  })

  test('who waits in several loops at once shares it as well', async () => {
    const watch = createWatch({ iteration: 10 })
    const done = await Promise.all(Array.from({ length: 4 }, async () => await inTurn([watch])))
    expect(done.reduce((sum, each) => sum + each)).toBe(10)
  })

  test('only its first callback may do work, and in the next iteration again the first', async () => {
    const watch = createWatch()
    const answers: string[] = []
    const ask = () => answers.push(work(watch))
    await new Promise<void>((resolve) => {
      setImmediate(ask)
      setImmediate(ask)
      setImmediate(() => {
        ask()
        setImmediate(ask)
        setImmediate(ask)
        setImmediate(resolve)
      })
    })
    expect(answers).toEqual(['done', 'busy', 'busy', 'done', 'busy'])
  })

  test('the first that does work in a promise goes on with the promises after it', async () => {
    const watch = createWatch()
    const answers: string[] = []
    const ask = () => answers.push(work(watch))
    await new Promise<void>((resolve) => {
      setImmediate(() => void Promise.resolve().then(ask).then(ask).then(ask))
      setImmediate(() => {
        ask()
        resolve()
      })
    })
    expect(answers).toEqual(['done', 'done', 'done', 'busy'])
  })

  test('without work nothing is scheduled', async () => {
    const scheduled: string[] = []
    const hook = createHook({ init: (_id, type) => scheduled.push(type) }).enable()
    const watch = createWatch()
    expect([watch.isBusy(1), watch.isBusy(1)]).toEqual([false, false])
    hook.disable()
    expect(scheduled).not.toContain('Immediate')
  })
})

test('fake timers do not stop the counts from being reset', async () => {
  vi.useFakeTimers({ toFake: ['setImmediate', 'queueMicrotask'] })
  const watch = createWatch()
  const before = several(watch)
  vi.useRealTimers()
  await nextIteration()
  await nextIteration()
  expect(before.at(-1)).toBe('busy')
  expect(several(watch)).toEqual(['done', 'done', 'done', 'done', 'busy'])
})

describe('a loop that awaits each of many checks lets the event loop iterate', async () => {
  const ISSUER = 'https://a.test'
  const CHECKS = 300
  const issuer = await createTestIssuer({ algorithm: 'ES256', issuer: ISSUER })
  const token = await issuer.token()
  const forged = `${token.slice(0, -8)}AAAAAAAA`
  const proofs = guarding()
  const proof = client.proof()

  /** Remembers nothing: so it checks the signature of the same token each time. */
  function verifierOf(options: Partial<VerifierOptions> = {}) {
    const keys = localKeys(issuer.publicJwk)
    return createVerifier({
      keys,
      issuer: ISSUER,
      audience: null,
      algorithms: ['ES256'],
      remember: false,
      ...options,
    })
  }

  /** How often, while a piece of work is done so many times, and each is awaited. */
  async function iterationsDuring(
    check: (index: number) => Promise<unknown>,
    checks = CHECKS,
  ): Promise<number> {
    await nextIteration()
    let iterations = 0
    let next = setImmediate(function again() {
      iterations++
      next = setImmediate(again)
    })
    for (let index = 0; index < checks; index++) await check(index)
    clearImmediate(next)
    return iterations
  }

  const single = verifierOf()
  const ten = Array.from({ length: 10 }, () => verifierOf())
  const selecting = byIssuer({ [ISSUER]: verifierOf() }, { remember: false })

  test.each<[string, (index: number) => Promise<unknown>]>([
    ['tokens', async () => await single.verify(token)],
    ['tokens of ten verifiers in turn', async (index) => await ten[index % 10]?.verify(token)],
    ['tokens through byIssuer', async () => await selecting.verify(token)],
    ['forged tokens', async () => await single.verify(forged).catch(() => undefined)],
    ['proofs', async () => await proofs.check(requestWith(proof))],
  ])('%s', async (_, check) => {
    // 90 of P-256 in an iteration.
    expect(await iterationsDuring(check)).toBeGreaterThanOrEqual(3)
  })

  // Each is read to its end before it is refused, and no signature is asked for.
  const members = Array.from({ length: 500 }, (_, at) => `"member${at}":${at}`)
  const header = Buffer.from(`{${members.join(',')},"kid":1}`).toString('base64url')
  const malformed = `${header}.e30.AAAA`
  const timed = guarding({ clock: systemClock })
  test.each<[string, () => Promise<unknown>]>([
    ['malformed tokens', async () => await single.verify(malformed)],
    ['malformed tokens through byIssuer', async () => await selecting.verify(malformed)],
    ['malformed proofs', async () => await timed.check(requestWith(malformed))],
  ])('%s', async (_, check) => {
    const refused = async () => await expect(check()).rejects.toMatchObject({ status: 401 })
    await refused()
    const each = async () => await check().catch(() => undefined)
    expect(await iterationsDuring(each, 3 * CHECKS)).toBeGreaterThanOrEqual(3)
  })
})

/** Reading that takes as long, by a clock of its own. Seconds. */
function readFor(seconds: number): void {
  const times = [1, 1 + seconds].values()
  timeReading({ monotonic: () => times.next().value ?? NaN }, () => undefined)
}

/** Longer than reading may take of one iteration. */
function readLong(): void {
  readFor(0.006)
}

describe('what strangers send', () => {
  test('is read at once, until it has taken as long as an iteration may', async () => {
    expect(turnToRead()).toBeUndefined()
    readFor(0.003)
    expect(turnToRead()).toBeUndefined()
    readFor(0.003)
    const turn = turnToRead()
    expect(turn).toBeInstanceOf(Promise)
    let hasIterated = false
    setImmediate(() => {
      hasIterated = true
    })
    await turn
    expect(hasIterated).toBe(false) // this one was asked before
    await nextIteration()
    expect(hasIterated).toBe(true)
    expect(turnToRead()).toBeUndefined()
  })

  test('counts as well if it is refused', () => {
    expect(() => {
      const times = [0, 1].values()
      timeReading({ monotonic: () => times.next().value ?? NaN }, () => {
        throw new TypeError('canary')
      })
    }).toThrow('canary')
    expect(turnToRead()).toBeInstanceOf(Promise)
  })

  test('of those who wait, each reads in its turn, and who comes later is later', async () => {
    readLong()
    const order: string[] = []
    const iterations = new Set<object>()
    let iteration = {}
    const iterate = () => {
      iteration = {}
      if (order.length < 4) setImmediate(iterate)
    }
    setImmediate(iterate)
    const read = async (name: string) => {
      const turn = turnToRead()
      if (turn !== undefined) await turn
      order.push(name)
      iterations.add(iteration)
      readLong()
    }
    const waiting = ['a', 'b', 'c'].map(read)
    setImmediate(() => waiting.push(read('d')))
    await Promise.all(waiting)
    await nextIteration()
    await Promise.all(waiting)
    expect(order).toEqual(['a', 'b', 'c', 'd'])
    expect(iterations.size).toBe(4)
  })
})

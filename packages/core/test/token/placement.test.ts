import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { ALGORITHMS } from '../../src/algorithms/algorithms.ts'
import {
  type CheckKind,
  createPlacement,
  kindOfCheck,
  type Placement,
} from '../../src/token/placement.ts'

/** What things take there, in microseconds. */
interface Machine {
  readonly check: number
  readonly handOver: number
}

const RSA = kindOfCheck('RS512', 256)
const P256 = kindOfCheck('ES256', 64)
const P384 = kindOfCheck('ES384', 96)

type Place = 'here' | 'pool'

/** One check, as it is done and told there. */
function place(placement: Placement, kind: CheckKind, { check, handOver }: Machine): Place {
  if (placement.isForPool(kind)) {
    placement.hasHandedOver(kind, handOver)
    return 'pool'
  }
  placement.hasChecked(kind, check, true)
  return 'here'
}

/** What comes of checks that as many callbacks of one iteration ask for. */
async function iteration<Result>(callbacks: readonly (() => Result)[]): Promise<Result[]> {
  const results: Result[] = []
  for (const each of callbacks) setImmediate(() => results.push(each()))
  await new Promise((resolve) => {
    setImmediate(resolve)
  })
  // The count of what was done in it ends here.
  await new Promise((resolve) => {
    setImmediate(resolve)
  })
  return results
}

/** In iterations of ten requests: which part of those after the first of each is checked on the main thread. */
async function shareHere(
  placement: Placement,
  kind: CheckKind,
  machine: Machine,
  iterations = 40,
): Promise<number> {
  let here = 0
  for (let count = 0; count < iterations; count++) {
    const asked = Array.from({ length: 10 }, () => () => place(placement, kind, machine))
    const [, ...later] = await iteration(asked)
    here += later.filter((answer) => answer === 'here').length
  }
  return here / (9 * iterations)
}

/** Of requests that come one by one. */
async function placesInTurn(placement: Placement, kind: CheckKind, machine: Machine, count = 1) {
  const places: Place[] = []
  for (let done = 0; done < count; done++) {
    places.push(...(await iteration([() => place(placement, kind, machine)])))
  }
  return places
}

// What one test counts in an iteration must not count in the next test.
beforeEach(async () => void (await iteration([])))
afterEach(async () => void (await iteration([])))

/** Both cores are busy, and to wake a thread takes long. */
const BUSY: Machine = { check: 25, handOver: 40 }
/** The other core is free, and the memory is slow: a check between two requests takes long. */
const FREE: Machine = { check: 60, handOver: 5 }
const UNMEASURED: Machine = { check: 0, handOver: 0 }

describe('requests that come faster than the event loop iterates', () => {
  test('nothing measured: all but the first of an iteration are handed over', async () => {
    expect(await shareHere(createPlacement(), RSA, UNMEASURED)).toBe(0)
  })

  test('a hand-over takes longer than a check: nearly all are checked on the main thread', async () => {
    const placement = createPlacement()
    await shareHere(placement, RSA, BUSY)
    expect(await shareHere(placement, RSA, BUSY)).toBeGreaterThan(0.9)
  })

  test('a check takes longer: all but the first are handed over', async () => {
    expect(await shareHere(createPlacement(), RSA, FREE)).toBe(0)
  })

  test('of two kinds each is placed by its own cost', async () => {
    const placement = createPlacement()
    const dear: Machine = { check: 60, handOver: BUSY.handOver }
    for (let round = 0; round < 40; round++) {
      await shareHere(placement, RSA, BUSY, 1)
      await shareHere(placement, P256, dear, 1)
    }
    expect(await shareHere(placement, RSA, BUSY, 10)).toBeGreaterThan(0.9)
    expect(await shareHere(placement, P256, dear, 10)).toBe(0)
  })

  test('the other core gets free, or busy: the placement follows', async () => {
    const placement = createPlacement()
    await shareHere(placement, RSA, BUSY)
    await shareHere(placement, RSA, FREE)
    expect(await shareHere(placement, RSA, FREE)).toBeLessThan(0.1)
    await shareHere(placement, RSA, BUSY)
    expect(await shareHere(placement, RSA, BUSY)).toBeGreaterThan(0.9)
  })

  test('they may take no more of an iteration than loops', async () => {
    const placement = createPlacement()
    await shareHere(placement, RSA, BUSY)
    const many = Array.from({ length: 400 }, () => () => place(placement, RSA, BUSY))
    const here = (await iteration(many)).filter((answer) => answer === 'here')
    expect(here.length).toBeGreaterThan(100)
    expect(here.length * BUSY.check).toBeLessThanOrEqual(5000)
  })
})

describe('requests that come one by one', () => {
  test('are checked on the main thread, also where a hand-over costs nothing', async () => {
    const places = await placesInTurn(createPlacement(), RSA, { check: 30, handOver: 0.1 }, 50)
    expect(new Set(places)).toEqual(new Set(['here']))
  })

  test('the first check is cold: the next ones are checked there as well', async () => {
    const placement = createPlacement()
    await placesInTurn(placement, RSA, { check: 3000, handOver: 20 })
    expect(await placesInTurn(placement, RSA, BUSY, 5)).toEqual(Array(5).fill('here'))
  })

  test('garbage is collected during a check: the others of this iteration are handed over, those of the next are not', async () => {
    const placement = createPlacement()
    const paused = () => place(placement, RSA, { check: 50_000, handOver: 20 })
    const ask = () => place(placement, RSA, BUSY)
    await placesInTurn(placement, RSA, BUSY, 20)
    expect(await iteration([paused, ask, ask])).toEqual(['here', 'pool', 'pool'])
    expect(await placesInTurn(placement, RSA, BUSY, 5)).toEqual(Array(5).fill('here'))
  })

  test.each([0, -1, -3_600_000_000, Number.NaN])(
    'the clock says that a check took %d: nothing is learnt',
    async (time) => {
      const placement = createPlacement()
      const odd: Machine = { check: time, handOver: time }
      expect(await placesInTurn(placement, RSA, odd, 50)).toEqual(Array(50).fill('here'))
      expect(await shareHere(placement, RSA, odd)).toBe(0)
    },
  )

  test('a slow machine: they go to the thread pool, and come back when it has become fast', async () => {
    const placement = createPlacement()
    const slow: Machine = { check: 150, handOver: 20 }
    await placesInTurn(placement, RSA, slow, 50)
    const places = await placesInTurn(placement, RSA, slow, 200)
    expect(places.filter((answer) => answer === 'here').length).toBeLessThan(20)
    await placesInTurn(placement, RSA, BUSY, 100)
    expect(await placesInTurn(placement, RSA, BUSY, 20)).toEqual(Array(20).fill('here'))
  })

  test('a kind that takes long by the table is never checked there', async () => {
    const places = await placesInTurn(createPlacement(), P384, { check: 1, handOver: 1000 }, 100)
    expect(new Set(places)).toEqual(new Set(['pool']))
  })
})

describe('what strangers can do', () => {
  test('forged signatures that are refused without arithmetic make the others look no cheaper', async () => {
    const placement = createPlacement()
    await placesInTurn(placement, RSA, { check: 30, handOver: 20 }, 40)
    for (let count = 0; count < 1000; count++) placement.hasChecked(RSA, 1, false)
    await iteration([])
    const run = [1, 2, 3].map(() => place(placement, RSA, UNMEASURED))
    expect(run).toEqual(['here', 'here', 'pool'])
  })

  test('forged signatures that take longer than those before are known as such, though one in seven is timed', async () => {
    const placement = createPlacement()
    await placesInTurn(placement, RSA, { check: 10, handOver: 20 }, 40)
    let [time, checks] = [0, 0]
    while (!placement.isForPool(RSA)) {
      checks += 1
      placement.hasChecked(RSA, checks % 7 === 0 ? 30 : 0, false)
      time += 30
      await Promise.resolve()
    }
    expect(time).toBeLessThan(7000)
  })

  test('their keys are of fourteen kinds', () => {
    const lengths = Array.from({ length: 769 }, (_, index) => 256 + index)
    const kinds = [...ALGORITHMS].flatMap(([name, rule]) =>
      rule.kty === 'RSA'
        ? lengths.map((length) => kindOfCheck(name, length))
        : kindOfCheck(name, rule.signatureLength),
    )
    expect(new Set(kinds).size).toBe(14)
  })

  test('a loop of keys that take much longer than others of their kind lets the event loop iterate', async () => {
    const placement = createPlacement()
    await placesInTurn(placement, RSA, { check: 2, handOver: 20 }, 40)
    let time = 0
    while (!placement.isForPool(RSA)) {
      placement.hasChecked(RSA, 40, false)
      time += 40
      await Promise.resolve()
    }
    expect(time).toBeLessThanOrEqual(5000)
  })
})

describe('whatever has happened before', () => {
  const time = fc.oneof(
    fc.double({ min: 1, max: 200 }),
    fc.constantFrom(0, -50, Number.NaN, 1e4, 1e9, Infinity),
  )
  const event = fc.record({
    kind: fc.constantFrom(RSA, P256, P384),
    check: time,
    handOver: time,
    isProven: fc.boolean(),
    ends: fc.constantFrom('run', 'iteration', 'nothing'),
  })

  test('no run and no iteration takes more than it may, and a steady machine is soon known', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 120 }), async (events) => {
        const placement = createPlacement()
        await iteration([])
        let [run, spent] = [0, 0]
        // What had been done before each check that was done there: that has left room, whatever was thought of it.
        let before = { run: 0, spent: 0 }
        for (const { kind, check, handOver, isProven, ends } of events) {
          if (placement.isForPool(kind)) {
            placement.hasHandedOver(kind, handOver)
          } else {
            before = { run: Math.max(before.run, run), spent: Math.max(before.spent, spent) }
            placement.hasChecked(kind, check, isProven)
            const passed = check > 0 ? check : 0
            run += passed
            spent += passed
          }
          if (ends !== 'nothing') run = 0
          if (ends === 'run') await Promise.resolve()
          if (ends === 'iteration') {
            spent = 0
            await iteration([])
          }
        }
        expect(before.run).toBeLessThan(80)
        expect(before.spent).toBeLessThan(5000)
        await iteration([])
        await shareHere(placement, RSA, BUSY, 60)
        expect(await shareHere(placement, RSA, BUSY, 20)).toBeGreaterThan(0.9)
        await shareHere(placement, RSA, FREE, 60)
        expect(await shareHere(placement, RSA, FREE, 20)).toBeLessThan(0.1)
      }),
      { numRuns: 60 },
    )
  })
})

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

import { createListeners } from '@portcullis/kit/report'
import { createTestIssuer, manualClock, type TokenOptions, tokenService } from '@portcullis/testing'
import { describe, expect, test, vi } from 'vitest'

import {
  type Auth,
  AuthError,
  byIssuer,
  createVerifier,
  localRevocations,
  remoteKeys,
  type Revocations,
  type RevocationStatus,
  type Schema,
  type Verifier,
  type VerifierOptions,
  watchToken,
} from '../../src/index.ts'

const auth: Auth = { claims: { exp: 1_767_225_700 }, header: { alg: 'RS512' }, token: 'a.b.c' }

function ignore(): void {}

function watch(...given: readonly unknown[]): void {
  Reflect.apply(watchToken, undefined, given)
}

/** A watch of a token, of an issuer and on a clock of its own. */
async function watched(
  token: TokenOptions = {},
  options: Partial<VerifierOptions & { schema: Schema<unknown> }> = {},
) {
  const clock = manualClock()
  const issuer = await createTestIssuer({ clock, algorithm: 'ES256' })
  const service = tokenService(issuer)
  const keys = remoteKeys('https://service.test/tokenservice/pubkey.json', {
    fetch: service.fetch,
    clock,
  })
  const verifier = createVerifier({ ...issuer.verifierOptions, keys, ...options })
  const proven = await verifier.verify(await issuer.token(token))
  const refusals: unknown[] = []
  const stop = watchToken(verifier, proven, (error) => refusals.push(error), { clock })
  const verify = vi.spyOn(verifier, 'verify')
  return { clock, issuer, keys, refusals, stop, verify }
}

describe('a watched token', () => {
  test('ends with the refusal, once, when the verifier no longer accepts it', async () => {
    const { clock, refusals } = await watched({ expiresIn: 100 }, { clockTolerance: 5 })
    await clock.advance(104.9)
    expect(refusals).toEqual([])
    await clock.advance(1)
    expect(refusals).toMatchObject([{ code: 'invalid_token', reason: 'expired' }])
    expect(refusals[0]).toBeInstanceOf(AuthError)
    await clock.advance(1000)
    expect(refusals).toHaveLength(1)
  })

  test('without a tolerance it ends in the very second of its expiry', async () => {
    const { clock, refusals } = await watched({ expiresIn: 100 }, { clockTolerance: 0 })
    await clock.advance(99.9)
    expect(refusals).toEqual([])
    await clock.advance(0.1)
    expect(refusals).toHaveLength(1)
  })

  test('may live longer than a timer of the platform can wait', async () => {
    const days = 30 * 86_400
    const { clock, keys, refusals } = await watched({ expiresIn: days })
    clock.set(clock.now() + days - 100)
    await keys.refresh()
    await clock.advance(90)
    expect(refusals).toEqual([])
    await clock.advance(20)
    expect(refusals).toMatchObject([{ reason: 'expired' }])
  })

  test('is judged again within a minute after the wall clock jumps', async () => {
    const { clock, keys, refusals } = await watched({ expiresIn: 10_000 })
    clock.set(clock.now() + 20_000)
    await keys.refresh()
    await clock.advance(60)
    expect(refusals).toMatchObject([{ reason: 'expired' }])
  })

  test('without an expiry it goes on', async () => {
    const { clock, refusals } = await watched({ omit: ['exp'] }, { requireExpiry: false })
    await clock.advance(3000)
    expect(refusals).toEqual([])
  })

  test('ends when its key has been withdrawn', async () => {
    const { clock, issuer, keys, refusals, verify } = await watched({ expiresIn: 10_000 })
    await issuer.rotate()
    await clock.advance(1)
    await keys.refresh()
    await clock.advance(60)
    // The second signature of a run, with the key that has left, is checked on the thread pool.
    await Promise.allSettled(verify.mock.results.map(({ value }): unknown => value))
    await clock.advance(0)
    expect(refusals).toMatchObject([{ code: 'invalid_token', reason: 'signature' }])
  })

  test('goes on through an outage of the key service, until a new request would get 503', async () => {
    const { clock, issuer, refusals } = await watched({ expiresIn: 100_000 })
    issuer.outage(503)
    await clock.advance(3000)
    expect(refusals).toEqual([])
    await clock.advance(1200)
    expect(refusals).toMatchObject([{ code: 'keys_unavailable', status: 503 }])
  })

  test('that is no longer of interest is not judged again', async () => {
    const { clock, refusals, stop } = await watched({ expiresIn: 100 })
    stop()
    stop()
    await clock.advance(1000)
    expect(refusals).toEqual([])
  })
})

/** A verifier whose verdicts the test gives. */
function late() {
  const verdicts: { accept(): void; refuse(error: unknown): void }[] = []
  const verify = async () =>
    await new Promise<Auth>((resolve, reject) => {
      verdicts.push({ accept: () => resolve(auth), refuse: reject })
    })
  return { verdicts, verifier: { verify } satisfies Pick<Verifier, 'verify'> }
}

async function watchedBy(revocations: Revocations, more: TokenOptions = {}) {
  const token = { claims: { jti: 'one' }, expiresIn: 10_000, ...more }
  const world = await watched(token, { revocations })
  await world.clock.advance(0)
  return world
}

/** A source that answers what the test has set last, and calls its listeners when told to. */
function told() {
  const listeners = createListeners()
  const answer: { status: RevocationStatus } = { status: 'valid' }
  const source: Revocations = {
    statusOf: () => answer.status,
    subscribe: (listener) => listeners.subscribe(listener),
  }
  return { answer, notify: () => listeners.notify(), source }
}

/** A watch of a token that `byIssuer` has the verifier of a function for. */
async function watchedOfTenant() {
  const clock = manualClock()
  const issuer = await createTestIssuer({ clock, issuer: 'a' })
  const tenant = (revocations: Revocations) =>
    createVerifier({ ...issuer.verifierOptions, issuer: 'a', revocations })
  const [before, after] = [localRevocations({ clock }), localRevocations({ clock })]
  const current = { verifier: tenant(before) }
  const verifier = byIssuer(() => current.verifier, { clock, maxAge: 100 })
  const proven = await verifier.verify(await issuer.token({ expiresIn: 10_000 }))
  const refusals: unknown[] = []
  const begin = () => watchToken(verifier, proven, (error) => refusals.push(error), { clock })
  return {
    clock,
    refusals,
    begin,
    before,
    after,
    replace: () => (current.verifier = tenant(after)),
  }
}

describe('a watched token with revocations', () => {
  test('ends at once when it is revoked, once, and waits for no timer', async () => {
    const revocations = localRevocations()
    const { clock, refusals } = await watchedBy(revocations)
    await revocations.revoke({ jti: 'one' })
    await revocations.revoke({ jti: 'one' })
    await clock.advance(0)
    expect(refusals).toMatchObject([{ code: 'invalid_token', reason: 'revoked' }])
    await clock.advance(1000)
    expect(refusals).toHaveLength(1)
  })

  test('is not judged again for what was revoked of somebody else', async () => {
    const revocations = localRevocations()
    const { clock, refusals, verify } = await watchedBy(revocations)
    for (let count = 0; count < 10; count++) await revocations.revoke({ jti: String(count) })
    await clock.advance(0)
    expect(refusals).toEqual([])
    expect(verify).not.toHaveBeenCalled()
  })

  test('that was revoked between its verdict and its watch ends at once', async () => {
    const clock = manualClock()
    const issuer = await createTestIssuer({ clock, algorithm: 'ES256' })
    const revocations = localRevocations({ clock })
    const verifier = createVerifier({ ...issuer.verifierOptions, revocations })
    const proven = await verifier.verify(await issuer.token({ claims: { jti: 'one' } }))
    await revocations.revoke({ jti: 'one' })
    const refusals: unknown[] = []
    watchToken(verifier, proven, (error) => refusals.push(error), { clock })
    await clock.advance(0)
    expect(refusals).toMatchObject([{ reason: 'revoked' }])
  })

  test('whose watch has ended subscribes to nothing, and hears nothing', async () => {
    const revocations = localRevocations()
    const ended = vi.fn<() => void>()
    const subscribe = vi.fn<(listener: () => void) => () => void>(() => ended)
    const { stop } = await watchedBy({ ...revocations, subscribe })
    expect(subscribe).toHaveBeenCalledOnce()
    stop()
    stop()
    expect(ended).toHaveBeenCalled()
    const { clock, refusals, stop: stopOther } = await watchedBy(revocations)
    stopOther()
    await revocations.revoke({ jti: 'one' })
    await clock.advance(1000)
    expect(refusals).toEqual([])
  })

  test('a listener that is called after the watch has ended judges nothing', async () => {
    const { answer, notify, source } = told()
    const subscribe = (listener: () => void) => {
      source.subscribe?.(listener)
      return ignore // the source goes on
    }
    const { clock, refusals, stop } = await watchedBy({ ...source, subscribe })
    stop()
    answer.status = 'revoked'
    notify()
    await clock.advance(1000)
    expect(refusals).toEqual([])
  })

  test('revoked while a verdict is under way: that verdict is not believed', async () => {
    const revocations = localRevocations()
    let finish: (() => void) | undefined
    let isSlow = false
    const schema: Schema<unknown> = {
      '~standard': {
        version: 1,
        async validate(value) {
          if (isSlow) await new Promise<void>((resolve) => (finish = resolve))
          return await Promise.resolve({ value })
        },
      },
    }
    const token = { claims: { jti: 'one' }, expiresIn: 10_000 }
    const { clock, refusals } = await watched(token, { revocations, schema })
    await clock.advance(0)
    isSlow = true
    await revocations.revoke({ jti: 'another' })
    await clock.advance(0)
    isSlow = false
    await revocations.revoke({ jti: 'one' })
    finish?.()
    await clock.advance(0)
    expect(refusals).toMatchObject([{ reason: 'revoked' }])
  })

  test('whose source cannot answer ends, as a new request would be refused', async () => {
    const { answer, notify, source } = told()
    const { clock, refusals } = await watchedBy(source)
    answer.status = 'unknown'
    notify()
    await clock.advance(0)
    expect(refusals).toMatchObject([{ code: 'revocation_unavailable', status: 503 }])
  })

  test.each([
    ['no subscribe', {}],
    ['one that returns nothing', { subscribe: ignore as never }],
  ])('whose source has %s is judged by the timer', async (_, more) => {
    const { answer } = told()
    const { clock, refusals } = await watchedBy({ statusOf: () => answer.status, ...more })
    answer.status = 'revoked'
    await clock.advance(59)
    expect(refusals).toEqual([])
    await clock.advance(1)
    expect(refusals).toMatchObject([{ reason: 'revoked' }])
  })

  test.each<[what: string, subscribe: () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no connection')
      },
    ],
    ['rejects', async () => await Promise.reject(new Error('no connection'))],
  ])(
    'whose source %s at the subscription is judged by the timer, with a warning',
    async (_, subscribe) => {
      const { answer } = told()
      const warned = once(process, 'warning')
      const { clock, refusals } = await watchedBy({
        statusOf: () => answer.status,
        subscribe: subscribe as never,
      })
      expect(await warned).toMatchObject([{ message: 'no connection' }])
      answer.status = 'revoked'
      await clock.advance(60)
      expect(refusals).toMatchObject([{ reason: 'revoked' }])
    },
  )

  test('whose source throws at the end of a subscription ends all the same, with a warning', async () => {
    const { source } = told()
    const fault: unknown = undefined
    const subscribe = () => () => {
      // oxlint-disable-next-line typescript/only-throw-error -- applications do
      throw fault
    }
    const { stop } = await watchedBy({ ...source, subscribe })
    const warned = once(process, 'warning')
    stop()
    expect(await warned).toMatchObject([{ message: 'a subscription to revocations failed' }])
  })

  test('of another verifier, whose token byIssuer cannot read, is refused by the timer', async () => {
    const clock = manualClock()
    const { verifierOptions } = await createTestIssuer({ clock, issuer: 'a' })
    const verifier = byIssuer({ a: createVerifier({ ...verifierOptions, issuer: 'a' }) })
    const refusals: unknown[] = []
    watchToken(verifier, auth, (error) => refusals.push(error), { clock })
    await clock.advance(59)
    expect(refusals).toEqual([])
    await clock.advance(1)
    expect(refusals).toMatchObject([{ code: 'invalid_token', reason: 'malformed' }])
  })

  describe('and a schema that strips claims', () => {
    type Through = (verifier: Verifier<unknown>) => Verifier<unknown>

    async function strippedBy(through: Through) {
      const clock = manualClock()
      const issuer = await createTestIssuer({ clock, issuer: 'a', algorithm: 'ES256' })
      const revocations = localRevocations({ clock })
      const schema: Schema<unknown> = {
        '~standard': { version: 1, validate: () => ({ value: {} }) },
      }
      const verifier = through(
        createVerifier({ ...issuer.verifierOptions, issuer: 'a', revocations, schema }),
      )
      const token = await issuer.token({ claims: { jti: 'one' }, expiresIn: 10_000 })
      const proven = await verifier.verify(token)
      const refusals: unknown[] = []
      /** @returns Its verdicts from then on. */
      function begin(from: Auth<unknown>) {
        watchToken(verifier, from, (error) => refusals.push(error), { clock })
        return vi.spyOn(verifier, 'verify')
      }
      async function revoke(jti: string, { mock }: ReturnType<typeof begin>) {
        await revocations.revoke({ iss: 'a', jti })
        await Promise.allSettled(mock.results.map(({ value }): unknown => value))
        await clock.advance(0)
      }
      return { proven, refusals, revoke, begin }
    }

    const ways: Readonly<Record<string, Through>> = {
      alone: (verifier) => verifier,
      'behind byIssuer': (verifier) => byIssuer({ a: verifier }),
      'behind byIssuer, which remembers nothing': (verifier) =>
        byIssuer({ a: verifier }, { remember: false }),
    }

    test.each(Object.entries(ways))('%s: ends at once when it is revoked', async (_, through) => {
      const { proven, refusals, revoke, begin } = await strippedBy(through)
      await revoke('one', begin(proven))
      expect(refusals).toMatchObject([{ reason: 'revoked' }])
    })

    test.each(Object.entries(ways))(
      '%s: is not judged again for what was revoked of others',
      async (_, through) => {
        const { proven, refusals, revoke, begin } = await strippedBy(through)
        const verify = begin(proven)
        await revoke('two', verify)
        expect(refusals).toEqual([])
        expect(verify).not.toHaveBeenCalled()
      },
    )

    test.each(Object.entries(ways).slice(0, 2))(
      '%s: a copy of its Auth is judged at each revocation, and ends at once as well',
      async (_, through) => {
        const { proven, refusals, revoke, begin } = await strippedBy(through)
        const verify = begin({ ...proven })
        await revoke('two', verify)
        expect(refusals).toEqual([])
        expect(verify).toHaveBeenCalled()
        await revoke('one', verify)
        expect(refusals).toMatchObject([{ reason: 'revoked' }])
      },
    )
  })

  test('of a source that takes its time ends when that has answered', async () => {
    const { answer, notify, source } = told()
    const statusOf = async () => await Promise.resolve(answer.status)
    const { clock, refusals } = await watchedBy({ ...source, statusOf })
    notify()
    await clock.advance(0)
    expect(refusals).toEqual([])
    answer.status = 'revoked'
    notify()
    await clock.advance(0)
    expect(refusals).toMatchObject([{ reason: 'revoked' }])
  })

  test('revoked while an older answer of its source is on its way: it is judged once more', async () => {
    const { answer, notify, source } = told()
    let deliver: (() => void) | undefined
    const statusOf = async () => {
      const { status } = answer
      if (status === 'unknown') return 'valid'
      return await new Promise<RevocationStatus>((resolve) => (deliver = () => resolve(status)))
    }
    answer.status = 'unknown'
    const { clock, refusals } = await watchedBy({ ...source, statusOf })
    answer.status = 'valid'
    notify()
    await clock.advance(0)
    answer.status = 'revoked'
    notify()
    deliver?.()
    await clock.advance(0)
    deliver?.()
    await clock.advance(0)
    expect(refusals).toMatchObject([{ reason: 'revoked' }])
  })

  test('whose verify has been replaced is judged by that, by the timer', async () => {
    const revocations = localRevocations()
    const clock = manualClock()
    const issuer = await createTestIssuer({ clock, algorithm: 'ES256' })
    const verifier = createVerifier({ ...issuer.verifierOptions, revocations })
    const token = await issuer.token({ claims: { jti: 'one' }, expiresIn: 10_000 })
    const proven = await verifier.verify(token)
    const stub = { ...verifier, verify: async () => await Promise.resolve(proven) }
    const refusals: unknown[] = []
    const stop = watchToken(stub, proven, (error) => refusals.push(error), { clock })
    await revocations.revoke({ jti: 'one' })
    await clock.advance(1000)
    expect(refusals).toEqual([])
    stop()
  })

  describe('whose verifier byIssuer gets from a function', () => {
    test('ends at once when it is revoked, also after the verifier was replaced', async () => {
      const { clock, refusals, begin, before, after, replace } = await watchedOfTenant()
      begin()
      replace()
      await clock.advance(121)
      await before.revokeBefore({ iss: 'a' })
      await clock.advance(0)
      expect(refusals).toEqual([])
      await after.revokeBefore({ iss: 'a' })
      await clock.advance(0)
      expect(refusals).toMatchObject([{ reason: 'revoked' }])
    })

    test('ends at once as well if its time was over when the watch began, from the first verdict on', async () => {
      const { clock, refusals, begin, before } = await watchedOfTenant()
      await clock.advance(100)
      begin()
      await clock.advance(61)
      await before.revokeBefore({ iss: 'a' })
      await clock.advance(0)
      expect(refusals).toMatchObject([{ reason: 'revoked' }])
    })

    test('is judged once more if it was replaced during a verdict, and revoked then', async () => {
      const { clock, refusals, begin, after, replace } = await watchedOfTenant()
      begin()
      replace()
      await clock.advance(119)
      await after.revokeBefore({ iss: 'a' })
      await clock.advance(1)
      expect(refusals).toMatchObject([{ reason: 'revoked' }])
    })
  })

  test('may be one of many, and a listener of it may revoke others', async () => {
    const revocations = localRevocations()
    const clock = manualClock()
    const issuer = await createTestIssuer({ clock, algorithm: 'ES256' })
    const verifier = createVerifier({ ...issuer.verifierOptions, revocations })
    const ended: number[] = []
    for (let count = 0; count < 5; count++) {
      const proven = await verifier.verify(await issuer.token({ claims: { jti: String(count) } }))
      const next = { jti: String(count + 1) }
      const onRefusal = async () => {
        ended.push(count)
        await revocations.revoke(next)
      }
      watchToken(verifier, proven, onRefusal, { clock })
    }
    await revocations.revoke({ jti: '0' })
    await clock.advance(0)
    await clock.advance(0)
    expect(ended).toEqual([0, 1, 2, 3, 4])
  })
})

test('a schema that takes exp away does not delay the end', async () => {
  const schema: Schema<unknown> = { '~standard': { version: 1, validate: () => ({ value: {} }) } }
  const { clock, refusals } = await watched({ expiresIn: 100 }, { clockTolerance: 0, schema })
  await clock.advance(99.9)
  expect(refusals).toEqual([])
  await clock.advance(0.1)
  expect(refusals).toMatchObject([{ reason: 'expired' }])
})

describe('a verdict that takes its time', () => {
  test('is not heard if the watch has ended meanwhile', async () => {
    const [clock, refusals] = [manualClock(), [] as unknown[]]
    const { verdicts, verifier } = late()
    const stop = watchToken(verifier, auth, (error) => refusals.push(error), { clock })
    await clock.advance(60)
    stop()
    verdicts[0]?.refuse(new AuthError('invalid_token', 'expired'))
    await clock.advance(1000)
    expect(refusals).toEqual([])
    expect(verdicts).toHaveLength(1)
  })

  test('and accepts begins no new wait if the watch has ended meanwhile', async () => {
    const clock = manualClock()
    const { verdicts, verifier } = late()
    const stop = watchToken(verifier, auth, ignore, { clock })
    await clock.advance(60)
    stop()
    verdicts[0]?.accept()
    await clock.advance(1000)
    expect(verdicts).toHaveLength(1)
  })

  test('for a minute ends the watch, once, whatever comes then', async () => {
    const [clock, refusals] = [manualClock(), [] as unknown[]]
    const { verdicts, verifier } = late()
    watchToken(verifier, auth, (error) => refusals.push(error), { clock })
    await clock.advance(60 + 59.9)
    expect(refusals).toEqual([])
    await clock.advance(0.1)
    expect(refusals).toMatchObject([{ code: 'keys_unavailable', reason: 'timeout', status: 503 }])
    expect(refusals[0]).toHaveProperty(
      'detail',
      'the verifier gave no verdict on the token for 60 s: does its schema settle?',
    )
    verdicts[0]?.refuse(new AuthError('invalid_token', 'expired'))
    await clock.advance(1000)
    expect(refusals).toHaveLength(1)
    expect(verdicts).toHaveLength(1)
  })

  test('and accepts after that minute begins no new wait', async () => {
    const [clock, refusals] = [manualClock(), [] as unknown[]]
    const { verdicts, verifier } = late()
    watchToken(verifier, auth, (error) => refusals.push(error), { clock })
    await clock.advance(120)
    verdicts[0]?.accept()
    await clock.advance(1000)
    expect([refusals.length, verdicts.length]).toEqual([1, 1])
  })

  test('and accepts within that minute is as good as one that comes at once', async () => {
    const [clock, refusals] = [manualClock(), [] as unknown[]]
    const { verdicts, verifier } = late()
    const lasting = { ...auth, claims: {} }
    const stop = watchToken(verifier, lasting, (error) => refusals.push(error), { clock })
    await clock.advance(60 + 59)
    verdicts[0]?.accept()
    await clock.advance(2)
    expect([refusals.length, verdicts.length]).toEqual([0, 1])
    await clock.advance(60)
    expect([refusals.length, verdicts.length]).toEqual([0, 2])
    stop()
  })

  test('is no matter of a watch that has ended: not even its minute is', async () => {
    const [clock, refusals] = [manualClock(), [] as unknown[]]
    const { verifier } = late()
    const stop = watchToken(verifier, auth, (error) => refusals.push(error), { clock })
    await clock.advance(60)
    stop()
    await clock.advance(1000)
    expect(refusals).toEqual([])
  })

  test('since a schema never settles ends the watch', async () => {
    let isStuck = false
    const schema: Schema<unknown> = {
      '~standard': {
        version: 1,
        validate: async (value) =>
          isStuck ? await new Promise<never>(() => {}) : await Promise.resolve({ value }),
      },
    }
    const { clock, refusals } = await watched({ expiresIn: 600 }, { schema })
    isStuck = true
    await clock.advance(120)
    expect(refusals).toMatchObject([{ code: 'keys_unavailable', reason: 'timeout' }])
  })
})

const refuse = async () => await Promise.reject(new AuthError('invalid_token', 'expired'))

describe('an onRefusal that fails is a warning, and ends no process', () => {
  const fault = new Error('the socket is closed already')

  describe.each([
    {
      name: 'throws',
      onRefusal() {
        throw fault
      },
      message: fault.message,
    },
    {
      name: 'rejects',
      onRefusal: async () => await Promise.reject(fault),
      message: fault.message,
    },
    {
      name: 'throws what is no error',
      async onRefusal() {
        // oxlint-disable-next-line typescript/only-throw-error -- applications do
        throw await Promise.resolve(undefined)
      },
      message: 'onRefusal failed',
    },
  ])('one that $name', ({ onRefusal, message }) => {
    test.each([
      ['a refusal', { verify: refuse }],
      ['a missing verdict', late().verifier],
    ])('when it is told of %s', async (_, verifier) => {
      const clock = manualClock()
      const warned = once(process, 'warning')
      watchToken(verifier, auth, onRefusal, { clock })
      await clock.advance(120)
      expect(await warned).toMatchObject([{ message }])
    })
  })
})

test.each([Number.NaN, Infinity, -Infinity])(
  'with a clock that shows %d it is judged once a minute',
  async (time) => {
    const clock = manualClock()
    let asked = 0
    const verify = async () => {
      asked += 1
      return await Promise.resolve(auth)
    }
    watchToken({ verify }, auth, ignore, { clock: { ...clock, now: () => time } })
    await clock.advance(601)
    expect(asked).toBe(10)
  },
)

test('whatever the verifier throws ends the watch: nothing is accepted by mistake', async () => {
  const clock = manualClock()
  const refusals: unknown[] = []
  const verifier = {
    verify() {
      throw new TypeError('a bug')
    },
  }
  watchToken(verifier, auth, (error) => refusals.push(error), { clock })
  await clock.advance(1000)
  expect(refusals).toMatchObject([{ message: 'a bug' }])
})

test.each([
  ['no claims', undefined],
  ['an expiry that is none', { exp: 'soon' }],
  ['no finite expiry', { exp: Number.NaN }],
])('with a schema that leaves %s it is judged once a minute', async (_case, claims) => {
  const clock = manualClock()
  let asked = 0
  const verify = async () => {
    asked += 1
    return await Promise.resolve(auth)
  }
  watchToken({ verify }, { ...auth, claims }, ignore, { clock })
  await clock.advance(601)
  expect(asked).toBe(10)
})

test('a wrong argument is a TypeError', () => {
  const verifier = { verify: async () => await Promise.resolve(auth) }
  expect(() => watch({}, auth, ignore)).toThrow(
    new TypeError('watchToken: the first argument must be a verifier'),
  )
  expect(() => watch(verifier, auth)).toThrow(
    new TypeError('watchToken: the third argument must be a function'),
  )
  expect(() => watch(verifier, auth, ignore, { clock: Date })).toThrow(
    new TypeError('watchToken: clock must have the functions now, monotonic and after'),
  )
  expect(() => watch(verifier, auth, ignore, { interval: 1 })).toThrow(
    new TypeError('watchToken: unknown option "interval", known are clock'),
  )
})

test('keeps no process alive', async () => {
  const program = `
    import { watchToken } from '@portcullis/core'
    const verifier = { verify: async () => ({}) }
    watchToken(verifier, { claims: {}, header: {}, token: 'a' }, () => {})
  `
  const child = spawn(
    process.execPath,
    ['--conditions=@portcullis/source', '--input-type=module', '-e', program],
    { cwd: fileURLToPath(new URL('../../../express', import.meta.url)), stdio: 'inherit' },
  )
  expect(await once(child, 'exit')).toEqual([0, null])
})

import { subscribe, unsubscribe } from 'node:diagnostics_channel'

import { type Claims, createVerifier, type Schema } from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'
import { expect, onTestFinished, test, vi } from 'vitest'

import type { RevocationsMessage } from '../../src/revocations/diagnostics.ts'
import type { RedisRevocations } from '../../src/revocations/redis-revocations.ts'
import { following, ISS, MAX_STALENESS, processes, tokenRecord } from './processes.ts'

const OUTAGE = MAX_STALENESS + 1

/** Of tokens by their `jti`. */
function verdicts(replica: RedisRevocations, ...jtis: readonly string[]): readonly unknown[] {
  return jtis.map((jti) => replica.statusOf({ iss: ISS, jti, iat: 1 }, 1))
}

test('revoked in one process: refused there at once, and in the others when they hear of it', async () => {
  const { replica, start } = await following()
  const other = start()
  await other.ready()
  const told = vi.fn<() => void>()
  other.subscribe(told)
  await replica.revoke({ iss: ISS, jti: 'a' })
  expect(verdicts(replica, 'a', 'b')).toEqual(['revoked', 'valid'])
  await vi.waitFor(() => {
    expect(told).toHaveBeenCalledOnce()
  }, 60_000)
  expect(verdicts(other, 'a', 'b')).toEqual(['revoked', 'valid'])
})

test('revoke(auth) revokes the token as it was signed, whatever a schema has made of its claims', async () => {
  const { replica, clock } = await following()
  const issuer = await createTestIssuer({ clock, issuer: ISS, algorithm: 'ES256' })
  const schema: Schema<object> = { '~standard': { version: 1, validate: () => ({ value: {} }) } }
  const verifier = createVerifier({ ...issuer.verifierOptions, revocations: replica, schema })
  const token = await issuer.token({ claims: { jti: 'a' } })
  await replica.revoke(await verifier.verify(token))
  expect(verdicts(replica, 'a', 'b')).toEqual(['revoked', 'valid'])
  await expect(verifier.verify(token)).rejects.toMatchObject({ reason: 'revoked' })
})

test('revoke(auth) of a token without jti: that token is refused in all processes, and no other of its user', async () => {
  const { replica, start, clock } = await following()
  const issuer = await createTestIssuer({ clock, issuer: ISS, algorithm: 'ES256' })
  const verifierOf = (revocations: RedisRevocations) =>
    createVerifier({ ...issuer.verifierOptions, revocations })
  const [one, two] = [await issuer.token(), await issuer.token({ claims: { other: true } })]
  await replica.revoke(await verifierOf(replica).verify(one))
  const late = start()
  await late.ready()
  for (const each of [replica, late]) {
    await expect(verifierOf(each).verify(one)).rejects.toMatchObject({ reason: 'revoked' })
    await verifierOf(each).verify(two)
  }
})

test('revoke(auth) of a token without jti is a TypeError where the digest is not passed on, and nothing is recorded', async () => {
  const { replica, clock } = await following()
  const issuer = await createTestIssuer({ clock, issuer: ISS, algorithm: 'ES256' })
  const revocations = { statusOf: (claims: Claims, now: number) => replica.statusOf(claims, now) }
  const verifier = createVerifier({ ...issuer.verifierOptions, revocations })
  const auth = await verifier.verify(await issuer.token())
  await expect(replica.revoke(auth)).rejects.toThrow(
    new TypeError(
      'revoke: the token has no jti, and statusOf is called without its digest, the third argument: pass it on, or see revokeBefore',
    ),
  )
  expect(replica.status().entries).toBe(0)
})

test('everything of a subject that was issued before now is revoked, with the fraction of the second', async () => {
  const { replica, clock } = await following()
  await clock.advance(0.75)
  await replica.revokeBefore({ iss: ISS, sub: 'ann' })
  const iat = Math.floor(clock.now())
  expect(replica.statusOf({ iss: ISS, sub: 'ann', iat }, iat)).toBe('revoked')
  expect(replica.statusOf({ iss: ISS, sub: 'ann', iat: iat + 1 }, iat)).toBe('valid')
  expect(replica.statusOf({ iss: ISS, sub: 'bob', iat }, iat)).toBe('valid')
})

test('a process that starts later reads what was revoked before', async () => {
  const { store, start, clock } = await following()
  store.add(tokenRecord('a'))
  const late = start()
  expect(verdicts(late, 'b')).toEqual(['unknown'])
  await late.ready()
  expect(verdicts(late, 'a', 'b')).toEqual(['revoked', 'valid'])
  await clock.advance(60)
  expect(late.status()).toMatchObject({ state: 'current', failures: 0 })
})

test('a token that cannot be named is a TypeError, and nothing is sent', async () => {
  const { replica, store } = await following()
  await expect(replica.revoke({} as never)).rejects.toThrow(TypeError)
  const misspelt = { issuer: 'https://a.test', jti: 'a' }
  await expect(replica.revoke(misspelt)).rejects.toThrow('revoke: unknown member "issuer"')
  const late = { jti: 'a', exp: Date.now() }
  await expect(replica.revoke(late)).rejects.toThrow('revoke: exp must be in seconds')
  await expect(replica.revokeBefore({ sub: 'a', sid: 'b' })).rejects.toThrow(TypeError)
  // Other processes would read another name.
  await expect(replica.revoke({ jti: '\ud800' })).rejects.toThrow(TypeError)
  await expect(replica.revokeBefore({ sub: '\ud800' })).rejects.toThrow(TypeError)
  expect(store.commands).not.toContain('XADD')
})

test('a token that has expired by the clock of this process is recorded all the same: the clock may be ahead', async () => {
  const { replica, store, clock } = await following()
  await replica.revoke({ iss: ISS, jti: 'a', exp: clock.now() - 86_400 })
  expect(store.commands).toContain('XADD')
})

test('no stream: nothing is valid, a revocation is rejected and makes none, and create is enough to heal', async () => {
  const { store, start, clock } = processes()
  const replica = start()
  await expect(replica.ready()).rejects.toMatchObject({ reason: 'no_stream' })
  expect(replica.status()).toMatchObject({ state: 'missing', identity: undefined })
  const revoking = replica.revoke({ iss: ISS, jti: 'a' })
  await expect(revoking).rejects.toMatchObject({ reason: 'no_stream' })
  expect(store.data.size).toBe(0)
  expect(verdicts(replica, 'a')).toEqual(['unknown'])
  store.create('first')
  await clock.advance(MAX_STALENESS / 4)
  expect(verdicts(replica, 'a')).toEqual(['valid'])
})

test('the memory of the store is full: the revocation is rejected, says so, and counts nowhere', async () => {
  const { replica, store } = await following()
  store.mode = 'full'
  const revoking = replica.revoke({ iss: ISS, jti: 'a' })
  await expect(revoking).rejects.toThrow('no memory left (OOM)')
  await expect(revoking).rejects.toMatchObject({ reason: 'out_of_memory' })
  expect(verdicts(replica, 'a')).toEqual(['valid'])
  store.mode = 'up'
  await replica.revoke({ iss: ISS, jti: 'a' })
  expect(store.connections()).toBe(2)
})

test('the store is down: a revocation is rejected at once, and is not sent later', async () => {
  const { replica, store, clock } = await following()
  store.mode = 'unreachable'
  store.cut()
  const revoking = replica.revoke({ iss: ISS, jti: 'a' })
  await expect(revoking).rejects.toMatchObject({ reason: 'unreachable' })
  store.mode = 'up'
  await clock.advance(60)
  expect(store.commands).not.toContain('XADD')
  expect(verdicts(replica, 'a')).toEqual(['valid'])
})

test('a store that does not answer: a revocation is rejected within 5 s', async () => {
  const { replica, store, clock } = await following()
  store.mode = 'silent'
  await Promise.all([
    expect(replica.revoke({ iss: ISS, jti: 'a' })).rejects.toMatchObject({
      reason: 'timeout',
    }),
    clock.advance(5),
  ])
})

test('a connection that has rested is not used for a revocation, since it may be half open', async () => {
  const { replica, store, clock } = await following()
  await replica.revoke({ iss: ISS, jti: 'a' })
  await replica.revoke({ iss: ISS, jti: 'b' })
  expect(store.connections()).toBe(2)
  await clock.advance(31)
  await replica.revoke({ iss: ISS, jti: 'c' })
  expect(store.connections()).toBe(3)
  expect(store.open()).toBe(2)
})

test('a connection that the store has closed since: a revocation opens another', async () => {
  const { replica, store } = await following()
  await replica.revoke({ iss: ISS, jti: 'a' })
  store.cut()
  await replica.revoke({ iss: ISS, jti: 'b' })
  expect(verdicts(replica, 'a', 'b')).toEqual(['revoked', 'revoked'])
})

test('an outage: known revocations hold throughout, and nothing else is valid once the replica is too old', async () => {
  const { replica, store, clock } = await following()
  await replica.revoke({ iss: ISS, jti: 'a' })
  await clock.advance(1)
  store.mode = 'unreachable'
  store.cut()
  await clock.advance(MAX_STALENESS - 4)
  expect(verdicts(replica, 'a', 'b')).toEqual(['revoked', 'valid'])
  await clock.advance(5)
  expect(verdicts(replica, 'a', 'b')).toEqual(['revoked', 'unknown'])
  await clock.advance(3600)
  expect(verdicts(replica, 'a', 'b')).toEqual(['revoked', 'unknown'])
  expect(replica.status()).toMatchObject({ state: 'stale', lastFailure: { reason: 'unreachable' } })
  expect(replica.status().lastFailure?.detail).toContain('ECONNREFUSED')
  store.mode = 'up'
  await clock.advance(MAX_STALENESS / 4)
  expect(verdicts(replica, 'a', 'b')).toEqual(['revoked', 'valid'])
})

test('an outage with whenStale accept: known revocations hold, and everything else is valid', async () => {
  const { store, start, clock } = processes()
  store.create('first')
  store.add(tokenRecord('a'))
  const replica = start({ whenStale: 'accept' })
  await replica.ready()
  store.mode = 'unreachable'
  store.cut()
  await clock.advance(OUTAGE)
  expect(verdicts(replica, 'a', 'b')).toEqual(['revoked', 'valid'])
  expect(replica.status().state).toBe('stale')
  const late = start({ whenStale: 'accept' })
  await late.ready()
  expect(verdicts(late, 'a')).toEqual(['valid'])
})

test('a connection that is half open is replaced before the replica is too old', async () => {
  const { replica, store, clock } = await following()
  await clock.advance(1)
  // What is under way is lost, while the store itself is well.
  store.mode = 'silent'
  await clock.advance(2)
  store.mode = 'up'
  store.add(tokenRecord('a'))
  for (let second = 0; second < OUTAGE; second += 1) {
    expect(replica.status().age).toBeLessThanOrEqual(MAX_STALENESS)
    await clock.advance(1)
  }
  expect(verdicts(replica, 'a')).toEqual(['revoked'])
  expect(store.open()).toBe(1)
})

test('the age counts from when the request was sent, not from when its answer came', async () => {
  const { replica, store, clock } = await following()
  store.delay = 2
  await clock.advance(30)
  for (let step = 0; step < 40; step += 1) {
    await clock.advance(0.25)
    expect(replica.status().age).toBeGreaterThanOrEqual(2)
    expect(replica.status().state).toBe('current')
  }
})

test.each([
  ['forward', 3600],
  ['back', -3600],
])('the wall clock is set %s: the replica is never taken for younger than it is', async (_, by) => {
  const { replica, store, clock } = await following()
  store.mode = 'silent'
  await clock.advance(MAX_STALENESS / 2)
  clock.set(clock.now() + by)
  await clock.advance(MAX_STALENESS / 2 + 1)
  expect(verdicts(replica, 'a')).toEqual(['unknown'])
  store.mode = 'up'
  await clock.advance(MAX_STALENESS)
  expect(verdicts(replica, 'a')).toEqual(['valid'])
})

test('the wall clock was ahead when the stream was read: what had lapsed by it is read again once it is set right', async () => {
  const { store, start, clock } = processes()
  store.create('first')
  const right = clock.now()
  store.add(tokenRecord('a', right + 3600))
  clock.set(right + 86_400)
  const replica = start()
  await replica.ready()
  // By that clock the token has expired as well, so nobody asks for it.
  expect(verdicts(replica, 'a')).toEqual(['valid'])
  store.add(tokenRecord('b', right + 3600))
  await clock.advance(1)
  for (const by of [right, right + 86_400, right]) {
    clock.set(by)
    await clock.advance(MAX_STALENESS / 2)
  }
  expect(replica.statusOf({ iss: ISS, jti: 'a', exp: right + 3600 }, right)).toBe('revoked')
  expect(replica.statusOf({ iss: ISS, jti: 'b', exp: right + 3600 }, right)).toBe('revoked')
})

test.each(['up', 'unreachable'] as const)(
  'the wall clock was ahead when the stream was read, and is set right while the store is %s: nothing is valid until it is read again',
  async (mode) => {
    const { store, start, clock } = processes()
    store.create('first')
    const right = clock.now()
    store.add(tokenRecord('a', right + 3600))
    clock.set(right + 86_400)
    const replica = start()
    await replica.ready()
    store.mode = mode
    const verdict = (jti: string) =>
      replica.statusOf({ iss: ISS, jti, exp: right + 3600 }, clock.now())
    for (const step of [-5, 0.5]) {
      clock.set(clock.now() + step)
      expect(verdict('b')).toBe('valid')
    }
    clock.set(right)
    expect([verdict('a'), replica.status().state]).toEqual(['unknown', 'stale'])
    for (let at = 0; at < MAX_STALENESS; at += 0.5) {
      await clock.advance(0.5)
      expect(['unknown', 'revoked']).toContain(verdict('a'))
    }
    store.mode = 'up'
    await clock.advance(MAX_STALENESS)
    expect([verdict('a'), verdict('b')]).toEqual(['revoked', 'valid'])
  },
)

test.each([0, 0.3, 2])(
  'many revocations, answers after %d s: the stream is read once',
  async (delay) => {
    const messages = hear()
    const { replica, store, clock } = await following()
    store.delay = delay
    for (let at = 0; at < 100; at += 1) {
      store.add(tokenRecord(`t${at}`))
      await clock.advance(0.37)
    }
    await clock.advance(10)
    const loads = messages.filter(({ source, event }) => source === replica && event === 'load')
    expect(loads.map(({ trigger }) => trigger)).toEqual(['start'])
    expect(new Set(verdicts(replica, 't0', 't50', 't99'))).toEqual(new Set(['revoked']))
  },
)

test('entries that were deleted before they were read: the stream is read again, and nothing known is forgotten', async () => {
  const { replica, store, clock } = await following()
  await replica.revoke({ iss: ISS, jti: 'a' })
  const messages = hear()
  await clock.advance(1)
  store.mode = 'unreachable'
  store.cut()
  const unread = store.add(tokenRecord('b'))
  store.add(tokenRecord('c'))
  store.delete(unread)
  store.mode = 'up'
  await clock.advance(1)
  expect(verdicts(replica, 'a', 'c')).toEqual(['revoked', 'revoked'])
  expect(messages).toContainEqual(expect.objectContaining({ event: 'load', trigger: 'gap' }))
})

test('a primary that lacks the last entries takes over: what was read of them stays revoked', async () => {
  const { replica, store, clock } = await following()
  const messages = hear()
  const backup = store.data
  await replica.revoke({ iss: ISS, jti: 'a' })
  await clock.advance(5)
  store.data = backup
  store.cut()
  await clock.advance(5)
  expect(messages).toContainEqual(expect.objectContaining({ trigger: 'step_back' }))
  expect(verdicts(replica, 'a')).toEqual(['revoked'])
  await replica.revoke({ iss: ISS, jti: 'b' })
  expect(replica.status().state).toBe('current')
})

test('a primary takes over with ids above ours and others below that we never saw: the stream is read again', async () => {
  const { replica, store, clock } = await following()
  const messages = hear()
  const backup = store.data
  await clock.advance(2)
  store.add(tokenRecord('lost'))
  await clock.advance(3)
  store.data = backup
  store.add(tokenRecord('between'), `${Math.floor(clock.now() * 1000) - 4000}-0`)
  store.add(tokenRecord('above'))
  store.cut()
  await clock.advance(5)
  expect(messages).toContainEqual(expect.objectContaining({ trigger: 'history' }))
  expect(new Set(verdicts(replica, 'lost', 'between', 'above'))).toEqual(new Set(['revoked']))
})

test('a primary takes over that gave our last id to another entry: the stream is read again', async () => {
  const { replica, store, clock } = await following()
  const backup = store.data
  await clock.advance(2)
  const id = store.add(tokenRecord('ours'))
  await clock.advance(3)
  store.data = backup
  store.add(tokenRecord('theirs'), id)
  store.cut()
  await clock.advance(5)
  expect(verdicts(replica, 'ours', 'theirs')).toEqual(['revoked', 'revoked'])
})

test('the stream was trimmed: its identity is gone, and so is all certainty', async () => {
  const { replica, store, clock } = await following()
  store.add(tokenRecord('a'))
  store.add(tokenRecord('b'))
  await clock.advance(3)
  store.trim(1)
  await clock.advance(3)
  expect(replica.status()).toMatchObject({ state: 'missing', identity: 'first' })
  expect(verdicts(replica, 'a', 'b', 'c')).toEqual(['revoked', 'revoked', 'unknown'])
})

test('the store comes back empty: what is known stays refused, and nothing else is valid until an operator says so', async () => {
  const { replica, store, start, clock } = await following()
  await replica.revoke({ iss: ISS, jti: 'a' })
  store.data = new Map()
  store.cut()
  await clock.advance(MAX_STALENESS / 2)
  expect(replica.status()).toMatchObject({ state: 'missing', identity: 'first' })
  expect(verdicts(replica, 'a', 'b')).toEqual(['revoked', 'unknown'])

  store.create('second')
  await clock.advance(MAX_STALENESS)
  const found = { state: 'replaced', identity: 'first', foundIdentity: 'second' }
  expect(replica.status()).toMatchObject(found)
  expect(verdicts(replica, 'a', 'b')).toEqual(['revoked', 'unknown'])
  await Promise.all([
    expect(replica.ready()).rejects.toMatchObject({ reason: 'other_stream' }),
    clock.advance(MAX_STALENESS),
  ])

  // It still hears of what is revoked, and a process that knows of no other stream follows this one.
  store.add(tokenRecord('c'))
  await clock.advance(1)
  expect(verdicts(replica, 'c')).toEqual(['revoked'])
  const late = start()
  await late.ready()
  expect(verdicts(late, 'b', 'c')).toEqual(['valid', 'revoked'])
})

test('a stream that replaces the lost one: processes go on with it, and keep what they know', async () => {
  const { replica, store, clock } = await following()
  await replica.revoke({ iss: ISS, jti: 'a' })
  store.data = new Map()
  store.create('second', ['other', 'first'])
  await clock.advance(MAX_STALENESS)
  expect(replica.status()).toMatchObject({ state: 'current', identity: 'second' })
  expect(verdicts(replica, 'a', 'b')).toEqual(['revoked', 'valid'])
})

test('the lost stream comes back: it is read again and followed', async () => {
  const { replica, store, clock } = await following()
  const backup = store.data
  store.data = new Map()
  await clock.advance(MAX_STALENESS)
  store.data = backup
  await clock.advance(MAX_STALENESS)
  expect(replica.status()).toMatchObject({ state: 'current', identity: 'first' })
})

test('a store that is still loading its data is not taken for an empty one', async () => {
  const { replica, store, clock } = await following()
  store.mode = 'loading'
  store.cut()
  await clock.advance(MAX_STALENESS / 4)
  expect(replica.status()).toMatchObject({ state: 'current', lastFailure: { reason: 'refused' } })
  expect(replica.status().lastFailure?.detail).toContain('LOADING')
})

test.each<[string, readonly string[]]>([
  ['a later version', ['v', '2', 'type', 'token', 'jti', 'a']],
  ['an unknown type', ['v', '1', 'type', 'device', 'id', 'a']],
  ['a time in milliseconds', ['v', '1', 'type', 'issued_before', 'time', '1767225600000']],
])('a record of %s may revoke anything: nothing is valid until it is gone', async (_, fields) => {
  const { replica, store, clock } = await following()
  store.add(tokenRecord('a'))
  const id = store.add(fields)
  await clock.advance(1)
  const found = { state: 'unreadable', unreadable: 1, firstUnreadable: id }
  expect(replica.status()).toMatchObject(found)
  expect(verdicts(replica, 'a', 'b')).toEqual(['revoked', 'unknown'])
  store.delete(id)
  await clock.advance(MAX_STALENESS)
  expect(replica.status()).toMatchObject({ state: 'current', unreadable: 0 })
})

test('records that are not ours are skipped, and counted', async () => {
  const { replica, store, clock } = await following()
  store.add(['hello', 'world'])
  await clock.advance(3)
  expect(replica.status()).toMatchObject({ state: 'current', foreign: 1, entries: 0 })
})

test('more entries than max: nothing is valid, none is forgotten, and the store is not read all the time', async () => {
  const messages = hear()
  const { store, start, clock } = processes()
  store.create('first')
  const replica = start({ max: 2 })
  const loads = () =>
    messages
      .filter(({ source, event }) => source === replica && event === 'load')
      .map(({ trigger }) => trigger)
  store.add(tokenRecord('a', clock.now() + 10))
  store.add(tokenRecord('b'))
  await replica.ready()
  const id = store.add(tokenRecord('c'))
  await clock.advance(1)
  expect(replica.status()).toMatchObject({ state: 'full', lastFailure: { reason: 'full' } })
  expect(verdicts(replica, 'a', 'b', 'd')).toEqual(['revoked', 'revoked', 'unknown'])
  // What comes meanwhile is followed, and needs no room.
  store.add(tokenRecord('b', 4e9))
  await clock.advance(50)
  expect(loads()).toEqual(['start'])
  store.delete(id)
  await clock.advance(61)
  expect(replica.status().state).toBe('current')
  expect(loads()).toEqual(['start', 'full'])
})

test('more entries than max in the first page, and room for those of the last one: nothing is valid', async () => {
  const { store, start } = processes()
  store.create('first')
  for (const jti of ['a', 'b', 'c', 'd', 'a']) store.add(tokenRecord(jti))
  const replica = start({ max: 2, page: 5 })
  await replica.ready().catch(() => undefined)
  expect(replica.status().state).toBe('full')
  expect(verdicts(replica, 'a', 'd', 'e')).toEqual(['revoked', 'unknown', 'unknown'])
})

test.each([1, 8])(
  'more entries than max, and %i s to read them: they are read a hundredth of the time, and soon when some were deleted',
  async (took) => {
    const messages = hear()
    const { store, start, clock } = processes()
    store.create('first')
    const ids = ['a', 'b', 'c'].map((jti) => store.add(tokenRecord(jti)))
    store.pageDelay = took
    const replica = start({ max: 2 })
    replica.ready().catch(() => undefined)
    await clock.advance(took)
    const loads = () =>
      messages.filter(({ source, event }) => source === replica && event === 'load').length
    expect([replica.status().state, loads()]).toEqual(['full', 1])
    await clock.advance(1000)
    expect(loads() - 1).toBeLessThanOrEqual(Math.ceil(1000 / Math.max(60, 100 * took)))
    expect(loads()).toBeGreaterThan(1)
    store.delete(...ids.slice(1))
    await clock.advance(Math.max(60, 10 * took) + took + MAX_STALENESS)
    expect(replica.status().state).toBe('current')
  },
)

test('a revocation that there is no room for is rejected, not recorded, and keeps nobody out', async () => {
  const { store, start, clock } = processes()
  store.create('first')
  const [replica, other] = [start({ max: 2 }), start({ max: 2 })]
  await Promise.all([replica.ready(), other.ready()])
  await replica.revoke({ iss: ISS, jti: 'a' })
  // All at once, and one of them twice: there is room for one.
  const revoking = ['b', 'c', 'b', 'd'].map(async (jti) => await replica.revoke({ iss: ISS, jti }))
  const settled = await Promise.allSettled(revoking)
  expect(settled.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'rejected',
  ])
  const full = { reason: 'full', message: expect.stringContaining('not recorded') as string }
  expect(settled[1]).toMatchObject({ reason: full })
  await clock.advance(MAX_STALENESS)
  for (const each of [replica, other]) {
    expect(verdicts(each, 'a', 'b', 'c')).toEqual(['revoked', 'revoked', 'valid'])
    expect(each.status()).toMatchObject({ state: 'current', entries: 2, failures: 0 })
  }
  // What is known already needs no room.
  await replica.revokeBefore({ iss: ISS, sub: 'ann' }).catch(() => undefined)
  await expect(replica.revoke({ iss: ISS, jti: 'a', exp: 4e9 })).resolves.toBeUndefined()
})

test.each([
  ['refuse', 'unknown'],
  ['accept', 'valid'],
] as const)(
  'another process takes the last place meanwhile: it was recorded nevertheless, is said so, and is refused here (%s)',
  async (whenStale, other) => {
    const { store, start, clock } = processes()
    store.create('first')
    const replica = start({ max: 1, whenStale })
    await replica.ready()
    store.delay = 0.2
    const revoking = replica.revoke({ iss: ISS, jti: 'b' })
    store.add(tokenRecord('a'))
    await Promise.all([
      expect(revoking).rejects.toMatchObject({
        reason: 'full',
        message: expect.stringContaining('recorded nevertheless') as string,
      }),
      clock.advance(1),
    ])
    expect(verdicts(replica, 'a', 'b', 'c')).toEqual(['revoked', 'revoked', other])
  },
)

test('more entries than max, read at once: what there is room for is known, from any place', async () => {
  const { store, start } = processes()
  store.create('first')
  for (const jti of ['a', 'b', 'c', 'd']) store.add(tokenRecord(jti))
  // They replace others, so they need no room.
  store.add(tokenRecord('b', 4e9))
  const replica = start({ max: 3, whenStale: 'accept' })
  await replica.ready()
  expect(replica.status()).toMatchObject({ state: 'full', entries: 3 })
  expect(verdicts(replica, 'a', 'b', 'c', 'd')).toEqual(['revoked', 'revoked', 'revoked', 'valid'])
})

test('many processes read the whole stream at once, so that each page takes long: they come to an end', async () => {
  const { store, start, clock } = processes()
  store.create('first')
  for (let at = 0; at < 5000; at += 1) store.add(tokenRecord(`t${at}`))
  store.pageDelay = MAX_STALENESS / 2
  const replica = start({ max: 10_000 })
  await Promise.all([replica.ready(), clock.advance(2 * MAX_STALENESS)])
  expect(verdicts(replica, 't0', 't4999', 'b')).toEqual(['revoked', 'revoked', 'valid'])
  expect(store.connections()).toBe(1)
})

test('compaction while a process reads loses nothing that is needed', async () => {
  const { store, start, clock } = processes()
  store.create('first')
  const early = ['v', '1', 'type', 'issued_before', 'iss', ISS, 'sub', 'ann', 'time', '100']
  const first = store.add(early)
  store.delay = 1
  const replica = start()
  // It knows how far the stream goes, and has read nothing of it.
  await clock.advance(1.2)
  store.add([...early.slice(0, -1), '200'])
  store.delete(first)
  for (let step = 0; step < 40; step += 1) {
    await clock.advance(0.25)
    expect(replica.statusOf({ iss: ISS, sub: 'ann', iat: 50 }, 1)).not.toBe('valid')
  }
  expect(replica.statusOf({ iss: ISS, sub: 'ann', iat: 150 }, 1)).toBe('revoked')
  expect(replica.status().state).toBe('current')
})

test('a store that is down is asked less and less often', async () => {
  const { store, start, clock } = processes()
  store.mode = 'unreachable'
  const replica = start()
  await expect(replica.ready()).rejects.toMatchObject({ reason: 'unreachable' })
  await clock.advance(60)
  expect(store.connections()).toBeLessThan(35)
  expect(replica.status().failures).toBe(store.connections())
  store.mode = 'up'
  store.create('first')
  await Promise.all([replica.ready(), clock.advance(2.5)])
  expect(verdicts(replica, 'a')).toEqual(['valid'])
})

test('closed: nothing goes on, nothing can be revoked, what is known stays refused', async () => {
  const { replica, store, clock } = await following()
  await replica.revoke({ iss: ISS, jti: 'a' })
  const connections = store.connections()
  await replica.close()
  await replica.close()
  await clock.advance(60)
  expect(store.open()).toBe(0)
  expect(store.connections()).toBe(connections)
  expect(replica.status().state).toBe('closed')
  expect(verdicts(replica, 'a', 'b')).toEqual(['revoked', 'unknown'])
  await expect(replica.ready()).rejects.toMatchObject({ reason: 'closed' })
  const revoking = replica.revoke({ iss: ISS, jti: 'b' })
  await expect(revoking).rejects.toMatchObject({ reason: 'closed' })
})

test('closed while it connects: whoever waits is told', async () => {
  const { store, start } = processes()
  store.mode = 'silent'
  const replica = start()
  await Promise.all([
    expect(replica.ready()).rejects.toMatchObject({ reason: 'closed' }),
    replica.close(),
  ])
})

test('subscribers of portcullis:revocations are told of each change of the state', async () => {
  const messages = hear()
  const { replica, store, clock } = await following()
  store.mode = 'unreachable'
  store.cut()
  await clock.advance(OUTAGE)
  store.mode = 'up'
  await clock.advance(MAX_STALENESS)
  const states = messages.filter(({ source }) => source === replica).map(({ state }) => state)
  expect(states.filter((state, at) => state !== states[at - 1])).toEqual([
    'loading',
    'current',
    'stale',
    'current',
  ])
})

/** The messages of the channel, from now to the end of the test. */
function hear(): readonly RevocationsMessage[] {
  const messages: RevocationsMessage[] = []
  const listen = (message: unknown) => {
    messages.push(message as RevocationsMessage)
  }
  subscribe('portcullis:revocations', listen)
  onTestFinished(() => {
    unsubscribe('portcullis:revocations', listen)
  })
  return messages
}

test('a store that is a replica now is not believed: it may lag, and nobody knows how far', async () => {
  const { replica, store, clock } = await following()
  await replica.revoke({ iss: ISS, jti: 'a' })
  store.mode = 'replica'
  await clock.advance(OUTAGE)
  expect(verdicts(replica, 'a', 'b')).toEqual(['revoked', 'unknown'])
  expect(replica.status().lastFailure).toMatchObject({ reason: 'refused' })
  store.mode = 'up'
  await clock.advance(MAX_STALENESS)
  expect(verdicts(replica, 'a', 'b')).toEqual(['revoked', 'valid'])
})

test('a kept connection whose store became a replica is left, also by others who were writing over it', async () => {
  const { replica, store } = await following()
  await replica.revoke({ iss: ISS, jti: 'a' })
  const before = store.connections()
  store.mode = 'replica'
  const refused = await Promise.allSettled([
    replica.revoke({ iss: ISS, jti: 'b' }),
    replica.revoke({ iss: ISS, jti: 'c' }),
  ])
  expect(refused.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(store.connections()).toBeGreaterThan(before)
  store.mode = 'up'
  await replica.revoke({ iss: ISS, jti: 'd' })
  expect(verdicts(replica, 'a', 'b', 'd')).toEqual(['revoked', 'valid', 'revoked'])
})

test('a process that closes while it writes opens no other connection', async () => {
  const { replica, store } = await following()
  await replica.revoke({ iss: ISS, jti: 'a' })
  const before = store.connections()
  store.mode = 'silent'
  const revoking = Promise.allSettled([replica.revoke({ iss: ISS, jti: 'b' })])
  await replica.close()
  expect(await revoking).toMatchObject([{ status: 'rejected', reason: { reason: 'closed' } }])
  expect(store.connections()).toBe(before)
})

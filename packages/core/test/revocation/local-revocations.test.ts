import { once } from 'node:events'

import { manualClock } from '@portcullis/testing'
import { describe, expect, test, vi } from 'vitest'

import type { Claims } from '../../src/claims/auth.ts'
import {
  type LocalRevocations,
  localRevocations,
  type LocalRevocationsOptions,
} from '../../src/revocation/local-revocations.ts'
import type { RevocationEntry } from '../../src/revocation/revocations.ts'
import { digestOf } from '../../src/revocation/token-digest.ts'

const NOW = 1_767_225_600
const iss = 'https://issuer.test'
const claims: Claims = { iss, sub: 'ann', jti: 'one', iat: NOW - 100, exp: NOW + 1000 }
/** What names that token. */
const named = { iss, jti: 'one', exp: NOW + 1000 }

function made(options: LocalRevocationsOptions = {}) {
  const clock = manualClock(NOW)
  return { clock, revocations: localRevocations({ clock, ...options }) }
}

function isRevoked(revocations: LocalRevocations, more: object = {}, now = NOW): boolean {
  return revocations.statusOf({ ...claims, ...more }, now) === 'revoked'
}

function unknownMember(name: string): string {
  return `revoke: unknown member "${name}", known are iss, jti, exp; an Auth is taken as a whole`
}

function tokenOf(jti: string, exp?: number) {
  return { iss, jti, ...(exp === undefined ? {} : { exp }) }
}

function jtisOf(entries: Iterable<RevocationEntry>) {
  return Array.from(entries, (entry) => (entry.type === 'token' ? entry.jti : entry.type))
}

describe('a revoked token', () => {
  test('is that of the issuer with that jti, and no other', async () => {
    const { revocations } = made()
    expect(isRevoked(revocations)).toBe(false)
    await revocations.revoke(named)
    expect(isRevoked(revocations)).toBe(true)
    for (const other of [{ jti: 'two' }, { iss: 'https://other.test' }, { jti: undefined }]) {
      expect(isRevoked(revocations, other)).toBe(false)
    }
  })

  test('without iss is a token without iss', async () => {
    const { revocations } = made()
    await revocations.revoke({ jti: 'one' })
    expect(isRevoked(revocations)).toBe(false)
    expect(revocations.statusOf({ jti: 'one' }, NOW)).toBe('revoked')
  })

  test('is known by whole texts, however issuer and jti might be joined', async () => {
    const { revocations } = made()
    await revocations.revoke({ iss: 'a', jti: 'b c' })
    expect(isRevoked(revocations, { iss: 'a b', jti: 'c' })).toBe(false)
    expect(isRevoked(revocations, { iss: 'a', jti: 'b c' })).toBe(true)
  })

  test.each(['__proto__', 'constructor', 'toString'])('may have the jti %s', async (jti) => {
    const { revocations } = made()
    expect(isRevoked(revocations, { iss: jti, jti })).toBe(false)
    await revocations.revoke({ iss: jti, jti })
    expect(isRevoked(revocations, { iss: jti, jti })).toBe(true)
    expect(isRevoked(revocations)).toBe(false)
    const { revocations: next } = made({ snapshot: revocations.toSnapshot() })
    expect(isRevoked(next, { iss: jti, jti })).toBe(true)
  })

  test('whose Auth is given is known by its claims', async () => {
    const { revocations } = made()
    const header = { alg: 'RS512' }
    await revocations.revoke({ claims, header, token: 'stub' })
    expect(revocations.toSnapshot().entries).toEqual([
      { type: 'token', ...tokenOf('one', NOW + 1000) },
    ])
  })

  test.each([undefined, null, 'text'])('whose Auth has %j for claims is refused', async (given) => {
    const { revocations } = made()
    const auth = { claims: given, header: { alg: 'RS512' }, token: 'stub' }
    await expect(revocations.revoke(auth)).rejects.toThrow('revoke: the token has no jti')
  })

  test('whose claims have a member named token is known by its jti, and by an Auth of more members', async () => {
    const { revocations } = made()
    await revocations.revoke({
      claims: { ...claims, token: 'a.b.c' },
      header: { alg: 'RS512' },
      token: 'stub',
    })
    expect(isRevoked(revocations)).toBe(true)
  })

  test('may have a number as its jti, which counts as its text', async () => {
    const { revocations } = made()
    await revocations.revoke({ iss, jti: '42' })
    expect(isRevoked(revocations, { jti: 42 })).toBe(true)
    await revocations.revoke({
      claims: { ...claims, jti: 7 },
      header: { alg: 'RS512' },
      token: 'stub',
    })
    expect(isRevoked(revocations, { jti: 7 })).toBe(true)
    expect(isRevoked(revocations, { jti: '7' })).toBe(true)
    expect(isRevoked(revocations, { jti: [7] })).toBe(false)
  })

  test('stays so for 600 seconds after its exp', async () => {
    const { revocations } = made()
    await revocations.revoke(named)
    expect(isRevoked(revocations, {}, NOW + 1599.9)).toBe(true)
    expect(isRevoked(revocations, {}, NOW + 1600)).toBe(false)
  })

  test('without exp stays so for ever', async () => {
    const { revocations } = made()
    await revocations.revoke({ iss, jti: 'one' })
    expect(isRevoked(revocations, {}, NOW * 2)).toBe(true)
  })

  test.each([
    ['a later exp', { exp: NOW + 2000 }, NOW + 2599],
    ['none', {}, NOW * 2],
  ])('stays so for the longer, if it is revoked again with %s', async (_, later, until) => {
    for (const order of [
      [{ exp: NOW + 1 }, later],
      [later, { exp: NOW + 1 }],
    ]) {
      const { revocations } = made()
      for (const exp of order) await revocations.revoke({ iss, jti: 'one', ...exp })
      expect(isRevoked(revocations, {}, until)).toBe(true)
    }
  })

  test.each([
    ['an exp in milliseconds', { exp: NOW * 1000 }],
    ['other members', { sub: 'ann' }],
  ])('was recorded before, with %s: it still counts', (_, more) => {
    const entry = { type: 'token', iss, jti: 'one', ...more } as const
    expect(isRevoked(made({ snapshot: { version: 1, entries: [entry] } }).revocations)).toBe(true)
  })

  test('may have an exp of just less than 1e12', async () => {
    const { revocations } = made()
    await revocations.revoke({ ...named, exp: 1e12 - 1 })
    expect(isRevoked(revocations)).toBe(true)
  })

  test('is revoked while the clock shows no number', async () => {
    const { revocations } = made()
    await revocations.revoke(named)
    expect(isRevoked(revocations, {}, Number.NaN)).toBe(true)
  })
})

describe('what was issued before a time', () => {
  test.each([
    ['a subject', { sub: 'ann' }, { sub: 'bob' }],
    ['a client by its client_id', { client_id: 'app' }, { client_id: 'other' }],
    ['a session', { sid: 's1' }, { sid: 's2' }],
  ])('may be that of %s', async (_, whose, others) => {
    const { revocations } = made()
    await revocations.revokeBefore({ iss, ...whose })
    expect(isRevoked(revocations, whose)).toBe(true)
    expect(isRevoked(revocations, { ...whose, iat: NOW })).toBe(false)
    expect(isRevoked(revocations, others)).toBe(false)
    expect(isRevoked(revocations, { ...whose, iss: 'https://other.test' })).toBe(false)
  })

  test('may be named by the claims of a token, which have no types', async () => {
    const { revocations } = made()
    const { sub } = claims
    await revocations.revokeBefore({ iss: claims.iss, sub })
    expect(isRevoked(revocations, { sub: 'ann' })).toBe(true)
  })

  test('of a client is known by azp as well', async () => {
    const { revocations } = made()
    await revocations.revokeBefore({ iss, client_id: 'app' })
    expect(isRevoked(revocations, { azp: 'app' })).toBe(true)
    expect(isRevoked(revocations, { client_id: 'other', azp: 'app' })).toBe(true)
  })

  test.each([
    ['sub', { sub: 42 }],
    ['client_id', { client_id: 42 }],
    ['client_id', { azp: 42 }],
    ['sid', { sid: 42 }],
  ])('of a %s is known by a number as well: %o', async (name, whose) => {
    const { revocations } = made()
    await revocations.revokeBefore({ iss, [name]: '42' })
    expect(isRevoked(revocations, whose)).toBe(true)
  })

  test('of an issuer is all of it', async () => {
    const { revocations } = made()
    await revocations.revokeBefore({ iss })
    expect(isRevoked(revocations)).toBe(true)
    expect(isRevoked(revocations, { iss: 'https://other.test' })).toBe(false)
    expect(isRevoked(revocations, { iss: undefined })).toBe(false)
  })

  test('includes tokens that do not say when they were issued', async () => {
    const { revocations } = made()
    await revocations.revokeBefore({ iss, sub: 'ann' }, { time: 1 })
    expect(isRevoked(revocations)).toBe(false)
    expect(isRevoked(revocations, { iat: undefined })).toBe(true)
    expect(isRevoked(revocations, { iat: String(NOW) })).toBe(true)
  })

  test('includes what was issued in the very second of the revocation, and not the next second', async () => {
    const { clock, revocations } = made()
    await clock.advance(0.5)
    await revocations.revokeBefore({ iss, sub: 'ann' })
    expect(isRevoked(revocations, { iat: NOW })).toBe(true)
    expect(isRevoked(revocations, { iat: NOW + 1 })).toBe(false)
  })

  test('does not include the stated time itself', async () => {
    const { revocations } = made()
    await revocations.revokeBefore({ iss, sub: 'ann' }, { time: NOW - 100 })
    expect(isRevoked(revocations)).toBe(false)
    expect(isRevoked(revocations, { iat: NOW - 100.1 })).toBe(true)
  })

  test('a second time with an earlier time: the later one holds until its end, then the other', async () => {
    const { revocations } = made()
    const whose = { iss, sub: 'ann' }
    await revocations.revokeBefore(whose, { time: NOW, until: NOW + 100 })
    await revocations.revokeBefore(whose, { time: NOW - 500, until: NOW + 50 })
    expect(isRevoked(revocations, {}, NOW + 99)).toBe(true)
    expect(isRevoked(revocations, {}, NOW + 100)).toBe(false)
    expect(revocations.toSnapshot().entries).toHaveLength(1)
    await revocations.revokeBefore(whose, { time: NOW - 500 })
    expect(isRevoked(revocations, {}, NOW + 99)).toBe(true)
    expect(isRevoked(revocations, {}, NOW + 100)).toBe(false)
    expect(isRevoked(revocations, { iat: NOW - 501 }, NOW * 2)).toBe(true)
    expect(revocations.toSnapshot().entries).toHaveLength(2)
    await revocations.revokeBefore(whose, { time: NOW - 100, until: NOW + 50 })
    expect(revocations.toSnapshot().entries).toHaveLength(2)
    await revocations.revokeBefore(whose)
    expect(revocations.toSnapshot().entries).toHaveLength(1)
  })

  test('that has lapsed is not brought back by an earlier time, removed or not', async () => {
    const { revocations } = made()
    const whose = { iss, sub: 'ann' }
    await revocations.revokeBefore(whose, { time: NOW, until: NOW + 10 })
    await revocations.revokeBefore(whose, { time: NOW - 500, until: NOW + 1000 })
    expect(isRevoked(revocations, {}, NOW + 9)).toBe(true)
    expect(isRevoked(revocations, {}, NOW + 10)).toBe(false)
    expect(isRevoked(revocations, { iat: NOW - 501 }, NOW + 10)).toBe(true)
  })

  test('is not mixed up with a subject, a client and a session of the same name', async () => {
    const { revocations } = made()
    await revocations.revokeBefore({ iss, sub: 'x' })
    expect(isRevoked(revocations, { sub: 'y', client_id: 'x', azp: 'x', sid: 'x', jti: 'x' })).toBe(
      false,
    )
  })
})

describe('at the bound', () => {
  test('a further revocation is refused, and nothing is evicted', async () => {
    const { revocations } = made({ max: 2 })
    await revocations.revoke(tokenOf('one'))
    await revocations.revokeBefore({ iss, sub: 'bob' })
    await expect(revocations.revoke(tokenOf('three'))).rejects.toThrow(
      new RangeError('revoke: no room for more than 2 entries (option max)'),
    )
    expect(isRevoked(revocations)).toBe(true)
    expect(isRevoked(revocations, { sub: 'bob' })).toBe(true)
    expect(isRevoked(revocations, { jti: 'three' })).toBe(false)
  })

  test('what is revoked already can be revoked again', async () => {
    const { revocations } = made({ max: 1 })
    await revocations.revoke(named)
    await revocations.revoke(named)
    await revocations.revoke({ iss, jti: 'one' })
    expect(isRevoked(revocations, {}, NOW * 2)).toBe(true)
  })

  test('a later time takes the place of an earlier one', async () => {
    const { clock, revocations } = made({ max: 2 })
    await revocations.revokeBefore({ iss, sub: 'ann' })
    await revocations.revokeBefore({ iss, sub: 'ann' }, { time: NOW + 50, until: NOW + 60 })
    await clock.advance(1)
    await revocations.revokeBefore({ iss, sub: 'ann' })
    await clock.advance(100)
    await revocations.revokeBefore({ iss, sub: 'ann' })
    expect(revocations.toSnapshot().entries).toEqual([
      { type: 'issued_before', iss, sub: 'ann', time: NOW + 101 },
    ])
    await revocations.revoke(named)
    revocations.load([
      { type: 'issued_before', iss, sub: 'ann', time: NOW + 200 },
      { type: 'issued_before', iss, sub: 'ann', time: NOW + 150 },
      { type: 'token', iss, jti: 'one' },
    ])
    expect(revocations.toSnapshot().entries).toHaveLength(2)
  })

  test('entries that have lapsed make room', async () => {
    const { clock, revocations } = made({ max: 2 })
    await revocations.revoke(tokenOf('one', NOW + 10))
    await revocations.revokeBefore({ iss, sub: 'bob' }, { until: NOW + 611 })
    await clock.advance(609)
    await expect(revocations.revoke(tokenOf('three'))).rejects.toThrow(RangeError)
    await clock.advance(1)
    await revocations.revoke(tokenOf('three'))
    await expect(revocations.revoke(tokenOf('four'))).rejects.toThrow(RangeError)
    await clock.advance(1)
    await revocations.revoke(tokenOf('four'))
    expect(revocations.toSnapshot().entries).toEqual([
      { type: 'token', ...tokenOf('three') },
      { type: 'token', ...tokenOf('four') },
    ])
  })

  test('what has not lapsed is kept when others make room', async () => {
    const { clock, revocations } = made({ max: 2 })
    await revocations.revoke(named)
    await revocations.revoke(tokenOf('two', NOW + 10))
    await clock.advance(610)
    await revocations.revoke(tokenOf('three'))
    expect(isRevoked(revocations, {}, NOW + 1599)).toBe(true)
  })

  test('the time since the list was made counts, however long the process has run before', async () => {
    const clock = manualClock(NOW)
    await clock.advance(10_000)
    const revocations = localRevocations({ clock, max: 1 })
    await revocations.revoke(tokenOf('one', NOW + 10_010))
    clock.set(NOW + 1_000_000)
    await expect(revocations.revoke(tokenOf('two'))).rejects.toThrow(RangeError)
  })

  test('what has lapsed already takes no room', async () => {
    const { revocations } = made({ max: 1 })
    await revocations.revoke(tokenOf('one'))
    await revocations.revoke(tokenOf('old', NOW - 600))
    await revocations.revokeBefore({ iss, sub: 'bob' }, { until: NOW })
    expect(revocations.toSnapshot().entries).toHaveLength(1)
  })
})

describe('whether there is room', () => {
  const [one, two, three] = ['one', 'two', 'three'].map((jti): RevocationEntry => ({
    type: 'token',
    iss,
    jti,
    exp: NOW + 10,
  })) as [RevocationEntry, RevocationEntry, RevocationEntry]

  test('can be asked before anything is recorded, and nothing is added by it', () => {
    const { revocations } = made({ max: 2 })
    revocations.load([one])
    expect(revocations.hasRoomFor([two])).toBe(true)
    expect(revocations.hasRoomFor(new Set([two, three]))).toBe(false)
    expect(revocations.hasRoomFor([])).toBe(true)
    expect(revocations.toSnapshot().entries).toEqual([one])
  })

  test('counts what takes the place of another, or has lapsed, as nothing', async () => {
    const { clock, revocations } = made({ max: 2 })
    revocations.load([one, two])
    expect(revocations.hasRoomFor([one, one, { ...two, exp: NOW + 20 } as RevocationEntry])).toBe(
      true,
    )
    expect(revocations.hasRoomFor([{ ...three, exp: NOW - 600 } as RevocationEntry])).toBe(true)
    expect(revocations.hasRoomFor([three])).toBe(false)
    await clock.advance(609)
    expect(revocations.hasRoomFor([{ type: 'token', jti: 'four' }])).toBe(false)
    await clock.advance(1)
    expect(revocations.hasRoomFor([{ type: 'token', jti: 'four' }])).toBe(true)
  })

  test('counts several entries of one owner as those that are left of them', async () => {
    const { revocations } = made({ max: 2 })
    await revocations.revokeBefore({ iss, sub: 'ann' }, { time: NOW - 500 })
    const entry = { type: 'issued_before', iss, sub: 'ann', time: NOW, until: NOW + 100 } as const
    expect(revocations.hasRoomFor([entry, entry])).toBe(true)
    expect(revocations.hasRoomFor([entry, { ...entry, sub: 'bob' }])).toBe(false)
  })

  test('is asked with entries alone', () => {
    const { revocations } = made()
    expect(() => revocations.hasRoomFor([{ type: 'session' } as never])).toThrow(
      new TypeError('hasRoomFor: the type of an entry must be token, digest or issued_before'),
    )
  })

  test('is told by the number of entries, too', async () => {
    const { clock, revocations } = made({ max: 2 })
    expect(revocations.size).toBe(0)
    revocations.load([one, two, one])
    await revocations.revokeBefore({ iss, sub: 'ann' }, { until: NOW }) // has lapsed already
    expect(revocations.size).toBe(2)
    await clock.advance(610)
    revocations.load([{ type: 'issued_before', iss, time: NOW }])
    expect(revocations.size).toBe(1)
  })
})

test('what has lapsed is removed on the way, long before the bound', async () => {
  const { clock, revocations } = made()
  for (let count = 0; count < 20_000; count++) {
    if (count % 1000 === 0) await clock.advance(700)
    await revocations.revoke({
      iss: `https://${count % 7}.test`,
      jti: String(count),
      exp: clock.now(),
    })
  }
  expect(revocations.toSnapshot().entries.length).toBeLessThan(4096)
})

test('a clock that is set forward and back again makes nothing be forgotten', async () => {
  const { clock, revocations } = made({ max: 1 })
  await revocations.revoke(named)
  clock.set(NOW + 1_000_000)
  await expect(revocations.revoke({ jti: 'two' })).rejects.toThrow(RangeError)
  clock.set(NOW)
  expect(isRevoked(revocations)).toBe(true)
})

test('a clock that is set back makes nothing be forgotten early', async () => {
  const { clock, revocations } = made({ max: 1 })
  await revocations.revoke(named)
  clock.set(NOW - 1_000_000)
  await clock.advance(2000)
  await expect(revocations.revoke({ jti: 'two' })).rejects.toThrow(RangeError)
})

describe('entries that are read one after the other', () => {
  test('are those of a snapshot', () => {
    const { revocations } = made()
    revocations.load([
      { type: 'token', iss, jti: 'one', exp: NOW + 10 },
      { type: 'digest', digest: 'd'.repeat(43) },
      { type: 'issued_before', iss, sub: 'ann', time: 6 },
    ])
    expect([...revocations.entries()]).toEqual(revocations.toSnapshot().entries)
    expect([...made().revocations.entries()]).toEqual([])
  })

  test('are made when they are asked for, and can be read by two at once', () => {
    const { revocations } = made()
    revocations.load(['one', 'two', 'three'].map((jti) => ({ type: 'token', jti })))
    const [some, others] = [revocations.entries(), revocations.entries()]
    expect(some.next()).toMatchObject({ value: { jti: 'one' } })
    expect(jtisOf(others)).toEqual(['one', 'two', 'three'])
    expect(jtisOf(some)).toEqual(['two', 'three'])
  })

  test('come though others are added and removed meanwhile', async () => {
    const { clock, revocations } = made()
    const lasting = Array.from({ length: 2000 }, (_, at) => `t${at}`)
    revocations.load(
      lasting.flatMap((jti): RevocationEntry[] => [
        { type: 'token', ...tokenOf(jti) },
        { type: 'token', ...tokenOf(`${jti} for a while`, NOW + 1) },
      ]),
    )
    const reading = revocations.entries()
    const read = Array.from({ length: 1000 }, () => jtisOf([reading.next().value])).flat()
    await clock.advance(1000)
    revocations.load(
      Array.from({ length: 2000 }, (_, at): RevocationEntry => ({
        type: 'token',
        jti: `new ${at}`,
      })),
    )
    expect(revocations.size).toBe(4000)
    read.push(...jtisOf(reading))
    expect(new Set(read).size).toBe(read.length)
    const seen = new Set(read)
    expect(lasting.filter((jti) => !seen.has(jti))).toEqual([])
  })
})

describe('a snapshot', () => {
  const entries: readonly RevocationEntry[] = [
    { type: 'token', iss, jti: 'one', exp: NOW + 10.5 },
    { type: 'token', jti: 'two' },
    { type: 'issued_before', iss, time: 5 },
    { type: 'issued_before', iss, sub: 'ann', time: 6, until: NOW + 50 },
    { type: 'issued_before', client_id: 'app', time: 7 },
    { type: 'issued_before', sid: 's1', time: 8.25 },
  ]

  test('has everything, as JSON', () => {
    const { revocations } = made()
    revocations.load(entries)
    const snapshot = revocations.toSnapshot()
    expect(snapshot.version).toBe(1)
    expect(new Set(snapshot.entries)).toEqual(new Set(entries))
    const { revocations: next } = made({ snapshot: JSON.parse(JSON.stringify(snapshot)) as never })
    expect(next.toSnapshot()).toEqual(snapshot)
  })

  test('that is loaded twice is as one that is loaded once', () => {
    const { revocations } = made({ max: entries.length })
    revocations.load(entries)
    revocations.load([...entries, ...entries])
    expect(revocations.toSnapshot().entries).toHaveLength(entries.length)
  })

  test('that does not fit is not loaded at all', () => {
    const { revocations } = made({ max: entries.length })
    revocations.load(entries.slice(0, 1))
    const more: RevocationEntry[] = [...entries, { type: 'token', jti: 'three' }]
    expect(() => revocations.load(more)).toThrow(RangeError)
    expect(revocations.toSnapshot().entries).toEqual(entries.slice(0, 1))
    const snapshot = { version: 1, entries } as const
    expect(() => localRevocations({ snapshot, max: 2 })).toThrow(RangeError)
  })

  test('with an entry that is none is not loaded at all', () => {
    const { revocations } = made()
    expect(() => revocations.load([...entries, { type: 'other' } as never])).toThrow(TypeError)
    expect(revocations.toSnapshot().entries).toEqual([])
  })

  test('may be loaded from whatever can be iterated', () => {
    const { revocations } = made()
    revocations.load(new Set(entries).values())
    expect(revocations.toSnapshot().entries).toHaveLength(entries.length)
  })
})

describe('a listener', () => {
  test('is called after each revocation, when the answer is already another', async () => {
    const { revocations } = made()
    const seen: boolean[] = []
    const end = revocations.subscribe(() => seen.push(isRevoked(revocations)))
    await revocations.revoke({ jti: 'another' })
    await revocations.revokeBefore({ iss, sub: 'ann' })
    revocations.load([])
    end()
    end()
    await revocations.revoke(named)
    expect(seen).toEqual([false, true, true])
  })

  test('is not called for what is refused', async () => {
    const { revocations } = made({ max: 1 })
    await revocations.revoke(named)
    const listener = vi.fn<() => void>()
    revocations.subscribe(listener)
    await expect(revocations.revoke({ jti: 'two' })).rejects.toThrow(RangeError)
    expect(listener).not.toHaveBeenCalled()
  })
})

describe('a listener that fails', () => {
  test.each([
    [
      'throws',
      () => {
        throw new Error('a bug')
      },
    ],
    ['rejects', async () => await Promise.reject(new Error('a bug'))],
  ])('since it %s is a warning, and the others are called', async (_, failing) => {
    const { revocations } = made()
    const other = vi.fn<() => void>()
    // oxlint-disable-next-line typescript/no-misused-promises -- applications do
    revocations.subscribe(failing)
    revocations.subscribe(other)
    const warned = once(process, 'warning')
    await revocations.revoke(named)
    expect(other).toHaveBeenCalledOnce()
    expect(await warned).toMatchObject([{ message: 'a bug' }])
    expect(isRevoked(revocations)).toBe(true)
  })
})

describe('a token without jti', () => {
  const header = { alg: 'opaque' }
  const unnamed = { iss, sub: 'ann', exp: NOW + 1000 }
  const auth = (token: string, more: object = {}) => ({
    claims: { ...unnamed, ...more },
    header,
    token,
  })

  test('is revoked by its digest, and no other token of its user is', async () => {
    const { revocations } = made()
    await revocations.revoke(auth('one'))
    expect(revocations.statusOf(unnamed, NOW, digestOf('one'))).toBe('revoked')
    expect(revocations.statusOf(unnamed, NOW, digestOf('two'))).toBe('valid')
    expect(
      revocations.statusOf({ ...unnamed, iss: 'https://other.test' }, NOW, digestOf('one')),
    ).toBe('valid')
    expect(revocations.size).toBe(1)
  })

  test.each([undefined, null, '', {}, true])('is one with %j as jti', async (jti) => {
    const { revocations } = made()
    await revocations.revoke(auth('one', { jti }))
    expect(revocations.toSnapshot().entries).toEqual([
      { type: 'digest', iss, digest: digestOf('one'), exp: NOW + 1000 },
    ])
    expect(revocations.statusOf({ ...unnamed, jti }, NOW, digestOf('one'))).toBe('revoked')
  })

  test('is not confused with one whose jti is its digest', async () => {
    const { revocations } = made()
    await revocations.revoke(auth('one'))
    const digest = digestOf('one')
    expect(revocations.statusOf({ iss, jti: digest }, NOW, digestOf('two'))).toBe('valid')
    await revocations.revoke({ iss, jti: digestOf('three') })
    expect(revocations.statusOf({ iss }, NOW, digestOf('three'))).toBe('valid')
    expect(revocations.size).toBe(2)
  })

  test('stays revoked in a snapshot, until 600 seconds after its exp, and counts once', async () => {
    const { clock, revocations } = made({ max: 2 })
    await revocations.revoke(auth('one'))
    await revocations.revoke(auth('one', { exp: NOW + 500 }))
    const snapshot = JSON.parse(JSON.stringify(revocations.toSnapshot())) as never
    const next = localRevocations({ clock, snapshot })
    const statusAt = (now: number) => next.statusOf(unnamed, now, digestOf('one'))
    expect([statusAt(NOW + 1599), statusAt(NOW + 1600)]).toEqual(['revoked', 'valid'])
    await revocations.revoke(auth('two', { exp: undefined }))
    await expect(revocations.revoke(auth('three'))).rejects.toThrow(RangeError)
    expect(revocations.hasRoomFor([{ type: 'digest', iss, digest: digestOf('two') }])).toBe(true)
    await clock.advance(1600)
    const lasting = auth('three', { exp: undefined })
    await revocations.revoke(lasting)
    expect(revocations.toSnapshot().entries).toEqual([
      { type: 'digest', iss, digest: digestOf('two') },
      { type: 'digest', iss, digest: digestOf('three') },
    ])
  })

  test('stays revoked when all other entries of its issuer have lapsed', async () => {
    const { clock, revocations } = made({ max: 2 })
    await revocations.revoke(named)
    await revocations.revoke(auth('one', { exp: undefined }))
    await clock.advance(1600)
    await revocations.revoke({ iss: 'https://other.test', jti: 'one' })
    expect(revocations.toSnapshot().entries).toEqual([
      { type: 'digest', iss, digest: digestOf('one') },
      { type: 'token', iss: 'https://other.test', jti: 'one' },
    ])
    expect(revocations.statusOf(unnamed, clock.now(), digestOf('one'))).toBe('revoked')
  })

  test('is a TypeError where somebody asks without the digest, which others then say is valid', async () => {
    const { revocations } = made()
    await revocations.revoke(auth('one'))
    expect(revocations.statusOf(unnamed, NOW)).toBe('valid')
    const message = 'revoke: the token has no jti, and statusOf is called without its digest'
    await expect(revocations.revoke(auth('two'))).rejects.toThrow(message)
    await expect(revocations.revoke(auth('two'))).rejects.toThrow(TypeError)
    // One with a jti needs none.
    await revocations.revoke(auth('two', { jti: 'two' }))
    expect(revocations.size).toBe(2)
  })
})

describe('a mistake is a TypeError', () => {
  const { revocations } = made()

  test.each([
    [undefined, 'revoke: the token must be an object'],
    ['a.b.c', 'revoke: the token must be an object'],
    [{}, 'revoke: the token has no jti, so it cannot be revoked by itself: see revokeBefore'],
    [
      Object.create({ jti: 'one' }),
      'revoke: the token has no jti, so it cannot be revoked by itself: see revokeBefore',
    ],
    [{ jti: ['one'] }, 'revoke: jti must be a string that is not empty'],
    [
      { token: '', header: {}, claims: {} },
      'revoke: the token has no jti, so it cannot be revoked by itself: see revokeBefore',
    ],
    [{ token: 'a.b.c', header: {}, claims: { exp: 1e12 } }, 'revoke: exp must be in seconds'],
    [{ token: 'a.b.c', header: {}, claims: { iss: 1 } }, 'revoke: iss must be a string'],
    [
      { iss, digest: digestOf('one') },
      'revoke: unknown member "digest", known are iss, jti, exp; an Auth is taken as a whole',
    ],
    [{ issuer: iss, jti: 'one' }, unknownMember('issuer')],
    [{ iss, jti: 'one', expires: NOW }, unknownMember('expires')],
    [claims, unknownMember('sub')],
    [{ token: 'a.b.c', claims: {} }, unknownMember('token')],
    [{ claims, header: {}, token: 1 }, unknownMember('claims')],
    [{ iss, jti: 'one', exp: NOW * 1000 }, 'revoke: exp must be in seconds'],
    [{ iss, jti: 'one', exp: 1e12 }, 'revoke: exp must be in seconds'],
    [
      { token: 'stub', header: {}, claims: { ...claims, exp: NOW * 1000 } },
      'revoke: exp must be in seconds',
    ],
    [{ jti: '' }, 'revoke: jti must be a string that is not empty'],
    [{ jti: 'one', iss: 5 }, 'revoke: iss must be a string'],
    [
      { jti: 'one', exp: '5' },
      'revoke: exp must be a number of seconds since 1970-01-01T00:00:00Z',
    ],
    [
      { jti: 'one', exp: Number.NaN },
      'revoke: exp must be a number of seconds since 1970-01-01T00:00:00Z',
    ],
  ])('revoke(%o)', async (token, message) => {
    await expect(revocations.revoke(token as never)).rejects.toThrow(new TypeError(message))
  })

  test.each([
    [undefined, {}, 'revokeBefore: options must be an object'],
    [
      { subject: 'ann' },
      {},
      'revokeBefore: unknown option "subject", known are iss, sub, client_id, sid',
    ],
    [
      { iss, sub: undefined },
      {},
      'revokeBefore: sub is undefined: does the token have that claim?',
    ],
    [{ iss, sub: '' }, {}, 'revokeBefore: sub must be a string that is not empty'],
    [
      { iss, sub: 'ann', sid: 's' },
      {},
      'revokeBefore: name one of sub, client_id and sid, or none for all tokens',
    ],
    [{ iss }, { since: 1 }, 'revokeBefore: unknown option "since", known are time, until'],
    [
      { iss },
      { time: Number.NaN },
      'revokeBefore: time must be a number of seconds since 1970-01-01T00:00:00Z',
    ],
    [{ iss }, { time: NOW * 1000 }, 'revokeBefore: time must be in seconds'],
    [{ iss }, { until: NOW * 1000 }, 'revokeBefore: until must be in seconds'],
    [{ iss }, { until: 1e12 }, 'revokeBefore: until must be in seconds'],
    [claims, {}, 'revokeBefore: unknown option "jti", known are iss, sub, client_id, sid'],
    [
      { iss },
      { until: new Date() },
      'revokeBefore: until must be a number of seconds since 1970-01-01T00:00:00Z',
    ],
  ])('revokeBefore(%o, %o)', async (whose, options, message) => {
    await expect(revocations.revokeBefore(whose as never, options as never)).rejects.toThrow(
      new TypeError(message),
    )
  })

  test.each([
    [{ maximum: 1 }, 'unknown option "maximum", known are max, snapshot, clock'],
    [{ max: 0 }, 'max must be a number of entries from 1 to 10000000'],
    [{ max: Infinity }, 'max must be a number of entries from 1 to 10000000'],
    [{ snapshot: [] }, 'snapshot must be what toSnapshot has returned: { version: 1, entries }'],
    [
      { snapshot: { version: 2, entries: [] } },
      'snapshot must be what toSnapshot has returned: { version: 1, entries }',
    ],
    [{ snapshot: { version: 1, entries: [null] } }, 'an entry must be an object'],
    [{ clock: Date }, 'clock must have the functions now, monotonic and after'],
  ])('localRevocations(%o)', (options, message) => {
    expect(() => localRevocations(options as never)).toThrow(
      new TypeError(`localRevocations: ${message}`),
    )
  })

  test.each([
    [{ type: 'session' }, 'load: the type of an entry must be token, digest or issued_before'],
    [
      { type: 'token' },
      'load: the token has no jti, so it cannot be revoked by itself: see revokeBefore',
    ],
    [{ type: 'digest', iss }, 'load: digest must be a SHA-256 digest in base64url'],
    [
      { type: 'digest', iss, digest: `${digestOf('one')}=` },
      'load: digest must be a SHA-256 digest in base64url',
    ],
    [{ type: 'digest', iss: 1, digest: digestOf('one') }, 'load: iss must be a string'],
    [{ type: 'issued_before', iss }, 'load: time must be stated'],
    [
      { type: 'issued_before', iss, subject: 'ann', time: 1 },
      'load: unknown option "subject", known are iss, sub, client_id, sid',
    ],
  ])('load([%o])', (entry, message) => {
    expect(() => revocations.load([entry as never])).toThrow(new TypeError(message))
  })

  test('subscribe() without a function', () => {
    expect(() => revocations.subscribe('change' as never)).toThrow(
      new TypeError('subscribe: the listener must be a function'),
    )
  })
})

import { describe, expect, test } from 'vitest'

import { createChronicle } from './history.ts'
import { type Call, type Cause, judge, type Kind } from './oracle.ts'

const NOW = 1_000_000

/** A request that was sent at NOW and answered 0.1 s later. */
function call(kind: Kind, status: number | undefined, more: Partial<Call> = {}): Call {
  const published = [{ from: NOW - 600, until: undefined }]
  return { kind, status, sent: NOW, answered: NOW + 0.1, published, ...more }
}

/** Something was disturbed, and that ended so many seconds before NOW. */
function after(seconds: number, track: Cause, worker?: string) {
  let time = NOW - seconds - 1
  const chronicle = createChronicle(() => time)
  const end = chronicle.begin(track, worker)
  time = NOW - seconds
  end()
  return chronicle.at('koa 1')
}

const calm = createChronicle(() => NOW).at('koa 1')
const left = (seconds: number) => ({ published: [{ from: NOW - 600, until: NOW - seconds }] })
const came = (seconds: number) => ({ published: [{ from: NOW - seconds, until: undefined }] })

describe('with nothing disturbed', () => {
  test.each<[string, Call, string]>([
    ['genuine is accepted', call('genuine', 200), 'right'],
    ['genuine is refused', call('genuine', 401), 'wrong'],
    ['genuine of a key of this moment is refused', call('genuine', 401, came(19)), 'outage'],
    ['genuine of a key of lately is refused', call('genuine', 401, came(21)), 'wrong'],
    ['genuine gets 503', call('genuine', 503), 'wrong'],
    ['there is no answer', call('genuine', undefined), 'wrong'],
    ['another status', call('genuine', 500), 'wrong'],
    ['forged is accepted', call('forged', 200), 'wrong'],
    ['forged is refused', call('forged', 401), 'right'],
    ['expired is accepted', call('expired', 200), 'wrong'],
    ['foreign is accepted', call('foreign', 200), 'wrong'],
    ['revoked lately is accepted', call('revoked', 200, { revokedAt: NOW - 9 }), 'right'],
    ['revoked is accepted', call('revoked', 200, { revokedAt: NOW - 11 }), 'wrong'],
    ['revoked is refused', call('revoked', 401, { revokedAt: NOW - 11 }), 'right'],
    ['the key has left lately', call('withdrawn', 200, left(30)), 'right'],
    ['the key has left', call('withdrawn', 200, left(40)), 'wrong'],
    ['the key has left, and it is refused', call('withdrawn', 401, left(1)), 'right'],
    [
      'early, and now it would be known',
      call('genuine', 401, { ...came(30), isEarly: true }),
      'outage',
    ],
    ['early, long ago', call('genuine', 401, { ...came(50), isEarly: true }), 'wrong'],
    ['the key is not published yet', call('early', 401, { published: [] }), 'right'],
  ])('%s', (_title, made, verdict) => {
    expect(judge(made, calm).verdict).toBe(verdict)
  })
})

describe('after something', () => {
  test.each<[string, Call, ReturnType<typeof after>, string]>([
    ['503 after an outage of the issuer', call('genuine', 503), after(44, 'issuer'), 'outage'],
    ['503 long after it', call('genuine', 503), after(46, 'issuer'), 'wrong'],
    ['503 after the store was away', call('genuine', 503), after(19, 'store'), 'outage'],
    ['503 long after that', call('genuine', 503), after(21, 'store'), 'wrong'],
    ['503 after log-ins failed', call('genuine', 503), after(1, 'logins'), 'wrong'],
    ['503 after the keys changed', call('genuine', 503), after(1, 'keys'), 'wrong'],
    ['503 after its clock was set', call('genuine', 503), after(9, 'clock', 'koa 1'), 'outage'],
    [
      '503 after the clock of another was set',
      call('genuine', 503),
      after(9, 'clock', 'koa 2'),
      'wrong',
    ],
    [
      'silence of one that was replaced',
      call('genuine', undefined),
      after(4, 'fleet', 'koa 1'),
      'outage',
    ],
    ['silence of another', call('genuine', undefined), after(4, 'fleet', 'koa 2'), 'wrong'],
    ['503 while the machine was busy', call('genuine', 503), after(9, 'machine'), 'outage'],
    ['503 long after that it was busy', call('genuine', 503), after(11, 'machine'), 'wrong'],
    ['refused while it was busy', call('genuine', 401), after(1, 'machine'), 'wrong'],
    ['a new key in an outage', call('genuine', 401, came(40)), after(5, 'issuer'), 'outage'],
    ['an old key after an outage', call('genuine', 401), after(5, 'issuer'), 'wrong'],
    [
      'a key that left in an outage',
      call('withdrawn', 200, left(60)),
      after(30, 'issuer'),
      'right',
    ],
    ['a key that left before it', call('withdrawn', 200, left(90)), after(30, 'issuer'), 'wrong'],
    ['forged in an outage', call('forged', 200), after(1, 'issuer'), 'wrong'],
    [
      'revoked while the store was away',
      call('revoked', 200, { revokedAt: NOW - 11 }),
      after(1, 'store'),
      'wrong',
    ],
  ])('%s', (_title, made, history, verdict) => {
    expect(judge(made, history).verdict).toBe(verdict)
  })
})

import { expect, test } from 'vitest'

import { RevocationStoreError } from '../../src/store/errors.ts'
import { hasMoved, type Primary, primaryIn, primaryOf } from '../../src/store/sentinel-answers.ts'

const A: Primary = { host: '10.0.0.1', port: 6379, epoch: 1 }
const B: Primary = { host: '10.0.0.2', port: 6379, epoch: 2 }
const GONE = new RevocationStoreError('unreachable', 'ECONNREFUSED')
const UNNAMED = new RevocationStoreError('refused', 'no sentinel knows a primary of that name')

test.each([
  ['none has answered', [], 3, 'wait'],
  ['one of three', [A], 3, 'wait'],
  ['two of three agree', [A, A], 3, A],
  ['two of three: the later fail-over counts', [B, A], 3, B],
  ['two of three, the other way round', [A, B], 3, B],
  ['one, and one that is gone', [A, GONE], 3, 'wait'],
  ['one, and two that are gone', [GONE, A, GONE], 3, A],
  ['two of one fail-over that name two: the first counts', [A, { ...B, epoch: 1 }], 3, A],
  ['the only one', [A], 1, A],
  ['one of two', [A], 2, 'wait'],
  ['all are gone', [GONE, GONE, GONE], 3, GONE],
  ['all but one are gone, and that one knows no such name', [GONE, UNNAMED, GONE], 3, UNNAMED],
  ['two know no such name, one does', [UNNAMED, B, UNNAMED], 3, B],
] as const)('of several sentinels: %s', (_title, answers, asked, expected) => {
  expect(primaryOf(answers, asked, false)).toBe(expected)
})

const NAMED: Primary = { ...A, host: 'redis-0.redis' }

test.each([
  ['it is named by one, and a second way by two', [NAMED, NAMED, A], 3, false, A],
  ['it may be named by the last one', [NAMED, NAMED], 3, false, 'wait'],
  ['it is named by nobody: an operator has changed it', [NAMED, NAMED, NAMED], 3, false, NAMED],
  ['it is named by nobody who answers', [NAMED, GONE, NAMED], 3, false, NAMED],
  ['nobody waits any longer for who may name it', [NAMED, NAMED], 3, true, NAMED],
  ['it is named by the only one', [A], 1, false, A],
  ['a later fail-over counts at once', [B, NAMED], 3, false, B],
  [
    'an earlier one never',
    [
      { ...B, epoch: 0 },
      { ...B, epoch: 0 },
    ],
    3,
    false,
    { ...B, epoch: 0 },
  ],
] as const)('of a primary that is connected to: %s', (_title, answers, asked, isLate, expected) => {
  expect(primaryOf(answers, asked, isLate, A)).toEqual(expected)
})

test('nobody waits any longer: one answer must do, and no answer is a time-out', () => {
  expect(primaryOf([A], 3, true)).toBe(A)
  expect(primaryOf([GONE], 3, true)).toBe(GONE)
  expect(primaryOf([], 3, true)).toMatchObject({
    reason: 'timeout',
    detail: 'no sentinel answered',
  })
})

test.each([
  ['the same', A, A, false],
  ['another address of a later fail-over', A, B, true],
  ['another address of an earlier fail-over', B, A, false],
  ['another address, without a fail-over: an operator has changed it', A, { ...B, epoch: 1 }, true],
  ['the same address after a fail-over there and back', A, { ...A, epoch: 3 }, false],
  ['another port', A, { ...A, port: 6380 }, true],
])('a connection is left: %s', (_title, known, found, expected) => {
  expect(hasMoved(known, found)).toBe(expected)
})

const REPLY = ['name', 'main', 'ip', '10.0.0.1', 'port', '6379', 'config-epoch', '1']
const replaced = (from: string, to: unknown) => REPLY.map((each) => (each === from ? to : each))

test('a reply of a sentinel is read', () => {
  expect(primaryIn(REPLY)).toEqual(A)
  expect(primaryIn(replaced('10.0.0.1', 'fe80::1%eth0'))).toMatchObject({ host: 'fe80::1%eth0' })
  expect(primaryIn(replaced('10.0.0.1', 'redis-0.redis'))).toMatchObject({ host: 'redis-0.redis' })
  expect(primaryIn(replaced('6379', '65535'))).toMatchObject({ port: 65_535 })
  expect(primaryIn(['ip', 'a', 'port', '1', 'config-epoch', '0'])).toMatchObject({ port: 1 })
})

test.each([
  ['no list', null],
  ['no address', replaced('ip', 'other')],
  ['an empty address', replaced('10.0.0.1', '')],
  ['an address with a path', replaced('10.0.0.1', '10.0.0.1/x')],
  ['an address with credentials', replaced('10.0.0.1', 'a@b')],
  ['no port', replaced('6379', '')],
  ['port 0, of a primary with TLS alone whose sentinels do not know', replaced('6379', '0')],
  ['a port too large', replaced('6379', '65536')],
  ['a port that is no text', replaced('6379', 6379)],
  ['a port that goes on', replaced('6379', '6379x')],
  ['an epoch that is no number', replaced('1', '-1')],
])('a reply that cannot be read is refused: %s', (_title, reply) => {
  expect(() => primaryIn(reply)).toThrow(
    expect.objectContaining({ reason: 'unsupported' }) as Error,
  )
})

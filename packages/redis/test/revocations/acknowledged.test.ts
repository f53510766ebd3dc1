import { expect, test } from 'vitest'

import { createAcknowledged } from '../../src/revocations/acknowledged.ts'
import { tokenRecord } from './processes.ts'

// What this process has appended, and looks for in what it reads.

const at = (monotonic: number) => ({ wall: monotonic, monotonic })
const RECORD = tokenRecord('a')

/** In which of so many looks something lacked. */
function looksOf(acknowledged: ReturnType<typeof createAcknowledged>, count: number) {
  const looks = Array.from({ length: count }, (_, look) => look + 1)
  return looks.filter(() => acknowledged.look(at(1e6)))
}

test('what was read lacks no more; another record with its id is another one', () => {
  const acknowledged = createAcknowledged()
  acknowledged.add('1-0', RECORD, at(1))
  acknowledged.read([{ id: '1-0', fields: tokenRecord('b') }])
  acknowledged.read([{ id: '2-0', fields: RECORD }])
  expect(acknowledged.look(at(2))).toBe(true)
  acknowledged.read([{ id: '1-0', fields: RECORD }])
  expect(looksOf(acknowledged, 4)).toEqual([])
})

test.each([
  ['before a report was asked for, must be in it', 2, true],
  ['at the same moment, may be after it', 1, false],
  ['later, is after it', 0, false],
])('what was appended %s', (_, askedAt, isLacking) => {
  const acknowledged = createAcknowledged()
  acknowledged.add('1-0', RECORD, at(1))
  expect(acknowledged.look(at(askedAt))).toBe(isLacking)
})

test('it is looked for after twice as long each time, and no more after the 1024th', () => {
  const acknowledged = createAcknowledged()
  acknowledged.add('1-0', RECORD, at(1))
  expect(looksOf(acknowledged, 5000)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024])
})

test('of more than 10,000 the oldest are forgotten', () => {
  const acknowledged = createAcknowledged()
  for (let nth = 0; nth <= 10_000; nth += 1) acknowledged.add(`${nth}-0`, RECORD, at(1))
  const readFrom = (first: number) => {
    const ids = Array.from({ length: 10_001 - first }, (_, nth) => `${first + nth}-0`)
    acknowledged.read(ids.map((id) => ({ id, fields: RECORD })))
  }
  readFrom(2)
  expect(acknowledged.look(at(2))).toBe(true)
  readFrom(1)
  expect(looksOf(acknowledged, 4)).toEqual([])
})

import { describe, expect, test } from 'vitest'

import { isPeerList, peerList } from '../../src/possession/peer-list.ts'

describe('isPeerList', () => {
  test.each([
    [['10.0.0.1']],
    [['10.0.0.0/8', '192.168.0.0/16']],
    [['::1', 'fd00::/8']],
    [['::ffff:10.0.0.1']],
    [['0.0.0.0/1', '128.0.0.0/1']],
  ])('takes %j', (list) => {
    expect(isPeerList(list)).toBeUndefined()
  })

  test.each([
    ['10.0.0.1'],
    [undefined],
    [[]],
    [['proxy.example']],
    [['10.0.0.1', '']],
    [[10]],
    [['10.0.0.0/33']],
    [['::1/129']],
    [['10.0.0.0/']],
    [['10.0.0.0/8/8']],
    [['010.0.0.1']],
    [['10.0.0.1:443']],
    [['fe80::1%eth0']],
    [['fe80::1%10.0.0.1']],
    [['8/10.0.0.1']],
    [[['10.0.0.1']]],
    [[' 10.0.0.1']],
  ])('does not take %j', (list) => {
    expect(isPeerList(list)).toMatch(/^must (?:be a )?list /)
  })

  test.each(['0.0.0.0/0', '::/0', '::/64', '::ffff:0:0/96'])(
    'does not take %s, which is everybody',
    (block) => {
      expect(isPeerList(['10.0.0.1', block])).toBe(`must not list every peer, as "${block}" does`)
    },
  )
})

describe('peerList', () => {
  const isListed = peerList(['10.0.0.0/8', '192.168.1.1', 'fd00::/8', '::ffff:172.16.0.1'])

  test.each([
    ['10.255.0.1', true],
    ['11.0.0.1', false],
    ['192.168.1.1', true],
    ['192.168.1.2', false],
    ['::ffff:10.0.0.1', true],
    ['::ffff:a00:1', true],
    ['::ffff:11.0.0.1', false],
    ['172.16.0.1', true],
    ['fd12::1', true],
    ['fe80::1%eth0', false],
    ['', false],
    ['10.0.0.1, 11.0.0.1', false],
    [undefined, false],
    [['10.0.0.1'], false],
  ])('of %j says %j', (address, expected) => {
    expect(isListed(address)).toBe(expected)
  })

  test('an address with a zone is that address', () => {
    expect(peerList(['fe80::/10'])('fe80::1%eth0')).toBe(true)
  })
})

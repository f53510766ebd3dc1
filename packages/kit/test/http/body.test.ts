import { Readable } from 'node:stream'

import { describe, expect, test } from 'vitest'

import { discardBody, readBody } from '../../src/http/body.ts'

describe('a body is read as it came', () => {
  const MAX = 65_536

  test.each<[string, readonly number[]]>([
    ['nothing', []],
    ['empty parts', [0, 0]],
    ['one octet', [1]],
    ['as much as has room at first', [4096]],
    ['one octet more', [4096, 1]],
    ['one part of that', [4097]],
    ['octet by octet', Array<number>(5000).fill(1)],
    ['a small part, and a large one', [1, 60_000]],
    ['parts of a socket', [1400, 16_384, 16_384, 16_384, 9000]],
    ['all that may be', [65_535, 1]],
  ])('%s', async (_, sizes) => {
    let at = 0
    const parts = sizes.map((size) => Uint8Array.from({ length: size }, () => at++ % 251))
    expect(await readBody(Readable.from(parts), undefined, MAX)).toEqual(Buffer.concat(parts))
  })

  test.each<[string, readonly number[]]>([
    ['one part', [65_537]],
    ['a large part, and an octet', [65_536, 1]],
    ['parts that grow', [4096, 4096, 57_344, 1]],
  ])('but nothing of one that is an octet too long: %s', async (_, sizes) => {
    const parts = sizes.map((size) => new Uint8Array(size))
    expect(await readBody(Readable.from(parts), undefined, MAX)).toBeUndefined()
  })
})

describe('a body that is not wanted', () => {
  test('a stream of Node is ended', () => {
    const body = Readable.from([])
    discardBody(Object.defineProperty(new Response(), 'body', { value: body }))
    expect(body.destroyed).toBe(true)
  })

  test('no body is nothing to drop', () => {
    expect(() => {
      discardBody(new Response(null))
    }).not.toThrow()
  })
})

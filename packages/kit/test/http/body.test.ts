import { Readable } from 'node:stream'

import { describe, expect, test } from 'vitest'

import { discardBody } from '../../src/http/body.ts'

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

import { inspect } from 'node:util'

import { expect, test } from 'vitest'

import { TokenClientError } from '../src/errors.ts'

const error = new TokenClientError('service_unavailable', 'down', { status: 503, retryAfter: 3 })

test('an error says its code, and what is known besides', () => {
  expect(error).toBeInstanceOf(Error)
  expect(error).toMatchObject({
    name: 'TokenClientError',
    code: 'service_unavailable',
    message: 'down',
    status: 503,
    retryAfter: 3,
  })
})

test('what is not known is undefined', () => {
  const { status, retryAfter, cause } = new TokenClientError('aborted', 'closed')
  expect([status, retryAfter, cause]).toEqual([undefined, undefined, undefined])
})

test('as JSON it is what it says, without its stack', () => {
  expect(JSON.parse(JSON.stringify(error))).toEqual({
    name: 'TokenClientError',
    code: 'service_unavailable',
    message: 'down',
    status: 503,
    retryAfter: 3,
  })
})

test('inspected it begins with its name', () => {
  expect(inspect(error)).toMatch(/^TokenClientError: down\n/)
})

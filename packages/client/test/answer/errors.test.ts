import { inspect } from 'node:util'

import { expect, test } from 'vitest'

import { TokenClientError } from '../../src/answer/errors.ts'

const error = new TokenClientError('service_unavailable', 'down', {
  responseStatus: 503,
  retryAfter: 3,
})

test('an error says its code, and what is known besides', () => {
  expect(error).toBeInstanceOf(Error)
  expect(error).toMatchObject({
    name: 'TokenClientError',
    code: 'service_unavailable',
    message: 'down',
    responseStatus: 503,
    retryAfter: 3,
  })
})

test('what is not known is undefined', () => {
  const { responseStatus, retryAfter, cause } = new TokenClientError('aborted', 'closed')
  expect([responseStatus, retryAfter, cause]).toEqual([undefined, undefined, undefined])
})

test('as JSON it is what it says, without its stack', () => {
  expect(JSON.parse(JSON.stringify(error))).toEqual({
    name: 'TokenClientError',
    code: 'service_unavailable',
    message: 'down',
    responseStatus: 503,
    retryAfter: 3,
  })
})

test('inspected it begins with its name', () => {
  expect(inspect(error)).toMatch(/^TokenClientError: down\n/)
})

test.each(['status', 'statusCode', 'expose', 'headers'])(
  'it has no %s, which a web framework would answer its own caller with',
  (name) => {
    expect(name in error).toBe(false)
    expect(error.toJSON()).not.toHaveProperty(name)
  },
)

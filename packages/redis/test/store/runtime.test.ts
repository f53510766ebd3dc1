import { expect, test } from 'vitest'

import { checkRuntime } from '../../src/store/runtime.ts'

const FAULT =
  'TypeError: redisRevocations: Cloudflare Workers end a connection with the request that opened it, so use another'

test.each([
  ['Node.js/24', undefined],
  ['Bun/1.4.4', undefined],
  ['Deno/2.9.6', undefined],
  [undefined, undefined],
  ['Cloudflare-Workers', FAULT],
])('on a runtime that calls itself %s: %s', (userAgent, fault) => {
  let found: string | undefined
  try {
    checkRuntime('redisRevocations', 'another', userAgent)
  } catch (error) {
    found = String(error)
  }
  expect(found).toBe(fault)
})

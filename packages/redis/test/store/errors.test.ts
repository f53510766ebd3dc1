import { expect, test } from 'vitest'

import { RevocationStoreError, storeError } from '../../src/store/errors.ts'

const coded = (code: string) => Object.assign(new Error('connect 10.0.0.7'), { code })

test.each([
  [coded('ECONNREFUSED'), 'unreachable', 'ECONNREFUSED'],
  [coded('DEPTH_ZERO_SELF_SIGNED_CERT'), 'unreachable', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  [new Error('Socket closed unexpectedly'), 'unreachable', 'no connection'],
  [undefined, 'unreachable', 'no connection'],
  [new Error("OOM command not allowed when used memory > 'maxmemory'."), 'out_of_memory', 'OOM'],
  [new Error('ERR no such key'), 'no_stream', 'create'],
  [new Error('WRONGPASS invalid username-password pair'), 'refused', 'password is wrong'],
  [new Error("NOPERM User ann has no permissions to run 'xadd'"), 'refused', 'lacks a permission'],
  [new Error("READONLY You can't write"), 'refused', 'it is a replica'],
  [new Error("ERR unknown command 'XADD', with args beginning with: 'secret'"), 'refused', 'ERR'],
  [new Error('CONSTRUCTOR x'), 'refused', 'CONSTRUCTOR'],
])('%s is %s', (thrown, reason, text) => {
  const error = storeError(thrown)
  expect(error.reason).toBe(reason)
  expect(error.message).toContain(text)
  expect(error.message).not.toMatch(/10\.0\.0\.7|secret|ann/)
  expect(error.cause).toBeUndefined()
})

test('what is one already stays as it is', () => {
  const error = new RevocationStoreError('full')
  expect(storeError(error)).toBe(error)
})

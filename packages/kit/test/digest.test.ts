import * as platform from 'node:crypto'

import { expect, test, vi } from 'vitest'

import { sha256 } from '../src/digest.ts'

vi.resetModules()
vi.doMock('node:crypto', () => ({ ...platform, hash: undefined }))
const { sha256: sha256WithoutHash } = await import('../src/digest.ts')

/** With the call that some platforms lack, and without it. */
const readers = [sha256, sha256WithoutHash]

/** FIPS 180-4, appendix B of its first edition; the others by `openssl dgst -sha256`. */
test.each<[string, string | Uint8Array, string]>([
  ['a text', 'abc', 'ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0'],
  ['octets', Buffer.from('abc'), 'ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0'],
  ['nothing', '', '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU'],
  ['a text as UTF-8', 'é', 'SplVfkAzw1Od4utlRyAXytX5VX96BiWgnxw_biumnEw'],
])('SHA-256 in base64url of %s', (_, data, digest) => {
  expect(readers.map((read) => read(data))).toEqual([digest, digest])
})

test('that of a part of a larger buffer are of that part alone', () => {
  const part = Buffer.from('xabcx').subarray(1, 4)
  for (const read of readers) {
    expect(read(part)).toBe('ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0')
  }
})

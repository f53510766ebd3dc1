import { expect, test } from 'vitest'

import { closeUnread } from '../../src/http.ts'

test.each<[complete: boolean, version: number, set: readonly string[]]>([
  [false, 1, ['Connection: close']],
  [true, 1, []],
  [false, 2, []],
  [true, 2, []],
])('a body that is complete: %s, over HTTP/%s: sets %j', (complete, httpVersionMajor, set) => {
  const fields: string[] = []
  const response = { setHeader: (name: string, value: string) => fields.push(`${name}: ${value}`) }
  closeUnread({ complete, httpVersionMajor }, response as never)
  expect(fields).toEqual(set)
})

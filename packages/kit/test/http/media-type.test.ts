import { expect, test } from 'vitest'

import { mediaTypeOf } from '../../src/http/media-type.ts'

test.each<[string, string | null | undefined, string]>([
  ['one alone', 'application/json', 'application/json'],
  ['one with a parameter', 'application/json; charset=utf-8', 'application/json'],
  ['one with a parameter that has another in it', 'text/html; x="a;application/json"', 'text/html'],
  ['one in capitals', 'Application/JSON', 'application/json'],
  ['one between white space', ' \tapplication/json \t;charset=utf-8', 'application/json'],
  ['two, which are none', 'application/json, text/html', 'application/json, text/html'],
  ['a parameter alone', ';charset=utf-8', ''],
  ['an empty one', '', ''],
  ['none', null, ''],
  ['none in a record of headers', undefined, ''],
])('the media type of a body is read from %s', (_, contentType, type) => {
  expect(mediaTypeOf(contentType)).toBe(type)
})

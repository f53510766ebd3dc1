import { describe, expect, test } from 'vitest'

import { isHarmlessJws, parseHarmlessObject } from '../../src/service/harmless-json.ts'

const encode = (text: string) => Buffer.from(text).toString('base64url')

describe('an object', () => {
  test.each(['{}', '{"a":"\\n:","b":["\\u0062",1]}', String.raw`{"a":"\"","b":{"c":[]}}`])(
    'is read: %s',
    (text) => {
      expect(parseHarmlessObject(text)).toEqual(JSON.parse(text))
      expect(isHarmlessJws(`${encode(text)}.${encode(text)}.AAAA`)).toBe(true)
    },
  )

  test.each([
    { name: 'an escape in a name', text: String.raw`{"\u0061lg":1}` },
    { name: 'white space behind it', text: '{"a":1,"b\\"" \t\r\n:2}' },
    { name: 'an escape in an inner name', text: String.raw`{"a":{"\\u00":1}}` },
    { name: '1001 levels', text: `{"a":${'['.repeat(1000)}${']'.repeat(1000)}}` },
  ])('with $name is read by nobody', ({ text }) => {
    expect(parseHarmlessObject(text)).toBeUndefined()
    expect(isHarmlessJws(`${encode(text)}.${encode('{}')}.AAAA`)).toBe(false)
    expect(isHarmlessJws(`${encode('{}')}.${encode(text)}.AAAA`)).toBe(false)
  })

  test.each(['[]', 'null', '"a"', '1', '', '{'])('is not %j', (text) => {
    expect(parseHarmlessObject(text)).toBeUndefined()
  })
})

import { describe, expect, test } from 'vitest'

import { freshnessLifetime, retryAfter } from '../../src/http/caching.ts'
import type { FetchResponse } from '../../src/http/exchange.ts'

const ENDLESS = '9'.repeat(400)

describe('the lifetime that an answer announces', () => {
  test.each<[string, string | null, string | null, number | undefined]>([
    ['none', null, null, undefined],
    ['an age alone', null, '200', undefined],
    ['nothing in the field', '', null, undefined],
    ['white space', ' \t ', null, undefined],
    ['empty members', ' ,, ,', null, undefined],
    ['directives of other kinds', 'public, must-revalidate', null, undefined],
    ['a lifetime', 'max-age=1200', null, 1200],
    ['a lifetime among others', 'public, max-age=1200, must-revalidate', null, 1200],
    ['a lifetime between empty members', ', max-age=1200 ,,', null, 1200],
    ['a lifetime in quotes', 'max-age="1200"', null, 1200],
    ['a lifetime in capitals', 'MAX-AGE=1200', null, 1200],
    ['a lifetime of 0', 'max-age=0', null, 0],
    ['a lifetime, less the age', 'max-age=1200', '200', 1000],
    ['a lifetime that is spent', 'max-age=60', '4000', 0],
    ['a lifetime that has no end', `max-age=${ENDLESS}`, null, 2 ** 31],
    ['two that have no end', `max-age=${ENDLESS}`, ENDLESS, 0],
    ['the lifetime twice', 'max-age=1200, max-age=1200', null, 1200],
    ['two lifetimes, the longer first', 'max-age=1200, max-age=60', null, 0],
    ['two lifetimes, the shorter first', 'max-age=60, max-age=1200', null, 0],
    ['a lifetime, and one that is no number', 'max-age=1200, max-age=long', null, 0],
    ['a lifetime that is no number', 'max-age=long', null, 0],
    ['a lifetime that is a number and more', 'max-age=1200s', null, 0],
    ['a lifetime below 0', 'max-age=-1', null, 0],
    ['a lifetime with a fraction', 'max-age=1.5', null, 0],
    ['a lifetime without a value', 'max-age', null, 0],
    ['a lifetime with an empty value', 'max-age=', null, 0],
    ['a lifetime with an empty value in quotes', 'max-age=""', null, 0],
    ['white space around the equals sign', 'max-age = 1200', null, 0],
    ['semicolons for commas', 'public; max-age=1200', null, 0],
    ['a quote that does not end', 'private="x, max-age=1200', null, 0],
    ['something behind a quote', 'private="x"y, max-age=1200', null, 0],
    ['a member without a name', '=5, max-age=1200', null, 0],
    ['characters that no directive has', 'max-age=1200, \u00E4', null, 0],
    ['no-store', 'no-store', null, 0],
    ['no-store in capitals, beside a lifetime', 'max-age=1200, No-Store', null, 0],
    ['no-cache beside a lifetime', 'max-age=1200, no-cache', null, 0],
    ['no-cache for some fields', 'no-cache="set-cookie", max-age=1200', null, 0],
    ['a directive that only ends like no-store', 'max-age=1200, x-no-store', null, 1200],
    ['a directive that only begins like no-store', 'max-age=1200, no-store-x', null, 1200],
    ['that of shared caches, which is not meant', 's-maxage=1200', null, undefined],
    ['directives in quotes', 'private="max-age=5, no-store"', null, undefined],
    ['directives in quotes, and a lifetime', 'private="a, no-store", max-age=1200', null, 1200],
    ['an escaped quote in quotes', String.raw`x="\", no-store", max-age=1200`, null, 1200],
    ['two fields, as fetch joins them', 'public, max-age=1200', '5, 7', 1195],
    ['an age that is no number', 'max-age=1200', 'old', 1200],
    ['an age below 0', 'max-age=1200', '-200', 1200],
    ['an age with something behind it', 'max-age=1200', '200s', 1200],
    ['an age with white space around it', 'max-age=1200', ' 200 ', 1000],
    ['an empty age', 'max-age=1200', '', 1200],
  ])('%s', (_title, cacheControl, age, seconds) => {
    expect(freshnessLifetime(cacheControl, age)).toBe(seconds)
  })

  test.each([
    ['a control character at its end', 'a'.repeat(1_000_000) + '\u0000'],
    ['a text without an end', `x="${String.raw`\a`.repeat(500_000)}`],
    ['empty values', 'a=,'.repeat(330_000)],
    ['spaces', `a${' '.repeat(1_000_000)}b`],
  ])(
    'a million characters are read in linear time, else the limit of a test ends it: %s',
    (_title, field) => {
      expect(freshnessLifetime(field, null)).toBe(0)
    },
  )
})

const NOW = Date.UTC(2026, 0, 1) / 1000
const DATE = 'Thu, 01 Jan 2026 00:00:00 GMT'

const headersOf = (values: Readonly<Record<string, unknown>>): FetchResponse['headers'] => ({
  // An injected `fetch` may give anything.
  get: (name) => (values[name] ?? null) as string | null,
})

describe('the pause that an answer asks for', () => {
  test.each<[string, string | null, number | undefined]>([
    ['none', null, undefined],
    ['nothing in the field', '', undefined],
    ['seconds', '120', 120],
    ['no seconds', '0', 0],
    ['seconds with white space around them', ' 120\t', 120],
    ['seconds that begin with 0', '007', 7],
    ['more seconds than anybody waits', ENDLESS, 2 ** 31],
    ['seconds below 0', '-5', undefined],
    ['seconds with a sign', '+5', undefined],
    ['a fraction', '1.5', undefined],
    ['seconds with an exponent', '1e3', undefined],
    ['seconds with a unit', '5s', undefined],
    ['digits of another script', '\u0665', undefined],
    ['two fields, as fetch joins them', '5, 7', undefined],
    ['a date', 'Thu, 01 Jan 2026 00:02:00 GMT', 120],
    ['a date with white space around it', ' Thu, 01 Jan 2026 00:02:00 GMT ', 120],
    ['this very second as a date', DATE, 0],
    ['a date in the past', 'Wed, 31 Dec 2025 23:59:59 GMT', undefined],
    ['a date on another day of the week', 'Fri, 01 Jan 2026 00:02:00 GMT', undefined],
    ['a day that the month does not have', 'Sat, 31 Feb 2026 00:02:00 GMT', undefined],
    ['a date in another zone', 'Thu, 01 Jan 2026 00:02:00 +0100', undefined],
    ['a date behind a word', 'on Thu, 01 Jan 2026 00:02:00 GMT', undefined],
    ['two dates, as fetch joins them', `${DATE}, ${DATE}`, undefined],
    ['a date in the format of ISO', '2026-01-01T00:02:00Z', undefined],
    ['a date in the format of RFC 850', 'Thursday, 01-Jan-26 00:02:00 GMT', undefined],
    ['a date in the format of asctime', 'Thu Jan  1 00:02:00 2026', undefined],
    ['a word', 'soon', undefined],
    ['what JavaScript calls no date', 'Invalid Date', undefined],
  ])('%s', (_title, header, seconds) => {
    expect(retryAfter(headersOf({ 'retry-after': header }), NOW)).toBe(seconds)
  })
})

describe('the pause until a date', () => {
  const inTwoMinutes = 'Thu, 01 Jan 2026 00:02:00 GMT'
  const LAST = 'Fri, 31 Dec 9999 23:59:59 GMT'
  const FIRST = 'Thu, 01 Jan 1970 00:00:00 GMT'

  test.each<[string, unknown, unknown, number | undefined]>([
    ['is measured by the clock of the answer', inTwoMinutes, DATE, 120],
    ['is measured by it with white space around it', inTwoMinutes, ` ${DATE}\t`, 120],
    ['is measured by our clock without another', inTwoMinutes, null, 20],
    ['is measured by our clock beside a word', inTwoMinutes, 'today', 20],
    ['is measured by our clock beside an empty date', inTwoMinutes, '', 20],
    ['is measured by our clock beside what is no text', inTwoMinutes, 0, 20],
    ['is measured by our clock beside two dates', inTwoMinutes, `${DATE}, ${DATE}`, 20],
    ['is none when that was written', DATE, DATE, 0],
    [
      'is none that has passed for the answer, whatever our clock says',
      DATE,
      inTwoMinutes,
      undefined,
    ],
    ['has an end', LAST, DATE, 2 ** 31],
    ['has an end, however old the answer says it is', LAST, FIRST, 2 ** 31],
    ['is none of what is no text', 120, DATE, undefined],
    ['is of no matter beside seconds', '5', FIRST, 5],
  ])('%s', (_title, header, date, seconds) => {
    const headers = headersOf({ 'retry-after': header, date })
    expect(retryAfter(headers, NOW + 100)).toBe(seconds)
  })
})

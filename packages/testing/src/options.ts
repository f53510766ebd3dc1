import { isText, mustBe, type OptionCheck } from '@portcullis/kit/options'

import { isOctets } from './octets.ts'

// What single options of this package must be, beside what the kit has.

export const isObject: OptionCheck = mustBe(
  'an object',
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
)

export const isString: OptionCheck = mustBe('a string', (value) => typeof value === 'string')

export const isPayload: OptionCheck = mustBe(
  'a string or octets',
  (value) => typeof value === 'string' || isOctets(value),
)

export const isTextList: OptionCheck = mustBe(
  'a list of strings',
  (value) => Array.isArray(value) && value.every((each) => isText(each) === undefined),
)

export const isTextOrTexts: OptionCheck = mustBe(
  'a string that is not empty, or a list of such',
  (value) => {
    const texts: readonly unknown[] = [value].flat()
    return texts.length > 0 && texts.every((each) => isText(each) === undefined)
  },
)

export const isSeconds: OptionCheck = mustBe('a number of seconds', Number.isFinite)

export const isDuration: OptionCheck = mustBe(
  'a number of seconds, 0 or more',
  (value) => Number.isFinite(value) && Number(value) >= 0,
)

export const isCount: OptionCheck = mustBe(
  'a whole number, 1 or more',
  (value) => Number.isInteger(value) && Number(value) >= 1,
)

export function listOf(...values: readonly unknown[]): OptionCheck {
  return mustBe(
    `a list of ${values.map(String).join(', ')}`,
    (value) => Array.isArray(value) && value.every((each) => values.includes(each)),
  )
}

import { isText, type OptionCheck } from '@portcullis/kit/options'

// What single options of this package must be, beside what the kit has.

export const isObject: OptionCheck = (value) => (isPlain(value) ? undefined : 'must be an object')

export const isString: OptionCheck = (value) =>
  typeof value === 'string' ? undefined : 'must be a string'

export const isTextList: OptionCheck = (value) =>
  Array.isArray(value) && value.every((each) => isText(each) === undefined)
    ? undefined
    : 'must be a list of strings'

export const isTextOrTexts: OptionCheck = (value) => {
  const texts: readonly unknown[] = [value].flat()
  return texts.length > 0 && texts.every((each) => isText(each) === undefined)
    ? undefined
    : 'must be a string that is not empty, or a list of such'
}

export const isSeconds: OptionCheck = (value) =>
  Number.isFinite(value) ? undefined : 'must be a number of seconds'

export const isDuration: OptionCheck = (value) =>
  Number.isFinite(value) && Number(value) >= 0
    ? undefined
    : 'must be a number of seconds, 0 or more'

export const isCount: OptionCheck = (value) =>
  Number.isInteger(value) && Number(value) >= 1 ? undefined : 'must be a whole number, 1 or more'

export function listOf(...values: readonly unknown[]): OptionCheck {
  return (value) =>
    Array.isArray(value) && value.every((each) => values.includes(each))
      ? undefined
      : `must be a list of ${values.map(String).join(', ')}`
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

import { type OptionCheck, isText, mustBe } from '@portcullis/kit/options'

// For whom and for what a token is asked for: `scope`, `resource` and `audience`, as options and as parameters.

export interface Target {
  readonly scope?: string | undefined
  readonly resource?: string | readonly string[] | undefined
  readonly audience?: string | readonly string[] | undefined
}

export const isScope: OptionCheck = mustBe(
  'words, separated by spaces',
  (value) =>
    typeof value === 'string' &&
    /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(value),
)
export const isTexts: OptionCheck = mustBe(
  'a string that is not empty, or a list of such',
  (value) => isListOf(value, (each) => isText(each) === undefined),
)
export const isResources: OptionCheck = mustBe(
  'an absolute URI without a fragment, or a list of such',
  (value) =>
    isListOf(
      value,
      (each) => typeof each === 'string' && URL.canParse(each) && !each.includes('#'),
    ),
)

function isListOf(value: unknown, holds: (each: unknown) => boolean): boolean {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  return list.length > 0 && list.every(holds)
}

export type Parameters = readonly [name: string, value: string][]

export function parametersOf(target: Target): Parameters {
  return (['scope', 'resource', 'audience'] as const).flatMap((name) =>
    [target[name] ?? []]
      .flat()
      .map((value) => [name, value] as [string, string] /* a pair, not a list */),
  )
}

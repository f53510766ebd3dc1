import { isJsonObject, type JsonObject } from '@portcullis/kit/json'
import { isText, isTextList, oneOf, type OptionCheck } from '@portcullis/kit/options'

import type { AlgorithmNames } from '../algorithms/accepted-algorithms.ts'
import { valueOf } from './key-material.ts'

// What whoever configures a key source says about the entries of its document.

/** `jwt-svid` is the word of SPIFFE for keys that sign JWTs. */
export type KeyUse = 'sig' | 'jwt-svid'

export const isKeyUse: OptionCheck = oneOf('sig', 'jwt-svid')

/** The option: a value of each member, or several. */
export type IfStated = Readonly<Record<string, string | readonly string[]>>

/** The same in one spelling, so that two of them can be compared as JSON. */
export type StatedRules = readonly (readonly [name: string, values: readonly string[]])[]

export const isIfStated: OptionCheck = (value) =>
  isJsonObject(value) &&
  Object.values(value).every((each) => isText(each) === undefined || isTextList(each) === undefined)
    ? undefined
    : 'must be an object with the value of each member, a string or a list of strings'

export interface EntryRules {
  readonly algorithmNames?: AlgorithmNames | undefined
  /** The `use` that an entry must have. @default 'sig', or none */
  readonly use?: KeyUse | undefined
  readonly ifStated?: StatedRules | undefined
}

/** @param option Checked. */
export function statedRulesOf(option: IfStated | undefined): StatedRules | undefined {
  const rules = Object.entries(option ?? {}).map(
    ([name, value]) => [name, [...new Set([value].flat())].toSorted()] as const,
  )
  return rules.length === 0 ? undefined : rules.toSorted(([a], [b]) => (a < b ? -1 : 1))
}

/** The rule that an entry contradicts: one that says nothing contradicts none. */
export function contradicted(
  jwk: JsonObject,
  rules: StatedRules | undefined,
): StatedRules[number] | undefined {
  return rules?.find(([name, values]) => {
    const value = valueOf(jwk, name)
    return value !== undefined && !(typeof value === 'string' && values.includes(value))
  })
}

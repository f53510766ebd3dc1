import { isJsonObject } from '@portcullis/kit/json'
import {
  checkOptions as checkStated,
  hasMethods,
  isText,
  type OptionCheck,
  ownMembers,
} from '@portcullis/kit/options'

// How the options of every provider are checked at start-up.

type Checks = Readonly<Record<string, OptionCheck>>

/** All of `required` must be there. @returns Own members: nothing of a polluted `Object.prototype` counts. @throws TypeError */
export function checkOptions<Options extends object>(
  provider: string,
  options: Options,
  required: Checks,
  optional: Checks = {},
): Options {
  const checks: Checks = { ...required, ...optional, requiredClaims: isClaims, keys: isKeys }
  checkStated(provider, options, checks, Object.keys(required))
  return ownMembers(options)
}

/** Its values are checked by `createVerifier`. */
const isClaims: OptionCheck = (value) =>
  isJsonObject(value) ? undefined : 'must be an object with the value of each claim'

/** What else it must be is checked by `createVerifier`. */
const isKeys: OptionCheck = (value) =>
  hasMethods(value, 'refresh', 'status')
    ? undefined
    : 'must be what remoteKeys() or discoverKeys() returns'

/** Its form is checked by the key source. */
export const isIssuer: OptionCheck = (value) =>
  isText(value) === undefined ? undefined : 'must be a URL, as the tokens have it in iss'

/** The accepted values: one or a list. */
export const isTextOrTexts: OptionCheck = (value) => {
  const texts: readonly unknown[] = Array.isArray(value) ? Array.from<unknown>(value) : [value]
  return texts.length > 0 && texts.every((each) => isText(each) === undefined)
    ? undefined
    : 'must be a string, or a list of strings that are not empty'
}

/** @param expected What it must be, with an example. */
export function matching(pattern: RegExp, expected: string): OptionCheck {
  return (value) =>
    typeof value === 'string' && pattern.test(value) ? undefined : `must be ${expected}`
}

/** A list, without holes, in which each fits. */
export function listOf(check: OptionCheck): OptionCheck {
  return (value) => {
    const members: readonly unknown[] = Array.isArray(value) ? Array.from<unknown>(value) : []
    if (members.length === 0) return 'must be a list that is not empty'
    return members.map((each) => check(each)).find((complaint) => complaint !== undefined)
  }
}

const HOST = /^(?!-)[a-z\d-]+(?<!-)(?:\.(?!-)[a-z\d-]+(?<!-))+$/

export function isHost(example: string): OptionCheck {
  return matching(
    HOST,
    `a host name in lower case, without "https://" and without a path, such as ${example}`,
  )
}

/** Whether it may be asked without TLS is checked by the key source. */
export function isUrl(example: string): OptionCheck {
  return (value) => {
    const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined
    const isPlain = url !== undefined && `${url.origin}${url.pathname}`.replace(/\/$/, '') === value
    return isPlain ? undefined : `must be a URL without a slash at the end, such as ${example}`
  }
}

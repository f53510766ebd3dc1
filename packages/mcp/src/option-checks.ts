import { isJsonObject, member, textMember } from '@portcullis/kit/json'
import {
  countUpTo,
  hasMethods,
  isTextList,
  type OptionCheck,
  urlComplaint,
} from '@portcullis/kit/options'

// What single options of an endpoint must be. The options together are judged in `checked-options.ts`.

const isAny: OptionCheck = (value) =>
  hasMethods(value, 'isMetBy') ? undefined : "must be a requirement, such as scope('tools')"

export const isRequirement: OptionCheck = (value) =>
  isAny(value) ?? (wantsOfflineAccess(value) ? OFFLINE_ACCESS : undefined)

export const isTools: OptionCheck = (value) => {
  if (!isJsonObject(value) || !Object.values(value).every((each) => isAny(each) === undefined)) {
    return 'must be an object with a requirement for each name of a tool'
  }
  return Object.values(value).some(wantsOfflineAccess) ? OFFLINE_ACCESS : undefined
}

/** A refresh token is the client's business, and not something that this server requires. */
const OFFLINE_ACCESS = 'must not contain offline_access, which is no scope of a resource'

/** Its parts too: they may have been made by hand, and say something else than the whole. */
function wantsOfflineAccess(requirement: unknown): boolean {
  if (!isJsonObject(requirement)) return false
  const parts = member(requirement, 'parts')
  return (
    textMember(requirement, 'scope')?.split(' ').includes('offline_access') === true ||
    (Array.isArray(parts) && parts.some(wantsOfflineAccess))
  )
}

const isList = (value: unknown): value is readonly unknown[] =>
  Array.isArray(value) && value.length > 0

export const isServers: OptionCheck = (value) => {
  if (!isList(value)) return 'must be a list of issuer identifiers'
  const complaints = Array.from(value, (each) =>
    typeof each === 'string' ? urlComplaint(each) : 'must be a string',
  )
  return complaints.find((each) => each !== undefined)
}

/** What a scope is made of is checked by the guard. */
export const isScope: OptionCheck = (value) => {
  const scopes = typeof value === 'string' ? value.split(' ') : ['']
  if (scopes.includes('')) return 'must be a space-separated list of scopes'
  return scopes.includes('offline_access') ? OFFLINE_ACCESS : undefined
}

export const isScopes: OptionCheck = (value) =>
  isTextList(value) ??
  ((value as readonly unknown[]).includes('offline_access') ? OFFLINE_ACCESS : undefined)

export const isPath: OptionCheck = (value) =>
  typeof value === 'string' && value.startsWith('/') && !/[?#]/.test(value)
    ? undefined
    : 'must be a path that begins with /'

const SESSION_CHECKS: Readonly<Record<string, OptionCheck>> = {
  max: countUpTo(1_000_000),
  maxPerUser: countUpTo(1_000_000),
}

export const isSessions: OptionCheck = (value) => {
  if (value === false) return undefined
  const isKnown =
    isJsonObject(value) &&
    Object.entries(value).every(
      ([name, each]) =>
        Object.hasOwn(SESSION_CHECKS, name) && SESSION_CHECKS[name]?.(each) === undefined,
    )
  return isKnown ? undefined : 'must be false or { max, maxPerUser }, numbers from 1 to 1000000'
}

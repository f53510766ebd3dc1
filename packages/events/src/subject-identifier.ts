import type { JsonObject } from '@portcullis/core'
import { isJsonObject, textMember } from '@portcullis/kit/json'

import type { About } from './event-types.ts'
import { nameIn, type Whose } from './reading.ts'

// Whom a subject identifier of RFC 9493 means, where that is certain.

export interface SubjectRules {
  /** The issuer of the event: it may speak of its own users and tokens alone. */
  readonly iss: string
  readonly about: About
  readonly revokes: 'session' | 'subject'
}

/** `undefined` if that cannot be told, or names nothing to revoke. RFC 9493 section 3; OpenID Shared Signals Framework 1.0 section 3 */
export function whoseOf(
  subject: JsonObject,
  { iss, about, revokes }: SubjectRules,
): Whose | undefined {
  // One session or one token of a whole account is less than the event means.
  const isOfAccount = about === 'account'
  switch (formatOf(subject)) {
    case 'iss_sub':
      return userOf(subject, iss)
    case 'opaque':
      if (about !== 'session') return userOf(subject, iss)
      return revokes === 'session' ? sessionOf(subject) : undefined
    case 'jwt_id':
      return isOfAccount ? undefined : tokenOf(subject, iss)
    case 'complex':
      return complexOf(subject, iss, revokes === 'session' && !isOfAccount)
    default:
      return undefined
  }
}

/** RFC 9493 section 3. Drafts of RISC call it `subject_type`, and write `iss-sub`; drafts of SSF have no name for a complex subject. */
function formatOf(subject: JsonObject): string | undefined {
  if (Object.hasOwn(subject, 'format')) return textMember(subject, 'format')
  if (!Object.hasOwn(subject, 'subject_type')) return 'complex'
  return textMember(subject, 'subject_type')?.replaceAll('-', '_')
}

/** All parts of a complex subject must be understood: each narrows what is meant, to one device for example. */
function complexOf(subject: JsonObject, iss: string, isOfSession: boolean): Whose | undefined {
  const ownName = Object.hasOwn(subject, 'format') ? 'format' : 'subject_type'
  const names = Object.keys(subject).filter((name) => name !== ownName)
  const parts = new Map(names.map((name) => [name, partOf(name, subject[name], iss)]))
  if ([...parts.values()].includes(undefined)) return undefined
  return (isOfSession ? parts.get('session') : undefined) ?? parts.get('user')
}

function partOf(name: string, part: unknown, iss: string): Whose | undefined {
  if (!isJsonObject(part)) return undefined
  if (name === 'user') return userOf(part, iss)
  return name === 'session' ? sessionOf(part) : undefined
}

function userOf(subject: JsonObject, iss: string): Whose | undefined {
  if (consistsOf(subject, 'opaque', 'id')) return named('sub', nameIn(subject, 'id'))
  const isOurs = consistsOf(subject, 'iss_sub', 'iss', 'sub') && subject['iss'] === iss
  return isOurs ? named('sub', nameIn(subject, 'sub')) : undefined
}

function sessionOf(subject: JsonObject): Whose | undefined {
  return consistsOf(subject, 'opaque', 'id') ? named('sid', nameIn(subject, 'id')) : undefined
}

function tokenOf(subject: JsonObject, iss: string): Whose | undefined {
  const isOurs = consistsOf(subject, 'jwt_id', 'iss', 'jti') && subject['iss'] === iss
  return isOurs ? named('jti', nameIn(subject, 'jti')) : undefined
}

function named(claim: Whose['claim'], value: string | undefined): Whose | undefined {
  return value === undefined ? undefined : { claim, value }
}

/** RFC 9493 section 3: an identifier has the members of its format, and no others. */
function consistsOf(subject: JsonObject, format: string, ...members: readonly string[]): boolean {
  return (
    formatOf(subject) === format &&
    Object.keys(subject).length === members.length + 1 &&
    members.every((name) => Object.hasOwn(subject, name))
  )
}

import { isJsonObject, type JsonObject, member } from '@portcullis/kit/json'
import { checkOptions, isText, type OptionCheck, ownMembers } from '@portcullis/kit/options'
import { isInSeconds } from '@portcullis/kit/time'

import type { Auth } from '../claims/auth.ts'
import { asSigned } from '../claims/signed-claims.ts'
import { checkCopy } from '../ground/copy.ts'
import type { RevocationEntry, RevokeBeforeOptions } from './revocations.ts'
import { digestOf } from './token-digest.ts'

// Makes entries of what a caller or a snapshot says, and reads it exactly: with a `sub` that is misspelt or empty, everybody's tokens would
// be revoked. No entry inherits a member from `Object.prototype`, such as an `exp` with which it would lapse.

type TokenEntry = Extract<RevocationEntry, { type: 'token' }>
type DigestEntry = Extract<RevocationEntry, { type: 'digest' }>
type IssuedBeforeEntry = Extract<RevocationEntry, { type: 'issued_before' }>

const isString: OptionCheck = (value) =>
  typeof value === 'string' ? undefined : 'must be a string'

const isNumericDate: OptionCheck = (value) =>
  Number.isFinite(value) ? undefined : 'must be a number of seconds since 1970-01-01T00:00:00Z'

const isTime: OptionCheck = (value) =>
  isNumericDate(value) ?? (isInSeconds(Number(value)) ? undefined : 'must be in seconds')

const OWNERS = { sub: isText, client_id: isText, sid: isText }

const TOKEN_MEMBERS = ['iss', 'jti', 'exp']

/**
 * The entry that `revoke` makes. It may have lapsed by the clock of this process: each that reads it judges by its own.
 *
 * @param token An `Auth`, or what names a token: then a misspelt member would make it another token, or last for ever.
 * @param caller For messages.
 * @throws TypeError
 */
export function revokedTokenEntry(caller: string, token: unknown): RevocationEntry {
  // Mistake `…: the token must be an object`: Give `getAuth(request)`, or `{ iss, jti, exp }` of a token, not its text.
  if (!isJsonObject(token)) throw new TypeError(`${caller}: the token must be an object`)
  if (isAuth(token)) {
    checkCopy(caller, 'the Auth', token)
    return withoutUndefined(authEntry(caller, token))
  }
  const unknown = Object.keys(token).find((name) => !TOKEN_MEMBERS.includes(name))
  if (unknown !== undefined) {
    // Mistake `…: unknown member …`: Give the `Auth` itself, or an object with `iss`, `jti` and `exp` alone: claims of a token
    // have other members.
    throw new TypeError(
      `${caller}: unknown member ${JSON.stringify(unknown)}, known are ${TOKEN_MEMBERS.join(', ')}; an Auth is taken as a whole`,
    )
  }
  return withoutUndefined(claimedEntry(caller, token))
}

/** Without members that are `undefined`: in what is loaded, these are mistakes. */
function withoutUndefined(entry: RevocationEntry): RevocationEntry {
  const members = Object.entries(entry).filter(([, value]) => value !== undefined)
  return ownMembers(Object.fromEntries(members)) as RevocationEntry // whose optional members alone may be `undefined`
}

/** What has no `jti` is named by its digest, if there is a token, and claims that can say whose it is. */
function authEntry(caller: string, auth: Auth<unknown>): TokenEntry | DigestEntry {
  const claims: unknown = asSigned(auth).claims
  if (!isJsonObject(claims) || auth.token === '') return claimedEntry(caller, {})
  const hasName = (nameOf(member(claims, 'jti')) ?? '') !== ''
  if (hasName) return claimedEntry(caller, claims)
  checkMember(caller, 'exp', member(claims, 'exp'), isTime)
  const [iss, exp] = [member(claims, 'iss'), member(claims, 'exp')]
  return digestEntry(caller, { iss, digest: digestOf(auth.token), exp })
}

function claimedEntry(caller: string, claims: JsonObject): TokenEntry {
  checkMember(caller, 'exp', member(claims, 'exp'), isTime)
  return tokenEntry(caller, claims)
}

const isDigest: OptionCheck = (value) =>
  typeof value === 'string' && /^[\w-]{43}$/.test(value)
    ? undefined
    : 'must be a SHA-256 digest in base64url'

/** As leniently as {@link tokenEntry}, but for the digest: another text would revoke nothing. */
function digestEntry(caller: string, stated: JsonObject): DigestEntry {
  const [iss, exp] = [member(stated, 'iss'), member(stated, 'exp')]
  const digest = member(stated, 'digest') ?? ''
  checkMember(caller, 'iss', iss, isString)
  checkMember(caller, 'digest', digest, isDigest)
  checkMember(caller, 'exp', exp, isNumericDate)
  return { type: 'digest', iss, digest, exp } as DigestEntry // as it was checked
}

/** Read leniently, since what an earlier version has recorded is still revoked: other members are ignored, `exp` may be in milliseconds. */
function tokenEntry(caller: string, claims: JsonObject): TokenEntry {
  const [iss, id, exp] = [member(claims, 'iss'), member(claims, 'jti'), member(claims, 'exp')]
  const jti = nameOf(id) ?? id
  checkMember(caller, 'iss', iss, isString)
  checkMember(caller, 'jti', jti, isText)
  checkMember(caller, 'exp', exp, isNumericDate)
  if (jti === undefined) {
    // Mistake `…: the token has no jti`: Give the `Auth` itself, which is revoked by the digest of its token, and pass the third
    // argument of `statusOf` on to the store. `revokeBefore({ iss, sub })` revokes all tokens of its user.
    throw new TypeError(
      `${caller}: the token has no jti, so it cannot be revoked by itself: see revokeBefore`,
    )
  }
  return { type: 'token', iss, jti, exp } as TokenEntry // as it was checked
}

/**
 * The entry that `revokeBefore` makes.
 *
 * @param caller For messages.
 * @param now The `time` where none is given. Seconds since 1970-01-01T00:00:00Z.
 * @throws TypeError
 */
export function issuedBeforeEntry(
  caller: string,
  whose: unknown,
  given: RevokeBeforeOptions,
  now: number,
): RevocationEntry {
  // `readIssuedBefore` knows what they may be.
  checkOptions(caller, given, { time: () => undefined, until: () => undefined })
  const { time = now, until } = ownMembers(given)
  return withoutUndefined(readIssuedBefore(caller, whose, { time, until }))
}

function readIssuedBefore(
  caller: string,
  whose: unknown,
  { time, until }: { readonly time: unknown; readonly until: unknown },
): IssuedBeforeEntry {
  checkOptions(caller, whose, { iss: isString, ...OWNERS })
  const owner = whose as JsonObject // as it was checked
  const named = Object.keys(OWNERS).filter((name) => Object.hasOwn(owner, name))
  for (const name of named) {
    if (owner[name] === undefined) {
      // Mistake `…: … is undefined`: The token lacks a claim that you name. The call would revoke more than you meant, so it is
      // refused.
      throw new TypeError(`${caller}: ${name} is undefined: does the token have that claim?`)
    }
  }
  if (named.length > 1) {
    // Mistake `…: name one of sub, client_id and sid`: One call ends the tokens of a user, of a client or of a session.
    throw new TypeError(`${caller}: name one of sub, client_id and sid, or none for all tokens`)
  }
  // Mistake `…: time must be stated`: State when the revocation was made, since the entry is from elsewhere.
  if (time === undefined) throw new TypeError(`${caller}: time must be stated`)
  checkMember(caller, 'time', time, isTime)
  checkMember(caller, 'until', until, isTime)
  const [iss, sub] = [member(owner, 'iss'), member(owner, 'sub')]
  const [client_id, sid] = [member(owner, 'client_id'), member(owner, 'sid')]
  return { type: 'issued_before', iss, sub, client_id, sid, time, until } as IssuedBeforeEntry // as it was checked
}

/** By its members: a wrapper of a verifier may have made it, or a stub. */
function isAuth(token: JsonObject): token is JsonObject & Auth<unknown> {
  return (
    typeof member(token, 'token') === 'string' &&
    isJsonObject(member(token, 'header')) &&
    Object.hasOwn(token, 'claims')
  )
}

/** The text of what is named by a text; some issuers make it a number. */
export function nameOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' ? value : undefined
}

/** As `checkOptions`, without a copy of anything: there may be a million entries. */
function checkMember(caller: string, name: string, value: unknown, check: OptionCheck): void {
  const complaint = value === undefined ? undefined : check(value)
  // Mistake error-wrong-value `…: … …`: Write what the message says that the option or the argument must be, such as a number of
  // seconds, of bytes or of entries. A URL must be https beyond this machine, or others on the network could read what is sent;
  // and without credentials, which would appear in logs: there are options for those.
  if (complaint !== undefined) throw new TypeError(`${caller}: ${name} ${complaint}`)
}

/**
 * Reads an entry of a snapshot. It has all its members, `undefined` or not: such objects take the least memory.
 *
 * @param caller For messages.
 * @throws TypeError for what is no entry.
 */
export function readRevocationEntry(caller: string, value: unknown): RevocationEntry {
  // Mistake `…: an entry must be an object`: Import or save entries as `toSnapshot()` wrote them.
  if (!isJsonObject(value)) throw new TypeError(`${caller}: an entry must be an object`)
  const type = member(value, 'type')
  if (type === 'token') return tokenEntry(caller, value)
  if (type === 'digest') return digestEntry(caller, value)
  if (type !== 'issued_before') {
    // Mistake `…: the type of an entry must be`: Import or save entries as `toSnapshot()` wrote them.
    throw new TypeError(`${caller}: the type of an entry must be token, digest or issued_before`)
  }
  const { type: _type, time: _time, until: _until, ...whose } = value
  return readIssuedBefore(caller, whose, {
    time: member(value, 'time'),
    until: member(value, 'until'),
  })
}

import type { RevocationEntry } from '@portcullis/core'

// The records of the stream, as the README of this package documents them for whoever else reads or writes it.

/** The version that this package writes, and the only one that it reads. */
const VERSION = '1'

/** The first entry of a stream: its id is fixed, so that trimming from the old end removes it before anything else. */
export const IDENTITY_ID = '0-1'

/**
 * The entry that stands as long as a stream that replaces another is being restored. To end that takes the right to delete, which only
 * operators have: whoever can append can make processes refuse more, and nothing else.
 */
export const MARK_ID = '0-2'

/** Names one stream for its whole life. A stream that was lost and made again has another. */
export interface Identity {
  readonly id: string
  /** The identities of streams that were lost, and that this one takes the place of. */
  readonly replaces: readonly string[]
  /** Whether it was made to be restored: it is, as long as the entry `MARK_ID` is there. */
  readonly isMarked: boolean
}

/** What a process says when it has written back what the stream lacked. */
export interface Contribution {
  readonly process: string
  /** How many entries it has appended. */
  readonly entries: number
  /** In which state it was when it last followed the former stream. */
  readonly former: string
}

export type StreamRecord =
  | { readonly kind: 'revocation'; readonly entry: RevocationEntry }
  | { readonly kind: 'identity'; readonly identity: Identity }
  | { readonly kind: 'contribution'; readonly contribution: Contribution }
  | { readonly kind: 'mark' }
  /** It is ours, but of a later version or damaged: it may revoke anything. */
  | { readonly kind: 'unreadable' }
  /** It has no `v`: somebody else's. */
  | { readonly kind: 'foreign' }

/** What notes begin with. They have no `v`: versions that know no notes would call those unreadable, and refuse everything. */
const NOTE = 'portcullis'
const RESTORING = 'restoring'
const WRITTEN_BACK = 'written_back'

const FOREIGN: StreamRecord = { kind: 'foreign' }
const UNREADABLE: StreamRecord = { kind: 'unreadable' }

/** As JSON writes them. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

type Fields = ReadonlyMap<string, string>

/** @param list Names and values in turn, as Redis gives them. */
export function readRecord(list: readonly string[]): StreamRecord {
  const fields = new Map<string, string>()
  for (let at = 0; at + 1 < list.length; at += 2) fields.set(list[at] ?? '', list[at + 1] ?? '')
  if (!fields.has('v')) return readNote(fields)
  // A name that is there twice has two readings.
  if (fields.get('v') !== VERSION || fields.size * 2 !== list.length) return UNREADABLE
  switch (fields.get('type')) {
    case 'identity':
      return readIdentity(fields)
    case 'token':
      return readToken(fields)
    case 'digest':
      return readDigest(fields)
    case 'issued_before':
      return readIssuedBefore(fields)
    default:
      return UNREADABLE
  }
}

/** Half of a pair of UTF-16, alone: JSON can write it in a claim, and UTF-8 cannot. */
const LONE_SURROGATE = /\p{Cs}/u

/** Names and values in turn. @throws TypeError for a text that would be read as another one, so that the record would revoke nothing. */
export function writeRecord(entry: RevocationEntry): readonly string[] {
  const fields = fieldsOf(entry)
  const wrong = Object.entries(fields).find(([, value]) => LONE_SURROGATE.test(String(value)))
  // Mistake `revoke: … cannot be written in UTF-8`: The value contains half of a surrogate pair, so no token can contain it.
  if (wrong !== undefined) throw new TypeError(`revoke: ${wrong[0]} cannot be written in UTF-8`)
  return listOf({ v: VERSION, type: entry.type, ...fields })
}

function fieldsOf(entry: RevocationEntry): Readonly<Record<string, string | number | undefined>> {
  const { iss } = entry
  if (entry.type === 'token') return { iss, jti: entry.jti, exp: entry.exp }
  if (entry.type === 'digest') return { iss, digest: entry.digest, exp: entry.exp }
  const { sub, client_id, sid, time, until } = entry
  return { iss, sub, client_id, sid, time, until }
}

export function writeIdentity({ id, replaces, isMarked }: Identity): readonly string[] {
  const former = replaces.length === 0 ? undefined : replaces.join(' ')
  const restoring = isMarked ? 'yes' : undefined
  return listOf({ v: VERSION, type: 'identity', id, replaces: former, restoring })
}

export function writeMark(): readonly string[] {
  return listOf({ [NOTE]: RESTORING })
}

export function writeContribution({ process, entries, former }: Contribution): readonly string[] {
  return listOf({ [NOTE]: WRITTEN_BACK, process, entries, former })
}

function listOf(fields: Readonly<Record<string, string | number | undefined>>): string[] {
  return Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [name, String(value)],
  )
}

function readIdentity(fields: Fields): StreamRecord {
  const id = fields.get('id') ?? ''
  const replaces = (fields.get('replaces') ?? '').split(' ').filter((each) => each !== '')
  const isMarked = fields.has('restoring')
  return id === '' ? UNREADABLE : { kind: 'identity', identity: { id, replaces, isMarked } }
}

function readNote(fields: Fields): StreamRecord {
  if (fields.get(NOTE) === RESTORING) return { kind: 'mark' }
  if (fields.get(NOTE) !== WRITTEN_BACK) return FOREIGN
  const { process, former } = textsIn(fields, 'process', 'former')
  const entries = numberIn(fields, 'entries')
  if (process === undefined || former === undefined || typeof entries !== 'number') return FOREIGN
  return { kind: 'contribution', contribution: { process, entries, former } }
}

function readToken(fields: Fields): StreamRecord {
  const jti = fields.get('jti')
  const exp = numberIn(fields, 'exp')
  if (jti === undefined || exp === 'unreadable') return UNREADABLE
  const end = exp === undefined ? {} : { exp }
  return revocation({ type: 'token', ...textsIn(fields, 'iss'), jti, ...end })
}

/** SHA-256 in base64url. */
const DIGEST = /^[\w-]{43}$/

/** Versions before this type call the record unreadable. */
function readDigest(fields: Fields): StreamRecord {
  const digest = fields.get('digest') ?? ''
  const exp = numberIn(fields, 'exp')
  if (!DIGEST.test(digest) || exp === 'unreadable') return UNREADABLE
  const end = exp === undefined ? {} : { exp }
  return revocation({ type: 'digest', ...textsIn(fields, 'iss'), digest, ...end })
}

function readIssuedBefore(fields: Fields): StreamRecord {
  const time = numberIn(fields, 'time')
  const until = numberIn(fields, 'until')
  const whose = textsIn(fields, 'sub', 'client_id', 'sid')
  const isSound = typeof time === 'number' && until !== 'unreadable'
  if (!isSound || Object.keys(whose).length > 1) return UNREADABLE
  const end = until === undefined ? {} : { until }
  return revocation({ type: 'issued_before', ...textsIn(fields, 'iss'), ...whose, time, ...end })
}

function revocation(entry: RevocationEntry): StreamRecord {
  return { kind: 'revocation', entry }
}

function textsIn<Name extends string>(
  fields: Fields,
  ...names: readonly Name[]
): Partial<Record<Name, string>> {
  const found: Partial<Record<Name, string>> = {}
  for (const name of names) {
    const value = fields.get(name)
    if (value !== undefined) found[name] = value
  }
  return found
}

function numberIn(fields: Fields, name: string): number | 'unreadable' | undefined {
  const text = fields.get(name)
  if (text === undefined) return undefined
  const value = NUMBER.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(value) ? value : 'unreadable'
}

import type { Algorithm } from '@portcullis/core'
import { explainKey } from '@portcullis/core/explain'

import { entriesOf, memberOf } from '../input/unread-json.ts'

// Looks at each entry of a key document by itself. Whether an entry can be used is decided by core, as in a verifier.

/** What one entry of a key document says, and whether a verifier uses it. Values are as others wrote them. */
export type LintedKey = ReturnType<typeof lintedKey>

/** A `problem` should be mended; a `note` is worth knowing. */
export interface Remark {
  readonly level: 'problem' | 'note'
  readonly text: string
}

const MAX_SHOWN = 100

export function lintKeyDocument(
  document: unknown,
  algorithmNames?: Readonly<Record<string, Algorithm>>,
) {
  const entries = entriesOf(document)
  const keys = entries
    .slice(0, MAX_SHOWN)
    .map((entry, index) => lintedKey(entry, index + 1, algorithmNames))
  const remarks = [...keys.flatMap(keyRemarks), ...documentRemarks(keys)]
  return {
    keys,
    /** How many there are beyond those. */ others: entries.length - keys.length,
    remarks,
  }
}

function lintedKey(
  entry: unknown,
  place: number,
  algorithmNames: Readonly<Record<string, Algorithm>> | undefined,
) {
  return {
    /** From 1, as people count. */
    place,
    kid: textIn(entry, 'kid'),
    /** Such as `RSA, 2048 bits, e = 65537`. */
    kind: kindOf(entry),
    use: textIn(entry, 'use'),
    alg: textIn(entry, 'alg'),
    ...explainKey(entry, { algorithmNames }),
    privateMembers: PRIVATE_MEMBERS.filter((name) => memberOf(entry, name) !== undefined),
  }
}

/** RFC 7518 sections 6.2.2, 6.3.2 and 6.4.1; RFC 8037 section 2; RFC 9964 section 3. */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv']

/** Characters. */
const LONGEST_VALUE = 64

function textIn(entry: unknown, name: string): string | undefined {
  const value = memberOf(entry, name)
  return typeof value === 'string' ? value.slice(0, LONGEST_VALUE) : undefined
}

function kindOf(entry: unknown): string {
  const kty = textIn(entry, 'kty')
  if (kty === undefined) return 'no key'
  if (kty !== 'RSA') return [kty, textIn(entry, 'crv')].filter(Boolean).join(', ')
  const e = octetsIn(entry, 'e')
  const exponent = e.length <= 6 && e.length > 0 ? e.readUIntBE(0, e.length) : 'too large'
  return `RSA, ${bitsOf(octetsIn(entry, 'n'))} bits, e = ${e.length === 0 ? 'none' : exponent}`
}

function octetsIn(entry: unknown, name: string): Buffer {
  const value = memberOf(entry, name)
  return typeof value === 'string' ? Buffer.from(value, 'base64url') : Buffer.alloc(0)
}

function bitsOf(integer: Buffer): number {
  const first = integer.findIndex((octet) => octet !== 0)
  if (first === -1) return 0
  return (integer.length - first) * 8 - Math.clz32(integer.readUInt8(first)) + 24
}

function keyRemarks(key: LintedKey): readonly Remark[] {
  const { place, privateMembers, unusable, use, kind } = key
  const names = privateMembers.join(', ')
  const leak = `key ${place} has private members (${names}): whoever reads this document can sign tokens; withdraw the key now`
  const remarks: Remark[] = names === '' ? [] : [{ level: 'problem', text: leak }]
  if (unusable !== undefined) {
    // A key to encrypt with is where it belongs; only tokens are not verified with it.
    const level = use === 'enc' ? 'note' : 'problem'
    remarks.push({ level, text: `key ${place} is not used: ${unusable}` })
  } else if (kind.startsWith('RSA') && !kind.endsWith('e = 65537')) {
    const text = `key ${place} has another exponent than 65537: it works, and some libraries refuse it`
    remarks.push({ level: 'note', text })
  }
  return remarks
}

function documentRemarks(keys: readonly LintedKey[]): readonly Remark[] {
  const usable = keys.filter(({ unusable }) => unusable === undefined)
  if (usable.length === 0) return [{ level: 'problem', text: 'no key can be used' }]
  const unnamed = placesOf(usable.filter(({ kid }) => kid === undefined))
  const silent = placesOf(usable.filter((key) => key.listable.length > key.algorithms.length))
  const texts = [
    ...shared(usable, 'kid').map(
      ([kid, places]) => `keys ${places} have one kid, ${JSON.stringify(kid)}: each is tried`,
    ),
    ...shared(usable, 'thumbprint').map(([, places]) => `keys ${places} are the same key`),
    usable.length > 1 && unnamed !== '' && `without kid, and so tried for every token: ${unnamed}`,
    silent !== '' &&
      `without alg, and so for RS512: ${silent}; if your issuer signs with another algorithm, state it in the verifier, such as algorithms: ['RS256']`,
  ]
  return texts.filter((text) => text !== false).map((text) => ({ level: 'note', text }))
}

function shared(keys: readonly LintedKey[], name: 'kid' | 'thumbprint') {
  return [...new Set(keys.map((key) => key[name]))].flatMap((value) => {
    const group = keys.filter((key) => key[name] === value)
    return value === undefined || group.length < 2 ? [] : [[value, placesOf(group)] as const]
  })
}

function placesOf(keys: readonly LintedKey[]): string {
  return keys.map(({ place }) => place).join(', ')
}

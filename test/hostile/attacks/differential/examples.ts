import { crowd, oddRsa, ring } from './documents.ts'
import type { Case } from './judges.ts'
import { type Edit, type Members, membersOf, misleading, put, spell } from './members.ts'
import { addressed, AUDIENCE, betweenSeconds, lax, strict, typed, unlisted } from './rules.ts'
import { inSegment, withStrayBits } from './segments.ts'
import { compact, eddsa, encode, es256, NOW, rs512 } from './signers.ts'
import { goodClaims, headerOf, sign, zeroToken } from './tokens.ts'

const HALF = 0.5
const ZEROS = 'A'.repeat(4 * 128)

function withHeader(edit: Edit<Members>, subject: Partial<Case> = {}): Case {
  const token = sign(es256, edit(headerOf(es256)))
  return { rules: strict, document: ring, token, ...subject }
}

function withClaims(edit: Edit<Members>, subject: Partial<Case> = {}): Case {
  const token = sign(es256, headerOf(es256), edit(goodClaims()))
  return { rules: strict, document: ring, token, ...subject }
}

function withKey(change: object, signer = rs512): Case {
  const document = { keys: [{ ...signer.publicJwk, ...change }] }
  return { rules: strict, document, token: sign(signer) }
}

const { n = '', kid: _, ...nameless } = rs512.publicJwk
const { x = '' } = es256.publicJwk

/** One case of each class, by its name: no other class explains it. */
export const examples: Readonly<Record<string, Case>> = {
  'token above 16 KiB': withClaims(put('"filler"', `"${'x'.repeat(16_384)}"`)),
  'token in loose base64url': {
    rules: strict,
    document: ring,
    // The signature has 64 octets, so that its last character has room for 4 bits that mean nothing.
    token: inSegment(2, (segment) => withStrayBits(segment, 1))(sign(eddsa)),
  },
  'JSON with a byte order mark': {
    rules: strict,
    document: ring,
    token: compact(es256, encode(spell(headerOf(es256))), encode(`\uFEFF${spell(goodClaims())}`)),
  },
  'member twice': withClaims((members) => [['"exp"', '0'], ...members]),
  'member named __proto__': withClaims(put('"sub"', '{"__proto__":{"admin":true}}')),
  'member whose name takes an escape': withClaims(put(String.raw`"\n"`, '1')),
  'member whose name has an escape that V8 misreads': withHeader((members) =>
    misleading('"crit"')([...members, ...membersOf({ crit: ['exp'] })]),
  ),
  'JSON of more than 32 levels': withClaims(put('"sub"', '['.repeat(32) + ']'.repeat(32))),
  'number beyond a double': withClaims(put('"exp"', '1e309')),
  'kid that is no string': withHeader(put('"kid"', '7'), { document: es256.publicJwk }),
  'kid that is null': withHeader(put('"kid"', 'null')),
  'typ that is no string': withHeader(put('"typ"', '7')),
  'typ of another kind of token': withHeader(put('"typ"', '"logout+jwt"')),
  'b64 that is critical and true': withHeader((members) => [
    ...members,
    ...membersOf({ b64: true, crit: ['b64'] }),
  ]),
  'b64 that is false and not critical': withHeader(put('"b64"', 'false')),
  'aud with an entry that is no string': withClaims(put('"aud"', JSON.stringify([AUDIENCE, 7]))),
  'aud that is an empty list, where it may be missing': withClaims(put('"aud"', '[]'), {
    rules: addressed,
  }),
  'iat more than a minute ahead': withClaims(put('"iat"', String(NOW + 61)), { rules: lax }),
  'time that is not in seconds': withClaims(put('"exp"', '1e12')),
  'iat less than a minute ahead, with a maximum age': withClaims(put('"iat"', String(NOW + 60)), {
    rules: typed,
  }),
  'exp within the current second': withClaims(put('"exp"', String(NOW - 5 + HALF)), {
    rules: betweenSeconds,
  }),
  'nbf within the current second': withClaims(put('"nbf"', String(NOW + 5 + HALF)), {
    rules: betweenSeconds,
  }),
  'PSS signature without the zero octet before it': {
    rules: strict,
    document: ring,
    token: inSegment(2, (segment) => encode(Buffer.from(segment, 'base64url').subarray(1)))(
      zeroToken,
    ),
  },
  'entry beside the key that is no object': {
    rules: strict,
    document: { keys: [null, rs512.publicJwk] },
    token: sign(rs512),
  },
  'RSA exponent below 3': withKey({}, oddRsa.exponentOne),
  'RSA exponent above 32 bits': withKey({}, oddRsa.longExponent),
  'RSA modulus above 8192 bits': withKey({}, oddRsa.tooLong),
  'RSA integer behind hundreds of zero octets': withKey({ e: `${ZEROS}AQAB` }),
  'coordinate of another length': withKey({ x: `AAAA${x}` }, es256),
  'key in loose base64url': withKey({ n: `${n}!` }),
  'key member that is no string': withKey({ n: [n] }),
  'key behind 8 others that fit': { rules: strict, document: crowd(8, 'rsa'), token: sign(rs512) },
  'key behind 100 others': { rules: strict, document: crowd(100, 'other'), token: sign(es256) },
  'no key for the algorithm, but one that is not read': {
    rules: unlisted,
    document: { keys: [{ ...rs512.publicJwk, n: `${n}!` }, es256.publicJwk] },
    token: sign(rs512),
  },
  'key without the kid that the token has': {
    rules: strict,
    document: { keys: [{ n, ...nameless }] },
    token: sign(rs512),
  },
  'key with a purpose that is null': withKey({ use: null }),
  'key with private members': withKey({ d: 'AQAB' }),
  'key with an ext that is no boolean': withKey({ ext: 'true' }),
  'key_ops with more than verify': withKey({ key_ops: ['verify', 'sign'] }),
}

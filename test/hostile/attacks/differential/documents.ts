import fc from 'fast-check'

import { craftedRsa } from './crafted-rsa.ts'
import type { Jwk } from './reading.ts'
import { withStrayBits } from './segments.ts'
import { encode, es256, publicJwks, type Signer, signers, stranger } from './signers.ts'
import { flip } from './texts.ts'
import { issuedToken, issuedTokens, sign } from './tokens.ts'

/** As services publish them; the same objects each time, so that their keys are imported once. */
export const ring = { keys: publicJwks }
const soundDocuments: readonly object[] = [
  ring,
  { keys: publicJwks.map((jwk) => without(jwk, 'kid')) },
  { keys: publicJwks.map((jwk) => ({ ...jwk, use: 'sig', key_ops: ['verify'] })) },
  { keys: signers.map(({ alg, publicJwk }) => ({ ...publicJwk, alg })) },
  ...publicJwks,
]

export const soundDocument = fc.oneof(
  { weight: 8, arbitrary: fc.constant(ring) },
  { weight: 1, arbitrary: fc.constant(es256.publicJwk) },
  { weight: 2, arbitrary: fc.constantFrom(...soundDocuments) },
)

/** RSA keys that exist nowhere but in attacks and accidents: of a wrong size, or with an exponent that is. */
export const oddRsa = {
  exponentOne: craftedRsa(2304, 1n),
  exponentThree: craftedRsa(2304, 3n),
  longestExponent: craftedRsa(2304, 0xffff_fffbn),
  longExponent: craftedRsa(2304, 0x1_0000_000fn),
  veryLongExponent: craftedRsa(2304, 0x8000_0000_0000_001dn),
  factored: craftedRsa(1024, 65_537n),
  almostLongEnough: craftedRsa(2040, 65_537n),
  oddLength: craftedRsa(2312, 65_537n),
  tooLong: craftedRsa(8704, 65_537n),
} satisfies Record<string, Signer>

const oddPairs = Object.values(oddRsa).flatMap((signer) => {
  const token = sign(signer)
  const { publicJwk } = signer
  return [publicJwk, { keys: [publicJwk] }, { keys: [...publicJwks, publicJwk] }].map(
    (document) => ({ document, token }),
  )
})

const texts: readonly ((text: string) => unknown)[] = [
  (text) => `${text}=`,
  (text) => `${text}==`,
  (text) => ` ${text}`,
  (text) => `${text}\n`,
  (text) => Buffer.from(text, 'base64url').toString('base64'),
  (text) => encode(Buffer.concat([Buffer.alloc(1), Buffer.from(text, 'base64url')])),
  (text) => encode(Buffer.concat([Buffer.alloc(400), Buffer.from(text, 'base64url')])),
  (text) => encode(Buffer.concat([Buffer.from(text, 'base64url'), Buffer.alloc(1)])),
  (text) => encode(Buffer.from(text, 'base64url').subarray(1)),
  (text) => encode(Buffer.from(text, 'base64url').subarray(0, -1)),
  (text) => withStrayBits(text, 15),
  (text) => text.slice(0, -1),
  (text) => `${text}A`,
  (text) => `${text}!`,
  (text) => [text],
  () => '',
  () => null,
  () => 65_537,
]

const values: Readonly<Record<string, readonly unknown[]>> = {
  kty: ['RSA', 'EC', 'OKP', 'oct', 'AKP', 'rsa', '', null, ['RSA']],
  crv: ['P-256', 'P-384', 'P-521', 'Ed25519', 'X25519', 'secp256k1', 'p-256', '', null],
  use: ['sig', 'enc', 'SIG', '', null, ['sig'], 7],
  key_ops: [
    ['verify'],
    ['verify', 'sign'],
    ['verify', 'encrypt'],
    ['verify', 'verify'],
    ['verify', 7],
    ['verify', 'x'],
    ['sign'],
    ['encrypt'],
    [],
    'verify',
    null,
    { 0: 'verify' },
  ],
  alg: [...signers.map(({ alg }) => alg), 'Ed25519', 'PS256', 'RSA-OAEP', 'none', '', null, 7],
  kid: [...publicJwks.map(({ kid }) => kid), 'other', '', '__proto__', null, 7, ['rsa'], {}],
  ext: [true, false, 'true', null, 1],
  d: ['AQAB', '', null, 7],
  p: ['AQAB'],
  oth: [[]],
  k: ['AQAB'],
  e: ['AQ', 'Ag', 'Aw', 'AAEAAQ', 'AQABAQ', '', 'AA'],
  x5c: [[], ['MIIB'], 'MIIB'],
  x5t: ['', 7],
  keys: ['text', null, {}, 0],
  exp: [0],
  constructor: [null],
  toJSON: [null],
}

const change: fc.Arbitrary<(jwk: Jwk) => Jwk> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .constantFrom(...Object.keys(values))
      .chain((name) => fc.tuple(fc.constant(name), fc.constantFrom(...(values[name] ?? []))))
      .map(([name, value]) => (jwk: Jwk) => ({ ...jwk, [name]: value })),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom('n', 'e', 'x', 'y'), fc.constantFrom(...texts))
      .map(([name, respell]) => (jwk: Jwk) => {
        const text = jwk[name]
        return typeof text === 'string' ? { ...jwk, [name]: respell(text) } : jwk
      }),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('n', 'e', 'x', 'y'), fc.nat())
      .map(([name, bit]) => (jwk: Jwk) => {
        const text = jwk[name]
        if (typeof text !== 'string') return jwk
        return { ...jwk, [name]: encode(flip(Buffer.from(text, 'base64url'), bit)) }
      }),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom('kty', 'crv', 'kid', 'n', 'e', 'x', 'y')
      .map((name) => (jwk: Jwk) => without(jwk, name)),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 1 }))
      .map(([name, value]) => (jwk: Jwk) => ({ ...jwk, [name]: value })),
  },
)

type Changes = readonly ((jwk: Jwk) => Jwk)[]

function apply(changes: Changes, jwk: Jwk): Jwk {
  return changes.reduce((changed, each) => each(changed), jwk)
}

const few: fc.Arbitrary<Changes> = fc.array(change, { minLength: 1, maxLength: 2 })

const otherEntry = fc.oneof(
  fc
    .tuple(fc.constantFrom<Jwk>(...publicJwks), fc.array(change, { maxLength: 1 }))
    .map(([jwk, changes]): unknown => apply(changes, jwk)),
  fc.constantFrom<unknown>(
    null,
    7,
    'text',
    [],
    {},
    { kty: 'oct', k: 'AQAB' },
    ring,
    oddRsa.exponentOne.publicJwk,
    oddRsa.factored.publicJwk,
  ),
)

/** The key that signed, changed, alone or in company. */
const changed = fc
  .record({
    issued: fc.constantFrom(...issuedTokens),
    changes: few,
    before: fc.array(otherEntry, { maxLength: 2 }),
    after: fc.array(otherEntry, { maxLength: 1 }),
    isBare: fc.boolean(),
  })
  .map(({ issued: { signer, token }, changes, before, after, isBare }) => {
    const jwk = apply(changes, signer.publicJwk)
    return { token, document: isBare ? jwk : { keys: [...before, jwk, ...after] } }
  })

/** The key that signed may come after so many that did not, but fit. */
export function crowd(count: number, kid: string | undefined): { keys: readonly Jwk[] } {
  const decoy = { ...without(stranger.publicJwk, 'kid'), ...(kid === undefined ? {} : { kid }) }
  return { keys: [...Array.from({ length: count }, () => decoy), ...publicJwks] }
}

const crowds = [1, 7, 8, 9, 97, 100].flatMap((count) =>
  ['rsa', 'other', undefined].map((kid) => crowd(count, kid)),
)

const strange: readonly unknown[] = [
  null,
  'text',
  [],
  publicJwks,
  {},
  { keys: [] },
  { keys: [ring] },
  { keys: { 0: publicJwks[0], length: 1 } },
  { ...ring, kty: 'RSA', issuer: 'anyone' },
  { ...publicJwks[0], keys: [] },
]

/** Documents that are not as they should be, or not quite, with a token that they might prove. */
export const documentAndToken: fc.Arbitrary<{ document: unknown; token: string }> = fc.oneof(
  { weight: 12, arbitrary: changed },
  { weight: 1, arbitrary: withToken(fc.constantFrom<unknown>(...crowds)) },
  { weight: 1, arbitrary: withToken(fc.constantFrom(...strange)) },
  { weight: 2, arbitrary: fc.constantFrom(...oddPairs) },
)

function withToken(document: fc.Arbitrary<unknown>) {
  return fc.record({ document, token: issuedToken })
}

function without(jwk: Jwk, name: string): Jwk {
  return Object.fromEntries(Object.entries(jwk).filter(([each]) => each !== name))
}

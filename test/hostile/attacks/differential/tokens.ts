import { randomUUID } from 'node:crypto'

import fc from 'fast-check'

import {
  claimsEdit,
  type Edit,
  edited,
  headerEdit,
  type Members,
  membersOf,
  put,
  spell,
} from './members.ts'
import { AUDIENCE, ISSUER, TYPE } from './rules.ts'
import { looseSpelling, type Spelling, tokenEdit } from './segments.ts'
import {
  compact,
  eddsa,
  encode,
  es256,
  NOW,
  ps512,
  type Signer,
  signers,
  stranger,
} from './signers.ts'
import { rewriting } from './texts.ts'

/** Good by all rules. */
export function headerOf({ alg, publicJwk }: Signer): Members {
  return membersOf({ alg, kid: publicJwk.kid, typ: TYPE })
}

/** Good by all rules. */
export function goodClaims(): Members {
  return membersOf({
    iss: ISSUER,
    aud: AUDIENCE,
    sub: randomUUID(),
    iat: NOW - 10,
    nbf: NOW - 10,
    exp: NOW + 300,
  })
}

export function sign(
  signer: Signer,
  header: Members = headerOf(signer),
  claims: Members = goodClaims(),
): string {
  return compact(signer, encode(spell(header)), encode(spell(claims)))
}

/** A token whose signature begins with a zero octet, which OpenSSL does not miss. */
export const zeroToken = findZeroToken()

function findZeroToken(): string {
  for (;;) {
    const token = sign(ps512)
    if (Buffer.from(token.split('.')[2] ?? '', 'base64url')[0] === 0) return token
  }
}

/** Signed beforehand: most algorithms are too slow to sign for each case. */
export const issuedTokens = [...signers, stranger].flatMap((signer) => {
  const count = signer.alg === 'ES512' ? 2 : 40
  return Array.from({ length: count }, (_, index) => {
    const header = headerOf(signer)
    const isNamed = index % 4 !== 0
    return {
      signer,
      token: sign(signer, isNamed ? header : header.filter(([name]) => name !== '"kid"')),
    }
  })
})

export const issuedToken = fc.oneof(
  { weight: 40, arbitrary: fc.constantFrom(...issuedTokens.map(({ token }) => token)) },
  { weight: 1, arbitrary: fc.constant(zeroToken) },
)

/** Changes of the text alone, and segments of several tokens put together. */
export const tamperedToken: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(issuedToken, tokenEdit).map(([token, edit]) => edit(token)) },
  {
    weight: 1,
    arbitrary: fc
      .array(fc.tuple(issuedToken, fc.nat({ max: 2 })), { minLength: 2, maxLength: 4 })
      .map((parts) => parts.map(([token, index]) => token.split('.')[index]).join('.')),
  },
)

const none = fc.constant([])
const asWritten = fc.constant<Edit<Buffer>>((octets) => octets)
const canonical = fc.constant<Spelling>(encode)
const fastSigner = fc.constantFrom(es256, es256, es256, es256, es256, eddsa)

/** Signed as it stands, so that nothing but what it says can be wrong with it. */
export const craftedToken: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: craft({ header: fc.array(headerEdit, { minLength: 1, maxLength: 2 }) }) },
  {
    weight: 10,
    arbitrary: craft({ claims: fc.array(claimsEdit, { minLength: 1, maxLength: 3 }) }),
  },
  { weight: 1, arbitrary: craft({ rewriteHeader: rewriting }) },
  { weight: 2, arbitrary: craft({ rewriteClaims: rewriting }) },
  { weight: 1, arbitrary: craft({ spellHeader: looseSpelling }) },
  { weight: 1, arbitrary: craft({ spellClaims: looseSpelling }) },
  { weight: 1, arbitrary: craft({ claims: fc.tuple(oversize()) }) },
  {
    weight: 1,
    arbitrary: craft({
      header: fc.array(headerEdit, { maxLength: 1 }),
      claims: fc.array(claimsEdit, { maxLength: 1 }),
      rewriteClaims: fc.oneof(asWritten, rewriting),
      spellHeader: fc.oneof(canonical, looseSpelling),
    }),
  },
)

interface Craft {
  readonly header?: fc.Arbitrary<readonly Edit<Members>[]>
  readonly claims?: fc.Arbitrary<readonly Edit<Members>[]>
  readonly rewriteHeader?: fc.Arbitrary<Edit<Buffer>>
  readonly rewriteClaims?: fc.Arbitrary<Edit<Buffer>>
  readonly spellHeader?: fc.Arbitrary<Spelling>
  readonly spellClaims?: fc.Arbitrary<Spelling>
}

function craft({
  header = none,
  claims = none,
  rewriteHeader = asWritten,
  rewriteClaims = asWritten,
  spellHeader = canonical,
  spellClaims = canonical,
}: Craft): fc.Arbitrary<string> {
  return fc
    .record({
      signer: fastSigner,
      header,
      claims,
      rewriteHeader,
      rewriteClaims,
      spellHeader,
      spellClaims,
    })
    .map((plan) =>
      compact(
        plan.signer,
        plan.spellHeader(plan.rewriteHeader(write(headerOf(plan.signer), plan.header))),
        plan.spellClaims(plan.rewriteClaims(write(goodClaims(), plan.claims))),
      ),
    )
}

function write(members: Members, edits: readonly Edit<Members>[]): Buffer {
  return Buffer.from(spell(edited(members, edits)))
}

/** A claim that makes the token about as long as one may be. */
function oversize(): fc.Arbitrary<Edit<Members>> {
  return fc
    .oneof(fc.integer({ min: 11_900, max: 12_000 }), fc.integer({ min: 48_000, max: 60_000 }))
    .map((length) => put('"filler"', `"${'x'.repeat(length)}"`))
}

import { AuthError, createVerifier, remoteKeys } from '@portcullis/core'
import { spiffe } from '@portcullis/providers'
import { manualClock } from '@portcullis/testing'
import fc from 'fast-check'
import { importJWK, type JWK, jwtVerify } from 'jose'
import { expect, test } from 'vitest'

import { runs, timeout } from './differential/runs.ts'
import { compact, encode, es256, NOW, stranger } from './differential/signers.ts'

// Tokens of workloads (JWT-SVIDs): ours, beside jose and what SPIFFE says of the entries of a bundle, of `sub`, `aud` and `exp`.

const DOMAIN = 'example.org'
const AUDIENCE = 'orders'

interface Case {
  readonly entries: readonly { readonly isStrange: boolean; readonly use: unknown }[]
  readonly sub: unknown
  readonly aud: unknown
  readonly exp: unknown
  readonly typ: string | undefined
}

const use = fc.oneof(
  { weight: 6, arbitrary: fc.constant('jwt-svid') },
  {
    weight: 2,
    arbitrary: fc.constantFrom<unknown>('x509-svid', 'sig', 'enc', 'JWT-SVID', 'jwt-svid ', ''),
  },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(undefined, null, ['jwt-svid'], 1) },
)
const name = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('ns', 'orders', 'a.b', 'A_b-9', '...') },
  { weight: 1, arbitrary: fc.constantFrom('', '.', '..', '%2e', 'a b', 'a?', 'a#', 'ö', 'a\n') },
)
const start = fc.oneof(
  { weight: 10, arbitrary: fc.constant(`spiffe://${DOMAIN}/`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      `spiffe://${DOMAIN}`,
      `spiffe://EXAMPLE.org/`,
      `SPIFFE://${DOMAIN}/`,
      `spiffe://${DOMAIN}.evil.test/`,
      `spiffe://${DOMAIN}:8443/`,
      `spiffe://a@${DOMAIN}/`,
      `https://${DOMAIN}/`,
    ),
  },
)
const sub = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .tuple(start, fc.array(name, { minLength: 1, maxLength: 4 }))
      .map(([before, names]) => before + names.join('/')),
  },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(undefined, null, 7, [], `spiffe://${DOMAIN}/`) },
)

const cases: fc.Arbitrary<Case> = fc.record({
  entries: fc.array(fc.record({ isStrange: fc.boolean(), use }), { minLength: 1, maxLength: 4 }),
  sub,
  aud: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom<unknown>(AUDIENCE, [AUDIENCE], ['other', AUDIENCE]) },
    { weight: 1, arbitrary: fc.constantFrom<unknown>('other', [], undefined, `${AUDIENCE}/`) },
  ),
  exp: fc.oneof(
    { weight: 10, arbitrary: fc.constant<unknown>(NOW + 60) },
    { weight: 1, arbitrary: fc.constantFrom<unknown>(NOW - 60, undefined, String(NOW + 60)) },
  ),
  typ: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('JWT', 'JOSE', undefined) },
    { weight: 1, arbitrary: fc.constantFrom('at+jwt', 'logout+jwt', '') },
  ),
})

const jwkOf = ({ isStrange, use: stated }: Case['entries'][number]): JWK => ({
  ...(isStrange ? stranger : es256).publicJwk,
  use: stated as string, // of any type, as in a document
})

function tokenOf({ sub: subject, aud, exp, typ }: Case): string {
  const header = encode(JSON.stringify({ alg: es256.alg, kid: es256.publicJwk.kid, typ }))
  return compact(es256, header, encode(JSON.stringify({ sub: subject, aud, exp })))
}

async function ours(each: Case): Promise<string> {
  const clock = manualClock(NOW)
  const bundle = { keys: each.entries.map(jwkOf) }
  const keys = remoteKeys('https://bundle.test/keys', {
    use: 'jwt-svid',
    fetch: async () => Response.json(bundle),
    clock,
  })
  const options = spiffe({ trustDomain: DOMAIN, audience: AUDIENCE, keys })
  const verifier = createVerifier({ ...options, clock })
  try {
    await verifier.verify(tokenOf(each))
    return 'accepted'
  } catch (error) {
    if (error instanceof AuthError) return 'refused'
    throw error
  }
}

async function theirs(each: Case): Promise<string> {
  const jwk = each.entries.find(({ isStrange, use: stated }) => !isStrange && stated === 'jwt-svid')
  if (jwk === undefined) return 'refused'
  const { use: _use, ...key } = jwkOf(jwk)
  try {
    const { payload, protectedHeader } = await jwtVerify(
      tokenOf(each),
      await importJWK(key, es256.alg),
      {
        algorithms: [es256.alg],
        audience: AUDIENCE,
        requiredClaims: ['sub', 'aud', 'exp'],
        currentDate: new Date(NOW * 1000),
      },
    )
    if (!['JWT', 'JOSE', undefined].includes(protectedHeader.typ)) return 'refused'
    return isWorkload(payload.sub) ? 'accepted' : 'refused'
  } catch {
    return 'refused'
  }
}

/** A URL that no parser writes in another way, with the domain alone before its path, and no name in that which is empty or a dot. */
function isWorkload(text: unknown): boolean {
  if (typeof text !== 'string' || !URL.canParse(text)) return false
  const { href, pathname } = new URL(text)
  const names = pathname.split('/').slice(1)
  return (
    href === text &&
    text === `spiffe://${DOMAIN}${pathname}` &&
    names.length > 0 &&
    names.every((each) => each !== '' && /^[A-Za-z0-9._-]*$/.test(each))
  )
}

test(
  'tokens of workloads: one verdict here and by the rules of SPIFFE over jose',
  { timeout },
  async () => {
    const counts = { accepted: 0, refused: 0 }
    const property = fc.asyncProperty(cases, async (each) => {
      const [here, there] = await Promise.all([ours(each), theirs(each)])
      expect(here).toBe(there)
      if (here === 'accepted') counts.accepted++
      else counts.refused++
    })
    await fc.assert(property, runs(1500))
    // Were nearly all cases of one kind, little would be compared.
    expect(counts.accepted).toBeGreaterThan(100)
    expect(counts.refused).toBeGreaterThan(100)
  },
)

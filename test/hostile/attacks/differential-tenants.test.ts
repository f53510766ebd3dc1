import { AuthError, createVerifier, localKeys, type IssuerTemplate } from '@portcullis/core'
import { manualClock } from '@portcullis/testing'
import fc from 'fast-check'
import { importJWK, type JWK, jwtVerify } from 'jose'
import { expect, test } from 'vitest'

import { runs, timeout } from './differential/runs.ts'
import { compact, encode, es256, NOW, stranger } from './differential/signers.ts'

// Tokens of many tenants: ours, beside jose and the rule as the provider describes it, which puts the id of the tenant into the issuer of
// each key and compares.

const LOGIN = 'https://login.example'
const IDS = [
  '11111111-2222-3333-4444-555555555555',
  '99999999-2222-3333-4444-aaaaaaaaaaaa',
  '9188040d-6c67-4c5b-b112-36a304b66dad',
] as const
const [ADA, , EXCEPTION] = IDS
const GUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

interface Entry extends JWK {
  readonly issuer?: unknown
}

interface Case {
  readonly keys: readonly Entry[]
  readonly token: string
  readonly isAny: boolean
}

const ids = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom<string>(...IDS) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<string>('{tenantid}', '', '..', '$&', IDS[1].toUpperCase()),
  },
)
const hosts = fc.oneof(
  { weight: 8, arbitrary: fc.constant(LOGIN) },
  { weight: 1, arbitrary: fc.constant('https://login.example.us') },
)
const spell = (host: string, id: string) => `${host}/${id}/v2.0`
const issuers = fc.tuple(hosts, ids).map(([host, id]) => spell(host, id))
const entries = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.constant(spell(LOGIN, '{tenantid}')) },
    { weight: 5, arbitrary: issuers },
    { weight: 1, arbitrary: fc.constantFrom<unknown>(undefined, null, 7, [spell(LOGIN, ADA)]) },
  ),
  { minLength: 1, maxLength: 4 },
)

const cases: fc.Arbitrary<Case> = fc
  .record({
    entries,
    host: hosts,
    id: ids,
    otherId: fc.option(ids, { freq: 4 }),
    tid: fc.oneof(
      { weight: 12, arbitrary: fc.constant('same') },
      { weight: 1, arbitrary: fc.constantFrom<unknown>(undefined, null, 7, [ADA]) },
    ),
    isStrange: fc.boolean(),
    isAny: fc.boolean(),
  })
  .map(({ entries: each, host, id, otherId, tid, isStrange, isAny }) => {
    const claims = {
      iss: spell(host, id),
      tid: tid === 'same' ? (otherId ?? id) : tid,
      exp: NOW + 60,
    }
    const header = encode(JSON.stringify({ alg: es256.alg, kid: es256.publicJwk.kid }))
    const token = compact(es256, header, encode(JSON.stringify(claims)))
    // A key that has signed nothing stands before the one that has.
    const others = isStrange ? [{ ...stranger.publicJwk, issuer: spell(LOGIN, '{tenantid}') }] : []
    return {
      keys: [...others, ...each.map((issuer) => ({ ...es256.publicJwk, issuer }))],
      token,
      isAny,
    }
  })

const accepts = (id: string, isAny: boolean) => (isAny ? id !== EXCEPTION : id === ADA)

async function ours({ keys, token, isAny }: Case): Promise<string> {
  const issuer: IssuerTemplate = {
    template: `${LOGIN}/{tenantid}/v2.0`,
    claim: 'tid',
    ...(isAny ? { tenants: 'any', except: [EXCEPTION] } : { tenants: [ADA] }),
  }
  const verifier = createVerifier({
    keys: localKeys(keys as JWK[] /* whose issuer may be of any type, as in a document */),
    issuer,
    audience: null,
    clock: manualClock(NOW),
  })
  try {
    await verifier.verify(token)
    return 'accepted'
  } catch (error) {
    if (error instanceof AuthError) return 'refused'
    throw error
  }
}

async function theirs({ keys, token, isAny }: Case): Promise<string> {
  for (const { issuer, ...jwk } of keys) {
    if (jwk.kid !== es256.publicJwk.kid || typeof issuer !== 'string') continue
    const key = await importJWK(jwk, es256.alg)
    const options = { algorithms: [es256.alg], currentDate: new Date(NOW * 1000) }
    const { payload } = await jwtVerify(token, key, options)
    const { iss, tid } = payload
    if (typeof tid !== 'string' || !GUID.test(tid) || !accepts(tid, isAny)) continue
    const isSame = issuer.split('{tenantid}').join(tid) === iss
    // The path of the issuer names the tenant as well, and the host is that of the cloud.
    if (isSame && iss === new URL(`/${tid}/v2.0`, LOGIN).href) return 'accepted'
  }
  return 'refused'
}

test(
  'tokens of many tenants: one verdict here and by the rule of the provider over jose',
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

import { AuthError, dpopProofs } from '@portcullis/core'
import { manualClock } from '@portcullis/testing'
import type { JSONWebKeySet } from 'jose'
import { jwksCache, validateJwtAccessToken } from 'oauth4webapi'
import { expect, test } from 'vitest'

import { proofMethods } from '../../../packages/core/src/dpop/proof-check.ts'
import { type BoundProof, boundProofs } from './corpus/bound-proofs.ts'
import { AUDIENCE, createTokenMaker, ISSUER } from './corpus/token-maker.ts'

// What an implementation that others have written makes of each proof of the corpus.

/** Why one of the two refuses what the other takes. */
interface Class {
  readonly why: string
  readonly refusedBy: 'us' | 'oauth4webapi'
  /** Whether it is about a row of the corpus, by the name. */
  readonly has: (name: string) => boolean
}

/** What `URL` reads as the URL of the request. */
const MENDED: ReadonlySet<string> = new Set(
  [
    'https:api.example/things/a',
    'https:/api.example/things/a',
    'https:///api.example/things/a',
    String.raw`https:\\api.example/things/a`,
    String.raw`https://api.example\things\a`,
    'https://@api.example/things/a',
    'https://api.example/things/a\0',
    'https://api.example/things/a ',
    'https://api.example/\tthings/a',
    ' https://api.example/things/a',
  ].map((htu) => `a proof for ${JSON.stringify(htu)}`),
)

const classes: readonly Class[] = [
  {
    why: 'a member twice: another reader might take the other one (RFC 7515 section 4, RFC 7519 section 4)',
    refusedBy: 'us',
    has: (name) => /\btwice$/.test(name),
  },
  {
    why: 'a member of a private or a secret key beside a public one: check 7 of RFC 9449 section 4.3; they look at what was imported',
    refusedBy: 'us',
    has: (name) => /^a proof of \w+ with \w+(?: of a private key|, which is null)$/.test(name),
  },
  {
    why: 'a jti that identifies nothing, or is longer than a memory should hold (RFC 9449 section 11.1)',
    refusedBy: 'us',
    has: (name) => /whose jti is ""$|with a long jti$/.test(name),
  },
  {
    why: 'a proof that is larger or deeper than any client makes it: they leave bounds to the server',
    refusedBy: 'us',
    has: (name) => /with a huge (?:header|payload)$|of many levels$/.test(name),
  },
  {
    why: 'a text that only `URL` takes for this URL: it mends slashes, and leaves out white space, NUL at the end and an empty userinfo',
    refusedBy: 'us',
    has: (name) => MENDED.has(name),
  },
  {
    why: 'an escaped letter: the same URL by RFC 3986 section 6.2.2.2, which RFC 9449 section 4.3 recommends; `URL` leaves it as it is',
    refusedBy: 'oauth4webapi',
    has: (name) => /%74hings/.test(name),
  },
]

const URL_OF_REQUEST = 'https://api.example/things/a'
const METHOD = 'GET'
/** The other one has no clock of ours. */
const now = Math.floor(Date.now() / 1000)

const maker = await createTokenMaker('https://canary.test')
const ours = dpopProofs({ origin: 'https://api.example', clock: manualClock(now) })
const authorizationServer = { issuer: ISSUER, jwks_uri: `${ISSUER}/jwks` }
const jwks = maker.document as JSONWebKeySet // as the maker's key endpoint would serve it

function tokenFor(jkt: string): string {
  const times = { iat: now, nbf: now, exp: now + 300 }
  const claims = { ...times, jti: 'a', client_id: 'a', cnf: { jkt } }
  return maker.token({ header: { typ: 'at+jwt' }, claims })
}

async function isAcceptedHere({ row: { proof }, token, jkt }: BoundProof): Promise<boolean> {
  try {
    const checked = await proofMethods(ours).check({
      proof,
      method: METHOD,
      target: '/things/a',
      token,
    })
    return checked.jkt === jkt
  } catch (error) {
    if (error instanceof AuthError) return false
    throw error
  }
}

async function isAcceptedThere({ row: { proof }, token }: BoundProof): Promise<boolean> {
  const headers = { authorization: `DPoP ${token}`, dpop: proof }
  const request = new Request(URL_OF_REQUEST, { method: METHOD, headers })
  const options = { [jwksCache]: { jwks, uat: now } }
  try {
    await validateJwtAccessToken(authorizationServer, request, AUDIENCE, options)
    return true
  } catch {
    // Whatever it is: it refuses in many ways.
    return false
  }
}

test('Portcullis and oauth4webapi give one verdict on every proof, or differ for a known reason', async () => {
  const cases = await boundProofs(maker, { url: URL_OF_REQUEST, method: METHOD, now }, tokenFor)
  const counts = { accepted: 0, refused: 0 }
  const unexplained: string[] = []
  const found = new Set<Class>()
  for (const each of cases) {
    const [here, there] = await Promise.all([isAcceptedHere(each), isAcceptedThere(each)])
    if (here === there) {
      counts[here ? 'accepted' : 'refused'] += 1
      continue
    }
    const refusedBy = here ? 'oauth4webapi' : 'us'
    const known = classes.filter((one) => one.refusedBy === refusedBy && one.has(each.row.name))
    for (const one of known) found.add(one)
    if (known.length !== 1) unexplained.push(`${each.row.name}: refused by ${refusedBy}`)
  }
  expect(unexplained).toEqual([])
  expect(classes.filter((each) => !found.has(each))).toEqual([])
  // Were most refused for what has nothing to do with them, little would be compared.
  expect(counts.accepted).toBeGreaterThanOrEqual(15)
  expect(counts.refused).toBeGreaterThanOrEqual(200)
})

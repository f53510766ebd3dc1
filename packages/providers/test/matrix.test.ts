import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'

import { type Algorithm, AuthError, createVerifier, type RemoteKeysOptions } from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { type Case, cases, type Change } from './cases.ts'

// Each provider with the metadata, the keys and the tokens that it documents, and without a network. The sample of its page is
// accepted; each token in the table is refused for the stated reason.

const ALGORITHMS = ['RS256', 'RS512', 'ES256', 'ES384'] as const
const issuers = new Map(
  await Promise.all(
    ALGORITHMS.map(
      async (algorithm) => [algorithm, await createTestIssuer({ algorithm })] as const,
    ),
  ),
)

function issuerOf(algorithm: Algorithm) {
  const issuer = issuers.get(algorithm as (typeof ALGORITHMS)[number]) // another is not in the map
  if (issuer === undefined) throw new Error(`state ${algorithm} in ALGORITHMS`)
  return issuer
}

function pageOf({ page }: Case): string {
  return readFileSync(new URL(`../docs/${page}.md`, import.meta.url), 'utf8')
}

/** The sample of the page; its times are those of the test. */
function sampleOf(each: Case): Record<string, unknown> {
  const [, sample = ''] = /```json\n(.*?)```/s.exec(pageOf(each)) ?? []
  const {
    iat: _iat,
    exp: _exp,
    nbf: _nbf,
    ...claims
  } = { ...(JSON.parse(sample) as Record<string, unknown>), ...each.differs }
  return claims
}

async function tokenOf(each: Case, change: Change = {}, algorithm = each.algorithm) {
  const claims = { ...sampleOf(each), ...change.claims }
  const omit = Object.keys(claims).filter((name) => Reflect.get(claims, name) === undefined)
  const header = { ...each.header, ...change.header }
  return await issuerOf(algorithm).token({ claims, header, ...(omit.length > 0 && { omit }) })
}

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Whether its key document is a set, in which other keys may stand. */
function publishes({ preset }: Case): boolean {
  return preset({}).algorithms !== undefined
}

/** The provider's documents, and what was asked for. */
function world(each: Case) {
  const { preset, metadata, keyUrl, algorithm } = each
  const asked: string[] = []
  // Every other algorithm has a key there as well: a token must not be refused for want of one.
  const others = publishes(each) ? ALGORITHMS : []
  const keys = [...new Set([algorithm, ...others])].map((name) => issuerOf(name).publicJwk)
  const documents = new Map<string, unknown>([[keyUrl, { keys }]])
  if (metadata) documents.set(metadata[1], { issuer: metadata[0], jwks_uri: keyUrl })
  const keysOptions: RemoteKeysOptions = {
    async fetch(url) {
      asked.push(url)
      const found = documents.get(url)
      return found === undefined ? new Response(null, { status: 404 }) : Response.json(found)
    },
  }
  return { asked, verifier: createVerifier(preset(keysOptions)) }
}

test.each(cases)('$page: the sample of its page is accepted', async (each) => {
  const { asked, verifier } = world(each)
  expect(asked, 'nothing is asked for before the first use').toEqual([])
  const { claims } = await verifier.verify(await tokenOf(each))
  expect(claims).toEqual(expect.objectContaining(sampleOf(each)))
  expect(asked).toEqual([...(each.metadata?.slice(1) ?? []), each.keyUrl])
})

describe.each(cases)('$page refuses', (each) => {
  test.each(each.refused)('a token %s: %o', async (_title, change, reason) => {
    const { verifier, asked } = world(each)
    const refusal = verifier.verify(await tokenOf(each, change))
    await expect(refusal).rejects.toMatchObject({ code: 'invalid_token', reason })
    expect(asked.filter((url) => url === each.keyUrl).length).toBeLessThanOrEqual(1)
  })

  test.each(each.required ?? ['iss', 'sub'])('a token without %s', async (name) => {
    const { verifier } = world(each)
    const token = await tokenOf(each, { claims: { [name]: undefined } })
    await expect(verifier.verify(token)).rejects.toMatchObject({ code: 'invalid_token' })
  })

  test('a token that is signed with a shared secret', async () => {
    const { verifier } = world(each)
    const exp = Math.floor(Date.now() / 1000) + 60
    const text = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ ...sampleOf(each), exp })}`
    const mac = createHmac('sha256', 'secret').update(text).digest('base64url')
    await expect(verifier.verify(`${text}.${mac}`)).rejects.toMatchObject({ reason: 'algorithm' })
  })

  const accepted = new Set<Algorithm>([each.algorithm, ...(each.algorithmsToo ?? [])])
  const others = publishes(each) ? ALGORITHMS.filter((name) => !accepted.has(name)) : []
  test.each(others)('a token of %s, though the key is published', async (algorithm) => {
    const { verifier } = world(each)
    const token = await tokenOf(each, {}, algorithm)
    await expect(verifier.verify(token)).rejects.toMatchObject({ reason: 'algorithm' })
  })
})

test.each(cases.filter(({ differs }) => differs === undefined))(
  '$page: what its page says of `detail` is what the refusals say',
  async (each) => {
    const quoted = [...pageOf(each).matchAll(/^\| `(.*?)` +\|/gm)].map(([, detail = '']) => detail)
    const ofClaims = quoted.filter(
      (detail) =>
        /^(?:requiredClaims|exp is|aud is missing|the header's typ)/.test(detail) &&
        !detail.endsWith('...'),
    )
    const { verifier } = world(each)
    const details = await Promise.all(
      each.refused.map(async ([, change]) => {
        const refusal: unknown = await verifier
          .verify(await tokenOf(each, change))
          .catch((error: unknown) => error)
        return refusal instanceof AuthError ? refusal.detail : undefined
      }),
    )
    expect(details).toEqual(expect.arrayContaining(ofClaims))
  },
)

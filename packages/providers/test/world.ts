import { readFileSync } from 'node:fs'

import { type Algorithm, createVerifier, type RemoteKeysOptions } from '@portcullis/core'
import { createTestIssuer, type TestIssuer } from '@portcullis/testing'

import type { Case, Change } from './cases.ts'

// What a provider serves and issues, by its case and by the sample of its page.

export const ALGORITHMS = ['RS256', 'RS512', 'ES256', 'ES384'] as const
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

export function pageOf({ page }: Case): string {
  return readFileSync(new URL(`../docs/${page}.md`, import.meta.url), 'utf8')
}

/** The sample of the page; its times are those of the test. */
export function sampleOf(each: Case): Record<string, unknown> {
  const [, sample = ''] = /```json\n(.*?)```/s.exec(pageOf(each)) ?? []
  const {
    iat: _iat,
    exp: _exp,
    nbf: _nbf,
    ...claims
  } = { ...(JSON.parse(sample) as Record<string, unknown>), ...each.differs }
  return claims
}

export async function tokenOf(each: Case, change: Change = {}, algorithm = each.algorithm) {
  return await signedBy(issuerOf(algorithm), each, change)
}

/** With a key that is not published. @param kid Such as that of a key which is. */
export async function tokenOfStranger(each: Case, change: Change = {}, kid?: string) {
  const stranger = await createTestIssuer({ algorithm: each.algorithm })
  const header = { ...change.header, ...(kid !== undefined && { kid }) }
  return await signedBy(stranger, each, { ...change, header })
}

export function publishedKid({ algorithm }: Case): string | undefined {
  return issuerOf(algorithm).publicJwk.kid
}

async function signedBy(issuer: TestIssuer, each: Case, change: Change): Promise<string> {
  const claims = { ...sampleOf(each), ...change.claims }
  const omit = Object.keys(claims).filter((name) => Reflect.get(claims, name) === undefined)
  const header = { ...each.header, ...change.header }
  return await issuer.token({ claims, header, ...(omit.length > 0 && { omit }) })
}

/** Whether its key document is a set, in which other keys may stand. */
export function publishes({ preset }: Case): boolean {
  return preset({}).algorithms !== undefined
}

/** What the provider publishes, by its URL. */
export function documentsOf(each: Case): ReadonlyMap<string, unknown> {
  const { metadata, keyUrl, keyIssuer, algorithm, use = 'sig' } = each
  // Every other algorithm has a key there as well: a token must not be refused for want of one.
  const others = publishes(each) ? ALGORITHMS : []
  const keys = [...new Set([algorithm, ...others])].map((name) =>
    Object.assign({}, issuerOf(name).publicJwk, { use, issuer: keyIssuer }),
  )
  const documents = new Map<string, unknown>([[keyUrl, { keys }]])
  if (metadata) documents.set(metadata[1], { issuer: metadata[0], jwks_uri: keyUrl })
  return documents
}

/**
 * The provider's documents, and what was asked for.
 *
 * @param changed Documents that differ, by their URL: a number is the status of a failure.
 */
export function world(each: Case, changed: Readonly<Record<string, unknown>> = {}) {
  const asked: string[] = []
  const documents = documentsOf(each)
  const keysOptions: RemoteKeysOptions = {
    async fetch(url) {
      asked.push(url)
      const found = changed[url] ?? documents.get(url) ?? 404
      return typeof found === 'number'
        ? new Response(null, { status: found })
        : Response.json(found)
    },
  }
  return { asked, verifier: createVerifier(each.preset(keysOptions)) }
}

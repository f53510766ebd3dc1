import { extractWWWAuthenticateParams } from '@modelcontextprotocol/client'
import { AuthError, authErrorReasons, type AuthErrorOptions, dpopProofs } from '@portcullis/core'
import { parse } from 'auth-header'
import {
  allowInsecureRequests,
  customFetch,
  protectedResourceRequest,
  WWWAuthenticateChallengeError,
} from 'oauth4webapi'
import { describe, expect, test } from 'vitest'

// Each challenge that a guard can send, read by parsers of other authors. Each must find what was meant, and nothing else.

type Parameters = Readonly<Record<string, string | undefined>>
type Challenge = readonly [scheme: string, parameters: Parameters]

const CODES = ['missing_token', 'invalid_request', 'invalid_token', 'insufficient_scope'] as const
const OF_PROOFS = ['invalid_dpop_proof', 'use_dpop_nonce'] as const
const AGAIN = 'insufficient_user_authentication' as const

const PRESENTED: AuthErrorOptions = {
  realm: "Ada's API, v1: [a=b; c] (100%)",
  scope: 'files:read https://api.example.com/.default a.b/c',
  resourceMetadata: 'https://api.example.com/.well-known/oauth-protected-resource/a,b;c=d?e=f&g=h',
}
const dpop = (required: boolean) => dpopProofs({ origin: 'https://api.example.com', required })

const OPTIONS: Readonly<Record<string, AuthErrorOptions>> = {
  'nothing stated': {},
  'all that a guard can state': PRESENTED,
  'both schemes': { ...PRESENTED, dpop: dpop(false) },
  'the scheme DPoP alone': { ...PRESENTED, dpop: dpop(true), scheme: 'DPoP' },
  'a log-in': { ...PRESENTED, acrValues: 'urn:mace:incommon:iap:silver phr', maxAge: 300 },
}

type Refusal = ConstructorParameters<typeof AuthError>

/** Each code with each of its reasons. */
const refusals = [...CODES, ...OF_PROOFS, AGAIN].flatMap(
  (code: (typeof CODES | typeof OF_PROOFS)[number] | typeof AGAIN) => {
    const reasons: readonly string[] = authErrorReasons[code]
    return reasons.map((reason) => [code, reason] as const)
  },
)

/** What a reader has to find. */
function meant(code: string, description: string, options: AuthErrorOptions): Parameters {
  const { realm = 'api', scope, resourceMetadata } = options
  return {
    realm,
    error: code === 'missing_token' ? undefined : code,
    error_description: code === 'missing_token' ? undefined : description,
    scope,
    resource_metadata: resourceMetadata as string | undefined,
  }
}

async function readByOauth4webapi(header: string): Promise<readonly Challenge[]> {
  const answer = async () =>
    new Response('', { status: 401, headers: { 'www-authenticate': header } })
  const asked = { [customFetch]: answer, [allowInsecureRequests]: true }
  const url = new URL('https://api.example.com')
  try {
    await protectedResourceRequest('token', 'GET', url, undefined, undefined, asked)
  } catch (error) {
    if (!(error instanceof WWWAuthenticateChallengeError)) throw error
    return error.cause.map(({ scheme, parameters }) => [scheme, { ...parameters }] as const)
  }
  return []
}

/** It reads one challenge alone. */
function readByAuthHeader(header: string): Challenge {
  const { scheme, params } = parse(header) as { scheme: string; params: Parameters }
  return [scheme.toLowerCase(), params]
}

function readBySdk(header: string): Parameters {
  const response = new Response('', { status: 401, headers: { 'www-authenticate': header } })
  const { resourceMetadataUrl, scope, error } = extractWWWAuthenticateParams(response)
  return { resource_metadata: resourceMetadataUrl?.href, scope, error }
}

describe.each(Object.entries(OPTIONS))('%s', (_title, options) => {
  test.each(refusals)('%s, %s', async (code, reason) => {
    const error = new AuthError(...([code, reason, options] as unknown as Refusal))
    const header = error.headers['WWW-Authenticate'] ?? ''
    const expected = meant(code, error.message, options)
    const challenges = await readByOauth4webapi(header)
    const first = challenges[0]?.[1]
    expect(first).toMatchObject(
      defined({
        realm: expected['realm'],
        error: expected['error'],
        error_description: expected['error_description'],
      }),
    )
    const asksForToken = ['missing_token', 'invalid_token', AGAIN].includes(code)
    expect(first).toMatchObject(
      defined({
        resource_metadata: expected['resource_metadata'],
        scope: asksForToken ? expected['scope'] : undefined,
      }),
    )
    expect(challenges.map(([scheme]) => scheme)).toEqual(schemesIn(options, code))
    expect(readBySdk(header)).toMatchObject(
      defined({ resource_metadata: expected['resource_metadata'], error: expected['error'] }),
    )
    // One at a time, as this parser wants them.
    for (const [scheme, parameters] of challenges) {
      const alone = challengeOf(header, scheme)
      expect(readByAuthHeader(alone)).toEqual([scheme, parameters])
    }
  })
})

function defined(parameters: Parameters): Parameters {
  return Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== undefined))
}

function schemesIn({ dpop: proofs, scheme = 'Bearer' }: AuthErrorOptions, code: string) {
  const first = OF_PROOFS.includes(code as never) ? 'dpop' : scheme.toLowerCase()
  if (proofs === undefined) return [first]
  if (proofs.required) return ['dpop']
  return [first, first === 'dpop' ? 'bearer' : 'dpop']
}

/** No text in it has the name of a scheme before a realm. */
function challengeOf(header: string, scheme: string): string {
  const starts = [...header.matchAll(/(?:^|, )(?=(?:Bearer|DPoP) realm=)/g)]
  const parts = starts.map(({ index, 0: { length } }, at) =>
    header.slice(index + length, starts[at + 1]?.index),
  )
  return parts.find((each) => each.toLowerCase().startsWith(scheme)) ?? ''
}

test('no fixed text of a challenge has a character that needs an escape', () => {
  const texts = refusals.map(([code, reason]) => {
    return new AuthError(...([code, reason] as unknown as Refusal)).message
  })
  expect(texts.filter((text) => !/^[\u0020\u0021\u0023-\u005B\u005D-\u007E]+$/.test(text))).toEqual(
    [],
  )
})

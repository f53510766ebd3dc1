import { createVerifier, localKeys, type Verifier, type VerifierOptions } from '@portcullis/core'
import { createTestIssuer, type TokenOptions } from '@portcullis/testing'

const ISSUER = 'https://auth.test'

export const issuer = await createTestIssuer({ issuer: ISSUER, audience: 'api' })
const stranger = await createTestIssuer({ issuer: ISSUER, audience: 'api' })

/** As strict as a verifier can be, so that there is a bad token for every reason. */
const rules = {
  issuer: ISSUER,
  audience: 'api',
  maxTokenAge: 600,
  requiredClaims: ['sub'],
  type: 'at+jwt',
} satisfies Partial<VerifierOptions>

export const verifier = verifierOf(rules)

export function verifierOf(options: Partial<VerifierOptions> = {}): Verifier {
  // As a set: a key that is published alone is tried for any `kid`.
  const keys = localKeys({ keys: [issuer.publicJwk] })
  return createVerifier({ keys, issuer: null, audience: null, ...options })
}

export async function token({ claims, header, ...more }: TokenOptions = {}): Promise<string> {
  return await issuer.token({
    claims: { sub: 'ada', scope: 'read', role: 'user', ...claims },
    header: { typ: 'at+jwt', ...header },
    ...more,
  })
}

export async function bearer(options?: TokenOptions): Promise<{ authorization: string }> {
  return { authorization: `Bearer ${await token(options)}` }
}

const good = await token()
const [goodHeader = '', goodPayload = '', goodSignature = ''] = good.split('.')
const now = Math.floor(Date.now() / 1000)

interface BadToken {
  reason: string
  name: string
  token: string
}

/** A sender of these proves nothing, and must not learn which of them it has sent. */
export const unproven: readonly BadToken[] = [
  { reason: 'malformed', name: 'that is one word', token: 'abc' },
  { reason: 'malformed', name: 'without a signature', token: `${goodHeader}.${goodPayload}.` },
  { reason: 'malformed', name: 'of four parts', token: `${good}.${goodSignature}` },
  { reason: 'malformed', name: 'whose header is no JSON', token: `abc.${goodPayload}.abc` },
  { reason: 'too_large', name: 'of 20 KiB', token: await token({ claims: { pad: pad(15_000) } }) },
  { reason: 'algorithm', name: 'with alg none', token: reheaded({ alg: 'none' }) },
  { reason: 'algorithm', name: 'with a MAC as its signature', token: reheaded({ alg: 'HS256' }) },
  { reason: 'algorithm', name: 'without alg', token: reheaded({}) },
  {
    reason: 'critical_header',
    name: 'with an extension',
    token: reheaded({ alg: 'RS512', crit: ['exp'] }),
  },
  {
    reason: 'critical_header',
    name: 'with an unencoded payload',
    token: reheaded({ alg: 'RS512', b64: false }),
  },
  { reason: 'unknown_key', name: 'of an unknown key', token: await stranger.token() },
  {
    reason: 'signature',
    name: 'of another key',
    token: await stranger.token({ header: { kid: issuer.publicJwk.kid } }),
  },
  {
    reason: 'signature',
    name: 'with other claims than were signed',
    token: `${goodHeader}.${encoded({ sub: 'eve' })}.${goodSignature}`,
  },
]

/** The issuer has signed these: a client may read why they will not do. */
export const proven: readonly (BadToken & { description: string })[] = [
  {
    reason: 'expired',
    name: 'that has expired',
    token: await token({ expiresIn: -60 }),
    description: 'The access token has expired',
  },
  {
    reason: 'not_yet_valid',
    name: 'that is for later',
    token: await token({ notBefore: 120 }),
    description: 'The access token is not yet valid',
  },
  {
    reason: 'issued_in_future',
    name: 'from the future',
    token: await token({ claims: { iat: now + 120 } }),
    description: 'The access token was issued in the future',
  },
  {
    reason: 'too_old',
    name: 'from long ago',
    token: await token({ claims: { iat: now - 1200 } }),
    description: 'The access token was issued too long ago',
  },
  {
    reason: 'issuer',
    name: 'of another issuer',
    token: await token({ claims: { iss: 'https://other.test' } }),
    description: 'The access token is from another issuer',
  },
  {
    reason: 'audience',
    name: 'for another audience',
    token: await token({ claims: { aud: 'other' } }),
    description: 'The access token is for another audience',
  },
  {
    reason: 'type',
    name: 'of another type',
    token: await token({ header: { typ: 'id+jwt' } }),
    description: 'The access token is of another type',
  },
  {
    reason: 'missing_claim',
    name: 'without a required claim',
    token: await token({ omit: ['sub'] }),
    description: 'The access token lacks a required claim',
  },
  {
    reason: 'claim',
    name: 'with a time that is no number',
    token: await token({ claims: { exp: 'soon' } }),
    description: 'The access token has a claim of the wrong form',
  },
]

function reheaded(header: object): string {
  return `${encoded(header)}.${goodPayload}.${goodSignature}`
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function pad(length: number): string {
  return 'a'.repeat(length)
}

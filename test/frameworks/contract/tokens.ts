import {
  AuthError,
  authErrorReasons,
  type AuthErrorReasons,
  createVerifier,
  localKeys,
  type Verifier,
  type VerifierOptions,
} from '@portcullis/core'
import { createTestIssuer, type TokenOptions } from '@portcullis/testing'

const ISSUER = 'https://auth.test'

/** Seconds. Tokens are signed when a file begins, and on a busy machine its last test may run many minutes later. */
export const LIFETIME = 7200

export const issuer = await createTestIssuer({
  issuer: ISSUER,
  audience: 'api',
  lifetime: LIFETIME,
})
// Two keys, and so a set of them: a key that is published alone is tried for any `kid`.
await issuer.rotate({ publish: 'both' })

/** As strict as a verifier can be, so that there is a bad token for every reason. */
const rules = {
  issuer: ISSUER,
  audience: 'api',
  maxTokenAge: LIFETIME,
  requiredClaims: ['sub'],
  type: 'at+jwt',
} satisfies Partial<VerifierOptions>

export const verifier = verifierOf(rules)

export function verifierOf(options: Partial<VerifierOptions> = {}): Verifier {
  // As a set here as well.
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

type Reason = AuthErrorReasons['invalid_token']

interface BadToken {
  readonly reason: Reason
  readonly name: string
  readonly token: string
}

/** What the client reads of a token that the issuer has signed; `null` where it must not learn the reason. */
function descriptionOf(reason: Reason): string | null {
  const error = new AuthError('invalid_token', reason)
  return 'reason' in error.toJSON() ? error.message : null
}

/** One for each reason: which tokens have it is core's to prove, and an adapter's to answer alike. */
const table: readonly BadToken[] = oneOfEach(
  await issuer.badTokens({ claims: { sub: 'ada' }, header: { typ: 'at+jwt' } }),
)

/** A sender of these proves nothing, or nothing that can be read, and must not learn which of them it has sent. */
export const unproven: readonly BadToken[] = table.filter(
  ({ reason }) => descriptionOf(reason) === null,
)

/** The issuer has signed these: a client may read why they will not do. */
export const proven: readonly (BadToken & { readonly description: string })[] = [
  ...table,
  {
    reason: 'too_old' as const,
    name: 'issued long ago',
    token: await token({ claims: { iat: Math.floor(Date.now() / 1000) - 2 * LIFETIME } }),
  },
  {
    reason: 'type' as const,
    name: 'wrong type',
    token: await token({ header: { typ: 'id+jwt' } }),
  },
  {
    reason: 'missing_claim' as const,
    name: 'missing claim',
    token: await token({ omit: ['sub'] }),
  },
].flatMap((bad) => {
  const description = descriptionOf(bad.reason)
  return description === null ? [] : [{ ...bad, description }]
})

export function oneOfEach<Bad extends { readonly reason: string }>(all: readonly Bad[]): Bad[] {
  return [...new Map(all.map((bad) => [bad.reason, bad])).values()]
}

/** The reasons that none of these is refused for. */
export const untried: readonly string[] = authErrorReasons.invalid_token.filter(
  (reason) => ![...unproven, ...proven].some((bad) => bad.reason === reason),
)

import type { SigningKey } from '../keys/signing-key.ts'
import {
  type ClaimOptions,
  claimsOf,
  signToken,
  type TokenDefaults,
  type TokenOptions,
  without,
} from '../tokens/token.ts'
import type { Question } from './opaque-tokens.ts'

// Writes what is said of a token, as plain JSON or signed.

/** The `typ` of signed answers, and with `application/` before it their media type. RFC 9701 section 5. */
export const SIGNED_TYPE = 'token-introspection+jwt'

export const NOT_ACTIVE: string = JSON.stringify({ active: false })

export function issuerAt({ issuer }: TokenDefaults, origin: string): string {
  return issuer ?? origin
}

/** What is said of an active token. RFC 7662 section 2.2. */
export interface Statement {
  readonly at: (origin: string) => Readonly<Record<string, unknown>>
  /** @param now Seconds. */
  readonly isActiveAt: (now: number) => boolean
}

export function stateToken(defaults: TokenDefaults, options: ClaimOptions): Statement {
  const claims = claimsOf(defaults, options)
  const { exp, nbf, cnf } = claims
  const isDpop = typeof cnf === 'object' && cnf !== null && Object.hasOwn(cnf, 'jkt')
  const usual = { active: true, token_type: isDpop ? 'DPoP' : 'Bearer' }
  return {
    at(origin) {
      const iss = options.omit?.includes('iss') === true ? {} : { iss: issuerAt(defaults, origin) }
      return { ...usual, ...iss, ...claims }
    },
    isActiveAt: (now) =>
      !(typeof exp === 'number' && now >= exp) && !(typeof nbf === 'number' && now < nbf),
  }
}

/** Answers with a statement, or with what should have been one, in the form that was asked for. */
export async function answerWith(
  defaults: TokenDefaults,
  question: Question,
  statement: string | Uint8Array,
): Promise<Response> {
  if (!question.isSigned) return jsonAnswer(statement)
  const { iss, aud, iat } = envelope(defaults, question)
  const payload = Buffer.concat([
    Buffer.from(`${JSON.stringify({ iss, aud, iat }).slice(0, -1)},"token_introspection":`),
    Buffer.from(statement),
    Buffer.from('}'),
  ])
  return signedAnswer(await signToken(defaults, { header: { typ: SIGNED_TYPE }, payload }))
}

export async function signAnswer(
  defaults: TokenDefaults,
  question: Question,
  parts: Pick<TokenOptions, 'claims' | 'header' | 'omit'>,
  key?: SigningKey,
): Promise<string> {
  const { claims, omit = [] } = parts
  const payload = JSON.stringify(without({ ...envelope(defaults, question), ...claims }, omit))
  const header = { typ: SIGNED_TYPE, ...parts.header }
  return await signToken(defaults, { header, omit, payload }, key)
}

function envelope(defaults: TokenDefaults, { clientId, origin }: Question) {
  return {
    iss: issuerAt(defaults, origin),
    aud: clientId,
    iat: Math.floor(defaults.clock.now()),
  }
}

export function jsonAnswer(body: string | Uint8Array): Response {
  return new Response(Buffer.from(body), { headers: { 'content-type': 'application/json' } })
}

export function signedAnswer(jwt: string): Response {
  return new Response(jwt, { headers: { 'content-type': `application/${SIGNED_TYPE}` } })
}

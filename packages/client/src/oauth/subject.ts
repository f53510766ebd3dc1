import { hash } from 'node:crypto'

import { claimsOf, isNumericDate, membersOf } from '../answer/token-response.ts'
import type { Grant } from './grant-exchange.ts'
import { type Parameters, parametersOf, type Target } from './target.ts'

// On whose behalf a token is asked for: the subject, the grant that it is exchanged by, and the name that both are remembered by.

/** What a guard knows of its caller: the `Auth` of `@portcullis/core`, after the token was verified. */
export interface Subject {
  /** Without its scheme. */
  readonly token: string
  readonly claims: object
}

export interface BearerSubject {
  readonly token: string
  /** The claim `exp`: seconds since 1970-01-01T00:00:00Z. `undefined` if it has none. */
  readonly end: number | undefined
}

/**
 * From the claims as they were signed: what a schema made of them may have lost `exp` and `cnf`. @throws TypeError for no `Auth`, and for a
 * token that is bound: whoever exchanges it had to prove a key that is not ours.
 */
export function bearerSubject(auth: Subject): BearerSubject {
  const [token] = membersOf(auth, ['token'])
  const [claims] = membersOf(auth, ['claims'])
  if (typeof token !== 'string' || token === '' || typeof claims !== 'object' || claims === null) {
    // Mistake `onBehalfOf: the first argument must be what the guard has verified`: Give `getAuth(request)`, not the text of a
    // token.
    throw new TypeError('onBehalfOf: the first argument must be what the guard has verified')
  }
  // Of an answer about a JWT, the signed claims are those of the answer: what the token itself says counts as well.
  const facts = [recordedClaims(auth) ?? claims, claimsOf(token)]
  if (facts.some((each) => Object.hasOwn(each, 'cnf'))) {
    // Mistake `onBehalfOf: the token is bound to a key or certificate`: Only its holder can prove that key. Use client
    // credentials, or let the caller get a token for the other service.
    throw new TypeError(
      'onBehalfOf: the token is bound to a key or certificate, which only its holder can prove',
    )
  }
  const ends = facts.flatMap((each) => membersOf(each, ['exp'])).filter(isNumericDate)
  return { token, end: ends.length === 0 ? undefined : Math.min(...ends) }
}

/** Where core notes at an `Auth` what was signed. Its name is registered, so that nothing of core is imported for it. */
const RECORD = Symbol.for('@portcullis/core signed')

/** `undefined` unless a verifier has noted them at this very `Auth`: a copy of it, or a `Proxy` around it, was made by others. */
function recordedClaims(auth: Subject): object | undefined {
  const record: unknown = Object.hasOwn(auth, RECORD) ? Reflect.get(auth, RECORD) : undefined
  const [of] = membersOf(record, ['of'])
  const [signed] = membersOf(record, ['signed'])
  const [claims] = membersOf(signed, ['claims'])
  return of === auth && typeof claims === 'object' && claims !== null ? claims : undefined
}

const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'

export function grantFor(
  { token, end }: BearerSubject,
  request: Target & { readonly form: string; readonly actorToken: string | undefined },
): Grant {
  const { form, actorToken } = request
  const target = parametersOf(request)
  if (form === 'jwt-bearer') {
    const type = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
    const subject: Parameters = [
      ['assertion', token],
      ['requested_token_use', 'on_behalf_of'],
    ]
    return { type, parameters: [...subject, ...target], end }
  }
  const type = 'urn:ietf:params:oauth:grant-type:token-exchange'
  const subject = typed('subject_token', token)
  const actor = actorToken === undefined ? [] : typed('actor_token', actorToken)
  return { type, parameters: [...subject, ...actor, ...target], end }
}

function typed(name: string, token: string): Parameters {
  return [
    [name, token],
    [`${name}_type`, ACCESS_TOKEN],
  ]
}

/**
 * Of all that decides its token. Each part comes with its length, so that none can continue another. The key of `dpop` is not among
 * them: a client has one, and its memory is its own.
 */
export function digestOf(clientId: string, { type, parameters, end }: Grant): string {
  const parts = [clientId, type, String(end), ...parameters.flat()]
  const text = parts.map((part) => `${Buffer.byteLength(part)}:${part}`).join('')
  return hash('sha256', text, 'base64')
}

/** With room for its state. */
export function bytesOf({ parameters }: Grant): number {
  return parameters.flat().reduce((sum, part) => sum + part.length, 2048)
}

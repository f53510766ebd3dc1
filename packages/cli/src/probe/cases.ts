import type { WrongToken } from './claims.ts'
import type { Said } from './complaints.ts'
import type { Check } from './kinds.ts'

// One request of a probe: what is sent, and what an API has to make of it.

export interface ProbeCase {
  readonly name: string
  /**
   * What an API has to make of it: no credentials that it knows (`missing`), no token (`malformed`), several (`invalid_request`),
   * a token that no key of the issuer proves (`unproven`), one that is too long (`too_large`), the user's token (`good`) or one that was
   * minted for the probe (`minted`), the same written in another way (`like_good`) or at another place (`elsewhere`), it in the first of
   * two headers (`two_headers`) or behind a forged one (`forged_first`), a token of the issuer that is wrong in one thing (`wrong`), a
   * token of the user that lacks a scope (`lacking`), or no right token with another method (`head`, `options`).
   */
  readonly kind:
    | 'missing'
    | 'malformed'
    | 'invalid_request'
    | 'unproven'
    | 'too_large'
    | 'good'
    | 'minted'
    | 'like_good'
    | 'elsewhere'
    | 'two_headers'
    | 'forged_first'
    | 'wrong'
    | 'lacking'
    | 'head'
    | 'options'
  readonly authorization: readonly string[]
  readonly token: string | undefined
  /** If it is not the one of the probe. */
  readonly method?: 'HEAD' | 'OPTIONS' | undefined
  /** Added to the query of the URL. */
  readonly query?: Readonly<Record<string, string>> | undefined
  /** The body, which all others lack. */
  readonly form?: Readonly<Record<string, string>> | undefined
  /** Beside those of every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** For what the token has to be refused, though a key of the issuer may have signed it; at `elsewhere`, which place this is. */
  readonly check?: Check | Place | undefined
  /** What is said of an API that lets it through, where its kind does not say that. */
  readonly accepted?: Said | undefined
  /** Of a `wrong`: the token itself, with the one that is right. */
  readonly wrong?: WrongToken | undefined
}

/** Where no API should read a token. */
export type Place = 'other schemes' | '?access_token=' | 'access_token in a form'

const WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

export function takesBody(method: string): boolean {
  return WITH_BODY.has(method)
}

export interface NamedToken {
  readonly name: string
  readonly token: string
}

export function ofToken(name: string, kind: ProbeCase['kind'], token: string): ProbeCase {
  return { name, kind, authorization: [`Bearer ${token}`], token }
}

export function ofHeaders(
  name: string,
  kind: ProbeCase['kind'],
  ...authorization: readonly string[]
): ProbeCase {
  return { name, kind, authorization, token: undefined }
}

export function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

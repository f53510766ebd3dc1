import { memberOf } from '../input/unread-json.ts'
import { referredTo } from './references.ts'

// Reads what an operation asks of its caller: the `security` of a description.

export type Security =
  | { readonly needs: 'nothing' }
  | TokenSecurity
  /** Nothing that a probe can send, or what cannot be read. */
  | { readonly needs: 'something else'; readonly why: string }

export interface TokenSecurity {
  readonly needs: 'a token'
  /** For each alternative that takes a token, the scopes that the token must have. */
  readonly scopes: readonly (readonly string[])[]
}

/** Each request is compared with all of them. */
const MOST_ALTERNATIVES = 100

const UNREADABLE: Security = { needs: 'something else', why: 'its security cannot be read' }
const NO_TOKEN: Security = {
  needs: 'something else',
  why: 'its security schemes take no token, but a key, a password or a certificate',
}

/** @param stated The `security` of the operation; of the document, where the operation has none. */
export function securityOf(stated: unknown, document: unknown): Security {
  if (stated === undefined) return { needs: 'nothing' }
  if (!Array.isArray(stated) || stated.length > MOST_ALTERNATIVES) return UNREADABLE
  const alternatives = (stated as readonly unknown[]).map(schemesOf)
  // Each is enough, and one without a scheme asks for nothing.
  if (alternatives.length === 0 || alternatives.some((schemes) => schemes?.length === 0)) {
    return { needs: 'nothing' }
  }
  const scopes: (readonly string[])[] = []
  for (const schemes of alternatives) {
    if (schemes === undefined) return UNREADABLE
    const ofToken = schemes.filter(([name]) => takesToken(schemeNamed(name, document)))
    const needed = new Set(ofToken.flatMap((each) => scopesOf(each, document)))
    if (ofToken.length > 0) scopes.push([...needed])
  }
  return scopes.length === 0 ? NO_TOKEN : { needs: 'a token', scopes }
}

/** Whether a token with these scopes satisfies no alternative. */
export function lacksScope({ scopes }: TokenSecurity, granted: ReadonlySet<string>): boolean {
  return scopes.every((needed) => needed.some((scope) => !granted.has(scope)))
}

type Scheme = readonly [name: string, roles: unknown]

function schemesOf(alternative: unknown): readonly Scheme[] | undefined {
  return typeof alternative === 'object' && alternative !== null && !Array.isArray(alternative)
    ? Object.entries(alternative)
    : undefined
}

function schemeNamed(name: string, document: unknown): unknown {
  const schemes = memberOf(memberOf(document, 'components'), 'securitySchemes')
  return referredTo(memberOf(schemes, name), document)
}

/** One that is not described may be for tokens, so what needs it is asked. */
function takesToken(scheme: unknown): boolean {
  const [type, kind, place, header] = ['type', 'scheme', 'in', 'name'].map((name) => {
    const word = memberOf(scheme, name)
    return typeof word === 'string' ? word.toLowerCase() : undefined
  })
  if (type === 'http') return kind === 'bearer' || kind === 'dpop'
  // As descriptions of bearer tokens were written before there was a word for them.
  if (type === 'apikey') return place === 'header' && header === 'authorization'
  return type !== 'mutualtls'
}

/** Of other schemes they are names of roles, which no token has to have. */
function scopesOf([name, stated]: Scheme, document: unknown): readonly string[] {
  const type = memberOf(schemeNamed(name, document), 'type')
  if ((type !== 'oauth2' && type !== 'openIdConnect') || !Array.isArray(stated)) return []
  return stated.filter((scope) => typeof scope === 'string')
}

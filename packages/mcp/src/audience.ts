import type { Verifier } from '@portcullis/core'
import { audiencesOf, type ClientAudience, onlyIssuerOf } from '@portcullis/core/adapter'
import { isJsonObject } from '@portcullis/kit/json'
import { isText, isTextList, type OptionCheck, ownMembers } from '@portcullis/kit/options'

import { isScope } from './option-checks.ts'

// What tokens for an endpoint name as their audience, and what stands for it where an issuer writes none.

export const isAudience: OptionCheck = (value) => {
  if (!isJsonObject(value)) {
    return isText(value) === undefined || isTextList(value) === undefined
      ? undefined
      : 'must be a string, a list of strings, or { clientIds, scope, issuer }'
  }
  const { clientIds, scope, issuer, ...others } = ownMembers(value)
  const ofIssuer = issuer === undefined ? undefined : isText(issuer)
  const parts = [isTextList(clientIds), isScope(scope), ofIssuer]
  const isWhole = parts.every((each) => each === undefined)
  return isWhole && Object.keys(others).length === 0
    ? undefined
    : 'must have clientIds, a list of strings, scope, which this resource alone has, and at most issuer, a string'
}

interface ByClient {
  readonly clientIds: readonly string[]
  readonly scope: string
  readonly issuer?: string | undefined
}

/** As the option of an endpoint has it. */
interface Stated {
  readonly resource: string
  readonly audience?: string | readonly string[] | ByClient | undefined
}

/** What is accepted, from checked options. */
export function audienceOf(
  { resource, audience }: Stated,
  clientIdClaims: readonly string[],
): { readonly audience: readonly string[]; readonly clients: ClientAudience | undefined } {
  if (audience !== undefined && !isByClient(audience)) {
    return { audience: [audience].flat(), clients: undefined }
  }
  const { pathname, search, origin } = new URL(resource)
  // There is nothing else at the root of an origin that the other spelling could mean.
  const isRoot = pathname === '/' && search === ''
  const names = isRoot ? [...new Set([resource, origin, `${origin}/`])] : [resource]
  if (audience === undefined) return { audience: names, clients: undefined }
  const { clientIds, scope, issuer } = ownMembers(audience)
  return { audience: names, clients: { clientIds: [...clientIds], issuer, clientIdClaims, scope } }
}

function isByClient(audience: NonNullable<Stated['audience']>): audience is ByClient {
  return isJsonObject(audience)
}

/** Another issuer may have a client of the same name, which somebody else has registered there. */
export function checkClients(
  factory: string,
  verifier: Verifier<unknown>,
  clients: ClientAudience | undefined,
): void {
  if (clients === undefined || clients.issuer !== undefined) return
  if (onlyIssuerOf(verifier) !== undefined) return
  // Mistake `…: the audience must have the issuer of clientIds`: The verifier accepts tokens of several issuers, or nobody knows of how
  // many, and each may have a client of such a name. Write `audience: { clientIds, scope, issuer: 'https://login.example.com' }`.
  throw new TypeError(
    `${factory}: the audience must have the issuer of clientIds, since the verifier may accept other issuers as well`,
  )
}

/** A verifier that is not ours, or that finds others by a function, says nothing before the first token: then each token is checked. */
export function checkAudiences(
  factory: string,
  verifier: Verifier<unknown>,
  names: readonly string[],
  mayBeMissing: boolean,
): void {
  for (const audience of audiencesOf([verifier])) {
    const isAny = audience === null || audience.includes(null)
    if (isAny && mayBeMissing) continue
    if (isAny) {
      // Mistake `…: the verifier accepts tokens for any server`: `audience` is `null`, or has it in its list, so a token for another
      // server would work here. State the resource as `audience`, or what your issuer writes there, here as well.
      throw new TypeError(
        `${factory}: the verifier accepts tokens for any server: state its audience, which is the resource`,
      )
    }
    if (!names.some((each) => audience.includes(each))) {
      // Mistake `…: the verifier refuses every token for this resource`: `audience` of the verifier and `resource`, or `audience`, of
      // the endpoint differ, perhaps by a slash at the end.
      throw new TypeError(
        `${factory}: the verifier refuses every token for this resource: its audience must name the resource exactly`,
      )
    }
  }
}

import type { Verifier } from '@portcullis/core'
import { audiencesOf, type ClientAudience } from '@portcullis/core/adapter'
import { isJsonObject } from '@portcullis/kit/json'
import { isText, isTextList, type OptionCheck, ownMembers } from '@portcullis/kit/options'

import { isScope } from './option-checks.ts'

// What tokens for an endpoint name as their audience, and what stands for it where an issuer writes none.

export const isAudience: OptionCheck = (value) => {
  if (!isJsonObject(value)) {
    return isText(value) === undefined || isTextList(value) === undefined
      ? undefined
      : 'must be a string, a list of strings, or { clientIds, scope }'
  }
  const { clientIds, scope, ...others } = ownMembers(value)
  const isWhole = isTextList(clientIds) === undefined && isScope(scope) === undefined
  return isWhole && Object.keys(others).length === 0
    ? undefined
    : 'must have clientIds, a list of strings, and scope, which this resource alone has'
}

interface ByClient {
  readonly clientIds: readonly string[]
  readonly scope: string
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
  const { clientIds, scope } = ownMembers(audience)
  return { audience: names, clients: { clientIds: [...clientIds], clientIdClaims, scope } }
}

function isByClient(audience: NonNullable<Stated['audience']>): audience is ByClient {
  return isJsonObject(audience)
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

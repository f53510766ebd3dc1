import {
  type GuardOptions,
  type ProtectedResourceMetadata,
  protectedResourceMetadata,
  type Requirement,
  type Verifier,
} from '@portcullis/core'
import {
  checkGuardOptions,
  checkRequirementList,
  type ClientAudience,
  decidedByTenantsOf,
} from '@portcullis/core/adapter'
import { isJsonObject, textMember } from '@portcullis/kit/json'
import { checkIssuer, endpointReader } from '@portcullis/kit/metadata'
import {
  checkOptions,
  countUpTo,
  hasMethods,
  isClock,
  isFunction,
  isText,
  isTextList,
  type OptionCheck,
  ownMembers,
} from '@portcullis/kit/options'

import { audienceOf, checkAudiences, checkClients, isAudience } from './audience.ts'
import { joined } from './call.ts'
import {
  isPath,
  isRequirement,
  isScope,
  isScopes,
  isServers,
  isSessions,
  isTools,
} from './option-checks.ts'
import type { EndpointOptions } from './options.ts'
import type { SessionLimits } from './sessions.ts'

// The options of an endpoint as it uses them: checked at start-up, with their defaults.

export interface CheckedOptions extends Pick<
  EndpointOptions<never>,
  'resource' | 'requirement' | 'owner' | 'onForeignSession' | 'onSessionEnd' | 'clock'
> {
  readonly audience: readonly string[]
  /** In place of an audience that is missing. */
  readonly clients: ClientAudience | undefined
  readonly metadata: ProtectedResourceMetadata
  /** For `authenticateRequest`. */
  readonly guard: GuardOptions<never>
  readonly tools: ReadonlyMap<string, Requirement> | undefined
  readonly path: string
  readonly clientIdClaims: readonly string[]
  readonly sessions: SessionLimits | undefined
  readonly maxBodySize: number
}

/** @throws TypeError for a wrong, misspelt or missing option, and for a verifier that does not compare `aud` with the resource. */
export function checkEndpointOptions(
  factory: string,
  verifier: Verifier<unknown>,
  options: EndpointOptions<never>,
  form: string,
): CheckedOptions {
  if (!hasMethods(verifier, 'verify')) {
    throw new TypeError(`${factory}: the first argument must be a verifier`)
  }
  checkOptions(factory, options, {
    resource: isText,
    authorizationServers: isServers,
    audience: isAudience,
    requirement: isRequirement,
    tools: isTools,
    scope: isScope,
    scopes: isScopes,
    name: isText,
    documentation: isText,
    // `protectedResourceMetadata` knows what these must be.
    members: () => undefined,
    sign: () => undefined,
    path: isPath,
    clientIdClaims: isTextList,
    sessions: isSessions,
    owner: isFunction,
    onForeignSession: isFunction,
    onSessionEnd: isFunction,
    maxBodySize: countUpTo(67_108_864),
    clock: isClock,
    // `checkGuardOptions` knows what these must be.
    dpop: () => undefined,
    mutualTls: () => undefined,
    onRefusal: isFunction,
    profile: () => undefined,
    realm: () => undefined,
  } satisfies Record<keyof EndpointOptions, OptionCheck>)
  const stated = ownMembers(options)
  const { resource, requirement, tools } = stated
  for (const name of ['resource', 'authorizationServers'] as const) {
    if (stated[name] === undefined) throw new TypeError(`${factory}: ${name} must be stated`)
  }
  const requirements = [requirement ?? [], ...Object.values(tools ?? {})].flat()
  if (requirements.length > 0) {
    checkRequirementList(factory, requirements, decidedByTenantsOf(verifier))
  }
  for (const server of stated.authorizationServers) {
    checkIssuer(server, false, endpointReader(factory, '', '', false))
  }
  const metadata = metadataOf(stated)
  const clientIdClaims = [...(stated.clientIdClaims ?? ['client_id', 'azp'])]
  const { audience, clients } = audienceOf(stated, clientIdClaims)
  checkAudiences(factory, verifier, audience, clients !== undefined)
  checkClients(factory, verifier, clients)
  const { max = 10_000, maxPerUser = 100 } = ownMembers(stated.sessions || {})
  return {
    resource,
    audience,
    clients,
    metadata,
    guard: guardOf(verifier, stated, metadata, form),
    requirement,
    tools: tools && new Map(Object.entries(tools)),
    path: stated.path ?? new URL(resource).pathname,
    clientIdClaims,
    sessions: stated.sessions === false ? undefined : { max, maxPerUser },
    owner: stated.owner,
    onForeignSession: stated.onForeignSession,
    onSessionEnd: stated.onSessionEnd,
    maxBodySize: stated.maxBodySize ?? 4_194_304,
    clock: stated.clock,
  }
}

function metadataOf(stated: EndpointOptions<never>): ProtectedResourceMetadata {
  const { resource, authorizationServers, name, documentation, members, sign } = stated
  const scopes = stated.scopes ?? scopeOf(stated)?.split(' ')
  const said = { resource, authorizationServers, scopes, name, documentation }
  return protectedResourceMetadata({ ...said, members, sign })
}

/** What the first challenge asks for. Without the scope that stands for an audience, no token of such a client would ever be let in. */
function scopeOf({ scope, requirement, audience }: EndpointOptions<never>): string | undefined {
  const ofAll = requirement === undefined ? undefined : ownMembers(requirement).scope
  const letIn = isJsonObject(audience) ? textMember(audience, 'scope') : undefined
  const scopes = joined([scope ?? ofAll, letIn])
  return scopes === '' ? undefined : scopes
}

function guardOf(
  verifier: Verifier<unknown>,
  stated: EndpointOptions<never>,
  resourceMetadata: ProtectedResourceMetadata,
  form: string,
): GuardOptions<never> {
  const { dpop, mutualTls, onRefusal, profile, realm } = stated
  const scope = scopeOf(stated)
  return checkGuardOptions<GuardOptions<never>>(
    verifier,
    { dpop, mutualTls, onRefusal, profile, realm, scope, resourceMetadata, respond: 'problem' },
    form,
  )
}

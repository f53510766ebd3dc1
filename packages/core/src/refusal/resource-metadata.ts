import { isJsonObject } from '@portcullis/kit/json'
import {
  checkArgument,
  checkOptions,
  isAbsoluteUrl,
  isBoolean,
  isFunction,
  isLoopback,
  isText,
  isTextList,
  type OptionCheck,
  ownMembers,
} from '@portcullis/kit/options'

import { isScope } from '../ground/scopes.ts'

// The document of RFC 9728, which says where clients get tokens for an API.

export interface ProtectedResource {
  /** The resource identifier: the URL of this API, https and without a fragment. */
  resource: string
  /** Issuer identifiers of the authorization servers whose tokens it accepts. */
  authorizationServers?: readonly string[] | undefined
  /** Scopes that it knows of. */
  scopes?: readonly string[] | undefined
  /** A name for people. */
  name?: string | undefined
  /** URL of documentation for developers. */
  documentation?: string | undefined
  /** Further members by their names in RFC 9728: `{ dpop_bound_access_tokens_required: true, 'resource_name#fr': 'Comptes' }`. */
  members?: Readonly<Record<string, boolean | string | readonly string[]>> | undefined
  /** Signs the document: returns a JWT of these members, which becomes `signed_metadata`. */
  sign?: ((document: Readonly<Record<string, unknown>>) => string) | undefined
}

/** Metadata of a protected resource, and where they belong. */
export interface ProtectedResourceMetadata {
  /** For the challenge: a guard takes it, or all of this, as its option `resourceMetadata`. */
  readonly url: string
  /** The path of `url`, which has to be open to everybody. */
  readonly path: string
  /** The document, as JSON. */
  readonly body: string
  /** The scopes that it names. */
  readonly scopes?: readonly string[] | undefined
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource'

/**
 * The metadata by which clients, such as those of the Model Context Protocol, find out where to get a token.
 *
 * @throws TypeError for a wrong or misspelt option.
 * @see RFC 9728 sections 2 and 3
 */
export function protectedResourceMetadata(options: ProtectedResource): ProtectedResourceMetadata {
  checkOptions('protectedResourceMetadata', options, {
    resource: isResource,
    authorizationServers: isTextList,
    scopes: isScopeList,
    name: isText,
    documentation: isText,
    members: isMembers,
    sign: isFunction,
  })
  const { resource, authorizationServers, scopes, name, documentation, members, sign } =
    ownMembers(options)
  if (resource === undefined) {
    // Mistake `protectedResourceMetadata: resource must be stated`: Give the URL of your API.
    throw new TypeError('protectedResourceMetadata: resource must be stated')
  }
  const { origin, pathname, search } = new URL(resource)
  const path = `${WELL_KNOWN}${pathname === '/' ? '' : pathname}`
  const document = {
    ...members,
    resource,
    authorization_servers: authorizationServers,
    scopes_supported: scopes,
    bearer_methods_supported: ['header'],
    resource_name: name,
    resource_documentation: documentation,
  }
  const signed = sign?.(document)
  if (sign) checkArgument('protectedResourceMetadata', 'what sign returns', isText(signed))
  return {
    url: `${origin}${path}${search}`,
    path,
    scopes: scopes === undefined ? undefined : [...scopes],
    body: JSON.stringify({ ...document, signed_metadata: signed }),
  }
}

/** @throws TypeError for anything that `protectedResourceMetadata` did not return: it would be served as if it were not there. */
export function checkMetadata(caller: string, metadata: unknown): void {
  const names = ['url', 'path', 'body']
  const isMade = names.every((name) => isText(Reflect.get(Object(metadata), name)) === undefined)
  const complaint = isMade ? undefined : 'must be what protectedResourceMetadata() returned'
  checkArgument(caller, 'the argument', complaint)
}

const isScopeList: OptionCheck = (value) =>
  isTextList(value) ??
  ((value as readonly unknown[]).every((each) => isScope(each) && !each.includes(' '))
    ? undefined
    : 'must be a list of scopes')

/** By their names, whose ends say what they are. RFC 9728 sections 2 and 2.1 */
const MEMBERS: readonly (readonly [RegExp, OptionCheck])[] = [
  [/^(?:tls_client_certificate_bound_access_tokens|dpop_bound_access_tokens_required)$/, isBoolean],
  [/^(?:authorization_details_types|(?:dpop|resource)_signing_alg_values)_supported$/, isTextList],
  [
    /^(?:jwks_uri|resource_(?:name|documentation)#[\w-]+|resource_(?:policy|tos)_uri(?:#[\w-]+)?)$/,
    isText,
  ],
]

const isMembers: OptionCheck = (value) => {
  if (!isJsonObject(value)) return 'must be an object'
  const complaints = Object.entries(value).map(([name, each]) => {
    const check = MEMBERS.find(([names]) => names.test(name))?.[1]
    const complaint = check ? check(each) : 'is none of RFC 9728, or has an option of its own'
    return complaint && `must be right: ${JSON.stringify(name)} ${complaint}`
  })
  return complaints.find((each) => each !== undefined)
}

const isResource: OptionCheck = (value) => {
  const complaint = 'must be an https URL without a fragment, and without a user name or a password'
  if (typeof value !== 'string') return complaint
  const notUrl = isAbsoluteUrl(value)
  if (notUrl !== undefined) return notUrl
  const { protocol, hostname, username, password } = new URL(value)
  const isSecure = protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
  const isPublic = username === '' && password === '' && !value.includes('#')
  return isSecure && isPublic ? undefined : complaint
}

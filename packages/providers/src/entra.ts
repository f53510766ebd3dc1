import {
  discoverKeys,
  type IssuerTemplate,
  type RemoteKeys,
  remoteKeys,
  type RemoteKeysOptions,
} from '@portcullis/core'
import { isJsonObject } from '@portcullis/kit/json'
import { ownMembers } from '@portcullis/kit/options'

import { checkOptions, isTextOrTexts, listOf, matching } from './options.ts'
import { preset, type Preset } from './preset.ts'
import type { ProviderOptions } from './provider-options.ts'

// Access tokens of Microsoft Entra ID: of one tenant, whose issuer is known, or of many, whose keys say for whom they are.

/**
 * Where each cloud has its keys and the issuers of version 2.0, where those of version 1.0 are, and its name in entries of keys: documents
 * of one cloud have keys of others, which differ in that alone.
 */
const CLOUDS = {
  global: {
    name: 'microsoftonline.com',
    login: 'https://login.microsoftonline.com',
    first: 'https://sts.windows.net',
  },
  us: {
    name: 'microsoftonline.us',
    login: 'https://login.microsoftonline.us',
    first: 'https://sts.windows.net',
  },
  china: {
    name: 'partner.microsoftonline.cn',
    login: 'https://login.partner.microsoftonline.cn',
    first: 'https://sts.chinacloudapi.cn',
  },
} as const

/** Personal accounts: anybody can have one. */
const PERSONAL = '9188040d-6c67-4c5b-b112-36a304b66dad'
/** What each tenant's administrator assigns: roles of the application and of the directory, groups, and contexts of a log-in. */
const ASSIGNED = ['roles', 'wids', 'groups', 'acrs']
/** What he calls a user. */
const NAMES = ['email', 'upn', 'preferred_username', 'unique_name']

const GUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/

const isTenant = matching(
  GUID,
  'the id of one tenant in lower case, such as 11111111-2222-3333-4444-555555555555: no domain, and not common or organizations',
)

/** What tells the keys and the issuer of some tokens from those of others. */
interface Place {
  readonly name: string
  readonly login: string
  readonly first: string
  readonly isFirst: boolean
  /** Of the application that has keys of its own. */
  readonly app: string | undefined
}

/**
 * Options of `createVerifier` for access tokens of Microsoft Entra ID, of one version: of one tenant (`tenant`), of several, or of any
 * (`tenants`).
 *
 * With `tenants: 'any'` a tenant may be an attacker's: know users by `tid` and `oid` together; a requirement of `roles` is never met.
 * Personal accounts are refused unless their tenant is listed.
 *
 * Refuses ID tokens, also those whose client is the API itself.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 * @see https://learn.microsoft.com/entra/identity-platform/access-tokens
 */
export function entra(
  options: ProviderOptions['entra'],
  keysOptions: RemoteKeysOptions = {},
): Preset {
  const checked = checkOptions(
    'entra',
    options,
    { audience: isTextOrTexts },
    {
      tenant: isTenant,
      tenants: (value) => (value === 'any' ? undefined : listOf(isTenant)(value)),
      version: matching(/^[12]\.0$/, '1.0 or 2.0, as a string'),
      cloud: matching(/^(?:global|us|china)$/, "'global', 'us' or 'china'"),
      appKeys: matching(GUID, 'the Application (client) ID of the API, in lower case'),
      rolesAssignedBy: matching(/^any$/, "'any', with tenants: 'any'"),
    },
  )
  checkTogether(checked)
  const { audience, version = '2.0', cloud = 'global', appKeys, requiredClaims, keys } = checked
  const isFirst = version === '1.0'
  const place: Place = { ...CLOUDS[cloud], isFirst, app: appKeys }
  const ofCloud = withRules(keysOptions, { cloud_instance_name: place.name })
  return preset(
    'entra',
    { requiredClaims, keys },
    {
      ...(checked.tenant === undefined
        ? ofTenants(checked, place, ofCloud)
        : ofTenant(checked.tenant, place, ofCloud)),
      audience,
      algorithms: ['RS256'],
      // The id of the client, which an ID token has in `aud` alone: often that of the API itself.
      requiredClaims: { sub: true, ver: version, [isFirst ? 'appid' : 'azp']: true },
    },
  )
}

/** @throws TypeError for options that exclude each other. */
function checkTogether({ tenant, tenants, appKeys, rolesAssignedBy }: ProviderOptions['entra']) {
  if ((tenant === undefined) === (tenants === undefined)) {
    throw new TypeError('entra: either tenant or tenants must be stated')
  }
  if (appKeys !== undefined && tenants !== undefined && (tenants === 'any' || tenants.length > 1)) {
    // Whoever administers a tenant may hold the private half of the keys that an application has there.
    throw new TypeError('entra: appKeys must be for one tenant: use byIssuer for several')
  }
  if (rolesAssignedBy !== undefined && tenants !== 'any') {
    throw new TypeError("entra: rolesAssignedBy is for tenants: 'any' alone")
  }
}

/** Those of the caller stay beside them; what is no object is refused by the key source. */
function withRules(
  keysOptions: RemoteKeysOptions,
  rules: NonNullable<RemoteKeysOptions['ifStated']>,
): RemoteKeysOptions {
  const { ifStated = {}, ...others } = ownMembers(keysOptions)
  return { ...others, ifStated: isJsonObject(ifStated) ? { ...ifStated, ...rules } : ifStated }
}

interface Trusted {
  readonly keys: RemoteKeys
  readonly issuer: string | IssuerTemplate
}

function ofTenant(tenant: string, place: Place, keysOptions: RemoteKeysOptions): Trusted {
  const { login, isFirst, app } = place
  const issuer = issuerOf(place, tenant)
  // The document of a tenant has keys for others as well, such as those of personal accounts.
  const ofIssuer = withRules(keysOptions, { issuer: [issuer, issuerOf(place, '{tenantid}')] })
  // The metadata of version 1.0 are at another origin than the issuer that they name, and no metadata name the keys of an application.
  const keys =
    isFirst || app !== undefined
      ? remoteKeys(
          keyUrl(`${login}/${tenant}/discovery/${isFirst ? '' : 'v2.0/'}keys`, app),
          keysOptions,
        )
      : discoverKeys(issuer, ofIssuer)
  return { keys, issuer }
}

function ofTenants(
  { tenants = [], rolesAssignedBy }: ProviderOptions['entra'],
  place: Place,
  keysOptions: RemoteKeysOptions,
): Trusted {
  const { login, app } = place
  const of = app === undefined ? 'common' : tenants[0]
  const isAny = tenants === 'any'
  return {
    // For tokens of version 1.0 as well: in their own document the keys do not say for whom they are.
    keys: remoteKeys(keyUrl(`${login}/${of}/discovery/v2.0/keys`, app), keysOptions),
    issuer: {
      template: issuerOf(place, '{tenantid}'),
      keyTemplate: `${login}/{tenantid}/v2.0`,
      claim: 'tid',
      tenants: isAny ? 'any' : [...tenants],
      ...(isAny && { except: [PERSONAL] }),
      ...(isAny && {
        decidedByTenants: [...(rolesAssignedBy === undefined ? ASSIGNED : []), ...NAMES],
      }),
    },
  }
}

function issuerOf({ login, first, isFirst }: Place, tenant: string): string {
  return isFirst ? `${first}/${tenant}/` : `${login}/${tenant}/v2.0`
}

/** @param app Is a GUID: nothing in it has a meaning in a query. */
function keyUrl(url: string, app: string | undefined): string {
  return app === undefined ? url : `${url}?appid=${app}`
}

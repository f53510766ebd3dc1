import type { Algorithm, AuthErrorReason, RemoteKeysOptions } from '@portcullis/core'

import {
  accessTokens,
  auth0,
  clerk,
  cloudflareAccess,
  cognito,
  entra,
  firebase,
  githubActions,
  gitlab,
  google,
  iap,
  keycloak,
  kubernetes,
  logto,
  okta,
  type Preset,
  spiffe,
  supabase,
  tokenServiceAt,
  zitadel,
} from '../src/index.ts'

// What each provider documents: where its metadata and keys are, and which of its tokens are not for this API.

/** Claims and header members that differ from the sample; one that is `undefined` is left out. */
export interface Change {
  readonly claims?: Readonly<Record<string, unknown>>
  readonly header?: Readonly<Record<string, unknown>>
}

export interface Case {
  /** Of the page in `docs`, whose sample is the token that must be accepted. */
  readonly page: string
  readonly algorithm: Algorithm
  /** Others that are accepted as well. */
  readonly algorithmsToo?: readonly Algorithm[]
  /**
   * The claims without which no token is accepted.
   * @default ['iss', 'sub']
   */
  readonly required?: readonly string[]
  readonly header?: Readonly<Record<string, unknown>>
  /** The claims that its token has in place of those of the sample. */
  readonly differs?: Readonly<Record<string, unknown>>
  preset(this: void, keysOptions: RemoteKeysOptions): Preset
  /** The issuer that the metadata name, and their URL, where there are any. */
  readonly metadata?: readonly [issuer: string, url: string]
  readonly keyUrl: string
  /** Tokens beside the sample that are accepted. */
  readonly accepted?: readonly (readonly [title: string, change: Change])[]
  /** What its keys state as `use`. @default 'sig' */
  readonly use?: string
  /** The member `issuer` of its keys, where a verifier asks for it. */
  readonly keyIssuer?: string | undefined
  readonly refused: readonly (readonly [title: string, change: Change, reason: AuthErrorReason])[]
}

const API = 'https://api.example.com'
const TENANT = '11111111-2222-3333-4444-555555555555'
const OTHER_TENANT = '99999999-2222-3333-4444-555555555555'
const ENTRA_API = '6e74172b-be56-4843-9ff4-e66a39bb12e3'
const PERSONAL = '9188040d-6c67-4c5b-b112-36a304b66dad'
const OPENID = '/.well-known/openid-configuration'

const ofAnotherApi: Change = { claims: { aud: 'https://other.example.com' } }
const withoutAudience: Change = { claims: { aud: undefined } }

export const cases: readonly Case[] = [
  {
    page: 'auth0',
    algorithm: 'RS256',
    preset: (keys) => auth0({ domain: 'tenant.eu.auth0.com', audience: API }, keys),
    metadata: ['https://tenant.eu.auth0.com/', `https://tenant.eu.auth0.com${OPENID}`],
    keyUrl: 'https://tenant.eu.auth0.com/.well-known/jwks.json',
    refused: [
      ['an ID token', { claims: { aud: 'my_client_id', nonce: 'n' } }, 'audience'],
      ['of another API', ofAnotherApi, 'audience'],
      ['for /userinfo', { claims: { aud: 'https://tenant.eu.auth0.com/userinfo' } }, 'audience'],
      ['of another tenant', { claims: { iss: 'https://other.eu.auth0.com/' } }, 'issuer'],
      [
        'of the domain without a slash',
        { claims: { iss: 'https://tenant.eu.auth0.com' } },
        'issuer',
      ],
    ],
  },
  {
    page: 'cognito',
    algorithm: 'RS256',
    preset: (keys) =>
      cognito({ region: 'eu-west-1', userPool: 'eu-west-1_AbCdEfGhI', clients: ['app1'] }, keys),
    keyUrl: 'https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_AbCdEfGhI/.well-known/jwks.json',
    refused: [
      [
        'an ID token',
        { claims: { token_use: 'id', aud: 'app1', client_id: undefined } },
        'missing_claim',
      ],
      ['an ID token with a client', { claims: { token_use: 'id' } }, 'claim'],
      ['of another client', { claims: { client_id: 'app2' } }, 'claim'],
      [
        'of another user pool',
        { claims: { iss: 'https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_Other' } },
        'issuer',
      ],
    ],
  },
  {
    page: 'cognito',
    algorithm: 'RS256',
    differs: {},
    preset: (keys) => ({
      ...cognito({ region: 'eu-west-1', userPool: 'eu-west-1_AbCdEfGhI', clients: ['app1'] }, keys),
      audience: [API, null],
    }),
    keyUrl: 'https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_AbCdEfGhI/.well-known/jwks.json',
    accepted: [
      ['for this API', { claims: { aud: API } }],
      ['for this API among others', { claims: { aud: ['https://other.example.com', API] } }],
      ['with an empty list of audiences', { claims: { aud: [] } }],
    ],
    refused: [
      ['for another API', ofAnotherApi, 'audience'],
      ['for others in a list', { claims: { aud: ['https://other.example.com'] } }, 'audience'],
      ['for this API with a slash more', { claims: { aud: `${API}/` } }, 'audience'],
      ['with null as its audience', { claims: { aud: null } }, 'audience'],
      ['with null in a list', { claims: { aud: [null] } }, 'audience'],
      ['with null beside this API', { claims: { aud: [API, null] } }, 'audience'],
      ['with an empty text as its audience', { claims: { aud: '' } }, 'audience'],
      ['with an object as its audience', { claims: { aud: {} } }, 'audience'],
      ['of another client without an audience', { claims: { client_id: 'app2' } }, 'claim'],
      ['an ID token', { claims: { token_use: 'id', aud: 'app1' } }, 'audience'],
    ],
  },
  {
    page: 'entra',
    algorithm: 'RS256',
    preset: (keys) => entra({ tenant: TENANT, audience: ENTRA_API }, keys),
    metadata: [
      `https://login.microsoftonline.com/${TENANT}/v2.0`,
      `https://login.microsoftonline.com/${TENANT}/v2.0${OPENID}`,
    ],
    keyUrl: `https://login.microsoftonline.com/${TENANT}/discovery/v2.0/keys`,
    refused: [
      [
        'of version 1.0',
        { claims: { iss: `https://sts.windows.net/${TENANT}/`, ver: '1.0' } },
        'issuer',
      ],
      ['of version 1.0 by its claim', { claims: { ver: '1.0' } }, 'claim'],
      [
        'of another tenant',
        {
          claims: {
            iss: `https://login.microsoftonline.com/${OTHER_TENANT}/v2.0`,
            tid: OTHER_TENANT,
          },
        },
        'issuer',
      ],
      ['for Microsoft Graph', { claims: { aud: 'https://graph.microsoft.com' } }, 'audience'],
      ['an ID token of a client', { claims: { aud: 'client-of-the-user' } }, 'audience'],
      ['an ID token of the API itself', { claims: { azp: undefined } }, 'missing_claim'],
    ],
  },
  {
    page: 'entra',
    algorithm: 'RS256',
    preset: (keys) =>
      entra({ tenant: TENANT, audience: [ENTRA_API, `api://${ENTRA_API}`], version: '1.0' }, keys),
    keyUrl: `https://login.microsoftonline.com/${TENANT}/discovery/keys`,
    differs: { iss: `https://sts.windows.net/${TENANT}/`, ver: '1.0', appid: 'web' },
    accepted: [['for the URI of the API', { claims: { aud: `api://${ENTRA_API}` } }]],
    refused: [
      ['for the URI of another API', { claims: { aud: 'api://other' } }, 'audience'],
      ['without an audience', withoutAudience, 'audience'],
      [
        'of version 2.0',
        { claims: { iss: `https://login.microsoftonline.com/${TENANT}/v2.0`, ver: '2.0' } },
        'issuer',
      ],
      ['of version 2.0 by its claim', { claims: { ver: '2.0' } }, 'claim'],
      ['an ID token of the API itself', { claims: { appid: undefined } }, 'missing_claim'],
    ],
  },
  {
    page: 'entra',
    algorithm: 'RS256',
    differs: {},
    preset: (keys) => entra({ tenants: 'any', audience: ENTRA_API }, keys),
    keyUrl: 'https://login.microsoftonline.com/common/discovery/v2.0/keys',
    keyIssuer: 'https://login.microsoftonline.com/{tenantid}/v2.0',
    required: ['iss', 'sub', 'tid'],
    refused: [
      ['of one tenant with the id of another', { claims: { tid: OTHER_TENANT } }, 'issuer'],
      [
        'of a personal account',
        {
          claims: { iss: `https://login.microsoftonline.com/${PERSONAL}/v2.0`, tid: PERSONAL },
        },
        'issuer',
      ],
      [
        'of version 1.0',
        { claims: { iss: `https://sts.windows.net/${TENANT}/`, ver: '1.0', appid: 'web' } },
        'issuer',
      ],
      ['of version 1.0 by its claim', { claims: { ver: '1.0' } }, 'claim'],
      [
        'of another cloud',
        { claims: { iss: `https://login.microsoftonline.us/${TENANT}/v2.0` } },
        'issuer',
      ],
      ['for Microsoft Graph', { claims: { aud: 'https://graph.microsoft.com' } }, 'audience'],
      ['an ID token of the API itself', { claims: { azp: undefined } }, 'missing_claim'],
    ],
  },
  {
    page: 'entra',
    algorithm: 'RS256',
    differs: { iss: `https://sts.windows.net/${TENANT}/`, ver: '1.0', appid: 'web' },
    preset: (keys) =>
      entra({ tenants: [TENANT, PERSONAL], audience: ENTRA_API, version: '1.0' }, keys),
    keyUrl: 'https://login.microsoftonline.com/common/discovery/v2.0/keys',
    keyIssuer: 'https://login.microsoftonline.com/{tenantid}/v2.0',
    required: ['iss', 'sub', 'tid'],
    refused: [
      [
        'of a tenant that is not listed',
        { claims: { iss: `https://sts.windows.net/${OTHER_TENANT}/`, tid: OTHER_TENANT } },
        'issuer',
      ],
      [
        'of version 2.0',
        { claims: { iss: `https://login.microsoftonline.com/${TENANT}/v2.0`, ver: '2.0' } },
        'issuer',
      ],
      ['of version 2.0 by its claim', { claims: { ver: '2.0' } }, 'claim'],
    ],
  },
  ...(
    [
      ['us', 'https://login.microsoftonline.us', 'https://sts.windows.net'],
      ['china', 'https://login.partner.microsoftonline.cn', 'https://sts.chinacloudapi.cn'],
    ] as const
  ).flatMap(([cloud, login, first]): Case[] => [
    {
      page: 'entra',
      algorithm: 'RS256',
      differs: { iss: `${login}/${TENANT}/v2.0` },
      preset: (keys) => entra({ tenants: [TENANT], audience: ENTRA_API, cloud }, keys),
      keyUrl: `${login}/common/discovery/v2.0/keys`,
      keyIssuer: `${login}/{tenantid}/v2.0`,
      refused: [
        [
          'of the global cloud',
          { claims: { iss: `https://login.microsoftonline.com/${TENANT}/v2.0` } },
          'issuer',
        ],
      ],
    },
    {
      page: 'entra',
      algorithm: 'RS256',
      differs: { iss: `${login}/${TENANT}/v2.0` },
      preset: (keys) => entra({ tenant: TENANT, audience: ENTRA_API, cloud }, keys),
      metadata: [`${login}/${TENANT}/v2.0`, `${login}/${TENANT}/v2.0${OPENID}`],
      keyUrl: `${login}/${TENANT}/discovery/v2.0/keys`,
      refused: [
        [
          'of the global cloud',
          { claims: { iss: `https://login.microsoftonline.com/${TENANT}/v2.0` } },
          'issuer',
        ],
      ],
    },
    {
      page: 'entra',
      algorithm: 'RS256',
      differs: { iss: `${first}/${TENANT}/`, ver: '1.0', appid: 'web' },
      preset: (keys) => entra({ tenants: 'any', audience: ENTRA_API, cloud, version: '1.0' }, keys),
      keyUrl: `${login}/common/discovery/v2.0/keys`,
      keyIssuer: `${login}/{tenantid}/v2.0`,
      refused: [
        ['of version 2.0', { claims: { iss: `${login}/${TENANT}/v2.0`, ver: '2.0' } }, 'issuer'],
      ],
    },
  ]),
  {
    page: 'entra',
    algorithm: 'RS256',
    differs: {},
    preset: (keys) => entra({ tenant: TENANT, audience: ENTRA_API, appKeys: ENTRA_API }, keys),
    keyUrl: `https://login.microsoftonline.com/${TENANT}/discovery/v2.0/keys?appid=${ENTRA_API}`,
    refused: [['of another API', { claims: { aud: OTHER_TENANT } }, 'audience']],
  },
  {
    page: 'entra',
    algorithm: 'RS256',
    differs: { iss: `https://sts.windows.net/${TENANT}/`, ver: '1.0', appid: 'web' },
    preset: (keys) =>
      entra({ tenant: TENANT, audience: ENTRA_API, appKeys: ENTRA_API, version: '1.0' }, keys),
    keyUrl: `https://login.microsoftonline.com/${TENANT}/discovery/keys?appid=${ENTRA_API}`,
    refused: [['of another API', { claims: { aud: OTHER_TENANT } }, 'audience']],
  },
  {
    page: 'entra',
    algorithm: 'RS256',
    differs: {},
    preset: (keys) => entra({ tenants: [TENANT], audience: ENTRA_API, appKeys: ENTRA_API }, keys),
    keyUrl: `https://login.microsoftonline.com/${TENANT}/discovery/v2.0/keys?appid=${ENTRA_API}`,
    keyIssuer: `https://login.microsoftonline.com/${TENANT}/v2.0`,
    refused: [['with the id of another tenant', { claims: { tid: OTHER_TENANT } }, 'issuer']],
  },
  {
    page: 'keycloak',
    algorithm: 'RS256',
    preset: (keys) =>
      keycloak({ realm: 'https://kc.example.com/realms/shop', audience: 'orders' }, keys),
    metadata: ['https://kc.example.com/realms/shop', `https://kc.example.com/realms/shop${OPENID}`],
    keyUrl: 'https://kc.example.com/realms/shop/protocol/openid-connect/certs',
    refused: [
      ['an ID token', { claims: { typ: 'ID', aud: 'orders' } }, 'claim'],
      ['a logout token', { header: { typ: 'logout+jwt' } }, 'type'],
      ['for the account console', { claims: { aud: 'account' } }, 'audience'],
      ['without an audience', withoutAudience, 'audience'],
      ['of another realm', { claims: { iss: 'https://kc.example.com/realms/hr' } }, 'issuer'],
    ],
  },
  {
    page: 'keycloak',
    algorithm: 'RS256',
    differs: {},
    preset: (keys) =>
      keycloak(
        {
          realm: 'https://kc.example.com/realms/shop',
          internalRealm: 'http://keycloak:8080/realms/shop',
          audience: 'orders',
        },
        { ...keys, allowInsecure: true },
      ),
    keyUrl: 'http://keycloak:8080/realms/shop/protocol/openid-connect/certs',
    refused: [
      [
        'that was asked for at the internal host name',
        { claims: { iss: 'http://keycloak:8080/realms/shop' } },
        'issuer',
      ],
    ],
  },
  {
    page: 'okta',
    algorithm: 'RS256',
    preset: (keys) =>
      okta({ domain: 'example.okta.com', server: 'default', audience: 'api://default' }, keys),
    metadata: [
      'https://example.okta.com/oauth2/default',
      `https://example.okta.com/oauth2/default${OPENID}`,
    ],
    keyUrl: 'https://example.okta.com/oauth2/default/v1/keys',
    refused: [
      ['an ID token', { claims: { aud: '0oa1client', cid: undefined } }, 'audience'],
      [
        'of the org authorization server',
        { claims: { iss: 'https://example.okta.com', aud: 'https://example.okta.com' } },
        'issuer',
      ],
      ['of another server', { claims: { iss: 'https://example.okta.com/oauth2/aus1' } }, 'issuer'],
      ['of another API', { claims: { aud: 'api://other' } }, 'audience'],
    ],
  },
  {
    page: 'token-service-at',
    algorithm: 'RS512',
    required: ['exp'],
    preset: (keys) => tokenServiceAt('https://auth.example.com', keys),
    keyUrl: 'https://auth.example.com/tokenservice/pubkey.json',
    refused: [['a logout token', { header: { typ: 'logout+jwt' } }, 'type']],
  },
  {
    page: 'access-tokens',
    algorithm: 'RS256',
    header: { typ: 'at+jwt' },
    preset: (keys) => accessTokens({ issuer: 'https://id.example.com', audience: API }, keys),
    metadata: ['https://id.example.com', `https://id.example.com${OPENID}`],
    keyUrl: 'https://id.example.com/jwks',
    refused: [
      ['an ID token', { header: { typ: 'JWT' } }, 'type'],
      ['without a client', { claims: { client_id: undefined } }, 'missing_claim'],
      ['without an id', { claims: { jti: undefined } }, 'missing_claim'],
      ['without a time', { claims: { iat: undefined } }, 'missing_claim'],
      ['of another API', ofAnotherApi, 'audience'],
      ['of another issuer', { claims: { iss: 'https://id.example.org' } }, 'issuer'],
    ],
  },
  {
    page: 'google',
    algorithm: 'RS256',
    preset: (keys) =>
      google({ audience: API, serviceAccounts: ['orders@shop.iam.gserviceaccount.com'] }, keys),
    metadata: ['https://accounts.google.com', `https://accounts.google.com${OPENID}`],
    keyUrl: 'https://www.googleapis.com/oauth2/v3/certs',
    refused: [
      [
        'of another service account',
        { claims: { email: 'evil@elsewhere.iam.gserviceaccount.com' } },
        'claim',
      ],
      ['without an address', { claims: { email: undefined } }, 'missing_claim'],
      ['with an address that is not verified', { claims: { email_verified: false } }, 'claim'],
      ['with the text "true" for verified', { claims: { email_verified: 'true' } }, 'claim'],
      ['for another service', ofAnotherApi, 'audience'],
    ],
  },
  {
    page: 'firebase',
    algorithm: 'RS256',
    preset: (keys) => firebase({ project: 'shop-1a2b3' }, keys),
    metadata: [
      'https://securetoken.google.com/shop-1a2b3',
      `https://securetoken.google.com/shop-1a2b3${OPENID}`,
    ],
    keyUrl:
      'https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com',
    refused: [
      [
        'of another project',
        { claims: { iss: 'https://securetoken.google.com/other', aud: 'other' } },
        'issuer',
      ],
      ['of another project by its audience', { claims: { aud: 'other' } }, 'audience'],
      [
        'a session cookie',
        { claims: { iss: 'https://session.firebase.google.com/shop-1a2b3' } },
        'issuer',
      ],
      ['a custom token', { claims: { auth_time: undefined } }, 'missing_claim'],
      ['with an empty subject', { claims: { sub: '' } }, 'claim'],
    ],
  },
  {
    page: 'supabase',
    algorithm: 'ES256',
    algorithmsToo: ['RS256'],
    preset: (keys) => supabase({ url: 'https://abcdefghijklmnopqrst.supabase.co' }, keys),
    keyUrl: 'https://abcdefghijklmnopqrst.supabase.co/auth/v1/.well-known/jwks.json',
    refused: [
      ['of the anon role', { claims: { role: 'anon', aud: 'anon' } }, 'audience'],
      ['of the service role', { claims: { role: 'service_role' } }, 'claim'],
      ['of another project', { claims: { iss: 'https://other.supabase.co/auth/v1' } }, 'issuer'],
      ['a legacy key of the project', { claims: { iss: 'supabase' } }, 'issuer'],
    ],
  },
  {
    page: 'clerk',
    algorithm: 'RS256',
    preset: (keys) =>
      clerk(
        {
          frontendApi: 'https://clerk.example.com',
          authorizedParties: ['https://example.com'],
        },
        keys,
      ),
    keyUrl: 'https://clerk.example.com/.well-known/jwks.json',
    refused: [
      ['of another subdomain', { claims: { azp: 'https://evil.example.com' } }, 'claim'],
      ['without azp', { claims: { azp: undefined } }, 'missing_claim'],
      ['of a JWT template', { claims: { sid: undefined } }, 'missing_claim'],
      ['of another instance', { claims: { iss: 'https://other.clerk.accounts.dev' } }, 'issuer'],
    ],
  },
  {
    page: 'cloudflare-access',
    algorithm: 'RS256',
    // The token of a service has no subject.
    required: ['iss', 'exp', 'type'],
    preset: (keys) => cloudflareAccess({ team: 'example', audience: '32eafc7626e9' }, keys),
    keyUrl: 'https://example.cloudflareaccess.com/cdn-cgi/access/certs',
    refused: [
      ['a session of all applications', { claims: { type: 'org' } }, 'claim'],
      ['of another application', { claims: { aud: ['97e2aae12012'] } }, 'audience'],
      ['of another team', { claims: { iss: 'https://other.cloudflareaccess.com' } }, 'issuer'],
    ],
  },
  {
    page: 'iap',
    algorithm: 'ES256',
    preset: (keys) =>
      iap({ audience: '/projects/123456789/global/backendServices/987654321' }, keys),
    keyUrl: 'https://www.gstatic.com/iap/verify/public_key-jwk',
    refused: [
      [
        'of another backend',
        { claims: { aud: '/projects/123456789/global/backendServices/1' } },
        'audience',
      ],
      ['an ID token of Google', { claims: { iss: 'https://accounts.google.com' } }, 'issuer'],
    ],
  },
  {
    page: 'github-actions',
    algorithm: 'RS256',
    preset: (keys) =>
      githubActions(
        {
          audience: API,
          repositories: ['octo-org/octo-repo'],
          requiredClaims: { ref: 'refs/heads/main' },
        },
        keys,
      ),
    metadata: [
      'https://token.actions.githubusercontent.com',
      `https://token.actions.githubusercontent.com${OPENID}`,
    ],
    keyUrl: 'https://token.actions.githubusercontent.com/.well-known/jwks',
    refused: [
      ['of another repository', { claims: { repository: 'evil/octo-repo' } }, 'claim'],
      ['of another branch', { claims: { ref: 'refs/heads/feature' } }, 'claim'],
      ['of the default audience', { claims: { aud: 'https://github.com/octo-org' } }, 'audience'],
    ],
  },
  {
    page: 'github-actions',
    algorithm: 'RS256',
    differs: { iss: 'https://github.example.com/_services/token' },
    preset: (keys) =>
      githubActions(
        {
          issuer: 'https://github.example.com/_services/token',
          audience: API,
          repositories: ['octo-org/octo-repo'],
        },
        keys,
      ),
    metadata: [
      'https://github.example.com/_services/token',
      `https://github.example.com/_services/token${OPENID}`,
    ],
    keyUrl: 'https://github.example.com/_services/token/.well-known/jwks',
    refused: [
      [
        'of github.com',
        { claims: { iss: 'https://token.actions.githubusercontent.com' } },
        'issuer',
      ],
    ],
  },
  {
    page: 'gitlab',
    algorithm: 'RS256',
    preset: (keys) =>
      gitlab(
        {
          audience: API,
          projects: ['group/project'],
          requiredClaims: { ref_protected: 'true' },
        },
        keys,
      ),
    metadata: ['https://gitlab.com', `https://gitlab.com${OPENID}`],
    keyUrl: 'https://gitlab.com/oauth/discovery/keys',
    refused: [
      ['of another project', { claims: { project_path: 'evil/project' } }, 'claim'],
      ['of a branch that is not protected', { claims: { ref_protected: 'false' } }, 'claim'],
      ['of a log-in', { claims: { project_path: undefined } }, 'missing_claim'],
      ['for another service', ofAnotherApi, 'audience'],
    ],
  },
  {
    page: 'kubernetes',
    algorithm: 'RS256',
    algorithmsToo: ['ES256', 'ES384'],
    preset: (keys) =>
      kubernetes(
        {
          issuer: 'https://oidc.example.com/cluster-1',
          audience: API,
          serviceAccounts: ['shop:orders'],
        },
        keys,
      ),
    metadata: ['https://oidc.example.com/cluster-1', `https://oidc.example.com/cluster-1${OPENID}`],
    keyUrl: 'https://oidc.example.com/cluster-1/openid/v1/jwks',
    refused: [
      ['of another account', { claims: { sub: 'system:serviceaccount:shop:default' } }, 'claim'],
      ['of another namespace', { claims: { sub: 'system:serviceaccount:evil:orders' } }, 'claim'],
      [
        'for the API of the cluster',
        { claims: { aud: ['https://kubernetes.default.svc'] } },
        'audience',
      ],
      ['of another cluster', { claims: { iss: 'https://oidc.example.com/cluster-2' } }, 'issuer'],
      ['a legacy token', { claims: { exp: undefined } }, 'missing_claim'],
    ],
  },
  {
    page: 'spiffe',
    algorithm: 'ES256',
    algorithmsToo: ['RS256', 'RS512', 'ES384'],
    required: ['sub', 'aud', 'exp'],
    use: 'jwt-svid',
    preset: (keys) =>
      spiffe(
        {
          trustDomain: 'example.org',
          bundle: 'https://spire.example.org/bundle.json',
          audience: 'orders',
        },
        keys,
      ),
    keyUrl: 'https://spire.example.org/bundle.json',
    refused: [
      ['for another workload', { claims: { aud: ['billing'] } }, 'audience'],
      ['for nobody', { claims: { aud: [] } }, 'audience'],
      ['that never expires', { claims: { exp: undefined } }, 'missing_claim'],
      ['of another trust domain', { claims: { sub: 'spiffe://evil.test/ns/shop' } }, 'claim'],
      [
        'of a longer trust domain',
        { claims: { sub: 'spiffe://example.org.evil.test/web' } },
        'claim',
      ],
      ['of a user of the domain', { claims: { sub: 'spiffe://web@example.org/web' } }, 'claim'],
      ['of a port of the domain', { claims: { sub: 'spiffe://example.org:443/web' } }, 'claim'],
      ['of the domain in upper case', { claims: { sub: 'spiffe://EXAMPLE.ORG/web' } }, 'claim'],
      ['of the trust domain itself', { claims: { sub: 'spiffe://example.org' } }, 'claim'],
      ['with an empty path', { claims: { sub: 'spiffe://example.org/' } }, 'claim'],
      ['with a slash at the end', { claims: { sub: 'spiffe://example.org/web/' } }, 'claim'],
      ['with an empty segment', { claims: { sub: 'spiffe://example.org/ns//web' } }, 'claim'],
      ['with a path that goes up', { claims: { sub: 'spiffe://example.org/a/../web' } }, 'claim'],
      ['with an encoded path', { claims: { sub: 'spiffe://example.org/%77eb' } }, 'claim'],
      ['with a query', { claims: { sub: 'spiffe://example.org/web?a' } }, 'claim'],
      ['with a fragment', { claims: { sub: 'spiffe://example.org/web#a' } }, 'claim'],
      ['that is no SPIFFE ID', { claims: { sub: 'https://example.org/web' } }, 'claim'],
      ['with a list of SPIFFE IDs', { claims: { sub: ['spiffe://example.org/web'] } }, 'claim'],
      ['of another kind', { header: { typ: 'at+jwt' } }, 'type'],
      ['of the kind of SPIFFE for proofs', { header: { typ: 'wit+jwt' } }, 'type'],
      [
        'that is a security event',
        {
          header: { typ: 'JOSE' },
          claims: { events: { 'https://schemas.openid.net/secevent/risc/event-type/a': {} } },
        },
        'type',
      ],
    ],
  },
  {
    page: 'zitadel',
    algorithm: 'RS256',
    preset: (keys) =>
      zitadel({ issuer: 'https://example.zitadel.cloud', audience: '69234237810729019' }, keys),
    metadata: ['https://example.zitadel.cloud', `https://example.zitadel.cloud${OPENID}`],
    keyUrl: 'https://example.zitadel.cloud/oauth/v2/keys',
    refused: [
      ['an ID token', { claims: { jti: undefined } }, 'missing_claim'],
      ['of another project', { claims: { aud: ['11111111111111111'] } }, 'audience'],
      ['of another instance', { claims: { iss: 'https://other.zitadel.cloud' } }, 'issuer'],
    ],
  },
  {
    page: 'logto',
    algorithm: 'ES384',
    algorithmsToo: ['RS256'],
    preset: (keys) => logto({ endpoint: 'https://tenant.logto.app', audience: API }, keys),
    metadata: ['https://tenant.logto.app/oidc', `https://tenant.logto.app/oidc${OPENID}`],
    keyUrl: 'https://tenant.logto.app/oidc/jwks',
    refused: [
      ['an ID token', { claims: { aud: 'my_app', client_id: undefined } }, 'audience'],
      ['of another API', ofAnotherApi, 'audience'],
      ['of another tenant', { claims: { iss: 'https://other.logto.app/oidc' } }, 'issuer'],
    ],
  },
]

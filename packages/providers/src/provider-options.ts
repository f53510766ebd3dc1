import type { Algorithm, RemoteKeys, RequiredClaimValue } from '@portcullis/core'

// What each provider takes.

/** The options of each provider, by the name of its function: `auth0` takes `ProviderOptions['auth0']`. */
export interface ProviderOptions {
  /** What each of them takes beside its own. */
  every: {
    /**
     * Further claims that every token must have, as `requiredClaims` of `createVerifier` has them. They are added to those of the
     * provider. Another `requiredClaims` beside `...` would replace these, and with them part of the protection.
     */
    requiredClaims?: Readonly<Record<string, RequiredClaimValue>> | undefined
    /**
     * Where keys come from in place of the provider's metadata: `remoteKeys` of an address inside of your network, or a source that
     * several verifiers share. The second argument has no effect then.
     */
    keys?: RemoteKeys | undefined
  }
  /** Access tokens in the profile of RFC 9068, of any issuer. */
  accessTokens: ProviderOptions['every'] & {
    /** The issuer, exactly as its metadata and its tokens write it. */
    issuer: string
    /** The values of `aud` that name this API. */
    audience: string | readonly string[]
    /**
     * The accepted algorithms. RS256 is the one that every issuer of this profile must have.
     * @default ['RS256']
     */
    algorithms?: readonly Algorithm[] | undefined
  }
  /** Access tokens of Auth0. */
  auth0: ProviderOptions['every'] & {
    /** The tenant's domain, or your custom domain: whichever the tokens have in `iss`. */
    domain: string
    /** The identifier of the API, as the dashboard shows it. */
    audience: string | readonly string[]
  }
  /** Session tokens of Clerk. */
  clerk: ProviderOptions['every'] & {
    /** The URL of the Frontend API, such as `https://clerk.example.com`. */
    frontendApi: string
    /** The origins of your applications, such as `https://example.com`: tokens have one of them in `azp`. */
    authorizedParties: string | readonly string[]
  }
  /** Application tokens of Cloudflare Access. */
  cloudflareAccess: ProviderOptions['every'] & {
    /** The name of the team: what is before `.cloudflareaccess.com`. */
    team: string
    /** The AUD tag of the application. */
    audience: string | readonly string[]
  }
  /** Access tokens of user pools of Amazon Cognito. */
  cognito: ProviderOptions['every'] & {
    /** Such as `eu-west-1`. */
    region: string
    /** The id of the user pool, such as `eu-west-1_AbCdEfGhI`. */
    userPool: string
    /** The ids of the app clients whose tokens are accepted: access tokens have these instead of `aud`. */
    clients: string | readonly string[]
  }
  /** Access tokens of Microsoft Entra ID. */
  entra: ProviderOptions['every'] & {
    /** The id of one tenant: a GUID in lower case. Its tokens have it in `iss`. Not together with `tenants`. */
    tenant?: string | undefined
    /**
     * The ids of the tenants whose tokens are accepted. `'any'` accepts every tenant but that of personal accounts: also those whose
     * administrator is an attacker, who decides what the token says of `roles`, names and addresses.
     */
    tenants?: 'any' | readonly string[] | undefined
    /** In version 2.0 the client id of the API; in 1.0 this or the Application ID URI, as the client has asked for it. */
    audience: string | readonly string[]
    /**
     * The version of the tokens, which the registration of the API decides, not the endpoint that the client asks.
     * @default '2.0'
     */
    version?: '1.0' | '2.0' | undefined
    /**
     * The cloud in which the API is registered: that of the US government, or that of China. Keys that are of another one by their
     * `cloud_instance_name` prove nothing; `keys` of your own need `ifStated` for that.
     * @default 'global'
     */
    cloud?: 'global' | 'us' | 'china' | undefined
    /**
     * The Application (client) ID of the API, if it has signing keys of its own (claims mapping). For one tenant alone: whoever
     * administers a tenant may have the private halves of such keys.
     */
    appKeys?: string | undefined
    /**
     * With `tenants: 'any'`: permits requirements of `roles`, `wids`, `groups` and `acrs`, which each tenant's administrator assigns. Then
     * also check `tid` wherever you check one.
     */
    rolesAssignedBy?: 'any' | undefined
  }
  /** ID tokens of Firebase Authentication, which are what its clients send to an API. */
  firebase: ProviderOptions['every'] & {
    /** The id of the project, not its number. */
    project: string
  }
  /** Tokens of jobs of GitHub Actions. */
  githubActions: ProviderOptions['every'] & {
    /**
     * The issuer of the jobs: `https://HOST/_services/token` of an Enterprise Server, `https://token.actions.NAME.ghe.com`, or the
     * one with the slug of an enterprise that has chosen so.
     * @default 'https://token.actions.githubusercontent.com'
     */
    issuer?: string | undefined
    /** What the workflow asks for. Choose one that names this API; the default of GitHub names the owner of the repository. */
    audience: string | readonly string[]
    /** The repositories whose workflows may call, such as `['octo-org/octo-repo']`. */
    repositories: readonly string[]
  }
  /** ID tokens of jobs of GitLab CI/CD. */
  gitlab: ProviderOptions['every'] & {
    /**
     * The URL of the GitLab instance.
     * @default 'https://gitlab.com'
     */
    url?: string | undefined
    /** What the job states as `aud` in `id_tokens`. */
    audience: string | readonly string[]
    /** The paths of the projects whose jobs may call, such as `['group/project']`. */
    projects: readonly string[]
  }
  /** Identity tokens of service accounts of Google Cloud. */
  google: ProviderOptions['every'] & {
    /** What callers name as the audience, such as the URL of this API. */
    audience: string | readonly string[]
    /**
     * The email addresses of the service accounts that may call. Without this list everybody could: each service account of
     * every customer of Google may ask for a token with any audience.
     */
    serviceAccounts: string | readonly string[]
  }
  /** Assertions of Google's Identity-Aware Proxy. */
  iap: ProviderOptions['every'] & {
    /** What the proxy names the application, such as `/projects/123456789/global/backendServices/987654321`. */
    audience: string | readonly string[]
  }
  /** Access tokens of Keycloak. */
  keycloak: ProviderOptions['every'] & {
    /** The URL of the realm, as the tokens have it in `iss`, such as `https://kc.example.com/realms/shop`. */
    realm: string
    /**
     * The URL of the realm inside of your network, where only the keys are fetched, such as `http://keycloak:8080/realms/shop`. An
     * `http:` one needs `allowInsecure: true` in the second argument.
     * @default the realm, by its metadata
     */
    internalRealm?: string | undefined
    /** What an audience mapper puts into `aud`: most often the id of the client that stands for the API. */
    audience: string | readonly string[]
  }
  /** Tokens of service accounts of Kubernetes. */
  kubernetes: ProviderOptions['every'] & {
    /** The issuer of the cluster: what `kubectl get --raw /.well-known/openid-configuration` shows. */
    issuer: string
    /** What the projected volume states as `audience`. */
    audience: string | readonly string[]
    /** The service accounts that may call, as `namespace:name`, such as `['shop:orders']`. */
    serviceAccounts: readonly string[]
  }
  /** Access tokens of Logto. */
  logto: ProviderOptions['every'] & {
    /** The URL of the tenant, such as `https://tenant.logto.app`, or your custom domain. */
    endpoint: string
    /** The identifier of the API resource. */
    audience: string | readonly string[]
  }
  /** Access tokens of custom authorization servers of Okta. */
  okta: ProviderOptions['every'] & {
    /** The domain of the organization, or your custom domain: whichever the tokens have in `iss`. */
    domain: string
    /** The id of the custom authorization server; that of the one which is there from the beginning is `default`. */
    server: string
    /** The audience of that server, such as `api://default`. */
    audience: string | readonly string[]
  }
  /** JWT-SVIDs of SPIFFE. State `bundle`, or `keys` that were made with `use: 'jwt-svid'`. */
  spiffe: ProviderOptions['every'] & {
    /** The name of the trust domain, such as `example.org`: `sub` of each token is a SPIFFE ID of it, with a path. */
    trustDomain: string
    /** The bundle of that trust domain: the path of a file, or the URL of a bundle endpoint of the profile `https_web`. */
    bundle?: string | undefined
    /** What callers ask for as the audience, such as `orders` or the SPIFFE ID of this API. */
    audience: string | readonly string[]
  }
  /** Access tokens of Supabase Auth. */
  supabase: ProviderOptions['every'] & {
    /** The URL of the project, such as `https://abcdefghijklmnopqrst.supabase.co`. */
    url: string
  }
  /** Access tokens of ZITADEL. */
  zitadel: ProviderOptions['every'] & {
    /** The URL of the instance, such as `https://example.zitadel.cloud`. */
    issuer: string
    /** The id of the project of the API, or the client id of the API. */
    audience: string | readonly string[]
  }
}

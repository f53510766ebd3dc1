// What is public: a function for each provider, and the types of its options.

export { accessTokens, auth0, logto, okta, tokenServiceAt, zitadel } from './access-tokens.ts'
export { entra } from './entra.ts'
export { keycloak } from './keycloak.ts'
export { cloudflareAccess, iap } from './proxies.ts'
export { clerk, cognito, firebase, supabase } from './user-sessions.ts'
export { githubActions, gitlab, google, kubernetes, spiffe } from './workloads.ts'
export type { Preset } from './preset.ts'
export type { ProviderOptions } from './provider-options.ts'

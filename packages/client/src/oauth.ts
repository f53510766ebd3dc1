// Obtains tokens of any OAuth 2.0 issuer, for a service itself (client credentials) or for its user (token exchange), and sends
// them. It is what calls onwards from behind a guard.

export type { AuthorizedFetch } from './present/authorized-fetch.ts'
export type { DpopOptions } from './dpop/dpop-options.ts'
export type { Credential } from './login/login-exchange.ts'
export { createOAuthClient } from './oauth/create-oauth-client.ts'
export type { OAuthClient } from './oauth/create-oauth-client.ts'
export { OAuthError, refusalOf } from './oauth/oauth-error.ts'
export type { OAuthErrorCode, OAuthRefusal } from './oauth/oauth-error.ts'
export type { OnBehalf, OnBehalfOfOptions } from './oauth/on-behalf-of.ts'
export type { OAuthClientOptions } from './oauth/options.ts'
export type { Subject } from './oauth/subject.ts'
export type { ClientKey } from '@portcullis/kit/client-authentication'
export type { Clock } from '@portcullis/kit/time'
export type { GetOptions, TokenClient, TokenClientStatus } from './login/token-client.ts'
export type { ClientFetch } from './request/token-request.ts'

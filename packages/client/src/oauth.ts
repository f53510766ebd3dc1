// Everything that `@portcullis/client/oauth` exports.

export type { AuthorizedFetch } from './present/authorized-fetch.ts'
export type { DpopAlgorithm } from './dpop/dpop-key.ts'
export type { DpopOptions } from './dpop/dpop-options.ts'
export type { TokenFreshness } from './login/held-token.ts'
export type { Credential } from './login/login-exchange.ts'
export type { ClientAssertion } from './oauth/client-authentication.ts'
export { createOAuthClient } from './oauth/create-oauth-client.ts'
export type { OAuthClient } from './oauth/create-oauth-client.ts'
export { OAuthError, refusalOf } from './oauth/oauth-error.ts'
export type {
  OAuthErrorCode,
  OAuthErrorOptions,
  OAuthErrorStatus,
  OAuthRefusal,
} from './oauth/oauth-error.ts'
export type { OnBehalf, OnBehalfOfOptions } from './oauth/on-behalf-of.ts'
export type { OAuthClientOptions } from './oauth/options.ts'
export type { ExchangeForm, Subject } from './oauth/subject.ts'
export type { ClientKey } from '@portcullis/kit/client-authentication'
export type { Clock } from '@portcullis/kit/time'
export type { GetOptions, TokenClient, TokenClientStatus } from './login/token-client.ts'
export type { ClientFetch } from './request/token-request.ts'

// Everything that `@portcullis/client` exports.

export type { AuthorizedFetch } from './present/authorized-fetch.ts'
export { createTokenClient } from './login/client.ts'
export type { LoginMessage } from './login/diagnostics.ts'
export type { DpopOptions } from './dpop/dpop-options.ts'
export { TokenClientError, type TokenClientErrorCode } from './answer/errors.ts'
export type { Credential } from './login/login-exchange.ts'
export type { TokenVerifier } from './login/login.ts'
export type { TokenClientOptions } from './login/options.ts'
export type { Clock } from '@portcullis/kit/time'
export type { GetOptions, TokenClient, TokenClientStatus } from './login/token-client.ts'
export type { ClientFetch } from './request/token-request.ts'
export type { LoginAnswer, ResponseFormat } from './answer/token-response.ts'

// Everything that `@portcullis/core` exports.

export type { Algorithm } from './algorithms/algorithms.ts'
export { refusal, refusalMessage, refusalResponse } from './refusal/answers.ts'
export type { Auth, Claims, Header, Possession } from './claims/auth.ts'
export { acr, authenticatedWithin } from './requirement/authentication.ts'
export type { FetchRequest, RequestHeaders } from './request/bearer.ts'
export type { TokenHeader } from './request/token-header.ts'
export { actor, type Actor, delegationOf } from './requirement/actor.ts'
export { byIssuer } from './issuers/by-issuer.ts'
export type { ByIssuerOptions } from './issuers/by-issuer-options.ts'
export { dpopProofs } from './dpop/dpop-proofs.ts'
export { localReplays, type LocalReplays, type LocalReplaysOptions } from './dpop/local-replays.ts'
export type { NonceOptions } from './dpop/nonces.ts'
export type { DpopProof, DpopProofs, ReplayAnswer, ReplayMemory } from './dpop/proof-check.ts'
export type { DpopProofsOptions } from './dpop/proof-options.ts'
export type {
  KeyFreshness,
  KeysMessage,
  RefusalMessage,
  SkippedEntry,
  VerifyMessage,
} from './report/diagnostics.ts'
export { AuthError, type AuthErrorOptions } from './refusal/errors.ts'
export { expiry } from './claims/expiry.ts'
export { mutualTls, type MutualTls, type MutualTlsOptions } from './possession/mutual-tls.ts'
export type { PresentationOptions } from './refusal/presentation.ts'
export { authErrorReasons } from './refusal/refusals.ts'
export type { AuthErrorCode, AuthErrorReason, AuthErrorReasons } from './refusal/refusals.ts'
export { findAuth, getAuth } from './request/get-auth.ts'
export { authenticateRequest, authorizeRequest } from './request/http.ts'
export type { GuardOptions, RequestOptions } from './request/guard-options.ts'
export type { JsonObject } from '@portcullis/kit/json'
export { discoverKeys } from './keys/discovery.ts'
export type { Fetch, FetchResponse } from '@portcullis/kit/http'
export type { RemoteKeys } from './keys/key-cache.ts'
export type { RemoteKeysStatus } from './keys/key-status.ts'
export type { KeySource } from './keys/key-source.ts'
export { fileKeys } from './keys/file-keys.ts'
export { localKeys, type LocalKeysOptions, type PublicKey } from './keys/local-keys.ts'
export { localRevocations } from './revocation/local-revocations.ts'
export type { LocalRevocations, LocalRevocationsOptions } from './revocation/local-revocations.ts'
export { remoteKeys } from './keys/remote-keys.ts'
export type { RemoteKeysOptions } from './keys/remote-keys-options.ts'
export type { KeysSnapshot } from './keys/snapshot.ts'
export { all, any, anyScope, check, claim, scope } from './requirement/requirement.ts'
export type { Acceptance, Requirement } from './requirement/requirement-list.ts'
export { protectedResourceMetadata } from './refusal/resource-metadata.ts'
export type { ProtectedResource, ProtectedResourceMetadata } from './refusal/resource-metadata.ts'
export type {
  ClaimedIssuedBefore,
  IssuedBefore,
  RevocationEntry,
  Revocations,
  RevocationsSnapshot,
  RevocationStatus,
  RevocationWriter,
  RevokeBeforeOptions,
  RevokedToken,
} from './revocation/revocations.ts'
export type { PathUnder, RequiredClaimValue, RequiredValue } from './claims/required-claims.ts'
export type { IssuerTemplate } from './claims/tenants.ts'
export type { WaitUntil } from '@portcullis/kit/calls'
export type { Clock } from '@portcullis/kit/time'
export type { Schema, SchemaResult } from './claims/schema.ts'
export { grantedScopes } from './requirement/granted-scopes.ts'
export { createVerifier } from './verifier/create-verifier.ts'
export type { Verifier, VerifyOptions } from './verifier/verifier.ts'
export type { FindVerifier } from './issuers/function-calls.ts'
export type { SchemaOptions, VerifierOptions } from './verifier/verifier-options.ts'
export { watchToken } from './verifier/watch-token.ts'

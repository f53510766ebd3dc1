export type { Algorithm } from './algorithms.ts'
export { refusal, refusalMessage, refusalResponse } from './answers.ts'
export type { Auth, Claims, Header } from './auth.ts'
export { acr, authenticatedWithin } from './authentication.ts'
export type { AuthenticatedWithinOptions } from './authentication.ts'
export type { FetchRequest, RequestHeaders } from './bearer.ts'
export { byIssuer } from './by-issuer.ts'
export type { ByIssuerOptions } from './by-issuer-options.ts'
export { dpopProofs } from './dpop/dpop-proofs.ts'
export { localReplays } from './dpop/local-replays.ts'
export type { LocalReplays, LocalReplaysOptions } from './dpop/local-replays.ts'
export type { NonceOptions } from './dpop/nonces.ts'
export type { DpopProof, DpopProofs, PresentedProof } from './dpop/proof-check.ts'
export type { DpopProofsOptions } from './dpop/proof-options.ts'
export type { ReplayAnswer, ReplayMemory } from './dpop/replay-memory.ts'
export type { KeysMessage, VerifyMessage } from './diagnostics.ts'
export { AuthError } from './errors.ts'
export type { AuthErrorOptions } from './errors.ts'
export { expiry } from './expiry.ts'
export type { CertificateFormat } from './forwarded-certificate.ts'
export { mutualTls } from './mutual-tls.ts'
export type { MutualTls, MutualTlsOptions } from './mutual-tls.ts'
export type { Possession } from './possession.ts'
export type { PresentationOptions } from './presentation.ts'
export type {
  AuthErrorCode,
  AuthErrorReason,
  AuthErrorReasons,
  AuthErrorStatus,
} from './refusals.ts'
export { authenticateRequest, authorizeRequest, findAuth, getAuth } from './http.ts'
export type { GuardOptions } from './guard-options.ts'
export type { JsonObject } from './json.ts'
export { discoverKeys } from './keys/discovery.ts'
export type { Fetch, FetchResponse, ResponseHeaders } from './keys/fetch-json.ts'
export type { RemoteKeys } from './keys/key-cache.ts'
export type { SkippedEntry } from './keys/key-document.ts'
export type { RemoteKeysStatus } from './keys/key-status.ts'
export type { KeySource } from './keys/key-source.ts'
export { localKeys } from './keys/local-keys.ts'
export type { LocalKeysOptions, PublicKey } from './keys/local-keys.ts'
export { localRevocations } from './local-revocations.ts'
export type { LocalRevocations, LocalRevocationsOptions } from './local-revocations.ts'
export type { KeyFreshness } from './keys/rotation.ts'
export { remoteKeys } from './keys/remote-keys.ts'
export type { RemoteKeysOptions } from './keys/remote-keys.ts'
export type { KeysSnapshot } from './keys/snapshot.ts'
export { all, any, anyScope, check, claim, scope } from './requirement.ts'
export type { ClaimValue } from './requirement.ts'
export type { Acceptance, Requirement } from './requirement-list.ts'
export { protectedResourceMetadata } from './resource-metadata.ts'
export type { ProtectedResource, ProtectedResourceMetadata } from './resource-metadata.ts'
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
} from './revocations.ts'
export type { RequiredValue } from './required-claims.ts'
export type { Clock } from './time.ts'
export type { Schema, SchemaResult } from './schema.ts'
export { grantedScopes } from './scopes.ts'
export { createVerifier } from './verifier.ts'
export type { Verifier, VerifyOptions } from './verifier.ts'
export type { FindVerifier } from './verifier-calls.ts'
export type { SchemaOptions, VerifierOptions } from './verifier-options.ts'
export { watchToken } from './watch-token.ts'
export type { WatchTokenOptions } from './watch-token.ts'

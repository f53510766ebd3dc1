// Everything that `@portcullis/testing` exports.

export { assertChallenge } from './challenges/assert-challenge.ts'
export type { ChallengeResponse, ExpectedChallenge } from './challenges/assert-challenge.ts'
export type { BadToken, BadTokenKind } from './tokens/bad-token.ts'
export { manualClock } from './clock.ts'
export type { Clock, ManualClock } from './clock.ts'
export type { BadProof, BadProofReason } from './dpop/bad-proof.ts'
export { dpopClient } from './dpop/dpop-client.ts'
export type { DpopClient, DpopClientOptions, DpopHeaders } from './dpop/dpop-client.ts'
export type { ProofOptions, ProofRequest } from './dpop/proof.ts'
export type { EdgeToken } from './tokens/edge-tokens.ts'
export type { BadEvent } from './events/bad-events.ts'
export type { LogoutTokenOptions, EventTokenOptions } from './events/event-token.ts'
export { eventTransmitter } from './events/event-transmitter.ts'
export type {
  BadEventOptions,
  EventTransmitter,
  EventTransmitterOptions,
} from './events/event-transmitter.ts'
export type { SetError } from './events/poll-queue.ts'
export type { RegisteredClient } from './service/clients.ts'
export type { ServiceClient } from './service/grants.ts'
export type { Login, TokenServiceOptions } from './service/endpoints.ts'
export type { BadAnswer, BadAnswerReason } from './introspection/bad-answer.ts'
export type { BadAnswersOptions } from './introspection/bad-answers.ts'
export { introspectionService } from './introspection-service.ts'
export type {
  IntrospectionService,
  IntrospectionUrls,
  IntrospectionVerifierOptions,
  ListeningIntrospectionService,
} from './introspection-service.ts'
export type { IntrospectionServiceOptions } from './introspection/service.ts'
export { createTestIssuer } from './issuer.ts'
export type { TestIssuer } from './issuer.ts'
export type { TestIssuerOptions } from './issuer-options.ts'
export type { KeyPhases, Phase } from './keys/key-phases.ts'
export type {
  KeyDocument,
  PendingRotation,
  RotateOptions,
  Rotation,
  RotationStep,
} from './keys/key-rotation.ts'
export type { PrivateKeys } from './keys/private-keys.ts'
export type { ListenOptions, Routes } from './service/listen.ts'
export type { MisbehaviourName } from './service/misbehaviours.ts'
export type { Outage, OutageInForce, OutageKind, OutageOptions } from './service/outage.ts'
export type { Endpoint, SeenRequest } from './service/request-log.ts'
export { stubVerifier } from './stub.ts'
export type { StubVerifierOptions, VerifierReason } from './stub.ts'
export type { Binding, Thumbprints } from './tokens/binding.ts'
export type { ClaimOptions, TokenOptions, TokenTableOptions } from './tokens/token.ts'
export type { ListeningTokenService, TokenService } from './service/emulation.ts'
export { reportVerdicts } from './verdict-reports.ts'
export type { ReportVerdictsOptions, VerdictReports } from './verdict-reports.ts'
export { tokenService } from './token-service.ts'

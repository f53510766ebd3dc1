// Everything that `@portcullis/testing` exports.

export {
  assertChallenge,
  type ChallengeResponse,
  type ExpectedChallenge,
} from './challenges/assert-challenge.ts'
export { assertGuarded, type AssertGuardedOptions } from './routes/assert-guarded.ts'
export { assertRefuses, type AssertRefusesOptions } from './routes/assert-refuses.ts'
export { type BadToken } from './tokens/bad-token.ts'
export { manualClock, type Clock, type ManualClock } from './clock.ts'
export { type BadProof } from './dpop/bad-proof.ts'
export { dpopClient, type DpopClient, type DpopClientOptions } from './dpop/dpop-client.ts'
export { type ProofOptions } from './dpop/proof.ts'
export { type BadEvent } from './events/bad-events.ts'
export { type LogoutTokenOptions, type EventTokenOptions } from './events/event-token.ts'
export {
  eventTransmitter,
  type BadEventOptions,
  type EventTransmitter,
  type EventTransmitterOptions,
} from './events/event-transmitter.ts'
export { type ServiceClient } from './service/clients.ts'
export { type Login, type TokenServiceOptions } from './service/endpoints.ts'
export { type BadAnswer } from './introspection/bad-answer.ts'
export { type BadAnswersOptions } from './introspection/bad-answers.ts'
export { introspectionService, type IntrospectionService } from './introspection-service.ts'
export { type IntrospectionServiceOptions } from './introspection/service.ts'
export { createTestIssuer, type TestIssuer } from './issuer.ts'
export { type TestIssuerOptions } from './issuer-options.ts'
export { type KeyPhases } from './keys/key-phases.ts'
export { type RotateOptions, type Rotation } from './keys/key-rotation.ts'
export { type PrivateKeys } from './keys/private-keys.ts'
export { type ListeningTokenService, type ListenOptions, type Routes } from './service/listen.ts'
export { type OutageKind } from './service/misbehaviours.ts'
export { type Outage, type OutageOptions } from './service/outage.ts'
export { type Endpoint, type SeenRequest } from './service/request-log.ts'
export { stubVerifier, type StubVerifierOptions } from './stub.ts'
export { type Binding } from './tokens/binding.ts'
export { type TokenOptions } from './tokens/token.ts'
export { type TokenService } from './service/emulation.ts'
export {
  reportVerdicts,
  type ReportVerdictsOptions,
  type VerdictReports,
} from './verdict-reports.ts'
export { tokenService } from './token-service.ts'
export type {
  FunctionBefore,
  Route,
  RouteList,
  RouteRequirement,
  RouteState,
} from '@portcullis/kit/route-list'

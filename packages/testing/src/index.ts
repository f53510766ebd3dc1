export { manualClock } from './clock.ts'
export type { ManualClock } from './clock.ts'
export { createTestIssuer } from './issuer.ts'
export type { TestIssuer, TestIssuerOptions, TokenOptions } from './issuer.ts'
export type { Listener, ListenOptions } from './listen.ts'
export { tokenService } from './token-service.ts'
export type {
  ListeningTokenService,
  Login,
  TokenService,
  TokenServiceOptions,
} from './token-service.ts'

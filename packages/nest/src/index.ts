// Everything that `@portcullis/nest` exports.

export { findAuth, getAuth } from '@portcullis/core'
export { CurrentAuth, OptionalAuth, Public, Requires } from './decorators.ts'
export type { CurrentAuthOptions, HandlerDecorator } from './decorators.ts'
export { AuthException, authErrorOf } from './exception.ts'
export { PortcullisGuard } from './guard.ts'
export type { PortcullisGuardOptions } from './guard.ts'
export { serveMetadata } from './metadata.ts'
export type { Middleware } from './metadata.ts'
export { PortcullisModule } from './module.ts'
export type { PortcullisModuleAsyncOptions, PortcullisModuleOptions } from './module.ts'

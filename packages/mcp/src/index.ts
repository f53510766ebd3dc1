// Everything that `@portcullis/mcp` exports.

export type { AuthInfo } from './auth-info.ts'
export { expressEndpoint } from './express.ts'
export type { AcceptedRequest, Middleware, NodeHandler } from './express.ts'
export { fetchEndpoint } from './fetch.ts'
export type { FetchContext, FetchHandler } from './fetch.ts'
export type { EndpointOptions, SessionOptions } from './options.ts'

import type { Auth, RequestHeaders } from '@portcullis/core'

// The parts of Fastify that are used, as types that its versions and its servers have in common.

/** The part of Fastify's request that is used, so that requests over HTTP/1 and HTTP/2 both fit. */
export interface Request {
  readonly raw: RequestHeaders
  readonly routeOptions: { readonly config?: unknown }
  readonly log: Record<'info' | 'error', (details: object, message: string) => void>
}

export interface Reply {
  headers(headers: Readonly<Record<string, string>>): unknown
  code(status: number): unknown
  send(payload: unknown): unknown
  callNotFound: () => unknown
}

/** A hook for `onRequest` or a later one, as {@link authorize} returns it. */
export type Hook<FastifyRequest extends Request = Request> = (
  request: FastifyRequest,
  reply: Reply,
) => Promise<unknown>

/** The part of a Fastify instance that is used. */
export interface Scope<FastifyRequest extends Request = Request> {
  hasDecorator(name: symbol): boolean
  decorate(name: symbol, value: unknown): unknown
  decorateRequest(name: string, value: { getter(this: Request): Auth }): unknown
  addHook(
    name: 'onRequest' | 'preHandler',
    hook: (request: FastifyRequest, reply: Reply, done: (error?: Error) => void) => unknown,
  ): unknown
  register(plugin: () => Promise<void>): unknown
  get(
    path: string,
    options: object,
    handler: (request: FastifyRequest, reply: Reply) => Promise<unknown>,
  ): unknown
}

/** The type parameter is the request that `onRefusal` gets, such as `FastifyRequest`. */
export type Plugin<FastifyRequest extends Request = Request> = (
  scope: Scope<FastifyRequest>,
  registration?: object,
) => Promise<void>

/** A hook of a scope, which calls `done`, or returns a promise. */
export type ScopeHook = Parameters<Scope['addHook']>[1]

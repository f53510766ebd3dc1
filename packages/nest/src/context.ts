import type { ExecutionContext } from '@nestjs/common'
import type { RequestHeaders } from '@portcullis/core'

// Finds the request behind what Nest calls a handler or a resolver with, on Express and on Fastify.

/** Nest's name for what it calls a handler for. `@nestjs/graphql` adds `graphql`. */
type Kind = 'http' | 'graphql'

export interface HttpCall {
  readonly kind: Kind
  /** What the framework hands to handlers. Core's functions know the request by it. */
  readonly request: object
  /** What GraphQL hands to all resolvers of one operation: the third argument of each. */
  readonly operation: object | undefined
}

/** @throws TypeError for a handler that no HTTP request calls, such as that of a WebSocket gateway or of a microservice. */
export function callOf(context: ExecutionContext): HttpCall {
  const kind = context.getType<string>()
  if (kind === 'http') {
    return { kind, request: context.switchToHttp().getRequest<object>(), operation: undefined }
  }
  if (kind === 'graphql') {
    const operation = operationOf(context)
    return { kind, request: requestOfGraphql(operation), operation }
  }
  // Mistake `@portcullis/nest guards HTTP handlers and GraphQL resolvers`: For WebSockets and microservices decorate the handler
  // with `@Public()`, and call `verifier.verify(token)` there.
  throw new TypeError(
    `@portcullis/nest guards HTTP handlers and GraphQL resolvers, and ${handlerName(context)} is of type ${JSON.stringify(kind)}: decorate it with @Public(), and call verifier.verify(token) there`,
  )
}

function operationOf(context: ExecutionContext): object {
  const operation: unknown = context.getArgByIndex(2)
  if (typeof operation !== 'object' || operation === null) {
    // Mistake `…: a GraphQL resolver without a context`: Return one from the option `context` of `GraphQLModule`.
    throw new TypeError(`${handlerName(context)}: a GraphQL resolver without a context`)
  }
  return operation
}

/** The headers of a request. Fastify keeps the request of Node in `raw`. */
export function headersOf(request: object): RequestHeaders {
  return (ownObject(request, 'raw') ?? request) as RequestHeaders // which every request of Node is
}

function requestOfGraphql(operation: object): object {
  const request = ownObject(operation, 'req') ?? ownObject(operation, 'request')
  if (request === undefined) {
    // Mistake `the context of GraphQL has no req`: Return `{ req }` from the option `context` of `GraphQLModule`.
    throw new TypeError(
      'the context of GraphQL has no req: return { req } from the option context of GraphQLModule',
    )
  }
  return request
}

function ownObject(members: object, name: string): object | undefined {
  const value: unknown = Object.hasOwn(members, name) ? Reflect.get(members, name) : undefined
  return typeof value === 'object' && value !== null ? value : undefined
}

function handlerName(context: ExecutionContext): string {
  return `${context.getClass().name}.${context.getHandler().name}`
}

import { memberOf } from '@portcullis/kit/options'

// Which URL the client asked for, to compare it with a DPoP proof, also behind mounted routers.

/** A scheme, a host and a port in front of a path. */
const ORIGIN = /^[a-z][\d+.a-z-]*:\/\/[^/?#]*/i

/**
 * Path and query of a request, as the server was asked for them.
 *
 * Routers that are mounted under a path change `url`, and keep what was asked for in `originalUrl`: Express and Connect on the
 * request, Koa on the context, Fastify on the request of node where `rewriteUrl` has changed it. What the client says of
 * the host does not count, be it in a target of absolute form. The request of node comes first: a Koa application that is mounted in
 * Express keeps the path that it was given.
 *
 * @param subject What the framework hands to handlers.
 * @see RFC 9112 section 3.2
 */
export function targetOf(request: object, subject: object): string {
  const original = ownText(request, 'originalUrl') ?? ownText(subject, 'originalUrl')
  const url = original ?? textOf(request, 'url')
  const target = url.replace(ORIGIN, '')
  return url === target || target.startsWith('/') ? target : `/${target}`
}

export function methodOf(request: object): string {
  return textOf(request, 'method')
}

/** An inherited one would be somebody's pollution: no class of a framework has it. */
function ownText(members: object, name: string): string | undefined {
  const value: unknown = Object.hasOwn(members, name) ? Reflect.get(members, name) : undefined
  return typeof value === 'string' ? value : undefined
}

function textOf(members: object, name: string): string {
  const value = memberOf(members, name)
  return typeof value === 'string' ? value : ''
}

import type { Backend } from './backend.ts'
import { type Endpoint, ENDPOINTS, type Entry } from './request-log.ts'

// What all services do around an answer: find the endpoint, write the log, and tell the time of the issuer's clock.

/** Answers requests as a service does. The signal is aborted when the client gives up. */
export type Handler = (request: Request, signal: AbortSignal | undefined) => Promise<Response>

/** Writes into the entry of the log what it finds out. */
export type Respond = (
  request: Request,
  entry: Entry,
  signal: AbortSignal | undefined,
) => Promise<Response>

export type Paths = Readonly<Partial<Record<Endpoint, string | readonly string[]>>>

/** @param paths Of the endpoints that the service has: one or more of each. */
export function recorded({ clock, log }: Backend, paths: Paths, respond: Respond): Handler {
  const endpoints = new Map(
    ENDPOINTS.flatMap((endpoint) =>
      [paths[endpoint] ?? []].flat().map((path) => [path, endpoint] as const),
    ),
  )
  return async (request, signal) => {
    const { pathname } = new URL(request.url)
    const entry = log.enter(endpoints.get(pathname), request.headers.get('user-agent') ?? undefined)
    try {
      const response = await respond(request, entry, signal)
      // By the issuer's clock, not the machine's, because clients compare it with theirs.
      response.headers.set('date', new Date(clock.now() * 1000).toUTCString())
      entry.status = response.status
      return response
    } finally {
      log.finish(entry)
    }
  }
}

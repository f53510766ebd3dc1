import type { IncomingMessage, ServerResponse } from 'node:http'

import { ownMembers } from '@portcullis/kit/options'

import type { EventAnswer } from './answer.ts'
import { type EventRequest, isBody } from './event-request.ts'

// Gives a receiver the forms in which frameworks call it.

/**
 * Receives events by HTTP. As a function it is a handler for Express and for `node:http`; it answers each request itself, and
 * never rejects. A body parser may run before it or not.
 */
export interface EventReceiver {
  (request: IncomingMessage & { body?: unknown }, response: ServerResponse): Promise<void>
  /** For frameworks with the `Request` of the Fetch standard, such as Hono. */
  fetch(request: Request): Promise<Response>
  /** For every other framework: give it the headers and the body, and send what it answers. */
  answer(request: EventRequest): Promise<EventAnswer>
}

export function createReceiver(
  answer: (request: EventRequest) => Promise<EventAnswer>,
): EventReceiver {
  async function handle(
    request: IncomingMessage & { body?: unknown },
    response: ServerResponse,
  ): Promise<void> {
    const { method, headers, rawHeaders } = request
    const sent = { method, headers, rawHeaders, body: bodyOf(request) }
    const { status, headers: fields, body } = await answer(sent)
    // A time-out of the application may have answered meanwhile.
    if (response.headersSent) return
    response.statusCode = status
    for (const [name, value] of Object.entries(fields)) response.setHeader(name, value)
    // Nobody reads the rest of a body that is too long.
    if (!request.complete && request.httpVersionMajor === 1) {
      response.setHeader('Connection', 'close')
    }
    response.end(body)
  }

  return Object.assign(handle, {
    answer,
    async fetch(request: Request): Promise<Response> {
      const { method, headers, body: stream } = request
      const { status, headers: fields, body } = await answer({ method, headers, body: stream })
      // They inherit nothing, since a `Response` reads its options at request time.
      return new Response(body, ownMembers({ status, headers: ownMembers(fields) }))
    },
  })
}

/** What a body parser has made of the body, or else the request as a stream, if nobody has read it. */
function bodyOf(request: IncomingMessage & { body?: unknown }): unknown {
  const body = Object.hasOwn(request, 'body') ? request.body : undefined
  return isBody(body) || request.readableDidRead ? body : request
}

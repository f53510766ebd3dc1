import { types } from 'node:util'

import type { JsonObject } from '@portcullis/core'
import { mediaTypeOf } from '@portcullis/kit/http'
import { isJsonObject, member, parseUnambiguousObject } from '@portcullis/kit/json'
import { hasMethods } from '@portcullis/kit/options'

import { invalidEvent, type RefusedEvent } from './refused-event.ts'

// Finds the token in a request: in a body that nobody has read yet, or in what a body parser has made of it.

/** A request as frameworks show it, such as the `request` of Fastify or of Koa. */
export interface EventRequest {
  /** If it is stated, it must be POST. */
  readonly method?: string | undefined
  readonly headers: object
  /** As Node has them, to see that a header came twice. */
  readonly rawHeaders?: readonly string[] | undefined
  /** A text, octets, a stream of octets, or the object that a parser of forms or of JSON has made. */
  readonly body?: unknown
}

/** Octets. The longest token of a verifier fits into it, in a form as well. */
const MAX_BODY = 65_536

const NO_BODY = invalidEvent('The request has no body that can be read')
const TOO_LARGE = invalidEvent(`The body has more than ${MAX_BODY} bytes`)

type Found = { readonly token: string; readonly err: undefined } | RefusedEvent

/** The form field `logout_token`. OpenID Connect Back-Channel Logout 1.0 section 2.5. */
export async function findLogoutToken(request: EventRequest): Promise<Found> {
  if (typeOf(request) !== 'application/x-www-form-urlencoded') {
    return invalidEvent('The Content-Type must be application/x-www-form-urlencoded')
  }
  const body = bodyOf(request)
  const text = hasToken(body) ? '' : await textOf(body)
  if (isRefused(text)) return text
  const values: readonly unknown[] = hasToken(body)
    ? [body['logout_token']]
    : new URLSearchParams(text).getAll('logout_token')
  const [token] = values
  return values.length === 1 && typeof token === 'string'
    ? { token, err: undefined }
    : invalidEvent('The form must have one logout_token')
}

/** The whole body. RFC 8935 section 2.1. */
export async function findSecurityEventToken(request: EventRequest): Promise<Found> {
  if (typeOf(request) !== 'application/secevent+jwt') {
    return invalidEvent('The Content-Type must be application/secevent+jwt')
  }
  const token = await textOf(bodyOf(request))
  return isRefused(token) ? token : { token, err: undefined }
}

/** The member `payload` of a JSON object, as Apple sends it. */
export async function findPayload(request: EventRequest): Promise<Found> {
  if (typeOf(request) !== 'application/json') {
    return invalidEvent('The Content-Type must be application/json')
  }
  const body = bodyOf(request)
  const text = hasPayload(body) ? '' : await textOf(body)
  if (isRefused(text)) return text
  const parsed = hasPayload(body) ? body : parseUnambiguousObject(Buffer.from(text, 'latin1'))
  const token = parsed === undefined ? undefined : member(parsed, 'payload')
  return typeof token === 'string'
    ? { token, err: undefined }
    : invalidEvent('The body must be a JSON object with one payload')
}

function hasToken(body: unknown): body is JsonObject {
  return isJsonObject(body) && Object.hasOwn(body, 'logout_token')
}

function hasPayload(body: unknown): body is JsonObject {
  return isJsonObject(body) && Object.hasOwn(body, 'payload')
}

/** Whether this is a whole body: some parsers leave an empty object for one that they do not read. */
export function isBody(body: unknown): boolean {
  return typeof body === 'string' || types.isUint8Array(body) || hasToken(body) || hasPayload(body)
}

function bodyOf(request: EventRequest): unknown {
  return Object.hasOwn(request, 'body') ? request.body : undefined
}

function isRefused(value: string | RefusedEvent): value is RefusedEvent {
  return typeof value === 'object'
}

async function textOf(body: unknown): Promise<string | RefusedEvent> {
  if (typeof body === 'string') return body.length > MAX_BODY ? TOO_LARGE : body
  if (types.isUint8Array(body)) return body.length > MAX_BODY ? TOO_LARGE : decoded(body)
  return isStream(body) ? await readStream(body) : NO_BODY
}

/**
 * Stops at the limit without ending the stream: Node would close the connection, and the sender would read no answer.
 */
async function readStream(stream: AsyncIterable<unknown>): Promise<string | RefusedEvent> {
  let octets = Buffer.alloc(0)
  let size = 0
  try {
    const chunks = stream[Symbol.asyncIterator]()
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
      const chunk = octetsOf(next.value)
      if (chunk === undefined) return NO_BODY
      if (size + chunk.length > MAX_BODY) return TOO_LARGE
      if (size + chunk.length > octets.length) {
        // It doubles: a body that comes octet by octet is copied a few times, and kept once.
        octets = Buffer.concat([octets], Math.max(2 * octets.length, size + chunk.length))
      }
      octets.set(chunk, size)
      size += chunk.length
    }
  } catch {
    // The sender has ended the connection, or somebody else reads the body.
    return NO_BODY
  }
  return decoded(octets.subarray(0, size))
}

function octetsOf(chunk: unknown): Uint8Array | undefined {
  if (typeof chunk === 'string') return Buffer.from(chunk)
  return types.isUint8Array(chunk) ? chunk : undefined
}

/** One character for each octet: a token and a form are ASCII, and everything else is refused later. */
function decoded(octets: Uint8Array): string {
  return Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString('latin1')
}

function isStream(body: unknown): body is AsyncIterable<unknown> {
  return (
    typeof body === 'object' &&
    body !== null &&
    typeof Reflect.get(body, Symbol.asyncIterator) === 'function'
  )
}

function typeOf({ headers }: EventRequest): string {
  return mediaTypeOf(headerOf(headers, 'content-type'))
}

function isFetchHeaders(headers: object): headers is Headers {
  return hasMethods(headers, 'get')
}

/** Of `Headers`, or of the object that Node makes. */
export function headerOf(headers: object, name: string): string | undefined {
  const value: unknown = isFetchHeaders(headers)
    ? headers.get(name)
    : Object.hasOwn(headers, name)
      ? Reflect.get(headers, name)
      : undefined
  return typeof value === 'string' ? value : undefined
}

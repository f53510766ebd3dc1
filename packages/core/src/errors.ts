import { type Detail, printable } from './details/text.ts'
import { own, ownMembers } from './options.ts'
import {
  type AuthErrorCode,
  type AuthErrorReason,
  type AuthErrorReasons,
  type AuthErrorStatus,
  describe,
  refusals,
  visible,
} from './refusals.ts'
import type { ProtectedResourceMetadata } from './resource-metadata.ts'

/** How an API presents its refusals. */
export interface PresentationOptions {
  /**
   * The protection space, shown in the challenge.
   * @default 'api'
   * @see RFC 9110 section 11.5
   */
  realm?: string | undefined
  /**
   * The scope that a client should ask its token for: a space-separated list, shown in the challenge of `missing_token` and
   * `invalid_token`. That of `insufficient_scope` names what the requirement wants.
   * @default the scopes of `resourceMetadata`, if that is an object that has some
   * @see RFC 6750 section 3
   */
  scope?: string | undefined
  /**
   * The protected resource metadata, or their URL, which the challenge shows.
   * @see RFC 9728 section 5.1
   */
  resourceMetadata?: string | ProtectedResourceMetadata | undefined
  /**
   * `forward` leaves the body to the framework; `problem` makes it a problem document.
   * @default 'forward'
   * @see RFC 9457
   */
  respond?: 'forward' | 'problem' | undefined
}

export interface AuthErrorOptions extends PresentationOptions {
  /** For the developer alone: never part of a message, of JSON or of an inspection. */
  cause?: unknown
  /** Makes {@link AuthError.detail}. It is kept as long as the error, so it should keep no more than a few values. */
  detail?: Detail | undefined
  /** The scope that would have sufficed: a space-separated list (RFC 6750 section 3). */
  scope?: PresentationOptions['scope']
  /** Seconds until the next attempt to fetch keys can be made. */
  retryAfter?: number | undefined
}

/** Most refusals have none: they share these, so that a forged token costs no copy. */
const NO_OPTIONS: AuthErrorOptions = Object.freeze(ownMembers({}))

/** Characters. */
const LONGEST_DETAIL = 600

type AuthErrorArguments = {
  [Code in AuthErrorCode]: [
    code: Code,
    reason: AuthErrorReasons[Code],
    options?: AuthErrorOptions | Detail | undefined,
  ]
}[AuthErrorCode]

/**
 * A refused request, and the HTTP answer to it: `status` and `headers` are what the client should get.
 *
 * `message` is fixed text. Neither it nor the headers, `toJSON` or an inspection contain a token, a claim or a URL.
 * `reason` may say more than the client should learn; `toJSON` keeps to what it may.
 *
 * @see RFC 6750 section 3
 */
export class AuthError extends Error {
  readonly code: AuthErrorCode
  readonly reason: AuthErrorReason
  readonly status: AuthErrorStatus
  /** The same as `status`, under the name that Fastify and others read. */
  readonly statusCode: AuthErrorStatus
  /** The message may be shown to the client: the convention of `http-errors`, which Koa and Express follow. */
  readonly expose = true
  readonly #arguments: [code: AuthErrorCode, reason: AuthErrorReason, options: AuthErrorOptions]
  #detail: Detail | undefined
  #headers: Readonly<Record<string, string>> | undefined

  /** Instead of options, `detail` alone may be given: that costs no object more than its function. */
  constructor(...args: AuthErrorArguments) {
    const [code, reason, options = NO_OPTIONS] = args
    const given = typeof options === 'function' ? NO_OPTIONS : options
    const message = describe(code, reason)
    // A refusal has no stack: making one costs more than a signature check, Koa would print it, and Express would send it.
    const limit = Error.stackTraceLimit
    limitStackTraces(0)
    super(message, Object.hasOwn(given, 'cause') ? { cause: given.cause } : undefined)
    limitStackTraces(limit)
    this.code = code
    this.reason = reason
    this.status = refusals[code].status
    this.statusCode = this.status
    this.#detail = typeof options === 'function' ? options : own(options, 'detail')
    this.#arguments = [code, reason, given === NO_OPTIONS ? given : ownMembers(given)]
  }

  override get name(): string {
    return 'AuthError'
  }

  /**
   * `WWW-Authenticate` (none for 503), `Retry-After` (503 only), `Cache-Control`; `Content-Type` if there is a body.
   * They are made when they are first read, so that refusing a forged token costs little where nobody reads them.
   */
  get headers(): Readonly<Record<string, string>> {
    this.#headers ??= headersOf(...this.#arguments)
    return this.#headers
  }

  /** Some middleware, such as that for CORS, replaces the headers of an error by more of them. */
  set headers(headers: Readonly<Record<string, string>>) {
    this.#headers = headers
  }

  /** A problem document, where one is asked for. */
  get body(): string | undefined {
    const [code, reason, { respond }] = this.#arguments
    return respond === 'problem' ? problemOf(code, reason) : undefined
  }

  /**
   * Why the request was refused, in one sentence for developers: what was found, and what was expected. It is made when it is
   * asked for, of what was known when the request was refused, and never sent: keep it for logs.
   *
   * Before the signature is proven it shows members of the header alone; then, of claims, `iss`, `aud`, times, and the names
   * of others. What others wrote is cut and escaped. No token, and of a URL of ours the origin alone.
   */
  get detail(): string {
    const [code, reason] = this.#arguments
    try {
      const sentence = this.#detail?.()
      if (sentence !== undefined) return printable(sentence, LONGEST_DETAIL)
    } catch {
      // It reads what others have made, such as the issues of a schema.
    }
    return describe(code, reason)
  }

  /** The same refusal, as another API presents it. */
  presentedBy(options: PresentationOptions): AuthError {
    const [code, reason, given] = this.#arguments
    const { realm, scope, resourceMetadata, respond } = ownMembers(options)
    const presented = {
      ...given,
      realm,
      scope: asksForToken(code) ? scope : given.scope,
      resourceMetadata,
      respond,
    }
    // They came from one list of arguments, so the reason belongs to the code; the compiler does not know that any more.
    const error = new AuthError(...([code, reason, presented] as AuthErrorArguments))
    error.#detail = this.#detail
    return error
  }

  /** What the client may see. `reason` is left out where it would help a sender of forged tokens. */
  toJSON(): { name: string; code: string; reason?: string; status: number; message: string } {
    return {
      name: this.name,
      code: this.code,
      ...visible(this.code, this.reason),
      status: this.status,
      message: this.message,
    }
  }

  static {
    // An inspection leaves out `cause`, which may hold what must not reach a log by accident.
    Object.defineProperty(
      this.prototype,
      Symbol.for('nodejs.util.inspect.custom'),
      ownMembers({ value: inspected }),
    )
  }
}

/** An assignment, since `Reflect.set` costs as much as the rest of a refusal. It throws where somebody has frozen `Error`. */
function limitStackTraces(limit: number): void {
  try {
    Error.stackTraceLimit = limit
  } catch {
    // Then refusals have stacks.
  }
}

function inspected(this: AuthError): string {
  const { name, message, code, reason, status } = this
  return `${name}: ${message} { code: '${code}', reason: '${reason}', status: ${status} }`
}

function headersOf(
  code: AuthErrorCode,
  reason: AuthErrorReason,
  options: AuthErrorOptions,
): Readonly<Record<string, string>> {
  const isOutage = code === 'keys_unavailable'
  // Frameworks copy these with `for ... in`, so they inherit nothing.
  return ownMembers({
    // In an outage the client's token is not at fault, so the client is not asked for another one.
    ...(isOutage
      ? { 'Retry-After': String(wholeSeconds(options.retryAfter)) }
      : { 'WWW-Authenticate': challengeOf(code, reason, options) }),
    'Cache-Control': 'no-store',
    ...(options.respond === 'problem' ? { 'Content-Type': 'application/problem+json' } : {}),
  })
}

function wholeSeconds(retryAfter = 1): number {
  return Number.isFinite(retryAfter) ? Math.max(1, Math.ceil(retryAfter)) : 1
}

/** @see RFC 9457 section 3 */
function problemOf(code: AuthErrorCode, reason: AuthErrorReason): string {
  const { status, title } = refusals[code]
  return JSON.stringify(
    ownMembers({
      type: 'about:blank',
      title,
      status,
      detail: describe(code, reason),
      code,
      ...visible(code, reason),
    }),
  )
}

/** @see RFC 6750 section 3: no error code when the request carried no token */
function challengeOf(
  code: AuthErrorCode,
  reason: AuthErrorReason,
  { realm = 'api', scope, resourceMetadata }: AuthErrorOptions,
): string {
  const metadata =
    typeof resourceMetadata === 'string' ? { url: resourceMetadata } : resourceMetadata
  const wanted = scope ?? (asksForToken(code) ? scopesOf(metadata) : undefined)
  const parameters = [`realm=${quoted(realm)}`]
  if (code !== 'missing_token') {
    parameters.push(`error=${quoted(code)}`, `error_description=${quoted(describe(code, reason))}`)
  }
  if (wanted !== undefined) parameters.push(`scope=${quoted(wanted)}`)
  if (metadata !== undefined) parameters.push(`resource_metadata=${quoted(metadata.url)}`)
  return `Bearer ${parameters.join(', ')}`
}

/** Whether the client needs another token, rather than one that permits more. */
function asksForToken(code: AuthErrorCode): boolean {
  return code === 'missing_token' || code === 'invalid_token'
}

function scopesOf(metadata: Partial<ProtectedResourceMetadata> | undefined): string | undefined {
  const scopes = metadata === undefined ? undefined : own(metadata, 'scopes')
  return scopes === undefined || scopes.length === 0 ? undefined : scopes.join(' ')
}

/** @see RFC 9110 section 5.6.4 */
function quoted(text: string): string {
  // Node throws for a header with other characters, and the answer would be 500.
  return `"${text.replaceAll(/[^ -~]/g, '').replaceAll(/["\\]/g, String.raw`\$&`)}"`
}

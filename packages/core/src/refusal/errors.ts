import { memberOf, own, ownMembers } from '@portcullis/kit/options'

import { joinedScopes } from '../ground/scopes.ts'
import { asksForToken, headersOf, type PresentationOptions, problemOf } from './presentation.ts'
import {
  type AuthErrorCode,
  type AuthErrorReason,
  type AuthErrorReasons,
  describe,
  refusals,
  visible,
} from './refusals.ts'
import { printable } from './text.ts'

// `AuthError`: a refusal, with its answer for the client and its sentence for developers. Texts and headers are made when somebody reads
// them.

export interface AuthErrorOptions extends PresentationOptions {
  /** For developers only: it is never in a message, in JSON or in an inspection. */
  cause?: unknown
  /**
   * Makes {@link AuthError.detail}, and {@link AuthError.numbers} where it returns an object. It is kept as long as the error, so it
   * should refer to only a few values.
   */
  detail?:
    | (() => string | { readonly text: string; readonly numbers: Readonly<Record<string, number>> })
    | undefined
  /** The scope that would be enough: a space-separated list (RFC 6750 section 3). */
  scope?: PresentationOptions['scope']
  /**
   * For `insufficient_user_authentication`: the accepted values of `acr`, separated by spaces.
   * @see RFC 9470 section 3
   */
  acrValues?: string | undefined
  /** For `insufficient_user_authentication`: how long ago the user may have logged in. Seconds. */
  maxAge?: number | undefined
  /**
   * The scheme of the request. Its challenge contains the error.
   * @default 'Bearer'
   */
  scheme?: 'Bearer' | 'DPoP' | undefined
  /** For 503: seconds after which the request may be repeated. */
  retryAfter?: number | undefined
}

/** From the registry of symbols, so that two copies of core in one process recognize each other's errors. */
const BRAND: unique symbol = Symbol.for('@portcullis/core AuthError')

/** Most refusals have none: they share these, so that a forged token costs no copy. */
const NO_OPTIONS: AuthErrorOptions = Object.freeze(ownMembers({}))

/** Characters. */
const LONGEST_DETAIL = 600

/**
 * A refused request, and the HTTP answer to it: the client should get `status` and `headers`.
 *
 * `message` is fixed text. The message, the headers, `toJSON` and an inspection contain no token, claim or URL. `reason` may
 * say more than the client should know; `toJSON` leaves it out in that case.
 *
 * @see RFC 6750 section 3
 */
export class AuthError extends Error {
  readonly code: AuthErrorCode
  readonly reason: AuthErrorReason
  /** As literals, so that frameworks with types for each status take them without a cast. */
  readonly status: 400 | 401 | 403 | 503
  /** The same as `status`, under the name that Fastify and others read. */
  readonly statusCode: AuthError['status']
  /** The message may be shown to the client. Koa and Express read this member, as `http-errors` defines it. */
  readonly expose = true
  readonly #arguments: [code: AuthErrorCode, reason: AuthErrorReason, options: AuthErrorOptions]
  /** The scope that was given at first, whoever has presented the refusal since. */
  #wanted: string | undefined
  #detail: AuthErrorOptions['detail']
  #headers: Readonly<Record<string, string>> | undefined

  /** Instead of options, `detail` alone may be given: that costs no object more than its function. */
  constructor(
    // Tuples, so that the compiler ties each reason to its code: a constructor has no type parameter that could.
    ...args: {
      [Code in AuthErrorCode]: [
        code: Code,
        reason: AuthErrorReasons[Code],
        options?: AuthErrorOptions | AuthErrorOptions['detail'],
      ]
    }[AuthErrorCode]
  ) {
    const [code, reason, options = NO_OPTIONS] = args
    const given = typeof options === 'function' ? NO_OPTIONS : options
    if (typeof given !== 'object' || (given as unknown) === null) {
      // Mistake `…: options must be an object`: Give one object, `{ ... }`, after the other arguments.
      throw new TypeError('AuthError: options must be an object')
    }
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
    this.#wanted = own(given, 'scope')
    this.#arguments = [code, reason, given === NO_OPTIONS ? given : ownMembers(given)]
  }

  override get name(): string {
    return 'AuthError'
  }

  /**
   * `WWW-Authenticate` (not for 503), `Retry-After` (503 only), `Cache-Control`, and `Content-Type` if there is a body. They
   * are made when they are first read, so that a refusal costs little if nobody reads them.
   */
  get headers(): Readonly<Record<string, string>> {
    this.#headers ??= headersOf(...this.#arguments)
    return this.#headers
  }

  /** Some middleware, such as that for CORS, replaces the headers of an error by more of them. */
  set headers(headers: Readonly<Record<string, string>>) {
    this.#headers = headers
  }

  /** A problem document (RFC 9457), if the guard has `respond: 'problem'`. */
  get body(): string | undefined {
    const [code, reason, { respond }] = this.#arguments
    return respond === 'problem' ? problemOf(code, reason) : undefined
  }

  /**
   * Why the request was refused, in one sentence for developers: what was found, and what was expected. It is made when it is
   * read. Use it for logs; never send it to a client. It is one of few sentences for each reason: what differs from token to
   * token, such as times, is in `numbers`.
   *
   * Until the signature is proven it shows only members of the header. Afterwards it names what was expected, and shows what
   * was found of `iss`, `aud`, times, numbers, `azp`, `client_id`, `appid`, `tid`, `ver`, `token_use` and `acr`; of other claims
   * what kind of value it is and how many it has, so that no address of a user reaches a log. Values are cut and escaped. It
   * contains no token, and of URLs only the origin.
   */
  get detail(): string {
    const [code, reason] = this.#arguments
    try {
      const told = this.#detail?.()
      const sentence = typeof told === 'object' ? told.text : told
      if (sentence !== undefined) return printable(sentence, LONGEST_DETAIL)
    } catch {
      // It reads what others have made, such as the issues of a schema.
    }
    return describe(code, reason)
  }

  /**
   * The numbers behind `detail`, as fields for logs, by the names of claims (`exp`, `iat`, `auth_time`) or of what was measured (`now`,
   * `keysAge`, `nextAttemptIn`, `size`). Seconds, or characters. It is made when it is read; never send it to a client.
   */
  get numbers(): Readonly<Record<string, number>> {
    try {
      const told = this.#detail?.()
      const numbers = typeof told === 'object' ? Object.entries(told.numbers) : []
      return Object.fromEntries(numbers.filter(([, value]) => typeof value === 'number'))
    } catch {
      // As above.
    }
    return {}
  }

  /**
   * The same refusal with the options of another API.
   *
   * @param scheme The scheme of the request, if the API accepts proofs.
   */
  presentedBy(options: PresentationOptions, scheme?: AuthErrorOptions['scheme']): AuthError {
    const [code, reason, given] = this.#arguments
    const { realm, scope, resourceMetadata, dpop, respond } = ownMembers(options)
    const presented = {
      ...given,
      realm,
      scope: scopeFor(code, scope, this.#wanted),
      resourceMetadata,
      dpop,
      scheme,
      respond,
    }
    // They came from one list of arguments, so the reason belongs to the code; the compiler does not know that any more.
    const args = [code, reason, presented] as ConstructorParameters<typeof AuthError>
    const error = new AuthError(...args)
    error.#detail = this.#detail
    error.#wanted = this.#wanted
    return error
  }

  /** What the client may see. `reason` is left out if it would help a sender of forged tokens. */
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
    // `instanceof` recognizes the errors of another copy of core: they are refusals, and whoever catches one must see that.
    Object.defineProperty(this.prototype, BRAND, ownMembers({ value: true }))
    Object.defineProperty(this, Symbol.hasInstance, ownMembers({ value: isInstance }))
    // An inspection leaves out `cause`, which may hold what must not reach a log by accident.
    Object.defineProperty(
      this.prototype,
      Symbol.for('nodejs.util.inspect.custom'),
      ownMembers({ value: inspected }),
    )
  }
}

/** A class that extends this one has no brand of its own. */
function isInstance(this: unknown, value: unknown): boolean {
  if (this !== AuthError) return Function.prototype[Symbol.hasInstance].call(this, value)
  return typeof value === 'object' && value !== null && memberOf(value, BRAND) === true
}

/** @param wanted What the requirements want, in addition to what every token should have. */
function scopeFor(
  code: AuthErrorCode,
  everywhere: string | undefined,
  wanted: string | undefined,
): string | undefined {
  if (code === 'insufficient_user_authentication') return joinedScopes([everywhere, wanted])
  return asksForToken(code) ? everywhere : wanted
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

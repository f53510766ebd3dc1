import { type ExecutionContext, HttpException } from '@nestjs/common'
import { type AuthError, refusal as refusalOf } from '@portcullis/core'
import { checkArgument, own, ownMembers } from '@portcullis/kit/options'

// A refusal as Nest knows errors, and how it becomes an answer with its headers.

/**
 * A refusal for Nest's exception filters. Status and message are those of the {@link AuthError}, which is its `cause`.
 *
 * Nest would log an error that is not an `HttpException`, and most filters would answer it with 500.
 */
export class AuthException extends HttpException {
  declare readonly cause: AuthError
  /**
   * Of a refused resolver: what GraphQL puts into the `extensions` of the error. `code` is what clients of Apollo know a log-in by, `error`
   * the `code` of the {@link AuthError}, `challenge` what HTTP has in `WWW-Authenticate`; in an outage there is `retryAfter` instead, in seconds.
   */
  declare readonly extensions?: {
    readonly code: 'BAD_REQUEST' | 'UNAUTHENTICATED' | 'FORBIDDEN' | 'SERVICE_UNAVAILABLE'
    readonly error: AuthError['code']
    readonly challenge?: string
    readonly retryAfter?: number
  }

  constructor(error: AuthError) {
    const isRefusal = refusalOf(error) !== undefined
    checkArgument('AuthException', 'the argument', isRefusal ? undefined : 'must be an AuthError')
    // No stack, like the AuthError: making one costs more than the rest of a refusal, so a flood of forged tokens would too.
    const limit = Error.stackTraceLimit
    Reflect.set(Error, 'stackTraceLimit', 0)
    super(error.message, error.status, { cause: error })
    Reflect.set(Error, 'stackTraceLimit', limit)
  }
}

/** The refusal that an exception filter has caught. For any other error `undefined`. */
export function authErrorOf(exception: AuthException): AuthError
export function authErrorOf(exception: unknown): AuthError | undefined
export function authErrorOf(exception: unknown): AuthError | undefined {
  return refusalOf(exception instanceof AuthException ? exception.cause : exception)
}

interface NodeResponse {
  statusCode: number
  readonly headersSent: boolean
  setHeader(name: string, value: string): unknown
  end(body: string): unknown
}

interface FastifyReply {
  readonly raw: NodeResponse
  readonly sent: boolean
  headers(headers: Readonly<Record<string, string>>): unknown
  code(status: number): unknown
  send(body: Buffer): unknown
}

/**
 * With the challenge on the response: exception filters know nothing of the headers of an error. Where the guard answers itself, the
 * promise stays pending: whatever it threw or returned, a filter would answer once more.
 * @throws AuthException, or the error itself if it is no refusal.
 */
export async function refuse(error: unknown, context: ExecutionContext): Promise<never> {
  const answer = refusalOf(error)
  if (answer === undefined) throw error
  const kind = context.getType<string>()
  const isAnswered =
    kind === 'http' && respond(context.switchToHttp().getResponse<object>(), answer)
  if (isAnswered) return await new Promise<never>(() => {})
  const exception = new AuthException(answer)
  if (kind === 'graphql') {
    const shown = ownMembers({ value: extensionsOf(answer), enumerable: true })
    Object.defineProperty(exception, 'extensions', shown)
  }
  throw exception
}

const CODES = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  503: 'SERVICE_UNAVAILABLE',
} as const

/** An operation has one answer for all its fields, so no header of it is about one of them. */
function extensionsOf({ code: error, status, headers }: AuthError): AuthException['extensions'] {
  const challenge = own(headers, 'WWW-Authenticate')
  const retryAfter = own(headers, 'Retry-After')
  return ownMembers({
    code: CODES[status],
    error,
    ...(challenge !== undefined && { challenge }),
    ...(retryAfter !== undefined && { retryAfter: Number(retryAfter) }),
  })
}

/** Puts the headers on the response. Where there is a body it is sent, and the result is true. */
function respond(response: object, { status, headers, body }: AuthError): boolean {
  if (Object.hasOwn(response, 'raw')) {
    const reply = response as FastifyReply
    if (reply.sent || reply.raw.headersSent) return false
    reply.headers(headers)
    if (body === undefined) return false
    reply.code(status)
    // A buffer, because Fastify adds a charset to the type of a string.
    reply.send(Buffer.from(body))
    return true
  }
  const answer = response as NodeResponse
  if (answer.headersSent) return false
  for (const [name, value] of Object.entries(headers)) answer.setHeader(name, value)
  if (body === undefined) return false
  answer.statusCode = status
  answer.end(body)
  return true
}

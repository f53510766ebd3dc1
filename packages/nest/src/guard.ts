import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common'
import { authenticateRequest, type GuardOptions, type Verifier } from '@portcullis/core'
import { checkGuardOptions, isAtOnce, propertySetter } from '@portcullis/core/adapter'
import { checkArgument, hasMethods, type OptionCheck, ownMembers } from '@portcullis/kit/options'
import { guardMark } from '@portcullis/kit/routes'

import { callOf, headersOf } from './context.ts'
import { refuse } from './exception.ts'
import { markGuard } from './guard-marks.ts'
import { isOpened, isOptionalFor } from './handlers.ts'
import { setRole } from './marks.ts'
import { oncePerOperation } from './operations.ts'

// The guard that authenticates, unless the handler is open. Every decision about tokens is core's.

/** The options of a {@link PortcullisGuard}. */
export interface PortcullisGuardOptions<
  Request extends object = object,
> extends GuardOptions<Request> {
  /** Verifies the tokens. */
  verifier: Verifier<unknown>
}

/** The injection token of the options that Nest gives to a {@link PortcullisGuard}. */
export const GUARD_OPTIONS: unique symbol = Symbol('the options of PortcullisModule')

/**
 * Lets a request through to its handler only with a token that the verifier accepts, or if `@Public()` opens the handler. With
 * `@OptionalAuth()` a request without a token is let through as well.
 *
 * Guards HTTP handlers and GraphQL resolvers. It does NOT guard what has no handler: unknown paths, middleware, files.
 *
 * @throws TypeError for a wrong or misspelt option.
 */
export class PortcullisGuard implements CanActivate {
  readonly #verifier: Verifier<unknown>
  readonly #required: GuardOptions
  readonly #optional: GuardOptions
  readonly #show: (request: object, auth: unknown) => boolean
  readonly #admitRequired = oncePerOperation((request) =>
    this.#authenticate(request, this.#required),
  )
  readonly #admitOptional = oncePerOperation((request) =>
    this.#authenticate(request, this.#optional),
  )

  constructor(options: PortcullisGuardOptions<never>) {
    const { verifier, guard } = split(options)
    this.#verifier = verifier
    this.#required = checkGuardOptions(verifier, guard, 'nest')
    this.#optional = checkGuardOptions(verifier, { ...guard, optional: true }, 'nest')
    this.#show = propertySetter(this.#required.property ?? 'auth')
    markGuard(this, guardMark(guard.optional))
  }

  /**
   * At once if the token is one that the verifier remembers: to wait would cost a request more than the guard. What is not `true` is always
   * a rejection.
   */
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    try {
      const waiting = this.#admit(context)
      return waiting === undefined || admitted(waiting, context)
    } catch (error) {
      return refuse(error, context)
    }
  }

  #admit(context: ExecutionContext): Promise<void> | undefined {
    const [type, handler] = [context.getClass(), context.getHandler()]
    if (isOpened(type, handler)) return undefined
    const call = callOf(context)
    return isOptionalFor(type, handler) ? this.#admitOptional(call) : this.#admitRequired(call)
  }

  #authenticate(request: object, options: GuardOptions): Promise<void> | undefined {
    const answer = authenticateRequest(this.#verifier, headersOf(request), options, request)
    if (isAtOnce(answer) && this.#show(request, answer)) return undefined
    return this.#showLater(request, answer, options)
  }

  async #showLater(
    request: object,
    answer: unknown,
    { property = 'auth' }: GuardOptions,
  ): Promise<void> {
    if (!this.#show(request, await answer)) {
      throw new TypeError(`PortcullisGuard: cannot set request.${property}`)
    }
  }
}

async function admitted(waiting: Promise<void>, context: ExecutionContext): Promise<true> {
  try {
    await waiting
    return true
  } catch (error) {
    return await refuse(error, context)
  }
}

// By hand, since Node runs these sources and knows no decorators.
Injectable()(PortcullisGuard)
Inject(GUARD_OPTIONS)(PortcullisGuard, undefined, 0)
setRole(PortcullisGuard.prototype, 'authenticates')

function split(options: PortcullisGuardOptions<never>): {
  verifier: Verifier<unknown>
  guard: GuardOptions
} {
  const { verifier, ...guard } = ownOptions('PortcullisGuard', options)
  const complaint = 'must be a verifier, as createVerifier makes it'
  checkArgument(
    'PortcullisGuard',
    'verifier',
    hasMethods(verifier, 'verify') ? undefined : complaint,
  )
  // `onRefusal` gets the requests of the platform. The user has named their type.
  return { verifier, guard: guard as GuardOptions }
}

/** Where the value is checked afterwards, with a message of its own. */
export const isAny: OptionCheck = () => undefined

/** A copy of the own members: nothing counts that somebody has put on `Object.prototype`. @throws TypeError */
export function ownOptions<Options extends object>(caller: string, options: Options): Options {
  const isObject = typeof options === 'object' && (options as unknown) !== null
  checkArgument(caller, 'options', isObject ? undefined : 'must be an object')
  return ownMembers(options)
}

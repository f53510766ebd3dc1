import {
  type Auth,
  AuthError,
  type AuthErrorReasons,
  type Claims,
  type Clock,
  type Fetch,
  type Possession,
  remoteKeys,
  type RemoteKeys,
  type SchemaOptions,
  type Verifier,
} from '@portcullis/core'
import { applySchema } from '@portcullis/core/adapter'
import { type OptionCheck, checkOptions, isBoolean, isFunction } from '@portcullis/kit/options'

import { isObject } from './options.ts'
import { type Binding, confirmationOf, isBinding } from './tokens/binding.ts'

// Verifiers for tests of what happens after a token was judged. This is the only file that calls core. What signs tokens must not use it: a
// bug in it would sign and verify alike.

export interface StubVerifierOptions<StubClaims> {
  /**
   * The claims of every token.
   * @default {}
   */
  claims?: StubClaims | undefined
  /**
   * What the tokens are bound to, as for `issuer.token`. They are accepted with a proof of each, such as a DPoP proof of this
   * client, and otherwise refused for `binding`. By default anybody may use them, with any proof.
   */
  boundTo?: Binding | readonly Binding[] | undefined
  /**
   * Whether it may be made with `NODE_ENV=production`, where it would let everybody in.
   * @default false
   */
  allowInProduction?: boolean | undefined
}

export const stubVerifier: {
  /**
   * A verifier for tests of what happens after a token is accepted: without keys it accepts any text as a token with these
   * claims. What routes require is still checked.
   *
   * @throws TypeError for a wrong or misspelt option, for claims that contain themselves, and with `NODE_ENV=production`.
   */
  <StubClaims extends object = Claims>(
    options?: StubVerifierOptions<StubClaims>,
  ): Verifier<StubClaims>
  /**
   * The same with the schema of the verifier that the stub stands for. As on the server, handlers get the output of the schema,
   * requirements the claims, and claims that the schema refuses are refused.
   */
  <Output>(options: StubVerifierOptions<object> & SchemaOptions<Output>): Verifier<Output>
  /**
   * A verifier that refuses every token, with a genuine `AuthError`.
   *
   * The code follows from the reason: `keys_unavailable` for `unreachable`, `timeout` and `bad_document`,
   * `revocation_unavailable` for `stale`, else `invalid_token`, also for `claim`. To test what a route requires, use a stub with claims that lack it.
   *
   * @throws TypeError for a reason that is not one of a verifier.
   */
  readonly refusing: (
    reason: AuthErrorReasons['invalid_token' | 'keys_unavailable' | 'revocation_unavailable'],
  ) => Verifier
} = Object.assign(accepting, { refusing })

function accepting<StubClaims extends object = Claims>(
  options?: StubVerifierOptions<StubClaims>,
): Verifier<StubClaims>
function accepting<Output>(
  options: StubVerifierOptions<object> & SchemaOptions<Output>,
): Verifier<Output>
function accepting(
  options: StubVerifierOptions<object> & Partial<SchemaOptions<unknown>> = {},
): Verifier<unknown> {
  checkOptions('stubVerifier', options, {
    claims: isObject,
    boundTo: isBinding,
    schema: isSchema,
    allowInProduction: isBoolean,
  })
  const isAllowed =
    Object.hasOwn(options, 'allowInProduction') && options.allowInProduction === true
  if (isProduction() && !isAllowed) {
    throw new TypeError(
      'stubVerifier: it accepts any text as a token, so it needs allowInProduction: true with NODE_ENV=production',
    )
  }
  const cnf = confirmationOf(options.boundTo)
  const { schema } = options
  const given = structuredClone(options.claims ?? {})
  const claims = frozen(cnf === undefined ? given : { ...given, cnf })
  const header = Object.freeze({ alg: 'RS512', typ: 'JWT' })
  return {
    async verify(token, { possession, signal } = {}): Promise<Auth<unknown>> {
      const proven = checkBinding(claims, possession)
      const auth = Object.freeze({ claims, header, token, ...proven })
      return await (schema === undefined ? auth : applySchema(schema, auth, signal))
    },
    ready: async () => {
      await Promise.resolve()
    },
  }
}

/** The one place where this package reads the environment. */
function isProduction(): boolean {
  return process.env['NODE_ENV']?.trim().toLowerCase() === 'production'
}

/** Without `cnf` a token counts as bound to whatever its sender has proven, as any text counts as a token. @throws AuthError `binding` */
function checkBinding(
  claims: object,
  { jkt, x5tS256 }: Possession = {},
): { readonly possession?: Possession } {
  const proven = Object.entries({ jkt, 'x5t#S256': x5tS256 }).filter(
    ([, thumbprint]) => thumbprint !== undefined,
  )
  const isBound = Object.hasOwn(claims, 'cnf')
  const members = Object.entries(Object(isBound && Reflect.get(claims, 'cnf')) as object)
  const known = members.filter(([name]) => !isIgnored(name))
  const cnf = new Map<string, unknown>(isBound ? known : proven)
  const isProven = [...cnf].every((binding) => proven.some((each) => isSame(each, binding)))
  const isUnasked = jkt !== undefined && !cnf.has('jkt')
  if (!isProven || isUnasked || (isBound && cnf.size === 0)) {
    throw new AuthError('invalid_token', 'binding')
  }
  if (cnf.size === 0) return {}
  const possession = {
    ...(cnf.has('jkt') ? { jkt } : {}),
    ...(cnf.has('x5t#S256') ? { x5tS256 } : {}),
  }
  return { possession: Object.freeze(possession) }
}

/** Those of some libraries are functions. */
const isSchema: OptionCheck = (value) => {
  const standard: unknown = Reflect.get(Object(value) as object, '~standard')
  return isFunction(Reflect.get(Object(standard) as object, 'validate')) === undefined
    ? undefined
    : 'must be a validator of the Standard Schema specification'
}

/** As core does: a member of `cnf` that nobody knows counts for nothing. */
function isIgnored(name: string): boolean {
  return !['jkt', 'x5t#S256', 'jwk', 'jwe', 'jku', 'kid', 'osc'].includes(name)
}

function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.every((part, at) => part === other[at])
}

function refusing(reason: Parameters<typeof stubVerifier.refusing>[0]): Verifier {
  const refusal = refusalFor(reason)
  return {
    verify: async () => await Promise.reject(refusalFor(reason)),
    async ready() {
      if (refusal.status === 503) await Promise.reject(refusalFor(reason))
    },
  }
}

function refusalFor(reason: Parameters<typeof stubVerifier.refusing>[0]): AuthError {
  switch (reason) {
    case 'unreachable':
    case 'timeout':
    case 'bad_document':
      return new AuthError('keys_unavailable', reason)
    case 'stale':
      return new AuthError('revocation_unavailable', reason)
    default:
      return new AuthError('invalid_token', reason)
  }
}

export function keysBehind(url: string, fetch: Fetch, clock: Clock): RemoteKeys {
  return remoteKeys(url, { fetch, clock })
}

/** What a client reads of a refusal; `undefined` if the code has no such reason. */
export function descriptionOf(code: string, reason: string): string | undefined {
  try {
    // The constructor checks whether they are a pair.
    const pair = [code, reason] as ConstructorParameters<typeof AuthError>
    return new AuthError(...pair).message
  } catch {
    return undefined
  }
}

function frozen<Value>(value: Value, within: readonly unknown[] = []): Value {
  if (typeof value === 'object' && value !== null) {
    if (within.includes(value)) {
      throw new TypeError('stubVerifier: claims must not contain themselves')
    }
    Object.freeze(value)
    for (const part of Object.values(value)) frozen(part, [...within, value])
  }
  return value
}

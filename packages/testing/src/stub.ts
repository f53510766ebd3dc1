import {
  type Auth,
  AuthError,
  type AuthErrorReasons,
  type Claims,
  type Clock,
  type Fetch,
  remoteKeys,
  type RemoteKeys,
  type Verifier,
} from '@portcullis/core'

import { checkOptions, isObject } from './options.ts'

// Everything that needs the core. Whatever signs does not: no bug of ours may sign and verify itself.

export interface StubVerifierOptions<StubClaims> {
  /**
   * What every token proves.
   * @default {}
   */
  claims?: StubClaims | undefined
}

/** What a verifier refuses a token for. */
export type VerifierReason = AuthErrorReasons['invalid_token' | 'keys_unavailable']

/**
 * A verifier for tests of what comes after the verdict: it takes any text for a token of these claims, without keys. What
 * routes require is checked all the same.
 *
 * @throws TypeError for a wrong or misspelt option, and for claims that contain themselves.
 */
function accepting<StubClaims extends object = Claims>(
  options: StubVerifierOptions<StubClaims> = {},
): Verifier<StubClaims> {
  checkOptions('stubVerifier', options, { claims: isObject })
  // Without an option the type is the default one, of which every member may be missing.
  const claims = frozen(structuredClone(options.claims ?? ({} as StubClaims)))
  const header = Object.freeze({ alg: 'RS512', typ: 'JWT' })
  return {
    async verify(token): Promise<Auth<StubClaims>> {
      return await Promise.resolve(Object.freeze({ claims, header, token }))
    },
    ready: async () => {
      await Promise.resolve()
    },
  }
}

/**
 * A verifier that refuses every token, with a genuine `AuthError`.
 *
 * The code follows from the reason: `keys_unavailable` for `unreachable`, `timeout` and `bad_document`, else
 * `invalid_token`, also for `claim`. What a route requires it refuses by itself: give claims that lack it.
 *
 * @throws TypeError for what no verifier refuses a token for.
 */
function refusing(reason: VerifierReason): Verifier {
  const refusal = refusalFor(reason)
  return {
    verify: async () => await Promise.reject(refusalFor(reason)),
    async ready() {
      if (refusal.code === 'keys_unavailable') await Promise.reject(refusalFor(reason))
    },
  }
}

export const stubVerifier: typeof accepting & { readonly refusing: typeof refusing } =
  Object.assign(accepting, { refusing })

function refusalFor(reason: VerifierReason): AuthError {
  switch (reason) {
    case 'unreachable':
    case 'timeout':
    case 'bad_document':
      return new AuthError('keys_unavailable', reason)
    default:
      return new AuthError('invalid_token', reason)
  }
}

/** The keys behind a URL, as a verifier follows them. */
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

/** @param within What the value is a part of. */
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

import { isJsonObject, type JsonObject } from '@portcullis/kit/json'
import { checkArgument } from '@portcullis/kit/options'

import { checkCopy, marked } from '../ground/copy.ts'
import type { Auth } from './auth.ts'

// Keeps the claims as they were signed beside what a schema makes of them for handlers. Whatever decides reads those that were signed.

/** From the registry of symbols, so that two copies of core in one process understand each other. */
const RECORD: unique symbol = Symbol.for('@portcullis/core signed')

interface Recorded {
  /** That very `Auth`: a copy of it, or a `Proxy` around it, was made by others, and has the claims that they gave it. */
  readonly [RECORD]: { readonly of: object; readonly signed: Auth<unknown> }
}

/** The same token with what a schema has made of its claims. The claims as they were signed stay with it. */
export function withOutput<Output>(signed: Auth<unknown>, output: Output): Auth<Output> {
  const auth = { ...signed, claims: output }
  // Not enumerable, so that no copy, comparison or inspection has it.
  const record = { __proto__: null, value: Object.freeze({ of: auth, signed }) }
  return Object.freeze(marked(Object.defineProperty(auth, RECORD, record)))
}

/** For what a caller without types may pass in place of an `Auth`, and for one of another copy. @throws TypeError */
export function checkAuth(caller: string, auth: unknown): void {
  const isAuth = typeof auth === 'object' && auth !== null && 'claims' in auth
  const complaint = isAuth ? undefined : 'must be what a verifier or getAuth has returned'
  checkArgument(caller, 'the Auth', complaint)
  checkCopy(caller, 'the Auth', auth)
}

export function isRecorded(auth: object): auth is Recorded {
  return Object.hasOwn(auth, RECORD) && (auth as Recorded)[RECORD].of === auth
}

/** With claims as signed. What is not recorded is its own: without a schema, of a stub or of a wrapper, with claims of any type. */
export function asSigned(auth: Auth<unknown>): Auth {
  const signed = isRecorded(auth) ? auth[RECORD].signed : auth
  return signed as Auth // requirements read own members only, so claims of any type are safe
}

/** As `asSigned`: own members, and none if a wrapper has made something else of the claims. */
export function signedClaims(auth: Auth<unknown>): JsonObject {
  const { claims } = asSigned(auth)
  return isJsonObject(claims) ? claims : {}
}

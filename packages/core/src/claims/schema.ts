import { checkArgument, hasMethods, type OptionCheck } from '@portcullis/kit/options'
import { unlessAborted } from '@portcullis/kit/waiting'

import { AuthError } from '../refusal/errors.ts'
import type { Auth } from './auth.ts'
import { schemaIssues } from './details.ts'
import { checkAuth, withOutput } from './signed-claims.ts'

// The option `schema`: gives handlers what a validator makes of the claims.

/** A validator of the Standard Schema specification, version 1, as those of Zod, Valibot and ArkType are. */
export interface Schema<Output> {
  readonly '~standard': {
    readonly version: 1
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
  }
}

export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly unknown[] }

/**
 * Step 6: what a schema makes of proven claims, for handlers. Requirements and revocations still read the claims as they were
 * signed.
 *
 * @param auth With the claims as they were signed.
 * @returns The same with the output of the schema as its claims.
 * @param signal Of the caller for whom it is asked.
 * @throws AuthError `claim`, whose cause is what the schema found wrong; the signal's reason.
 * @throws TypeError for an answer that is neither: a validator that is used wrongly must not let anybody in.
 */
export async function applySchema<Output>(
  schema: Schema<Output>,
  auth: Auth<unknown>,
  signal?: AbortSignal,
): Promise<Auth<Output>> {
  checkArgument('applySchema', 'the schema', isSchema(schema))
  checkAuth('applySchema', auth)
  return await unlessAborted(askSchema(schema, auth), signal)
}

/** The same at once, where the validator answers at once: see {@link isOutput}. */
export function askSchema<Output>(
  schema: Schema<Output>,
  auth: Auth<unknown>,
): Auth<Output> | Promise<Auth<Output>> {
  const answer: unknown = schema['~standard'].validate(auth.claims)
  return isPromise(answer) ? outputLater(auth, answer) : outputOf(auth, answer)
}

/** Only what an `Auth` has of its own counts, so that anything else is waited for: the global `Promise` may be another one. */
export function isOutput<Output>(
  answer: Auth<Output> | Promise<Auth<Output>>,
): answer is Auth<Output> {
  return Object.hasOwn(answer, 'token')
}

/** Whatever `await` waits for. */
function isPromise(answer: unknown): answer is PromiseLike<unknown> {
  return isObject(answer) && typeof Reflect.get(answer, 'then') === 'function'
}

async function outputLater<Output>(
  auth: Auth<unknown>,
  answer: PromiseLike<unknown>,
): Promise<Auth<Output>> {
  return outputOf(auth, await answer)
}

function outputOf<Output>(auth: Auth<unknown>, answer: unknown): Auth<Output> {
  if (!isObject(answer)) throw noResult()
  const result = answer as SchemaResult<Output> // or an object of any other shape
  // Not only an own member: some validators return an instance of a class. A polluted prototype refuses, which is safe.
  if (result.issues !== undefined) {
    const { issues } = result
    throw new AuthError('invalid_token', 'claim', { cause: issues, detail: schemaIssues(issues) })
  }
  if (!hasValue(result)) throw noResult()
  return withOutput(auth, result.value)
}

export const isSchema: OptionCheck = (value) =>
  hasMethods(Reflect.get(Object(value), '~standard'), 'validate')
    ? undefined
    : 'must be a validator of the Standard Schema specification'

function noResult(): TypeError {
  // Mistake error-schema-its-validate-must-return `schema: its validate must return { value } or { issues }`: At a request: the
  // validator is none of the Standard Schema specification. Pass the schema of your library itself, or return one of the two.
  return new TypeError(
    'schema: its validate must return { value } or { issues }, or a promise of one',
  )
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}

/** Of its own or of its class. What somebody has put on `Object.prototype` is no answer of a schema. */
function hasValue(result: object): result is { readonly value: unknown } {
  let holder: unknown = result
  while (isObject(holder) && holder !== Object.prototype) {
    if (Object.hasOwn(holder, 'value')) return true
    holder = Object.getPrototypeOf(holder)
  }
  return false
}

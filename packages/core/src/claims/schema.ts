import { unlessAborted } from '../ground/answer-in-time.ts'
import { AuthError } from '../refusal/errors.ts'
import type { Auth } from './auth.ts'
import { schemaIssues } from './details.ts'
import { withOutput } from './signed-claims.ts'

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
 */
export async function applySchema<Output>(
  schema: Schema<Output>,
  auth: Auth<unknown>,
  signal?: AbortSignal,
): Promise<Auth<Output>> {
  const result = await unlessAborted(schema['~standard'].validate(auth.claims), signal)
  // Not only an own member: some validators return an instance of a class. A polluted prototype refuses, which is safe.
  if (result.issues !== undefined) {
    const { issues } = result
    throw new AuthError('invalid_token', 'claim', { cause: issues, detail: schemaIssues(issues) })
  }
  return withOutput(auth, result.value)
}

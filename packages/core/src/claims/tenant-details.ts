import { type JsonObject, member } from '@portcullis/kit/json'

import { type Detail, listed } from '../refusal/text.ts'

// What refusals tell developers where each tenant of a provider has an issuer of its own.

/** Characters. Issuers of tenants begin alike, and have the tenant behind that. */
const LONGEST_NAME = 96

/** @param claim The name of the one with the id of the tenant. */
export function otherIssuerOfTenant(claims: JsonObject, claim: string, template: string): Detail {
  const iss = member(claims, 'iss')
  const tenant = member(claims, claim)
  return () =>
    `iss ${found(iss)} and ${claim} ${found(tenant)}; expected ${named([template])} with the ${claim} of the token, a UUID in lower case`
}

/** @param tenants Those that are accepted; none if all are but a few. */
export function refusedTenant(claim: string, tenant: string, tenants: readonly string[]): Detail {
  const expected =
    tenants.length === 0
      ? 'that tenant is refused unless it is listed'
      : `expected ${tenants.length > 1 ? 'one of ' : ''}${named(tenants)}`
  return () => `${claim} is ${named([tenant])}; ${expected}`
}

function found(value: unknown): string {
  return value === undefined ? 'is missing' : `is ${named([value])}`
}

function named(values: readonly unknown[]): string {
  return listed(values, values.length, LONGEST_NAME)
}

import type { Login, TokenServiceOptions } from '@portcullis/testing'

import {
  anyObject,
  anyText,
  duration,
  listOf,
  objectOf,
  oneOf,
  type Read,
  recordOf,
  seconds,
  someText,
} from './input.ts'
import { type FaultInput, readFault } from './requests.ts'

// What `serve` serves: what the configuration may say, and how the command line adds to it or replaces it.

export interface ServeSettings {
  readonly issuer: string | undefined
  readonly audience: string | readonly string[] | undefined
  /** Seconds. */
  readonly lifetime: number
  readonly response: NonNullable<TokenServiceOptions['response']>
  /** In every token, beside what a login adds. */
  readonly claims: Readonly<Record<string, unknown>>
  /** With all claims of their tokens. */
  readonly logins: ReadonlyMap<string, Login>
  /** If there are any, logins bring opaque tokens, which these clients may ask about. */
  readonly opaque: ReadonlyMap<string, { readonly secret: string }>
  readonly faults: readonly FaultInput[]
}

/** What the command line says; what it leaves out, the configuration decides. */
export type ServeFlags = {
  readonly [Name in Exclude<keyof ServeSettings, 'faults'>]?: ServeSettings[Name] | undefined
}

export type Configuration = ReturnType<typeof readConfiguration>

const MAX_AUDIENCES = 100
const MAX_FAULTS = 100

const readAudience: Read<string | readonly string[]> = (value, where) =>
  typeof value === 'string' ? someText(value, where) : audiences(value, where)

const audiences = listOf(someText, MAX_AUDIENCES)

const readResponse: Read<ServeSettings['response']> = (value, where) =>
  typeof value === 'string' ? oneOf('text', 'json')(value, where) : readField(value, where)

const readField = objectOf({ field: someText }, 'field')

export const readConfiguration = objectOf({
  $schema: anyText,
  issuer: someText,
  audience: readAudience,
  lifetime: duration,
  response: readResponse,
  claims: anyObject,
  logins: recordOf(
    objectOf({ password: anyText, claims: anyObject, lifetime: seconds }, 'password'),
  ),
  opaque: recordOf(objectOf({ secret: someText }, 'secret')),
  faults: listOf(readFault, MAX_FAULTS),
})

const DEMO: ReadonlyMap<string, Login> = new Map([['demo', { password: 'demo' }]])

/** The command line comes before the configuration, and its logins and claims are added to those there. */
export function settingsOf(flags: ServeFlags, configuration: Configuration): ServeSettings {
  const claims = { ...configuration.claims, ...flags.claims }
  const stated = new Map([...(configuration.logins ?? []), ...(flags.logins ?? [])])
  const logins = [...(stated.size === 0 ? DEMO : stated)]
  return {
    issuer: flags.issuer ?? configuration.issuer,
    audience: flags.audience ?? configuration.audience,
    lifetime: flags.lifetime ?? configuration.lifetime ?? 300,
    response: flags.response ?? configuration.response ?? 'text',
    claims,
    logins: new Map(
      logins.map(([id, login]) => [id, { ...login, claims: { ...claims, ...login.claims } }]),
    ),
    opaque: new Map([...(configuration.opaque ?? []), ...(flags.opaque ?? [])]),
    faults: configuration.faults ?? [],
  }
}

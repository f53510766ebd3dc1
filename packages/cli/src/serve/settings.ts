import type { Login, TokenServiceOptions } from '@portcullis/testing'

import {
  anyObject,
  anyText,
  duration,
  InputError,
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

/** What `portcullis serve` serves. */
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
  /** In force from the start. */
  readonly faults: readonly FaultInput[]
}

/** What the command line says; what it leaves out, the configuration decides. */
export interface ServeFlags {
  readonly issuer?: string | undefined
  readonly audience?: readonly string[] | undefined
  readonly lifetime?: number | undefined
  readonly response?: ServeSettings['response'] | undefined
  readonly claims?: Readonly<Record<string, unknown>> | undefined
  readonly logins?: ReadonlyMap<string, Login> | undefined
  readonly opaque?: ServeSettings['opaque'] | undefined
}

const MAX_AUDIENCES = 100
const MAX_FAULTS = 100

const readLoginMembers = objectOf({ password: anyText, claims: anyObject, lifetime: seconds })

const readLogin: Read<Login> = (value, where) => {
  const { password, claims, lifetime } = readLoginMembers(value, where)
  if (password === undefined) throw new InputError(`${where}: password must be stated`)
  return { password, claims, lifetime }
}

const readClientMembers = objectOf({ secret: someText })

const readClient: Read<{ readonly secret: string }> = (value, where) => {
  const { secret } = readClientMembers(value, where)
  if (secret === undefined) throw new InputError(`${where}: secret must be stated`)
  return { secret }
}

const readAudience: Read<string | readonly string[]> = (value, where) =>
  typeof value === 'string' ? someText(value, where) : audiences(value, where)

const audiences = listOf(someText, MAX_AUDIENCES)

const readResponse: Read<ServeSettings['response']> = (value, where) => {
  if (typeof value === 'string') return oneOf('text', 'json')(value, where)
  const { field } = readField(value, where)
  return { field: someText(field, `${where}: field`) }
}

const readField = objectOf({ field: someText })

/** What the file of `--config` may say. */
export interface Configuration {
  readonly $schema?: string | undefined
  readonly issuer?: string | undefined
  readonly audience?: string | readonly string[] | undefined
  readonly lifetime?: number | undefined
  readonly response?: ServeSettings['response'] | undefined
  readonly claims?: Readonly<Record<string, unknown>> | undefined
  readonly logins?: ReadonlyMap<string, Login> | undefined
  readonly opaque?: ServeSettings['opaque'] | undefined
  readonly faults?: readonly FaultInput[] | undefined
}

export const readConfiguration: Read<Configuration> = objectOf({
  $schema: anyText,
  issuer: someText,
  audience: readAudience,
  lifetime: duration,
  response: readResponse,
  claims: anyObject,
  logins: recordOf(readLogin),
  opaque: recordOf(readClient),
  faults: listOf(readFault, MAX_FAULTS),
})

const DEMO: ReadonlyMap<string, Login> = new Map([['demo', { password: 'demo' }]])

/** The command line comes before the configuration, and its logins and claims are added to those there. */
export function settingsOf(flags: ServeFlags, configuration: Configuration): ServeSettings {
  const audience = flags.audience?.length === 1 ? flags.audience[0] : flags.audience
  const claims = { ...configuration.claims, ...flags.claims }
  const stated = new Map([...(configuration.logins ?? []), ...(flags.logins ?? [])])
  const logins = stated.size === 0 ? DEMO : stated
  return {
    issuer: flags.issuer ?? configuration.issuer,
    audience: audience ?? configuration.audience,
    lifetime: flags.lifetime ?? configuration.lifetime ?? 300,
    response: flags.response ?? configuration.response ?? 'text',
    claims,
    logins: new Map(
      [...logins].map(([loginId, login]) => [
        loginId,
        { ...login, claims: { ...claims, ...login.claims } },
      ]),
    ),
    opaque: new Map([...(configuration.opaque ?? []), ...(flags.opaque ?? [])]),
    faults: configuration.faults ?? [],
  }
}

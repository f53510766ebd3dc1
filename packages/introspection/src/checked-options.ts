import type { Algorithm, Clock, KeySource, SchemaOptions } from '@portcullis/core'
import { checkAlgorithmList, checkStated, foreignness, ruleChecks } from '@portcullis/core/verifier'
import { isClientKey } from '@portcullis/kit/client-authentication'
import { platformFetch } from '@portcullis/kit/http'
import { isJsonObject } from '@portcullis/kit/json'
import {
  checkOptions,
  countUpTo,
  hasMethods,
  isBoolean,
  isClock,
  isFunction,
  isText,
  oneOf,
  type OptionCheck,
  ownMembers,
  seconds,
  urlComplaint,
} from '@portcullis/kit/options'
import { systemClock } from '@portcullis/kit/time'

import type { IntrospectionFetch } from './exchange.ts'
import { isForm, type TokenForm } from './form.ts'
import type { Kinds } from './kind.ts'
import type { IntrospectedOptions } from './options.ts'

// The options of `introspected` as it uses them: checked at start-up, with their defaults.

export interface CheckedOptions {
  readonly issuer: string | null
  readonly endpoint: string | undefined
  readonly clientId: string
  readonly keys: KeySource | undefined
  readonly algorithms: readonly Algorithm[] | undefined
  readonly types: Kinds
  readonly clockTolerance: number
  readonly maxAge: number
  readonly staleIfError: number
  readonly timeout: number
  readonly maxCalls: number
  readonly maxRenewals: number
  readonly maxRate: number
  readonly form: TokenForm
  readonly max: number
  readonly allowInsecure: boolean
  readonly fetch: IntrospectionFetch
  readonly clock: Clock
}

const isUrl: OptionCheck = (value) =>
  typeof value === 'string' ? urlComplaint(value, true) : 'must be a string'

/** No request has one, so that the URL of an answer would be another one. */
function withoutFragment(url: string): string {
  const parsed = new URL(url)
  parsed.hash = ''
  return parsed.href
}

const isMax: OptionCheck = (value) =>
  isJsonObject(value) &&
  Object.keys(value).join(' ') === 'max' &&
  countUpTo(1_000_000)(value['max']) === undefined
    ? undefined
    : 'must be { max }, a number of tokens from 1 to 1000000'

const METHODS = ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'tls_client_auth']

/** @throws TypeError for a wrong, misspelt or missing option; it shows no secret. */
export function checkIntrospectedOptions(
  options: IntrospectedOptions & Partial<SchemaOptions<unknown>>,
): CheckedOptions {
  checkOptions('introspected', options, {
    ...ruleChecks,
    type: (value) =>
      value === null || ruleChecks.type(value) === undefined
        ? undefined
        : 'must be a string, a list of strings, or null to accept answers that name no kind',
    issuer: (value) => (value === null ? undefined : isUrl(value)),
    endpoint: isUrl,
    clientId: isText,
    clientSecret: isText,
    clientKey: isClientKey,
    clientAuthentication: oneOf(...METHODS),
    keys: (value) =>
      hasMethods(value, 'now', 'current', 'wait', 'suspect')
        ? foreignness(value)
        : 'must be a key source, such as discoverKeys(issuer)',
    algorithms: () => undefined, // `checkAlgorithmList` knows the names
    maxAge: seconds(1, 3600),
    staleIfError: seconds(0, 86_400),
    timeout: seconds(0.1, 60),
    maxCalls: countUpTo(1000),
    maxRenewals: countUpTo(1000),
    maxRate: countUpTo(100_000),
    form: isForm,
    remember: isMax,
    allowInsecure: isBoolean,
    fetch: isFunction,
    clock: isClock,
  } satisfies Record<keyof IntrospectedOptions | keyof SchemaOptions<unknown>, OptionCheck>)
  const stated = ownMembers(options)
  checkStated('introspected', stated)
  const { issuer, endpoint, keys, algorithms, type, allowInsecure = false, clientId } = stated
  // Mistake `introspected: clientId must be stated`: State what the issuer calls this API, which must be registered there as a
  // client.
  if (clientId === undefined) throw new TypeError('introspected: clientId must be stated')
  if (issuer === null && endpoint === undefined) {
    // Mistake `introspected: with issuer: null, endpoint must be stated`: There are no metadata that name the endpoint: give its
    // URL.
    throw new TypeError('introspected: with issuer: null, endpoint must be stated')
  }
  if (issuer === null && keys !== undefined) {
    // Mistake `introspected: with keys, issuer must be stated`: A signed answer names its issuer, which is compared with this
    // option.
    throw new TypeError('introspected: with keys, issuer must be stated')
  }
  if (algorithms !== undefined && keys === undefined) {
    // Mistake `introspected: algorithms needs keys`: Plain answers have no signature. State both, or neither.
    throw new TypeError('introspected: algorithms needs keys')
  }
  const complaint = urlComplaint(endpoint ?? issuer ?? '', allowInsecure)
  if (complaint !== undefined) {
    throw new TypeError(
      `introspected: ${endpoint === undefined ? 'issuer' : 'endpoint'} ${complaint}`,
    )
  }
  return {
    issuer,
    endpoint: endpoint && withoutFragment(endpoint),
    clientId,
    keys,
    algorithms: algorithms && checkAlgorithmList(algorithms, 'introspected'),
    types: type === undefined || type === null ? type : [type].flat(),
    clockTolerance: stated.clockTolerance ?? 5,
    maxAge: stated.maxAge ?? 30,
    staleIfError: stated.staleIfError ?? 0,
    timeout: stated.timeout ?? 5,
    maxCalls: stated.maxCalls ?? 16,
    maxRenewals: stated.maxRenewals ?? 128,
    maxRate: stated.maxRate ?? 100,
    form: ownMembers(stated.form ?? {}),
    max: stated.remember?.max ?? 10_000,
    allowInsecure,
    fetch: stated.fetch ?? platformFetch,
    clock: stated.clock ?? systemClock,
  }
}

import { AssertionError } from 'node:assert'

import type { AuthErrorReason } from '@portcullis/core'
import { type OptionCheck, checkOptions, isText, oneOf } from '@portcullis/kit/options'

import { isDuration } from '../options.ts'
import { descriptionOf } from '../stub.ts'
import { type Challenge, parseChallenges } from './challenge.ts'

// The assertion about `WWW-Authenticate` for tests of users.

/** An answer of `fetch`, supertest, light-my-request or `node:http`. */
export interface ChallengeResponse {
  readonly status?: number | undefined
  readonly statusCode?: number | undefined
  /** `Headers`, or values by name in any case. */
  readonly headers: object
}

/** What to expect. A member that is left out is not checked. */
export interface ExpectedChallenge {
  /**
   * Which of the challenges is read, where an API takes DPoP-bound tokens as well.
   * @default 'Bearer'
   */
  scheme?: 'Bearer' | 'DPoP' | undefined
  status?: number | undefined
  /** `null` for none, as when the request had no token (RFC 6750 section 3.1). */
  error?: string | null | undefined
  /** The scopes in any order; `null` for none. */
  scope?: string | null | undefined
  /** The algorithms of DPoP proofs in any order; `null` for none (RFC 9449 section 7.1). */
  algs?: string | null | undefined
  /** The classes of authentication, in their order; `null` for none (RFC 9470 section 3). */
  acrValues?: string | null | undefined
  /** In seconds; `null` for none (RFC 9470 section 3). */
  maxAge?: number | null | undefined
  /**
   * Compared by the description in the challenge. Reasons that a client must not tell apart have the same description, so
   * each of them passes for the others; `onRefusal` gets the actual one.
   */
  reason?: AuthErrorReason | undefined
}

/**
 * Asserts that an answer has one challenge of a scheme, and what is in it.
 *
 * @returns The parameters of the challenge, by name in lower case.
 * @throws AssertionError
 * @throws TypeError for a wrong or misspelt expectation.
 * @see RFC 6750 section 3; RFC 9110 section 11.6.1
 */
export function assertChallenge(
  response: ChallengeResponse,
  expected: ExpectedChallenge = {},
): Readonly<Record<string, string>> {
  const given: unknown = Reflect.get(Object(response), 'headers')
  if (typeof given !== 'object' || given === null) {
    throw new TypeError('assertChallenge: the first argument must be a response, with headers')
  }
  checkOptions('assertChallenge', expected, {
    scheme: oneOf('Bearer', 'DPoP'),
    status: (value) => (Number.isInteger(value) ? undefined : 'must be a whole number'),
    error: isTextOrNull,
    scope: isTextOrNull,
    algs: isTextOrNull,
    acrValues: isTextOrNull,
    maxAge: (value) => (value === null ? undefined : isDuration(value)),
    reason: isText,
  })
  const { scheme = 'Bearer', status, error, scope, algs, acrValues, maxAge, reason } = expected
  const fields = fieldsOf(response.headers)

  function expectSame(name: string, actual: unknown, wanted: unknown): void {
    if (actual === wanted) return
    fail(fields, `the ${name} is ${inWords(actual)}, not ${inWords(wanted)}`, actual, wanted)
  }

  if (status !== undefined) expectSame('status', response.status ?? response.statusCode, status)
  const parameters = parametersOf(fields, scheme)
  const { error: code, error_description: description } = parameters
  if (error !== undefined) expectSame('error', code, error ?? undefined)
  if (scope !== undefined) expectSame('scope', inOrder(parameters['scope']), inOrder(scope))
  if (algs !== undefined) expectSame('list algs', inOrder(parameters['algs']), inOrder(algs))
  if (acrValues !== undefined) {
    expectSame('list acr_values', parameters['acr_values'], acrValues ?? undefined)
  }
  if (maxAge !== undefined) expectSame('max_age', parameters['max_age'], maxAge?.toString())
  if (reason !== undefined) {
    const text = descriptionOf(code ?? 'missing_token', reason)
    if (text === undefined) fail(fields, `its error has no reason ${reason}`, code, reason)
    if (code !== undefined) expectSame('description', description, text)
  }
  return parameters
}

function parametersOf(fields: readonly string[], scheme: 'Bearer' | 'DPoP') {
  const found = readChallenges(fields).filter((each) => each.scheme === scheme.toLowerCase())
  const [challenge, ...others] = found
  if (challenge === undefined || others.length > 0) {
    fail(fields, `the answer has ${found.length} ${scheme} challenges, not 1`, found.length, 1)
  }
  return Object.fromEntries(challenge.parameters)
}

function readChallenges(fields: readonly string[]): readonly Challenge[] {
  try {
    return parseChallenges(fields)
  } catch (error) {
    return fail(fields, `the challenge cannot be read: ${String(error)}`, fields)
  }
}

/** The message has the whole header, which shows what went wrong. */
function fail(
  fields: readonly string[],
  problem: string,
  actual: unknown,
  expected?: unknown,
): never {
  const shown =
    fields.length === 0 ? 'no WWW-Authenticate' : `WWW-Authenticate: ${fields.join(', ')}`
  throw new AssertionError({
    message: `${problem} (${shown})`,
    actual,
    expected,
    operator: 'assertChallenge',
  })
}

/** The lines of the field, as far as the answer keeps them apart. */
function fieldsOf(headers: object): readonly string[] {
  const get: unknown = Reflect.get(headers, 'get')
  const lines: readonly unknown[] =
    typeof get === 'function'
      ? [get.call(headers, 'www-authenticate')]
      : Object.entries(headers)
          .filter(([name]) => name.toLowerCase() === 'www-authenticate')
          .flatMap(([, value]) => value as unknown)
  return lines.filter((line) => typeof line === 'string')
}

/** For lists without an order: of scopes (RFC 6749 section 3.3), of algorithms. */
function inOrder(list: string | null | undefined): string | undefined {
  return list?.split(' ').toSorted().join(' ')
}

function inWords(value: unknown): string {
  return value === undefined ? 'missing' : JSON.stringify(value)
}

const isTextOrNull: OptionCheck = (value) => (value === null ? undefined : isText(value))

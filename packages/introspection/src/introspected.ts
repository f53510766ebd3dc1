import type { Schema, SchemaOptions, Verifier } from '@portcullis/core'
import { createProvenVerifier } from '@portcullis/core/verifier'
import {
  assertionAlgorithmOf,
  certificateAuthentication,
  type ClientAuth,
  type ClientKey,
  keyAuthentication,
  secretAuthentication,
} from '@portcullis/kit/client-authentication'
import { ownMembers } from '@portcullis/kit/options'
import { systemClock } from '@portcullis/kit/time'

import { createSignedAnswers } from './answer.ts'
import { type CheckedOptions, checkIntrospectedOptions } from './checked-options.ts'
import { createEndpoint } from './endpoint.ts'
import type { IntrospectedOptions } from './options.ts'
import { createProver } from './prover.ts'
import { createQuestion } from './question.ts'

// The verifier of opaque tokens: its options, how this API proves to the issuer who it is, and what it is made of.

/**
 * Creates a verifier of tokens that only their issuer can read: it asks the introspection endpoint about each, and holds the answer.
 *
 * `issuer`, `audience` and `clientId` must be stated. Nothing is asked before the first use, and there is nothing to close.
 * `ready()` finds out where the endpoint is.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 * @see RFC 7662; RFC 9701
 */
export function introspected<Output>(
  options: IntrospectedOptions & SchemaOptions<Output>,
): Verifier<Output>
export function introspected(options: IntrospectedOptions): Verifier
export function introspected(
  options: IntrospectedOptions & { readonly schema?: Schema<unknown> },
): Verifier<unknown> {
  return createIntrospected(options, Math.random)
}

/** The same, for simulations. @param random From 0 to 1: how long pauses are, and when answers are asked for again. */
export function createIntrospected(
  options: IntrospectedOptions & { readonly schema?: Schema<unknown> },
  random: () => number,
): Verifier<unknown> {
  const checked = checkIntrospectedOptions(options)
  const { issuer, endpoint, keys } = checked
  const stated = ownMembers(options)
  const asked = createEndpoint({
    ...checked,
    authentication: authenticationOf(stated),
    // Where the endpoint is stated nothing but the assertion of a client's key names the issuer.
    issuer: issuer ?? endpoint ?? '',
    isSigned: keys !== undefined,
    hasCertificate: stated.clientAuthentication === 'tls_client_auth',
  })
  const signed =
    keys === undefined || issuer === null ? undefined : createSignedAnswers(keys, issuer, checked)
  const rules = ownMembers({ ...stated, requireExpiry: stated.requireExpiry ?? false })
  const question = createQuestion(checked, asked, signed, () => verifier, random)
  const prover = createProver(checked, asked, signed, question, random)
  const verifier = createProvenVerifier(
    { ...prover, algorithms: algorithmsOf(checked, stated.clientKey) },
    rules,
  )
  return verifier
}

/** Of the JWTs that it reads and makes: signed answers, and assertions. */
function algorithmsOf(
  { keys, algorithms }: CheckedOptions,
  clientKey: ClientKey | undefined,
): readonly string[] | undefined {
  const ofAnswers = keys === undefined ? [] : algorithms
  return clientKey === undefined
    ? ofAnswers
    : ofAnswers && [...ofAnswers, assertionAlgorithmOf(clientKey)]
}

type AuthenticationOptions = Pick<
  IntrospectedOptions,
  'clientSecret' | 'clientKey' | 'clientAuthentication' | 'clock'
>

/** @throws TypeError if what the way of authentication needs is not stated, or something else is. */
function authenticationOf({
  clientSecret,
  clientKey,
  clientAuthentication: method = clientKey === undefined
    ? 'client_secret_basic'
    : 'private_key_jwt',
  clock = systemClock,
}: AuthenticationOptions): ClientAuth {
  const wants = {
    clientSecret: method.startsWith('client_secret_'),
    clientKey: method === 'private_key_jwt',
  }
  for (const [name, value] of Object.entries({ clientSecret, clientKey })) {
    const isWanted = wants[name === 'clientKey' ? 'clientKey' : 'clientSecret']
    if (isWanted && value === undefined)
      // Mistake `introspected: … needs …`: This way of proving who the API is needs the secret or key that the message names.
      throw new TypeError(`introspected: ${method} needs ${name}`)
    if (!isWanted && value !== undefined) {
      // Mistake `introspected: … has no use for …`: Leave the secret or key out, or state another `clientAuthentication`.
      throw new TypeError(`introspected: ${method} has no use for ${name}`)
    }
  }
  if (clientKey !== undefined) return keyAuthentication(clientKey, () => clock.now())
  if (clientSecret === undefined) return certificateAuthentication()
  const form = method === 'client_secret_post' ? method : 'client_secret_basic'
  return secretAuthentication(clientSecret, form)
}

import { isJsonObject, member } from '@portcullis/kit/json'
import { urlComplaint } from '@portcullis/kit/options'

import { TransmitterError } from './transmitter-error.ts'

// What a transmitter says of itself, and which of the URLs that it names are called.

/** RFC 8935 and RFC 8936, as a stream names them. OpenID Shared Signals Framework 1.0 section 6.1 */
export const METHODS = { push: 'urn:ietf:rfc:8935', poll: 'urn:ietf:rfc:8936' } as const

export type Method = (typeof METHODS)[keyof typeof METHODS]

export interface Endpoints {
  readonly configuration: string
  readonly status: string | undefined
  readonly verification: string | undefined
}

/** Whom a transmitter may send us to. */
export interface Trust {
  /** Its issuer URL. */
  readonly transmitter: string
  /** Its own origin, and those that are stated. */
  readonly origins: ReadonlySet<string>
}

/** Before the path of the issuer. OpenID Shared Signals Framework 1.0 section 7.2.1 */
export function metadataUrl(transmitter: string): string {
  const { origin, pathname } = new URL(transmitter)
  return `${origin}/.well-known/ssf-configuration${pathname.replace(/\/$/, '')}`
}

/** @throws TransmitterError for what is of another issuer, cannot be used, or leads elsewhere. Section 7.2.4 */
export function readEndpoints(metadata: unknown, method: Method, trust: Trust): Endpoints {
  if (!isJsonObject(metadata)) throw new TransmitterError('the metadata are no JSON object')
  // The comparison is exact: the metadata of another issuer would send our token to that one.
  if (member(metadata, 'issuer') !== trust.transmitter) {
    throw new TransmitterError('the metadata are of another issuer')
  }
  const methods = member(metadata, 'delivery_methods_supported')
  if (Array.isArray(methods) && !methods.includes(method)) {
    throw new TransmitterError(`the transmitter does not support the delivery method ${method}`)
  }
  const optional = (name: string) => {
    const stated = member(metadata, name) ?? undefined
    return stated === undefined ? undefined : trustedUrl(stated, name, trust)
  }
  return {
    configuration: trustedUrl(
      member(metadata, 'configuration_endpoint'),
      'configuration_endpoint',
      trust,
    ),
    status: optional('status_endpoint'),
    verification: optional('verification_endpoint'),
  }
}

/** A URL that our token may be sent to, as `fetch` writes it. @throws TransmitterError for any other. @param name Of the member. */
export function trustedUrl(value: unknown, name: string, { transmitter, origins }: Trust): string {
  if (typeof value !== 'string' || urlComplaint(value) !== undefined) {
    throw new TransmitterError(`the transmitter names no usable ${name}`)
  }
  const url = new URL(value)
  // A remote transmitter must not be able to make us call services of this machine.
  if (new URL(transmitter).protocol === 'https:' && url.protocol !== 'https:') {
    throw new TransmitterError(`the transmitter names a ${name} that is not https`)
  }
  if (!origins.has(url.origin)) {
    throw new TransmitterError(
      `the transmitter names a ${name} of another origin: if it is right, state that in origins`,
    )
  }
  url.hash = ''
  return url.href
}

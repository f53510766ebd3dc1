import { types } from 'node:util'

import {
  checkOptions,
  isBoolean,
  memberOf,
  type OptionCheck,
  oneOf,
  own,
  ownMembers,
} from '@portcullis/kit/options'

import {
  CERTIFICATE_FORMATS,
  parseForwardedCertificate,
  thumbprintOfDer,
} from './forwarded-certificate.ts'
import { isPeerList, peerList } from './peer-list.ts'

// Finds the certificate that the client of a request has shown: on its connection, or to a proxy that is trusted.

export interface MutualTlsOptions {
  /**
   * Accepts only tokens that are bound to a client certificate.
   * @default false
   */
  required?: boolean | undefined
  /**
   * The header in which a proxy writes the certificate of the client. It is read only from `proxies`. If it is stated, the
   * certificate of the connection is not used, because it would be that of the proxy.
   */
  header?: string | undefined
  /**
   * How the proxy writes it: `'xfcc'` is Envoy's `X-Forwarded-Client-Cert`, whose last element counts, the one that the proxy next
   * to this server has added; `'escaped-pem'` is one PEM block with percent escapes, as nginx has it in
   * `$ssl_client_escaped_cert`; `'rfc9440'` is `Client-Cert`, one byte sequence.
   */
  format?: 'xfcc' | 'escaped-pem' | 'rfc9440' | undefined
  /**
   * Addresses and blocks of addresses (`10.0.0.0/8`) of the proxies. Each must set or remove the header in every request.
   * They are compared with the address of the connection, never with a header. The header of any other sender is not read.
   */
  proxies?: readonly string[] | undefined
}

declare const mutualTlsBrand: unique symbol

/**
 * How a guard finds the client certificate of a request: what `mutualTls` returns.
 *
 * Opaque: what a guard asks of it may change in any release, so nobody can write one of their own.
 */
export interface MutualTls {
  readonly [mutualTlsBrand]: 'MutualTls'
  /** Whether only tokens that are bound to a client certificate are accepted. */
  readonly required: boolean
}

export interface MutualTlsMethods extends Pick<MutualTls, 'required'> {
  /** SHA-256, base64url (RFC 8705 section 3.1), if the client has proven one. @param request Only one of node has a connection. */
  thumbprintOf(request: object): string | undefined
}

/** With these methods, which any copy of core can call. The brand is there for the compiler alone. */
export function brandedMutualTls(certificates: MutualTlsMethods): MutualTls {
  return Object.freeze(certificates) as MutualTlsMethods & MutualTls
}

/** The methods: they are those of {@link brandedMutualTls}, or `checkGuardOptions` has seen them. */
export function mutualTlsMethods(certificates: MutualTls): MutualTls & MutualTlsMethods {
  return certificates as MutualTls & MutualTlsMethods
}

const isHeaderName: OptionCheck = (value) =>
  typeof value === 'string' && /^[\w!#$%&'*+.^`|~-]+$/.test(value)
    ? undefined
    : 'must be the name of a header'

const CHECKS: Readonly<Record<keyof MutualTlsOptions, OptionCheck>> = {
  required: isBoolean,
  header: isHeaderName,
  format: oneOf(...CERTIFICATE_FORMATS),
  proxies: isPeerList,
}

/**
 * Accepts tokens that are bound to a client certificate, if the client shows that certificate: `authenticate(verifier, {
 * mutualTls: mutualTls() })`.
 *
 * The server must ask for certificates (`requestCert: true`). TLS proves that the client has the private key of its
 * certificate. That is enough, also for a certificate without an authority (`rejectUnauthorized: false`), because the token
 * is bound to this one certificate. It does NOT check who issued the certificate, its times, or whether it is revoked: the
 * options of the server or of the proxy do that.
 *
 * @throws TypeError for a wrong or misspelt option.
 * @see RFC 8705 section 3
 */
export function mutualTls(options: MutualTlsOptions = {}): MutualTls {
  checkOptions('mutualTls', options, CHECKS)
  const { required = false, header, format, proxies } = ownMembers(options)
  if (header === undefined && format === undefined && proxies === undefined) {
    return brandedMutualTls({ required, thumbprintOf: thumbprintOfConnection })
  }
  if (header === undefined || format === undefined || proxies === undefined) {
    // Mistake `mutualTls: header, format and proxies must be stated together`: A header is believed only from the proxies that
    // you list. Without all three, the certificate of the connection counts.
    throw new TypeError(
      'mutualTls: header, format and proxies must be stated together: a header is believed only in one format, and only from peers that are listed',
    )
  }
  const name = header.toLowerCase()
  const isListed = peerList(proxies)
  return brandedMutualTls({
    required,
    thumbprintOf(request: object) {
      if (!isListed(memberOfConnection(request, 'remoteAddress'))) return undefined
      const value = headerOf(request, name)
      return value === undefined ? undefined : parseForwardedCertificate(format, value)
    },
  })
}

function thumbprintOfConnection(request: object): string | undefined {
  // Not `getPeerCertificate`, which takes the certificate to pieces and costs twenty times as much.
  const certificate = memberOfConnection(request, 'getPeerX509Certificate')
  if (typeof certificate !== 'object' || certificate === null) return undefined
  const der = memberOf(certificate, 'raw')
  return types.isUint8Array(der) ? thumbprintOfDer(der) : undefined
}

function memberOfConnection(request: object, name: string): unknown {
  try {
    const socket = memberOf(request, 'socket')
    if (typeof socket !== 'object' || socket === null) return undefined
    const member = memberOf(socket, name)
    return typeof member === 'function' ? (Reflect.apply(member, socket, []) as unknown) : member
  } catch {
    return undefined // The connection of an HTTP/2 request that is over throws at whatever is asked.
  }
}

/** The value of a header that was sent once. Of two, nobody knows which the proxy has written. */
function headerOf(request: object, name: string): string | undefined {
  const rawHeaders = memberOf(request, 'rawHeaders')
  if (Array.isArray(rawHeaders) && countOf(name, rawHeaders) > 1) return undefined
  const headers = memberOf(request, 'headers')
  if (typeof headers !== 'object' || headers === null) return undefined
  const value = own(headers as Record<string, unknown>, name)
  return typeof value === 'string' ? value : undefined
}

function countOf(name: string, rawHeaders: readonly unknown[]): number {
  return rawHeaders.filter((each, at) => at % 2 === 0 && String(each).toLowerCase() === name).length
}

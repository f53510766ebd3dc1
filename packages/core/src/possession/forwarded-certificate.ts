import { sha256 } from '@portcullis/kit/digest'

// What proxies write of a client's certificate into a header. Only the octets of the certificate are looked at, never what is
// in it: a thumbprint of anything else is the thumbprint of no token.

/** How a proxy writes the certificate of a client into a header. */
export type CertificateFormat = 'xfcc' | 'escaped-pem' | 'rfc9440'

/** Far more than Node takes unless it is told to, and little enough to read at each request. */
const MAX_LENGTH = 65_536

const BEGIN = '-----BEGIN CERTIFICATE-----'
const END = '-----END CERTIFICATE-----'
const BASE64 = /^[A-Za-z\d+/]+={0,2}$/
const SHA256_IN_HEX = /^[\da-f]{64}$/i
/**
 * A name, a value with or without quotes, and what ends it. Without two ways to read a text, so in linear time. A semicolon
 * between quotes has a backslash, as in any distinguished name (RFC 4514): without one, the quote began before this element.
 */
const XFCC_PAIR =
  /[ \t]*(?<name>[A-Za-z]+)=(?:"(?<quoted>(?:[^"\\;]|\\.)*)"|(?<bare>[^",;]*))(?<end>[,;]|$)/y

const PARSERS: Readonly<Record<CertificateFormat, (text: string) => string | undefined>> = {
  xfcc: thumbprintOfXfcc,
  'escaped-pem': thumbprintOfEscapedPem,
  rfc9440: thumbprintOfByteSequence,
}

export const CERTIFICATE_FORMATS: readonly string[] = Object.keys(PARSERS)

/** SHA-256 of the DER of the one certificate, base64url; `undefined` for anything but exactly one, so for a broken header as well. */
export function parseForwardedCertificate(
  format: CertificateFormat,
  text: string,
): string | undefined {
  return text.length > MAX_LENGTH ? undefined : PARSERS[format](text)
}

/** RFC 8705 section 3.1. */
export function thumbprintOfDer(der: Uint8Array): string {
  return sha256(der)
}

/**
 * The last element must say one thing: a hash, a certificate, or both of the same. A quote in another decides where the last begins.
 *
 * Envoy escapes nothing in names that it copies from a certificate (`URI`, `DNS`), and anybody can make one: so an element behind
 * such a name may be a part of it. https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_conn_man/headers#x-forwarded-client-cert
 */
function thumbprintOfXfcc(text: string): string | undefined {
  const { hash = [], cert = [] } = lastElement(text) ?? {}
  if (hash.length > 1 || cert.length > 1) return undefined
  const said = [...hash.map(thumbprintOfHex), ...cert.map(thumbprintOfEscapedPem)]
  const [thumbprint] = said
  return said.every((each) => each === thumbprint) ? thumbprint : undefined
}

interface XfccElement {
  readonly hash: string[]
  readonly cert: string[]
  /** What stands in it as it was in the certificate. */
  readonly uri: string[]
  readonly dns: string[]
}

const emptyElement = (): XfccElement => ({ hash: [], cert: [], uri: [], dns: [] })

function lastElement(text: string): XfccElement | undefined {
  let element = emptyElement()
  let end: string | undefined = ';'
  for (let at = 0; end !== ''; at = XFCC_PAIR.lastIndex) {
    XFCC_PAIR.lastIndex = at
    const groups = XFCC_PAIR.exec(text)?.groups
    if (groups === undefined) return undefined
    if (end === ',') {
      if (element.uri.length > 0 || element.dns.length > 0) return undefined
      element = emptyElement()
    }
    const value = groups['quoted']?.replaceAll(/\\(.)/g, '$1') ?? groups['bare'] ?? ''
    const name = groups['name']?.toLowerCase()
    if (isRead(name)) element[name].push(value)
    end = groups['end']
  }
  return element
}

function isRead(name: string | undefined): name is keyof XfccElement {
  return name === 'hash' || name === 'cert' || name === 'uri' || name === 'dns'
}

function thumbprintOfHex(text: string): string | undefined {
  return SHA256_IN_HEX.test(text) ? Buffer.from(text, 'hex').toString('base64url') : undefined
}

function thumbprintOfEscapedPem(text: string): string | undefined {
  const pem = unescaped(text)?.trim()
  if (pem === undefined || !pem.startsWith(BEGIN) || !pem.endsWith(END)) return undefined
  // A second block leaves its dashes in here.
  return thumbprintOfBase64(pem.slice(BEGIN.length, -END.length).replaceAll(/[\r\n]/g, ''))
}

function unescaped(text: string): string | undefined {
  try {
    // Not as a form: a plus sign is one of base64.
    return decodeURIComponent(text)
  } catch {
    return undefined // escapes that are none
  }
}

/** @see RFC 9440 section 2.2; RFC 8941 section 3.3.5 */
function thumbprintOfByteSequence(text: string): string | undefined {
  return text.length > 2 && text.startsWith(':') && text.endsWith(':')
    ? thumbprintOfBase64(text.slice(1, -1))
    : undefined
}

function thumbprintOfBase64(text: string): string | undefined {
  if (!BASE64.test(text)) return undefined
  const der = Buffer.from(text, 'base64')
  return der.toString('base64') === text ? thumbprintOfDer(der) : undefined
}

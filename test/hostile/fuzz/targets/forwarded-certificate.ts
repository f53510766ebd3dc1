import { createHash } from 'node:crypto'

import fc from 'fast-check'

import {
  CERTIFICATE_FORMATS,
  type CertificateFormat,
  parseForwardedCertificate,
} from '../../../../packages/core/src/possession/forwarded-certificate.ts'
import { mostly } from '../inputs.ts'
import { type FuzzTarget, hold } from '../target.ts'

const octets = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes))
const pem = octets.map((der) => {
  const lines = der.toString('base64').replaceAll(/.{10}/g, '$&\n')
  return encodeURIComponent(`-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`)
})
const hash = fc.constantFrom('ab', 'AB', '0c').map((pair) => pair.repeat(32))
const quoted = mostly(
  pem.map((text) => `"${text}"`),
  fc.constantFrom('"a\\",b;c=d"', '"\\\\"', '"', '""', 'a"b', '"a"b'),
)
const pair = fc
  .tuple(
    mostly(fc.constantFrom('Hash', 'hash', 'Cert', 'By', 'Subject', 'URI', 'DNS'), fc.string()),
    mostly(fc.constant('='), fc.constantFrom('', ' =', '==')),
    mostly(fc.oneof(hash, quoted), fc.string()),
  )
  .map((parts) => parts.join(''))
const xfcc = fc
  .array(fc.tuple(pair, mostly(fc.constantFrom(';', ',', ', '), fc.constantFrom('', ' ;'))), {
    minLength: 1,
    maxLength: 6,
  })
  .map((pairs) => pairs.flat().slice(0, -1).join(''))

const MAX_LENGTH = 65_536

/** What a proxy writes of a client's certificate, read in each of the formats. */
export const forwardedCertificate: FuzzTarget = {
  inputs: fc.oneof(
    xfcc,
    pem,
    octets.map((der) => `:${der.toString('base64')}:`),
  ),
  run(input) {
    for (const format of CERTIFICATE_FORMATS) {
      const found = parseForwardedCertificate(format as CertificateFormat /* as listed */, input)
      const isThumbprint = found === undefined || /^[\w-]{43}$/.test(found)
      hold(isThumbprint, 'a thumbprint is 256 bits in base64url')
    }
    if (input.length > MAX_LENGTH) return
    const blocks = parseForwardedCertificate('escaped-pem', input)
    hold(blocks === thumbprintOfPem(input), 'the one block of a PEM is found')
    hold(parseForwardedCertificate('xfcc', input) === readXfcc(input), 'as does a slow reader')
  },
}

function thumbprintOfPem(text: string): string | undefined {
  let decoded = ''
  try {
    decoded = decodeURIComponent(text)
  } catch {
    return undefined
  }
  const block = /^\s*-----BEGIN CERTIFICATE-----(?<lines>[^-]*)-----END CERTIFICATE-----\s*$/
  const lines = block
    .exec(decoded)
    ?.groups?.['lines']?.split(/[\r\n]/)
    .join('')
  if (lines === undefined || lines === '') return undefined
  const der = Buffer.from(lines, 'base64')
  if (der.toString('base64') !== lines) return undefined
  return createHash('sha256').update(der).digest('base64url')
}

/** Character by character, as Envoy documents the header. */
function readXfcc(text: string): string | undefined {
  let pairs: [name: string, value: string][] = []
  let at = 0
  for (;;) {
    while (text[at] === ' ' || text[at] === '\t') at++
    const equals = text.indexOf('=', at)
    const name = text.slice(at, equals)
    if (equals === -1 || !/^[A-Za-z]+$/.test(name)) return undefined
    at = equals + 1
    let value = ''
    if (text[at] === '"') {
      for (at++; text[at] !== '"'; at++) {
        if (text[at] === ';') return undefined
        if (text[at] === '\\') at++
        if (at >= text.length || isLineEnd(text[at], text[at - 1])) return undefined
        value += text[at]
      }
      at++
    } else {
      while (at < text.length && !'",;'.includes(text[at] ?? '')) value += text[at++]
    }
    pairs.push([name.toLowerCase(), value])
    if (at === text.length) return sameThumbprint(pairs)
    if (text[at] === ',') {
      // What stands behind a name that is copied as it is may be a part of it.
      if (pairs.some(([each]) => each === 'uri' || each === 'dns')) return undefined
      pairs = []
    } else if (text[at] !== ';') return undefined
    at++
  }
}

/** Node takes no header with one. Behind a backslash the reader takes none either. */
function isLineEnd(character: string | undefined, before: string | undefined): boolean {
  return before === '\\' && /[\n\r\u2028\u2029]/.test(character ?? '')
}

function sameThumbprint(pairs: readonly (readonly [string, string])[]): string | undefined {
  const hashes = pairs.filter(([name]) => name === 'hash').map(([, value]) => value)
  const certs = pairs.filter(([name]) => name === 'cert').map(([, value]) => value)
  if (hashes.length > 1 || certs.length > 1) return undefined
  const said = [
    ...hashes.map((value) =>
      /^[\dA-Fa-f]{64}$/.test(value) ? Buffer.from(value, 'hex').toString('base64url') : '',
    ),
    ...certs.map((value) => thumbprintOfPem(value) ?? ''),
  ]
  return new Set(said).size === 1 && said[0] !== '' ? said[0] : undefined
}

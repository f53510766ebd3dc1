import { X509Certificate } from 'node:crypto'

import { describe, expect, test } from 'vitest'

import {
  type CertificateFormat,
  parseForwardedCertificate,
  thumbprintOfDer,
} from '../../src/possession/forwarded-certificate.ts'

/** RFC 8705 appendix A. */
const EXAMPLE = `-----BEGIN CERTIFICATE-----
MIIBBjCBrAIBAjAKBggqhkjOPQQDAjAPMQ0wCwYDVQQDDARtdGxzMB4XDTE4MTAx
ODEyMzcwOVoXDTIyMDUwMjEyMzcwOVowDzENMAsGA1UEAwwEbXRsczBZMBMGByqG
SM49AgEGCCqGSM49AwEHA0IABNcnyxwqV6hY8QnhxxzFQ03C7HKW9OylMbnQZjjJ
/Au08/coZwxS7LfA4vOLS9WuneIXhbGGWvsDSb0tH6IxLm8wCgYIKoZIzj0EAwID
SQAwRgIhAP0RC1E+vwJD/D1AGHGzuri+hlV/PpQEKTWUVeORWz83AiEA5x2eXZOV
bUlJSGQgjwD5vaUaKlLR50Q2DmFfQj1L+SY=
-----END CERTIFICATE-----
`
const THUMBPRINT = 'A4DtL2JmUMhAsvJj5tKyn64SqzmuXbMrJa0n761y5v0'

const ESCAPED = encodeURIComponent(EXAMPLE)
const BASE64 = EXAMPLE.replaceAll(/-----.*-----|\n/g, '')
const HASH = Buffer.from(THUMBPRINT, 'base64url').toString('hex')
const OTHER = 'ab'.repeat(32)
const OTHER_THUMBPRINT = Buffer.from(OTHER, 'hex').toString('base64url')

test('the thumbprint of the certificate in RFC 8705 is the one that stands beside it', () => {
  expect(thumbprintOfDer(new X509Certificate(EXAMPLE).raw)).toBe(THUMBPRINT)
})

type Row = readonly [title: string, text: string, thumbprint: string | undefined]

const ESCAPED_PEM: readonly Row[] = [
  ['what nginx writes', ESCAPED, THUMBPRINT],
  [
    'a plus sign that is not escaped, as load balancers of AWS have it',
    ESCAPED.replaceAll('%2B', '+').replaceAll('%2F', '/').replaceAll('%3D', '='),
    THUMBPRINT,
  ],
  ['CR LF as ends of lines', encodeURIComponent(EXAMPLE.replaceAll('\n', '\r\n')), THUMBPRINT],
  ['no end of line at all', encodeURIComponent(EXAMPLE.replaceAll('\n', '')), THUMBPRINT],
  ['an empty value', '', undefined],
  ['two certificates', ESCAPED + ESCAPED, undefined],
  ['the same header twice, joined by a comma', `${ESCAPED}, ${ESCAPED}`, undefined],
  ['a block of another kind', ESCAPED.replaceAll('CERTIFICATE', 'PUBLIC%20KEY'), undefined],
  ['a beginning without an end', ESCAPED.slice(0, -30), undefined],
  [
    'a block without content',
    encodeURIComponent('-----BEGIN CERTIFICATE----------END CERTIFICATE-----'),
    undefined,
  ],
  [
    'a beginning and an end that share their dashes',
    encodeURIComponent('-----BEGIN CERTIFICATE-----END CERTIFICATE-----'),
    undefined,
  ],
  ['text before the block', `x${ESCAPED}`, undefined],
  ['an escape that is none', `${ESCAPED}%zz`, undefined],
  ['an escape of no character', `${ESCAPED}%ff`, undefined],
  ['a character that base64 does not have', ESCAPED.replace('MIIB', 'MI*B'), undefined],
  ['a base64 text that is cut', ESCAPED.replace('%2BSY%3D', '%2BSY'), undefined],
  ['a base64 text with bits that nobody reads', ESCAPED.replace('SY%3D', 'SZ%3D'), undefined],
  ['as much as is read', ESCAPED.padEnd(65_536, '\n'), THUMBPRINT],
  ['one character more', ESCAPED.padEnd(65_537, '\n'), undefined],
  ['more than anybody reads', ESCAPED + '%0A'.repeat(30_000), undefined],
]

const RFC9440: readonly Row[] = [
  ['a byte sequence', `:${BASE64}:`, THUMBPRINT],
  ['without its colons', BASE64, undefined],
  ['a quote in place of the first colon', `"${BASE64}:`, undefined],
  ['a quote in place of the last colon', `:${BASE64}"`, undefined],
  ['quotes in place of both', `"${BASE64}"`, undefined],
  ['two of them', `:${BASE64}:, :${BASE64}:`, undefined],
  ['with a parameter', `:${BASE64}:;a=1`, undefined],
  ['an empty one', '::', undefined],
  ['a colon', ':', undefined],
  ['an empty value', '', undefined],
  ['base64url', `:${BASE64.replaceAll('+', '-').replaceAll('/', '_')}:`, undefined],
  ['white space inside', `:${BASE64.replace('A', ' A')}:`, undefined],
  ['no padding', `:${BASE64.replace('=', '')}:`, undefined],
  ['an escaped PEM', ESCAPED, undefined],
]

const XFCC: readonly Row[] = [
  ['what Envoy writes by default', `By=spiffe://a/b;Hash=${HASH}`, THUMBPRINT],
  ['a hash in capitals', `Hash=${HASH.toUpperCase()}`, THUMBPRINT],
  ['names in any case', `by=a;hASH=${HASH}`, THUMBPRINT],
  ['a certificate', `By=a;Cert="${ESCAPED}";URI=spiffe://c`, THUMBPRINT],
  ['a hash and its certificate', `Hash=${HASH};Cert="${ESCAPED}"`, THUMBPRINT],
  ['a hash and the certificate of another', `Hash=${OTHER};Cert="${ESCAPED}"`, undefined],
  ['a hash and a certificate that cannot be read', `Hash=${HASH};Cert="x"`, undefined],
  ['two elements: the last one counts', `By=a;Hash=${OTHER},By=b;Hash=${HASH}`, THUMBPRINT],
  ['white space behind the comma', `Hash=${OTHER}, Hash=${HASH}`, THUMBPRINT],
  ['a last element without a certificate', `Hash=${HASH},By=b`, undefined],
  [
    'a subject with a comma, an equals sign and a quote',
    `Hash=${HASH};Subject="CN=a\\",Hash=${OTHER},O=b"`,
    THUMBPRINT,
  ],
  [
    'a subject that ends in a backslash',
    `Hash=${OTHER};Subject="CN=a\\\\",Hash=${HASH}`,
    THUMBPRINT,
  ],
  [
    'a quote that hides an element and does not end',
    `Hash=${HASH};Subject="a,By=b;Hash=${OTHER}`,
    undefined,
  ],
  [
    'a quote of the client that ends in one of the proxy',
    `Hash=${HASH};Note=",By=b;Hash=${OTHER};Subject="CN=c"`,
    undefined,
  ],
  [
    'a quote of the client that ends in a name of its certificate',
    `Note=",By=b;Hash=${OTHER};URI=a";Hash=${HASH}`,
    undefined,
  ],
  [
    'the same with a semicolon in the subject that is escaped',
    `Hash=${HASH};Subject="CN=a\\;b"`,
    THUMBPRINT,
  ],
  [
    'an element that may be a part of a name in the certificate',
    `By=a;Hash=${OTHER};URI=spiffe://a,Hash=${HASH}`,
    undefined,
  ],
  ['the same with quotes', `By=a;Hash=${OTHER};URI="spiffe://a",By=b;Hash=${HASH}`, undefined],
  ['the same of another name', `By=a;Hash=${OTHER};dns=a,Hash=${HASH}`, undefined],
  [
    'a name of the certificate in the last element alone',
    `Hash=${OTHER},By=a;Hash=${HASH};URI=spiffe://a;DNS=b`,
    THUMBPRINT,
  ],
  ['a quote inside of a value', `Hash=${HASH};URI=a"b`, undefined],
  ['text behind a quote', `Hash=${HASH};Subject="a"b`, undefined],
  ['two hashes', `Hash=${HASH};Hash=${HASH}`, undefined],
  [
    'a value with a semicolon that names a second hash',
    `Hash=${OTHER};URI=a;Hash=${HASH}`,
    undefined,
  ],
  ['two certificates', `Cert="${ESCAPED}";Cert="${ESCAPED}"`, undefined],
  ['a chain alone', `Chain="${ESCAPED}"`, undefined],
  ['a hash that is too short', `Hash=${HASH.slice(2)}`, undefined],
  ['a hash with more behind it', `Hash=${HASH}00`, undefined],
  ['a hash in base64url', `Hash=${THUMBPRINT}`, undefined],
  ['an empty hash', 'Hash=', undefined],
  ['an empty value', '', undefined],
  ['a separator at the end', `Hash=${HASH};`, undefined],
  ['an empty element at the end', `Hash=${HASH},`, undefined],
  ['a name without a value', `Hash=${HASH};By`, undefined],
  ['the JSON that newer releases of Envoy can write', `[{"hash":"${HASH}"}]`, undefined],
  ['another hash, to show that the tables can tell', `Hash=${OTHER}`, OTHER_THUMBPRINT],
]

describe.each<[CertificateFormat, readonly Row[]]>([
  ['escaped-pem', ESCAPED_PEM],
  ['rfc9440', RFC9440],
  ['xfcc', XFCC],
])('%s', (format, rows) => {
  test.each(rows)('%s', (_title, text, thumbprint) => {
    expect(parseForwardedCertificate(format, text)).toBe(thumbprint)
  })
})

test.each<[CertificateFormat, string]>([
  ['xfcc', `Subject="${'\\'.repeat(65_000)}`],
  ['xfcc', `Subject=${' '.repeat(65_000)}"`],
  ['xfcc', 'a=,'.repeat(21_000)],
  ['escaped-pem', '%20'.repeat(21_000)],
  ['rfc9440', `:${'='.repeat(65_000)}:`],
])('the longest and most awkward headers are read (%s)', (format, text) => {
  expect(parseForwardedCertificate(format, text)).toBeUndefined()
})

import { createHmac, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'

import type { Algorithm } from '@portcullis/core'

import type { Options, Row } from './row.ts'
import {
  ALGORITHMS,
  EC_ALGORITHMS,
  EDWARDS_ALGORITHMS,
  encode,
  type TokenMaker,
  jwksOf,
  keyFor,
  RSA_ALGORITHMS,
  segmentsOf,
  signed,
  signingInput,
  withSignature,
} from './token-maker.ts'

/** Which algorithm decides, and with which key: never what the token says. */
export function algorithm(maker: TokenMaker): readonly Row[] {
  return [
    ...names(maker),
    ...macs(maker),
    ...unlisted(maker),
    ...mistaken(maker),
    ...boundKeys(maker),
    ...keysThatDecide(maker),
    ...foreignKeys(maker),
    ...lists(),
    ...good(maker),
  ]
}

function names(maker: TokenMaker): readonly Row[] {
  const { token, stranger } = maker
  const none = [
    'none',
    'None',
    'NONE',
    'nOnE',
    'none ',
    ' none',
    'none\0',
    'no\u0000ne',
    '\uFF4Eone',
  ]
  const spellings: readonly (readonly [string, unknown])[] = [
    ['nothing', undefined],
    ['an empty text', ''],
    ['null', null],
    ['a number', 512],
    ['true', true],
    ['an array of its name', ['RS512']],
    ['an object with its name', { name: 'RS512' }],
    ['its name in small letters', 'rs512'],
    ['its name in mixed case', 'Rs512'],
    ['white space before its name', ' RS512'],
    ['white space behind its name', 'RS512 '],
    ['NUL behind its name', 'RS512\0'],
    ['two names in a list', 'RS512,none'],
    ['the name that services give it', 'RSA512'],
    ['the name that Node gives it', 'RSA-SHA512'],
    ['the name that Java gives it', 'SHA512withRSA'],
    ['the name that XML gives it', 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512'],
    ['the name that COSE gives it', -259],
    ['its object identifier', '1.2.840.113549.1.1.13'],
    ['its name in full-width characters', '\uFF32\uFF33512'],
    ['its name with a Cyrillic letter', 'R\u0405512'],
    ['its name with Arabic digits', 'RS\u0665\u0661\u0662'],
    ['a name that every object inherits', 'toString'],
    ['the name of prototypes', '__proto__'],
    ['an index of the list', '0'],
    ['the name of a property of the list', 'length'],
  ]
  const others = ['RS1', 'ES256K', 'Ed448', 'RSA1_5', 'RSA-OAEP', 'dir', 'A256GCMKW']
  return [
    ...none.flatMap((alg) => {
      const [header, payload] = segmentsOf(token({ header: { alg } }))
      return [
        refused(
          `alg ${JSON.stringify(alg)} over our signature`,
          'RFC 8725 section 2.1; CVE-2022-23540',
          token({ header: { alg } }),
        ),
        refused(
          `alg ${JSON.stringify(alg)} over one octet for a signature`,
          'RFC 8725 section 2.1; CVE-2022-23540',
          `${header}.${payload}.AA`,
        ),
      ]
    }),
    ...spellings.map(([name, alg]) =>
      refused(`an alg with ${name}`, 'RFC 7515 section 4.1.1', token({ header: { alg } })),
    ),
    ...others.map((alg) =>
      refused(`alg ${alg}, which nobody knows`, 'RFC 8725 section 3.1', token({ header: { alg } })),
    ),
    {
      ...refused(
        'alg ML-DSA-65, which nobody has listed',
        'RFC 8725 section 3.1',
        token({ header: { alg: 'ML-DSA-65' } }),
      ),
      options: { algorithms: ['RS512'] },
    },
    refused(
      'an unknown alg of a stranger, whose kid must not cost a fetch',
      'RFC 8725 section 3.1',
      token({ by: stranger.rsa, header: { alg: 'none' } }),
    ),
  ]
}

function refused(name: string, source: string, token: string, options?: Options): Row {
  return { name, source, verdict: 'algorithm', token, options }
}

/** The public key, in every form in which somebody has held it for a shared secret. */
function macs({ token, issuer, document }: TokenMaker): readonly Row[] {
  const key = createPublicKey({ key: issuer.rsa.jwk, format: 'jwk' })
  const { n = '', e = '' } = issuer.rsa.jwk
  const secrets: readonly (readonly [string, string, string | Buffer | KeyObject])[] = [
    ['as PEM', 'CVE-2015-9235', key.export({ type: 'spki', format: 'pem' })],
    [
      'as PEM without its last line feed',
      'CVE-2016-10555',
      String(key.export({ type: 'spki', format: 'pem' })).trimEnd(),
    ],
    ['as PEM of PKCS #1', 'CVE-2023-48223', key.export({ type: 'pkcs1', format: 'pem' })],
    [
      'as PEM behind a blank',
      'CVE-2026-34950',
      ` ${String(key.export({ type: 'spki', format: 'pem' }))}`,
    ],
    ['as DER', 'CVE-2017-11424', key.export({ type: 'spki', format: 'der' })],
    ['as a JWK', 'CVE-2022-23541', JSON.stringify(issuer.rsa.jwk)],
    ['as the document it is served in', 'CVE-2022-23541', JSON.stringify(document)],
    ['as its modulus', 'CVE-2016-5431', Buffer.from(n, 'base64url')],
    ['as its modulus, encoded', 'CVE-2016-5431', n],
    ['as its exponent', 'CVE-2016-5431', Buffer.from(e, 'base64url')],
    ['as nothing, which a look-up in vain may give', 'CVE-2026-45363', ''],
    ['as its name', 'CVE-2026-45363', issuer.rsa.jwk.kid],
  ]
  const mac = (alg: string, secret: string | Buffer | KeyObject) => {
    const [header, payload] = segmentsOf(token({ header: { alg } }))
    const input = `${header}.${payload}`
    const hash = `sha${alg.slice(2)}`
    return withSignature(input, createHmac(hash, secret).update(input).digest())
  }
  return [
    ...secrets.map(([form, source, secret]) =>
      refused(
        `a MAC with the public key ${form}`,
        `RFC 8725 section 2.1; ${source}`,
        mac('HS512', secret),
      ),
    ),
    ...['HS256', 'HS384'].map((alg) =>
      refused(
        `a MAC of ${alg} with the public key as PEM`,
        'RFC 8725 section 2.1',
        mac(alg, key.export({ type: 'spki', format: 'pem' })),
      ),
    ),
    {
      ...refused(
        'a MAC where every algorithm is listed that can be',
        'RFC 8725 section 3.1',
        mac('HS512', n),
      ),
      options: { algorithms: ALGORITHMS },
    },
    {
      name: 'a MAC that the header calls RS512',
      source: 'RFC 8725 section 2.1',
      verdict: 'signature',
      token: withHeader(mac('HS512', n), { alg: 'RS512', kid: issuer.rsa.jwk.kid }),
    },
    {
      name: 'a MAC with a shared key that the document has beside ours',
      source: 'RFC 8725 section 3.1; CVE-2026-22817',
      verdict: 'algorithm',
      document: {
        keys: [{ kty: 'oct', k: encode('secret'), kid: issuer.rsa.jwk.kid }, issuer.rsa.jwk],
      },
      token: mac('HS512', 'secret'),
    },
  ]
}

function withHeader(token: string, header: object): string {
  return [encode(JSON.stringify(header)), ...token.split('.').slice(1)].join('.')
}

/** Each pair of one kind of key: a good token of the one where only the other is listed. */
function unlisted(maker: TokenMaker): readonly Row[] {
  return [RSA_ALGORITHMS, EDWARDS_ALGORITHMS].flatMap((family) =>
    pairs(family).map(([listed, alg]): Row => ({
      name: `a good ${alg} where only ${listed} is listed`,
      source: 'RFC 8725 section 3.1',
      verdict: 'algorithm',
      token: maker.token({ alg }),
      options: { algorithms: [listed] },
      document: keyFor(maker.issuer, alg).jwk,
    })),
  )
}

/** Each pair again: the header names the one, the signature is of the other, and the key is good for both. */
function mistaken(maker: TokenMaker): readonly Row[] {
  return pairs(RSA_ALGORITHMS).map(([alg, used]) => ({
    name: `a signature of ${used} that the header calls ${alg}`,
    source: 'RFC 8725 section 3.1; RFC 7515 section 5.2',
    verdict: 'signature',
    token: maker.token({ alg: used, header: { alg } }),
    options: { algorithms: ALGORITHMS },
    document: maker.issuer.rsa.jwk,
  }))
}

/** Each pair again: a key that states the one, a good token of the other, and both are listed. */
function boundKeys(maker: TokenMaker): readonly Row[] {
  return [RSA_ALGORITHMS, EDWARDS_ALGORITHMS].flatMap((family) =>
    pairs(family).map(([stated, alg]) => ({
      name: `a good ${alg} by a key that is for ${stated}`,
      source: 'RFC 7517 section 4.4; CVE-2026-48523; RFC 9864 section 2.2',
      // EdDSA and Ed25519 are two names of one algorithm.
      verdict: family === RSA_ALGORITHMS ? ('unknown_key' as const) : ('accepted' as const),
      token: maker.token({ alg }),
      options: { algorithms: ALGORITHMS },
      document: { ...keyFor(maker.issuer, alg).jwk, alg: stated },
    })),
  )
}

/** Without a list: a good token of each algorithm of RSA, by a key that states each other one, or none. */
function keysThatDecide(maker: TokenMaker): readonly Row[] {
  return [...RSA_ALGORITHMS, undefined].flatMap((stated) =>
    RSA_ALGORITHMS.map((alg): Row => {
      const isFor = (stated ?? 'RS512') === alg
      return {
        name: `a good ${alg} by an RSA key that states ${stated ?? 'nothing'}, and nothing is listed`,
        source: 'RFC 8725 section 3.1; CVE-2026-22817',
        verdict: isFor ? 'accepted' : 'algorithm',
        token: maker.token({ alg }),
        document: { ...maker.issuer.rsa.jwk, alg: stated },
        requests: 1,
      }
    }),
  )
}

/** Each algorithm with each kind of key that it is not for, under the very name; one that fits stands aside. */
function foreignKeys(maker: TokenMaker): readonly Row[] {
  const { issuer, stranger, token } = maker
  const algs: readonly Algorithm[] = ['RS512', 'PS512', ...EC_ALGORITHMS, ...EDWARDS_ALGORITHMS]
  return [
    ...algs.flatMap((alg) =>
      jwksOf(issuer)
        .filter((jwk) => jwk !== keyFor(issuer, alg).jwk)
        .map((jwk): Row => ({
          name: `${alg} where its kid leads to ${kindOf(jwk)}`,
          source: 'RFC 8725 section 3.1; RFC 7518 section 3.1',
          verdict: 'unknown_key',
          options: { algorithms: ALGORITHMS },
          document: { keys: [{ ...jwk, kid: keyFor(issuer, alg).jwk.kid }] },
          token: token({ alg }),
        })),
    ),
    ...algs.map((alg): Row => ({
      name: `${alg} by a stranger's key of the right kind under our kid`,
      source: 'RFC 7515 section 5.2',
      verdict: 'signature',
      options: { algorithms: ALGORITHMS },
      document: { keys: jwksOf(issuer) },
      token: token({
        alg,
        by: keyFor(stranger, alg),
        header: { kid: keyFor(issuer, alg).jwk.kid },
      }),
    })),
  ]
}

function kindOf({ kty, crv }: JsonWebKey): string {
  if (crv === undefined) return 'an RSA key'
  return kty === 'EC' ? `a key on ${crv}` : `a key of ${crv}`
}

function lists(): readonly Row[] {
  const refusals: readonly (readonly [string, unknown])[] = [
    ['nothing in it', []],
    ['none', ['none']],
    ['none beside RS512', ['RS512', 'none']],
    ['a MAC', ['HS512']],
    ['a MAC beside RS512', ['RS512', 'HS256']],
    ['a name in small letters', ['rs512']],
    ['the name that services give it', ['RSA512']],
    ['an empty name', ['']],
    ['a pattern', [/RS\d+/]],
    ['a name that every object inherits', ['toString']],
    ['a curve without a verdict on its use', ['ES256K']],
  ]
  return [
    ...refusals.map(([name, algorithms]) => ({
      name: `a list of algorithms with ${name}`,
      algorithms,
    })),
    { name: 'a text for a list of algorithms', algorithms: 'RS512' },
    { name: 'null for a list of algorithms', algorithms: null },
    { name: 'a function for a list of algorithms', algorithms: () => ['RS512'] },
  ].map(({ name, algorithms }) => ({
    name,
    source: 'RFC 8725 section 3.1; CVE-2020-15084',
    verdict: 'TypeError',
    options: { algorithms } as Options, // a mistake of a caller in JavaScript
    token: '',
  }))
}

/** Each algorithm with each form in which its key may be published. */
function good(maker: TokenMaker): readonly Row[] {
  return ALGORITHMS.flatMap((alg) => {
    const { jwk } = keyFor(maker.issuer, alg)
    const others = ALGORITHMS.filter((other) => keyFor(maker.issuer, other).jwk !== jwk)
    const row = (name: string, source: string, document: object, token: string): Row => ({
      name: `a good ${alg} ${name}`,
      source,
      verdict: 'accepted',
      options: { algorithms: ALGORITHMS },
      document,
      token,
    })
    const section =
      alg === 'EdDSA' || alg === 'Ed25519' ? 'RFC 8037 section 3.1' : 'RFC 7518 section 3.1'
    return [
      row(
        'by a key that is published alone and states nothing',
        section,
        { ...jwk, kid: undefined },
        maker.token({ alg }),
      ),
      row(
        'by a key for it alone',
        'RFC 7517 section 4.4',
        { keys: [{ ...jwk, alg, use: 'sig', key_ops: ['verify'] }] },
        maker.token({ alg }),
      ),
      row(
        'by one of many keys of other kinds, which states no name',
        'RFC 7517 section 5',
        {
          keys: [
            ...others.map((other) => keyFor(maker.issuer, other).jwk),
            { ...jwk, kid: undefined },
          ],
        },
        signed(
          signingInput({ alg, by: keyFor(maker.issuer, alg), header: { kid: undefined } }),
          alg,
          keyFor(maker.issuer, alg),
        ),
      ),
    ]
  })
}

function pairs<Name>(family: readonly Name[]): (readonly [Name, Name])[] {
  return family.flatMap((one) =>
    family.filter((other) => other !== one).map((other) => [one, other] as const),
  )
}

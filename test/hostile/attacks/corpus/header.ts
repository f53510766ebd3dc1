import { createHash } from 'node:crypto'

import type { Row } from './row.ts'
import { type Draft, type TokenMaker } from './token-maker.ts'

/** Header parameters: extensions that must be understood, keys that the token brings along, names of keys, types. */
export function header(maker: TokenMaker): readonly Row[] {
  return [
    ...critical(maker),
    ...wrongTypes(maker),
    ...nulls(maker),
    ...otherNames(maker),
    ...keysOfItsOwn(maker),
    ...keyNames(maker),
    ...mediaTypes(maker),
    ...unknownParameters(maker),
  ]
}

function critical({ token }: TokenMaker): readonly Row[] {
  const values: readonly (readonly [string, unknown])[] = [
    ['an extension that nobody knows', ['x']],
    ['an extension that is there as well', ['http://example.com/UNDEFINED']],
    ['the registered b64', ['b64']],
    ['the registered exp, which the claims have too', ['exp']],
    ['a parameter of the specification itself', ['alg']],
    ['the same extension twice', ['x', 'x']],
    ['nothing', []],
    ['an empty name', ['']],
    ['a name that every object inherits', ['toString']],
    ['something that is no name', [null]],
    ['text', 'x'],
    ['null', null],
    ['false', false],
    ['zero', 0],
    ['an object', {}],
  ]
  return [
    ...values.map(([name, crit]): Row => ({
      name: `crit with ${name}`,
      source: 'RFC 7515 section 4.1.11; CVE-2025-59420',
      verdict: 'critical_header',
      token: token({ header: { crit, x: 1, exp: 1, 'http://example.com/UNDEFINED': true } }),
    })),
    {
      name: 'a payload said to be unencoded',
      source: 'RFC 7797 section 7',
      verdict: 'critical_header',
      token: token({ header: { b64: false } }),
    },
    {
      name: 'a payload said to be unencoded, as the RFC asks it to be said',
      source: 'RFC 7797 section 7',
      verdict: 'critical_header',
      token: token({ header: { b64: false, crit: ['b64'] } }),
    },
    {
      name: 'crit under a name that an escape hides',
      source: 'RFC 7515 section 4.1.11; RFC 8259 section 8.3',
      verdict: 'critical_header',
      token: token({ headerText: String.raw`{"alg":"RS512","\u0063rit":["x"],"x":1}` }),
    },
    {
      name: 'b64 with the value that is its default',
      source: 'RFC 7797 section 3',
      verdict: 'accepted',
      token: token({ header: { b64: true } }),
    },
    {
      name: 'crit within another parameter',
      source: 'RFC 7515 section 4',
      verdict: 'accepted',
      token: token({ header: { x: { crit: ['x'] } } }),
    },
    {
      name: 'CRIT, which is another name',
      source: 'RFC 7515 section 4',
      verdict: 'accepted',
      token: token({ header: { CRIT: ['x'] } }),
    },
  ]
}

const NO_STRINGS: readonly (readonly [string, unknown])[] = [
  ['a number', 0],
  ['true', true],
  ['an array of one string', ['JWT']],
  ['an object', { toString: 'JWT' }],
]

function wrongTypes({ token }: TokenMaker): readonly Row[] {
  return [
    { parameter: 'kid', source: 'RFC 7515 section 4.1.4' },
    { parameter: 'typ', source: 'RFC 7515 section 4.1.9' },
  ].flatMap(({ parameter, source }) =>
    NO_STRINGS.map(([name, value]) => ({
      name: `a ${parameter} that is ${name}`,
      source,
      verdict: 'malformed' as const,
      token: token({ header: { [parameter]: value } }),
    })),
  )
}

/** Some services write `null` for what they do not have. */
function nulls({ token }: TokenMaker): readonly Row[] {
  return [
    {
      name: 'a kid that is null, and so none',
      source: 'RFC 7515 section 4.1.4',
      verdict: 'accepted',
      token: token({ header: { kid: null } }),
    },
    {
      name: 'a typ that is null, and so none',
      source: 'RFC 7515 section 4.1.9',
      verdict: 'accepted',
      token: token({ header: { typ: null } }),
    },
    {
      name: 'a typ that is null, where one is asked for',
      source: 'RFC 7515 section 4.1.9',
      verdict: 'type',
      options: { type: 'at+jwt' },
      token: token({ header: { typ: null } }),
    },
    {
      name: 'a crit that is null',
      source: 'RFC 7515 section 4.1.11',
      verdict: 'critical_header',
      token: token({ header: { crit: null, kid: null } }),
    },
  ]
}

/** Where an issuer calls RS512 by another name, and the verifier was told so. */
function otherNames({ stranger, token }: TokenMaker): readonly Row[] {
  const options = { algorithmNames: { RSA512: 'RS512' } } as const
  const source = 'RFC 8725 section 3.1'
  const others = ['rsa512', 'RSA512 ', 'RSA256', 'none', 'toString', 'constructor']
  return [
    {
      name: 'another name of the algorithm, which the verifier was told',
      source,
      verdict: 'accepted',
      options,
      token: token({ header: { alg: 'RSA512' } }),
    },
    {
      name: 'another name of the algorithm, on the token of a stranger',
      source,
      verdict: 'signature',
      options,
      token: token({ by: stranger.rsa, header: { alg: 'RSA512', kid: undefined } }),
    },
    {
      name: 'another name of the algorithm, which the verifier was not told',
      source,
      verdict: 'algorithm',
      token: token({ header: { alg: 'RSA512', x: 'untold' } }),
    },
    {
      name: 'another name of an algorithm that is not listed',
      source,
      verdict: 'algorithm',
      options: { algorithmNames: { RSA256: 'RS256' }, algorithms: ['RS512'] },
      token: token({ header: { alg: 'RSA256' } }),
    },
    ...others.map((alg): Row => ({
      name: `${JSON.stringify(alg)} where another name has been told`,
      source,
      verdict: 'algorithm',
      options,
      token: token({ header: { alg } }),
    })),
  ]
}

/** The attacker's key, in every parameter that can carry or name one; signed with it, under our name and under its own. */
function keysOfItsOwn(maker: TokenMaker): readonly Row[] {
  const { issuer, stranger, canary, token } = maker
  const { jwk, privateKey } = stranger.rsa
  const certificate = Buffer.from(String(jwk.n), 'base64url').toString('base64')
  const parameters: readonly (readonly [string, Record<string, unknown>])[] = [
    ['jwk', { jwk }],
    ['jwk with its private part', { jwk: privateKey.export({ format: 'jwk' }) }],
    ['jwk within a set', { jwks: { keys: [jwk] } }],
    ['jku', { jku: `${canary}/jwks.json` }],
    ['jku without a scheme', { jku: canary.replace('http:', '') }],
    ['jku of a file', { jku: 'file:///etc/passwd' }],
    [
      'jku of the key endpoint and a redirect to elsewhere',
      { jku: `https://auth.test/?next=${canary}` },
    ],
    ['x5u', { x5u: `${canary}/certificate.pem` }],
    ['x5c', { x5c: [certificate] }],
    ['x5c and its thumbprint', { x5c: [certificate], 'x5t#S256': thumbprint(certificate) }],
    ['x5t', { x5t: thumbprint(certificate) }],
    ['jku, x5u and jwk at once', { jku: canary, x5u: canary, jwk }],
  ]
  const ways: readonly (readonly [string, Record<string, unknown>, Row['verdict']])[] = [
    ['under our kid', { kid: issuer.rsa.jwk.kid }, 'signature'],
    ['without a kid', { kid: undefined }, 'signature'],
    ['under a kid of its own', {}, 'unknown_key'],
  ]
  return [
    ...parameters.flatMap(([name, members]) =>
      ways.map(([way, kid, verdict]) => ({
        name: `a stranger's key in ${name}, ${way}`,
        source: 'RFC 8725 section 3.10; CVE-2018-0114',
        verdict,
        token: token({ by: stranger.rsa, header: { ...members, ...kid } }),
      })),
    ),
    {
      name: 'an issuer claim with the address of other keys',
      source: 'RFC 8725 section 3.8; CVE-2025-59936',
      verdict: 'unknown_key',
      token: token({ by: stranger.rsa, claims: { iss: canary } }),
    },
    {
      name: 'an issuer claim with the address of other keys, under our kid',
      source: 'RFC 8725 section 3.8; CVE-2025-59936',
      verdict: 'signature',
      token: token({
        by: stranger.rsa,
        header: { kid: issuer.rsa.jwk.kid },
        claims: { iss: canary },
      }),
    },
    ...parameters.map(([name, members]): Row => ({
      name: `our key, and a stranger's in ${name}, which nobody looks at`,
      source: 'RFC 7515 section 4.1.2; RFC 7515 section 4.1.3',
      verdict: 'accepted',
      token: token({ header: members }),
    })),
  ]
}

function thumbprint(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

/** A `kid` is attacker input in a path, in a query, in a shell and in a property access: of other implementations. */
function keyNames(maker: TokenMaker): readonly Row[] {
  const { issuer, stranger, canary, token } = maker
  const names: readonly (readonly [string, string])[] = [
    ['nothing', ''],
    ['a name that every object inherits', 'toString'],
    ['the name of all constructors', 'constructor'],
    ['the name of prototypes', '__proto__'],
    ['the name of the method that looks keys up', 'has'],
    ['an index', '0'],
    ['a path to an empty file', '../../../../dev/null'],
    ['a URL', canary],
    ['a statement for a database', "' UNION SELECT 'key' --"],
    ['a command for a shell', '|curl localhost'],
    ['a look-up for a logger', `\${jndi:ldap://127.0.0.1/a}`],
    ['a header for a log', 'x\r\nSet-Cookie: a=b'],
    ['NUL behind our name', `${issuer.rsa.jwk.kid}\0`],
    ['white space behind our name', `${issuer.rsa.jwk.kid} `],
    ['our name in capitals', issuer.rsa.jwk.kid.toUpperCase()],
    ['the beginning of our name', issuer.rsa.jwk.kid.slice(0, -1)],
    ['our name in other characters', issuer.rsa.jwk.kid.replace('i', '\u0456')],
    ['half of a surrogate pair', '\uD83D'],
    ['eight thousand letters', 'k'.repeat(8000)],
  ]
  const [, ...textual] = names
  return [
    ...names.map(([name, kid]): Row => ({
      name: `a stranger's token under a kid that is ${name}`,
      source: 'RFC 8725 section 3.10',
      verdict: 'unknown_key',
      token: token({ by: stranger.rsa, header: { kid } }),
    })),
    ...textual.slice(0, 5).map(([name, kid]): Row => ({
      name: `a key that the issuer calls by ${name}`,
      source: 'RFC 7517 section 4.5',
      verdict: 'accepted',
      document: { keys: [{ ...stranger.rsa.jwk }, { ...issuer.rsa.jwk, kid }] },
      token: token({ header: { kid } }),
    })),
    ...textual.slice(0, 5).map(([name, kid]): Row => ({
      name: `our own key, which is not called by ${name}`,
      source: 'RFC 7515 section 4.1.4',
      verdict: 'unknown_key',
      token: token({ header: { kid } }),
    })),
    {
      name: 'our own key under a name beyond ASCII',
      source: 'RFC 7517 section 4.5',
      verdict: 'accepted',
      document: { keys: [{ ...issuer.rsa.jwk, kid: 'ключ \u{1F511}' }] },
      token: token({ header: { kid: 'ключ \u{1F511}' } }),
    },
    {
      name: 'our own key under a name that only normalization makes equal',
      source: 'RFC 7515 section 5.3',
      verdict: 'unknown_key',
      document: { keys: [{ ...issuer.rsa.jwk, kid: 'cl\u00E9' }] },
      token: token({ header: { kid: 'cle\u0301' } }),
    },
    {
      name: 'a token without a kid for a key with one',
      source: 'RFC 7515 section 4.1.4',
      verdict: 'accepted',
      token: token({ header: { kid: undefined } }),
    },
    {
      name: 'a token with a kid for a key without one',
      source: 'RFC 7517 section 4.5',
      verdict: 'accepted',
      document: { keys: [{ ...issuer.rsa.jwk, kid: undefined }] },
      token: token(),
    },
    {
      name: 'a token with another kid than the only key has, which is published alone',
      source: 'RFC 7515 section 4.1.4',
      verdict: 'accepted',
      document: issuer.rsa.jwk,
      token: token({ header: { kid: 'another' } }),
    },
    {
      name: 'two keys of one name, of which the second has signed',
      source: 'RFC 7517 section 4.5',
      verdict: 'accepted',
      document: { keys: [{ ...stranger.rsa.jwk, kid: issuer.rsa.jwk.kid }, issuer.rsa.jwk] },
      token: token(),
    },
  ]
}

function mediaTypes({ token }: TokenMaker): readonly Row[] {
  const options = { type: 'at+jwt' }
  const others: readonly (readonly [string, Draft['header']])[] = [
    ['nothing at all', { typ: undefined }],
    ['an empty text', { typ: '' }],
    ['JWT, as any token may', { typ: 'JWT' }],
    ['an ID token', { typ: 'id+jwt' }],
    ['a logout token', { typ: 'logout+jwt' }],
    ['a proof of possession', { typ: 'dpop+jwt' }],
    ['another top-level type', { typ: 'text/at+jwt' }],
    ['the prefix twice', { typ: 'application/application/at+jwt' }],
    ['the prefix alone', { typ: 'application/' }],
    ['white space in front', { typ: ' at+jwt' }],
    ['white space behind', { typ: 'at+jwt ' }],
    ['a parameter', { typ: 'at+jwt; charset=utf-8' }],
    ['a list', { typ: 'id+jwt, at+jwt' }],
    ['NUL behind', { typ: 'at+jwt\0' }],
    ['a plus sign as a form encodes it', { typ: 'at jwt' }],
    ['a full-width plus sign', { typ: 'at\uFF0Bjwt' }],
  ]
  const same: readonly (readonly [string, string])[] = [
    ['the type as it stands', 'at+jwt'],
    ['the type with its prefix', 'application/at+jwt'],
    ['the type in capitals', 'AT+JWT'],
    ['the type with its prefix in mixed case', 'Application/At+Jwt'],
  ]
  return [
    ...others.map(([name, members]): Row => ({
      name: `a typ with ${name} where an access token is wanted`,
      source: 'RFC 9068 section 4; RFC 8725 section 3.11',
      verdict: 'type',
      options,
      token: token({ header: members ?? {} }),
    })),
    ...['logout+jwt', 'DPoP+JWT', 'application/secevent+jwt', 'vc+sd-jwt', 'logout+jwt; v=1'].map(
      (typ): Row => ({
        name: `a typ ${typ} where none is stated`,
        source: 'RFC 8725 section 3.11',
        verdict: 'type',
        token: token({ header: { typ } }),
      }),
    ),
    {
      name: 'a typ with the Kelvin sign, which lower case turns into k',
      source: 'RFC 6838 section 4.2; RFC 8725 section 3.11',
      verdict: 'type',
      options: { type: 'token-introspection+jwt' },
      token: token({ header: { typ: 'to\u212Aen-introspection+jwt' } }),
    },
    ...same.map(([name, typ]): Row => ({
      name: `a typ with ${name} where an access token is wanted`,
      source: 'RFC 9068 section 4; RFC 7515 section 4.1.9',
      verdict: 'accepted',
      options,
      token: token({ header: { typ } }),
    })),
    {
      name: 'a typ with the type, wanted with its prefix and in capitals',
      source: 'RFC 7515 section 4.1.9',
      verdict: 'accepted',
      options: { type: 'APPLICATION/AT+JWT' },
      token: token({ header: { typ: 'at+jwt' } }),
    },
    {
      name: 'any typ where none is wanted',
      source: 'RFC 7519 section 5.1',
      verdict: 'accepted',
      token: token({ header: { typ: 'a nonsense of a type' } }),
    },
  ]
}

function unknownParameters({ token, canary }: TokenMaker): readonly Row[] {
  const parameters: readonly (readonly [string, Record<string, unknown>])[] = [
    ['the parameters of encryption', { enc: 'A256GCM', p2c: 1e9, epk: { kty: 'EC' }, apu: 'AAAA' }],
    ['claims in the header', { iss: 'other', exp: 1, aud: 'other' }],
    ['a nonce and a URL', { nonce: 'n', url: canary }],
    [
      'a parameter named like each method of an object',
      { valueOf: 1, toString: 2, isPrototypeOf: 3 },
    ],
    ['a parameter constructor', { constructor: { prototype: { alg: 'none' } } }],
    ['ALG, which is another name', { ALG: 'none', Alg: 'none' }],
    [
      'a thousand parameters',
      Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`p${at}`, at])),
    ],
  ]
  return parameters.map(([name, members]): Row => ({
    name: `a header with ${name}`,
    source: 'RFC 7515 section 4',
    verdict: 'accepted',
    token: token({ header: members }),
  }))
}

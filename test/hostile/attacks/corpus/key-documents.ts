import { generateKeyPairSync, type JsonWebKey, type KeyObject, randomBytes } from 'node:crypto'

import { digest, digestInfo, padded } from './pkcs1.ts'
import type { Answer, Row } from './row.ts'
import {
  ALGORITHMS,
  encode,
  type TokenMaker,
  ISSUER,
  jwksOf,
  pairOf,
  signingInput,
  toInteger,
  toOctets,
  withSignature,
} from './token-maker.ts'

/** What a key endpoint can call a key, a set of keys, or metadata. */
export function keyDocuments(maker: TokenMaker): readonly Row[] {
  const unusable = [
    ...moduli(maker),
    ...exponents(maker),
    ...members(maker),
    ...purposes(maker),
    ...points(maker),
    ...kinds(maker),
    ...noEntries(maker),
  ]
  return [
    ...unusable.flatMap((entry) => aloneAndBeside(maker, entry)),
    ...usable(maker),
    ...unusualKeys(maker),
    ...forgeries(maker),
    ...noDocuments(maker),
    ...crowds(maker),
    ...metadata(maker),
  ]
}

type Entry = readonly [name: string, source: string, entry: unknown]

/** What is no key alone is no reason to do without another. */
function aloneAndBeside(
  { issuer, token }: TokenMaker,
  [name, source, entry]: Entry,
): readonly Row[] {
  const options = { algorithms: ALGORITHMS }
  return [
    { name, source, verdict: 'bad_document', options, document: { keys: [entry] }, token: token() },
    {
      name: `${name}, beside a good key`,
      source: 'RFC 7517 section 5',
      verdict: 'accepted',
      options,
      document: { keys: [entry, issuer.rsa.jwk] },
      token: token(),
    },
  ]
}

/** Nobody knows the private part, so that any size is at hand. */
function rsaOf(bits: number, change: (n: bigint) => bigint = (n) => n): JsonWebKey {
  const octets = Math.ceil(bits / 8)
  const most = 1n << BigInt(bits)
  const n = (toInteger(randomBytes(octets)) % most) | (most >> 1n) | 1n
  return rsaWith(change(n), 'AQAB')
}

function rsaWith(n: bigint, e: string): JsonWebKey {
  return { kty: 'RSA', n: encode(shortest(n)), e, kid: 'an RSA key' }
}

function shortest(integer: bigint): Buffer {
  return toOctets(integer, Math.ceil(integer.toString(16).length / 2))
}

function moduli({ issuer }: TokenMaker): readonly Entry[] {
  const { n = '' } = issuer.rsa.jwk
  const octets = Buffer.from(n, 'base64url')
  const size = 'RFC 7518 section 3.3'
  return [
    ...[8, 512, 1024, 1536, 2040, 2047].map((bits): Entry => [
      `a modulus of ${bits} bits`,
      size,
      rsaOf(bits),
    ]),
    ...[8193, 16_384, 65_536].map((bits): Entry => [
      `a modulus of ${bits} bits`,
      'CVE-2023-6237; CVE-2023-3446',
      rsaOf(bits),
    ]),
    ['a modulus of half a megabyte', 'CVE-2023-6237', { ...rsaOf(8), n: 'A'.repeat(500_000) }],
    [
      'a modulus of a million zeros and eight bits',
      'CVE-2023-6237',
      { ...rsaOf(8), n: encode(Buffer.alloc(750_000, 0)) },
    ],
    ['a modulus that is even', 'RFC 8017 section 3.1', rsaOf(2048, (value) => value - 1n)],
    ['a modulus that is a power of two', 'RFC 8017 section 3.1', rsaWith(1n << 2047n, 'AQAB')],
    ['a modulus of 0', 'RFC 8017 section 3.1', { ...rsaOf(8), n: 'AA' }],
    [
      'a modulus of 2048 zero bits',
      'RFC 8017 section 3.1',
      { ...rsaOf(8), n: encode(Buffer.alloc(256)) },
    ],
    ['a modulus of 1', 'RFC 8017 section 3.1', { ...rsaOf(8), n: 'AQ' }],
    [
      'a modulus that its zeros bring to 2048 bits',
      size,
      {
        ...rsaOf(8),
        n: encode(Buffer.concat([Buffer.alloc(128), octets.subarray(0, 127), Buffer.of(1)])),
      },
    ],
    ...spellings(n).map(([name, text]): Entry => [
      `a modulus ${name}`,
      'RFC 7518 section 6.3.1.1; RFC 7518 section 2',
      { ...issuer.rsa.jwk, n: text },
    ]),
  ]
}

function exponents({ issuer }: TokenMaker): readonly Entry[] {
  const { jwk } = issuer.rsa
  const { n = '' } = jwk
  const numbers: readonly (readonly [string, bigint])[] = [
    ['0', 0n],
    ['1, with which anybody can sign', 1n],
    ['2', 2n],
    ['4', 4n],
    ['65536', 65_536n],
    ['2^32', 1n << 32n],
    ['2^32 + 1', (1n << 32n) + 1n],
    ['2^64 + 1', (1n << 64n) + 1n],
    ['n', toInteger(Buffer.from(n, 'base64url'))],
    ['n - 2', toInteger(Buffer.from(n, 'base64url')) - 2n],
  ]
  return [
    ...numbers.map(([name, value]): Entry => [
      `an exponent of ${name}`,
      'RFC 8017 section 3.1; RFC 8725 section 3.4',
      { ...jwk, e: encode(shortest(value)) },
    ]),
    [
      'an exponent of 1 behind zeros',
      'RFC 8017 section 3.1',
      { ...jwk, e: encode(Buffer.of(0, 0, 1)) },
    ],
    ['an exponent of a hundred kilobytes', 'CWE-770', { ...jwk, e: 'A'.repeat(133_332) }],
    ...spellings('AQAB').map(([name, text]): Entry => [
      `an exponent ${name}`,
      'RFC 7518 section 6.3.1.2; RFC 7518 section 2',
      { ...jwk, e: text },
    ]),
  ]
}

/** A member that is missing, of another type, or in another spelling than the one. */
function spellings(text: string): readonly (readonly [string, unknown])[] {
  return [
    ['that is missing', undefined],
    ['of null', null],
    ['that is a number', 65_537],
    ['in an array', [text]],
    ['that is an object', { value: text }],
    ['that is empty', ''],
    ['with more padding than there can be', `${text}===`],
    ['with padding in front', `=${text}`],
    ['with a line feed', `${text}\n`],
    ['with a blank inside', `${text.slice(0, 2)} ${text.slice(2)}`],
    ['of the other alphabet', `${text.slice(0, -1)}+`],
    ['in hexadecimal, with its prefix', `0x${Buffer.from(text, 'base64url').toString('hex')}`],
    ['with a character too many for octets', `${text.slice(0, 4 * Math.floor(text.length / 4))}A`],
    ['with a character beyond ASCII', `${text.slice(0, -1)}\u0142`],
  ]
}

function members({ issuer, stranger }: TokenMaker): readonly Entry[] {
  const { kty, n, e } = issuer.rsa.jwk
  const types: readonly (readonly [string, unknown])[] = [
    ['that is missing', undefined],
    ['of null', null],
    ['that is empty', ''],
    ['in small letters', 'rsa'],
    ['with white space', 'RSA '],
    ['in an array', ['RSA']],
    ['of an algorithm', 'RS512'],
    ['that nobody knows', 'AKP'],
    ['that every object inherits', 'toString'],
    ['of a shared key', 'oct'],
    ['of another kind of key', 'EC'],
    ['of a third kind of key', 'OKP'],
  ]
  return [
    ...types.map(([name, value]): Entry => [
      `a kty ${name}`,
      'RFC 7517 section 4.1',
      { kty: value, n, e },
    ]),
    ['members in capitals', 'RFC 7517 section 4', { KTY: kty, N: n, E: e }],
    [
      'nothing but a certificate',
      'RFC 7517 section 4.7',
      { kty, x5c: [Buffer.alloc(300).toString('base64')] },
    ],
    [
      'nothing but a place to find the key',
      'RFC 7517 section 4.6',
      { kty, x5u: 'https://other.test/key.pem' },
    ],
    ['a shared key', 'RFC 7518 section 6.4', { kty: 'oct', k: encode('secret'), alg: 'HS512' }],
    ['a key as PEM', 'RFC 7517 section 4', { kty, pem: '-----BEGIN PUBLIC KEY-----' }],
    ['a JWK that is encrypted', 'RFC 7517 section 7', { ciphertext: 'AAAA', protected: 'AAAA' }],
    ['a key whose members its prototype has', 'CWE-1321', withProto({ kty }, { n, e })],
    ['a kty that its prototype has', 'CWE-1321', withProto({ n, e }, { kty })],
    ["a kty below, and a stranger's key around", 'RFC 7517 section 4', { key: stranger.rsa.jwk }],
  ]
}

/** With an own member of that name, as JSON can have it. */
function withProto(own: object, proto: object): unknown {
  return JSON.parse(`{"__proto__":${JSON.stringify(proto)},${JSON.stringify(own).slice(1)}`)
}

function purposes({ issuer }: TokenMaker): readonly Entry[] {
  const { jwk } = issuer.rsa
  const uses: readonly (readonly [string, unknown])[] = [
    ['for encryption', 'enc'],
    ['in capitals', 'SIG'],
    ['with white space', 'sig '],
    ['that is empty', ''],
    ['in an array', ['sig']],
    ['that nobody knows', 'tls'],
  ]
  const operations: readonly (readonly [string, unknown])[] = [
    ['to sign', ['sign']],
    ['to encrypt', ['encrypt', 'wrapKey']],
    ['to derive', ['deriveKey']],
    ['of none', []],
    ['in capitals', ['VERIFY']],
    ['that is text', 'verify'],
    ['that repeat themselves', ['verify', 'verify']],
    ['with a number among them', ['verify', 1]],
    ['with null among them', ['verify', null]],
    ['that is an object', { verify: true }],
    ['in an array of arrays', [['verify']]],
  ]
  const algorithms: readonly (readonly [string, unknown])[] = [
    ['of encryption', 'RSA-OAEP-512'],
    ['of a MAC', 'HS512'],
    ['none', 'none'],
    ['in small letters', 'rs512'],
    ['that services use', 'RSA512'],
    ['of another kind of key', 'ES512'],
    ['that is empty', ''],
    ['in an array', ['RS512']],
    ['that is a number', 512],
  ]
  return [
    ...uses.map(([name, use]): Entry => [`a use ${name}`, 'RFC 7517 section 4.2', { ...jwk, use }]),
    ...operations.map(([name, key_ops]): Entry => [
      `key_ops ${name}`,
      'RFC 7517 section 4.3',
      { ...jwk, key_ops },
    ]),
    ...algorithms.map(([name, alg]): Entry => [
      `an alg ${name} of an RSA key`,
      'RFC 7517 section 4.4',
      { ...jwk, alg },
    ]),
    [
      'a use for signatures and key_ops for encryption',
      'RFC 7517 section 4.3',
      { ...jwk, use: 'sig', key_ops: ['encrypt'] },
    ],
    [
      'key_ops for signatures and a use for encryption',
      'RFC 7517 section 4.3',
      { ...jwk, use: 'enc', key_ops: ['verify'] },
    ],
  ]
}

function points({ issuer, stranger }: TokenMaker): readonly Entry[] {
  const curve = 'RFC 8725 section 3.4; RFC 7518 section 6.2.1'
  const ec = (jwk: JsonWebKey): readonly Entry[] => {
    const curveName = String(jwk.crv)
    const [x, y] = [jwk.x, jwk.y].map((text) => Buffer.from(text ?? '', 'base64url'))
    if (x === undefined || y === undefined) return []
    const width = x.length
    const with1 = (more: object) => ({ ...jwk, ...more })
    return [
      [`a point off ${curveName}`, curve, with1({ y: encode(toOctets(toInteger(y) ^ 1n, width)) })],
      [
        `a point with its coordinates exchanged, off ${curveName}`,
        curve,
        with1({ x: jwk.y, y: jwk.x }),
      ],
      [
        `the point of zeros on ${curveName}`,
        curve,
        with1({ x: encode(Buffer.alloc(width)), y: encode(Buffer.alloc(width)) }),
      ],
      [
        `the point of all ones on ${curveName}`,
        curve,
        with1({ x: encode(Buffer.alloc(width, 0xff)), y: encode(Buffer.alloc(width, 0xff)) }),
      ],
      [
        `an x of ${curveName} with a zero in front`,
        'RFC 7518 section 6.2.1.2',
        with1({ x: encode(Buffer.concat([Buffer.of(0), x])) }),
      ],
      [
        `an x of ${curveName} less its last octet`,
        'RFC 7518 section 6.2.1.2',
        with1({ x: encode(x.subarray(0, -1)) }),
      ],
      [
        `a y of ${curveName} with a zero behind`,
        'RFC 7518 section 6.2.1.3',
        with1({ y: encode(Buffer.concat([y, Buffer.of(0)])) }),
      ],
      [
        `a compressed point of ${curveName}`,
        'RFC 7518 section 6.2.1.3',
        with1({ x: encode(Buffer.concat([Buffer.of(2), x])), y: undefined }),
      ],
      [
        `an uncompressed point of ${curveName} as its x`,
        'RFC 7518 section 6.2.1.2',
        with1({ x: encode(Buffer.concat([Buffer.of(4), x, y])), y: undefined }),
      ],
      [`a y of ${curveName} that is a sign`, 'RFC 7518 section 6.2.1.3', with1({ y: true })],
      [
        `a point of ${curveName} under the name of another curve`,
        'RFC 7518 section 6.2.1.1',
        with1({ crv: jwk.crv === 'P-256' ? 'P-384' : 'P-256' }),
      ],
    ]
  }
  const { jwk } = issuer.ed25519
  const x = Buffer.from(jwk.x ?? '', 'base64url')
  const okp = (text: unknown) => ({ ...jwk, x: text })
  const small: readonly (readonly [string, string])[] = [
    ['the neutral point', `01${'00'.repeat(31)}`],
    ['the neutral point with a sign', `01${'00'.repeat(30)}80`],
    ['the point of order 2', `ec${'ff'.repeat(30)}7f`],
    ['a point of order 4', '00'.repeat(32)],
    ['the other point of order 4', `${'00'.repeat(31)}80`],
    ['a point of order 8', '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05'],
    [
      'a second point of order 8',
      '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
    ],
    [
      'a third point of order 8',
      'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
    ],
    [
      'a fourth point of order 8',
      'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
    ],
    ['a point of order 4 whose y is p', `ed${'ff'.repeat(30)}7f`],
    ['the neutral point whose y is p + 1', `ee${'ff'.repeat(30)}7f`],
    ['a point whose y is 2^255 - 1', `${'ff'.repeat(31)}7f`],
  ]
  return [
    ...jwksOf(issuer)
      .filter(({ kty }) => kty === 'EC')
      .flatMap(ec),
    ...small.map(([name, hex]): Entry => [
      `${name} of Ed25519, with which anybody can sign`,
      'RFC 8032 section 5.1.3; RFC 8725 section 3.4',
      okp(encode(Buffer.from(hex, 'hex'))),
    ]),
    ['an Ed25519 key of 31 octets', 'RFC 8037 section 2', okp(encode(x.subarray(0, 31)))],
    [
      'an Ed25519 key of 33 octets',
      'RFC 8037 section 2',
      okp(encode(Buffer.concat([x, Buffer.of(0)]))),
    ],
    ['an Ed25519 key of no octets', 'RFC 8037 section 2', okp('')],
    ['an Ed25519 key that is missing', 'RFC 8037 section 2', okp(undefined)],
    ['an Ed25519 key in two parts', 'RFC 8037 section 2', okp([stranger.ed25519.jwk.x])],
  ]
}

function jwkOf({ publicKey }: { publicKey: KeyObject }): JsonWebKey {
  return publicKey.export({ format: 'jwk' })
}

/** Good keys of kinds that verify no token here. */
function kinds({ issuer }: TokenMaker): readonly Entry[] {
  const crv: readonly (readonly [string, unknown])[] = [
    ['that is missing', undefined],
    ['in small letters', 'p-256'],
    ['as OpenSSL calls it', 'prime256v1'],
    ['in an array', ['P-256']],
    ['of null', null],
  ]
  return [
    [
      'a key on secp256k1',
      'RFC 8812 section 3',
      jwkOf(generateKeyPairSync('ec', { namedCurve: 'secp256k1' })),
    ],
    ['a key of X25519', 'RFC 8037 section 2', jwkOf(generateKeyPairSync('x25519'))],
    ['a key of X448', 'RFC 8037 section 2', jwkOf(generateKeyPairSync('x448'))],
    ['a key of Ed448', 'RFC 8037 section 2', jwkOf(generateKeyPairSync('ed448'))],
    ...crv.map(([name, value]): Entry => [
      `a crv ${name}`,
      'RFC 7518 section 6.2.1.1',
      { ...issuer.p256.jwk, crv: value },
    ]),
  ]
}

function noEntries({ issuer, token }: TokenMaker): readonly Entry[] {
  const { jwk } = issuer.rsa
  const entries: readonly (readonly [string, unknown])[] = [
    ['null', null],
    ['true', true],
    ['a number', 17],
    ['text', 'a key'],
    ['a key as text', JSON.stringify(jwk)],
    ['a key in an array', [jwk]],
    ['an empty object', {}],
    ['a set of keys', { keys: [jwk] }],
    ['a token', token()],
  ]
  return entries.map(([name, entry]) => [`an entry that is ${name}`, 'RFC 7517 section 5.1', entry])
}

/** The first sizes on the right side of a limit: a key that counts does not prove our token. */
function usable({ token }: TokenMaker): readonly Row[] {
  const keys: readonly (readonly [string, string, JsonWebKey])[] = [
    ['a modulus of 2048 bits', 'RFC 7518 section 3.3', rsaOf(2048)],
    ['a modulus of 2049 bits', 'RFC 7518 section 3.3', rsaOf(2049)],
    ['a modulus of 8192 bits', 'RFC 7518 section 3.3', rsaOf(8192)],
    ['an exponent of 3', 'RFC 8017 section 3.1', { ...rsaOf(2048), e: 'Aw' }],
    [
      'an exponent of 2^32 - 1',
      'RFC 8017 section 3.1',
      { ...rsaOf(2048), e: encode(Buffer.alloc(4, 0xff)) },
    ],
  ]
  return keys.map(([name, source, key]) => ({
    name: `our token where the only key, not ours, has ${name}`,
    source,
    verdict: 'signature',
    document: key,
    token: token(),
  }))
}

function withSignOctet(text = ''): string {
  return encode(Buffer.concat([Buffer.of(0), Buffer.from(text, 'base64url')]))
}

/** Our own key in every dress that is allowed. */
function unusualKeys({ issuer, lowExponent, token }: TokenMaker): readonly Row[] {
  const { jwk, privateKey } = issuer.rsa
  const p256 = issuer.p256
  const documents: readonly (readonly [string, string, Answer])[] = [
    ['alone, without a set', 'RFC 7517 section 4', jwk],
    [
      'alone, with nothing but its numbers',
      'RFC 7518 section 6.3.1',
      { kty: jwk.kty, n: jwk.n, e: jwk.e },
    ],
    [
      'with a sign octet before the modulus, as some encoders write',
      'RFC 7518 section 6.3.1.1',
      { ...jwk, n: withSignOctet(jwk.n) },
    ],
    [
      'with a sign octet before the exponent',
      'RFC 7518 section 6.3.1.2',
      { ...jwk, e: withSignOctet(jwk.e) },
    ],
    [
      'with its private part, by mistake',
      'RFC 7518 section 6.3.2',
      { ...privateKey.export({ format: 'jwk' }), kid: jwk.kid },
    ],
    [
      'with a private part that is not its own',
      'RFC 7518 section 6.3.2',
      { ...jwk, d: 'AQAB', p: 'Aw', q: 'Aw' },
    ],
    [
      'with a certificate that is none',
      'RFC 7517 section 4.7',
      { ...jwk, x5c: ['no certificate'], x5t: 17 },
    ],
    [
      'with members that nobody knows',
      'RFC 7517 section 4',
      { ...jwk, iat: 1, ext: true, x: { y: [] } },
    ],
    [
      'with a member __proto__, which stays where it is',
      'CWE-1321',
      { keys: [withProto(jwk, { use: 'enc', alg: 'none' })] },
    ],
    [
      'with a member of another kind of key',
      'RFC 7517 section 4',
      { ...jwk, crv: 'P-256', x: 'AAAA', k: 'AAAA' },
    ],
    [
      'for signatures, in both words',
      'RFC 7517 section 4.3',
      { ...jwk, use: 'sig', key_ops: ['verify'] },
    ],
    [
      'with more operations than one',
      'RFC 7517 section 4.3',
      { ...jwk, key_ops: ['sign', 'verify'] },
    ],
    [
      'with a kid that is a number, and so no name',
      'RFC 7517 section 4.5',
      { keys: [{ ...jwk, kid: 17 }] },
    ],
    ['with padding behind its modulus', 'RFC 4648 section 3.2', { ...jwk, n: `${jwk.n}==` }],
    [
      'in plain base64',
      'RFC 4648 section 4',
      { ...jwk, n: Buffer.from(jwk.n ?? '', 'base64url').toString('base64') },
    ],
    [
      'with members of null, which are none',
      'RFC 7517 section 4',
      JSON.stringify(jwk).replace('{', '{"use":null,"key_ops":null,"x5c":null,"d":null,'),
    ],
    ['twice in a set', 'RFC 7517 section 5', { keys: [jwk, jwk] }],
    [
      'in a set behind 499 entries that cannot be used',
      'RFC 7517 section 5',
      { keys: [...Array.from({ length: 499 }, () => ({ kty: 'oct' })), jwk] },
    ],
    [
      'twice in a set, the first time for encryption',
      'RFC 7517 section 4.2',
      { keys: [{ ...jwk, use: 'enc' }, jwk] },
    ],
    [
      'in a set with more members',
      'RFC 7517 section 5',
      { keys: [jwk], issuer: 'x', next: 'https://other.test' },
    ],
    [
      'in a set behind white space',
      'RFC 8259 section 2',
      `\n\t ${JSON.stringify({ keys: [jwk] })} \r\n`,
    ],
    [
      'in a set beside a thousand levels',
      'RFC 7517 section 5',
      `{"deep":${'['.repeat(999)}${']'.repeat(999)},"keys":[${JSON.stringify(jwk)}]}`,
    ],
    [
      'in a set with escaped names',
      'RFC 8259 section 8.3',
      JSON.stringify({ keys: [jwk] }).replace('"keys"', String.raw`"\u006beys"`),
    ],
  ]
  return [
    ...documents.map(([name, source, document]): Row => ({
      name: `our key ${name}`,
      source,
      verdict: 'accepted',
      document,
      token: token(),
    })),
    {
      name: 'our other key, with an exponent of 3',
      source: 'RFC 8017 section 3.1',
      verdict: 'accepted',
      document: lowExponent.jwk,
      token: token({ by: lowExponent }),
    },
    {
      name: 'our key on P-256 with its private part, by mistake',
      source: 'RFC 7518 section 6.2.2',
      verdict: 'accepted',
      options: { algorithms: ['ES256'] },
      document: { ...p256.privateKey.export({ format: 'jwk' }), kid: p256.jwk.kid },
      token: token({ alg: 'ES256' }),
    },
  ]
}

/** Tokens that a hostile entry beside our key would prove, if it counted. */
function forgeries(maker: TokenMaker): readonly Row[] {
  const { issuer, stranger, token } = maker
  const one = { ...rsaOf(2048), e: 'AQ' }
  const short = pairOf(generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey, 'short')
  const neutral = encode(Buffer.from(`01${'00'.repeat(31)}`, 'hex'))
  const { jwk } = stranger.rsa
  const hostile: readonly (readonly [string, string, JsonWebKey, (kid: string) => string])[] = [
    [
      'with an exponent of 1, signed by nobody',
      'RFC 8017 section 3.1; RFC 8725 section 3.4',
      one,
      (kid) => {
        const input = signingInput({ alg: 'RS512', by: issuer.rsa, header: { kid } })
        return withSignature(input, padded(digestInfo('sha512', digest('sha512', input)), 256))
      },
    ],
    [
      'of the neutral point, signed by nobody',
      'RFC 8032 section 5.1.3; RFC 8725 section 3.4',
      { kty: 'OKP', crv: 'Ed25519', x: neutral },
      (kid) => {
        const input = signingInput({ alg: 'EdDSA', by: issuer.ed25519, header: { kid } })
        return withSignature(
          input,
          Buffer.concat([Buffer.from(neutral, 'base64url'), Buffer.alloc(32)]),
        )
      },
    ],
    [
      'of 1024 bits',
      'RFC 7518 section 3.3',
      short.jwk,
      (kid) => token({ by: short, header: { kid } }),
    ],
    [
      'for encryption',
      'RFC 7517 section 4.2',
      { ...jwk, use: 'enc' },
      (kid) => token({ by: stranger.rsa, header: { kid } }),
    ],
    [
      'to be wrapped with',
      'RFC 7517 section 4.3',
      { ...jwk, key_ops: ['wrapKey'] },
      (kid) => token({ by: stranger.rsa, header: { kid } }),
    ],
    [
      'for another algorithm',
      'RFC 7517 section 4.4',
      { ...jwk, alg: 'RS256' },
      (kid) => token({ by: stranger.rsa, header: { kid } }),
    ],
  ]
  const keys = jwksOf(issuer)
  return hostile.flatMap(([name, source, key, forged]) => [
    {
      name: `a token for a key ${name}, under its own name`,
      source,
      verdict: 'unknown_key',
      options: { algorithms: ALGORITHMS },
      document: { keys: [{ ...key, kid: 'hostile' }, ...keys] },
      token: forged('hostile'),
    },
    {
      name: `a token for a key ${name}, in our name`,
      source,
      verdict: 'signature',
      options: { algorithms: ALGORITHMS },
      document: {
        keys: [key, ...keys].map((each) => Object.assign({}, each, { kid: 'ours' })),
      },
      token: forged('ours'),
    },
  ])
}

function noDocuments({ issuer, token, canary }: TokenMaker): readonly Row[] {
  const { jwk } = issuer.rsa
  const set = JSON.stringify({ keys: [jwk] })
  const documents: readonly (readonly [string, string, Answer])[] = [
    ['nothing', 'RFC 8259 section 2', ''],
    ['white space', 'RFC 8259 section 2', ' \n'],
    [
      'a set beside more than a thousand levels',
      'RFC 8259 section 9',
      `{"deep":${'['.repeat(1000)}${']'.repeat(1000)},"keys":[${JSON.stringify(jwk)}]}`,
    ],
    [
      'a set behind 500 entries that cannot be used',
      'RFC 8259 section 9',
      { keys: [...Array.from({ length: 500 }, () => ({ kty: 'oct' })), jwk] },
    ],
    ['null', 'RFC 7517 section 5', 'null'],
    ['true', 'RFC 7517 section 5', 'true'],
    ['a number', 'RFC 7517 section 5', '17'],
    ['text', 'RFC 7517 section 5', '"a key"'],
    ['a set as text', 'RFC 7517 section 5', JSON.stringify(set)],
    ['an array of keys', 'RFC 7517 section 5', [jwk]],
    ['an empty object', 'RFC 7517 section 5', {}],
    ['an empty set', 'RFC 7517 section 5.1', { keys: [] }],
    ['a set of null', 'RFC 7517 section 5.1', { keys: null }],
    ['a set of text', 'RFC 7517 section 5.1', { keys: set }],
    ['a set that is a key', 'RFC 7517 section 5.1', { keys: jwk }],
    ['a set that is nearly an array', 'RFC 7517 section 5.1', { keys: { 0: jwk, length: 1 } }],
    ['a set by name', 'RFC 7517 section 5.1', { keys: { [jwk.kid]: jwk } }],
    ['a set in other letters', 'RFC 7517 section 5', { Keys: [jwk] }],
    ['a set one level down', 'RFC 7517 section 5', { jwks: { keys: [jwk] } }],
    ['a key one level down', 'RFC 7517 section 4', { key: jwk }],
    ['a set that its prototype has', 'CWE-1321', `{"__proto__":${set}}`],
    ['a key that its prototype has', 'CWE-1321', `{"__proto__":${JSON.stringify(jwk)}}`],
    ['a key that an empty set hides', 'RFC 7517 section 5', { ...jwk, keys: [] }],
    ['the place of another document', 'RFC 8725 section 3.10', { jwks_uri: canary }],
    ['a token around a set', 'RFC 7515 section 3.1', token({ payloadText: set })],
    [
      'a key as PEM',
      'RFC 7517 section 4',
      '-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----\n',
    ],
    ['a web page', 'RFC 8259 section 2', '<!doctype html><title>Log in</title>'],
    ['a set cut short', 'RFC 8259 section 2', set.slice(0, -1)],
    ['two sets', 'RFC 8259 section 2', `${set}\n${set}`],
    ['a set with a comment', 'RFC 8259 section 2', set.replace('{', '{/* keys */')],
    ['a set with a comma too many', 'RFC 8259 section 5', set.replace(']', ',]')],
    ['a set in single quotes', 'RFC 8259 section 7', set.replaceAll('"', "'")],
    ['a set in a call', 'RFC 8259 section 2', `callback(${set})`],
    ['a set behind a guard against scripts', 'RFC 8259 section 2', `)]}',\n${set}`],
    ['a set in UTF-16', 'RFC 8259 section 8.1', Buffer.from(set, 'utf16le')],
    [
      'a set with an octet that is no UTF-8',
      'RFC 3629 section 3',
      Buffer.concat([Buffer.from('{"x":"'), Buffer.of(0xff), Buffer.from(`",${set.slice(1)}`)]),
    ],
    ['a hundred thousand brackets', 'RFC 8259 section 9', '['.repeat(100_000)],
    [
      'a hundred thousand brackets that close',
      'RFC 8259 section 9',
      `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
    ],
    [
      'a hundred thousand objects in each other',
      'RFC 8259 section 9',
      `${'{"keys":'.repeat(100_000)}1${'}'.repeat(100_000)}`,
    ],
  ]
  return [
    ...documents.map(([name, source, document]): Row => ({
      name: `a document of ${name}`,
      source,
      verdict: 'bad_document',
      document,
      token: token(),
    })),
    ...[301, 302, 303, 307, 308].map((status): Row => ({
      name: `a document that status ${status} says is elsewhere`,
      source: 'RFC 8725 section 3.10; CWE-918',
      verdict: 'unreachable',
      document: new Response(null, { status, headers: { location: `${canary}/jwks.json` } }),
      token: token(),
    })),
  ]
}

function strangers(count: number, more: object = {}): readonly object[] {
  return Array.from({ length: count }, (_, at) => ({
    ...rsaOf(2048),
    kid: `stranger ${at}`,
    ...more,
  }))
}

/** More keys than are read, and more than are tried. */
function crowds({ issuer, token }: TokenMaker): readonly Row[] {
  const { jwk } = issuer.rsa
  const crowd = strangers(100)
  const nameless = token({ header: { kid: undefined } })
  const rows: readonly (readonly [string, Row['verdict'], readonly unknown[], string])[] = [
    ['99 keys before ours', 'accepted', [...crowd.slice(1), jwk], token()],
    ['100 keys before ours, which is no longer read', 'unknown_key', [...crowd, jwk], token()],
    ['100 keys behind ours', 'accepted', [jwk, ...crowd], token()],
    [
      '1000 entries before ours that are no keys',
      'accepted',
      [...Array.from({ length: 1000 }, () => ({})), jwk],
      token(),
    ],
    [
      '7 keys before ours that a token without a name may mean',
      'accepted',
      [...crowd.slice(0, 7), jwk],
      nameless,
    ],
    [
      '8 keys before ours that a token without a name may mean',
      'signature',
      [...crowd.slice(0, 8), jwk],
      nameless,
    ],
    [
      '8 keys before ours, and a token with a name',
      'accepted',
      [...crowd.slice(0, 8), jwk],
      token(),
    ],
    [
      '8 keys of our name before ours',
      'signature',
      [...strangers(8, { kid: jwk.kid }), jwk],
      token(),
    ],
    [
      '50 keys without a name before ours',
      'accepted',
      [...strangers(50, { kid: undefined }), jwk],
      token(),
    ],
    [
      '50 keys for other algorithms before ours',
      'accepted',
      [...strangers(50, { alg: 'RS256' }), jwk],
      nameless,
    ],
  ]
  return rows.map(([name, verdict, keys, text]) => ({
    name,
    source: 'RFC 7515 section 4.1.4; CWE-770',
    verdict,
    document: { keys },
    token: text,
  }))
}

/** Where an issuer says that its keys are: to be believed of itself, and of places that can be trusted on the way. */
function metadata({ token, canary }: TokenMaker): readonly Row[] {
  const keyUrl = `${ISSUER}/main.json`
  const wrong: readonly (readonly [string, string, Answer])[] = [
    [
      'of another issuer',
      'RFC 8414 section 3.3',
      { issuer: 'https://other.test', jwks_uri: keyUrl },
    ],
    [
      'of an issuer with a slash more',
      'RFC 8414 section 3.3',
      { issuer: `${ISSUER}/`, jwks_uri: keyUrl },
    ],
    [
      'of an issuer in capitals',
      'RFC 8414 section 3.3',
      { issuer: ISSUER.toUpperCase(), jwks_uri: keyUrl },
    ],
    ['of issuers in an array', 'RFC 8414 section 3.3', { issuer: [ISSUER], jwks_uri: keyUrl }],
    ['of nobody', 'RFC 8414 section 2', { jwks_uri: keyUrl }],
    ['without keys', 'RFC 8414 section 2', { issuer: ISSUER }],
    ['with keys at null', 'RFC 8414 section 2', { issuer: ISSUER, jwks_uri: null }],
    ['with keys at two places', 'RFC 8414 section 2', { issuer: ISSUER, jwks_uri: [keyUrl] }],
    [
      'with keys at a relative place',
      'RFC 8414 section 2',
      { issuer: ISSUER, jwks_uri: '/main.json' },
    ],
    [
      'with keys at a place without a scheme',
      'RFC 8414 section 2',
      { issuer: ISSUER, jwks_uri: canary.replace('http:', '') },
    ],
    [
      'with keys in the open',
      'RFC 8414 section 2; CWE-918',
      { issuer: ISSUER, jwks_uri: 'http://auth.test/main.json' },
    ],
    [
      'with keys at a cloud\u2019s own address',
      'RFC 8414 section 2; CWE-918',
      { issuer: ISSUER, jwks_uri: 'http://169.254.169.254/latest/meta-data' },
    ],
    [
      'with keys at an address in another notation',
      'RFC 8414 section 2; CWE-918',
      { issuer: ISSUER, jwks_uri: 'http://0xa9fea9fe/' },
    ],
    [
      'with keys in a file',
      'RFC 8414 section 2; CWE-918',
      { issuer: ISSUER, jwks_uri: 'file:///etc/passwd' },
    ],
    [
      'with keys in the URL itself',
      'RFC 8414 section 2',
      { issuer: ISSUER, jwks_uri: 'data:application/json,{}' },
    ],
    [
      'with keys over FTP',
      'RFC 8414 section 2; CWE-918',
      { issuer: ISSUER, jwks_uri: 'ftp://auth.test/main.json' },
    ],
    [
      'with keys in a script',
      'RFC 8414 section 2',
      { issuer: ISSUER, jwks_uri: 'javascript:alert(1)' },
    ],
    [
      'with keys behind a password',
      'RFC 8414 section 2',
      { issuer: ISSUER, jwks_uri: 'https://a:b@auth.test/main.json' },
    ],
    [
      'with members that its prototype has',
      'CWE-1321',
      JSON.stringify({ proto: { issuer: ISSUER, jwks_uri: keyUrl } }).replace('proto', '__proto__'),
    ],
    ['that is an array', 'RFC 8414 section 3.2', [{ issuer: ISSUER, jwks_uri: keyUrl }]],
    ['that is null', 'RFC 8414 section 3.2', 'null'],
    ['that is no JSON', 'RFC 8414 section 3.2', '<html>'],
  ]
  const right: readonly (readonly [string, Answer])[] = [
    ['as they should be', { issuer: ISSUER, jwks_uri: keyUrl }],
    ['with members that nobody knows', { issuer: ISSUER, jwks_uri: keyUrl, x: [{}] }],
    ['with a fragment behind the place of the keys', { issuer: ISSUER, jwks_uri: `${keyUrl}#x` }],
  ]
  return [
    ...wrong.map(([name, source, answer]): Row => ({
      name: `metadata ${name}`,
      source,
      verdict: 'bad_document',
      metadata: answer,
      token: token(),
      requests: 2,
    })),
    ...right.map(([name, answer]): Row => ({
      name: `metadata ${name}`,
      source: 'RFC 8414 section 3.2',
      verdict: 'accepted',
      metadata: answer,
      token: token(),
      requests: 2,
    })),
  ]
}

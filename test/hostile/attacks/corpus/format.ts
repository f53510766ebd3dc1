import { deflateRawSync } from 'node:zlib'

import type { Row } from './row.ts'
import { encode, type TokenMaker, segmentsOf, withSignature } from './token-maker.ts'

/** What is no compact JWS, whatever it contains. */
export function format(maker: TokenMaker): readonly Row[] {
  return [
    ...notTexts(maker),
    ...cuts(maker),
    ...wrappings(maker),
    ...serializations(maker),
    ...odd(maker),
  ]
}

/** @param requests What is wrong with a payload is found when a key has proven the signature. */
function malformed(
  source: string,
  rows: readonly (readonly [string, unknown])[],
  requests = 0,
): Row[] {
  return rows.map(([name, token]) => ({
    name,
    source,
    verdict: 'malformed',
    token,
    requests,
  }))
}

function notTexts({ token }: TokenMaker): readonly Row[] {
  const good = token()
  return malformed('RFC 7515 section 7.1', [
    ['nothing', undefined],
    ['null', null],
    ['true', true],
    ['a number', 17],
    ['NaN', Number.NaN],
    ['a big integer', 17n],
    ['a symbol', Symbol(good)],
    ['a function that returns a token', () => good],
    ['a token in an array, which becomes that token as text', [good]],
    ['the segments of a token in an array', good.split('.')],
    ['a token as a String object', Object(good)],
    ['a token as octets', Buffer.from(good)],
    ['an object that becomes a token as text', { toString: () => good }],
    ['an object that becomes a token as a primitive', { [Symbol.toPrimitive]: () => good }],
    ['an object with the length and the methods of a token', disguised(good)],
    ['a proxy that throws at every touch', untouchable()],
    ['a promise of a token', Promise.resolve(good)],
  ])
}

function disguised(text: string): object {
  return {
    length: text.length,
    indexOf: text.indexOf.bind(text),
    slice: text.slice.bind(text),
    split: text.split.bind(text),
  }
}

function untouchable(): object {
  return new Proxy({}, { get: refuse, has: refuse, getPrototypeOf: refuse, ownKeys: refuse })
}

function refuse(): never {
  throw new RangeError('touched')
}

function cuts({ token }: TokenMaker): readonly Row[] {
  const good = token()
  const [header, payload, signature] = segmentsOf(good)
  return [
    ...malformed('RFC 7515 section 7.1', [
      ['an empty text', ''],
      ['a dot', '.'],
      ['two dots', '..'],
      ['three dots', '...'],
      ['one segment', header],
      ['two segments', `${header}.${payload}`],
      ['four segments', `${good}.${signature}`],
      ['a dot in front', `.${good}`],
      ['a dot behind', `${good}.`],
      ['two dots after the header', `${header}..${payload}.${signature}`],
      ['two dots after the payload', `${header}.${payload}..${signature}`],
      ['two tokens, one after the other', `${good}${good}`],
      ['two tokens with a dot between them', `${good}.${good}`],
      ['no dots at all', `${header}${payload}${signature}`],
      ['slashes for dots', good.replaceAll('.', '/')],
      ['dots as a form encodes them', good.replaceAll('.', '%2E')],
      ['full-width dots', good.replaceAll('.', '\uFF0E')],
      ['ideographic full stops, which become dots in host names', good.replaceAll('.', '\u3002')],
      ['segments in reverse', `${signature}.${payload}.${header}`],
    ]),
    ...malformed('RFC 7515 section 5.2', [
      ['no header', `.${payload}.${signature}`],
      [
        'a header of another encoding',
        `${Buffer.from(header).toString('hex')}.${payload}.${signature}`,
      ],
      ['the header alone in its place, unencoded', `{"alg":"RS512"}.${payload}.${signature}`],
      ['a header encoded twice', `${encode(header)}.${payload}.${signature}`],
      ['an octet in place of the header', `AA.${payload}.${signature}`],
    ]),
    ...malformed('RFC 7515 appendix F', [
      ['a detached payload', `${header}..${signature}`],
      ['nothing but a header', `${header}..`],
    ]),
    ...malformed('RFC 7519 section 6; RFC 8725 section 3.2', [
      ['no signature', `${header}.${payload}.`],
      ['nothing but a payload', `.${payload}.`],
      ['an unsecured JWT', `${encode('{"alg":"none"}')}.${payload}.`],
    ]),
  ]
}

const INVISIBLE = [
  ['a space', ' '],
  ['a tab', '\t'],
  ['a line feed', '\n'],
  ['a carriage return and a line feed', '\r\n'],
  ['a form feed', '\f'],
  ['NUL', '\0'],
  ['a no-break space', '\u00A0'],
  ['a zero-width space', '\u200B'],
  ['a byte order mark', '\uFEFF'],
  ['a line separator', '\u2028'],
  ['DEL', '\u007F'],
] as const

function wrappings({ token }: TokenMaker): readonly Row[] {
  const good = token()
  const [header, payload, signature] = segmentsOf(good)
  return [
    ...INVISIBLE.flatMap(([name, character]) =>
      malformed('RFC 7515 section 2', [
        [`${name} before the token`, `${character}${good}`],
        [`${name} after the token`, `${good}${character}`],
        [`${name} before a dot`, `${header}${character}.${payload}.${signature}`],
        [`${name} after a dot`, `${header}.${payload}.${character}${signature}`],
      ]),
    ),
    ...malformed('RFC 6750 section 2.1', [
      ['the scheme before the token', `Bearer ${good}`],
      ['a token in quotes', `"${good}"`],
      ['a token in angle brackets', `<${good}>`],
      ['a token and a comma', `${good},`],
      ['two tokens in a list', `${good}, ${good}`],
      ['a token and a parameter', `${good};realm=api`],
      ['a token as a form field', `access_token=${good}`],
      ['a token as a URL', `data:application/jwt,${good}`],
      ['a token and a comment', `${good}#`],
      ['the token encoded once more', encode(good)],
    ]),
  ]
}

function serializations({ token, issuer, stranger }: TokenMaker): readonly Row[] {
  const good = token()
  const [protectedHeader, payload, signature] = segmentsOf(good)
  const one = { protected: protectedHeader, signature }
  const flattened = { payload, ...one }
  const encrypted = [
    encode('{"alg":"RSA-OAEP-256","enc":"A256GCM"}'),
    'AAAA',
    'AAAA',
    payload,
    'AAAA',
  ]
  return [
    ...malformed('RFC 7515 section 7.2', [
      ['the flattened serialization, as text', JSON.stringify(flattened)],
      ['the flattened serialization, as an object', flattened],
      ['the general serialization, as text', JSON.stringify({ payload, signatures: [one] })],
      ['the general serialization, as an object', { payload, signatures: [one] }],
      [
        'the algorithm in an unprotected header',
        JSON.stringify({ payload, signature, protected: encode('{}'), header: { alg: 'RS512' } }),
      ],
    ]),
    ...malformed('RFC 7516 section 7.1; CVE-2026-29000', [
      ['an encrypted token, for which the public key is all that is needed', encrypted.join('.')],
      [
        'an encrypted token of direct encryption',
        [encode('{"alg":"dir","enc":"A256GCM"}'), '', 'AAAA', payload, 'AAAA'].join('.'),
      ],
      [
        'an encrypted token whose password costs a thousand million rounds',
        [
          encode('{"alg":"PBES2-HS512+A256KW","enc":"A256GCM","p2c":1000000000,"p2s":"AAAA"}'),
          ...encrypted.slice(1),
        ].join('.'),
      ],
      [
        'an encrypted token with a compressed body',
        [
          encode('{"alg":"dir","enc":"A256GCM","zip":"DEF"}'),
          '',
          'AAAA',
          deflateRawSync(Buffer.alloc(100_000)).toString('base64url'),
          'AAAA',
        ].join('.'),
      ],
    ]),
    ...malformed(
      'RFC 7519 section 5.2; RFC 8725 section 3.3',
      [
        ['a signed token in a signed token', token({ payloadText: good, header: { cty: 'JWT' } })],
        [
          'a token of a stranger in a signed token',
          token({ payloadText: token({ by: stranger.rsa }), header: { cty: 'JWT' } }),
        ],
        [
          'an unsecured token in a signed token',
          token({
            payloadText: `${encode('{"alg":"none"}')}.${payload}.`,
            header: { cty: 'JWT' },
          }),
        ],
        ['a payload encoded twice', token({ payloadText: payload })],
      ],
      1,
    ),
    ...malformed(
      'RFC 7516 section 4.1.3; CVE-2024-28176',
      [
        [
          'a compressed payload, which no JWS has',
          token({
            payloadText: deflateRawSync(Buffer.from(JSON.stringify({ sub: 'ada' }))),
            header: { zip: 'DEF' },
          }),
        ],
        [
          'a payload of ten kilobytes that inflates to ten megabytes',
          token({ payloadText: deflateRawSync(Buffer.alloc(10_000_000)), header: { zip: 'DEF' } }),
        ],
      ],
      1,
    ),
    ...malformed('RFC 7797 section 3', [
      [
        'an unencoded payload in the middle',
        withSignature(`${protectedHeader}.{"sub":"ada"}`, Buffer.from(signature, 'base64url')),
      ],
    ]),
    ...malformed('RFC 9901 section 4', [
      ['a token with disclosures behind it', `${good}~${encode('["salt","admin",true]')}~`],
    ]),
    ...malformed('RFC 7517 section 4', [
      ['the public key instead of a token', JSON.stringify(issuer.rsa.jwk)],
      [
        'the public key as PEM instead of a token',
        '-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----',
      ],
    ]),
  ]
}

function accepted(name: string, token: string): Row {
  return { name, source: 'RFC 7515 section 7.1', verdict: 'accepted', token }
}

function odd({ token }: TokenMaker): readonly Row[] {
  return [
    accepted('a token like any other', token()),
    accepted(
      'a token of little more than its expiry',
      token({ header: { typ: undefined, kid: undefined } }),
    ),
    accepted('a token whose segments have minus signs and underscores', withEveryCharacter(token)),
    {
      ...accepted(
        'the content type of a nested token over plain claims',
        token({ header: { cty: 'JWT' } }),
      ),
      source: 'RFC 7515 section 4.1.10',
    },
    {
      ...accepted(
        'the compression parameter of a JWE over plain claims',
        token({ header: { zip: 'DEF' } }),
      ),
      source: 'RFC 7515 section 4',
    },
    {
      ...accepted('a claim that is a token', token({ claims: { token: token() } })),
      source: 'RFC 7519 section 4.3',
    },
  ]
}

function withEveryCharacter(token: TokenMaker['token']): string {
  const made = token({ claims: { text: '>>>???\u00FF\u00BE\u00FB\u{1F511}>?>?' } })
  const [, payload] = segmentsOf(made)
  if (!/-/.test(payload) || !/_/.test(payload)) throw new RangeError('try another text')
  return made
}

import type { Judgement, Options, Row, Step, Verdict } from './row.ts'
import {
  AUDIENCE,
  type TokenMaker,
  ISSUER,
  type KeyPair,
  NOW,
  segmentsOf,
  withSignature,
} from './token-maker.ts'

/** What one call could leave behind for the next: of the same verifier, of another, of another source of keys. */
export function caches(maker: TokenMaker): readonly Row[] {
  return [
    ...twoVerifiers(maker),
    ...twoSources(maker),
    ...nearlyEqual(maker),
    ...names(maker),
    ...passingTime(maker),
    ...rotations(maker),
    ...outages(maker),
    ...suspicions(maker),
    ...crowds(maker),
  ]
}

const DAY = 86_400

/** A good token of a day, with the claims given. */
function lasting({ token }: TokenMaker, by?: KeyPair, claims: object = {}): string {
  return token({ claims: { exp: NOW + DAY, ...claims }, ...(by === undefined ? {} : { by }) })
}

function judge(token: unknown, verdict: Verdict, more: Partial<Judgement> = {}): Judgement {
  return { token, verdict, ...more }
}

/** One token, two sets of rules, in both orders: no verdict may stand in for another. */
function twoVerifiers(maker: TokenMaker): readonly Row[] {
  const token = lasting(maker)
  const stricter: readonly (readonly [string, string, Verdict, Options])[] = [
    ['another audience', 'RFC 8725 section 3.9', 'audience', { audience: 'other' }],
    ['another issuer', 'RFC 8725 section 3.8', 'issuer', { issuer: 'https://other.test' }],
    ['a type', 'RFC 8725 section 3.12', 'type', { type: 'at+jwt' }],
    ['one more claim', 'RFC 8725 section 3.12', 'missing_claim', { requiredClaims: ['scope'] }],
    ['another algorithm', 'RFC 8725 section 3.1', 'algorithm', { algorithms: ['PS512'] }],
    ['a smaller size', 'CWE-770', 'too_large', { maxTokenSize: 200 }],
  ]
  return [
    ...stricter.flatMap(([name, source, verdict, options]): readonly Row[] => [
      {
        name: `a token that one verifier took, at one that wants ${name}`,
        source,
        verdict,
        options,
        before: [judge(token, 'accepted'), judge(token, 'accepted')],
        token,
        requests: 1,
      },
      {
        name: `a token that a verifier refused that wants ${name}, at one that does not`,
        source,
        verdict: 'accepted',
        before: [judge(token, verdict, { options }), judge(token, verdict, { options })],
        token,
        requests: 1,
      },
      {
        name: `a token at two verifiers at once, of which one wants ${name}`,
        source,
        verdict: 'accepted',
        before: [{ together: [judge(token, verdict, { options }), judge(token, 'accepted')] }],
        token,
        requests: 1,
      },
    ]),
    {
      name: 'an expired token at a patient verifier and then at a strict one',
      source: 'RFC 7519 section 4.1.4',
      verdict: 'expired',
      options: { clockTolerance: 0 },
      before: [judge(maker.token({ claims: { exp: NOW - 1 } }), 'accepted')],
      token: maker.token({ claims: { exp: NOW - 1 } }),
    },
    {
      name: 'a token without an expiry at a verifier that waives it and then at one that does not',
      source: 'RFC 9068 section 2.2',
      verdict: 'missing_claim',
      before: [
        judge(maker.token({ claims: { exp: undefined } }), 'accepted', {
          options: { requireExpiry: false },
        }),
      ],
      token: maker.token({ claims: { exp: undefined } }),
    },
  ]
}

/** Two services in one process: names of keys are each one's own. */
function twoSources(maker: TokenMaker): readonly Row[] {
  const { issuer, stranger } = maker
  const token = lasting(maker)
  const same = { keys: [{ ...stranger.rsa.jwk, kid: issuer.rsa.jwk.kid }] }
  const theirs = maker.token({
    by: stranger.rsa,
    header: { kid: issuer.rsa.jwk.kid },
    claims: { exp: NOW + DAY },
  })
  const source = 'RFC 8725 section 3.8; CVE-2025-59936'
  const other = { serve: same, at: 'other' } as const
  return [
    {
      name: 'a token of one service at another whose key has the same name',
      source,
      verdict: 'signature',
      from: 'other',
      before: [other, judge(token, 'accepted')],
      token,
      requests: 2,
    },
    {
      name: 'a token of the other service, whose key has the same name, at the one',
      source,
      verdict: 'signature',
      before: [
        other,
        judge(theirs, 'accepted', { from: 'other' }),
        judge(token, 'accepted'),
        { pass: 20 },
      ],
      token: theirs,
      requests: 3,
    },
    {
      name: 'tokens of two services whose keys have one name, by turns',
      source,
      verdict: 'accepted',
      before: [
        other,
        judge(token, 'accepted'),
        judge(theirs, 'accepted', { from: 'other' }),
        judge(token, 'accepted'),
      ],
      from: 'other',
      token: theirs,
      requests: 2,
    },
    {
      name: 'a token of one service at another while both fetch their keys',
      source,
      verdict: 'accepted',
      before: [
        other,
        {
          together: [
            judge(token, 'accepted'),
            judge(theirs, 'accepted', { from: 'other' }),
            judge(token, 'signature', { from: 'other' }),
            judge(theirs, 'signature'),
          ],
        },
      ],
      token,
      requests: 2,
    },
    ...[
      ['an algorithm and a colon', `RS512:${issuer.rsa.jwk.kid}`],
      ['a bar and an algorithm', `${issuer.rsa.jwk.kid}|RS512`],
      ['the address of the keys', `https://auth.test/main.json#${issuer.rsa.jwk.kid}`],
      ['NUL and more', `${issuer.rsa.jwk.kid}\0`],
      ['a quote and a comma, as lists of names are printed', `${issuer.rsa.jwk.kid}","`],
    ].map(([name, kid = '']): Row => ({
      name: `a stranger's token in our key's name with ${name}`,
      source: 'CVE-2025-59936; RFC 7515 section 4.1.4',
      verdict: 'unknown_key',
      before: [judge(token, 'accepted'), { pass: 20 }],
      token: maker.token({ by: stranger.rsa, header: { kid } }),
      requests: 2,
    })),
  ]
}

/** A token that has been accepted, and one that is nearly it. */
function nearlyEqual(maker: TokenMaker): readonly Row[] {
  const token = lasting(maker)
  const [header, payload, signature] = segmentsOf(token)
  const [, otherPayload, otherSignature] = segmentsOf(lasting(maker, undefined, { sub: 'eve' }))
  const [strangeHeader] = segmentsOf(maker.token({ header: { typ: 'other' } }))
  const source = 'RFC 7515 section 5.2; CVE-2026-35039'
  const after = [judge(token, 'accepted'), judge(token, 'accepted'), { pass: 20 }] as const
  const signatures: readonly (readonly [string, string])[] = [
    ['another payload', [header, otherPayload, signature].join('.')],
    ['another header', [strangeHeader, payload, signature].join('.')],
    ['the signature of another', [header, payload, otherSignature].join('.')],
    ['the first half of its signature', [header, payload, signature.slice(0, 172)].join('.')],
    ['its signature in other letters', [header, payload, recased(signature)].join('.')],
    ['its payload in other letters', [header, recased(payload), signature].join('.')],
    [
      'its signature and zeros',
      withSignature(
        `${header}.${payload}`,
        Buffer.concat([Buffer.from(signature, 'base64url'), Buffer.alloc(3)]),
      ),
    ],
  ]
  const texts: readonly (readonly [string, string])[] = [
    ['a blank behind it', `${token} `],
    ['padding behind it', `${token}=`],
    ['NUL behind it', `${token}\0`],
    ['a soft hyphen in it', `${token.slice(0, -4)}\u00AD${token.slice(-4)}`],
    ['the other alphabet', token.replace(/[-_]/, '+')],
    [
      'one character as its equal in another block',
      `${token.slice(0, -4)}${String.fromCharCode(token.charCodeAt(token.length - 4) + 256)}${token.slice(-3)}`,
    ],
  ]
  return [
    ...signatures.map(([name, nearly]): Row => ({
      name: `a token that was accepted, with ${name}`,
      source,
      verdict: 'signature',
      before: after,
      token: nearly,
      // What could not be accepted, being no JSON, asks for nothing.
      requests: name === 'its payload in other letters' ? 1 : 2,
    })),
    ...texts.map(([name, nearly]): Row => ({
      name: `a token that was accepted, with ${name}`,
      source: 'RFC 4648 section 3; CVE-2026-35039',
      verdict: 'malformed',
      before: after,
      token: nearly,
      requests: 1,
    })),
    {
      name: 'a token that was accepted, as an object that becomes its text',
      source: 'RFC 7515 section 7.1',
      verdict: 'malformed',
      before: after,
      token: { toString: () => token, length: token.length },
      requests: 1,
    },
    {
      name: 'two tokens of one payload, by two keys',
      source,
      verdict: 'accepted',
      document: { keys: [maker.issuer.rsa.jwk, maker.stranger.rsa.jwk] },
      before: [judge(token, 'accepted')],
      token: lasting(maker, maker.stranger.rsa),
      requests: 1,
    },
  ]
}

function recased(text: string): string {
  return `${text.slice(0, 40).replaceAll(/[a-z]/gi, swapCase)}${text.slice(40)}`
}

function swapCase(letter: string): string {
  return letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase()
}

/**
 * `JSON.parse` of V8 12.8 to 14.6, so of Node 24 and 26, may take a name that has an escape for another one that an
 * earlier text had in the same place, whoever wrote that: the beginning of the escaped spelling, taken literally. Any
 * request's body will do.
 */
function names({ token }: TokenMaker): readonly Row[] {
  const requiredClaims = ['https://api.test/role']
  const rows: readonly (readonly [string, Verdict, string, string, number, Options?])[] = [
    [
      'an extension',
      'critical_header',
      headerWith(String.raw`"\\u00":1`),
      token({ headerText: headerWith(String.raw`"\u0063rit":["x"]`) }),
      0,
    ],
    [
      'a kid that is a number',
      'malformed',
      headerWith(String.raw`"\\u0":1`),
      token({ headerText: headerWith(String.raw`"\u006bid":0`) }),
      0,
    ],
    [
      'a time to come',
      'not_yet_valid',
      payloadWith(String.raw`"\\u0":1`),
      token({ payloadText: payloadWith(String.raw`"\u006ebf":${NOW + 60}`) }),
      1,
    ],
    [
      'a claim that comes twice',
      'malformed',
      payloadWith(String.raw`"x":1,"\\":1`),
      token({ payloadText: payloadWith(String.raw`"x":1,"\u0078":2`) }),
      1,
    ],
    [
      'a claim named by a URL, as PHP writes it,',
      'accepted',
      payloadWith(String.raw`"https:\\/\\/api.test\\/r":1`),
      token({ payloadText: payloadWith(String.raw`"https:\/\/api.test\/role":"user"`) }),
      1,
      { requiredClaims },
    ],
    [
      'a claim beyond ASCII',
      'accepted',
      payloadWith(String.raw`"\\u0":1`),
      token({ payloadText: payloadWith(String.raw`"\u0440\u043e\u043b":"user"`) }),
      1,
      { requiredClaims: ['рол'] },
    ],
  ]
  return rows.map(([name, verdict, parse, text, requests, options]) => ({
    name: `a token with ${name} under an escaped name, after a body with the beginning of its spelling`,
    source: 'RFC 8259 section 8.3',
    verdict,
    options,
    before: [{ parse }],
    token: text,
    requests,
  }))
}

function headerWith(member: string): string {
  return `{"alg":"RS512",${member}}`
}

function payloadWith(member: string): string {
  return `{"iss":"${ISSUER}","aud":"${AUDIENCE}","exp":${NOW + 60},${member}}`
}

/** No verdict outlives what it rests on, and none is kept that time alone would change. */
function passingTime(maker: TokenMaker): readonly Row[] {
  const token = maker.token({ claims: { exp: NOW + 200 } })
  const later = maker.token({ claims: { nbf: NOW + 60 } })
  const recent = lasting(maker)
  const old: Options = { maxTokenAge: 100 }
  return [
    {
      name: 'a token that was accepted, at its expiry',
      source: 'RFC 7519 section 4.1.4',
      verdict: 'expired',
      before: [judge(token, 'accepted'), { pass: 204.5 }, judge(token, 'accepted'), { pass: 0.5 }],
      token,
      requests: 1,
    },
    {
      name: 'a token that was too early, in time',
      source: 'RFC 7519 section 4.1.5',
      verdict: 'accepted',
      before: [
        judge(later, 'not_yet_valid'),
        { pass: 54 },
        judge(later, 'not_yet_valid'),
        { pass: 1 },
      ],
      token: later,
      requests: 1,
    },
    {
      name: 'a token that was accepted, when it is too old',
      source: 'RFC 7519 section 4.1.6',
      verdict: 'too_old',
      options: old,
      before: [judge(recent, 'accepted', { options: old }), { pass: 105.5 }],
      token: recent,
      requests: 1,
    },
  ]
}

/** Longer than any key is used without having been seen again. */
const LONG = 700

function rotations(maker: TokenMaker): readonly Row[] {
  const { issuer, stranger } = maker
  const old = lasting(maker)
  const [oldJwk, newJwk] = [issuer.rsa.jwk, stranger.rsa.jwk]
  const young = lasting(maker, stranger.rsa)
  const youngUnderOldName = maker.token({
    by: stranger.rsa,
    header: { kid: oldJwk.kid },
    claims: { exp: NOW + DAY },
  })
  const rotated: Step = { serve: { keys: [newJwk] } }
  const rotatedUnderOldName: Step = { serve: { keys: [{ ...newJwk, kid: oldJwk.kid }] } }
  const warm: readonly Step[] = [judge(old, 'accepted'), { pass: 20 }]
  const revoked = 'GHSA-675f-rq2r-jw82; RFC 7517 section 5'
  return [
    {
      name: 'a new key, of which its first token tells',
      source: 'RFC 7515 section 4.1.4',
      verdict: 'accepted',
      before: [...warm, rotated],
      token: young,
      requests: 2,
    },
    {
      name: 'a new key under the old name, of which its first token tells',
      source: 'RFC 7517 section 4.5',
      verdict: 'accepted',
      before: [...warm, rotatedUnderOldName],
      token: youngUnderOldName,
      requests: 2,
    },
    {
      name: 'the old key once the new one has been seen',
      source: revoked,
      verdict: 'unknown_key',
      before: [...warm, rotated, judge(young, 'accepted'), { pass: 14.75 }],
      token: old,
      requests: 2,
    },
    {
      name: 'the old key some time after the new one has been seen, which asks whether it is back',
      source: revoked,
      verdict: 'unknown_key',
      before: [...warm, rotated, judge(young, 'accepted'), { pass: 15 }],
      token: old,
      requests: 3,
    },
    {
      name: 'the old key in another token, soon after one has asked whether it is back',
      source: revoked,
      verdict: 'unknown_key',
      before: [
        ...warm,
        rotated,
        judge(young, 'accepted'),
        { pass: 15 },
        judge(old, 'unknown_key'),
        { pass: 29.75 },
      ],
      token: lasting(maker, undefined, { jti: 'another' }),
      requests: 3,
    },
    {
      name: 'the old key once a new one has its name',
      source: revoked,
      verdict: 'signature',
      before: [...warm, rotatedUnderOldName, judge(youngUnderOldName, 'accepted'), { pass: 14.75 }],
      token: old,
      requests: 2,
    },
    {
      name: 'the old key some time after a new one has its name, which asks whether it is back',
      source: revoked,
      verdict: 'signature',
      before: [...warm, rotatedUnderOldName, judge(youngUnderOldName, 'accepted'), { pass: 15 }],
      token: old,
      requests: 3,
    },
    {
      name: 'the old key after its time, though nobody has sent a new token',
      source: revoked,
      verdict: 'unknown_key',
      before: [...warm, rotated, { pass: LONG }],
      token: old,
      requests: 2,
    },
    {
      name: 'the old key when it has come back',
      source: 'RFC 7517 section 5',
      verdict: 'accepted',
      before: [
        ...warm,
        rotated,
        judge(young, 'accepted'),
        { pass: 20 },
        { serve: { keys: [oldJwk] } },
        { pass: LONG },
      ],
      token: old,
      requests: 3,
    },
    {
      name: 'a key that is for another algorithm by now',
      source: 'RFC 7517 section 4.4',
      verdict: 'algorithm',
      before: [...warm, { serve: { keys: [{ ...oldJwk, alg: 'RS256' }] } }, { pass: LONG }],
      token: old,
      requests: 2,
    },
    {
      name: 'a key that is for encryption by now, beside a new one',
      source: 'RFC 7517 section 4.2',
      verdict: 'unknown_key',
      before: [...warm, { serve: { keys: [{ ...oldJwk, use: 'enc' }, newJwk] } }, { pass: LONG }],
      token: old,
      requests: 2,
    },
    {
      name: 'a key that has another name by now, and a token with the old one',
      source: 'RFC 7515 section 4.1.4',
      verdict: 'unknown_key',
      before: [...warm, { serve: { keys: [{ ...oldJwk, kid: 'renamed' }] } }, { pass: LONG }],
      token: old,
      requests: 2,
    },
    {
      name: 'a key that was alone and is one of two by now',
      source: 'RFC 7517 section 5',
      verdict: 'accepted',
      document: oldJwk,
      before: [...warm, { serve: { keys: [newJwk, oldJwk] } }, { pass: LONG }],
      token: old,
      requests: 2,
    },
    {
      name: 'a key that was alone, and took any name, in a set where it takes only its own',
      source: 'RFC 7515 section 4.1.4',
      verdict: 'unknown_key',
      document: oldJwk,
      before: [
        judge(maker.token({ header: { kid: 'any' }, claims: { exp: NOW + DAY } }), 'accepted'),
        { serve: { keys: [oldJwk] } },
        { pass: LONG },
      ],
      token: maker.token({ header: { kid: 'any' }, claims: { exp: NOW + DAY } }),
      requests: 2,
    },
  ]
}

function outages(maker: TokenMaker): readonly Row[] {
  const { stranger } = maker
  const token = lasting(maker)
  const forged = lasting(maker, stranger.rsa)
  const warm: readonly Step[] = [judge(token, 'accepted'), { pass: 20 }]
  const down: Step = { serve: null }
  const junk: Step = { serve: { keys: [{}] } }
  const kept = 'RFC 5861 section 4; GHSA-fhv5-28vv-h8m8'
  return [
    {
      name: 'a known key while its document cannot be had',
      source: kept,
      verdict: 'accepted',
      before: [...warm, down, { pass: LONG }, judge(token, 'accepted'), { pass: 60 }],
      token,
      requests: 3,
    },
    {
      name: 'a known key while its document is junk',
      source: kept,
      verdict: 'accepted',
      before: [...warm, junk, { pass: LONG }],
      token,
      requests: 2,
    },
    {
      name: 'a known key after a forged token found its document gone',
      source: kept,
      verdict: 'accepted',
      before: [...warm, down, judge(forged, 'unreachable')],
      token,
      requests: 2,
    },
    {
      name: 'a known key after a forged token found its document replaced by junk',
      source: kept,
      verdict: 'accepted',
      before: [...warm, junk, judge(forged, 'bad_document')],
      token,
      requests: 2,
    },
    {
      name: 'a known key when its document has been away for too long',
      source: 'RFC 5861 section 4',
      verdict: 'unreachable',
      before: [...warm, down, { pass: 4100 }],
      token,
      requests: 2,
    },
    {
      name: 'a forged token while it cannot be told',
      source: 'GHSA-fhv5-28vv-h8m8',
      verdict: 'unreachable',
      before: [...warm, down],
      token: forged,
      requests: 2,
    },
    {
      name: 'a good token once a document is there that was not',
      source: 'RFC 9110 section 15.6.4',
      verdict: 'accepted',
      before: [down, judge(token, 'unreachable'), { serve: maker.document }, { pass: 40 }],
      token,
      requests: 2,
    },
    {
      name: 'a good token once a document is good that was junk',
      source: 'RFC 9110 section 15.6.4',
      verdict: 'accepted',
      before: [junk, judge(token, 'bad_document'), { serve: maker.document }, { pass: 40 }],
      token,
      requests: 2,
    },
    ...(['algorithm', 'malformed', 'too_large', 'critical_header'] as const).map(
      (verdict): Row => ({
        name: `a token to be refused for ${verdict} while no key can be had`,
        source: 'RFC 8725 section 3.1; CVE-2024-45809',
        verdict,
        before: [down],
        token: withoutKeys(maker, verdict),
        requests: 0,
      }),
    ),
  ]
}

function withoutKeys(
  { token }: TokenMaker,
  verdict: 'algorithm' | 'malformed' | 'too_large' | 'critical_header',
): string {
  switch (verdict) {
    case 'algorithm':
      return token({ header: { alg: 'none' } })
    case 'critical_header':
      return token({ header: { crit: ['x'] } })
    case 'too_large':
      return token({ claims: { pad: 'a'.repeat(20_000) } })
    default:
      return `${token()}.`
  }
}

/** A forged token may ask whether keys have changed: if that is all it lacks, if it has not asked lately, and not often. */
function suspicions(maker: TokenMaker): readonly Row[] {
  const { stranger, issuer } = maker
  const good = lasting(maker)
  const forged = (claims: object = {}, header: object = {}) =>
    maker.token({ by: stranger.rsa, claims: { ...claims }, header: { ...header } })
  const warm: readonly Step[] = [judge(good, 'accepted'), { pass: 20 }]
  const source = 'CWE-770; GHSA-fhv5-28vv-h8m8'
  const hopeless: readonly (readonly [string, object, Options?])[] = [
    ['has expired', { exp: NOW - 60 }],
    ['never says when it expires', { exp: undefined }],
    ['is for later', { nbf: NOW + 120 }],
    ['is from the future', { iat: NOW + 120 }],
    ['is of another issuer', { iss: 'https://other.test' }],
    ['is for another audience', { aud: 'other' }],
    ['has a time of another type', { exp: 'soon' }],
    ['is of another type', {}, { type: 'at+jwt' }],
  ]
  const once = forged()
  /** They may ask one second apart, and no fifth for at least eight seconds more. */
  const fourInVain: readonly Step[] = [1, 2, 3, 4].flatMap((jti) => [
    { pass: 1 },
    judge(forged({ jti }), 'unknown_key'),
  ])
  const fifth = forged({ jti: 5 }, { kid: issuer.rsa.jwk.kid })
  return [
    ...hopeless.map(([name, claims, options]): Row => ({
      name: `a forged token that ${name}, and asks for nothing`,
      source,
      verdict: 'unknown_key',
      options,
      before: warm,
      token: forged(claims),
      requests: options === undefined ? 1 : 1,
    })),
    {
      name: 'a forged token whose payload is no JSON, and asks for nothing',
      source,
      verdict: 'unknown_key',
      before: warm,
      token: maker.token({ by: stranger.rsa, payloadText: 'no JSON' }),
      requests: 1,
    },
    {
      name: 'a forged token that could be good, and asks once',
      source,
      verdict: 'unknown_key',
      before: warm,
      token: once,
      requests: 2,
    },
    {
      name: 'a forged token that has asked before',
      source,
      verdict: 'unknown_key',
      before: [
        ...warm,
        judge(once, 'unknown_key'),
        { pass: 2 },
        judge(once, 'unknown_key'),
        { pass: 1.75 },
      ],
      token: once,
      requests: 2,
    },
    {
      name: 'a forged token that comes each second for a minute, and asks at growing intervals',
      source,
      verdict: 'unknown_key',
      before: [
        ...warm,
        ...Array.from({ length: 60 }, () => [judge(once, 'unknown_key'), { pass: 1 }]).flat(),
      ],
      token: once,
      // At first, then after 4, 8, 16 and 32 s.
      requests: 6,
    },
    {
      name: 'a good token after a flood of forged ones',
      source: 'CVE-2025-59936; GHSA-fhv5-28vv-h8m8',
      verdict: 'accepted',
      before: [
        ...warm,
        {
          together: Array.from({ length: 60 }, (_, at) =>
            judge(forged({ jti: at }, { kid: `k${at}` }), 'unknown_key'),
          ),
        },
      ],
      token: good,
      requests: 2,
    },
    {
      name: 'a third forged token, right after the second has asked in vain, which waits to ask',
      source,
      verdict: 'signature',
      before: [
        ...warm,
        judge(forged({}, { kid: issuer.rsa.jwk.kid }), 'signature'),
        { pass: 1.5 },
        judge(forged({ jti: 'second' }), 'unknown_key'),
        { pass: 0.25 },
      ],
      token: forged({ jti: 'third' }, { kid: issuer.rsa.jwk.kid }),
      waits: 0.75,
      requests: 4,
    },
    {
      name: 'a fifth forged token, right after four have asked in vain, which waits for nothing',
      source,
      verdict: 'signature',
      before: [...warm, ...fourInVain, { pass: 0.25 }],
      token: fifth,
      requests: 5,
    },
    {
      name: 'a fifth forged token, some time after four have asked in vain',
      source,
      verdict: 'signature',
      before: [...warm, ...fourInVain, { pass: 14 }],
      token: fifth,
      requests: 6,
    },
  ]
}

/** Everything at once, before there is any key. */
function crowds(maker: TokenMaker): readonly Row[] {
  const { stranger } = maker
  const good = lasting(maker)
  const hostile: readonly Judgement[] = [
    judge(undefined, 'malformed'),
    judge('', 'malformed'),
    judge(maker.token({ header: { alg: 'none' } }), 'algorithm'),
    judge(maker.token({ header: { crit: ['x'] } }), 'critical_header'),
    judge(maker.token({ by: stranger.rsa }), 'unknown_key'),
    judge(maker.token({ claims: { exp: NOW - 60 } }), 'expired'),
    judge(maker.token({ payloadText: '{"__proto__":{}}' }), 'malformed'),
    judge(`${good.slice(0, -4)}AAAA`, 'signature'),
  ]
  return [
    {
      name: 'one good token amid the hostile, all before there is a key',
      source: 'CVE-2021-21378; CVE-2025-64527',
      verdict: 'accepted',
      before: [{ together: [...hostile, judge(good, 'accepted'), ...hostile] }],
      token: good,
      requests: 1,
    },
    {
      name: 'fifty good tokens before there is a key',
      source: 'CWE-770',
      verdict: 'accepted',
      before: [
        {
          together: Array.from({ length: 50 }, (_, at) =>
            judge(maker.token({ claims: { jti: at } }), 'accepted'),
          ),
        },
      ],
      token: good,
      requests: 1,
    },
    {
      name: 'one good token amid the hostile, where no key can be had',
      source: 'CVE-2021-21378',
      verdict: 'accepted',
      before: [
        { serve: null },
        {
          together: [
            judge(good, 'unreachable'),
            judge(maker.token({ header: { alg: 'none' } }), 'algorithm'),
            judge(maker.token({ by: stranger.rsa }), 'unreachable'),
          ],
        },
        { serve: maker.document },
        { pass: 40 },
      ],
      token: good,
      requests: 2,
    },
  ]
}

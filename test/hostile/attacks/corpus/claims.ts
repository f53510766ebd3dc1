import type { Options, Row } from './row.ts'
import { AUDIENCE, type TokenMaker, ISSUER } from './token-maker.ts'

type Members = Readonly<Record<string, unknown>>

/** Who has issued a token, for whom, and what it must have: all of them signed. */
export function claims(maker: TokenMaker): readonly Row[] {
  return [
    ...issuers(maker),
    ...audiences(maker),
    ...presence(maker),
    ...unusual(maker),
    ...events(maker),
    ...confirmations(maker),
  ]
}

function issuers({ token, canary }: TokenMaker): readonly Row[] {
  const others: readonly (readonly [string, unknown])[] = [
    ['nothing', undefined],
    ['null', null],
    ['true', true],
    ['a number', 17],
    ['an object', { toString: ISSUER }],
    ['an array with the issuer in it', [ISSUER]],
    ['an array with the issuer and another', ['https://other.test', ISSUER]],
    ['an empty text', ''],
    ['another issuer', 'https://other.test'],
    ['the address of something else', canary],
    ['the beginning of the issuer', ISSUER.slice(0, -1)],
    ['the end of the issuer', ISSUER.slice(8)],
    ['the issuer and a slash', `${ISSUER}/`],
    ['the issuer and a dot, the same host to a resolver', `${ISSUER}.`],
    ['the issuer and its port', `${ISSUER}:443`],
    ['the issuer and a fragment', `${ISSUER}#`],
    ['the issuer as a subdomain', `${ISSUER}.other.test`],
    ['the issuer as user information', `${ISSUER}@other.test`],
    ['the issuer over http', ISSUER.replace('https', 'http')],
    ['the issuer with its scheme in capitals', ISSUER.replace('https', 'HTTPS')],
    ['the issuer with its host in capitals', ISSUER.replace('auth', 'AUTH')],
    ['the issuer with an escaped letter', ISSUER.replace('a', '%61')],
    ['the issuer with a Cyrillic letter', ISSUER.replace('a', '\u0430')],
    ['white space before the issuer', ` ${ISSUER}`],
    ['white space behind the issuer', `${ISSUER} `],
    ['a line feed behind the issuer', `${ISSUER}\n`],
    ['NUL behind the issuer', `${ISSUER}\0`],
    ['the issuer and another in a list', `${ISSUER},https://other.test`],
  ]
  const two = { issuer: [ISSUER, 'https://second.test'] }
  return [
    ...others.map(([name, iss]): Row => ({
      name: `an issuer claim with ${name}`,
      source: issuerSource(iss),
      verdict: 'issuer',
      token: token({ claims: { iss } }),
    })),
    {
      name: 'two accepted issuers joined by a comma',
      source: 'RFC 8725 section 3.8',
      verdict: 'issuer',
      options: two,
      token: token({ claims: { iss: two.issuer.join(',') } }),
    },
    {
      name: 'an issuer that only normalization makes equal',
      source: 'RFC 7519 section 2',
      verdict: 'issuer',
      options: { issuer: 'https://caf\u00E9.test' },
      token: token({ claims: { iss: 'https://cafe\u0301.test' } }),
    },
    {
      name: 'the second of two accepted issuers',
      source: 'RFC 8725 section 3.8',
      verdict: 'accepted',
      options: two,
      token: token({ claims: { iss: 'https://second.test' } }),
    },
    {
      name: 'an issuer that is no URL, as configured',
      source: 'RFC 7519 section 4.1.1',
      verdict: 'accepted',
      options: { issuer: 'our own \u{1F511}' },
      token: token({ claims: { iss: 'our own \u{1F511}' } }),
    },
    ...[undefined, null, 17, ['https://other.test'], 'https://other.test'].map((iss): Row => ({
      name: `an issuer claim of ${JSON.stringify(iss) ?? 'no value'} where the API has waived the check`,
      source: 'RFC 7519 section 4.1.1',
      verdict: 'accepted',
      options: { issuer: null },
      token: token({ claims: { iss } }),
    })),
  ]
}

function issuerSource(iss: unknown): string {
  if (Array.isArray(iss)) return 'RFC 7519 section 4.1.1; CVE-2025-30144'
  return typeof iss === 'string' && iss !== '' && ISSUER.includes(iss)
    ? 'RFC 7519 section 2; CVE-2024-53861'
    : 'RFC 7519 section 2; RFC 8725 section 3.8'
}

function audiences({ token }: TokenMaker): readonly Row[] {
  const others: readonly (readonly [string, unknown])[] = [
    ['nothing', undefined],
    ['null', null],
    ['true', true],
    ['zero', 0],
    ['an object', { 0: AUDIENCE, length: 1 }],
    ['an object named like the API', { [AUDIENCE]: true }],
    ['an empty text', ''],
    ['an empty array', []],
    ['another API', 'other'],
    ['other APIs', ['other', 'another']],
    ['the beginning of our name', AUDIENCE.slice(0, -1)],
    ['our name and more', `${AUDIENCE}s`],
    ['our name in capitals', AUDIENCE.toUpperCase()],
    ['our name with a Cyrillic letter', AUDIENCE.replace('a', '\u0430')],
    ['white space before our name', ` ${AUDIENCE}`],
    ['white space behind our name', `${AUDIENCE} `],
    ['NUL behind our name', `${AUDIENCE}\0`],
    ['our name and another, by a space', `${AUDIENCE} other`],
    ['our name and another, by a comma', `${AUDIENCE},other`],
    ['an array as text', JSON.stringify([AUDIENCE])],
    ['our name one array further in', [[AUDIENCE]]],
    ['our name beside null', [AUDIENCE, null]],
    ['our name beside a number', [17, AUDIENCE]],
    ['our name beside an object', [AUDIENCE, {}]],
    ['our name beside an array', [[], AUDIENCE]],
    ['a star', '*'],
    ['a pattern', '/.*/'],
  ]
  const good: readonly (readonly [string, unknown])[] = [
    ['our name alone in an array', [AUDIENCE]],
    ['our name first of many', [AUDIENCE, 'other']],
    ['our name last of many', [...Array.from({ length: 500 }, (_, at) => `api${at}`), AUDIENCE]],
    ['our name twice', [AUDIENCE, AUDIENCE]],
    ['our name beside an empty one', ['', AUDIENCE]],
  ]
  return [
    ...others.map(([name, aud]): Row => ({
      name: `an audience claim with ${name}`,
      source: Array.isArray(aud)
        ? 'RFC 7519 section 4.1.3; CVE-2020-26160'
        : 'RFC 7519 section 4.1.3; RFC 8725 section 3.9',
      verdict: 'audience',
      token: token({ claims: { aud } }),
    })),
    {
      name: 'a name that every object inherits for an audience',
      source: 'RFC 7519 section 4.1.3',
      verdict: 'audience',
      token: token({ claims: { aud: 'toString' } }),
    },
    ...good.map(([name, aud]): Row => ({
      name: `an audience claim with ${name}`,
      source: 'RFC 7519 section 4.1.3',
      verdict: 'accepted',
      token: token({ claims: { aud } }),
    })),
    {
      name: 'an audience that the API has as its second name',
      source: 'RFC 7519 section 4.1.3',
      verdict: 'accepted',
      options: { audience: ['https://api.test/', AUDIENCE] },
      token: token(),
    },
    {
      name: 'a resource for an audience, with its slash',
      source: 'RFC 9068 section 3',
      verdict: 'accepted',
      options: { audience: 'https://api.test/v1/' },
      token: token({ claims: { aud: 'https://api.test/v1/' } }),
    },
    {
      name: 'a resource for an audience, without its slash',
      source: 'RFC 7519 section 2',
      verdict: 'audience',
      options: { audience: 'https://api.test/v1/' },
      token: token({ claims: { aud: 'https://api.test/v1' } }),
    },
    ...[undefined, null, [], { a: 1 }, 'other'].map((aud): Row => ({
      name: `an audience claim of ${JSON.stringify(aud) ?? 'no value'} where the API has waived the check`,
      source: 'RFC 7519 section 4.1.3',
      verdict: 'accepted',
      options: { audience: null },
      token: token({ claims: { aud } }),
    })),
  ]
}

function presence({ token }: TokenMaker): readonly Row[] {
  const missing: readonly (readonly [string, readonly string[], Members])[] = [
    ['a claim that is not there', ['scope'], {}],
    ['the second of two claims', ['sub', 'scope'], {}],
    ['a claim in other letters', ['Sub'], {}],
    ['a claim that is one level down', ['scope'], { resource: { scope: 'read' } }],
    ['a claim whose name is a path', ['resource.scope'], { resource: { scope: 'read' } }],
    ['a claim that every object inherits', ['toString'], {}],
    ['the claim constructor', ['constructor'], {}],
    ['the claim __proto__', ['__proto__'], {}],
    ['a claim that is a header parameter', ['kid'], {}],
  ]
  return [
    ...missing.map(([name, requiredClaims, members]): Row => ({
      name: `a token without ${name}, which is required`,
      source: 'RFC 7519 section 4; RFC 9068 section 2.2',
      verdict: 'missing_claim',
      options: { requiredClaims },
      token: token({ claims: members }),
    })),
    {
      name: 'an empty claims set',
      source: 'RFC 9068 section 2.2',
      verdict: 'issuer',
      token: token({ payloadText: '{}' }),
    },
    {
      name: 'an empty claims set where nothing is required',
      source: 'RFC 7519 section 4',
      verdict: 'accepted',
      options: { requireExpiry: false, issuer: null, audience: null },
      token: token({ payloadText: '{}' }),
    },
    ...[null, false, 0, '', [], {}].map((sub): Row => ({
      name: `a required claim with the value ${JSON.stringify(sub)}, which is not absent`,
      source: 'RFC 7519 section 4',
      verdict: 'accepted',
      options: { requiredClaims: ['sub'] },
      token: token({ claims: { sub } }),
    })),
    {
      name: 'a required claim that objects inherit, and this one has',
      source: 'RFC 7519 section 4',
      verdict: 'accepted',
      options: { requiredClaims: ['toString'] },
      token: token({ claims: { toString: 1 } }),
    },
  ]
}

/** Issuers sign them with the same keys, and some name no type in the header. */
function events({ token }: TokenMaker): readonly Row[] {
  const logout = 'http://schemas.openid.net/event/backchannel-logout'
  const source = 'RFC 8417 section 2.2'
  const refused: readonly (readonly [string, Members, Members, Options?])[] = [
    ['a log-out without a type', { typ: undefined }, { [logout]: {} }],
    ['a log-out of the type JWT', { typ: 'JWT' }, { [logout]: {} }],
    ['a log-out of the stated type JWT', { typ: 'JWT' }, { [logout]: {} }, { type: 'JWT' }],
    ['a log-out of the type of access tokens', { typ: 'at+jwt' }, { [logout]: {} }],
    ['an event with a URN', {}, { 'urn:ietf:params:event:SCIM:delete': { id: '1' } }],
    ['an event beside what is none', {}, { login: 1, 'https://events.test/x': {} }],
  ]
  const accepted: readonly (readonly [string, Members, unknown, Options?])[] = [
    ['a list of events', {}, [logout]],
    ['events with other names', {}, { login: {}, logout: {} }],
    ['an event that is no object', {}, { [logout]: true }],
    [
      'an event, where a type is stated and says so',
      { typ: 'at+jwt' },
      { [logout]: {} },
      { type: 'at+jwt' },
    ],
  ]
  const row =
    (verdict: 'type' | 'accepted') =>
    ([name, header, found, options]: readonly [string, Members, unknown, Options?]): Row => ({
      name: `a token with ${name}`,
      source,
      verdict,
      options,
      token: token({ header, claims: { events: found, jti: 'j-1', sid: 's-1' } }),
    })
  return [...refused.map(row('type')), ...accepted.map(row('accepted'))]
}

function unusual({ token }: TokenMaker): readonly Row[] {
  const members: readonly (readonly [string, string, Members])[] = [
    [
      'a subject of every kind of character',
      'RFC 7519 section 4.1.2',
      { sub: '\u0000\u001F"\\\u2028\u{1F511}' },
    ],
    ['a subject that is a script', 'RFC 7519 section 4.1.2', { sub: '<script>alert(1)</script>' }],
    ['a jti that is a number', 'RFC 7519 section 4.1.7', { jti: 17 }],
    [
      'claims that are named like header parameters',
      'RFC 7519 section 4',
      { alg: 'none', kid: 'x', crit: ['x'], b64: false },
    ],
    [
      'claims of nearly every type',
      'RFC 7519 section 4',
      { a: null, b: [], c: {}, d: '', e: 0, f: false },
    ],
    [
      'a thousand claims',
      'RFC 7519 section 4',
      Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`c${at}`, at])),
    ],
  ]
  return members.map(([name, source, extra]) => ({
    name: `a token with ${name}`,
    source,
    verdict: 'accepted',
    token: token({ claims: extra }),
  }))
}

/** Sent as bearer tokens, so that nothing is proven of what they are bound to. */
function confirmations({ token }: TokenMaker): readonly Row[] {
  const thumbprint = '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I'
  const values: readonly (readonly [name: string, cnf: unknown])[] = [
    ['a key', { jkt: thumbprint }],
    ['a client certificate', { 'x5t#S256': thumbprint }],
    ['both', { jkt: thumbprint, 'x5t#S256': thumbprint }],
    ['a key in the token', { jwk: { kty: 'oct', k: 'AAAA' } }],
    ['a key by its kid', { kid: '1' }],
    ['a key, and another one by its kid', { jkt: thumbprint, kid: '1' }],
    ['a key, with a member that nobody knows', { jkt: thumbprint, x: 1 }],
    ['a key behind a URL', { jku: 'https://keys.test', kid: '1' }],
    ['the key of another format', { 'x5t#S1': thumbprint }],
    ['nothing: an empty object', {}],
    ['nothing: null', null],
    ['nothing: false', false],
    ['nothing: an empty text', ''],
    ['nothing: an empty list', []],
    ['a text', thumbprint],
    ['a list of keys', [{ jkt: thumbprint }]],
    ['a key that is null', { jkt: null }],
    ['a key that is empty', { jkt: '' }],
    ['a key that is a list', { jkt: [thumbprint] }],
    ['a certificate that is an object', { 'x5t#S256': { jkt: thumbprint } }],
    ['a member of every object', { constructor: thumbprint }],
  ]
  return [
    ...values.map(([name, cnf]): Row => ({
      name: `a stolen token that is bound to ${name}`,
      source: 'RFC 7800 section 3; RFC 9449 section 7.2; RFC 8705 section 3',
      verdict: 'binding',
      token: token({ claims: { cnf } }),
    })),
    ...[['access'], 'ID', 'Access', null, { access: 'access' }].map((value): Row => ({
      name: `token_use is ${JSON.stringify(value)} where access is required`,
      source: 'CVE-2025-30144',
      verdict: 'claim',
      options: { requiredClaims: { token_use: 'access' } },
      token: token({ claims: { token_use: value } }),
    })),
    {
      name: 'a token whose cnf is spelt otherwise, and so another claim',
      source: 'RFC 7800 section 3',
      verdict: 'accepted',
      token: token({ claims: { CNF: { jkt: thumbprint } } }),
    },
  ]
}

import type { Row } from './row.ts'
import { encode, type TokenMaker, ISSUER, NOW, usualClaims } from './token-maker.ts'

/** Texts that are no JSON object to be trusted with, as a header and as a payload; and some that only look so. */
export function json(maker: TokenMaker): readonly Row[] {
  return PLACES.flatMap((place) => {
    const refused = REFUSED.map(([name, source, spoil]): Row => ({
      name: `a ${place} ${name}`,
      source: sourceFor(place, source),
      verdict: 'malformed',
      // A payload is read only once its signature has been proven.
      requests: place === 'payload' ? 1 : 0,
      token: tokenWith(maker, place, spoil),
    }))
    const accepted = ODDITIES.map(([name, source, spoil]): Row => ({
      name: `a ${place} ${name}`,
      source: sourceFor(place, source),
      verdict: 'accepted',
      token: tokenWith(maker, place, spoil),
    }))
    return refused.concat(accepted)
  })
}

const PLACES = ['header', 'payload'] as const
type Place = (typeof PLACES)[number]

/** Whose members must be unique, and which text must be an object, is said once for headers and once for claims. */
const OBJECT = { header: 'RFC 7515 section 5.2', payload: 'RFC 7519 section 7.2' }
const UNIQUE = { header: 'RFC 7515 section 4', payload: 'RFC 7519 section 4' }

type Spoiled = readonly [
  name: string,
  source: string | Readonly<Record<Place, string>>,
  spoil: (good: string) => string | Buffer,
]

const ENCODINGS: readonly Spoiled[] = [
  ['with a byte order mark', 'RFC 8259 section 8.1', (good) => `\uFEFF${good}`],
  ['in UTF-16, little-endian', 'RFC 8259 section 8.1', (good) => Buffer.from(good, 'utf16le')],
  [
    'in UTF-16, big-endian',
    'RFC 8259 section 8.1',
    (good) => Buffer.from(good, 'utf16le').swap16(),
  ],
  [
    'in UTF-16 with a byte order mark',
    'RFC 8259 section 8.1',
    (good) => Buffer.from(`\uFEFF${good}`, 'utf16le'),
  ],
  ['in Latin-1', 'RFC 8259 section 8.1', (good) => octetsIn(good, 'e9')],
  ['with a lone continuation octet', 'RFC 3629 section 3', (good) => octetsIn(good, '80')],
  ['with an overlong slash', 'RFC 3629 section 3', (good) => octetsIn(good, 'c0af')],
  ['with an overlong NUL', 'RFC 3629 section 3', (good) => octetsIn(good, 'c080')],
  [
    'with an overlong quote of three octets',
    'RFC 3629 section 3',
    (good) => octetsIn(good, 'e080a2'),
  ],
  [
    'with an overlong letter of four octets',
    'RFC 3629 section 3',
    (good) => octetsIn(good, 'f0808181'),
  ],
  ['with an encoded surrogate', 'RFC 3629 section 3', (good) => octetsIn(good, 'eda080')],
  [
    'with a surrogate pair as CESU-8',
    'RFC 3629 section 3',
    (good) => octetsIn(good, 'eda0bdedb491'),
  ],
  ['with a character beyond U+10FFFF', 'RFC 3629 section 3', (good) => octetsIn(good, 'f4908080')],
  ['with a sequence of five octets', 'RFC 3629 section 3', (good) => octetsIn(good, 'f888808080')],
  ['with the octet FF', 'RFC 3629 section 3', (good) => octetsIn(good, 'ff')],
  [
    'with a sequence that a quote cuts short',
    'RFC 3629 section 3',
    (good) => octetsIn(good, 'e282'),
  ],
  [
    'with a sequence that its end cuts short',
    'RFC 3629 section 3',
    (good) => Buffer.concat([Buffer.from(good), Buffer.of(0xe2, 0x82)]),
  ],
]

const VALUES: readonly Spoiled[] = [
  ['that is null', OBJECT, () => 'null'],
  ['that is true', OBJECT, () => 'true'],
  ['that is a number', OBJECT, () => '17'],
  ['that is a string', OBJECT, (good) => JSON.stringify(good)],
  ['that is an empty array', OBJECT, () => '[]'],
  ['that is an array around the object', OBJECT, (good) => `[${good}]`],
  [
    'that is an array of pairs',
    OBJECT,
    (good) => JSON.stringify(Object.entries(JSON.parse(good) as object)),
  ],
  ['that is white space', OBJECT, () => ' \n'],
  ['that is one NUL', OBJECT, () => '\0'],
]

const SYNTAX: readonly Spoiled[] = [
  ['with a comma at its end', 'RFC 8259 section 4', (good) => good.replace(/\}$/, ',}')],
  ['with a comma at its beginning', 'RFC 8259 section 4', (good) => good.replace(/^\{/, '{,')],
  ['with two commas in a row', 'RFC 8259 section 4', (good) => good.replace(',', ',,')],
  ['without a comma', 'RFC 8259 section 4', (good) => good.replace(',', ' ')],
  ['without a colon', 'RFC 8259 section 4', (good) => good.replace(':', ' ')],
  ['without its closing brace', 'RFC 8259 section 4', (good) => good.slice(0, -1)],
  ['with a brace too many', 'RFC 8259 section 2', (good) => `${good}}`],
  ['that is followed by another', 'RFC 8259 section 2', (good) => `${good}${good}`],
  ['that is one of many lines', 'RFC 8259 section 2', (good) => `${good}\n${good}`],
  ['that is followed by NUL', 'RFC 8259 section 2', (good) => `${good}\0`],
  ['with a block comment', 'RFC 8259 section 2', (good) => good.replace('{', '{/**/')],
  ['with a line comment', 'RFC 8259 section 2', (good) => good.replace('{', '{//\n')],
  [
    'with a no-break space between members',
    'RFC 8259 section 2',
    (good) => good.replace(',', ',\u00A0'),
  ],
  ['with a vertical tab between members', 'RFC 8259 section 2', (good) => good.replace(',', ',\v')],
  ['with single quotes', 'RFC 8259 section 7', (good) => good.replaceAll('"', "'")],
  ['with a name that has no quotes', 'RFC 8259 section 4', (good) => plus(good, 'x:1')],
  ['with a name that is a number', 'RFC 8259 section 4', (good) => plus(good, '1:1')],
  ['with a member that has no value', 'RFC 8259 section 4', (good) => plus(good, '"x":')],
  ['with undefined', 'RFC 8259 section 3', (good) => plus(good, '"x":undefined')],
  ['with a capital True', 'RFC 8259 section 3', (good) => plus(good, '"x":True')],
  ['with a line feed in a string', 'RFC 8259 section 7', (good) => plus(good, '"x":"\n"')],
  ['with NUL in a string', 'RFC 8259 section 7', (good) => plus(good, '"x":"\0"')],
  ['with a string that never ends', 'RFC 8259 section 7', (good) => good.replace(/\}$/, ',"x":"}')],
  [
    'with a string whose last quote is escaped',
    'RFC 8259 section 7',
    (good) => plus(good, String.raw`"x":"\"`),
  ],
  [
    'with an escape that JSON has not',
    'RFC 8259 section 7',
    (good) => plus(good, String.raw`"x":"\x41"`),
  ],
  ['with an escape cut short', 'RFC 8259 section 7', (good) => plus(good, String.raw`"x":"\u00"`)],
  ['with an array that a brace closes', 'RFC 8259 section 5', (good) => plus(good, '"x":[}')],
]

const NUMBERS: readonly Spoiled[] = [
  ['with NaN', 'RFC 8259 section 6', (good) => plus(good, '"x":NaN')],
  ['with Infinity', 'RFC 8259 section 6', (good) => plus(good, '"x":-Infinity')],
  ['with a hexadecimal number', 'RFC 8259 section 6', (good) => plus(good, '"x":0x10')],
  ['with a leading zero', 'RFC 8259 section 6', (good) => plus(good, '"x":010')],
  ['with a leading plus', 'RFC 8259 section 6', (good) => plus(good, '"x":+1')],
  ['with a point and no fraction', 'RFC 8259 section 6', (good) => plus(good, '"x":1.')],
  ['with a fraction and no integer', 'RFC 8259 section 6', (good) => plus(good, '"x":.5')],
  ['with an exponent of no digits', 'RFC 8259 section 6', (good) => plus(good, '"x":1e')],
  ['with a separator in a number', 'RFC 8259 section 6', (good) => plus(good, '"x":1_000')],
  ['with a big integer', 'RFC 8259 section 6', (good) => plus(good, '"x":1n')],
  [
    'with a number beyond any double',
    'RFC 8259 section 6; CVE-2026-44459',
    (good) => plus(good, '"x":1e309'),
  ],
  [
    'with such a number, negative',
    'RFC 8259 section 6; CVE-2026-44459',
    (good) => plus(good, '"x":-1e309'),
  ],
  [
    'with such a number, spelt out',
    'RFC 8259 section 6',
    (good) => plus(good, `"x":${'9'.repeat(310)}`),
  ],
  [
    'with such a number deep inside',
    'RFC 8259 section 6',
    (good) => plus(good, '"x":[{"y":[1e999]}]'),
  ],
]

const DUPLICATES: readonly Spoiled[] = [
  ['with a member that comes twice', UNIQUE, (good) => plus(good, '"x":1,"x":2')],
  ['with a member that comes twice with one value', UNIQUE, (good) => plus(good, '"x":1,"x":1')],
  ['with a member that comes three times', UNIQUE, (good) => plus(good, '"x":1,"x":2,"x":1')],
  ['with duplicates far apart', UNIQUE, (good) => `{"z":1,${plus(good, '"z":2').slice(1)}`],
  [
    'with a duplicate that an escape hides',
    UNIQUE,
    (good) => plus(good, String.raw`"x":1,"\u0078":2`),
  ],
  [
    'with a duplicate that hides a quote',
    UNIQUE,
    (good) => plus(good, String.raw`"\"":1,"\u0022":2`),
  ],
  [
    'with a duplicate that hides a backslash',
    UNIQUE,
    (good) => plus(good, String.raw`"\\":1,"\u005c":2`),
  ],
  ['with a duplicate of the empty name', UNIQUE, (good) => plus(good, '"":1,"":2')],
  ['with a duplicate that looks like an index', UNIQUE, (good) => plus(good, '"0":1,"0":2')],
  [
    'with a duplicate that has an astral name',
    UNIQUE,
    (good) => plus(good, String.raw`"🔑":1,"\ud83d\udd11":2`),
  ],
  [
    'with a duplicate after strings full of braces',
    UNIQUE,
    (good) => plus(good, String.raw`"a":"}\"{","x":"\\","x":2`),
  ],
  ['with a duplicate behind white space', UNIQUE, (good) => plus(good, '"x"\n\t :1 ,\r"x" :2')],
  ['that duplicates all it has', UNIQUE, (good) => `${good.slice(0, -1)},${good.slice(1)}`],
]

const PROTOTYPES: readonly Spoiled[] = [
  [
    'with a member __proto__',
    'CWE-1321; CVE-2024-34273',
    (good) => plus(good, '"__proto__":{"admin":true}'),
  ],
  ['with a member __proto__ that is null', 'CWE-1321', (good) => plus(good, '"__proto__":null')],
  ['with a member __proto__ that is text', 'CWE-1321', (good) => plus(good, '"__proto__":"x"')],
  [
    'with __proto__ behind an escape',
    'CWE-1321',
    (good) => plus(good, String.raw`"\u005f_proto__":{"admin":true}`),
  ],
  [
    'with __proto__ one level down',
    'CWE-1321',
    (good) => plus(good, '"x":{"__proto__":{"admin":true}}'),
  ],
  ['with __proto__ in an array', 'CWE-1321', (good) => plus(good, '"x":[[{"__proto__":[]}]]')],
  [
    'with __proto__ below constructor and prototype',
    'CWE-1321',
    (good) => plus(good, '"constructor":{"prototype":{"__proto__":{"admin":true}}}'),
  ],
]

const DEPTHS: readonly Spoiled[] = [
  [
    '33 levels deep, in arrays',
    'RFC 8259 section 9',
    (good) => plus(good, `"x":${nested(32, '[', ']')}`),
  ],
  [
    '33 levels deep, in objects',
    'RFC 8259 section 9',
    (good) => plus(good, `"x":${nested(32, '{"x":', '}')}`),
  ],
  [
    '33 levels deep, in both by turns',
    'RFC 8259 section 9',
    (good) => plus(good, `"x":${nested(16, '[{"x":', '}]')}`),
  ],
  [
    '33 levels deep, behind a string of brackets',
    'RFC 8259 section 9',
    (good) => plus(good, `"s":"]]]]","x":${nested(32, '[', ']')}`),
  ],
  [
    'thousands of levels deep',
    'RFC 8259 section 9; CVE-2025-53864',
    (good) => plus(good, `"x":${nested(4000, '[', ']')}`),
  ],
  ['thousands of brackets deep that never close', 'RFC 8259 section 2', () => '['.repeat(8000)],
  ['thousands of objects deep that never close', 'RFC 8259 section 2', () => '{"x":'.repeat(1600)],
]

const ODDITIES: readonly Spoiled[] = [
  [
    'with white space around everything',
    'RFC 8259 section 2',
    (good) => ` ${JSON.stringify(JSON.parse(good), null, '\t \r\n')} `,
  ],
  [
    'in UTF-8 of two, three and four octets',
    'RFC 3629 section 3',
    (good) => plus(good, '"x":"é€🔑"'),
  ],
  ['with names beyond ASCII', 'RFC 8259 section 7', (good) => plus(good, '"ключ":"🔑"')],
  [
    'with escaped names of its members',
    'RFC 8259 section 8.3',
    (good) =>
      good.replace(/"(\w)/, (_, letter: string) => `"\\u00${letter.charCodeAt(0).toString(16)}`),
  ],
  [
    'with every short escape',
    'RFC 8259 section 7',
    (good) => plus(good, String.raw`"x":"\"\\\/\b\f\n\r\t"`),
  ],
  ['with NUL as an escape', 'RFC 8259 section 7', (good) => plus(good, String.raw`"x":"\u0000"`)],
  [
    'with line and paragraph separators in a string',
    'RFC 8259 section 7',
    (good) => plus(good, '"x":"\u2028\u2029"'),
  ],
  ['with DEL in a string', 'RFC 8259 section 7', (good) => plus(good, '"x":"\u007F"')],
  [
    'with a byte order mark in a string',
    'RFC 8259 section 7',
    (good) => plus(good, '"x":"\uFEFF"'),
  ],
  ['with U+FFFD, as it was signed', 'RFC 3629 section 3', (good) => plus(good, '"x":"\uFFFD"')],
  [
    'with a lone surrogate as an escape',
    'RFC 8259 section 8.2',
    (good) => plus(good, String.raw`"x":"\ud83d"`),
  ],
  ['with an empty name', 'RFC 8259 section 4', (good) => plus(good, '"":1')],
  [
    'with names that look like indices',
    'RFC 8259 section 4',
    (good) => plus(good, '"1":1,"0":0,"00":0'),
  ],
  [
    'with the largest double',
    'RFC 8259 section 6',
    (good) => plus(good, '"x":1.7976931348623157e308'),
  ],
  [
    'with a number too small for a double',
    'RFC 8259 section 6',
    (good) => plus(good, '"x":1e-400'),
  ],
  [
    'with an integer beyond 2^53',
    'RFC 8259 section 6',
    (good) => plus(good, '"x":9007199254740993'),
  ],
  ['with minus zero', 'RFC 8259 section 6', (good) => plus(good, '"x":-0')],
  [
    'with exponents in capitals and with a plus',
    'RFC 8259 section 6',
    (good) => plus(good, '"x":[1E2,1e+2]'),
  ],
  [
    'with duplicates one level down, of which the last counts',
    UNIQUE,
    (good) => plus(good, '"x":{"y":1,"y":2}'),
  ],
  ['with names that differ in case', 'RFC 8259 section 8.3', (good) => plus(good, '"x":1,"X":2')],
  [
    'with names that normalization would merge',
    'RFC 8259 section 8.3',
    (good) => plus(good, '"é":1,"e\u0301":2'),
  ],
  [
    'with strings full of JSON',
    'RFC 8259 section 7',
    (good) => plus(good, String.raw`"x":"{\"x\":[{:,}","y":":::"`),
  ],
  [
    'with a member constructor',
    'RFC 8259 section 4',
    (good) => plus(good, '"constructor":{"prototype":{"admin":true}}'),
  ],
  [
    'with members named like methods',
    'RFC 8259 section 4',
    (good) => plus(good, '"toString":1,"hasOwnProperty":2,"valueOf":3,"toJSON":4'),
  ],
  [
    'with the word __proto__ in a string',
    'RFC 8259 section 7',
    (good) => plus(good, '"x":"__proto__"'),
  ],
  [
    'with a member then, which makes no promise of it',
    'RFC 8259 section 4',
    (good) => plus(good, '"then":"now"'),
  ],
  [
    '32 levels deep, in arrays',
    'RFC 8259 section 9',
    (good) => plus(good, `"x":${nested(31, '[', ']')}`),
  ],
  [
    '32 levels deep, in objects',
    'RFC 8259 section 9',
    (good) => plus(good, `"x":${nested(31, '{"x":', '}')}`),
  ],
  [
    'with brackets by the hundred, side by side',
    'RFC 8259 section 9',
    (good) => plus(good, `"x":[${'[],'.repeat(500)}{}]`),
  ],
  [
    'with brackets by the hundred in a string',
    'RFC 8259 section 7',
    (good) => plus(good, `"x":"${'['.repeat(500)}"`),
  ],
]

const REFUSED = [
  ...ENCODINGS,
  ...VALUES,
  ...SYNTAX,
  ...NUMBERS,
  ...DUPLICATES,
  ...PROTOTYPES,
  ...DEPTHS,
]

/** Some rules are stated for headers and for claims in different places. */
function sourceFor(place: Place, source: Spoiled[1]): string {
  return typeof source === 'string' ? source : source[place]
}

function tokenWith({ token, issuer }: TokenMaker, place: Place, spoil: Spoiled[2]): string {
  if (place === 'payload') return token({ payloadText: spoil(JSON.stringify(usualClaims())) })
  const header = { alg: 'RS512', kid: issuer.rsa.jwk.kid, typ: 'JWT', url: ISSUER }
  return token({ headerText: spoil(JSON.stringify(header)), claims: { jti: encode(String(NOW)) } })
}

/** The object with some more members. */
function plus(object: string, members: string): string {
  return `${object.slice(0, -1)},${members}}`
}

/** The object with a string of these octets. */
function octetsIn(object: string, hex: string): Buffer {
  const [before = '', after = ''] = plus(object, '"x":"|"').split('|')
  return Buffer.concat([Buffer.from(before), Buffer.from(hex, 'hex'), Buffer.from(after)])
}

function nested(levels: number, open: string, close: string): string {
  return `${open.repeat(levels)}1${close.repeat(levels)}`
}

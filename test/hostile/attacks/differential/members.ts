import { randomUUID } from 'node:crypto'

import fc from 'fast-check'

import { AUDIENCE, ISSUER, TYPE } from './rules.ts'
import { NOW, publicJwks } from './signers.ts'

/** A member of a JSON object as it is spelled: two JSON texts. */
type Member = readonly [name: string, value: string]
export type Members = readonly Member[]
export type Edit<Value> = (value: Value) => Value

export function spell(members: Members): string {
  return `{${members.map((member) => member.join(':')).join()}}`
}

export function membersOf(object: object): Members {
  return Object.entries(object).map(([name, value]) => [
    JSON.stringify(name),
    JSON.stringify(value),
  ])
}

export function edited(members: Members, edits: readonly Edit<Members>[]): Members {
  return edits.reduce((before, edit) => edit(before), members)
}

export function put(name: string, value: string): Edit<Members> {
  return (members) => [...members.filter(([each]) => each !== name), [name, value]]
}

const names = {
  header: ['alg', 'kid', 'typ', 'cty', 'crit', 'b64', 'jwk', 'jku', 'x5c', 'zip', 'enc', 'iss'],
  claims: ['exp', 'exp', 'nbf', 'iat', 'iat', 'iss', 'aud', 'aud', 'sub', 'scope'],
  any: [
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'length',
    'toJSON',
    'then',
    '',
    '\u0000',
    '\uFEFF',
    '\u00E9',
  ],
}

const json = (...values: readonly unknown[]) =>
  fc.constantFrom(...values.map((value) => JSON.stringify(value)))

/** Of any type, most of them the wrong one. */
const anything = fc.oneof(
  json(null, true, false, 0, 1, -1, '', 'text', [], {}, [null], [''], { '': 0 }),
  fc.json({ maxDepth: 2 }),
  fc.constantFrom(
    '1e309',
    '-1e309',
    '1e12',
    '-0',
    '1e-400',
    '9007199254740993',
    '"\\ud800"',
    '"\\u0000"',
  ),
)

const proto = fc.constantFrom(
  '{"__proto__":{"exp":9e99}}',
  '[{"__proto__":null}]',
  '{"a":{"a":1,"a":2}}',
)

/** About now, where the verdict turns, and spelled in every way that JSON has and in some that it has not. */
const numericDate = fc
  .tuple(
    fc.constantFrom(
      -306,
      -305,
      -304,
      -65,
      -6,
      -5,
      -5,
      -5,
      -4,
      0,
      4,
      5,
      5,
      5,
      6,
      30,
      59,
      60,
      61,
      66,
    ),
    fc.constantFrom(0, 0, 0, 0.25, 0.25, 0.5, 0.5, 1e-6),
    fc.oneof(
      { weight: 4, arbitrary: fc.constant(String) },
      {
        weight: 2,
        arbitrary: fc.constantFrom(
          (seconds: number) => seconds.toExponential(),
          (seconds: number) => seconds.toFixed(20),
          (seconds: number) => `${seconds}E0`,
          (seconds: number) => String(seconds * 1000),
          (seconds: number) => `-${seconds}`,
        ),
      },
      {
        weight: 1,
        arbitrary: fc.constantFrom(
          (seconds: number) => `"${seconds}"`,
          (seconds: number) => `[${seconds}]`,
          (seconds: number) => `+${seconds}`,
          (seconds: number) => `0${seconds}`,
          (seconds: number) => `${seconds}.`,
          (seconds: number) => `0x${seconds.toString(16)}`,
        ),
      },
    ),
  )
  .map(([offset, fraction, print]) => print(NOW + offset + fraction))

const values: Readonly<Record<string, fc.Arbitrary<string>>> = {
  alg: json(
    'none',
    'None',
    'HS256',
    'HS512',
    'RS512',
    'rs512',
    'RS512 ',
    'RS256',
    'PS512',
    'PS256',
    'ES256',
    'ES256K',
    'ES512',
    'EdDSA',
    'Ed25519',
    '',
    ['ES256'],
  ),
  kid: json(
    ...publicJwks.map(({ kid }) => kid),
    'unknown',
    '__proto__',
    'P-256',
    '../p-256',
    "' OR 1=1",
    ['p-256'],
    7,
    null,
    true,
    {},
  ),
  typ: json(
    TYPE,
    'AT+JWT',
    `application/${TYPE}`,
    `Application/${TYPE}`,
    `application/application/${TYPE}`,
    `text/${TYPE}`,
    `${TYPE} `,
    `${TYPE};v=1`,
    'JWT',
    'jwt',
    '',
    7,
    null,
    [TYPE],
  ),
  cty: json('JWT', 'application/json', null, 7),
  crit: json(['b64'], ['exp'], ['b64', 'b64'], ['b64', 'exp'], ['alg'], [''], [], 'b64', null, {}, [
    '__proto__',
  ]),
  b64: json(true, false, null, 'false', 0),
  jwk: json(...publicJwks),
  exp: numericDate,
  nbf: numericDate,
  iat: numericDate,
  iss: json(
    ISSUER,
    [ISSUER],
    `${ISSUER}/`,
    ISSUER.toUpperCase(),
    ISSUER.slice(1),
    `${ISSUER} `,
    '',
    { iss: ISSUER },
  ),
  aud: json(
    AUDIENCE,
    [AUDIENCE],
    [AUDIENCE, 'third'],
    ['third', 'second audience'],
    [AUDIENCE, 7],
    [AUDIENCE, null],
    [[AUDIENCE]],
    [7],
    [],
    'third',
    `${AUDIENCE}/`,
    [AUDIENCE, AUDIENCE],
    { 0: AUDIENCE, length: 1 },
  ),
}

/** One change to the members of a header or of claims. */
function memberEdit(kind: 'header' | 'claims'): fc.Arbitrary<Edit<Members>> {
  const name = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...names[kind]) },
    { weight: 1, arbitrary: fc.constantFrom(...names.any) },
    { weight: 1, arbitrary: fc.string({ maxLength: 4 }) },
  )
  const member = name.chain((each) =>
    fc.tuple(
      fc.constant(JSON.stringify(each)),
      fc.oneof(
        {
          weight: 4,
          arbitrary: (Object.hasOwn(values, each) ? values[each] : undefined) ?? anything,
        },
        { weight: 1, arbitrary: anything },
        { weight: each === 'sub' || each === 'x5c' ? 1 : 0, arbitrary: proto },
      ),
    ),
  )
  const known = fc.constantFrom(...names[kind]).map((each) => JSON.stringify(each))
  return fc.oneof<fc.WeightedArbitrary<Edit<Members>>[]>(
    { weight: 12, arbitrary: member.map(([each, value]) => put(each, value)) },
    { weight: 1, arbitrary: known.map((each) => drop(each)) },
    { weight: 1, arbitrary: member.map((each) => (members: Members) => [each, ...members]) },
    { weight: 1, arbitrary: member.map((each) => (members: Members) => [...members, each]) },
    { weight: 1, arbitrary: known.map((each) => repeat(each)) },
    { weight: 1, arbitrary: known.map((each) => escape(each)) },
    { weight: 1, arbitrary: known.map((each) => misleading(each)) },
    { weight: 1, arbitrary: fc.constant((members: Members) => members.toReversed()) },
    {
      weight: kind === 'header' ? 1 : 0,
      arbitrary: fc
        .boolean()
        .map((b64) => (members: Members) => [
          ...members,
          ['"b64"', String(b64)],
          ['"crit"', '["b64"]'],
        ]),
    },
  )
}

export const headerEdit = memberEdit('header')
export const claimsEdit = memberEdit('claims')

function drop(name: string): Edit<Members> {
  return (members) => members.filter(([each]) => each !== name)
}

/** Duplicates a member, the second time in another spelling of the name. */
function repeat(name: string): Edit<Members> {
  return (members) => [...members, ...escape(name)(members.filter(([each]) => each === name))]
}

/** Spells a name with an escape, which is the same name. */
function escape(name: string): Edit<Members> {
  const escaped = spellEscaped(name)
  return (members) => members.map(([each, value]) => [each === name ? escaped : each, value])
}

function spellEscaped(name: string): string {
  const code = name.charCodeAt(1).toString(16).padStart(4, '0')
  return `"\\u${code}${name.slice(2)}`
}

/** Parsed texts, since V8 forgets what nobody has. */
const kept: unknown[] = []

/**
 * Spells a name with an escape, where V8 knows another that may follow: as much of that spelling as the name is long,
 * taken literally. A name that no other text has comes before, since V8 guesses only where it knows no third.
 */
export function misleading(name: string): Edit<Members> {
  const start = JSON.stringify(spellEscaped(name).slice(1, name.length - 1))
  return (members) => {
    const others: Members = [
      ...members.filter(([each]) => each !== name),
      [JSON.stringify(randomUUID()), '1'],
    ]
    const text = spell([...others, [start, '1']])
    if (isJson(text)) kept.push(JSON.parse(text))
    return [...others, ...escape(name)(members.filter(([each]) => each === name))]
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

import { base64url } from 'jose'

import type { BadTokenParts, BadTokenRow } from './bad-token.ts'

// Tokens that are refused for their form, before a key is looked up.

/** More than the 16 KiB that a verifier reads by default. Characters, before they are encoded. */
const TOO_LONG = 15_000

export function badForms({
  sign,
  header,
  payload,
  signature,
}: BadTokenParts): readonly BadTokenRow[] {
  const good = `${header}.${payload}.${signature}`
  return [
    ['malformed', 'one word', () => 'token'],
    ['malformed', 'truncated in the payload', () => good.slice(0, header.length + 9)],
    ['malformed', 'no signature', () => `${header}.${payload}.`],
    ['malformed', 'no signature and no dot', () => `${header}.${payload}`],
    ['malformed', 'no header', () => `.${payload}.${signature}`],
    ['malformed', 'no payload', () => `${header}..${signature}`],
    ['malformed', 'four segments', () => `${good}.${signature}`],
    ['malformed', 'five segments, as if encrypted', () => `${good}.${payload}.${signature}`],
    ['malformed', 'padded base64', () => `${good}==`],
    [
      'malformed',
      'a letter outside base64url',
      () => `${header}.${payload}.+${signature.slice(1)}`,
    ],
    [
      'too_large',
      'too large',
      async () => await sign({ claims: { padding: 'x'.repeat(TOO_LONG) } }),
    ],
  ]
}

export function badHeaders({
  sign,
  header,
  payload,
  signature,
}: BadTokenParts): readonly BadTokenRow[] {
  const under = (text: string) => `${base64url.encode(text)}.${payload}.${signature}`
  const members = new TextDecoder().decode(base64url.decode(header))
  const duplicate = `${members.slice(0, -1)},"alg":"none"}`
  return [
    ['malformed', 'header not JSON', () => under('header')],
    ['malformed', 'header JSON array', () => under(`[${members}]`)],
    ['malformed', 'duplicate members in the header', () => under(duplicate)],
    ['malformed', 'kid not a string', async () => await sign({ header: { kid: 1 } })],
    [
      'critical_header',
      'critical header',
      async () => await sign({ header: { crit: ['urn:test'], 'urn:test': true } }),
    ],
    ['critical_header', 'unencoded payload', () => under(`${members.slice(0, -1)},"b64":false}`)],
  ]
}

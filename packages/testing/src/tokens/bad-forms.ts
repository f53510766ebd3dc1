import { base64url } from 'jose'

import { rows } from '../rows.ts'
import type { BadTokenParts, BadTokenRow } from './bad-token.ts'

// Tokens that are refused for their form, before a key is looked up.

/** More than the 16 KiB that a verifier reads by default. Characters, before they are encoded. */
const TOO_LONG = 15_000

export function badForms(parts: BadTokenParts): readonly BadTokenRow[] {
  const { signing, header, payload, signature } = parts
  const good = `${header}.${payload}.${signature}`
  return [
    ...rows<BadTokenRow>('malformed', {
      'one word': () => 'token',
      'truncated in the payload': () => good.slice(0, header.length + 9),
      'no signature': () => `${header}.${payload}.`,
      'no signature and no dot': () => `${header}.${payload}`,
      'no header': () => `.${payload}.${signature}`,
      'no payload': () => `${header}..${signature}`,
      'four segments': () => `${good}.${signature}`,
      'five segments, as if encrypted': () => `${good}.${payload}.${signature}`,
      'padded base64': () => `${good}==`,
      'a letter outside base64url': () => `${header}.${payload}.+${signature.slice(1)}`,
    }),
    ['too_large', 'too large', signing({ claims: { padding: 'x'.repeat(TOO_LONG) } })],
  ]
}

export function badHeaders(parts: BadTokenParts): readonly BadTokenRow[] {
  const { signing, header, payload, signature } = parts
  const under = (text: string) => () => `${base64url.encode(text)}.${payload}.${signature}`
  const members = new TextDecoder().decode(base64url.decode(header))
  const duplicate = `${members.slice(0, -1)},"alg":"none"}`
  const critical = { crit: ['urn:test'], 'urn:test': true }
  return [
    ['malformed', 'header not JSON', under('header')],
    ['malformed', 'header JSON array', under(`[${members}]`)],
    ['malformed', 'duplicate members in the header', under(duplicate)],
    ['malformed', 'kid not a string', signing({ header: { kid: 1 } })],
    ['critical_header', 'critical header', signing({ header: critical })],
    ['critical_header', 'unencoded payload', under(`${members.slice(0, -1)},"b64":false}`)],
  ]
}

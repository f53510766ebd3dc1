import { rows } from '../rows.ts'
import type { BadProofParts, BadProofRow } from './bad-proof.ts'
import { targetOf } from './proof.ts'

// Proofs that are signed by the client's own key, and that are refused for what they say.

/** Longer than any age and tolerance that a server can have. Seconds. */
const LONG = 3600

export function badContents({ signing, now, request }: BadProofParts): readonly BadProofRow[] {
  const claiming = (claims: Readonly<Record<string, unknown>>) => signing({ claims })
  return [
    ...rows<BadProofRow>('malformed_proof', {
      'missing jti': signing({ omit: ['jti'] }),
      'empty jti': claiming({ jti: '' }),
      'jti not a text': claiming({ jti: 1 }),
      'very long jti': claiming({ jti: 'x'.repeat(4096) }),
    }),
    ...rows<BadProofRow>('proof_time', {
      old: claiming({ iat: now - LONG }),
      'from the future': claiming({ iat: now + LONG }),
      'missing time': signing({ omit: ['iat'] }),
      'time as text': claiming({ iat: String(now) }),
    }),
    ...rows<BadProofRow>('proof_token', {
      'for no token': signing({ omit: ['ath'] }),
      'for another token': signing({ token: 'another' }),
      'with the token itself': claiming({ ath: request.token }),
    }),
  ]
}

export function badRequests({ signing, request }: BadProofParts): readonly BadProofRow[] {
  const { method = 'GET' } = request
  const htu = targetOf(request.url)
  const url = new URL(htu)
  const at = (value: unknown) => signing({ claims: { htu: value } })
  const changed = (change: (copy: URL) => void) => {
    const copy = new URL(htu)
    change(copy)
    return at(copy.href)
  }
  const otherScheme = url.protocol === 'https:' ? 'http:' : 'https:'
  return [
    ...rows<BadProofRow>('proof_method', {
      'another method': signing({ method: method === 'DELETE' ? 'PUT' : 'DELETE' }),
      'method in lower case': signing({ method: method.toLowerCase() }),
      'missing method': signing({ omit: ['htm'] }),
    }),
    ...rows<BadProofRow>('proof_url', {
      'another path': changed((copy) => (copy.pathname += '/other')),
      'another host': changed((copy) => (copy.hostname = 'stranger.test')),
      'host that begins alike': changed((copy) => (copy.hostname += '.stranger.test')),
      'another port': changed((copy) => (copy.port = copy.port === '8999' ? '8998' : '8999')),
      'another scheme': at(htu.replace(url.protocol, otherScheme)),
      'a path alone': at(url.pathname),
      'the URL in a list': at([htu]),
      'missing URL': signing({ omit: ['htu'] }),
    }),
  ]
}

export function badNonces({ signing, request: { nonce } }: BadProofParts): readonly BadProofRow[] {
  if (nonce === undefined) return []
  return [
    ['missing_nonce', 'no nonce', signing({ omit: ['nonce'] })],
    ['invalid_nonce', 'another nonce', signing({ nonce: 'another' })],
    ['invalid_nonce', 'nonce with more behind it', signing({ nonce: `${nonce}A` })],
    ['invalid_nonce', 'nonce in a list', signing({ claims: { nonce: [nonce] } })],
  ]
}

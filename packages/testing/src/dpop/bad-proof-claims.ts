import type { BadProofParts, BadProofRow } from './bad-proof.ts'
import { targetOf } from './proof.ts'

// Proofs that are signed by the client's own key, and that are refused for what they say.

/** Longer than any age and tolerance that a server can have. Seconds. */
const LONG = 3600

export function badContents({ sign, now, request }: BadProofParts): readonly BadProofRow[] {
  const claiming = async (claims: Readonly<Record<string, unknown>>) => await sign({ claims })
  return [
    ['malformed_proof', 'missing jti', async () => await sign({ omit: ['jti'] })],
    ['malformed_proof', 'empty jti', async () => await claiming({ jti: '' })],
    ['malformed_proof', 'jti not a text', async () => await claiming({ jti: 1 })],
    ['malformed_proof', 'very long jti', async () => await claiming({ jti: 'x'.repeat(4096) })],
    ['proof_time', 'old', async () => await claiming({ iat: now - LONG })],
    ['proof_time', 'from the future', async () => await claiming({ iat: now + LONG })],
    ['proof_time', 'missing time', async () => await sign({ omit: ['iat'] })],
    ['proof_time', 'time as text', async () => await claiming({ iat: String(now) })],
    ['proof_token', 'for no token', async () => await sign({ omit: ['ath'] })],
    ['proof_token', 'for another token', async () => await sign({ token: 'another' })],
    ['proof_token', 'with the token itself', async () => await claiming({ ath: request.token })],
  ]
}

export function badRequests({ sign, request }: BadProofParts): readonly BadProofRow[] {
  const { method = 'GET' } = request
  const htu = targetOf(request.url)
  const url = new URL(htu)
  const at = async (value: unknown) => await sign({ claims: { htu: value } })
  const changed = (change: (copy: URL) => void) => {
    const copy = new URL(htu)
    change(copy)
    return copy.href
  }
  return [
    [
      'proof_method',
      'another method',
      async () => await sign({ method: method === 'DELETE' ? 'PUT' : 'DELETE' }),
    ],
    [
      'proof_method',
      'method in lower case',
      async () => await sign({ method: method.toLowerCase() }),
    ],
    ['proof_method', 'missing method', async () => await sign({ omit: ['htm'] })],
    [
      'proof_url',
      'another path',
      async () => await at(changed((copy) => (copy.pathname += '/other'))),
    ],
    [
      'proof_url',
      'another host',
      async () => await at(changed((copy) => (copy.hostname = 'stranger.test'))),
    ],
    [
      'proof_url',
      'host that begins alike',
      async () => await at(changed((copy) => (copy.hostname += '.stranger.test'))),
    ],
    [
      'proof_url',
      'another port',
      async () => await at(changed((copy) => (copy.port = copy.port === '8999' ? '8998' : '8999'))),
    ],
    [
      'proof_url',
      'another scheme',
      async () =>
        await at(htu.replace(url.protocol, url.protocol === 'https:' ? 'http:' : 'https:')),
    ],
    ['proof_url', 'a path alone', async () => await at(url.pathname)],
    ['proof_url', 'the URL in a list', async () => await at([htu])],
    ['proof_url', 'missing URL', async () => await sign({ omit: ['htu'] })],
  ]
}

export function badNonces({ sign, request: { nonce } }: BadProofParts): readonly BadProofRow[] {
  if (nonce === undefined) return []
  return [
    ['missing_nonce', 'no nonce', async () => await sign({ omit: ['nonce'] })],
    ['invalid_nonce', 'another nonce', async () => await sign({ nonce: 'another' })],
    ['invalid_nonce', 'nonce with more behind it', async () => await sign({ nonce: `${nonce}A` })],
    ['invalid_nonce', 'nonce in a list', async () => await sign({ claims: { nonce: [nonce] } })],
  ]
}

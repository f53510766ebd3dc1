import type { Options, Row, Verdict } from './row.ts'
import { type Draft, type TokenMaker, NOW, usualClaims } from './token-maker.ts'

/**
 * Tokens with two faults: which of them is found is documented, and what a key must prove comes after the proof. The
 * faults stand in the order of the checks.
 */
export function order(maker: TokenMaker): readonly Row[] {
  const faults = faultsOf(maker)
  return faults.flatMap((first, at) =>
    faults
      .slice(at + 1)
      .filter((second) => !contradicts(first, second))
      .map((second): Row => {
        return {
          name: `a token ${first.name} and ${second.name}`,
          source: 'RFC 7519 section 7.2; CVE-2024-51744',
          verdict: first.verdict,
          options: Object.assign({}, first.options, second.options),
          token: built(maker, [first, second]),
          requests: first.isBeforeKeys === true ? 0 : 1,
        }
      }),
  )
}

interface Fault extends Pick<Draft, 'header' | 'claims' | 'by'> {
  readonly name: string
  readonly verdict: Verdict
  readonly options?: Options
  /** Changes the payload's text. */
  readonly spoil?: (payload: string) => string
  /** Changes the finished token. */
  readonly cut?: (token: string) => string
  /** Is found without any key. */
  readonly isBeforeKeys?: boolean
}

function faultsOf({ stranger }: TokenMaker): readonly Fault[] {
  return [
    {
      name: 'that is too large',
      verdict: 'too_large',
      options: { maxTokenSize: 100 },
      isBeforeKeys: true,
    },
    { name: 'with padding', verdict: 'malformed', cut: (token) => `${token}=`, isBeforeKeys: true },
    {
      name: 'with an extension',
      verdict: 'critical_header',
      header: { crit: ['x'] },
      isBeforeKeys: true,
    },
    { name: 'with a typ of 0', verdict: 'malformed', header: { typ: 0 }, isBeforeKeys: true },
    {
      name: 'without an algorithm',
      verdict: 'algorithm',
      header: { alg: undefined },
      isBeforeKeys: true,
    },
    { name: 'by a stranger', verdict: 'unknown_key', by: stranger.rsa },
    { name: 'of another type', verdict: 'type', options: { type: 'at+jwt' } },
    {
      name: 'with a repeated claim',
      verdict: 'malformed',
      spoil: (payload) => `{"sub":"eve",${payload.slice(1)}`,
    },
    { name: 'of another issuer', verdict: 'issuer', claims: { iss: 'https://other.test' } },
    { name: 'for another audience', verdict: 'audience', claims: { aud: 'other' } },
    { name: 'without a claim', verdict: 'missing_claim', options: { requiredClaims: ['absent'] } },
    { name: 'with an nbf of text', verdict: 'claim', claims: { nbf: 'soon' } },
    { name: 'that has expired', verdict: 'expired', claims: { exp: NOW - 60 } },
    { name: 'for later', verdict: 'not_yet_valid', claims: { nbf: NOW + 60 } },
    { name: 'from the future', verdict: 'issued_in_future', claims: { iat: NOW + 120 } },
    {
      name: 'from long ago',
      verdict: 'too_old',
      claims: { iat: NOW - 600 },
      options: { maxTokenAge: 60 },
    },
  ]
}

/** Two faults of one member cannot be had at once. */
function contradicts(first: Fault, second: Fault): boolean {
  const both = [first, second].map(({ header, claims }) => Object.keys({ ...header, ...claims }))
  return both[0]?.some((name) => both[1]?.includes(name)) === true
}

function built({ token }: TokenMaker, faults: readonly Fault[]): string {
  const draft: Draft = Object.assign(
    {},
    ...faults.map(({ by }) => (by === undefined ? {} : { by })),
    { header: Object.assign({}, ...faults.map(({ header }) => header ?? {})) as object },
  ) as Draft
  const claims = Object.assign(
    usualClaims(),
    ...faults.map((fault) => fault.claims ?? {}),
  ) as object
  const spoilt = faults.reduce((text, { spoil }) => spoil?.(text) ?? text, JSON.stringify(claims))
  const made = token({ ...draft, payloadText: spoilt })
  return faults.reduce((text, { cut }) => cut?.(text) ?? text, made)
}

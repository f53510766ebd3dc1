import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'

import fc from 'fast-check'

import { AuthError } from '../../../packages/core/src/errors.ts'
import { explain } from '../../../packages/core/src/explain.ts'
import { localKeys } from '../../../packages/core/src/keys/local-keys.ts'
import type { VerifierOptions } from '../../../packages/core/src/verifier-options.ts'
import { createVerifier } from '../../../packages/core/src/verifier.ts'
import { jsonObject, jsonText, mostly, octetsOf } from '../inputs.ts'
import { type FuzzTarget, hold } from '../target.ts'

const NOW = 1_767_225_600

/** The first key of RFC 8037, appendix A.1: a seed gives the same token each time. */
const privateKey = createPrivateKey({
  key: {
    kty: 'OKP',
    crv: 'Ed25519',
    d: 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A',
    x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
  },
  format: 'jwk',
})
const jwk = createPublicKey(privateKey).export({ format: 'jwk' })
const clock = { now: () => NOW, monotonic: () => 0, after: () => () => undefined }

const STATUSES = ['valid', 'valid', 'revoked', 'unknown'] as const

/** A verifier that asks for much, and one that asks for little. */
const strict: VerifierOptions = {
  keys: localKeys([{ ...jwk, kid: 'a' }]),
  issuer: 'https://issuer.example',
  audience: ['https://api.example', 'api'],
  algorithms: ['Ed25519'],
  maxTokenAge: 3600,
  requiredClaims: ['sub'],
  type: 'at+jwt',
  clock,
}
const lenient: VerifierOptions = {
  keys: localKeys(jwk),
  issuer: null,
  audience: null,
  algorithms: ['EdDSA', 'Ed25519'],
  requireExpiry: false,
  revocations: {
    statusOf: ({ sub }) => STATUSES[String(sub).length % STATUSES.length] ?? 'valid',
  },
  clock,
}

const time = mostly(fc.integer({ min: NOW - 4000, max: NOW + 100 }), fc.double())
const header = jsonText(
  jsonObject({
    alg: fc.constantFrom('Ed25519', 'Ed25519', 'EdDSA', 'RS512', 'none'),
    kid: fc.constantFrom('a', 'a', 'b'),
    typ: fc.constantFrom('at+jwt', 'application/AT+JWT', 'JWT'),
  }),
)
const payload = jsonText(
  jsonObject({
    iss: fc.constantFrom('https://issuer.example', 'https://other.example'),
    aud: fc.oneof(fc.constant('api'), fc.array(fc.constantFrom('api', 'b'))),
    sub: fc.string(),
    exp: time,
    nbf: time,
    iat: time,
  }),
)

/** Header and payload, one a line, which are then signed; or a token without any line break. */
export const explanation: FuzzTarget = {
  inputs: fc.tuple(header, payload).map((lines) => lines.join('\n')),
  async run(input) {
    const token = input.includes('\n') ? signed(input) : input
    for (const options of [strict, lenient]) await expectAgreement(token, options)
  },
}

function signed(input: string): string {
  const end = input.indexOf('\n')
  const parts = [input.slice(0, end), input.slice(end + 1)]
  const signingInput = parts.map((part) => octetsOf(part).toString('base64url')).join('.')
  const signature = sign(null, Buffer.from(signingInput), privateKey)
  return `${signingInput}.${signature.toString('base64url')}`
}

async function expectAgreement(token: string, options: VerifierOptions): Promise<void> {
  const verified = await createVerifier({ ...options, remember: false })
    .verify(token)
    .then(
      ({ claims }) => ({ claims, reason: undefined }),
      (error: unknown) => {
        if (!(error instanceof AuthError)) throw error
        return { claims: undefined, reason: error.reason }
      },
    )
  const { verdict, refusal, findings, provenClaims } = await explain(token, options)
  hold(verified.reason === refusal?.reason, 'the refusal is that of the verifier')
  hold((verdict === 'accepted') === (refusal === undefined), 'the verdict says the same')
  const reasons = findings.flatMap(({ reason }) => reason ?? [])
  hold(
    refusal === undefined ? reasons.length === 0 : reasons.includes(refusal.reason),
    'it is among the findings',
  )
  if (verified.claims === undefined) return
  hold(
    isDeepStrictEqual(provenClaims, verified.claims),
    'the proven claims are those of the verifier',
  )
}

import { isDeepStrictEqual } from 'node:util'

import fc from 'fast-check'

import { explain } from '../../../../packages/core/src/explain/explain.ts'
import { localKeys } from '../../../../packages/core/src/keys/local-keys.ts'
import { AuthError } from '../../../../packages/core/src/refusal/errors.ts'
import { createVerifier } from '../../../../packages/core/src/verifier/create-verifier.ts'
import type { VerifierOptions } from '../../../../packages/core/src/verifier/verifier-options.ts'
import { jsonObject, jsonText, mostly, nearlyAll } from '../inputs.ts'
import { otherPrivateKey, privateKey, publicJwkOf, signed } from '../signed.ts'
import { type FuzzTarget, hold } from '../target.ts'

const NOW = 1_767_225_600

const jwk = publicJwkOf(privateKey)
const clock = { now: () => NOW, monotonic: () => 0, after: () => () => undefined }

const STATUSES = ['valid', 'valid', 'revoked', 'unknown'] as const

/** A verifier that asks for much, and one that asks for little and does not trust the other key. */
const strict: VerifierOptions = {
  keys: localKeys([
    { ...jwk, kid: 'a' },
    { ...publicJwkOf(otherPrivateKey), kid: 'b' },
  ]),
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
  requireExpiry: false,
  revocations: {
    statusOf: ({ sub }) => STATUSES[String(sub).length % STATUSES.length] ?? 'valid',
  },
  clock,
}

const kid = fc.constantFrom('a', 'a', 'b', 'c')
const typ = fc.constantFrom('at+jwt', 'application/AT+JWT', 'JWT')
const time = mostly(fc.integer({ min: NOW - 4000, max: NOW + 100 }), fc.double())
const header = jsonText(
  jsonObject({ alg: fc.constantFrom('Ed25519', 'Ed25519', 'EdDSA', 'RS512', 'none'), kid, typ }),
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

/** Most get past the signature, and some are accepted. */
const soundHeader = nearlyAll({
  alg: mostly(fc.constant('Ed25519'), fc.constant('EdDSA')),
  kid,
  typ,
})
const soundPayload = nearlyAll({
  iss: mostly(
    fc.constant('https://issuer.example'),
    fc.constantFrom('https://issuer.example/', 'x', ''),
  ),
  aud: mostly(fc.constant('api'), fc.array(fc.constantFrom('api', 'b'))),
  sub: fc.string(),
  exp: mostly(fc.integer({ min: NOW - 10, max: NOW + 4000 }), time),
  nbf: mostly(fc.integer({ min: NOW - 4000, max: NOW + 10 }), time),
  iat: mostly(fc.integer({ min: NOW - 3700, max: NOW + 70 }), time),
})
/** A third line, where the other key signs. */
const OTHER_SIGNS = 'other'
const hasWrongSigner = mostly(fc.constant(false), fc.constant(true))

const loose = fc.tuple(header, payload).map((lines) => lines.join('\n'))
const sound = fc.tuple(soundHeader, soundPayload, hasWrongSigner).map(([head, body, isWrong]) => {
  const isOther = (Reflect.get(head, 'kid') === 'b') !== isWrong
  const lines = [JSON.stringify(head), JSON.stringify(body)]
  return (isOther ? [...lines, OTHER_SIGNS] : lines).join('\n')
})

/** Header and payload, one a line, which are then signed, and perhaps who signs; or a token without any line break. */
export const explanation: FuzzTarget = {
  inputs: fc.oneof(loose, { weight: 3, arbitrary: sound }),
  async run(input) {
    const token = input.includes('\n') ? tokenOf(input) : input
    for (const options of [strict, lenient]) await expectAgreement(token, options)
  },
}

function tokenOf(input: string): string {
  const [head = '', body = '', who] = input.split('\n')
  return signed(head, body, who === OTHER_SIGNS ? otherPrivateKey : privateKey)
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

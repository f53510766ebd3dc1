import fc from 'fast-check'

import { dpopProofs } from '../../../../packages/core/src/dpop/dpop-proofs.ts'
import { type DpopProof, proofMethods } from '../../../../packages/core/src/dpop/proof-check.ts'
import { AuthError } from '../../../../packages/core/src/refusal/errors.ts'
import { anyCharacter, base64url, jsonObject, jsonText, mostly, parseJson } from '../inputs.ts'
import { privateKey, publicJwkOf, signed } from '../signed.ts'
import { type FuzzTarget, hold } from '../target.ts'

const NOW = 1_767_225_600
const TOKEN = 'a.b.c'
/** The SHA-256 of `a.b.c`. */
const ATH = 'hF4wRIgJ4ryJWOsCW_x5UjXROwd6U9DDq70jhRcNybg'

const jwk = publicJwkOf(privateKey)
/** RFC 8037, appendix A.3. */
const JKT = 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k'

const clock = { now: () => NOW, monotonic: () => 0, after: () => () => undefined }
const secret = 's'.repeat(32)
const proofs = dpopProofs({ origin: 'https://api.example', clock })
const withNonces = dpopProofs({ origin: 'https://api.example', clock, nonces: { secret } })

const key = jsonObject({
  kty: fc.constantFrom('OKP', 'OKP', 'EC', 'RSA', 'oct'),
  crv: fc.constantFrom('Ed25519', 'Ed25519', 'P-256'),
  x: mostly(fc.constant(jwk.x), base64url),
})
const header = jsonText(
  jsonObject({
    typ: fc.constantFrom('dpop+jwt', 'dpop+jwt', 'application/DPOP+jwt', 'JWT'),
    alg: fc.constantFrom('Ed25519', 'Ed25519', 'EdDSA', 'ES256', 'none', 'HS256'),
    jwk: mostly(fc.constant(jwk), key),
  }),
)
const claims = jsonText(
  jsonObject({
    jti: fc.string({ unit: anyCharacter }),
    htm: fc.constantFrom('GET', 'GET', 'POST'),
    htu: fc.constantFrom('https://api.example/a', 'HTTPS://api.example:443/%61', 'https://b'),
    iat: mostly(fc.integer({ min: NOW - 80, max: NOW + 40 }), fc.double()),
    ath: mostly(fc.constant(ATH), fc.string()),
    nonce: mostly(fc.constant(withNonces.nonce()), fc.string()),
  }),
)

/** Two lines, header and payload, which are signed with one key; or one line, the header `DPoP` as it is. */
export const dpopProof: FuzzTarget = {
  inputs: mostly(
    fc.tuple(header, claims).map((lines) => lines.join('\n')),
    fc.string({ unit: anyCharacter }).map((text) => text.replaceAll('\n', '')),
  ),
  async run(input) {
    const at = input.indexOf('\n')
    const proof = at === -1 ? input : signed(input.slice(0, at), input.slice(at + 1))
    const accepted = await read(proofs, proof)
    const withNonce = await read(withNonces, proof)
    hold(accepted !== undefined || withNonce === undefined, 'a nonce opens nothing')
    if (accepted === undefined) return
    hold(accepted.jkt === JKT, 'the key is the one that signed')
    hold(/^[\w-]{43}$/.test(accepted.jti), 'the jti is hashed')
    hold(accepted.expires >= NOW && accepted.expires <= NOW + 95, 'the time is of now')
    const [head, payload] = proof.split('.', 2).map((part) => parseJson(decoded(part)))
    hold(String(member(head, 'typ')).toLowerCase().endsWith('dpop+jwt'), 'it is a proof')
    hold(['Ed25519', 'EdDSA'].includes(String(member(head, 'alg'))), 'the algorithm is of the key')
    hold(
      member(payload, 'htm') === 'GET' && member(payload, 'ath') === ATH,
      'it is for this request',
    )
    hold(new URL(String(member(payload, 'htu'))).origin === 'https://api.example', 'and server')
    const isNonceOurs = member(payload, 'nonce') === withNonces.nonce()
    hold((withNonce !== undefined) === isNonceOurs, 'only our nonce is accepted')
  },
}

function decoded(part: string): string {
  return Buffer.from(part, 'base64url').toString()
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

async function read(guard: typeof proofs, proof: string): Promise<DpopProof | undefined> {
  try {
    return await proofMethods(guard).check({ proof, method: 'GET', target: '/a', token: TOKEN })
  } catch (error) {
    if (!(error instanceof AuthError)) throw error
    const codes = ['invalid_dpop_proof', 'use_dpop_nonce']
    hold(codes.includes(error.code), `a code of proofs, not ${error.code}`)
    hold(error.status === 401 && error.detail.length > 0, 'it says why')
    return undefined
  }
}

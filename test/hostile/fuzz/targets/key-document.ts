import { KeyObject } from 'node:crypto'

import { parseJson } from '@portcullis/kit/json'
import fc from 'fast-check'
import { calculateJwkThumbprint } from 'jose'

import { ALGORITHMS, purposesOf } from '../../../../packages/core/src/algorithms/algorithms.ts'
import { readKeyDocument } from '../../../../packages/core/src/keys/key-document.ts'
import type { VerificationKey } from '../../../../packages/core/src/keys/key-source.ts'
import { base64url, jsonObject, jsonText, mostly } from '../inputs.ts'
import { readSeeds } from '../seeds.ts'
import { type FuzzTarget, hold } from '../target.ts'

/** Members of real keys, which cannot be made up. */
const material = readSeeds('key-document').flatMap(
  ({ input }) => input.match(/(?<="[nexy]":")[\w-]+/g) ?? [],
)
const curves = new Set(
  [...ALGORITHMS.values()].flatMap((rule) => ('crv' in rule ? [rule.crv] : [])),
)
const number = mostly(fc.constantFrom('AQ', 'Aw', 'AAEAAQ', ...material), base64url)
const jwk = jsonObject({
  kty: fc.constantFrom('RSA', 'EC', 'OKP', 'oct'),
  crv: fc.constantFrom(...curves, 'Ed448'),
  n: number,
  e: number,
  x: number,
  y: number,
  d: number,
  use: fc.constantFrom('sig', 'enc'),
  key_ops: fc.array(fc.constantFrom('verify', 'sign')),
  alg: fc.constantFrom(...ALGORITHMS.keys(), 'none', 'HS256'),
  kid: fc.string(),
})

/** A JWK or a JWK set. */
export const keyDocument: FuzzTarget = {
  inputs: jsonText(fc.oneof(jwk, jsonObject({ keys: fc.array(jwk, { maxLength: 120 }) }))),
  async run(input) {
    const document = parseJson(input)
    const before = JSON.stringify(document)
    const read = readKeyDocument(document)
    hold(JSON.stringify(document) === before, 'the document is left as it is')
    if (read === undefined) return
    hold(read.keys.length <= 100 && read.skipped.count >= 0, 'at most 100 keys')
    hold(read.skipped.entries.length <= 100, 'at most 100 explanations')
    for (const key of read.keys) await expectUsable(key)
  },
}

async function expectUsable(key: VerificationKey): Promise<void> {
  const { thumbprint, kid, stated, prepared } = key
  expectOnePurpose(key)
  hold(stated === undefined || prepared.has(stated), 'a key can do what it states')
  hold(prepared.size > 0, 'a key is good for something')
  hold(kid === undefined || typeof kid === 'string', 'kid is a text')
  for (const [algorithm, { input, signatureLength }] of prepared) {
    const imported = input instanceof KeyObject ? input : input.key
    hold(imported.type === 'public', 'a private key is never one of ours')
    const exported = imported.export({ format: 'jwk' })
    hold(
      exported.kty === ALGORITHMS.get(algorithm)?.kty,
      'the key is of the kind the algorithm needs',
    )
    hold((await calculateJwkThumbprint(exported)) === thumbprint, 'jose finds the same thumbprint')
    const { modulusLength, publicExponent } = imported.asymmetricKeyDetails ?? {}
    if (modulusLength === undefined || publicExponent === undefined) continue
    hold(modulusLength >= 2048 && modulusLength <= 8192, 'the modulus has a safe size')
    hold(publicExponent >= 3n && publicExponent % 2n === 1n, 'the exponent is safe')
    hold(publicExponent < 2n ** 32n, 'the exponent is short')
    hold(signatureLength === Math.ceil(modulusLength / 8), 'signatures are as long as the modulus')
  }
}

/** To a verifier without a list: by two names, if it is an Ed25519 key. */
function expectOnePurpose(key: VerificationKey): void {
  const purposes = purposesOf(key, undefined)
  const rules = new Set(purposes.map((algorithm) => ALGORITHMS.get(algorithm)))
  hold(rules.size === 1, 'a key is for one algorithm')
  if (key.stated === undefined) hold(!purposes.includes('RS256'), 'silence never means RS256')
  else hold(purposes.includes(key.stated), 'a key is for what it states')
}

import { createSigningKey, optionalMembersOf } from '../keys/signing-key.ts'
import { badContents, badNonces, badRequests } from './bad-proof-claims.ts'
import { badProofAlgorithms, badProofForms, badProofKeys } from './bad-proof-forms.ts'
import type { BadProof, BadProofParts } from './bad-proof.ts'
import { checkProofRequest, makeProof, type ProofMaker, type ProvenRequest } from './proof.ts'

// Makes all bad proofs of the tables for one request.

export async function createBadProofs(
  { clock, key }: ProofMaker,
  request: ProvenRequest,
): Promise<readonly BadProof[]> {
  checkProofRequest('badProofs', request)
  const stranger = await createSigningKey(key.algorithm, optionalMembersOf(key.algorithm))
  const signing: BadProofParts['signing'] =
    (options, signer = key) =>
    async () =>
      await makeProof({ clock, key: signer }, { ...request, ...options })
  const [header = '', payload = '', signature = ''] = (await signing({})()).split('.')
  const now = Math.floor(clock.now())
  const parts = { request, signing, key, stranger, now, header, payload, signature }
  const rows = [
    ...badProofForms(parts),
    ...badProofAlgorithms(parts),
    ...(await badProofKeys(parts)),
    ...badContents(parts),
    ...badRequests(parts),
    ...badNonces(parts),
  ]
  const authorization = `DPoP ${request.token}`
  return await Promise.all(
    rows.map(async ([reason, name, make]) => {
      const dpop = await make()
      const headers = dpop === undefined ? { authorization } : { authorization, dpop }
      return { name, code: codeOf(reason), reason, headers }
    }),
  )
}

function codeOf(reason: BadProof['reason']): BadProof['code'] {
  if (reason === 'binding') return 'invalid_token'
  const isAboutNonce = reason === 'missing_nonce' || reason === 'invalid_nonce'
  return isAboutNonce ? 'use_dpop_nonce' : 'invalid_dpop_proof'
}

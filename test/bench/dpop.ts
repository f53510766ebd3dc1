import { createHash, randomUUID } from 'node:crypto'

import { authenticateRequest, dpopProofs, localReplays } from '@portcullis/core'
import { calculateJwkThumbprint } from 'jose'

import type { DpopProofsMethods } from '../../packages/core/src/dpop/proof-check.ts'
import { claims, createSigner, KID } from './inputs.ts'
import { accepting, acceptingAtOnce, costOf, mainThread, measure, ratioOf } from './measure.ts'
import { describeMachine, planOf } from './report.ts'
import { ES256 } from './signature-kinds.ts'
import {
  answeredByExpress,
  bareSync,
  createSetting,
  expressOauth2Guard,
  promised,
  requestWith,
  verifierOf,
} from './subjects.ts'
import { printTable } from './table.ts'

// What a DPoP proof of ES256 costs, beside one `crypto.verify` of its signature, and a whole request with a bound token:
// `pnpm bench dpop`.
//
// Each proof is new: it is signed before the round, of which only the checks are measured. The token of a request is always
// the same one, as clients have it.

const PLAN = planOf({ rounds: 7, milliseconds: 20, warmUp: 60 })
const ORIGIN = 'https://api.test'
/** More than a run has proofs, also of one key: none must be refused for want of room. */
const ROOM = 1_000_000

const setting = await createSetting()
const client = createSigner(ES256)
const { kid: _, alg, use: _use, ...material } = client.jwk
const cnf = { jkt: await calculateJwkThumbprint(material) }
const tokenHeader = JSON.stringify({ alg: setting.jwk.alg, typ: 'JWT', kid: KID })
const token = setting.signer.sign(tokenHeader, JSON.stringify({ ...claims(0), cnf }))
const ath = createHash('sha256').update(token).digest('base64url')
const header = JSON.stringify({ typ: 'dpop+jwt', alg, jwk: material })

/** A new proof for `GET /`, each time. It is good for a minute. */
function prove(): string {
  const iat = Math.floor(Date.now() / 1000)
  const said = { jti: randomUUID(), htm: 'GET', htu: `${ORIGIN}/`, iat, ath }
  return client.sign(header, JSON.stringify(said))
}

const proofs = () =>
  dpopProofs({ origin: ORIGIN, replays: localReplays({ max: ROOM, maxPerKey: ROOM }) })
const requestOf = (dpop: string) => requestWith({ authorization: `DPoP ${token}`, dpop }, 'https')

/** One proof, checked and remembered. */
function proofAlone() {
  const made = proofs()
  const called = made as typeof made & DpopProofsMethods // what a guard calls
  return promised('a proof: `check` and `remember`', async (proof) => {
    const checked = await called.check({ proof, method: 'GET', target: '/', token })
    await called.remember(checked)
    return checked
  })
}

/** A request with a bound token, whose token was accepted before or is read anew each time. */
function guarded(name: string, remember: { remember?: false }) {
  const verifier = verifierOf({ ...setting, lifetime: 3600 }, remember)
  const options = { dpop: proofs() }
  const isSync = false
  return {
    name,
    isSync,
    verification(proof: string) {
      const request = requestOf(proof)
      return async () => await authenticateRequest(verifier, request, options)
    },
  }
}

/** It remembers neither tokens nor proofs. */
function guardedByPeer() {
  const guard = expressOauth2Guard(setting, true)
  return {
    name: 'express-oauth2-jwt-bearer: token and proof',
    isSync: false,
    verification(proof: string) {
      const request = requestOf(proof)
      return async () => await answeredByExpress(guard, request)
    },
  }
}

const bare = bareSync({ ...setting, jwk: client.jwk, kind: ES256 })
const subjects = [
  bare,
  proofAlone(),
  guarded('a request: token and proof', {}),
  guarded('a request: token and proof, nothing remembered', { remember: false }),
  guardedByPeer(),
]
const take = (count: number) => Array.from({ length: count }, prove)
const oneByOne = await measure(subjects, accepting(take), PLAN)
const atOnce = await measure(subjects, acceptingAtOnce(take), PLAN)
setting.keyServer.close()
console.log(`${describeMachine()}\nMain thread by ${mainThread.name}.`)
printTable(
  `Medians of ${PLAN.rounds} interleaved rounds; times of the bare synchronous call.`,
  [
    ['Checked', ({ name }) => name],
    ['one at a time', (each) => ratioOf(oneByOne, each, bare)],
    ['64 at once', (each) => ratioOf(atOnce, each, bare)],
    ['of which main thread', (each) => ratioOf(atOnce, each, bare, 'main')],
    ['all threads', (each) => ratioOf(atOnce, each, bare, 'cpu')],
    ['one at a time: µs', (each) => costOf(oneByOne, each), 1],
  ],
  subjects,
)

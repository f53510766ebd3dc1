import { createHash, randomUUID } from 'node:crypto'

import { authenticateRequest, dpopProofs, localReplays } from '@portcullis/core'
import { calculateJwkThumbprint } from 'jose'

import type { DpopProofsMethods } from '../../packages/core/src/dpop/proof-check.ts'
import { claims, createSigner, KID } from './inputs.ts'
import { accepting, costOf, measure, ratioOf, type Subject } from './measure.ts'
import { describeMachine, planOf } from './report.ts'
import { ES256 } from './signature-kinds.ts'
import * as subjects from './subjects.ts'
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

const setting = await subjects.createSetting()
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

/** One proof, checked and remembered. */
function proofAlone() {
  const made = proofs()
  const called = made as typeof made & DpopProofsMethods // what a guard calls
  return subjects.promised('a proof: `check` and `remember`', async (proof) => {
    const checked = await called.check({ proof, method: 'GET', target: '/', token })
    await called.remember(checked)
    return checked
  })
}

/** A request with a bound token, and a guard that answers it. The peer remembers neither tokens nor proofs. */
function guarded(
  name: string,
  guard: (request: ReturnType<typeof subjects.requestWith>) => unknown,
): Subject {
  return {
    name: `${name}: token and proof`,
    isSync: false,
    verification(dpop) {
      const request = subjects.requestWith({ authorization: `DPoP ${token}`, dpop }, 'https')
      return () => guard(request)
    },
  }
}

const verifier = subjects.verifierOf({ ...setting, lifetime: 3600 })
const options = { dpop: proofs() }
const peer = subjects.expressOauth2Guard(setting, true)
const bare = subjects.bareSync({ ...setting, jwk: client.jwk, kind: ES256 })
const measured = [
  bare,
  proofAlone(),
  guarded('a request', (request) => authenticateRequest(verifier, request, options)),
  guarded('express-oauth2-jwt-bearer', (request) => subjects.answeredByExpress(peer, request)),
]
const take = (count: number) => Array.from({ length: count }, prove)
const costs = await measure(measured, accepting(take), PLAN)
setting.keyServer.close()
console.log(describeMachine())
printTable(
  `Least of ${PLAN.rounds} interleaved rounds; times of the bare synchronous call.`,
  [
    ['Checked', ({ name }) => name],
    ['times', (each) => ratioOf(costs, each, bare)],
    ['of all threads', (each) => ratioOf(costs, each, bare, 'cpu')],
    ['µs', (each) => costOf(costs, each), 1],
  ],
  measured,
)

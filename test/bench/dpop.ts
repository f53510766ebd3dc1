import { createHash, randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'

import { authenticateRequest, dpopProofs, localReplays } from '@portcullis/core'
import { calculateJwkThumbprint } from 'jose'

import { claims, createSigner, KID } from './inputs.ts'
import { costOf, inTurn, measure, type Subject } from './measure.ts'
import { describeMachine, flags, planOf, printedAlone } from './report.ts'
import { ES256 } from './signature-kinds.ts'
import * as subjects from './subjects.ts'
import { printTable } from './table.ts'

// What a DPoP proof of ES256 costs, beside one `crypto.verify` of its signature, and a whole request with a bound token:
// `pnpm bench dpop`.
//
// Each proof is new: it is signed before the round, of which only the checks are measured. The token of a request is always
// the same one, as clients have it. As requests do, each has an iteration of the event loop, or signatures would go to the
// thread pool. Each subject is alone in its process, and the least round counts. The peer remembers neither tokens nor proofs.

const PLAN = planOf({ rounds: 12, milliseconds: 150, warmUp: 800, garbage: 'minor' })
const ORIGIN = 'https://api.test'

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

type Check = Subject['verification']

const checks: Readonly<Record<string, () => Check>> = {
  'bare `crypto.verify`, synchronous'() {
    const bare = subjects.bareSync({ ...setting, jwk: client.jwk, kind: ES256 })
    return (proof) => bare.verification(proof)
  },
  'a request: token and proof'() {
    const verifier = subjects.verifierOf({ ...setting, lifetime: 3600 })
    // None must be refused for want of room.
    const replays = localReplays({ max: 1_000_000, maxPerKey: 1_000_000 })
    const options = { dpop: dpopProofs({ origin: ORIGIN, replays }) }
    return guarded((request) => authenticateRequest(verifier, request, options))
  },
  'express-oauth2-jwt-bearer: token and proof'() {
    const peer = subjects.expressOauth2Guard(setting, true)
    return guarded((request) => subjects.answeredByExpress(peer, request))
  },
}
const [BARE = ''] = Object.keys(checks)

/** A request with a bound token, and a guard that answers it. */
function guarded(guard: (request: ReturnType<typeof subjects.requestWith>) => unknown): Check {
  return (dpop) => {
    const request = subjects.requestWith({ authorization: `DPoP ${token}`, dpop }, 'https')
    return () => guard(request)
  }
}

/** Microseconds of CPU time, of all threads. */
async function measureHere(check: Check): Promise<number> {
  const task = () => (count: number) => {
    const runs = Array.from({ length: count }, () => check(prove()))
    return async () => {
      for (const run of runs) {
        if ((await run()) === false) throw new Error('a proof was refused')
        await setImmediate()
      }
    }
  }
  return costOf(await measure([check], task, PLAN), check, 'cpu')
}

const own = checks[process.argv[2] ?? '']
if (own !== undefined) {
  console.log(await measureHere(own()))
  process.exit()
}
const costs = await inTurn(Object.keys(checks), flags.quick ? 1 : 3, (name) => printedAlone(name))
const least = (name: string) => Math.min(...(costs.get(name) ?? []))
setting.keyServer.close()
printTable(
  `${describeMachine()}\nCPU of all threads; times of the bare synchronous call.`,
  [
    ['Checked', ([name]) => name],
    ['times', ([name]) => least(name) / least(BARE)],
    ['µs', ([name]) => least(name), 1],
  ],
  Object.entries(checks),
)

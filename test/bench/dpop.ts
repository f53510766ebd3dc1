import {
  authenticateRequest,
  createVerifier,
  dpopProofs,
  localReplays,
  remoteKeys,
} from '@portcullis/core'
import { auth } from 'express-oauth2-jwt-bearer'

import type { DpopProofsMethods } from '../../packages/core/src/dpop/proof-check.ts'
import { type BoundClient, createBoundClient, headersOf, ORIGIN } from './bound-client.ts'
import { AUDIENCE, createSigner, ISSUER } from './inputs.ts'
import { type KeyServer, listenForKeys } from './key-server.ts'
import { describeMachine } from './machine.ts'
import { mainThread, type Plan } from './measure.ts'
import { flags } from './report.ts'
import { ED_DSA, ES256, RS256, type SignatureKind } from './signature-kinds.ts'
import { answeredByExpress, bareSync, type Subject } from './subjects.ts'
import { printTable } from './table.ts'
import {
  acceptAtOnceTask,
  acceptTask,
  costOf,
  measureSubjects,
  ratioOf,
} from './verification-tasks.ts'

// What a DPoP proof costs, beside one `crypto.verify` of its signature, and a whole request with a bound token:
//
//   pnpm bench dpop           the tables
//   pnpm bench dpop --quick   to see whether it runs; its figures mean nothing
//
// Each proof is new: it is signed before the round, of which only the checks are measured. The token of a request is always
// the same one, as clients have it.

const PLAN: Plan = flags.quick
  ? { rounds: 1, milliseconds: 5, warmUp: 10 }
  : { rounds: 7, milliseconds: 20, warmUp: 60 }

/** More than a run has proofs, also of one key: none must be refused for want of room. */
const ROOM = 1_000_000
const KINDS: readonly SignatureKind[] = [ES256, RS256, ED_DSA]
const issuer = createSigner()

/** One proof, checked and remembered. */
function proofAlone(client: BoundClient): Subject {
  const replays = localReplays({ max: ROOM, maxPerKey: ROOM })
  const made = dpopProofs({ origin: ORIGIN, replays })
  const proofs = made as typeof made & DpopProofsMethods // what a guard calls
  const { token } = client
  return {
    name: 'a proof: `check` and `remember`',
    isSync: false,
    verification: (proof) => async () => {
      const checked = await proofs.check({ proof, method: 'GET', target: '/', token })
      await proofs.remember(checked)
      return checked
    },
  }
}

/** A request with a bound token, whose token was accepted before or is read anew each time. */
function guardedRequest(client: BoundClient, keys: KeyServer, remember: boolean): Subject {
  const verifier = createVerifier({
    keys: remoteKeys(keys.urls.bare, { maxAge: 3600 }),
    issuer: ISSUER,
    audience: AUDIENCE,
    ...(remember ? {} : { remember: false }),
  })
  const replays = localReplays({ max: ROOM, maxPerKey: ROOM })
  const options = { dpop: dpopProofs({ origin: ORIGIN, replays }) }
  return {
    name: `a request: token and proof${remember ? '' : ', nothing remembered'}`,
    isSync: false,
    verification(proof) {
      const request = requestWith(client, proof)
      return async () => await authenticateRequest(verifier, request, options)
    },
  }
}

/** README of express-oauth2-jwt-bearer, "DPoP Authentication". It remembers neither tokens nor proofs. */
function guardedByPeer(client: BoundClient, keys: KeyServer): Subject {
  const guard = auth({
    issuer: ISSUER,
    jwksUri: keys.urls.set,
    audience: AUDIENCE,
    tokenSigningAlg: 'RS512',
    dpop: { enabled: true },
  })
  return {
    name: 'express-oauth2-jwt-bearer: token and proof',
    isSync: false,
    verification(proof) {
      const request = requestWith(client, proof)
      return async () => await answeredByExpress(guard, request)
    },
  }
}

/** As much of Express's request as is read. */
function requestWith({ token }: BoundClient, dpop: string) {
  const headers = { host: 'api.test', authorization: `DPoP ${token}`, dpop }
  return {
    method: 'GET',
    url: '/',
    originalUrl: '/',
    protocol: 'https',
    headers,
    query: {},
    get: (name: string) =>
      Object.entries(headers).find(([each]) => each === name.toLowerCase())?.[1],
    is: () => false,
  }
}

async function measureKind(kind: SignatureKind, keys: KeyServer): Promise<void> {
  const client = await createBoundClient(issuer, 0, kind)
  const bare = bareSync({ jwk: client.jwk, kind, urls: keys.urls })
  const subjects = [
    bare,
    proofAlone(client),
    guardedRequest(client, keys, true),
    guardedRequest(client, keys, false),
    guardedByPeer(client, keys),
  ]
  const take = (count: number) =>
    Array.from({ length: count }, () => headersOf(client)['dpop'] ?? '')
  const oneByOne = await measureSubjects(subjects, (each) => acceptTask(each, take), PLAN)
  const atOnce = await measureSubjects(subjects, (each) => acceptAtOnceTask(each, take), PLAN)
  printTable(
    `Proofs of ${kind.name}:`,
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
}

console.log(`${describeMachine()}\nMain thread by ${mainThread.name}.`)
console.log(`Medians of ${PLAN.rounds} interleaved rounds; times of the bare synchronous call.\n`)
const keyServer = await listenForKeys(issuer.jwk)
for (const kind of KINDS) await measureKind(kind, keyServer)
keyServer.close()

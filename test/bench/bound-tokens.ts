import { parseArgs } from 'node:util'

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
import { type Cost, mainThread, median, type Plan } from './measure.ts'
import { ED_DSA, ES256, RS256, type SignatureKind } from './signature-kinds.ts'
import { bareSync, type Subject } from './subjects.ts'
import { markdownTable } from './table.ts'
import {
  acceptAtOnceTask,
  acceptTask,
  type Costs,
  measureSubjects,
  medianRatio,
} from './verification-tasks.ts'

// What a DPoP proof costs, beside one `crypto.verify` of its signature, and a whole request with a bound token:
//
//   pnpm bench dpop           the tables
//   pnpm bench dpop --quick   to see whether it runs; its figures mean nothing
//
// Each proof is new: it is signed before the round, of which only the checks are measured. The token of a request is always
// the same one, as clients have it.

const { values: flags } = parseArgs({ options: { quick: { type: 'boolean' } } })
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
      return async () =>
        await new Promise<unknown>((resolve, reject) => {
          const next = (error?: Error) => {
            if (error === undefined) resolve(request)
            else reject(error)
          }
          Reflect.apply(guard, undefined, [request, {}, next])
        })
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

function roundsOf(costs: Costs, subject: Subject | undefined): readonly Cost[] {
  return (subject === undefined ? undefined : costs.get(subject)) ?? []
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
  print(kind, subjects, oneByOne, atOnce)
}

function print(
  { name }: SignatureKind,
  subjects: readonly Subject[],
  oneByOne: Costs,
  atOnce: Costs,
): void {
  const [bare] = subjects
  const ratio = (costs: Costs, subject: Subject, part: keyof Cost) =>
    medianRatio(roundsOf(costs, subject), roundsOf(costs, bare), part).toFixed(2)
  const rows = subjects.map((subject) => [
    subject.name,
    ratio(oneByOne, subject, 'wall'),
    ratio(atOnce, subject, 'wall'),
    ratio(atOnce, subject, 'main'),
    ratio(atOnce, subject, 'cpu'),
    median(roundsOf(oneByOne, subject).map(({ wall }) => wall)).toFixed(1),
  ])
  const header = [
    'Checked',
    'one at a time',
    '64 at once',
    'of which main thread',
    'all threads',
    'one at a time: µs',
  ]
  console.log(`Proofs of ${name}:\n\n${markdownTable(header, rows)}\n`)
}

console.log(`${describeMachine()}\nMain thread by ${mainThread.name}.`)
console.log(`Medians of ${PLAN.rounds} interleaved rounds; times of the bare synchronous call.\n`)
const keyServer = await listenForKeys(issuer.jwk)
for (const kind of KINDS) await measureKind(kind, keyServer)
keyServer.close()

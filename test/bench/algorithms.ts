import { createSigner, octetsOf, takeInTurn } from './inputs.ts'
import { listenForKeys } from './key-server.ts'
import { describeMachine } from './machine.ts'
import { mainThread, type Plan } from './measure.ts'
import { flags } from './report.ts'
import {
  ED_DSA,
  ES256,
  ES512,
  isThere,
  ML_DSA_44,
  ML_DSA_65,
  PS512,
  RS512,
  RS512_4096,
  type SignatureKind,
} from './signature-kinds.ts'
import {
  awsJwtVerify,
  bareInPool,
  bareSync,
  fastJwt,
  fastJwtCached,
  jose,
  portcullis,
  type Subject,
} from './subjects.ts'
import { printTable } from './table.ts'
import {
  acceptAtOnceTask,
  acceptTask,
  costOf,
  measureSubjects,
  ratioOf,
} from './verification-tasks.ts'

// What one verification costs with other algorithms and keys than those of micro.ts:
//
//   pnpm bench algorithms           the tables
//   pnpm bench algorithms --quick   to see whether it runs; its figures mean nothing
//
// More tokens than any cache here holds (1,000 each) are taken in turn. All but the bare call and fast-jwt, which is given
// the key, choose it from a key set.

const TOKENS = flags.quick ? 1088 : 1280
const PLAN: Plan = flags.quick
  ? { rounds: 1, milliseconds: 5, warmUp: 10 }
  : { rounds: 7, milliseconds: 50, warmUp: 100 }

const KINDS = [RS512, RS512_4096, PS512, ES256, ES512, ED_DSA, ML_DSA_44, ML_DSA_65]

/** Those that know the algorithm. */
function peersFor(kind: SignatureKind) {
  if (kind === ML_DSA_44 || kind === ML_DSA_65) return [jose]
  const peers = [fastJwt, fastJwtCached, jose]
  return kind === PS512 ? peers : [...peers, awsJwtVerify]
}

/** @param keys How many keys the set has. The token's is the last. */
async function measureCase(kind: SignatureKind, keys: number): Promise<void> {
  const signer = createSigner(kind)
  const others = Array.from(
    { length: keys - 1 },
    (_, index) => createSigner(kind, `other-${index}`).jwk,
  )
  const keyServer = await listenForKeys(signer.jwk, others)
  const setting = { jwk: signer.jwk, kind, urls: { ...keyServer.urls, bare: keyServer.urls.set } }
  const bare = bareSync(setting)
  const verifiers = [portcullis, ...peersFor(kind)].map((factory) => factory(setting))
  const subjects = [bare, bareInPool(setting), ...verifiers]
  const octets = octetsOf(Array.from({ length: TOKENS }, (_, index) => signer.token(index)))
  const turns = new Map(subjects.map((subject) => [subject, takeInTurn(octets)]))
  const turnOf = (subject: Subject) => turns.get(subject) ?? takeInTurn(octets)
  const copies = takeInTurn(octets.slice(0, 1))
  const alone = await measureSubjects(subjects, (each) => acceptTask(each, turnOf(each)), PLAN)
  const atOnce = await measureSubjects(
    subjects,
    (each) => acceptAtOnceTask(each, turnOf(each)),
    PLAN,
  )
  const repeated = await measureSubjects(verifiers, (each) => acceptTask(each, copies), PLAN)
  keyServer.close()
  printTable(
    `${kind.name}${keys === 1 ? '' : `, set of ${keys} keys`}:`,
    [
      ['Verifier', ({ name }) => name],
      ['new token, one at a time', (each) => ratioOf(alone, each, bare)],
      ['new, 64 at once', (each) => ratioOf(atOnce, each, bare)],
      ['of which main thread', (each) => ratioOf(atOnce, each, bare, 'main')],
      ['new: µs', (each) => costOf(alone, each)],
      ['repeated: µs', (each) => costOf(repeated, each)],
    ],
    subjects,
  )
}

console.log(`${describeMachine()}\nMain thread by ${mainThread.name}.`)
console.log(
  `Medians of ${PLAN.rounds} interleaved rounds; ${TOKENS} tokens; times of the bare synchronous call.\n`,
)
for (const kind of KINDS.filter(isThere)) await measureCase(kind, 1)
await measureCase(RS512, 20)

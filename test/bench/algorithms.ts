import { createSigner, turnsThrough } from './inputs.ts'
import {
  accepting,
  acceptingAtOnce,
  costOf,
  mainThread,
  measure,
  ratioOf,
  type Subject,
  type Take,
} from './measure.ts'
import { describeMachine, flags, planOf } from './report.ts'
import * as kinds from './signature-kinds.ts'
import {
  awsJwtVerify,
  bareSync,
  createSetting,
  fastJwt,
  fastJwtCached,
  jose,
  portcullis,
} from './subjects.ts'
import { printTable } from './table.ts'

// What one verification costs with other algorithms and keys than those of micro.ts: `pnpm bench algorithms`.
//
// More tokens than any cache here holds (1,000 each) are taken in turn. All but the bare call and fast-jwt, which is given
// the key, choose it from a key set.

const TOKENS = flags.quick ? 1088 : 1280
const PLAN = planOf({ rounds: 7, milliseconds: 50, warmUp: 100 })
const { RS512, RS512_4096, PS512, ES256, ES512, ED_DSA, ML_DSA_44, ML_DSA_65 } = kinds
const KINDS = [RS512, RS512_4096, PS512, ES256, ES512, ED_DSA, ML_DSA_44, ML_DSA_65]

/** Those that know the algorithm. */
function peersFor(kind: kinds.SignatureKind) {
  if (kind === ML_DSA_44 || kind === ML_DSA_65) return [jose]
  const peers = [fastJwt, fastJwtCached, jose]
  return kind === PS512 ? peers : [...peers, awsJwtVerify]
}

/** @param keys How many keys the set has. The token's is the last. */
async function measureCase(kind: kinds.SignatureKind, keys: number): Promise<void> {
  const others = Array.from({ length: keys - 1 }, (_, at) => createSigner(kind, `other-${at}`).jwk)
  const published = await createSetting(kind, others)
  const setting = { ...published, urls: { ...published.urls, bare: published.urls.set } }
  const bare = bareSync(setting)
  const verifiers = [portcullis, ...peersFor(kind)].map((factory) => factory(setting))
  const subjects = [bare, ...verifiers]
  const tokens = setting.signer.tokens(TOKENS)
  const turns = turnsThrough(tokens)
  const turnOf = new Map<Subject, Take>(subjects.map((subject) => [subject, turns()]))
  const takeOf = (subject: Subject) => turnOf.get(subject) ?? turns()
  const copies = turnsThrough(tokens.slice(0, 1))()
  const alone = await measure(subjects, (each) => accepting(takeOf(each))(each), PLAN)
  const atOnce = await measure(subjects, (each) => acceptingAtOnce(takeOf(each))(each), PLAN)
  const repeated = await measure(verifiers, accepting(copies), PLAN)
  setting.keyServer.close()
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
console.log(`Medians of ${PLAN.rounds} interleaved rounds; times of the bare synchronous call.\n`)
for (const kind of KINDS.filter(kinds.isThere)) await measureCase(kind, 1)
await measureCase(RS512, 20)

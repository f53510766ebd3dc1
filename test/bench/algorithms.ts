import { parseArgs } from 'node:util'

import { createSigner, octetsOf, takeInTurn } from './inputs.ts'
import { listenForKeys } from './key-server.ts'
import { describeMachine } from './machine.ts'
import { type Cost, mainThread, median, type Plan } from './measure.ts'
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
import { markdownTable } from './table.ts'
import {
  acceptAtOnceTask,
  acceptTask,
  type Costs,
  measureSubjects,
  medianRatio,
} from './verification-tasks.ts'

// What one verification costs with other algorithms and keys than those of micro.ts:
//
//   pnpm bench algorithms           the tables
//   pnpm bench algorithms --quick   to see whether it runs; its figures mean nothing
//
// More tokens than any cache here holds (1,000 each) are taken in turn. All but the bare call and fast-jwt, which is given
// the key, choose it from a key set.

const { values: flags } = parseArgs({ options: { quick: { type: 'boolean' } } })
const TOKENS = flags.quick ? 1088 : 1280
const PLAN: Plan = flags.quick
  ? { rounds: 1, milliseconds: 5, warmUp: 10 }
  : { rounds: 7, milliseconds: 50, warmUp: 100 }

interface Case {
  readonly name: string
  readonly kind: SignatureKind
  /** How many keys the set has. The token's is the last. */
  readonly keys: number
}

const CASES: readonly Case[] = [
  ...[
    RS512,
    RS512_4096,
    PS512,
    ES256,
    ES512,
    ED_DSA,
    ...[ML_DSA_44, ML_DSA_65].filter(isThere),
  ].map((kind) => ({
    name: kind.name,
    kind,
    keys: 1,
  })),
  { name: `${RS512.name}, set of 20 keys`, kind: RS512, keys: 20 },
]

/** One algorithm with all that can verify it. The first subject is the bare call, the third ours. */
interface Result {
  readonly name: string
  readonly subjects: readonly Subject[]
  readonly oneByOne: Costs
  readonly atOnce: Costs
  readonly repeated: Costs
}

/** Those that know the algorithm. */
function peersFor(kind: SignatureKind) {
  if (kind === ML_DSA_44 || kind === ML_DSA_65) return [jose]
  const peers = [fastJwt, fastJwtCached, jose]
  return kind === PS512 ? peers : [...peers, awsJwtVerify]
}

async function measureCase({ name, kind, keys }: Case): Promise<Result> {
  const signer = createSigner(kind)
  const others = Array.from(
    { length: keys - 1 },
    (_, index) => createSigner(kind, `other-${index}`).jwk,
  )
  const keyServer = await listenForKeys(signer.jwk, others)
  const urls = { ...keyServer.urls, bare: keyServer.urls.set }
  const setting = { jwk: signer.jwk, kind, urls }
  const factories = [bareSync, bareInPool, portcullis, ...peersFor(kind)]
  const subjects = factories.map((factory) => factory(setting))

  const tokens = Array.from({ length: TOKENS }, (_, index) => signer.token(index))
  const octets = octetsOf(tokens)
  const turns = new Map(subjects.map((subject) => [subject, takeInTurn(octets)]))
  const turnOf = (subject: Subject) => turns.get(subject) ?? takeInTurn(octets)
  const copies = takeInTurn(octets.slice(0, 1))
  const oneByOne = await measureSubjects(
    subjects,
    (subject) => acceptTask(subject, turnOf(subject)),
    PLAN,
  )
  const atOnce = await measureSubjects(
    subjects,
    (subject) => acceptAtOnceTask(subject, turnOf(subject)),
    PLAN,
  )
  const repeated = await measureSubjects(
    subjects.slice(2),
    (subject) => acceptTask(subject, copies),
    PLAN,
  )
  keyServer.close()
  return { name, subjects, oneByOne, atOnce, repeated }
}

function print({ name, subjects, oneByOne, atOnce, repeated }: Result): void {
  const [bare] = subjects
  const ratio = (costs: Costs, subject: Subject, part: keyof Cost) =>
    ratioTo(costs, subject, bare, part).toFixed(2)
  const rows = subjects.map((subject) => [
    subject.name,
    ratio(oneByOne, subject, 'wall'),
    ratio(atOnce, subject, 'wall'),
    ratio(atOnce, subject, 'main'),
    microseconds(oneByOne, subject),
    microseconds(repeated, subject),
  ])
  const header = [
    'Verifier',
    'new token, one at a time',
    'new, 64 at once',
    'of which main thread',
    'new: µs',
    'repeated: µs',
  ]
  console.log(`${name}:\n\n${markdownTable(header, rows)}\n`)
}

function microseconds(costs: Costs, subject: Subject): string {
  return costs.has(subject)
    ? median(roundsOf(costs, subject).map(({ wall }) => wall)).toFixed(2)
    : ''
}

function roundsOf(costs: Costs, subject: Subject | undefined): readonly Cost[] {
  return (subject === undefined ? undefined : costs.get(subject)) ?? []
}

function ratioTo(
  costs: Costs,
  subject: Subject,
  other: Subject | undefined,
  part: keyof Cost,
): number {
  return medianRatio(roundsOf(costs, subject), roundsOf(costs, other), part)
}

console.log(`${describeMachine()}\nMain thread by ${mainThread.name}.`)
console.log(
  `Medians of ${PLAN.rounds} interleaved rounds; ${TOKENS} tokens; times of the bare synchronous call.\n`,
)
for (const each of CASES) print(await measureCase(each))

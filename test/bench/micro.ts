import { byIssuer, dpopProofs, type Revocations } from '@portcullis/core'

import type { Figures } from './floors.ts'
import * as inputs from './inputs.ts'
import {
  accepting,
  acceptingAtOnce,
  type Cost,
  costOf,
  type Costs,
  mainThread,
  measure,
  ratioOf,
  refusing,
  type Subject,
  type Take,
  type Task,
} from './measure.ts'
import { builtBeside, flags, planOf, report } from './report.ts'
import { ES256 } from './signature-kinds.ts'
import * as subjects from './subjects.ts'
import { printTable } from './table.ts'

// What one verification costs, in Portcullis, in its peers, and in the platform's own call: `pnpm bench micro`.
//
// Of forged tokens CPU time counts, not waiting: now and then one waits for a key endpoint to be asked, which is meant.
// More tokens than any cache here holds (1,000 each) are taken in turn, so that one is always new when its turn comes.

const TOKENS = flags.check || flags.quick ? 1280 : 4096
const PLAN = planOf(
  { rounds: 11, milliseconds: 200, warmUp: 400 },
  { milliseconds: 30, warmUp: 150 },
)

const setting = await subjects.createSetting()
const shorter = await subjects.createSetting(ES256)
const tokens = setting.signer.tokens(TOKENS)
const [token = ''] = tokens

const bare = subjects.bareSync(setting)
const minimal = subjects.minimalSync(setting)
const ours = subjects.portcullis(setting)
const selecting = subjects.portcullisByIssuer(setting)
const [bareShorter, oursShorter] = [subjects.bareSync(shorter), subjects.portcullis(shorter)]
const awaited = subjects.promiseAlone(setting)
const cached = subjects.fastJwtCached(setting)
const lookUp = subjects.lookUpAmong(100_000, inputs.claims(0))
const { revocations } = lookUp
// Its keys do not grow old while others are measured.
const longLived = (options: { revocations?: Revocations } = {}) =>
  subjects.verifierOf({ ...setting, lifetime: 3600 }, options)
const guard = await subjects.guardOf(longLived(), token)
/** What else a guard may have to do, by the figure. */
const guards: Readonly<Record<string, Subject>> = {
  'guard that asks revocations': await subjects.guardOf(longLived({ revocations }), token),
  'guard of byIssuer': await subjects.guardOf(byIssuer({ [inputs.ISSUER]: longLived() }), token),
  'guard that takes DPoP': await subjects.guardOf(longLived(), token, {
    dpop: dpopProofs({ origin: 'https://api.test' }),
  }),
  'guard of an opaque token': await subjects.guardOfOpaque(),
  'guard of an opaque token, byForm': await subjects.guardOfOpaque(longLived()),
}
const others = [
  subjects.awsJwtVerify,
  subjects.jose,
  subjects.expressOauth2,
  subjects.jsonwebtokenWithJwksRsa,
]
const peers = [
  subjects.fastJwt(setting),
  cached,
  ...(flags.check ? [] : others.map((factory) => factory(setting))),
]
const before = (await builtBeside<typeof subjects>('subjects.js'))?.portcullis(setting)
const other = before === undefined ? [] : [{ ...before, name: 'Portcullis, --beside' }]
const verifiers = [minimal, ours, ...other, ...peers]
const all = [bare, ...verifiers]

const turns = inputs.turnsThrough(tokens)
const shorterTurns = inputs.turnsThrough(shorter.signer.tokens(TOKENS))
const turnOf = new Map<Subject, Take>([
  ...[selecting, ...all].map((subject) => [subject, turns()] as const),
  ...[bareShorter, oursShorter].map((subject) => [subject, shorterTurns()] as const),
])
const sameString: Take = (count) => Array<string>(count).fill(token)
const inTurn = (list: readonly string[]) => inputs.turnsThrough(list)()
/** Each subject goes through the tokens in a turn of its own. */
const own = (task: (take: Take) => (subject: Subject) => Task) => (subject: Subject) =>
  task(turnOf.get(subject) ?? sameString)(subject)
const few = (checked: readonly Subject[]) => (flags.check ? checked : all)

/** Who is measured, and how. */
const COLUMNS = {
  new: [[bare, selecting, ...verifiers], own(accepting)],
  'at once': [few([minimal, ours]), own(acceptingAtOnce)],
  'ES256 at once': [[bareShorter, oursShorter], own(acceptingAtOnce)],
  repeated: [[awaited, ours, ...peers], accepting(sameString)],
  guarded: [[minimal, guard, ...Object.values(guards)], accepting(sameString)],
  'looked up': [[lookUp], accepting(sameString)],
  forged: [few([minimal, ours]), refusing(inTurn(inputs.forgeries(tokens)))],
  other: [[minimal, ours], refusing(inTurn(inputs.otherAlgorithms(tokens)))],
  malformed: [verifiers, refusing(inTurn(inputs.malformations(tokens)))],
} as const satisfies Record<string, readonly [readonly Subject[], (subject: Subject) => Task]>

type Results = Readonly<Record<keyof typeof COLUMNS, Costs>>

async function measureAll(): Promise<Results> {
  const results: [string, Costs][] = []
  for (const [name, [each, taskOf]] of Object.entries(COLUMNS))
    results.push([name, await measure(each, taskOf, PLAN)])
  return Object.fromEntries(results) as Results // of each column
}

/** CPU time where nothing waits for another thread: it hardly depends on who else wants the cores. */
function figuresOf(results: Results): Figures {
  const time = mainThread.isCpuTime ? 'main' : 'cpu'
  const cost = (column: keyof Results, subject: Subject) => costOf(results[column], subject, time)
  const ratio = (column: keyof Results, one: Subject, to: Subject, part: keyof Cost = time) =>
    ratioOf(results[column], one, to, part)
  const shorterRatio = ratio('ES256 at once', oursShorter, bareShorter, 'main')
  const least = (column: keyof Results) => Math.min(...peers.map((peer) => cost(column, peer)))
  return {
    'new token / minimal verifier': ratio('new', ours, minimal),
    'new tokens, 64 at once / minimal verifier: wall': ratio('at once', ours, minimal, 'wall'),
    'new tokens, 64 at once / minimal verifier: main': ratio('at once', ours, minimal, 'main'),
    'ES256, 64 at once / bare call: main thread': shorterRatio,
    'new token / fastest peer': cost('new', ours) / least('new'),
    'forged signature / minimal verifier': ratio('forged', ours, minimal, 'cpu'),
    'token of another algorithm / minimal verifier': ratio('other', ours, minimal),
    'malformed token / cheapest peer': cost('malformed', ours) / least('malformed'),
    "fast-jwt's cache / repeated token": cost('repeated', cached) / cost('repeated', ours),
    'repeated token / minimal verifier': cost('repeated', ours) / cost('new', minimal),
    'repeated token in a guard / minimal verifier': ratio('guarded', guard, minimal),
    'look-up among 100,000 revocations / minimal': cost('looked up', lookUp) / cost('new', minimal),
    'new token through byIssuer / new token': ratio('new', selecting, ours),
    ...Object.fromEntries(
      Object.entries(guards).map(([name, each]) => [
        `${name} / guard`,
        ratio('guarded', each, guard),
      ]),
    ),
    'repeated token beyond a promise / minimal verifier':
      (cost('repeated', ours) - cost('repeated', awaited)) / cost('new', minimal),
  }
}

function print(results: Results): void {
  const ratio = (title: string, column: keyof Results, part: keyof Cost = 'wall') =>
    [title, (each: Subject) => ratioOf(results[column], each, bare, part)] as const
  const time = (title: string, column: keyof Results) =>
    [title, (each: Subject) => costOf(results[column], each)] as const
  console.log(`Main thread by ${mainThread.name}.`)
  printTable(
    `Times of the bare synchronous call; medians of ${PLAN.rounds} interleaved rounds; ${TOKENS} tokens:`,
    [
      ['Verifier', (each: Subject) => each.name],
      ratio('new token, one at a time', 'new'),
      ratio('of which main thread', 'new', 'main'),
      ratio('new, 64 at once', 'at once'),
      ratio('of which main thread', 'at once', 'main'),
      ratio('forged, CPU of all threads', 'forged', 'cpu'),
      time('new, µs', 'new'),
      time('repeated, µs', 'repeated'),
      time('malformed, µs', 'malformed'),
      time('guarded, µs', 'guarded'),
      time('looked up, µs', 'looked up'),
    ],
    [...all, awaited, guard, lookUp],
  )
}

await report('micro', measureAll, print, figuresOf)
setting.keyServer.close()
shorter.keyServer.close()

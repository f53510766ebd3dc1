import { FLOORS, type Figures } from './floors.ts'
import {
  claims,
  createSigner,
  forgeries,
  malformations,
  octetsOf,
  otherAlgorithms,
  type Take,
  takeInTurn,
} from './inputs.ts'
import { listenForKeys } from './key-server.ts'
import { type Cost, mainThread, type Plan, type Task } from './measure.ts'
import { flags, report } from './report.ts'
import { ES256 } from './signature-kinds.ts'
import {
  awsJwtVerify,
  bareInPool,
  bareSync,
  expressOauth2,
  fastJwt,
  fastJwtCached,
  fastJwtCachedWhole,
  fastJwtWithGetJwks,
  guardThatHoldsAnswers,
  guardThatRemembers,
  jose,
  jsonwebtokenWithJwksRsa,
  lookUpAmong,
  minimalInPool,
  minimalSync,
  portcullis,
  portcullisByIssuer,
  portcullisForgetful,
  promiseAlone,
  type Subject,
} from './subjects.ts'
import { printTable } from './table.ts'
import {
  acceptAtOnceTask,
  acceptTask,
  costOf,
  type Costs,
  measureSubjects,
  ratioOf,
  refuseTask,
} from './verification-tasks.ts'

// What one verification costs, in Portcullis, in its peers, and in the platform's own call:
//
//   pnpm bench micro            the table
//   pnpm bench micro --check    ratios alone, against floors.ts
//   pnpm bench micro --write    the table of goals in README.md as well
//   pnpm bench micro --quick    to see whether it runs; its figures mean nothing
//
// Of forged tokens CPU time counts, not waiting: now and then one waits for a key endpoint to be asked, which is meant.
// More tokens than any cache here holds (1,000 each) are taken in turn, so that one is always new when its turn comes.

const REVOCATIONS = 100_000
const TOKENS = flags.check || flags.quick ? 1280 : 4096
const PLAN: Plan = flags.quick
  ? { rounds: 3, milliseconds: 5, warmUp: 20 }
  : flags.check
    ? { rounds: 7, milliseconds: 30, warmUp: 150, garbage: 'minor' }
    : { rounds: 11, milliseconds: 200, warmUp: 400 }

const signer = createSigner()
const tokens = Array.from({ length: TOKENS }, (_, index) => signer.token(index))
const [repeatedToken = ''] = tokens
const keyServer = await listenForKeys(signer.jwk)
const setting = { jwk: signer.jwk, urls: keyServer.urls }
const shorter = createSigner(ES256)
const shorterKeyServer = await listenForKeys(shorter.jwk)
const shorterSetting = { jwk: shorter.jwk, kind: ES256, urls: shorterKeyServer.urls }

const bare = bareSync(setting)
const minimal = minimalSync(setting)
const ours = portcullis(setting)
const selecting = portcullisByIssuer(setting)
const bareShorter = bareSync(shorterSetting)
const oursShorter = portcullis(shorterSetting)
const awaited = promiseAlone(setting)
const cached = fastJwtCached(setting)
const lookUp = lookUpAmong(REVOCATIONS, claims(0))
const { revocations } = lookUp
const guard = await guardThatRemembers(setting, repeatedToken)
/** What else a guard may have to do, by the figure. */
const guards: Readonly<Record<string, Subject>> = {
  'guard that asks revocations': await guardThatRemembers(setting, repeatedToken, { revocations }),
  'guard of byIssuer': await guardThatRemembers(setting, repeatedToken, { isByIssuer: true }),
  'guard that takes DPoP': await guardThatRemembers(setting, repeatedToken, { takesDpop: true }),
  'guard of an opaque token': await guardThatHoldsAnswers(setting, false),
  'guard of an opaque token, byForm': await guardThatHoldsAnswers(setting, true),
}
const others = [
  fastJwtCachedWhole,
  awsJwtVerify,
  jose,
  expressOauth2,
  jsonwebtokenWithJwksRsa,
  fastJwtWithGetJwks,
].map((factory) => factory(setting))
const peers = [fastJwt(setting), cached, ...(flags.check ? [] : others)]
const ownWays = flags.check
  ? [ours]
  : [minimalInPool(setting), ours, portcullisForgetful(setting), selecting]
const verifiers = [minimal, ...ownWays, ...peers]
const bareCalls = flags.check ? [bare] : [bare, bareInPool(setting)]
const all = [...bareCalls, ...verifiers]
const of = <T>(list: readonly T[], checked: readonly T[]) => (flags.check ? checked : list)

const octets = octetsOf(tokens)
const shorterOctets = octetsOf(tokens.map((_, index) => shorter.token(index)))
const turns = new Map<Subject, Take>()
/** Each subject goes through the tokens in a turn of its own. */
function turnOf(subject: Subject): Take {
  const isShorter = subject === bareShorter || subject === oursShorter
  const turn = turns.get(subject) ?? takeInTurn(isShorter ? shorterOctets : octets)
  turns.set(subject, turn)
  return turn
}
const sameString: Take = (count) => Array<string>(count).fill(repeatedToken)
const inTurn = (list: readonly string[]) => takeInTurn(octetsOf(list))
const [copies, forged, other, malformed] = [
  inTurn([repeatedToken]),
  inTurn(forgeries(tokens)),
  inTurn(otherAlgorithms(tokens)),
  inTurn(malformations(tokens)),
] as const
const accepting = (take: Take) => (subject: Subject) => acceptTask(subject, take)
const refusing = (take: Take) => (subject: Subject) => refuseTask(subject, take)
const atOnce = (subject: Subject) => acceptAtOnceTask(subject, turnOf(subject))

/** Who is measured, and how. */
const COLUMNS = {
  new: [of(all, [bare, selecting, ...verifiers]), (each) => acceptTask(each, turnOf(each))],
  'at once': [of(all, [bare, ours]), atOnce],
  'ES256 at once': [[bareShorter, oursShorter], atOnce],
  repeated: [of([awaited, ...verifiers], [awaited, ours, cached]), accepting(sameString)],
  guarded: [[bare, minimal, guard, ...Object.values(guards)], accepting(sameString)],
  'looked up': [[lookUp], accepting(sameString)],
  copied: [of([awaited, ...verifiers], []), accepting(copies)],
  forged: [of(all, [bare, minimal, ours]), refusing(forged)],
  other: [[minimal, ours], refusing(other)],
  malformed: [verifiers, refusing(malformed)],
} as const satisfies Record<string, readonly [readonly Subject[], (subject: Subject) => Task]>

type Results = Readonly<Record<keyof typeof COLUMNS, Costs>>

async function measureAll(): Promise<Results> {
  const results: [string, Costs][] = []
  for (const [name, [subjects, taskOf]] of Object.entries(COLUMNS))
    results.push([name, await measureSubjects(subjects, taskOf, PLAN)])
  return Object.fromEntries(results) as Results // of each column
}

/** CPU time where nothing waits for another thread: it hardly depends on who else wants the cores. */
function figuresOf(results: Results): Figures {
  const time = mainThread.isCpuTime ? 'main' : 'cpu'
  const cost = (column: keyof Results, subject: Subject) => costOf(results[column], subject, time)
  const ratio = (column: keyof Results, one: Subject, to: Subject, part: keyof Cost = time) =>
    ratioOf(results[column], one, to, part)
  const least = (column: keyof Results) => Math.min(...peers.map((peer) => cost(column, peer)))
  return new Map([
    ['new token / bare call', ratio('new', ours, bare)],
    ['new token / minimal verifier', ratio('new', ours, minimal)],
    ['new tokens, 64 at once / bare call: wall', ratio('at once', ours, bare, 'wall')],
    ['new tokens, 64 at once / bare call: main thread', ratio('at once', ours, bare, 'main')],
    [
      'ES256, 64 at once / bare call: main thread',
      ratio('ES256 at once', oursShorter, bareShorter, 'main'),
    ],
    ['new token / fastest peer', cost('new', ours) / least('new')],
    ['forged signature / bare call', ratio('forged', ours, bare, 'cpu')],
    ['forged signature / minimal verifier', ratio('forged', ours, minimal, 'cpu')],
    ['token of another algorithm / bare call', cost('other', ours) / cost('new', bare)],
    ['token of another algorithm / minimal verifier', ratio('other', ours, minimal)],
    ['malformed token / cheapest peer', cost('malformed', ours) / least('malformed')],
    ["fast-jwt's cache / repeated token", cost('repeated', cached) / cost('repeated', ours)],
    ['repeated token / minimal verifier', cost('repeated', ours) / cost('new', minimal)],
    ['repeated token in a guard / minimal verifier', ratio('guarded', guard, minimal)],
    [
      'look-up among 100,000 revocations / bare call',
      cost('looked up', lookUp) / cost('new', bare),
    ],
    ['new token through byIssuer / new token', ratio('new', selecting, ours)],
    ...Object.entries(guards).map(
      ([name, each]) => [`${name} / guard`, ratio('guarded', each, guard)] as const,
    ),
    ['repeated token beyond a promise, µs', cost('repeated', ours) - cost('repeated', awaited)],
  ])
}

function print(results: Results): void {
  const rows = [...bareCalls, ...verifiers, awaited]
  const ratio = (title: string, column: keyof Results, part: keyof Cost = 'wall') =>
    [title, (each: Subject) => ratioOfBare(results, column, each, part)] as const
  const time = (title: string, column: keyof Results, part: keyof Cost = 'wall') =>
    [title, (each: Subject) => costOf(results[column], each, part)] as const
  const name = ['Verifier', (each: Subject) => each.name] as const
  console.log(`Main thread by ${mainThread.name}.`)
  console.log(`Medians of ${PLAN.rounds} interleaved rounds; ${TOKENS} tokens.\n`)
  printTable(
    'Times of the bare synchronous call:',
    [
      name,
      ratio('new token, one at a time', 'new'),
      ratio('of which main thread', 'new', 'main'),
      ratio('new, 64 at once', 'at once'),
      ratio('of which main thread', 'at once', 'main'),
      ratio('forged, CPU of all threads', 'forged', 'cpu'),
    ],
    rows,
  )
  printTable(
    'Microseconds a verification:',
    [
      name,
      time('new: wall', 'new'),
      time('all threads', 'new', 'cpu'),
      time('main', 'new', 'main'),
      time('64 at once: wall', 'at once'),
      time('all threads', 'at once', 'cpu'),
      time('main', 'at once', 'main'),
      time('repeated, one string', 'repeated'),
      time('repeated, a copy each time', 'copied'),
      time('malformed', 'malformed'),
    ],
    rows,
  )
}

function ratioOfBare(results: Results, column: keyof Results, subject: Subject, part: keyof Cost) {
  return ratioOf(results[column], subject, bare, part)
}

await report('bench', FLOORS, measureAll, { print, figuresOf })
keyServer.close()
shorterKeyServer.close()

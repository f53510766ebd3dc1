import { parseArgs } from 'node:util'

import { checkFloors, printGoals } from './check-floors.ts'
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
import { describeMachine } from './machine.ts'
import { type Cost, mainThread, median, type Plan, type Task } from './measure.ts'
import { writeFigures } from './results.ts'
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
import { markdownTable } from './table.ts'
import {
  acceptAtOnceTask,
  acceptTask,
  type Costs,
  measureSubjects,
  medianRatio,
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

const { values: flags } = parseArgs({
  options: { check: { type: 'boolean' }, quick: { type: 'boolean' }, write: { type: 'boolean' } },
})

type Column =
  | 'new'
  | 'at once'
  | 'ES256 at once'
  | 'repeated'
  | 'guarded'
  | 'looked up'
  | 'copied'
  | 'forged'
  | 'other'
  | 'malformed'

const REVOCATIONS = 100_000
const TOKENS = flags.check || flags.quick ? 1280 : 4096
const PLAN: Plan = flags.quick
  ? { rounds: 3, milliseconds: 5, warmUp: 20 }
  : flags.check
    ? { rounds: 7, milliseconds: 30, warmUp: 150, garbage: 'minor' }
    : { rounds: 11, milliseconds: 200, warmUp: 400 }

const signer = createSigner()
const tokens = Array.from({ length: TOKENS }, (_, index) => signer.token(index))
const genuine = octetsOf(tokens)
const forged = takeInTurn(octetsOf(forgeries(tokens)))
const other = takeInTurn(octetsOf(otherAlgorithms(tokens)))
const malformed = takeInTurn(octetsOf(malformations(tokens)))
const [repeatedToken = ''] = tokens
const sameString: Take = (count) => Array<string>(count).fill(repeatedToken)
const copies = takeInTurn(octetsOf([repeatedToken]))
const keyServer = await listenForKeys(signer.jwk)
const setting = { jwk: signer.jwk, urls: keyServer.urls }
const shorter = createSigner(ES256)
const shorterGenuine = octetsOf(tokens.map((_, index) => shorter.token(index)))
const shorterKeyServer = await listenForKeys(shorter.jwk)
const shorterSetting = { jwk: shorter.jwk, kind: ES256, urls: shorterKeyServer.urls }

const bare = bareSync(setting)
const minimal = minimalSync(setting)
const ours = portcullis(setting)
const guard = await guardThatRemembers(setting, repeatedToken)
const lookUp = lookUpAmong(REVOCATIONS, claims(0))
const { revocations } = lookUp
const askingGuard = await guardThatRemembers(setting, repeatedToken, { revocations })
const selecting = portcullisByIssuer(setting)
const selectingGuard = await guardThatRemembers(setting, repeatedToken, { isByIssuer: true })
const provingGuard = await guardThatRemembers(setting, repeatedToken, { takesDpop: true })
const opaqueGuard = await guardThatHoldsAnswers(setting, false)
const byFormGuard = await guardThatHoldsAnswers(setting, true)
const bareShorter = bareSync(shorterSetting)
const oursShorter = portcullis(shorterSetting)
const awaited = promiseAlone(setting)
const cached = fastJwtCached(setting)
const given = fastJwt(setting)
const peers = flags.check
  ? [given, cached]
  : [
      given,
      cached,
      fastJwtCachedWhole(setting),
      awsJwtVerify(setting),
      jose(setting),
      expressOauth2(setting),
      jsonwebtokenWithJwksRsa(setting),
      fastJwtWithGetJwks(setting),
    ]
const verifiers = flags.check
  ? [minimal, ours, ...peers]
  : [minimal, minimalInPool(setting), ours, portcullisForgetful(setting), selecting, ...peers]
const bareCalls = flags.check ? [bare] : [bare, bareInPool(setting)]

const guarded = [
  bare,
  minimal,
  guard,
  askingGuard,
  selectingGuard,
  provingGuard,
  opaqueGuard,
  byFormGuard,
]

const SUBJECTS_OF: Readonly<Record<Column, readonly Subject[]>> = flags.check
  ? {
      new: [bare, selecting, ...verifiers],
      'at once': [bare, ours],
      'ES256 at once': [bareShorter, oursShorter],
      repeated: [awaited, ours, cached],
      guarded,
      'looked up': [lookUp],
      copied: [],
      forged: [bare, minimal, ours],
      other: [minimal, ours],
      malformed: verifiers,
    }
  : {
      new: [...bareCalls, ...verifiers],
      'at once': [...bareCalls, ...verifiers],
      'ES256 at once': [bareShorter, oursShorter],
      repeated: [awaited, ...verifiers],
      guarded,
      'looked up': [lookUp],
      copied: [awaited, ...verifiers],
      forged: [...bareCalls, ...verifiers],
      other: [minimal, ours],
      malformed: verifiers,
    }

const turns = new Map(
  [...bareCalls, selecting, ...verifiers].map((each) => [each, takeInTurn(genuine)]),
)
for (const each of [bareShorter, oursShorter]) turns.set(each, takeInTurn(shorterGenuine))

type Results = ReadonlyMap<Column, Costs>

const TASK_OF: Readonly<Record<Column, (subject: Subject) => Task>> = {
  new: (subject) => acceptTask(subject, turnOf(subject)),
  'at once': (subject) => acceptAtOnceTask(subject, turnOf(subject)),
  'ES256 at once': (subject) => acceptAtOnceTask(subject, turnOf(subject)),
  repeated: (subject) => acceptTask(subject, sameString),
  guarded: (subject) => acceptTask(subject, sameString),
  'looked up': (subject) => acceptTask(subject, sameString),
  copied: (subject) => acceptTask(subject, copies),
  forged: (subject) => refuseTask(subject, forged),
  other: (subject) => refuseTask(subject, other),
  malformed: (subject) => refuseTask(subject, malformed),
}

function turnOf(subject: Subject): Take {
  const take = turns.get(subject)
  if (take === undefined) throw new Error(`${subject.name} has no turn`)
  return take
}

async function measureAll(): Promise<Results> {
  const results = new Map<Column, Costs>()
  for (const column of Object.keys(SUBJECTS_OF) as Column[] /* its type says so */) {
    results.set(column, await measureSubjects(SUBJECTS_OF[column], TASK_OF[column], PLAN))
  }
  return results
}

function costOf(results: Results, column: Column, subject: Subject, part: keyof Cost): number {
  return median(roundsOf(results, column, subject).map((cost) => cost[part]))
}

/** Beside the bare call. */
function ratioToBare(
  results: Results,
  column: Column,
  subject: Subject,
  part: keyof Cost = 'wall',
  basis: keyof Cost = 'wall',
): number {
  const own = roundsOf(results, column, subject)
  return medianRatio(own, roundsOf(results, column, bare), part, basis)
}

/** Beside the minimal verifier, by time of one kind. */
function ratioToMinimal(
  results: Results,
  column: Column,
  subject: Subject,
  part: keyof Cost,
): number {
  const own = roundsOf(results, column, subject)
  return medianRatio(own, roundsOf(results, column, minimal), part)
}

function roundsOf(results: Results, column: Column, subject: Subject): readonly Cost[] {
  return results.get(column)?.get(subject) ?? []
}

/** CPU time where nothing waits for another thread: it hardly depends on who else wants the cores. */
function figuresOf(results: Results): Figures {
  const time = mainThread.isCpuTime ? 'main' : 'cpu'
  const costFor = (column: Column, subject: Subject) => costOf(results, column, subject, time)
  const least = (column: Column) => Math.min(...peers.map((peer) => costFor(column, peer)))
  const toGuard = (subject: Subject) =>
    medianRatio(roundsOf(results, 'guarded', subject), roundsOf(results, 'guarded', guard), time)
  return new Map([
    ['new token / bare call', ratioToBare(results, 'new', ours, time, time)],
    ['new token / minimal verifier', ratioToMinimal(results, 'new', ours, time)],
    ['new tokens, 64 at once / bare call: wall', ratioToBare(results, 'at once', ours)],
    [
      'new tokens, 64 at once / bare call: main thread',
      ratioToBare(results, 'at once', ours, 'main', 'main'),
    ],
    [
      'ES256, 64 at once / bare call: main thread',
      medianRatio(
        roundsOf(results, 'ES256 at once', oursShorter),
        roundsOf(results, 'ES256 at once', bareShorter),
        'main',
      ),
    ],
    ['new token / fastest peer', costFor('new', ours) / least('new')],
    ['forged signature / bare call', ratioToBare(results, 'forged', ours, 'cpu', 'cpu')],
    ['forged signature / minimal verifier', ratioToMinimal(results, 'forged', ours, 'cpu')],
    ['token of another algorithm / bare call', costFor('other', ours) / costFor('new', bare)],
    ['token of another algorithm / minimal verifier', ratioToMinimal(results, 'other', ours, time)],
    ['malformed token / cheapest peer', costFor('malformed', ours) / least('malformed')],
    ["fast-jwt's cache / repeated token", costFor('repeated', cached) / costFor('repeated', ours)],
    ['repeated token / minimal verifier', costFor('repeated', ours) / costFor('new', minimal)],
    [
      'repeated token in a guard / minimal verifier',
      ratioToMinimal(results, 'guarded', guard, time),
    ],
    [
      'look-up among 100,000 revocations / bare call',
      costFor('looked up', lookUp) / costFor('new', bare),
    ],
    ['guard that asks revocations / guard', toGuard(askingGuard)],
    [
      'new token through byIssuer / new token',
      medianRatio(roundsOf(results, 'new', selecting), roundsOf(results, 'new', ours), time),
    ],
    ['guard of byIssuer / guard', toGuard(selectingGuard)],
    ['guard that takes DPoP / guard', toGuard(provingGuard)],
    ['guard of an opaque token / guard', toGuard(opaqueGuard)],
    ['guard of an opaque token, byForm / guard', toGuard(byFormGuard)],
    [
      'repeated token beyond a promise, µs',
      costFor('repeated', ours) - costFor('repeated', awaited),
    ],
  ])
}

function cell(column: Column, subject: Subject, text: () => string): string {
  return SUBJECTS_OF[column].includes(subject) ? text() : ''
}

function print(results: Results): void {
  const rows = [...bareCalls, ...verifiers, awaited]
  const ratio = (column: Column, subject: Subject, part?: keyof Cost, basis?: keyof Cost) =>
    cell(column, subject, () => ratioToBare(results, column, subject, part, basis).toFixed(2))
  const time = (column: Column, subject: Subject, part: keyof Cost = 'wall') =>
    cell(column, subject, () => costOf(results, column, subject, part).toFixed(2))

  console.log(`${describeMachine()}\nMain thread by ${mainThread.name}.`)
  console.log(`Medians of ${PLAN.rounds} interleaved rounds; ${TOKENS} tokens.\n`)
  console.log('Times of the bare synchronous call:\n')
  const ratioHeader = [
    'Verifier',
    'new token, one at a time',
    'of which main thread',
    'new, 64 at once',
    'of which main thread',
    'forged, CPU of all threads',
  ]
  const ratios = rows.map((subject) => [
    subject.name,
    ratio('new', subject),
    ratio('new', subject, 'main', 'main'),
    ratio('at once', subject),
    ratio('at once', subject, 'main', 'main'),
    ratio('forged', subject, 'cpu', 'cpu'),
  ])
  console.log(markdownTable(ratioHeader, ratios))
  console.log('\nMicroseconds a verification:\n')
  const timeHeader = [
    'Verifier',
    'new: wall',
    'all threads',
    'main',
    '64 at once: wall',
    'all threads',
    'main',
    'repeated, one string',
    'repeated, a copy each time',
    'malformed',
  ]
  const times = rows.map((subject) => [
    subject.name,
    time('new', subject),
    time('new', subject, 'cpu'),
    time('new', subject, 'main'),
    time('at once', subject),
    time('at once', subject, 'cpu'),
    time('at once', subject, 'main'),
    time('repeated', subject),
    time('copied', subject),
    time('malformed', subject),
  ])
  console.log(markdownTable(timeHeader, times))
}

if (flags.check) {
  console.log(`${describeMachine()}\n`)
  checkFloors(FLOORS, figuresOf(await measureAll()))
} else {
  const results = await measureAll()
  const figures = figuresOf(results)
  print(results)
  printGoals(FLOORS, figures)
  if (flags.write) writeFigures('bench', describeMachine(), figures)
}
keyServer.close()
shorterKeyServer.close()

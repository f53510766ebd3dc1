import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

import type { Figures } from './floors.ts'
import {
  type Cost,
  costOf,
  type Costs,
  mainThread,
  ratioOf,
  type Run,
  takeTurns,
} from './measure.ts'
import type { Order, SubjectName, TaskName } from './micro-child.ts'
import { flags, planOf, report } from './report.ts'
import { ES256, type SignatureKind } from './signature-kinds.ts'
import * as subjects from './subjects.ts'
import { printTable } from './table.ts'

// What one verification costs, in Portcullis, in its peers, and in the platform's own call: `pnpm bench micro`. Each is in a process of its own, and
// rounds of different ones alternate.
//
// Of forged tokens CPU time counts, not waiting: now and then one waits for a key endpoint to be asked, which is meant.

const TOKENS = flags.check || flags.quick ? 1280 : 4096
const PLAN = planOf(
  { rounds: 11, milliseconds: 200, warmUp: 400 },
  { milliseconds: 30, warmUp: 150 },
)

const BARE = 'bare `crypto.verify`, synchronous'
const MINIMAL = 'minimal verifier, synchronous'
const OURS = 'Portcullis'
const SELECTING = 'Portcullis, through `byIssuer`'
const CACHED = 'fast-jwt, with its cache'
const AWAITED = 'a promise, awaited'
const GUARD = 'guard'
const LOOK_UP = 'a look-up among 100,000 revocations'
const TYPED = 'guard with a schema of zod'
const FETCH = 'a loop of `fetch`'
const INTROSPECTING = 'an opaque token, new'
const SCRAPE = 'a scrape of 100 key sources'
/** What else a guard may have to do, by the figure. */
const GUARDS = [
  'guard that asks revocations',
  'guard of byIssuer',
  'guard that takes DPoP',
  'guard of an opaque token',
  'guard of an opaque token, byForm',
] as const
const OTHERS = [
  'aws-jwt-verify',
  'jose, with a key set',
  'express-oauth2-jwt-bearer',
  'jsonwebtoken + jwks-rsa',
] as const
const PEERS: readonly SubjectName[] = [
  'fast-jwt, key given',
  CACHED,
  ...(flags.check ? [] : OTHERS),
]
const BESIDE: readonly SubjectName[] = flags.beside === undefined ? [] : ['Portcullis, --beside']
const VERIFIERS = [MINIMAL, OURS, ...BESIDE, ...PEERS] as const
const ALL = [BARE, ...VERIFIERS] as const
const FEW = flags.check ? ([MINIMAL, OURS] as const) : ALL

/** Who is measured. */
const COLUMNS: Readonly<Record<TaskName, readonly SubjectName[]>> = {
  new: [SELECTING, ...ALL],
  'at once': FEW,
  'ES256 at once': [BARE, OURS],
  repeated: [AWAITED, OURS, ...PEERS],
  guarded: [MINIMAL, GUARD, TYPED, ...GUARDS],
  'looked up': [LOOK_UP],
  introspected: [FETCH, INTROSPECTING],
  scraped: [SCRAPE],
  forged: FEW,
  other: [MINIMAL, OURS],
  malformed: VERIFIERS,
}

async function signed(kind?: SignatureKind) {
  const made = await subjects.createSetting(kind)
  return { ...made, tokens: made.signer.tokens(TOKENS) }
}

const setting = await signed()
const shorter = await signed(ES256)
const CHILD = fileURLToPath(new URL('./micro-child.ts', import.meta.url))

type Results = Readonly<Record<TaskName, Costs<SubjectName>>>

async function measureAll(): Promise<Results> {
  const results: [string, Costs<SubjectName>][] = []
  const tasks = Object.keys(COLUMNS) as TaskName[] // of this table
  for (const task of tasks) results.push([task, await measureEach(task)])
  return Object.fromEntries(results) as Results // of each column
}

async function measureEach(task: TaskName): Promise<Costs<SubjectName>> {
  const { jwk, urls, tokens } = task === 'ES256 at once' ? shorter : setting
  const own = { task, setting: { jwk, urls }, tokens, plan: PLAN }
  const children: ChildProcess[] = []
  const rounds = new Map<SubjectName, Run>()
  for (const subject of COLUMNS[task]) {
    const child = fork(CHILD, process.argv.slice(2), { serialization: 'advanced' })
    children.push(child)
    await answerTo(child, { ...own, subject })
    rounds.set(subject, async () => (await answerTo(child, 'next')) as Cost) // of this child
  }
  const costs = await takeTurns(rounds, PLAN.rounds)
  for (const child of children) child.kill()
  return costs
}

/** @throws Error if it ends instead, as for a wrong verdict. */
async function answerTo(child: ChildProcess, message: Order | 'next'): Promise<unknown> {
  const answered = new AbortController()
  const ended = once(child, 'exit', answered).then(() => {
    throw new Error('the process of a subject has ended')
  })
  child.send(message)
  const [answer] = (await Promise.race([once(child, 'message'), ended])) as [unknown]
  answered.abort()
  return answer
}

/** CPU time where nothing waits for another thread: it hardly depends on who else wants the cores. */
function figuresOf(results: Results): Figures {
  const time = mainThread.isCpuTime ? 'main' : 'cpu'
  const cost = (task: TaskName, subject: SubjectName) => costOf(results[task], subject, time)
  const ratio = (
    task: TaskName,
    one: SubjectName,
    to: SubjectName = MINIMAL,
    part: keyof Cost = time,
  ) => ratioOf(results[task], one, to, part)
  const least = (task: TaskName) => Math.min(...PEERS.map((peer) => cost(task, peer)))
  return {
    'new token / minimal verifier': ratio('new', OURS),
    'new tokens, 64 at once / minimal verifier: wall': ratio('at once', OURS, MINIMAL, 'wall'),
    'new tokens, 64 at once / minimal verifier: main': ratio('at once', OURS, MINIMAL, 'main'),
    'ES256, 64 at once / bare call: main thread': ratio('ES256 at once', OURS, BARE, 'main'),
    'new token / fastest peer': cost('new', OURS) / least('new'),
    'forged signature / minimal verifier': ratio('forged', OURS, MINIMAL, 'cpu'),
    'token of another algorithm / minimal verifier': ratio('other', OURS),
    'malformed token / cheapest peer': cost('malformed', OURS) / least('malformed'),
    "fast-jwt's cache / repeated token": cost('repeated', CACHED) / cost('repeated', OURS),
    'repeated token / minimal verifier': cost('repeated', OURS) / cost('new', MINIMAL),
    'repeated token in a guard / minimal verifier': ratio('guarded', GUARD),
    'look-up among 100,000 revocations / minimal':
      cost('looked up', LOOK_UP) / cost('new', MINIMAL),
    'guard with a schema of zod / minimal verifier': ratio('guarded', TYPED),
    'opaque token, new / a loop of `fetch`': ratio('introspected', INTROSPECTING, FETCH),
    'scrape of 100 key sources / minimal verifier': cost('scraped', SCRAPE) / cost('new', MINIMAL),
    'new token through byIssuer / new token': ratio('new', SELECTING, OURS),
    ...Object.fromEntries(GUARDS.map((each) => [`${each} / guard`, ratio('guarded', each, GUARD)])),
    'repeated token beyond a promise / minimal verifier':
      (cost('repeated', OURS) - cost('repeated', AWAITED)) / cost('new', MINIMAL),
  }
}

function print(results: Results): void {
  const ratio = (title: string, task: TaskName, part: keyof Cost = 'wall') =>
    [title, (each: SubjectName) => ratioOf(results[task], each, BARE, part)] as const
  const time = (title: string, task: TaskName) =>
    [title, (each: SubjectName) => costOf(results[task], each)] as const
  console.log(`Main thread by ${mainThread.name}.`)
  printTable(
    `Times of the bare synchronous call; least of ${PLAN.rounds} interleaved rounds; ${TOKENS} tokens:`,
    [
      ['Verifier', (each) => each],
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
    [...ALL, AWAITED, GUARD, LOOK_UP],
  )
}

await report('micro', measureAll, print, figuresOf)
setting.keyServer.close()
shorter.keyServer.close()

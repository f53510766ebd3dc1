import { byIssuer, dpopProofs, type Revocations } from '@portcullis/core'

import * as inputs from './inputs.ts'
import {
  accepting,
  acceptingAtOnce,
  type Plan,
  prepare,
  refusing,
  type Subject,
  type Take,
  type Task,
} from './measure.ts'
import { builtBeside } from './report.ts'
import { ES256 } from './signature-kinds.ts'
import * as subjects from './subjects.ts'

// One way to verify, which `bench micro` measures in this process alone: what a compiler has learnt of one verifier makes the next one slower.
// It is told what to do once, says when it is warm, and then runs a round whenever it is told to.

type Maker = (setting: subjects.Setting, token: string) => Subject | Promise<Subject>

// Its keys do not grow old while others are measured.
const longLived = (setting: subjects.Setting, revocations?: Revocations) =>
  subjects.verifierOf({ ...setting, lifetime: 3600 }, { revocations })
const lookUp = () => subjects.lookUpAmong(100_000, inputs.claims(0))

/** Who can be measured, by the name in the tables. */
const SUBJECTS = {
  'bare `crypto.verify`, synchronous': subjects.bareSync,
  'minimal verifier, synchronous': subjects.minimalSync,
  Portcullis: subjects.portcullis,
  'Portcullis, --beside': async (setting) => {
    const clone = await builtBeside<typeof subjects>('subjects.js')
    if (clone === undefined) throw new Error('there is no --beside')
    return clone.portcullis(setting)
  },
  'Portcullis, through `byIssuer`': subjects.portcullisByIssuer,
  'fast-jwt, key given': subjects.fastJwt,
  'fast-jwt, with its cache': subjects.fastJwtCached,
  'aws-jwt-verify': subjects.awsJwtVerify,
  'jose, with a key set': subjects.jose,
  'express-oauth2-jwt-bearer': subjects.expressOauth2,
  'jsonwebtoken + jwks-rsa': subjects.jsonwebtokenWithJwksRsa,
  'a promise, awaited': subjects.promiseAlone,
  guard: (setting, token) => subjects.guardOf(longLived(setting), token),
  'guard that asks revocations': (setting, token) =>
    subjects.guardOf(longLived(setting, lookUp().revocations), token),
  'guard of byIssuer': (setting, token) =>
    subjects.guardOf(byIssuer({ [inputs.ISSUER]: longLived(setting) }), token),
  'guard that takes DPoP': (setting, token) =>
    subjects.guardOf(longLived(setting), token, {
      dpop: dpopProofs({ origin: 'https://api.test' }),
    }),
  'guard of an opaque token': () => subjects.guardOfOpaque(),
  'guard of an opaque token, byForm': (setting) => subjects.guardOfOpaque(longLived(setting)),
  'guard with a schema of zod': subjects.guardOfZod,
  'a look-up among 100,000 revocations': lookUp,
  'a loop of `fetch`': subjects.fetching,
  'an opaque token, new': subjects.introspecting,
  'a scrape of 100 key sources': (setting) => subjects.scrapeOf(setting, 100),
} as const satisfies Readonly<Record<string, Maker>>

export type SubjectName = keyof typeof SUBJECTS

const inTurn = (tokens: readonly string[]) => inputs.turnsThrough(tokens)()
const sameString =
  ([token = '']: readonly string[]): Take =>
  (count) =>
    Array<string>(count).fill(token)

/** What is measured. More tokens than any cache here holds (1,000 each) are taken in turn, so that one is always new when its turn comes. */
const TASKS = {
  new: (tokens) => accepting(inTurn(tokens)),
  'at once': (tokens) => acceptingAtOnce(inTurn(tokens)),
  'ES256 at once': (tokens) => acceptingAtOnce(inTurn(tokens)),
  repeated: (tokens) => accepting(sameString(tokens)),
  guarded: (tokens) => accepting(sameString(tokens)),
  'looked up': (tokens) => accepting(sameString(tokens)),
  introspected: (tokens) => accepting(inTurn(tokens)),
  scraped: (tokens) => accepting(sameString(tokens)),
  forged: (tokens) => refusing(inTurn(inputs.forgeries(tokens))),
  other: (tokens) => refusing(inTurn(inputs.otherAlgorithms(tokens))),
  malformed: (tokens) => refusing(inTurn(inputs.malformations(tokens))),
} as const satisfies Readonly<
  Record<string, (tokens: readonly string[]) => (subject: Subject) => Task>
>

export type TaskName = keyof typeof TASKS

/** The first message to this process; each later one asks for a round, and is answered with its cost. */
export interface Order {
  readonly subject: SubjectName
  readonly task: TaskName
  /** Where the key is published; its private half stays with the parent. */
  readonly setting: Omit<subjects.Setting, 'kind'>
  readonly tokens: readonly string[]
  readonly plan: Plan
}

async function serve({ subject, task, setting, tokens, plan }: Order): Promise<void> {
  const kind = task === 'ES256 at once' ? { kind: ES256 } : {}
  const [token = ''] = tokens
  const make: Maker = SUBJECTS[subject]
  const made = await make({ ...setting, ...kind }, token)
  const run = await prepare(TASKS[task](tokens)(made), plan)
  process.on('message', () => {
    void run().then((cost) => process.send?.(cost))
  })
  process.send?.('warm')
}

process.once('message', (order: Order) => {
  void serve(order)
})

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

import { createTestIssuer, dpopClient, eventTransmitter, manualClock } from '@portcullis/testing'

import {
  AUDIENCE,
  CALLS,
  ISSUER,
  type Listening,
  OPAQUE,
  ORIGIN,
  PROOF_TIME,
  statusesOf,
  type Tokens,
} from './calls.ts'

/** A call that was answered otherwise than without any pollution. */
export interface Finding {
  readonly name: string
  readonly value: string
  readonly framework: string
  /** What was asked for, and what came back. */
  readonly answers: readonly string[]
  /** Whether somebody was let in who must not be. */
  readonly isHole: boolean
}

interface Server extends Listening {
  /** What it answers to its calls without any pollution. */
  readonly before: readonly number[]
}

interface Child {
  readonly process: ChildProcess
  readonly ended: Promise<unknown>
  readonly servers: readonly Server[]
}

/** Those that answered to the last, for whoever pollutes next: starting one takes seconds. */
const idle: Child[] = []

/** For when nobody pollutes any more. */
export function endChildren(): void {
  for (const { process: child } of idle.splice(0)) child.kill('SIGKILL')
}

/** A name that no program reads. */
const UNREAD = 'portcullis: unread'

const NOTHING: Pollution = { names: [], value: 'true' }

/** Seconds. */
const BASELINE_DEADLINE = 10

// Some hundred seconds go by on a machine that is busy.
const good = await createTestIssuer({ lifetime: 3600, issuer: ISSUER })
const other = await createTestIssuer({ issuer: ISSUER })
const proofClock = manualClock(PROOF_TIME)
const [client, thief] = [
  await dpopClient({ clock: proofClock }),
  await dpopClient({ clock: proofClock }),
]
const bound = await good.token({ boundTo: client })
const [tellers, liars] = [
  await createTestIssuer({ clock: proofClock, issuer: ISSUER }),
  await createTestIssuer({ clock: proofClock, issuer: ISSUER }),
]
const session = { sub: 'ada', sid: 'a-session' }
const subject = { format: 'iss_sub', iss: ISSUER, sub: 'ada' }
const teller = eventTransmitter(tellers, { audience: AUDIENCE })
const liar = eventTransmitter(liars, { audience: AUDIENCE })
const proofFor = { url: `${ORIGIN}/bound`, token: bound }
const tokens: Tokens = {
  good: await good.token({ claims: { sub: 'ada', scope: 'read' } }),
  forged: await other.token({ claims: { sub: 'ada', scope: 'read write' } }),
  bad: 'bad',
  opaque: OPAQUE,
  invented: 'invented',
  bound,
  logout: await teller.logoutToken(session),
  'forged logout': await liar.logoutToken(session),
  event: await teller.securityEvent({ type: 'account-purged', subject }),
  certified: await good.token({ boundTo: { x5tS256: client.jkt } }),
  proofs: { own: await client.proof(proofFor), other: await thief.proof(proofFor) },
}

async function startChild(): Promise<Child> {
  const child = fork(fileURLToPath(new URL('servers.ts', import.meta.url)), {
    silent: true,
    execArgv: ['--conditions=@portcullis/source', '--disable-warning=ExperimentalWarning'],
  })
  child.stdout?.resume()
  child.stderr?.resume()
  const ended = once(child, 'exit')
  child.send({ good: good.publicJwk, other: other.publicJwk, tellers: tellers.publicJwk })
  const [listening] = (await once(child, 'message')) as [readonly Listening[]]
  const servers = await Promise.all(listening.map(askedBefore))
  return { process: child, ended, servers }
}

/** What each kind of server answers, by framework and app. It is asked once: a child that takes the place of another serves the same. */
const answersBefore = new Map<string, readonly number[]>()

async function askedBefore(server: Listening): Promise<Server> {
  const calls = CALLS[server.app]
  const kind = `${server.framework} ${server.app}`
  const known = answersBefore.get(kind)
  if (known !== undefined) return { ...server, before: known }
  const before = await statusesOf({ port: server.port, calls }, tokens, BASELINE_DEADLINE)
  const wrong = calls.filter(({ statuses }, at) => !statuses.includes(before[at] ?? 0))
  if (wrong.length > 0) {
    throw new Error(
      `${server.framework}: ${wrong.map(({ path }) => path).join()}: ${before.join()}`,
    )
  }
  answersBefore.set(kind, before)
  return { ...server, before }
}

/** What is polluted at once. */
export interface Pollution {
  /** If an answer changes under several names, they are halved until a name is found that changes it. */
  readonly names: readonly string[]
  /** The name of a value of `values.ts`. */
  readonly value: string
}

/**
 * Pollutes what it is told, one after the other, in a process that nobody else pollutes meanwhile, and tells of every answer that
 * changes.
 *
 * @param deadline How long a silent server is waited for. Seconds.
 */
export async function pollute(
  pollutions: readonly Pollution[],
  deadline: number,
): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  let child: Child | undefined

  async function round(pollution: Pollution, patience = deadline): Promise<readonly Finding[]> {
    child ??= idle.pop() ?? (await startChild())
    const found = await answersOf(child, pollution, patience)
    const isSilent = found.some(({ answers }) => answers.some((each) => each.endsWith(SILENCE)))
    // A server that does not answer as before once nothing is polluted has to be started again.
    if (isSilent && (await answersOf(child, NOTHING, deadline)).length > 0) stop()
    return found
  }

  function stop(): void {
    child?.process.kill('SIGKILL')
    child = undefined
  }

  // Otherwise every group would be halved down to its names, which takes longer than the test may. All are expected to answer.
  for (const value of new Set(pollutions.map((pollution) => pollution.value))) {
    const [changed] = await round({ names: [UNREAD], value }, BASELINE_DEADLINE)
    if (changed !== undefined) {
      stop()
      const { framework, answers } = changed
      throw new Error(
        `${framework} fails under any name with ${value} (${answers[0] ?? ''}): mend the adapter, or say so with the reason in failsUnder of its framework`,
      )
    }
  }
  async function search({ names, value }: Pollution): Promise<void> {
    const found = await round({ names, value })
    if (found.length === 0) return
    if (names.length === 1) findings.push(...found)
    else {
      for (const half of groupsOf(names, Math.ceil(names.length / 2))) {
        await search({ names: half, value })
      }
    }
  }

  for (const pollution of pollutions) await search(pollution)
  if (child !== undefined) idle.push(child)
  return findings
}

export function groupsOf(names: readonly string[], size: number): readonly (readonly string[])[] {
  const starts = Array.from({ length: Math.ceil(names.length / size) }, (_, at) => at * size)
  return starts.map((start) => names.slice(start, start + size))
}

async function answersOf(
  { process: child, ended, servers }: Child,
  { names, value }: Pollution,
  deadline: number,
): Promise<readonly Finding[]> {
  // A child that has ended is not told, and shows it by servers that do not answer.
  child.send({ names, value }, () => undefined)
  await Promise.race([once(child, 'message'), ended])
  const findings = await Promise.all(
    servers.map(async ({ framework, fails, app, port, before }) => {
      const calls = CALLS[app]
      const statuses = await statusesOf({ port, calls }, tokens, deadline)
      const changed = calls.flatMap((call, at) => {
        const seen = statuses[at]
        return seen === before[at] ? [] : [{ ...call, seen }]
      })
      const answers = changed.map(
        ({ path, token, seen }) => `${path} with ${token}: ${seen ?? SILENCE}`,
      )
      const isHole = changed.some(
        ({ seen, mayPass }) => mayPass !== true && seen !== undefined && seen < 400,
      )
      const isFinding = isHole || (answers.length > 0 && !fails.includes(value))
      return isFinding ? [{ name: names.join(), value, framework, answers, isHole }] : []
    }),
  )
  return findings.flat()
}

const SILENCE = 'no answer'

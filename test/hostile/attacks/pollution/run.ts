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

/** A name that no program reads. */
const UNREAD = 'portcullis: unread'

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

async function askedBefore(server: Listening): Promise<Server> {
  const calls = CALLS[server.app]
  const before = await statusesOf({ port: server.port, calls }, tokens, BASELINE_DEADLINE)
  const wrong = calls.filter(({ statuses }, at) => !statuses.includes(before[at] ?? 0))
  if (wrong.length > 0) {
    throw new Error(
      `${server.framework}: ${wrong.map(({ path }) => path).join()}: ${before.join()}`,
    )
  }
  return { ...server, before }
}

export interface PollutionOptions {
  /** How long a silent server is waited for. Seconds. */
  readonly deadline: number
  /** How many names are polluted at once. A group that changes an answer is halved, until a name is found that does. */
  readonly group: number
  /** Names of the values of `values.ts`. */
  readonly values: readonly string[]
}

/** Pollutes each name with each value, in processes of its own, and tells of every answer that changes. */
export async function pollute(
  names: readonly string[],
  { deadline, group: size, values }: PollutionOptions,
): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  let child = await startChild()

  async function round(
    group: readonly string[],
    value: string,
    patience = deadline,
  ): Promise<readonly Finding[]> {
    const found = await answersOf(child, { names: group, value, deadline: patience })
    // A server that stops to answer has to be started again.
    if (found.some(({ answers }) => answers.some((answer) => answer.endsWith(SILENCE)))) {
      child.process.kill('SIGKILL')
      child = await startChild()
    }
    return found
  }

  // Otherwise every group would be halved down to its names, which takes longer than the test may. All are expected to answer.
  for (const value of values) {
    const [changed] = await round([UNREAD], value, BASELINE_DEADLINE)
    if (changed !== undefined) {
      child.process.kill('SIGKILL')
      const { framework, answers } = changed
      throw new Error(
        `${framework} fails under any name with ${value} (${answers[0] ?? ''}): mend the adapter, or say so with the reason in failsUnder of its framework`,
      )
    }
  }
  async function search(group: readonly string[], value: string): Promise<void> {
    const found = await round(group, value)
    if (found.length === 0) return
    if (group.length === 1) findings.push(...found)
    else for (const part of groupsOf(group, Math.ceil(group.length / 2))) await search(part, value)
  }

  for (const group of groupsOf(names, size)) {
    for (const value of values) await search(group, value)
  }
  child.process.kill('SIGKILL')
  return findings
}

function groupsOf(names: readonly string[], size: number): readonly (readonly string[])[] {
  const starts = Array.from({ length: Math.ceil(names.length / size) }, (_, at) => at * size)
  return starts.map((start) => names.slice(start, start + size))
}

async function answersOf(
  { process: child, ended, servers }: Child,
  { names, value, deadline }: { names: readonly string[]; value: string; deadline: number },
): Promise<readonly Finding[]> {
  child.send({ names, value })
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

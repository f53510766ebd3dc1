import { Agent, request } from 'node:http'

import type { Running } from '../flow/processes.ts'
import type { Chronicle } from './history.ts'
import { type Call, isStrict, judge, type Kind } from './oracle.ts'
import type { Tally } from './tally.ts'
import type { SentToken, Tokens } from './tokens.ts'
import { afterSeconds, type Worker } from './workers.ts'

// Sends tokens of every kind to the workers, and has each answer judged.

export interface Traffic {
  readonly tokens: Tokens
  readonly tally: Tally
  readonly chronicle: Chronicle
  /** Seconds. */
  readonly now: () => number
  readonly random: () => number
}

/** Of ten requests to a worker. */
const MIX: readonly Kind[] = [
  'genuine',
  'genuine',
  'genuine',
  'genuine',
  'genuine',
  'revoked',
  'revoked',
  'forged',
  'expired',
  'foreign',
]
/** Seconds. */
const PAUSE = 0.12
const TIMEOUT = 15
/** Forged tokens each second. */
const FLOOD = 250

const CAUSES = ['issuer', 'logins', 'keys', 'store', 'clock', 'load', 'fleet', 'machine'] as const

const agent = new Agent({ keepAlive: true })

/** One request after the other until the signal. */
export async function callWorker(
  worker: Worker,
  signal: AbortSignal,
  traffic: Traffic,
): Promise<void> {
  const { tokens, tally, chronicle, now, random } = traffic
  while (!signal.aborted) {
    const kind = MIX[Math.floor(random() * MIX.length)] ?? 'genuine'
    const picked = tokens.pick(kind, random())
    if (picked !== undefined) {
      const call = await send(picked, worker.url, now)
      const history = chronicle.at(worker.name)
      const judgement = judge(call, history)
      tally.judged(worker.name, call, judgement, isStrict(call, history))
      if (judgement.verdict === 'wrong') {
        tally.explained(`${worker.name} says`, await worker.why().catch(String))
      }
    }
    await afterSeconds(PAUSE)
  }
}

async function send(picked: SentToken, url: string, now: () => number): Promise<Call> {
  const { token, revokedAt, isEarly } = picked
  const sent = now()
  const kind = picked.kind === 'genuine' ? kindNow(picked) : picked.kind
  const status = await statusOf(url, token)
  return { kind, sent, answered: now(), status, published: picked.published(), isEarly, revokedAt }
}

function kindNow({ published }: SentToken): Kind {
  const last = published().at(-1)
  if (last === undefined) return 'early'
  return last.until === undefined ? 'genuine' : 'withdrawn'
}

/** `undefined` if there is no answer. */
async function statusOf(
  url: string,
  token: string,
  connections = agent,
): Promise<number | undefined> {
  return await new Promise((resolve) => {
    const headers = { authorization: `Bearer ${token}` }
    const options = { agent: connections, headers, timeout: TIMEOUT * 1000 }
    const sending = request(url, options, (response) => {
      response.resume()
      response.on('end', () => {
        resolve(response.statusCode)
      })
      response.on('error', () => {
        resolve(undefined)
      })
    })
    sending.on('timeout', () => sending.destroy())
    sending.on('error', (error) => {
      // The server ends a connection that is idle, and may do so while a request is on its way: whoever keeps connections sends it again.
      const isIdleEnd = sending.reusedSocket && 'code' in error && error.code === 'ECONNRESET'
      resolve(isIdleEnd ? statusOf(url, token, connections) : undefined)
    })
    sending.end()
  })
}

/** Invented signatures, each another one. */
export async function flood(
  worker: Worker,
  signal: AbortSignal,
  { tokens, random }: Traffic,
): Promise<void> {
  const forged = tokens.pick('forged', 0)?.token ?? ''
  const start = forged.slice(0, forged.lastIndexOf('.') + 1)
  const length = forged.length - start.length
  const connections = new Agent({ keepAlive: true })
  while (!signal.aborted) {
    const some = Array.from({ length: FLOOD / 10 }, async () => {
      const signature = Buffer.from(Array.from({ length }, () => random() * 256))
      return await statusOf(
        worker.url,
        start + signature.toString('base64url').slice(0, length),
        connections,
      )
    })
    await Promise.all([afterSeconds(0.1), ...some])
  }
  // Some frameworks keep connections for a minute, which would count as handles of the worker.
  connections.destroy()
}

/** The client of ours calls the workers that stay, until the signal. Only what disturbs them or the log-ins may be felt. */
export async function callAsClient(
  caller: Running,
  workers: readonly Worker[],
  signal: AbortSignal,
  { tally, chronicle, now, random }: Traffic,
): Promise<void> {
  const counts = { accepted: 0, felt: 0 }
  while (!signal.aborted) {
    const worker = workers[Math.floor(random() * workers.length)]
    if (worker === undefined) throw new Error('no workers')
    const sent = now()
    const answer = await caller.ask<{ status?: number; error?: string }>('call', worker.url)
    const history = chronicle.at(worker.name)
    const felt = CAUSES.some((track) => history.wasDisturbed(track, sent - 60, now()))
    if (answer.status === 200) counts.accepted += 1
    else if (felt) counts.felt += 1
    else tally.fault(`client: ${answer.status ?? answer.error}, and nothing was disturbed`)
    await afterSeconds(PAUSE)
  }
  tally.noted('client', counts)
}

import {
  type Auth,
  AuthError,
  createVerifier,
  discoverKeys,
  type KeySource,
  remoteKeys,
  type Verifier,
  type VerifierOptions,
} from '@portcullis/core'
import { manualClock } from '@portcullis/testing'

import type { Answer, Judgement, Options, Row, Step, Verdict } from './row.ts'
import { AUDIENCE, type TokenMaker, ISSUER } from './token-maker.ts'

export interface Outcome {
  readonly verdict: string
  readonly auth?: Auth
  readonly error?: unknown
}

/** What one row needs: key endpoints of its own, in memory, and time of its own. */
export interface World {
  /** Requests to key endpoints, of all verifiers. */
  readonly requests: number
  /** Requests to anything else. */
  readonly strays: readonly string[]
  verifierFor(judgement: Judgement): Verifier
  /** What its verifier is created with. */
  optionsFor(judgement: Judgement): VerifierOptions
  judge(judgement: Judgement): Promise<Outcome>
  /** What was found where something else was expected. */
  take(step: Step): Promise<readonly string[]>
}

/** @param standIn Makes what is asked in place of each verifier. */
export function createWorld(
  row: Row,
  { document }: TokenMaker,
  standIn: (verifier: Verifier, options: Options | undefined) => Verifier = (verifier) => verifier,
): World {
  const clock = manualClock()
  const answers = new Map<string, Answer>()
  const sources = new Map<string, KeySource>()
  const verifiers = new Map<KeySource, Map<Options | undefined, Verifier>>()
  const strays: string[] = []
  /** Kept, as an application keeps it for the length of a request. */
  const parsed: unknown[] = []
  let requests = 0

  answers.set(place('main'), row.document === undefined ? document : row.document)
  if (row.metadata !== undefined) {
    answers.set(`${ISSUER}/.well-known/openid-configuration`, row.metadata)
    answers.set(`${ISSUER}/.well-known/oauth-authorization-server`, row.metadata)
  }

  async function fetch(url: string): Promise<Response> {
    requests++
    const answer = answers.get(url)
    if (answer === undefined) strays.push(url)
    return responseOf(answer ?? null)
  }

  function sourceAt(name: string): KeySource {
    const known = sources.get(name)
    if (known !== undefined) return known
    const source =
      row.metadata === undefined
        ? remoteKeys(place(name), { fetch, clock })
        : discoverKeys(ISSUER, { fetch, clock })
    sources.set(name, source)
    return source
  }

  function optionsFor({ options, from = 'main' }: Judgement): VerifierOptions {
    return { keys: sourceAt(from), issuer: ISSUER, audience: AUDIENCE, clock, ...options }
  }

  function verifierFor(judgement: Judgement): Verifier {
    const { options, from = 'main' } = judgement
    const keys = sourceAt(from)
    const known = verifiers.get(keys) ?? new Map<Options | undefined, Verifier>()
    const verifier = known.get(options) ?? standIn(createVerifier(optionsFor(judgement)), options)
    verifiers.set(keys, known.set(options, verifier))
    return verifier
  }

  async function judge(judgement: Judgement): Promise<Outcome> {
    const outcome = outcomeOf(judgement)
    if (judgement.waits !== undefined) await clock.advance(judgement.waits)
    return await outcome
  }

  async function outcomeOf(judgement: Judgement): Promise<Outcome> {
    try {
      // Whatever a caller in JavaScript passes on.
      const auth = await verifierFor(judgement).verify(judgement.token as string)
      return { verdict: 'accepted', auth }
    } catch (error) {
      return { verdict: verdictOf(error), error }
    }
  }

  async function take(step: Step): Promise<readonly string[]> {
    if ('serve' in step) {
      answers.set(place(step.at ?? 'main'), step.serve)
      return []
    }
    if ('parse' in step) {
      parsed.push(JSON.parse(step.parse))
      return []
    }
    if ('pass' in step) {
      await clock.advance(step.pass)
      return []
    }
    const judgements = 'together' in step ? step.together : [step]
    const outcomes = await Promise.all(judgements.map(judge))
    return outcomes.flatMap(({ verdict }, at) =>
      verdict === judgements[at]?.verdict ? [] : [`${verdict}, not ${judgements[at]?.verdict}`],
    )
  }

  return {
    get requests() {
      return requests
    },
    strays,
    verifierFor,
    optionsFor,
    judge,
    take,
  }
}

function place(name: string): string {
  return `${ISSUER}/${name}.json`
}

function responseOf(answer: Answer): Response {
  if (answer === null) return new Response(null, { status: 500 })
  if (answer instanceof Response) return answer.clone()
  if (typeof answer === 'string') return new Response(answer)
  return answer instanceof Uint8Array ? new Response(Buffer.from(answer)) : Response.json(answer)
}

function verdictOf(error: unknown): string {
  if (error instanceof AuthError) return error.reason
  return error instanceof TypeError ? 'TypeError' : String(error)
}

const BEFORE_THE_KEYS: ReadonlySet<Verdict> = new Set([
  'TypeError',
  'malformed',
  'too_large',
  'algorithm',
  'critical_header',
])
const OUTAGES: ReadonlySet<Verdict> = new Set(['unreachable', 'timeout', 'bad_document'])

export function codeOf(verdict: Verdict): string {
  return OUTAGES.has(verdict) ? 'keys_unavailable' : 'invalid_token'
}

/** What is decided without keys costs no request; anything else costs the first. */
export function requestsOf({ verdict, before, requests }: Row): number {
  return requests ?? (before === undefined && BEFORE_THE_KEYS.has(verdict) ? 0 : 1)
}

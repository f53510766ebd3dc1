import type { Endpoint, KeyPhases, Phase } from '@portcullis/testing'

import type { LoggedEvent } from '../serve/event-log.ts'
import { shortName, shown } from './text.ts'

// Tells people what an event of the log means: a fetch, a log-in, a rotation, a fault or a verdict, and what follows from it.

/** An event for people: a line, and what it means. */
export interface EventStory {
  readonly what: string
  /** Who did it, or with which key. */
  readonly who: string | undefined
  /** How it ended, in a word. */
  readonly result: string
  readonly tone: 'good' | 'refused' | 'failed' | 'change'
  readonly sentences: readonly string[]
}

type RequestEvent = Extract<LoggedEvent, { type: 'request' }>

const FAULT = 'The service never answers so by itself: a fault was in force.'

/** @param keys When each key was in use. */
export function storyOf(event: LoggedEvent, keys: readonly KeyPhases[]): EventStory {
  switch (event.type) {
    case 'request':
      return requestStory(event, keys)
    case 'rotated':
      return change(`Rotated, ${FORMS[event.publish].name}`, event.thumbprint, [
        FORMS[event.publish].means,
      ])
    case 'completed':
      return change('Rotation finished', event.thumbprint, [
        'The new key alone is published, and signs.',
      ])
    case 'rolled back':
      return change('Rolled back', event.thumbprint, [
        'The key before signs again, and is published as it was. Tokens of the other key are refused once services have fetched the keys again.',
      ])
    case 'minted':
      return mintStory(event)
    case 'fault':
      return faultStory(event)
    case 'faults cleared':
      return {
        what: 'Faults ended',
        who: undefined,
        result: String(event.cleared),
        tone: 'change',
        sentences: ['Both endpoints answer as they should, unless another fault has begun since.'],
      }
    case 'session ended':
      return sessionStory(event)
    case 'verdict':
      return verdictStory(event)
    case 'verdicts dropped':
    default:
      return {
        what: 'Verdicts not reported',
        who: apiOf(event.api),
        result: String(event.count),
        tone: 'refused',
        sentences: [
          'The API had more verdicts than it reports at once. Its answers are not affected.',
        ],
      }
  }
}

function mintStory(event: Extract<LoggedEvent, { type: 'minted' }>): EventStory {
  return {
    what: event.kind === undefined ? 'Token minted' : 'Bad token minted',
    who: event.kind === undefined ? undefined : shown(event.kind),
    result: 'done',
    tone: 'change',
    sentences: [
      event.kind === undefined
        ? 'A token was made by the form or by portcullis mint. It is not kept here.'
        : 'A token was made that every service must refuse, for the reason that its name says.',
    ],
  }
}

function faultStory(event: Extract<LoggedEvent, { type: 'fault' }>): EventStory {
  return {
    what: 'Fault begun',
    who: event.endpoint === 'keys' ? 'key endpoint' : 'log-in',
    result: shown(String(event.kind)),
    tone: 'change',
    sentences: [
      event.endpoint === 'keys'
        ? 'Services that have keys go on with them. A service that starts now answers 503 until it gets some.'
        : 'Clients that have a token go on with it. Others cannot log in.',
    ],
  }
}

function sessionStory({ status }: Extract<LoggedEvent, { type: 'session ended' }>): EventStory {
  const isTaken = status === 200 || status === 204
  return {
    what: 'Session ended',
    who: undefined,
    result: status === undefined ? 'no answer' : String(status),
    tone: isTaken ? 'good' : status === undefined || status >= 500 ? 'failed' : 'refused',
    sentences: [
      isTaken
        ? 'The API has recorded the log-out: it refuses the tokens of that session from now on.'
        : 'The API has not recorded the log-out. A provider may not send it again: the tokens remain valid until they expire.',
    ],
  }
}

type VerdictEvent = Extract<LoggedEvent, { type: 'verdict' }>

function verdictStory(event: VerdictEvent): EventStory {
  const { api, code, reason, detail, count, remembered } = event
  const often = count === 1 ? '' : ` × ${count}`
  const isOutage = code?.endsWith('_unavailable') === true
  return {
    what: code === undefined ? 'Token accepted' : 'Token refused',
    who: apiOf(api),
    result: `${code === undefined ? 'ok' : shown(reason ?? code, 40)}${often}`,
    tone: code === undefined ? 'good' : isOutage ? 'failed' : 'refused',
    sentences: [
      code === undefined
        ? `The API proved the token${remembered ? ' before, and remembered it' : ''}.`
        : `${shown(code, 64)}: ${shown(detail ?? reason ?? 'the API says no more', 1000)}`,
      ...(isOutage
        ? ['It cannot tell, since it lacks what it must ask: this is no fault of the client.']
        : []),
      ...(code === 'invalid_token'
        ? ['Paste the token into the panel below to read every check.']
        : []),
      ...(count === 1 ? [] : [`${count} such verdicts came in one report.`]),
    ],
  }
}

function apiOf(api: string | undefined): string {
  return api === undefined ? 'an API' : shown(api, 60)
}

const FORMS: Readonly<
  Record<
    Extract<LoggedEvent, { type: 'rotated' }>['publish'],
    { readonly name: string; readonly means: string }
  >
> = {
  now: {
    name: 'at once',
    means:
      'The new key is published and signs. A service fetches it for the first token that its own keys do not prove, and accepts that token.',
  },
  first: {
    name: 'published first',
    means:
      'The new key is published, and does not sign yet. Tokens of the old key are refused by services that have fetched the new one.',
  },
  later: {
    name: 'published late',
    means:
      'The new key signs, and is not published yet. Services cannot verify its tokens until it is.',
  },
  both: {
    name: 'both published',
    means: 'A set has the old key and the new one, which signs. Tokens of both are accepted.',
  },
}

function change(what: string, thumbprint: string, sentences: readonly string[]): EventStory {
  return { what, who: shortName(thumbprint), result: 'signs', tone: 'change', sentences }
}

const REQUESTS: Readonly<Record<Endpoint, string>> = {
  keys: 'Key fetch',
  token: 'Log-in',
  introspection: 'Introspection',
  metadata: 'Metadata',
}

function requestStory(event: RequestEvent, keys: readonly KeyPhases[]): EventStory {
  const { endpoint, status, loginId, clientId, userAgent } = event
  const what = endpoint === undefined ? 'Other path' : REQUESTS[endpoint]
  const who = loginId ?? clientId ?? userAgent
  return {
    what,
    who: who === undefined ? undefined : shown(who, 60),
    result: status === undefined ? 'no answer' : String(status),
    tone: status === undefined || status >= 500 ? 'failed' : status === 200 ? 'good' : 'refused',
    sentences: [
      ...(endpoint === 'keys' ? fetchSentences(event, keys) : []),
      ...(endpoint === 'token' ? loginSentences(event, keys) : []),
      ...(endpoint === undefined
        ? [
            'The service has two paths: GET /tokenservice/pubkey.json and POST /tokenservice/token/api.',
          ]
        : []),
      ...(userAgent === undefined ? [] : [`The client calls itself ${shown(userAgent)}.`]),
    ],
  }
}

function fetchSentences({ status, time }: RequestEvent, keys: readonly KeyPhases[]): string[] {
  const published = keys.filter((key) => wasOpen(key.published, time)).map(nameOf)
  if (status === 200) {
    return [
      `Published was ${published.join(' and ')}. Unless a fault replaced it, the client has it from now on, and trusts no other.`,
    ]
  }
  if (status === undefined) return [NO_ANSWER]
  if (status === 405) return ['The key is fetched by GET.']
  return [`${FAULT} A service that has keys goes on with them, and asks again later.`]
}

const NO_ANSWER = 'There was no answer: the client left before, or a fault ended the connection.'

function loginSentences(
  { status, time, loginId }: RequestEvent,
  keys: readonly KeyPhases[],
): string[] {
  if (status === undefined) return [NO_ANSWER]
  if (status !== 200) return [LOGIN_REFUSALS.get(status) ?? FAULT]
  const signer = keys.find((key) => wasOpen(key.signing, time))
  const name = loginId === undefined ? 'Somebody' : shown(loginId, 60)
  if (signer === undefined) return [`${name} logged in, and got a token.`]
  const isPublished = wasOpen(signer.published, time)
  return [
    `${name} logged in, and got a token that ${nameOf(signer)} signed.`,
    isPublished
      ? 'That key was published, so services can verify the token.'
      : 'That key was not published then, so services could not verify the token yet.',
  ]
}

const LOGIN_REFUSALS: ReadonlyMap<number, string> = new Map([
  [400, 'The form lacks loginId or password.'],
  [
    401,
    'There is no such loginId, or the password is another one. The service does not say which.',
  ],
  [405, 'A log-in is a POST.'],
  [413, 'The form is too large.'],
  [415, 'A log-in is a form: its content-type is application/x-www-form-urlencoded.'],
])

function wasOpen(phases: readonly Phase[], time: number): boolean {
  return phases.some(({ from, until }) => from <= time && (until === undefined || time < until))
}

function nameOf({ thumbprint }: KeyPhases): string {
  return `the key ${shortName(thumbprint)}`
}

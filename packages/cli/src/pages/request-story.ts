import type { Endpoint, KeyPhases } from '@portcullis/testing'

import type { LoggedEvent } from '../serve/event-log.ts'
import type { EventStory } from './story.ts'
import { shortName, shown } from './text.ts'

// Tells people what a request to the service means: which key it brought, or whose token, and whether that can be verified.

type RequestEvent = Extract<LoggedEvent, { type: 'request' }>

const FAULT = 'The service never answers so by itself: a fault was in force.'

const REQUESTS: Readonly<Record<Endpoint, string>> = {
  keys: 'Key fetch',
  token: 'Log-in',
  introspection: 'Introspection',
  metadata: 'Metadata',
}

/** @param keys When each key was in use. */
export function requestStory(event: RequestEvent, keys: readonly KeyPhases[]): EventStory {
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

function wasOpen(phases: KeyPhases['published'], time: number): boolean {
  return phases.some(({ from, until }) => from <= time && (until === undefined || time < until))
}

function nameOf({ thumbprint }: KeyPhases): string {
  return `the key ${shortName(thumbprint)}`
}

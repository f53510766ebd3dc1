import type { KeyPhases } from '@portcullis/testing'

import type { LoggedEvent } from '../serve/event-log.ts'
import { requestStory } from './request-story.ts'
import type { EventStory } from './story.ts'
import { shortName, shown } from './text.ts'

// Tells people what an event of the log means: a fetch, a log-in, a rotation, a fault or a verdict, and what follows from it.

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

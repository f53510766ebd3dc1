import type { KeyPhases } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { storyOf } from '../../src/pages/event-story.ts'
import type { LoggedEvent } from '../../src/serve/event-log.ts'

const published = { from: 0, until: 50 }
const keys: readonly KeyPhases[] = [
  { thumbprint: 'old-key-1', publicJwk: {}, published: [published], signing: [published] },
  {
    thumbprint: 'new-key-2',
    publicJwk: {},
    published: [{ from: 70, until: undefined }],
    signing: [{ from: 50, until: undefined }],
  },
]

type Request = Extract<LoggedEvent, { type: 'request' }>

function request(event: Partial<Request>): Request {
  const named = { loginId: 'ada', clientId: undefined, userAgent: undefined }
  const usual = { endpoint: 'token', status: 200, ...named } as const
  return { type: 'request', id: 1, time: 10, ...usual, ...event }
}

describe('a log-in', () => {
  test('says which key signed the token, and that it was published', () => {
    const { sentences, tone } = storyOf(request({}), keys)
    expect(sentences.join(' ')).toContain(
      'a token that the key old-key- signed. That key was published',
    )
    expect(tone).toBe('good')
  })

  test('says that the key was not published yet', () => {
    const { sentences } = storyOf(request({ time: 60 }), keys)
    expect(sentences.join(' ')).toContain('That key was not published then')
  })

  test.each<[status: number | undefined, sentence: string, tone: string]>([
    [400, 'The form lacks loginId or password.', 'refused'],
    [401, 'no such loginId, or the password is another one', 'refused'],
    [415, 'application/x-www-form-urlencoded', 'refused'],
    [503, 'a fault was in force', 'failed'],
    [undefined, 'There was no answer', 'failed'],
  ])('with the answer %s says why', (status, sentence, tone) => {
    const story = storyOf(request({ status }), keys)
    expect(story.sentences.join(' ')).toContain(sentence)
    expect(story.tone).toBe(tone)
  })
})

test('a key fetch says what the client has since', () => {
  const { sentences } = storyOf(request({ endpoint: 'keys', time: 80, loginId: undefined }), keys)
  expect(sentences[0]).toContain('Published was the key new-key-.')
})

describe('a reported verdict', () => {
  type Verdict = Extract<LoggedEvent, { type: 'verdict' }>
  const usual = { type: 'verdict', id: 1, time: 1, api: 'orders', remembered: false } as const
  const refused: Verdict = {
    ...usual,
    code: 'invalid_token',
    reason: 'expired',
    detail: 'exp was 5 min ago',
    count: 3,
    duration: undefined,
  }

  test('of a refusal has its reason, its sentence, and how often it came', () => {
    const story = storyOf(refused, keys)
    expect(story).toMatchObject({ who: 'orders', result: 'expired × 3', tone: 'refused' })
    expect(story.sentences[0]).toBe('invalid_token: exp was 5 min ago')
  })

  test('of an outage is no fault of the client', () => {
    const story = storyOf({ ...refused, code: 'keys_unavailable', reason: 'timeout' }, keys)
    expect(story.tone).toBe('failed')
    expect(story.sentences.join(' ')).toContain('no fault of the client')
  })

  test('of an acceptance says so', () => {
    const accepted = { code: undefined, reason: undefined, detail: undefined, count: 1 }
    expect(storyOf({ ...refused, ...accepted }, keys)).toMatchObject({ result: 'ok', tone: 'good' })
  })
})

test('what others wrote is cut, and cannot turn the text', () => {
  const { who } = storyOf(request({ loginId: `\u{202E}${'x'.repeat(500)}` }), keys)
  expect(who).toMatch(/^\\u202ex+\.\.\. \(501 characters\)$/)
})

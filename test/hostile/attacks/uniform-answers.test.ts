import { AuthError, authErrorReasons, type GuardOptions, type Verifier } from '@portcullis/core'
import { describe, expect, test } from 'vitest'

import { frameworks } from '../../frameworks/contract/frameworks/index.ts'
import { corpusOf } from './corpus/corpus.ts'
import { createWorld } from './corpus/judge.ts'
import { connectTo } from './corpus/keep-alive.ts'
import type { Row, Verdict } from './corpus/row.ts'
import { createTokenMaker } from './corpus/token-maker.ts'

const UNPROVEN: ReadonlySet<Verdict> = new Set([
  'malformed',
  'too_large',
  'algorithm',
  'critical_header',
  'unknown_key',
  'signature',
])
/** Node answers by itself beyond 16 KiB of headers. */
const MAX_SIZE = 15_000

interface Case {
  readonly name: string
  readonly token: string
  readonly verifier: Verifier
}

const maker = await createTokenMaker('https://canary.test')
const cases = Object.values(corpusOf(maker)).flat().flatMap(caseOf)
/** Blanks at the ends belong to the header, and control characters end the request before any guard. */
const texts = cases.filter(({ token }) =>
  /^[!-~\u0080-\u00FF]([ -~\u0080-\u00FF]*[!-~\u0080-\u00FF])?$/.test(token),
)
/** What looks like two headers that somebody has joined. JSON, which has commas as well, does not. */
const joined = texts.filter(({ token }) => token.includes(',') && !token.startsWith('{'))
const refused = texts.filter((each) => !joined.includes(each))

function caseOf(row: Row): readonly Case[] {
  const { name, token, verdict, before } = row
  const isUnproven = UNPROVEN.has(verdict) && before === undefined
  if (!isUnproven || typeof token !== 'string' || token.length > MAX_SIZE) return []
  return [{ name, token, verifier: createWorld(row, maker).verifierFor(row) }]
}

const INVALID_TOKEN =
  'WWW-Authenticate: Bearer realm="api", error="invalid_token", error_description="The access token is not valid"'
const INVALID_REQUEST =
  'WWW-Authenticate: Bearer realm="api", error="invalid_request", error_description="The request must have one Authorization header, and not more than one DPoP header"'

/** Each framework gets one token in so many. What differs by the token is core's, so each is tried in some frameworks. */
const SHARES = 3

const shared = frameworks.map(({ name, createApp }, at) => ({
  name,
  createApp,
  share: at % SHARES,
}))

test('every reason that no client may learn is among them, but for that of opaque tokens', () => {
  const reasons = authErrorReasons.invalid_token.filter(
    (reason) =>
      reason !== 'inactive' && !('reason' in new AuthError('invalid_token', reason).toJSON()),
  )
  expect(new Set(reasons)).toEqual(UNPROVEN)
})

describe.each(shared)('$name', ({ createApp, share }) => {
  const mine = (all: readonly Case[]) => all.filter((_, at) => at % SHARES === share)

  describe.each(['forward', 'problem'] as const)('respond: %s', (respond) => {
    test('whoever proves nothing reads the same octets, whatever is wrong', async () => {
      const tried = mine(refused)
      const answers = await answersTo(tried, { respond })
      expect(tried.length).toBeGreaterThan(200)
      expect(examples(answers).slice(1)).toEqual([])
      expectAnswer(answers, 401, INVALID_TOKEN)
    })

    test('what can be two headers is told so, in the same octets as well', async () => {
      const answers = await answersTo(joined, { respond })
      expect(joined.length).toBeGreaterThan(0)
      expect(examples(answers).slice(1)).toEqual([])
      expectAnswer(answers, 400, INVALID_REQUEST)
    })
  })

  /** The names of the cases by the answer that they got. */
  async function answersTo(
    each: readonly Case[],
    options: GuardOptions,
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    let current: Verifier | undefined
    const verifier: Verifier = {
      verify: async (token) => {
        if (current === undefined) throw new Error('no case is under way')
        return await current.verify(token)
      },
      ready: async () => undefined,
    }
    await using app = await createApp({
      guards: [{ verifier, options }],
      routes: [{ path: '/', handle: () => 'let in' }],
    })
    using connection = await connectTo(app.port)
    const answers = new Map<string, string[]>()
    for (const one of each) {
      current = one.verifier
      const answer = await connection.ask(`Bearer ${one.token}`)
      answers.set(answer, [...(answers.get(answer) ?? []), one.name])
    }
    return answers
  }
})

/** One of each kind, for a message that can be read. */
function examples(answers: ReadonlyMap<string, readonly string[]>): readonly string[] {
  return [...answers].map(([answer, [name]]) => `${name}: ${answer}`)
}

function expectAnswer(answers: ReadonlyMap<string, unknown>, status: number, challenge: string) {
  const [answer = ''] = answers.keys()
  const lines = answer.split('\r\n')
  // The reason phrase behind it is optional, and some frameworks send none (RFC 9112 section 4).
  expect(lines[0]).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  expect(lines.map((line) => line.toLowerCase())).toContain(challenge.toLowerCase())
  expect(lines.map((line) => line.toLowerCase())).toContain('cache-control: no-store')
}

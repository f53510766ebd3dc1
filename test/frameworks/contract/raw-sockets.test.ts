import { once } from 'node:events'
import { connect, type Http2Server, type Http2ServerResponse } from 'node:http2'
import type { AddressInfo } from 'node:net'

import { describe, expect, test } from 'vitest'

import { frameworks } from './frameworks/index.ts'
import { type Field, sendFields } from './http2-frames.ts'
import { sendRaw } from './raw.ts'
import { token, verifier } from './tokens.ts'

const good = await token()

const REPEATED =
  'Bearer realm="api", error="invalid_request", error_description="The request must have one Authorization header, and not more than one DPoP header"'
const INVALID =
  'Bearer realm="api", error="invalid_token", error_description="The access token is not valid"'
const MISSING = 'Bearer realm="api"'

type Lines = readonly [title: string, lines: readonly string[], status: number, challenge: unknown]

const LINES: readonly Lines[] = [
  ['two headers', [`Authorization: Bearer ${good}`, 'Authorization: Bearer a'], 400, REPEATED],
  [
    'two headers that agree',
    [`Authorization: Bearer ${good}`, `Authorization: Bearer ${good}`],
    400,
    REPEATED,
  ],
  [
    'two headers in two casings',
    [`AUTHORIZATION: Bearer ${good}`, `aUTHORIZATION: Bearer ${good}`],
    400,
    REPEATED,
  ],
  [
    'two headers far apart',
    [`Authorization: Bearer ${good}`, 'Accept: */*', 'X-Y: z', 'authorization: Basic YTpi'],
    400,
    REPEATED,
  ],
  ['three headers', Array<string>(3).fill(`authorization: Bearer ${good}`), 400, REPEATED],
  ['an empty header in front', ['Authorization:', `Authorization: Bearer ${good}`], 400, REPEATED],
  [
    'a header behind that is empty',
    [`Authorization: Bearer ${good}`, 'Authorization:'],
    400,
    REPEATED,
  ],
  ['no value', ['Authorization:'], 401, INVALID],
  ['a value of white space', ['Authorization: \t '], 401, INVALID],
  ['a scheme alone, and a space', ['Authorization: Bearer '], 401, INVALID],
  ['a tab for the space', [`Authorization: Bearer\t${good}`], 401, INVALID],
  ['a tab behind the space', [`Authorization: Bearer \t${good}`], 401, INVALID],
  ['Latin-1 in the token', ['Authorization: Bearer caf\u{E9}'], 401, INVALID],
  ['UTF-8 in the token', ['Authorization: Bearer caf\u{C3}\u{A9}'], 401, INVALID],
  ['Latin-1 behind the scheme', [`Authorization: Bearer\u{A0}${good}`], 401, INVALID],
  ['Latin-1 for a scheme', [`Authorization: \u{FF} ${good}`], 401, INVALID],
  ['a value of 15 KiB', [`Authorization: Bearer ${'a'.repeat(15 * 1024)}`], 401, INVALID],
  ['15 KiB of spaces', [`Authorization: Bearer${' '.repeat(15 * 1024)}a b`], 401, INVALID],
  ['another header, much like it', [`Authorization-: Bearer ${good}`], 401, MISSING],
  ['a proxy header', [`Proxy-Authorization: Bearer ${good}`], 401, MISSING],
  // From here on Node answers by itself.
  ['a carriage return in the value', [`Authorization: Bearer ${good}\rX: y`], 400, undefined],
  ['a folded line', ['Authorization: Bearer', ` ${good}`], 400, undefined],
  ['NUL in the value', [`Authorization: Bearer ${good}\0`], 400, undefined],
  ['a space before the colon', [`Authorization : Bearer ${good}`], 400, undefined],
  ['no colon', [`Authorization Bearer ${good}`], 400, undefined],
  ['a value of 17 KiB', [`Authorization: Bearer ${'a'.repeat(17 * 1024)}`], 431, undefined],
]

/** One that shows core what Node has read, and one that shows it what `Headers` has: core reads both, and the others are like them. */
const READERS = new Set(['Express 5', 'Hono 4'])
const FEW = new Set(['two headers', 'an empty header in front', 'no value', 'Latin-1 in the token'])

describe.each(frameworks)('$name', ({ name, createApp }) => {
  const guarded = async () =>
    await createApp({
      guards: [{ verifier }],
      routes: [{ path: '/', handle: (view) => view.getAuth().claims }],
    })

  test('a good token, sent by hand, is let in', async () => {
    await using app = await guarded()
    expect(await sendRaw(app.port, [`Authorization: Bearer ${good}`])).toMatchObject({
      status: 200,
      challenge: undefined,
    })
  })

  test.each(READERS.has(name) ? LINES : LINES.filter(([title]) => FEW.has(title)))(
    '%s: the same answer from every framework',
    async (_title, lines, status, challenge) => {
      await using app = await guarded()
      expect(await sendRaw(app.port, lines)).toMatchObject({ status, challenge })
      expect(await sendRaw(app.port, [`Authorization: Bearer ${good}`])).toMatchObject({
        status: 200,
      })
    },
  )
})

describe.each(frameworks)('$name over HTTP/2', ({ createHttp2Server }) => {
  const bearer: Field = ['authorization', `Bearer ${good}`]

  test.each<[string, readonly Field[], number, unknown]>([
    ['a good token', [bearer], 200, undefined],
    ['no token', [], 401, MISSING],
    ['a bad token', [['authorization', 'Bearer bad']], 401, INVALID],
    ['two words', [['authorization', 'Bearer a b']], 401, INVALID],
    ['no value', [['authorization', '']], 401, INVALID],
    ['a tab for the space', [['authorization', `Bearer\t${good}`]], 401, INVALID],
    ['Latin-1 in the token', [['authorization', 'Bearer caf\u{E9}']], 401, INVALID],
    ['two headers', [bearer, ['authorization', 'Bearer a']], 400, REPEATED],
    ['two headers that agree', [bearer, bearer], 400, REPEATED],
    ['two headers, one of them empty', [['authorization', ''], bearer], 400, REPEATED],
    ['two headers far apart', [bearer, ['accept', '*/*'], bearer], 400, REPEATED],
    // What Node takes for no field, a guard never sees.
    ['a carriage return in the value', [['authorization', `Bearer ${good}\rx`]], 401, MISSING],
    ['NUL in the value', [['authorization', `Bearer ${good}\0`]], 401, MISSING],
    ['a value of 15 KiB', [['authorization', `Bearer ${'a'.repeat(15 * 1024)}`]], 401, INVALID],
  ])('%s: the same answer from every framework', async (_title, fields, status, challenge) => {
    await using app = watched(await createHttp2Server(verifier))
    expect(await sendFields(app.port, fields)).toBe('answered')
    expect(await Promise.all(app.answers)).toEqual([{ status, challenge }])
  })

  test.each<[string, readonly Field[]]>([
    ['an upper-case name', [['Authorization', `Bearer ${good}`]]],
    ['an upper-case name beside a good one', [bearer, ['AUTHORIZATION', `Bearer ${good}`]]],
  ])('%s: Node ends the stream, and no guard sees it', async (_title, fields) => {
    await using app = watched(await createHttp2Server(verifier))
    expect(await sendFields(app.port, fields)).toBe('reset')
    expect(app.answers).toEqual([])
  })

  test('a client that knows the rules reads the challenge', async () => {
    await using app = watched(await createHttp2Server(verifier))
    const session = connect(`http://127.0.0.1:${app.port}`)
    const stream = session.request({ authorization: 'Bearer bad' })
    const [headers] = (await once(stream, 'response')) as [Record<string, unknown>]
    expect(headers).toMatchObject({
      ':status': 401,
      'www-authenticate': INVALID,
      'cache-control': 'no-store',
    })
    const closed = once(session, 'close')
    session.destroy()
    await closed
  })
})

/** Notes each answer, since its octets on the wire are compressed. */
function watched(server: Http2Server) {
  const answers: Promise<{ status: number; challenge: unknown }>[] = []
  server.prependListener('request', (_request: unknown, response: Http2ServerResponse) => {
    const answer = once(response, 'close').then(() => ({
      status: response.statusCode,
      challenge: response.getHeader('www-authenticate'),
    }))
    answers.push(answer)
  })
  return {
    port: (server.address() as AddressInfo).port,
    answers,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      await closed
    },
  }
}

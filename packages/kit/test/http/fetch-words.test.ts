import { once } from 'node:events'
import { createServer } from 'node:http'
import { Readable } from 'node:stream'

import { describe, expect, test } from 'vitest'

import {
  platformCode,
  whatIsMissing,
  whereItIsFrom,
  whyFailed,
} from '../../src/http/fetch-words.ts'

const GIVE =
  'it must give a Response, or an object with status, url, headers and body as a Response has them'

/** The parts of a `Response` that are read. */
const answer = { status: 200, redirected: false, url: '', headers: new Headers(), body: null }
const data = { keys: [] }

describe('what a fetch has given', () => {
  test.each<[string, unknown]>([
    ['a Response', new Response('{}')],
    ['a Response without a body', new Response()],
    ['an object with its parts', answer],
    ['a stream of Node', { ...answer, body: Readable.from([]) }],
    ['a stream that has a reader alone', { ...answer, body: { getReader: () => undefined } }],
    ['another class of headers', { ...answer, headers: { get: () => null } }],
  ])('%s is an answer', (_title, given) => {
    expect(whatIsMissing(given)).toBeUndefined()
  })

  test.each<[string, unknown, string]>([
    ['nothing', undefined, 'undefined'],
    ['null', null, 'null'],
    ['the text of the answer', '{"keys":[]}', 'string'],
    [
      'the usual mock',
      { ok: true, status: 200, json: async () => data },
      'an object without a url, headers.get, a body that is a stream or null',
    ],
    [
      'what axios gives',
      {
        status: 200,
        statusText: 'OK',
        headers: { get: () => null },
        config: {},
        request: {},
        data,
      },
      'an object without a url, a body that is a stream or null',
    ],
    [
      'the parsed document',
      data,
      'an object without a status, a url, headers.get, a body that is a stream or null',
    ],
    ['plain headers', { ...answer, headers: {} }, 'an object without headers.get'],
    ['a status that is a text', { ...answer, status: '200' }, 'an object without a status'],
    [
      'a body that was read',
      { ...answer, body: '{}' },
      'an object without a body that is a stream or null',
    ],
    [
      'a body that is missing',
      { ...answer, body: undefined },
      'an object without a body that is a stream or null',
    ],
  ])('%s is named, with what it must be', (_title, given, what) => {
    expect(whatIsMissing(given)).toBe(`fetch gave ${what}: ${GIVE}`)
  })
})

describe('where an answer is from', () => {
  const ASKED = 'https://auth.test/keys'
  const ELSEWHERE =
    'the answer of the key URL has another url than was asked for: a fetch must follow no redirect, and one that asks elsewhere must give an answer whose url is empty'
  const REDIRECT = 'the key URL answered with a redirect, which is not followed'

  test.each<[string, { redirected: boolean; url: string }, string | undefined]>([
    ['the very URL', { redirected: false, url: ASKED }, undefined],
    ['none, as a constructed one has', { redirected: false, url: '' }, undefined],
    ['a redirect', { redirected: true, url: ASKED }, REDIRECT],
    ['a redirect without a URL', { redirected: true, url: '' }, REDIRECT],
    [
      'a host that fetch has put in its place',
      { redirected: false, url: 'http://keys:80/keys' },
      ELSEWHERE,
    ],
    ['another path', { redirected: false, url: `${ASKED}/` }, ELSEWHERE],
  ])('%s', (_title, response, expected) => {
    expect(whereItIsFrom(response, ASKED, 'the key URL')).toBe(expected)
  })
})

function coded(code: unknown, cause?: unknown): Error {
  return Object.assign(new Error('of canary.internal', { cause }), { code })
}
const failed = (cause: unknown) => new TypeError('fetch failed', { cause })

describe('why a request failed', () => {
  test.each<[string, unknown, string]>([
    ['the code of the cause', failed(coded('ECONNRESET')), ' (ECONNRESET)'],
    [
      'the innermost code',
      coded('ERR_FETCH', coded('UND_ERR', coded('ENOTFOUND'))),
      ' (ENOTFOUND)',
    ],
    ['a code around causes without one', coded('ERR_FETCH', new Error('no')), ' (ERR_FETCH)'],
    [
      'the first of several addresses',
      failed(new AggregateError([coded('ECONNREFUSED'), coded('EHOSTUNREACH')])),
      ' (ECONNREFUSED)',
    ],
    ['a port that Node blocks', failed(new Error('bad port')), ': fetch refuses this port'],
    [
      'a port that Deno blocks',
      new TypeError('Fetch failed: Requests to port 6000 are blocked'),
      ': fetch refuses this port',
    ],
    [
      'a proxy that wants to be asked otherwise',
      failed(
        coded('UND_ERR_ABORTED', new Error('Proxy response (407) !== 200 when HTTP Tunneling')),
      ),
      ': the proxy answered 407',
    ],
    [
      'a runtime without the option',
      new Error("The 'cache' field on 'RequestInitializerDict' is not implemented."),
      ": this runtime has no cache: 'no-store', which Cloudflare Workers have without the flag cache_option_disabled",
    ],
    [
      'a mistake in the function',
      new TypeError("Cannot read properties of undefined (reading 'canary')"),
      ': fetch threw a TypeError, as a mistake in its code does',
    ],
    [
      'a name that is not there',
      new ReferenceError('canary is not defined'),
      ': fetch threw a ReferenceError, as a mistake in its code does',
    ],
    ['what platforms throw without a cause', new TypeError('fetch failed'), ''],
    ['a body that broke off', new TypeError('terminated'), ''],
    ['what workerd throws', new Error('Network connection lost.'), ''],
    ['a cause that is no error', failed({ code: 'ESECRET' }), ''],
    ['no error', { code: 'ESECRET' }, ''],
    ['nothing', undefined, ''],
  ])('%s', (_title, error, words) => {
    expect(whyFailed(error)).toBe(words)
    expect(whyFailed(error)).not.toContain('canary')
  })

  test('causes that go round come to an end', () => {
    const error = coded('ECONNRESET')
    error.cause = error
    expect(platformCode(error)).toBe('ECONNRESET')
  })

  test('of the platform: a port that fetch refuses, and one where nobody listens', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : undefined
    server.close()
    await once(server, 'close')
    const reasons = [6000, port].map(async (each) => {
      return await fetch(`http://127.0.0.1:${each}/`).then(() => 'none', whyFailed)
    })
    expect(await Promise.all(reasons)).toEqual([': fetch refuses this port', ' (ECONNREFUSED)'])
  })
})

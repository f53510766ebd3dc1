import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { describe, expect, test } from 'vitest'

import { claimsWith, ISSUER, METADATA, refusalOf, settle, setUp, wordOf } from './issuer.ts'

// Where the endpoint is, and what its status says.

const says = (body: string) => () => new Response(body, { status: 400 })

const ALIAS = `${ISSUER}/mtls/introspect`

describe('an API that shows a certificate', () => {
  const certified = {
    endpoint: undefined,
    clientSecret: undefined,
    clientAuthentication: 'tls_client_auth',
  } as const

  test.each<[string, object, string]>([
    ['uses the alias', { introspection_endpoint: ALIAS }, ALIAS],
    [
      'uses the usual endpoint if it has no alias',
      { token_endpoint: ALIAS },
      METADATA.introspection_endpoint,
    ],
    ['uses the usual endpoint if the aliases are a list', [], METADATA.introspection_endpoint],
  ])('%s', async (_name, aliases, url) => {
    const { issuer, create } = setUp(certified)
    issuer.tokens.set('token', claimsWith())
    issuer.metadata = () => Response.json({ ...METADATA, mtls_endpoint_aliases: aliases })
    expect(await wordOf(create().verify('token'))).toBe('accepted')
    expect(issuer.asked.map((each) => each.url)).toEqual([url])
  })

  test('asks no alias without TLS', async () => {
    const { issuer, create } = setUp(certified)
    const aliases = { introspection_endpoint: 'http://issuer.test/introspect' }
    issuer.metadata = () => Response.json({ ...METADATA, mtls_endpoint_aliases: aliases })
    expect(await wordOf(create().verify('token'))).toBe('introspection_unavailable bad_answer')
    expect(issuer.asked).toHaveLength(0)
  })

  test('is alone with the alias', async () => {
    const { issuer, create } = setUp({ endpoint: undefined })
    issuer.tokens.set('token', claimsWith())
    const aliases = { introspection_endpoint: ALIAS }
    issuer.metadata = () => Response.json({ ...METADATA, mtls_endpoint_aliases: aliases })
    await create().verify('token')
    expect(issuer.asked.map((each) => each.url)).toEqual([METADATA.introspection_endpoint])
  })
})

test('an endpoint with a fragment is asked without it', async () => {
  const { issuer, create } = setUp()
  issuer.tokens.set('token', claimsWith())
  await create({ endpoint: `${ISSUER}/introspect?a=b#c` }).verify('token')
  expect(issuer.asked.map((each) => each.url)).toEqual([`${ISSUER}/introspect?a=b`])
})

test('an endpoint on this machine may be without TLS, and the fetch of the platform asks it', async () => {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ active: true, ...claimsWith() }))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo // it listens on a port
  const { verifier } = setUp({ endpoint: `http://127.0.0.1:${port}/introspect`, fetch: undefined })
  expect(await wordOf(verifier.verify('token'))).toBe('accepted')
  server.closeAllConnections()
  await once(server.close(), 'close')
})

test('an endpoint that has moved is found again within a minute of its failure', async () => {
  const { clock, issuer, create } = setUp({ endpoint: undefined })
  issuer.tokens.set('token', claimsWith())
  const verifier = create({ maxAge: 1 })
  await verifier.verify('token')
  const { answer } = issuer
  issuer.answer = () => new Response('', { status: 404 })
  const moved = `${ISSUER}/moved`
  issuer.metadata = () => Response.json({ ...METADATA, introspection_endpoint: moved })
  await clock.advance(59)
  await wordOf(verifier.verify('token'))
  expect(issuer.metadataReads).toHaveLength(1)
  await clock.advance(1)
  await wordOf(verifier.verify('other'))
  expect(issuer.metadataReads).toHaveLength(2)
  await wordOf(verifier.verify('third'))
  expect(issuer.metadataReads).toHaveLength(2)
  issuer.answer = answer
  await clock.advance(4)
  expect(await wordOf(verifier.verify('token'))).toBe('accepted')
  expect(issuer.asked.at(-1)?.url).toBe(moved)
})

test.each<[string, object]>([
  ['says that it was redirected', { redirected: true }],
  ['is of another URL', { url: 'https://evil.test/introspect' }],
])('an answer that %s is none, whatever an injected fetch makes of redirects', async (_, more) => {
  const { issuer, verifier } = setUp()
  issuer.answer = () => {
    const answer = Response.json({ active: true, ...claimsWith() })
    for (const [name, value] of Object.entries(more)) Object.defineProperty(answer, name, { value })
    return answer
  }
  const refused = await refusalOf(verifier.verify('token'))
  expect(refused).toMatchObject({ code: 'introspection_unavailable', reason: 'bad_answer' })
  expect(refused.detail).toContain('redirect')
})

test('an answer of the very URL that was asked is one', async () => {
  const { issuer, verifier } = setUp()
  issuer.answer = () => {
    const answer = Response.json({ active: true, ...claimsWith() })
    return Object.defineProperty(answer, 'url', { value: METADATA.introspection_endpoint })
  }
  expect(await wordOf(verifier.verify('token'))).toBe('accepted')
})

test('requests follow no redirect, send no cookie and are answered by no cache', async () => {
  const { issuer, create } = setUp({ endpoint: undefined })
  const inits: unknown[] = []
  const fetch: typeof issuer.fetch = async (url, init) => {
    const { accept, 'user-agent': agent } = init.headers
    inits.push([init.method, init.redirect, init.credentials, init.cache, accept, agent])
    return await issuer.fetch(url, init)
  }
  await wordOf(create({ fetch }).verify('token'))
  expect(inits).toEqual([
    ['GET', 'manual', 'omit', 'no-store', 'application/json', 'portcullis'],
    ['POST', 'manual', 'omit', 'no-store', 'application/json', 'portcullis'],
  ])
})

test.each<[string, () => unknown, string]>([
  [
    'a mock',
    () => ({ ok: true, status: 200, json: async () => ({ active: true }) }),
    'fetch gave an object without a url, headers.get, a body that is a stream or null: ',
  ],
  ['nothing', () => undefined, 'fetch gave undefined: '],
  [
    'the answer of a host that it has put in the place of another',
    () =>
      Object.defineProperty(Response.json({ active: false }), 'url', { value: 'http://x.test/' }),
    'the answer of the introspection endpoint has another url than was asked for: ',
  ],
  [
    'a mistake of its own',
    () => {
      throw new TypeError("Cannot read properties of undefined (reading 'x')")
    },
    'the connection to the introspection endpoint failed: fetch threw a TypeError, ',
  ],
])('a fetch that gives %s is said to do so', async (_title, give, words) => {
  const { issuer, verifier } = setUp()
  // The types forbid what plain JavaScript can do.
  issuer.answer = () => give() as Response
  const refusal = await refusalOf(verifier.verify('token'))
  expect(refusal).toMatchObject({ code: 'introspection_unavailable' })
  expect(refusal.detail).toContain(words)
  expect(issuer.asked).toHaveLength(1)
})

const REFUSED_CLIENT = 'refuses this API as its client'

test.each<[number, string, string, string, number]>([
  [201, '', 'bad_answer', 'answered 201', 2],
  [300, '', 'bad_answer', 'redirect', 2],
  [399, '', 'bad_answer', 'redirect', 2],
  [400, '', 'bad_answer', 'answered 400', 2],
  [400, '{"error":"invalid_request"}', 'bad_answer', 'answered 400', 2],
  [400, '{"error":"invalid_client"}', 'bad_answer', REFUSED_CLIENT, 1],
  [401, '', 'bad_answer', 'answered 401: are the credentials of this API right?', 2],
  [401, '{"error":"invalid_token"}', 'bad_answer', 'answered 401', 2],
  [401, '{"error":"invalid_client"}', 'bad_answer', REFUSED_CLIENT, 1],
  [402, '', 'bad_answer', 'answered 402', 2],
  [403, '', 'bad_answer', 'answered 403: are the credentials of this API right?', 2],
  [403, '{"error":"unauthorized_client"}', 'bad_answer', REFUSED_CLIENT, 1],
  [404, '', 'bad_answer', 'answered 404', 2],
  [429, '', 'unreachable', 'answered 429', 1],
  [499, '', 'bad_answer', 'answered 499', 2],
  [500, '', 'unreachable', 'answered 500', 2],
  [599, '', 'unreachable', 'answered 599', 2],
])(
  'status %i with the body %j is %s: %s; of two tokens %i are asked about, and one if it asks for a pause',
  async (status, body, reason, detail, calls) => {
    for (const isPausing of [false, true]) {
      const { issuer, verifier } = setUp()
      const headers: Record<string, string> = isPausing ? { 'retry-after': '20' } : {}
      issuer.answer = () => new Response(body, { status, headers })
      const error = await refusalOf(verifier.verify('token'))
      expect(error).toMatchObject({ code: 'introspection_unavailable', reason })
      expect(error.detail).toContain(detail)
      expect(error.headers['Retry-After'] === '20').toBe(isPausing)
      await wordOf(verifier.verify('other'))
      expect(issuer.asked).toHaveLength(isPausing ? 1 : calls)
    }
  },
)

test('a page with status 200 that asks for a pause gets it', async () => {
  const { issuer, verifier } = setUp()
  const headers = { 'content-type': 'text/html', 'retry-after': '20' }
  issuer.answer = () => new Response('<html>', { headers })
  expect((await refusalOf(verifier.verify('token'))).headers['Retry-After']).toBe('20')
  await wordOf(verifier.verify('other'))
  expect(issuer.asked).toHaveLength(1)
})

function errorWith(code: unknown): Error {
  return Object.assign(new TypeError('fetch failed'), { code })
}

describe('a connection that fails', () => {
  test.each([
    'ENOTFOUND',
    'EAI_AGAIN',
    'ECONNREFUSED',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'ETIMEDOUT',
    'UND_ERR_CONNECT_TIMEOUT',
    'CERT_HAS_EXPIRED',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'EPROTO',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'EMFILE',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'ERR_SSL_WRONG_VERSION_NUMBER',
  ])('before anything was sent (%s) is the fault of the endpoint: one call', async (code) => {
    const { issuer, verifier } = setUp()
    const cause = errorWith(code)
    issuer.answer = () => Promise.reject(new TypeError('fetch failed', { cause }))
    expect((await refusalOf(verifier.verify('token'))).detail).toContain(`failed (${code})`)
    expect(await wordOf(verifier.verify('other'))).toBe('introspection_unavailable unreachable')
    expect(issuer.asked).toHaveLength(1)
  })

  test.each(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_HEADERS_TIMEOUT', undefined, 7])(
    'later (%s) may be the fault of its token: the next one is asked about',
    async (code) => {
      const { issuer, verifier } = setUp()
      issuer.answer = () => Promise.reject(errorWith(code))
      expect(await wordOf(verifier.verify('token'))).toBe('introspection_unavailable unreachable')
      await wordOf(verifier.verify('other'))
      expect(issuer.asked).toHaveLength(2)
    },
  )
})

async function never(): Promise<Response> {
  return await new Promise<Response>(() => {})
}

describe('a call that takes too long', () => {
  test('may be the fault of its token, once that was sent', async () => {
    const { clock, issuer, verifier } = setUp()
    issuer.answer = never
    const first = wordOf(verifier.verify('token'))
    await clock.advance(5)
    expect(await first).toBe('introspection_unavailable timeout')
    void wordOf(verifier.verify('other'))
    await settle()
    expect(issuer.asked).toHaveLength(2)
  })

  test('is the fault of the endpoint while nobody knows where that is', async () => {
    // A call may take a second, and the metadata five.
    const { clock, issuer, verifier } = setUp({ endpoint: undefined, maxAge: 1 })
    issuer.metadata = never
    const first = wordOf(verifier.verify('token'))
    await clock.advance(1)
    expect(await first).toBe('introspection_unavailable timeout')
    expect(await wordOf(verifier.verify('other'))).toBe('introspection_unavailable timeout')
    expect(issuer.asked).toHaveLength(0)
  })
})

test.each([
  [' Application/JSON ; charset=utf-8', 'accepted'],
  ['application/json', 'accepted'],
  ['application/jsonp', 'introspection_unavailable bad_answer'],
  [undefined, 'introspection_unavailable bad_answer'],
  [['application/json'], 'introspection_unavailable bad_answer'],
])('whatever an injected fetch makes of the content type: %j is %s', async (type, word) => {
  const { issuer, create } = setUp()
  const fetch: typeof issuer.fetch = async () => {
    const { body } = Response.json({ active: true, ...claimsWith() })
    const headers = { get: (name: string) => (name === 'content-type' ? (type as string) : null) }
    return await Promise.resolve({ status: 200, url: '', redirected: false, headers, body })
  }
  expect(await wordOf(create({ fetch }).verify('token'))).toBe(word)
})

describe('metadata that cannot be read', () => {
  test('are read again after a pause that grows', async () => {
    const { clock, issuer, create } = setUp({ endpoint: undefined })
    issuer.metadata = () => new Response('', { status: 500 })
    const verifier = create()
    const reads: number[] = []
    for (const seconds of [0, 1.3, 1.3, 1.3]) {
      await clock.advance(seconds)
      await wordOf(verifier.ready())
      reads.push(issuer.metadataReads.length / 2) // of two locations
    }
    expect(reads).toEqual([1, 2, 2, 3])
  })

  test('have the pause that they ask for', async () => {
    const { clock, issuer, create } = setUp({ endpoint: undefined })
    issuer.metadata = () => new Response('', { status: 503, headers: { 'retry-after': '20' } })
    const verifier = create()
    const pause = async () => (await refusalOf(verifier.ready())).headers['Retry-After']
    expect(await pause()).toBe('20')
    await clock.advance(5)
    expect(await pause()).toBe('15')
    expect(issuer.metadataReads).toHaveLength(2) // of two locations
    await clock.advance(15)
    await pause()
    expect(issuer.metadataReads).toHaveLength(4)
  })

  test('because of 429 are not asked for at the other location', async () => {
    const { clock, issuer, create } = setUp({ endpoint: undefined })
    issuer.metadata = () => new Response('', { status: 429, headers: { 'retry-after': '20' } })
    const verifier = create()
    const pause = async () => (await refusalOf(verifier.ready())).headers['Retry-After']
    expect([await pause(), issuer.metadataReads.length]).toEqual(['20', 1])
    await clock.advance(20)
    issuer.metadata = () => Response.json(METADATA)
    expect(await wordOf(verifier.ready())).toBe('accepted')
    expect(issuer.metadataReads).toHaveLength(2)
  })

  test('at one location in time are read at the other before the deadline', async () => {
    const { clock, issuer, create } = setUp({ endpoint: undefined, timeout: 3 })
    issuer.metadata = async (url) =>
      url.endsWith('/openid-configuration')
        ? await new Promise<Response>(() => {})
        : Response.json(METADATA)
    const word = wordOf(create().ready())
    await clock.advance(1)
    await clock.advance(2)
    expect(await word).toBe('accepted')
  })

  test('in time are a failure, by one attempt for all', async () => {
    const { clock, issuer, create } = setUp({ endpoint: undefined, timeout: 3 })
    issuer.metadata = async () => await new Promise<Response>(() => {})
    const verifier = create()
    const words = [wordOf(verifier.ready()), wordOf(verifier.ready())]
    await clock.advance(3)
    expect(new Set(await Promise.all(words))).toEqual(
      new Set(['introspection_unavailable timeout']),
    )
    expect(new Set(issuer.metadataReads).size).toBe(issuer.metadataReads.length)
  })

  test('since the timers were lost are read anew a second after the deadline', async () => {
    const { clock, issuer, create } = setUp({ endpoint: undefined, timeout: 3 })
    issuer.metadata = async () => await new Promise<Response>(() => {})
    const verifier = create({ clock: { ...clock, after: () => () => {} } })
    await clock.advance(10)
    const words = [wordOf(verifier.ready())]
    await clock.advance(3.9)
    words.push(wordOf(verifier.ready()))
    expect(issuer.metadataReads).toHaveLength(1)
    await clock.advance(0.1)
    issuer.metadata = () => Response.json(METADATA)
    words.push(wordOf(verifier.ready()))
    expect(await words[2]).toBe('accepted')
  })
})

describe('status 400', () => {
  test.each(['invalid_client', 'unauthorized_client'])(
    'with the error %s: our credentials are wrong, which stops all calls for a while',
    async (error) => {
      const { issuer, verifier } = setUp()
      issuer.answer = says(JSON.stringify({ error }))
      const refused = await refusalOf(verifier.verify('token'))
      expect(refused).toMatchObject({ code: 'introspection_unavailable', reason: 'bad_answer' })
      expect(refused.detail).toContain('refuses this API as its client (400)')
      await wordOf(verifier.verify('other'))
      expect(issuer.asked).toHaveLength(1)
    },
  )

  test.each([
    '{"error":"invalid_request"}',
    '{"error":"invalid_request","error":"invalid_client"}',
    '{"error":["invalid_client"]}',
    'invalid_client',
    '',
  ])('with the body %s: it may be the fault of the token', async (body) => {
    const { issuer, verifier } = setUp()
    issuer.answer = says(body)
    const refused = await refusalOf(verifier.verify('token'))
    expect(refused).toMatchObject({ code: 'introspection_unavailable', reason: 'bad_answer' })
    expect(refused.detail).toMatch(/endpoint answered 400$/)
    expect(refused.numbers).toEqual({ nextCallIn: expect.closeTo(1, 0) as number })
    await wordOf(verifier.verify('other'))
    expect(issuer.asked).toHaveLength(2)
  })

  test('has a limit as well', async () => {
    const { issuer, verifier } = setUp()
    issuer.answer = says('a'.repeat(65_537))
    expect((await refusalOf(verifier.verify('token'))).detail).toContain('65536 bytes')
  })

  test('with Retry-After: the token has that pause', async () => {
    const { clock, issuer, verifier } = setUp()
    issuer.answer = () => new Response('', { status: 400, headers: { 'retry-after': '20' } })
    expect((await refusalOf(verifier.verify('token'))).headers['Retry-After']).toBe('20')
    await clock.advance(19)
    await wordOf(verifier.verify('token'))
    expect(issuer.asked).toHaveLength(1)
    await clock.advance(1)
    await wordOf(verifier.verify('token'))
    expect(issuer.asked).toHaveLength(2)
  })
})

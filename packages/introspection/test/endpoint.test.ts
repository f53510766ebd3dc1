import { describe, expect, test } from 'vitest'

import { claimsWith, ISSUER, METADATA, refusalOf, setUp, wordOf } from './issuer.ts'

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
  await clock.advance(2)
  await wordOf(verifier.verify('token'))
  expect(issuer.metadataReads).toHaveLength(2)
  await wordOf(verifier.verify('other'))
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
    expect(refused.detail).toMatch(/endpoint answered 400; the next call can start in [01]\.\d s$/)
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

import { createVerifier, scope, type Verifier } from '@portcullis/core'
import { assertChallenge, createTestIssuer, stubVerifier } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { FORMS, type Seen } from './forms.ts'
import { bearer, CHALLENGE, issuer, METADATA, PATH, raw, RESOURCE, starting } from './started.ts'

describe.each(FORMS)('%s', (_form, create) => {
  const start = starting(create)

  describe('the metadata', () => {
    test.each(['', '/'])(
      'are served to everybody, at the path with that of the resource in it, and %j',
      async (slash) => {
        await using api = await start({ name: 'Files', documentation: 'https://docs.test' })
        const answer = await api.ask(`${METADATA}${slash}?a=1`)
        expect([answer.status, answer.headers.get('content-type')]).toEqual([
          200,
          'application/json',
        ])
        expect(answer.headers.get('access-control-allow-origin')).toBe('*')
        expect(await answer.json()).toEqual({
          resource: RESOURCE,
          authorization_servers: ['https://auth.test'],
          scopes_supported: ['tools'],
          bearer_methods_supported: ['header'],
          resource_name: 'Files',
          resource_documentation: 'https://docs.test',
        })
      },
    )

    test('may have further members, and a signature of all of them', async () => {
      const members = { dpop_bound_access_tokens_required: true, 'resource_name#fr': 'Fichiers' }
      const signed: unknown[] = []
      const sign = (document: object) => {
        signed.push(document)
        return 'a.b.c'
      }
      await using api = await start({ members, sign })
      const answer: unknown = await (await api.ask(METADATA)).json()
      expect(answer).toMatchObject({ ...members, resource: RESOURCE, signed_metadata: 'a.b.c' })
      expect(signed).toMatchObject([{ ...members, resource: RESOURCE }])
    })

    test.each([
      ['GET', 200],
      ['HEAD', 200],
      ['OPTIONS', 204],
      ['POST', 405],
      ['DELETE', 405],
    ])('%s gets %i', async (method, status) => {
      await using api = await start()
      const answer = await api.ask(METADATA, { method })
      expect(answer.status).toBe(status)
      expect(answer.headers.get('access-control-allow-origin')).toBe('*')
      expect(answer.headers.get('allow')).toBe(status === 405 ? 'GET, HEAD, OPTIONS' : null)
      const allowed = ['methods', 'headers'].map((each) =>
        answer.headers.get(`access-control-allow-${each}`),
      )
      expect(allowed).toEqual(status === 204 ? ['GET, HEAD, OPTIONS', '*'] : [null, null])
      expect(api.seen).toEqual([])
    })

    test.each([
      [{ scopes: ['a', 'b'] }, ['a', 'b']],
      [{ requirement: scope('a b') }, ['a', 'b']],
      [{ requirement: undefined }, undefined],
    ])(
      'name the scopes that are stated, or else those of all requests: %#',
      async (options, scopes) => {
        await using api = await start(options)
        const metadata = (await (await api.ask(METADATA)).json()) as Record<string, unknown>
        expect(metadata['scopes_supported']).toEqual(scopes)
      },
    )

    test('do not change with what the client says its host is', async () => {
      await using api = await start()
      const usual = await (await api.ask(METADATA)).text()
      for (const host of ['evil.test', 'evil.test/mcp', '"><script>', 'a@b', '[::1]:1', ' ']) {
        const answer = await raw(api.port, `GET ${METADATA} HTTP/1.1\r\nHost: ${host}\r\n`)
        // A `Request` cannot be made with some of these: that is 400, and never another document.
        expect(answer).toMatch(/^HTTP\/1\.1 (?:200|400)/)
        expect(answer.includes('authorization_servers')).toBe(answer.includes(usual))
        expect(answer).not.toContain('evil')
      }
      const refused = await raw(api.port, `POST ${PATH} HTTP/1.1\r\nHost: evil.test\r\n`)
      expect(refused).toContain(CHALLENGE)
      expect(refused).not.toContain('evil')
    })

    test.each([
      '/.well-known/oauth-protected-resource',
      '/.well-known/oauth-protected-resource/',
      '/.well-known/oauth-protected-resource/tenant',
      `${METADATA}//`,
      '/.well-known/oauth-protected-resource/tenant%2Fmcp',
      '/.WELL-KNOWN/oauth-protected-resource/tenant/mcp',
      '//.well-known/oauth-protected-resource/tenant/mcp',
    ])('are not at %s', async (path) => {
      await using api = await start()
      expect((await api.ask(path)).status).toBe(404)
    })
  })

  describe('the endpoint', () => {
    test.each([
      '/TENANT/MCP',
      `${PATH}/`,
      `/${PATH}`,
      '/tenant%2Fmcp',
      '/tenant/mc%70',
      '/tenant/mcp;a=1',
      '/tenant/mcp%00',
      '/other/..%2ftenant/mcp',
      '/',
      '/__proto__',
    ])('is not at %s: no spelling gets around the guard', async (path) => {
      await using api = await start()
      const answer = await api.ask(path, { method: 'POST', headers: await bearer(), body: '{}' })
      expect(answer.status).toBe(404)
      expect(api.seen).toEqual([])
    })

    test('is where a proxy leads to, with the metadata of its public address', async () => {
      await using api = await start({ path: '/mcp' })
      expect((await api.ask(PATH, { headers: await bearer() })).status).toBe(404)
      const answer = await api.ask('/mcp?session=1', { headers: await bearer() })
      expect(answer.status).toBe(200)
      expect((await api.ask(METADATA)).status).toBe(200)
    })

    test('of a resource with a query is there with this query alone, and so are the metadata', async () => {
      const resource = `${RESOURCE}?tenant=a`
      const by = createVerifier({ ...issuer.verifierOptions, audience: resource })
      await using api = await start({ resource }, { by })
      const headers = await bearer({ aud: resource })
      const statusOf = async (path: string) => (await api.ask(path, { headers })).status
      expect(await statusOf(`${PATH}?tenant=a`)).toBe(200)
      expect(await statusOf(`${METADATA}?tenant=a`)).toBe(200)
      expect(await statusOf(`${METADATA}/?tenant=a`)).toBe(200)
      for (const query of [
        '',
        '?',
        '?tenant=b',
        '?tenant=a&tenant=b',
        '?tenant=a?',
        '?tenant=%61',
      ]) {
        expect(await statusOf(`${PATH}${query}`)).toBe(404)
        expect(await statusOf(`${METADATA}${query}`)).toBe(404)
      }
      expect(api.seen).toHaveLength(1)
      const challenge = (await api.ask(`${PATH}?tenant=a`)).headers.get('www-authenticate')
      expect(challenge).toContain(`https://mcp.test${METADATA}?tenant=a"`)
    })

    test('the handler gets the AuthInfo, and no header with the token', async () => {
      await using api = await start()
      const headers: Record<string, string> = {
        ...(await bearer({ azp: 'other' })),
        dpop: 'a.b.c',
        other: 'kept',
      }
      const answer = await api.ask(PATH, { method: 'POST', headers, body: '{"a":1}' })
      expect(answer.status).toBe(200)
      const [{ authInfo, headers: left } = {} as Seen] = api.seen
      expect(authInfo).toMatchObject({
        clientId: 'agent',
        scopes: ['tools'],
        resource: new URL(RESOURCE),
        resourceMetadataUrl: `https://mcp.test${METADATA}`,
        extra: { sub: 'ada', aud: RESOURCE },
      })
      expect(`Bearer ${authInfo.token}`).toBe(headers['authorization'])
      expect([left.has('authorization'), left.has('dpop'), left.get('other')]).toEqual([
        false,
        false,
        'kept',
      ])
      expect([...left.values()].join(' ')).not.toContain(authInfo.token)
    })

    test('a token without client_id is of the client in azp', async () => {
      await using api = await start()
      await api.ask(PATH, { headers: await bearer({ client_id: undefined, azp: 'other' }) })
      expect(api.seen.map(({ authInfo }) => authInfo.clientId)).toEqual(['other'])
    })

    test('TRACE, which no Request can have, gets 405, with a token and without', async () => {
      await using api = await start()
      const { authorization = '' } = await bearer()
      for (const line of ['', `Authorization: ${authorization}\r\n`]) {
        const answer = await raw(api.port, `TRACE ${PATH} HTTP/1.1\r\nHost: a\r\n${line}`)
        expect(answer).toMatch(/^HTTP\/1\.1 405 /)
        expect(answer).toMatch(/^allow: GET, POST, DELETE\r$/im)
      }
      expect(await raw(api.port, `TRACE ${METADATA} HTTP/1.1\r\nHost: a\r\n`)).toMatch(/ 405 /)
      expect(await raw(api.port, 'TRACE /other HTTP/1.1\r\nHost: a\r\n')).toMatch(/ 404 /)
      expect(api.seen).toEqual([])
    })

    test.each(['GET', 'POST', 'DELETE', 'PUT', 'PATCH', 'OPTIONS', 'HEAD'])(
      '%s without a token is refused',
      async (method) => {
        await using api = await start()
        const answer = await api.ask(PATH, { method })
        expect(answer.status).toBe(401)
        expect(answer.headers.get('www-authenticate')).toBe(
          `Bearer realm="api", scope="tools", ${CHALLENGE}`,
        )
        expect(api.seen).toEqual([])
        expect(api.refused.map(({ code }) => code)).toEqual(['missing_token'])
      },
    )

    test('a refusal names the realm, and is a problem document', async () => {
      await using api = await start({ realm: 'files' })
      const answer = await api.ask(PATH)
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="files", /)
      expect(answer.headers.get('content-type')).toContain('application/problem+json')
    })

    test('every bad token is refused, with the challenge', async () => {
      await using api = await start()
      const claims = { sub: 'ada', client_id: 'agent', scope: 'tools' }
      for (const bad of await issuer.badTokens({ claims })) {
        if (bad.reason === 'too_large') continue // Node itself answers such a header, with 431
        const headers = { authorization: `Bearer ${bad.token}` }
        const answer = await api.ask(PATH, { method: 'POST', headers, body: '{}' })
        assertChallenge(answer, { status: 401, error: bad.code, reason: bad.reason })
        expect(answer.headers.get('www-authenticate')).toContain(CHALLENGE)
      }
      expect(api.seen).toEqual([])
    })

    test('the token in the query is no token', async () => {
      await using api = await start()
      const { authorization = '' } = await bearer()
      const answer = await api.ask(`${PATH}?access_token=${authorization.slice(7)}`)
      expect(answer.status).toBe(401)
    })

    test('in an outage of the keys it answers 503, and asks for no other token', async () => {
      const down = await createTestIssuer({ issuer: 'https://auth.test', audience: RESOURCE })
      down.outage(503)
      await using api = await start({}, { by: createVerifier(down.verifierOptions) })
      const answer = await api.ask(PATH, { headers: { ...(await down.bearer()) } })
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([503, null])
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
    })
  })

  describe('the audience', () => {
    const accepting: Verifier<unknown> = {
      verify: async (token) =>
        await createVerifier({
          ...issuer.verifierOptions,
          issuer: null,
          audience: null,
        }).verify(token),
      ready: async () => {},
    }
    const OF_CLIENTS = { issuer: 'https://auth.test' }

    test.each([
      'https://mcp.test/tenant/mcp/',
      'https://mcp.test/tenant',
      'https://mcp.test',
      'https://MCP.test/tenant/mcp',
      'https://mcp.test:443/tenant/mcp',
      'https://mcp.test/tenant/mcp?',
      'https://mcp.test/tenant/mcp#',
      'http://mcp.test/tenant/mcp',
      ' https://mcp.test/tenant/mcp',
      'https://mcp.test/tenant/mc%70',
      '',
      undefined,
      null,
      [],
      [[RESOURCE]],
      [RESOURCE, 1],
      { [RESOURCE]: true },
    ])('%j is not this resource, whatever the verifier accepts', async (aud) => {
      await using api = await start({}, { by: accepting })
      const answer = await api.ask(PATH, { headers: await bearer({ aud }) })
      assertChallenge(answer, { status: 401, error: 'invalid_token', reason: 'audience' })
      expect(answer.headers.get('www-authenticate')).toContain(CHALLENGE)
      expect([api.seen.length, api.refused.map(({ reason }) => reason)]).toEqual([0, ['audience']])
    })

    test.each([RESOURCE, [RESOURCE], ['other', RESOURCE]])('%j is', async (aud) => {
      await using api = await start({}, { by: accepting })
      expect((await api.ask(PATH, { headers: await bearer({ aud }) })).status).toBe(200)
    })

    test('a verifier for several APIs lets in tokens for this one alone', async () => {
      const audience = ['https://api.test', RESOURCE]
      const by = createVerifier({ ...issuer.verifierOptions, audience })
      await using api = await start({}, { by })
      const status = async (aud: string) =>
        (await api.ask(PATH, { headers: await bearer({ aud }) })).status
      expect([await status('https://api.test'), await status(RESOURCE)]).toEqual([401, 200])
    })

    test('at the root of an origin a slash at the end is no other resource', async () => {
      for (const resource of ['https://mcp.test', 'https://mcp.test/']) {
        const by = createVerifier({ ...issuer.verifierOptions, audience: null })
        const behind = { by: { ...by, verify: async (token: string) => await by.verify(token) } }
        await using api = await start({ resource }, behind)
        const statusOf = async (aud: string) =>
          (await api.ask('/', { headers: await bearer({ aud }) })).status
        expect(await statusOf('https://mcp.test')).toBe(200)
        expect(await statusOf('https://mcp.test/')).toBe(200)
        expect(await statusOf('https://mcp.test//')).toBe(401)
        expect(await statusOf('https://mcp.test/mcp')).toBe(401)
        const metadata = await api.ask('/.well-known/oauth-protected-resource')
        expect(await metadata.json()).toMatchObject({ resource })
      }
    })

    test('one with a query is the root of nothing', async () => {
      const resource = 'https://mcp.test/?tenant=a'
      const by = createVerifier({ ...issuer.verifierOptions, audience: null })
      const behind = { by: { ...by, verify: async (token: string) => await by.verify(token) } }
      await using api = await start({ resource, path: '/' }, behind)
      const statusOf = async (aud: string) =>
        (await api.ask('/?tenant=a', { headers: await bearer({ aud }) })).status
      expect(await statusOf(resource)).toBe(200)
      expect(await statusOf('https://mcp.test')).toBe(401)
      expect(await statusOf('https://mcp.test/')).toBe(401)
    })

    test('a stated audience takes the place of the resource', async () => {
      await using api = await start({ audience: ['6e74172b', 'api://files'] }, { by: accepting })
      const statusOf = async (aud: unknown) =>
        (await api.ask(PATH, { headers: await bearer({ aud }) })).status
      expect(await statusOf('6e74172b')).toBe(200)
      expect(await statusOf(['other', 'api://files'])).toBe(200)
      const others = [RESOURCE, '6e74172B', '', null, undefined, [], [null]]
      const statuses = await Promise.all(others.map(statusOf))
      expect(statuses).toEqual(others.map(() => 401))
      await using both = await start({ audience: ['6e74172b', RESOURCE] }, { by: accepting })
      expect((await both.ask(PATH, { headers: await bearer({ aud: RESOURCE }) })).status).toBe(200)
    })

    test.each<[title: string, claims: Record<string, unknown>, status: number]>([
      ['a client and the scope', { scope: 'tools files/read' }, 200],
      ['another client that is listed', { scope: 'files/read tools', client_id: 'app2' }, 200],
      ['an empty list of audiences', { scope: 'tools files/read', aud: [] }, 200],
      ['this resource as the audience, whatever client', { aud: RESOURCE, client_id: 'x' }, 200],
      ['another client', { scope: 'tools files/read', client_id: 'app3' }, 401],
      ['no client', { scope: 'tools files/read', client_id: undefined }, 401],
      [
        'a client of the list in azp alone',
        { scope: 'tools files/read', client_id: undefined, azp: 'app1' },
        200,
      ],
      ['other audiences in a list', { scope: 'tools files/read', aud: ['other'] }, 401],
      ['clients in a list', { scope: 'tools files/read', client_id: ['app1'] }, 401],
      ['another client behind null', { scope: 'tools files/read', client_id: null, azp: 'x' }, 401],
      [
        'a client of the list in azp, which counts second',
        { scope: 'tools files/read', client_id: 'x', azp: 'app1' },
        401,
      ],
      ['no scope', { scope: undefined }, 401],
      ['another scope', { scope: 'tools files/write' }, 401],
      ['a scope that begins alike', { scope: 'tools files/reader' }, 401],
      ['another audience, with client and scope', { scope: 'tools files/read', aud: 'other' }, 401],
      ['another issuer', { scope: 'tools files/read', iss: 'https://other.test' }, 401],
      ['no issuer', { scope: 'tools files/read', iss: undefined }, 401],
      [
        'another issuer, with this resource as the audience',
        { scope: 'tools', iss: 'https://other.test', aud: RESOURCE },
        200,
      ],
      ['null as the audience', { scope: 'tools files/read', aud: null }, 401],
      ['an empty text as the audience', { scope: 'tools files/read', aud: '' }, 401],
    ])('in place of an audience, %s: %#', async (_title, claims, status) => {
      const audience = { ...OF_CLIENTS, clientIds: ['app1', 'app2'], scope: 'files/read' }
      await using api = await start({ audience }, { by: accepting })
      const headers = await bearer({ aud: undefined, client_id: 'app1', ...claims })
      const answer = await api.ask(PATH, { headers })
      expect([answer.status, api.seen.length]).toEqual([status, status === 200 ? 1 : 0])
      const challenge = answer.headers.get('www-authenticate') ?? ''
      expect(challenge.includes('scope="tools files/read"')).toBe(status === 401)
      if (status === 401) {
        assertChallenge(answer, { status, error: 'invalid_token', reason: 'audience' })
      }
    })

    test('in place of an audience, all of several scopes are needed', async () => {
      const audience = { ...OF_CLIENTS, clientIds: ['app1'], scope: 'files/read files/list' }
      await using api = await start({ audience }, { by: accepting })
      const statusOf = async (granted: string) => {
        const headers = await bearer({ aud: undefined, client_id: 'app1', scope: granted })
        return (await api.ask(PATH, { headers })).status
      }
      expect(await statusOf('tools files/read files/list')).toBe(200)
      expect(await statusOf('tools files/read')).toBe(401)
      expect(await statusOf('tools files/list')).toBe(401)
    })

    test('the first challenge asks for the stated scope, which the metadata name', async () => {
      await using api = await start({ scope: 'tools files:write' })
      const answer = await api.ask(PATH)
      expect(answer.headers.get('www-authenticate')).toContain('scope="tools files:write"')
      const metadata = (await (await api.ask(METADATA)).json()) as Record<string, unknown>
      expect(metadata['scopes_supported']).toEqual(['tools', 'files:write'])
    })

    test('a stub needs it as well', async () => {
      const claims = { sub: 'ada', scope: 'tools' }
      const headers = { authorization: 'Bearer any' }
      await using without = await start({}, { by: stubVerifier({ claims }) })
      expect((await without.ask(PATH, { headers })).status).toBe(401)
      await using other = await start(
        {},
        { by: stubVerifier({ claims: { ...claims, aud: RESOURCE } }) },
      )
      expect((await other.ask(PATH, { headers })).status).toBe(200)
    })
  })
})

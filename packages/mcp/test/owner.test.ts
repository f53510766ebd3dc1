import { createVerifier, type Verifier } from '@portcullis/core'
import { byForm, introspected } from '@portcullis/introspection'
import { stubVerifier } from '@portcullis/testing'
import { describe, expect, test, vi } from 'vitest'

import type { EndpointOptions } from '../src/index.ts'
import { FORMS, type Handle } from './forms.ts'
import { bearer, issuer, PATH, RESOURCE, starting } from './started.ts'

// Whose a session is: of tokens that name no user, and in the words of the user's own function.

const begins: Handle = ({ headers }) =>
  headers.has('mcp-session-id') ? {} : { headers: { 'Mcp-Session-Id': 'a-session' } }

const owner: EndpointOptions['owner'] = ({ claims }) => (claims as { uid: string }).uid

const none = { sub: undefined, client_id: 'robot' }

describe.each(FORMS)('%s', (_form, create) => {
  const start = starting(create)

  /** What one token gets of the session that another has begun. */
  async function statusOf(
    begun: Record<string, unknown>,
    asking: Record<string, unknown>,
    options: Partial<EndpointOptions> = {},
    by?: Verifier<unknown>,
  ): Promise<number> {
    await using api = await start(options, { handle: begins, ...(by === undefined ? {} : { by }) })
    await api.ask(PATH, { headers: await bearer(begun) })
    const headers = {
      ...(await bearer({ jti: 'another', ...asking })),
      'mcp-session-id': 'a-session',
    }
    return (await api.ask(PATH, { headers })).status
  }

  test.each<[string, object, object, number]>([
    ['a user without a client goes on', { client_id: undefined }, { client_id: undefined }, 200],
    ['another one in numbers is another', { sub: 1001 }, { sub: 1002 }, 404],
    ['the same in numbers goes on', { sub: 1001 }, { sub: 1001 }, 200],
    ['numbers that JSON cannot tell apart are nobody', { sub: 2 ** 53 }, { sub: 2 ** 53 }, 404],
    ['a username is no user', { ...none, username: 'a' }, { ...none, username: 'a' }, 404],
    ['nor is a claim of another name', { ...none, uid: 1 }, { ...none, uid: 1 }, 404],
    ['a client alone is no user', none, none, 404],
  ])('%s', async (_title, begun, asking, status) => {
    expect(await statusOf({ ...begun }, { ...asking })).toBe(status)
  })

  test('a token that names nobody goes on with itself', async () => {
    await using api = await start({}, { handle: begins })
    const headers = await bearer(none)
    await api.ask(PATH, { headers })
    const again = { headers: { ...headers, 'mcp-session-id': 'a-session' } }
    expect((await api.ask(PATH, again)).status).toBe(200)
  })

  test('without iss, a user of one verifier is not that of another', async () => {
    const jwt = createVerifier({ ...issuer.verifierOptions, issuer: null })
    const claims = { sub: 'ada', client_id: 'agent', scope: 'tools', aud: RESOURCE }
    const by = byForm<unknown>({ jwt, opaque: stubVerifier({ claims }) })
    await using api = await start({}, { handle: begins, by })
    const headers = await bearer({ iss: undefined })
    await api.ask(PATH, { headers })
    const status = async (given: Record<string, string>) => {
      const init = { headers: { ...given, 'mcp-session-id': 'a-session' } }
      return (await api.ask(PATH, init)).status
    }
    expect(await status({ authorization: 'Bearer opaque' })).toBe(404)
    expect(await status(await bearer({ iss: undefined, jti: 'another' }))).toBe(200)
  })

  test('an answer of introspection with username and no sub is of nobody', async () => {
    let user = 'ada'
    const by = introspected({
      issuer: null,
      audience: RESOURCE,
      endpoint: 'https://auth.test/introspect',
      clientId: 'api',
      clientSecret: 'secret',
      fetch: async () =>
        await Promise.resolve(
          Response.json({
            active: true,
            token_type: 'Bearer',
            username: user,
            client_id: 'agent',
            scope: 'tools',
            aud: RESOURCE,
            exp: Math.floor(Date.now() / 1000) + 600,
          }),
        ),
    })
    await using api = await start({}, { handle: begins, by })
    const ask = async (token: string, id = {}) =>
      (await api.ask(PATH, { headers: { authorization: `Bearer ${token}`, ...id } })).status
    const session = { 'mcp-session-id': 'a-session' }
    expect([await ask('one'), await ask('one', session)]).toEqual([200, 200])
    user = 'eve'
    expect(await ask('two', session)).toBe(404)
  })

  test('a number is the client in the AuthInfo as well', async () => {
    await using api = await start()
    await api.ask(PATH, { headers: await bearer({ client_id: 42 }) })
    expect(api.seen.map(({ authInfo }) => authInfo.clientId)).toEqual(['42'])
  })

  describe('with the option owner', () => {
    test.each<[string, object, object, number]>([
      ['what it returns is the owner', { uid: 'a' }, { uid: 'a', sub: 'eve', client_id: 'x' }, 200],
      ['another text is another', { uid: 'a' }, { uid: 'b' }, 404],
    ])('%s', async (_title, begun, asking, status) => {
      expect(await statusOf({ ...begun }, { ...asking }, { owner })).toBe(status)
    })

    test('what it returns counts for each issuer', async () => {
      const by = createVerifier({ ...issuer.verifierOptions, issuer: null })
      const other = { uid: 'a', iss: 'https://other.test' }
      expect(await statusOf({ uid: 'a' }, other, { owner }, by)).toBe(404)
    })

    test.each<[string, EndpointOptions['owner'] | (() => unknown), string]>([
      ['nothing', () => undefined, 'owner must return'],
      ['an empty text', () => '', 'owner must return'],
      ['a number', () => 1, 'owner must return'],
      ['a promise', async () => await Promise.resolve('a'), 'owner must return'],
      ['a promise that rejects', async () => await Promise.reject(new Error('late')), 'owner must'],
      [
        'an error',
        () => {
          throw new Error('of the user')
        },
        'of the user',
      ],
    ])('%s is this very token, and a warning', async (_title, wrong, message) => {
      const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
      const options = { owner: wrong } as Partial<EndpointOptions>
      await using api = await start(options, { handle: begins })
      const headers = await bearer()
      expect((await api.ask(PATH, { headers })).status).toBe(200)
      const ask = async (given: Record<string, string>) =>
        (await api.ask(PATH, { headers: { ...given, 'mcp-session-id': 'a-session' } })).status
      expect([await ask(headers), await ask(await bearer({ jti: 'another' }))]).toEqual([200, 404])
      expect(warned.mock.calls.map(([each]) => String(each))).toEqual(
        Array.from({ length: 3 }, () => expect.stringContaining(message) as unknown),
      )
      warned.mockRestore()
    })

    test('nobody asks it where there are no sessions', async () => {
      const asked = vi.fn<() => string>()
      await using api = await start({ owner: asked, sessions: false })
      await api.ask(PATH, { headers: await bearer() })
      expect(asked).not.toHaveBeenCalled()
    })
  })

  test('sessions of tokens that name nobody count together, for their client', async () => {
    let id = 0
    const handle: Handle = ({ headers }) =>
      headers.has('mcp-session-id') ? {} : { headers: { 'mcp-session-id': `s${id++}` } }
    await using api = await start({ sessions: { maxPerUser: 2 } }, { handle })
    const tokens = []
    for (const client_id of ['robot', 'robot', 'robot', 'other']) {
      const headers = await bearer({ sub: undefined, client_id, jti: `${tokens.length}` })
      await api.ask(PATH, { headers })
      tokens.push(headers)
    }
    const statuses = tokens.map(async (headers, each) => {
      const init = { headers: { ...headers, 'mcp-session-id': `s${each}` } }
      return (await api.ask(PATH, init)).status
    })
    expect(await Promise.all(statuses)).toEqual([404, 200, 200, 200])
  })

  test('sessions of a user count together, whatever the client', async () => {
    let id = 0
    const handle: Handle = ({ headers }) =>
      headers.has('mcp-session-id') ? {} : { headers: { 'mcp-session-id': `s${id++}` } }
    await using api = await start({ sessions: { maxPerUser: 2 } }, { handle })
    const statusOfEach = []
    for (const each of ['one', 'two', 'three']) {
      await api.ask(PATH, { headers: await bearer({ client_id: each }) })
    }
    for (const [each, client_id] of ['one', 'two', 'three'].entries()) {
      const headers = { ...(await bearer({ client_id })), 'mcp-session-id': `s${each}` }
      statusOfEach.push((await api.ask(PATH, { headers })).status)
    }
    expect(statusOfEach).toEqual([404, 200, 200])
  })
})

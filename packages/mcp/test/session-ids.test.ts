import { describe, expect, test, vi } from 'vitest'

import { FORMS, type Handle } from './forms.ts'
import { bearer, PATH, raw, starting } from './started.ts'

const begins: Handle = ({ headers }) =>
  headers.has('mcp-session-id') ? {} : { headers: { 'Mcp-Session-Id': 'a-session' } }

async function asking(claims: Record<string, unknown>, sessionId?: string) {
  const id = sessionId === undefined ? {} : { 'mcp-session-id': sessionId }
  return { headers: { ...(await bearer(claims)), ...id } }
}

describe.each(FORMS)('%s', (_form, create) => {
  const start = starting(create)

  describe('sessions', () => {
    test('one that this server has begun is that of its user alone', async () => {
      const foreign: unknown[] = []
      const onForeignSession = (auth: unknown, subject: unknown) => {
        foreign.push([auth, typeof subject])
        throw new Error('of the user')
      }
      const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
      await using api = await start({ onForeignSession }, { handle: begins })
      const status = async (...given: Parameters<typeof asking>) =>
        (await api.ask(PATH, await asking(...given))).status
      expect(await status({ sub: 'ada' })).toBe(200)
      expect(await status({ sub: 'ada' }, 'a-session')).toBe(200)
      expect(await status({ sub: 'eve' }, 'a-session')).toBe(404)
      expect(await status({ sub: 'eve' }, 'another')).toBe(404)
      const answers = ['a-session', 'another'].map(async (id) => {
        const answer = await api.ask(PATH, await asking({ sub: 'bob' }, id))
        const names = ['content-type', 'cache-control']
        return [names.map((name) => answer.headers.get(name)), await answer.json()]
      })
      const error = { code: -32_001, message: 'Session not found' }
      const said = [['application/json', 'no-store'], { jsonrpc: '2.0', error, id: null }]
      expect(await Promise.all(answers)).toEqual([said, said])
      expect(foreign).toMatchObject([
        [{ claims: { sub: 'eve' } }, 'object'],
        [{ claims: { sub: 'bob' } }, 'object'],
      ])
      await vi.waitFor(() => {
        expect(warned).toHaveBeenCalledTimes(2)
      }, 60_000)
      warned.mockRestore()
    })

    test('of one user there are as many as the options say', async () => {
      let id = 'first'
      const handle: Handle = () => ({ headers: { 'mcp-session-id': id } })
      await using api = await start({ sessions: { maxPerUser: 1 } }, { handle })
      const status = async (...given: Parameters<typeof asking>) =>
        (await api.ask(PATH, await asking(...given))).status
      await status({ sub: 'ada' })
      id = 'second'
      await status({ sub: 'ada' })
      id = 'of-eve'
      await status({ sub: 'eve' })
      expect(await status({ sub: 'ada' }, 'first')).toBe(404)
      id = 'second'
      expect(await status({ sub: 'ada' }, 'second')).toBe(200)
    })

    test('whoever is told of their end gets the id, and changes no answer by a failure', async () => {
      let id = 'first'
      const ends: unknown[] = []
      const onSessionEnd = (...end: unknown[]) => {
        ends.push(end)
        throw new Error('of the user')
      }
      const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
      const handle: Handle = () => ({ headers: { 'mcp-session-id': id } })
      await using api = await start({ sessions: { maxPerUser: 1 }, onSessionEnd }, { handle })
      const begun = async () => (await api.ask(PATH, await asking({ sub: 'ada' }))).status
      expect(await begun()).toBe(200)
      id = 'second'
      expect(await begun()).toBe(200)
      const init = { method: 'DELETE', ...(await asking({ sub: 'ada' }, 'second')) }
      expect((await api.ask(PATH, init)).status).toBe(200)
      expect(ends).toEqual([
        ['first', 'maxPerUser'],
        ['second', 'deleted'],
      ])
      await vi.waitFor(() => {
        expect(warned).toHaveBeenCalledTimes(2)
      }, 60_000)
      warned.mockRestore()
    })

    test('repeated, empty and huge ids are of nobody', async () => {
      await using api = await start({}, { handle: begins })
      await api.ask(PATH, await asking({}))
      for (const id of [
        'a-session, a-session',
        'x'.repeat(8000),
        'A-SESSION',
        '__proto__',
        '%00',
      ]) {
        expect((await api.ask(PATH, await asking({}, id))).status).toBe(404)
      }
      const { authorization = '' } = await bearer()
      const twice = `Authorization: ${authorization}\r\nMcp-Session-Id: a-session\r\nmcp-session-id: other\r\n`
      const answer = await raw(api.port, `GET ${PATH} HTTP/1.1\r\nHost: a\r\n${twice}`)
      expect(answer).toMatch(/^HTTP\/1\.1 404/)
    })

    test('a server that gives one id to two users is broken, and the second gets nothing', async () => {
      await using api = await start(
        {},
        { handle: () => ({ headers: { 'mcp-session-id': 'same' } }) },
      )
      expect((await api.ask(PATH, await asking({ sub: 'ada' }))).status).toBe(200)
      const second = await api.ask(PATH, await asking({ sub: 'eve' }))
      expect([second.status, second.headers.get('mcp-session-id')]).toEqual([500, null])
      expect((await api.ask(PATH, await asking({ sub: 'ada' }, 'same'))).status).toBe(200)
      expect((await api.ask(PATH, await asking({ sub: 'eve' }, 'same'))).status).toBe(404)
    })

    test('one is ended by DELETE alone, and only if the answer says that it succeeded', async () => {
      let status = 300
      const echo = { 'mcp-session-id': 'a-session' }
      const handle: Handle = (seen) =>
        seen.method === 'DELETE' ? { status, headers: echo } : begins(seen)
      await using api = await start({}, { handle })
      await api.ask(PATH, await asking({}))
      const send = async (method: string) =>
        (await api.ask(PATH, { method, ...(await asking({}, 'a-session')) })).status
      expect([await send('GET'), await send('DELETE'), await send('GET')]).toEqual([200, 300, 200])
      status = 299
      expect([await send('DELETE'), await send('GET')]).toEqual([299, 404])
    })

    test('of a server that has said to have none: ids mean nothing, and one that it begins is an error', async () => {
      await using api = await start({ sessions: false }, { handle: begins })
      const send = async (method: string, id?: string) =>
        (await api.ask(PATH, { method, ...(await asking({}, id)) })).status
      expect([await send('GET', 'of-old'), await send('DELETE', 'of-old')]).toEqual([200, 200])
      expect(await send('GET')).toBe(500)
    })
  })
})

import {
  acr,
  all,
  authenticatedWithin,
  createVerifier,
  scope,
  type Verifier,
} from '@portcullis/core'
import { describe, expect, test } from 'vitest'

import { readBody } from '../src/call.ts'
import { FORMS } from './forms.ts'
import { bearer, CHALLENGE, issuer, METADATA, PATH, starting } from './started.ts'

const call = (name: unknown, method = 'tools/call') =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { name, arguments: {} } })

describe.each(FORMS)('%s', (_form, create) => {
  const start = starting(create)

  describe('what requests need', () => {
    const tools = {
      write: scope('files:write'),
      erase: all(scope('files:write'), scope('files:erase')),
      vault: acr('gold'),
      sign: all(scope('files:write'), acr('gold')),
    }

    test.each([
      ['everything, without the scope of all', '', 'read', 403, 'tools'],
      ['a tool that needs no more', 'tools', 'read', 200, ''],
      ['a tool that needs more', 'tools', 'write', 403, 'tools files:write'],
      ['a tool that needs more, with that alone', 'files:write', 'write', 403, 'tools files:write'],
      ['a tool that needs more, with it', 'tools files:write', 'write', 200, ''],
      ['a tool that needs two', 'tools files:write', 'erase', 403, 'tools files:write files:erase'],
      ['everything, where the tool needs a log-in', '', 'vault', 403, 'tools'],
      ['a tool of a hostile name', 'tools', '__proto__', 200, ''],
      ['a tool whose name is no text', 'tools', ['write'], 200, ''],
    ])('%s', async (_title, granted, name, status, named) => {
      await using api = await start({ tools })
      const headers = await bearer({ scope: granted })
      const answer = await api.ask(PATH, { method: 'POST', headers, body: call(name) })
      expect(answer.status).toBe(status)
      const needed = `error="insufficient_scope".* scope="${named}", ${CHALLENGE}`
      expect(answer.headers.get('www-authenticate') ?? 'none').toMatch(
        new RegExp(status === 200 ? 'none' : needed),
      )
    })

    test('the handler gets the very body that was judged', async () => {
      await using api = await start({ tools })
      const headers = { ...(await bearer()), 'content-type': 'text/plain' }
      const body = `{"method":"tools/call","params":{"name":"write"},"params":{"name":"read"}}`
      expect((await api.ask(PATH, { method: 'POST', headers, body })).status).toBe(200)
      expect(api.seen[0]?.body).toEqual({ method: 'tools/call', params: { name: 'read' } })
      const last = `{"method":"tools/call","params":{"name":"read"},"params":{"name":"write"}}`
      expect((await api.ask(PATH, { method: 'POST', headers, body: last })).status).toBe(403)
    })

    test('each message of a list is judged', async () => {
      await using api = await start({ tools })
      const body = `[${call('read')},${call('write')}]`
      const answer = await api.ask(PATH, { method: 'POST', headers: await bearer(), body })
      expect(answer.status).toBe(403)
    })

    test('what has the name of a tool, and is none, needs no more', async () => {
      await using api = await start({ tools })
      const body = call('write', 'prompts/get')
      const answer = await api.ask(PATH, { method: 'POST', headers: await bearer(), body })
      expect(answer.status).toBe(200)
    })

    test.each(['vault', 'sign'])('another log-in may be needed: %s', async (name) => {
      await using api = await start({ tools })
      const headers = await bearer({ scope: 'tools files:write' })
      const answer = await api.ask(PATH, { method: 'POST', headers, body: call(name) })
      expect(answer.status).toBe(401)
      expect(answer.headers.get('www-authenticate')).toMatch(
        /error="insufficient_user_authentication".*acr_values="gold"/,
      )
    })

    test('a client that gets what each challenge asks for, and no more, is let in', async () => {
      await using api = await start({ tools })
      for (const first of [{}, { scope: 'tools' }, { scope: 'files:write' }, { acr: 'gold' }]) {
        let claims: Record<string, unknown> = { scope: 'tools', ...first }
        const challenges: string[] = []
        for (let round = 0; round < 6; round++) {
          const init = { method: 'POST', headers: await bearer(claims), body: call('sign') }
          const answer = await api.ask(PATH, init)
          if (answer.status === 200) break
          const challenge = answer.headers.get('www-authenticate') ?? ''
          const parameter = (name: string) =>
            new RegExp(`[ ,]${name}="([^"]*)"`).exec(challenge)?.[1]
          challenges.push(`${answer.status} ${parameter('scope')}`)
          expect(parameter('acr_values')).toBe(answer.status === 401 ? 'gold' : undefined)
          // As an authorization server does that grants what is asked for.
          claims = { scope: parameter('scope'), acr: parameter('acr_values') }
        }
        expect(challenges.length).toBeLessThanOrEqual(2)
        expect(challenges.every((each) => each.endsWith('tools files:write'))).toBe(true)
        expect(claims).toEqual({ scope: 'tools files:write', acr: 'gold' })
      }
    })

    test('the scope that stands for an audience is in each challenge, so that a client which gets what they ask for is let in', async () => {
      const accepting: Verifier<unknown> = {
        verify: async (token) =>
          await createVerifier({ ...issuer.verifierOptions, audience: null }).verify(token),
        ready: async () => {},
      }
      const audience = { clientIds: ['agent'], scope: 'files/read', issuer: 'https://auth.test' }
      for (const stated of [{}, { scope: 'tools' }]) {
        await using api = await start({ tools, audience, ...stated }, { by: accepting })
        let granted: string | undefined = ''
        const challenges: string[] = []
        for (let round = 0; round < 6; round++) {
          const headers = await bearer({ aud: undefined, scope: granted })
          const answer = await api.ask(PATH, { method: 'POST', headers, body: call('write') })
          if (answer.status === 200) break
          const challenge = answer.headers.get('www-authenticate') ?? ''
          granted = /[ ,]scope="([^"]*)"/.exec(challenge)?.[1]
          challenges.push(`${answer.status} ${granted}`)
        }
        expect(challenges).toEqual(['401 tools files/read', '403 tools files/read files:write'])
        const metadata = (await (await api.ask(METADATA)).json()) as Record<string, unknown>
        expect(metadata['scopes_supported']).toEqual(['tools', 'files/read'])
      }
    })

    test('how long ago the user may have logged in stands in the 401 as well', async () => {
      const pay = all(scope('pay'), authenticatedWithin(300))
      await using api = await start({ tools: { pay } })
      const challenge = async (claims: Record<string, unknown>) => {
        const init = { method: 'POST', headers: await bearer(claims), body: call('pay') }
        const answer = await api.ask(PATH, init)
        return `${answer.status} ${answer.headers.get('www-authenticate')}`
      }
      expect(await challenge({ scope: 'tools pay' })).toMatch(
        /^401 .*max_age="300", scope="tools pay"/,
      )
      expect(await challenge({})).toMatch(/^403 .*scope="tools pay"/)
      expect(await challenge({})).not.toContain('max_age')
    })

    test('the sentence for developers is that of what the token lacks', async () => {
      await using api = await start({ tools })
      await api.ask(PATH, { method: 'POST', headers: await bearer(), body: call('write') })
      expect(api.refused[0]?.detail).toContain('lacks "files:write"')
    })

    test.each([
      ['no JSON', '{', 400, -32_700],
      ['nothing', '', 400, -32_700],
      ['a text', '"tools/call"', 400, -32_700],
      ['null', 'null', 400, -32_700],
      ['what is nested too deep', '['.repeat(100_000), 400, -32_700],
      ['no UTF-8', Uint8Array.of(0x5b, 0x22, 0xff, 0x22, 0x5d), 400, -32_700], // a text in a list
      ['__proto__ in its params', '{"params":{"__proto__":{}}}', 400, -32_700],
      ['__proto__ in a message of a list', '[{},{"__proto__":{}}]', 400, -32_700],
      ['too much', `[${' '.repeat(2000)}]`, 413, -32_000],
    ])('a body with %s reaches nobody', async (_title, body, status, code) => {
      await using api = await start({
        tools,
        maxBodySize: 1000,
        ...(status === 400 ? { maxBodySize: 1_000_000 } : {}),
      })
      const answer = await api.ask(PATH, { method: 'POST', headers: await bearer(), body })
      expect([answer.status, await answer.json()]).toMatchObject([
        status,
        { jsonrpc: '2.0', error: { code }, id: null },
      ])
      expect(api.seen).toEqual([])
    })

    test('a body that is as long as may be is read', async () => {
      await using api = await start({ tools, maxBodySize: 4 })
      const status = async (body: string) =>
        (await api.ask(PATH, { method: 'POST', headers: await bearer(), body })).status
      expect([await status('[1 ]'), await status('[1  ]')]).toEqual([200, 413])
    })

    test('a body that is longer than 4 MiB is not read, unless the options say so', async () => {
      await using api = await start({ tools })
      const init = { method: 'POST', headers: await bearer() }
      const answer = await api.ask(PATH, { ...init, body: `[${' '.repeat(4_194_303)}]` })
      expect(answer.status).toBe(413)
      const fits = await api.ask(PATH, { ...init, body: `[${' '.repeat(4_194_302)}]` })
      expect(fits.status).toBe(200)
    })

    test('options that are changed afterwards change nothing', async () => {
      const options = { tools: { ...tools }, clientIdClaims: ['sub'] }
      await using api = await start(options)
      Reflect.deleteProperty(options.tools, 'write')
      options.clientIdClaims.length = 0
      const status = async (name: string) => {
        const init = { method: 'POST', headers: await bearer(), body: call(name) }
        return (await api.ask(PATH, init)).status
      }
      expect([await status('write'), await status('read')]).toEqual([403, 200])
      expect(api.seen.map(({ authInfo }) => authInfo.clientId)).toEqual(['ada'])
    })

    test('nobody who has no token makes it read a body', async () => {
      await using api = await start({ tools, maxBodySize: 10 })
      const answer = await api.ask(PATH, { method: 'POST', body: 'x'.repeat(100_000) })
      expect(answer.status).toBe(401)
    })

    test('other methods have no body that is judged', async () => {
      await using api = await start({ tools })
      expect((await api.ask(PATH, { headers: await bearer() })).status).toBe(200)
      expect(api.seen[0]?.body).toBeUndefined()
    })
  })
})

test.each([
  [6, { body: ['\u{E9}'], fault: undefined }],
  [5, { body: undefined, fault: 'too_large' }],
])('a body may come as text, whose octets are counted: at most %i', async (maxSize, read) => {
  const chunks = ReadableStream.from(['["\u{E9}', '"]'])
  expect(await readBody(chunks, maxSize)).toEqual(read)
})

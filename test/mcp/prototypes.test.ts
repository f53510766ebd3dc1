import { createRequire } from 'node:module'

import { createVerifier, scope } from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'
import { sdk as sdk1 } from 'portcullis-test-zod3'
import { sdk as sdk2 } from 'portcullis-test-zod4'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { begin, post, postText } from './calls.ts'
import { OLDEST, SERVERS, type ServerKind, startServer } from './servers.ts'

// A call of a tool behind `__proto__`: older versions of zod copy a message with `[[Set]]`, so that what was a member of it becomes its
// prototype, and the SDK finds a call where there was none when we looked.

test.each([
  ['1', sdk1, '3.25.76'],
  ['2', sdk2, '4.2.0'],
])('the SDK %s of these tests has the zod that is meant', (_major, sdk, version) => {
  expect(createRequire(sdk)('zod/package.json')).toMatchObject({ version })
})

async function start(kind: ServerKind) {
  const issuer = await createTestIssuer({ issuer: 'https://auth.test' })
  const called: string[] = []
  const server = await startServer(
    kind,
    (audience) => createVerifier({ ...issuer.verifierOptions, audience }),
    {
      authorizationServers: ['https://auth.test'],
      requirement: scope('tools'),
      tools: { write: scope('files:write') },
    },
    { write: () => called.push('write') },
  )
  const url = server.resource
  const token = await issuer.token({
    claims: { sub: 'ada', client_id: 'agent', scope: 'tools', aud: url },
  })
  const sessionId = kind.major === 1 ? await begin(url, token) : undefined
  return {
    called,
    url,
    call: { token, sessionId },
    [Symbol.asyncDispose]: server[Symbol.asyncDispose],
  }
}

const WRITE = '"name":"write","arguments":{}'
const BODIES: readonly (readonly [string, string])[] = [
  ['params', `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"__proto__":{${WRITE}}}}`],
  [
    'the message',
    `{"__proto__":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{${WRITE}}}}`,
  ],
  [
    'a message with some members',
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","__proto__":{"params":{${WRITE}}}}`,
  ],
  ['a batch', `[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"__proto__":{${WRITE}}}}]`],
  [
    'arguments',
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"whoami","arguments":{"a":[{"__proto__":1}]}}}`,
  ],
  [
    'an escape',
    String.raw`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"\u005f_proto__":{"name":"write","arguments":{}}}}`,
  ],
]

describe.each([...OLDEST, ...SERVERS].map((kind) => [kind.name, kind] as const))(
  '%s',
  (_name, kind) => {
    let api: Awaited<ReturnType<typeof start>>

    beforeAll(async () => {
      api = await start(kind)
    })
    afterAll(async () => {
      await api[Symbol.asyncDispose]()
    })

    test.each(BODIES)('__proto__ in %s calls no tool: 400', async (_place, body) => {
      const answer = await postText(api.url, body, api.call)
      await answer.text()
      expect([answer.status, api.called]).toEqual([400, []])
    })

    test('a tool that needs no more is called, and one that does is not', async () => {
      const answer = await post(api.url, 'whoami', api.call)
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('ada')])
      const refused = await postText(
        api.url,
        BODIES[0]?.[1].replace('"__proto__":{', '').replace('}}}', '}}') ?? '',
        api.call,
      )
      expect([refused.status, api.called]).toEqual([403, []])
    })
  },
)

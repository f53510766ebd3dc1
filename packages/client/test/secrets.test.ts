import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { inspect } from 'node:util'

import { afterAll, describe, expect, test } from 'vitest'

import type { TokenClientOptions } from '../src/index.ts'
import {
  createClient,
  createLoginService,
  failureOf,
  jws,
  type LoginService,
} from './login-service.ts'

// Each secret has characters that JSON and forms write in another way.
const LOGIN_ID = 'canary-login "é\\&+'
const PASSWORD = 'canary-password "ü\\&+'
const TOKEN = jws({ exp: 4_102_444_800, secret: 'canary' })
const PATH = 'canary-path'

const FORMS = [LOGIN_ID, PASSWORD, TOKEN, PATH].flatMap((secret) => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  encodeURIComponent(secret),
  new URLSearchParams({ '': secret }).toString().slice(1),
  Buffer.from(secret).toString('base64'),
])

const published: unknown[] = []
const onMessage = (message: unknown) => void published.push(message)
subscribe('portcullis:login', onMessage)
afterAll(() => void unsubscribe('portcullis:login', onMessage))

/** Everything that went out or came in, in one text. */
const ALL = FORMS.join(' ')
const telling = () =>
  Object.assign(new Error(ALL, { cause: new Error(ALL) }), { code: ALL, reason: ALL, body: ALL })

function failing(): never {
  throw telling()
}

type Scene = readonly [
  name: string,
  options: Partial<TokenClientOptions>,
  answer: LoginService['answer'],
]

const SCENES: readonly Scene[] = [
  ['a fetch that fails and tells', {}, failing],
  ...[302, 400, 401, 403, 404, 429, 500].map((status): Scene => {
    const headers = { location: ALL, 'retry-after': ALL, date: ALL, 'content-type': ALL }
    const ascii = Object.entries(headers).map(([name, text]) => [name, encodeURI(text)])
    const init = {
      status,
      statusText: encodeURI(ALL),
      headers: Object.fromEntries(ascii) as object,
    }
    return [
      `status ${status} that repeats it`,
      {},
      () => new Response(ALL, { ...init, headers: init.headers as Record<string, string> }),
    ]
  }),
  ['an answer that repeats it', {}, () => new Response(ALL)],
  ['an answer with two tokens', {}, () => Response.json({ token: TOKEN, jwt: jws({ exp: 1 }) })],
  [
    'a content type that repeats it',
    {},
    () => new Response('', { headers: { 'content-type': encodeURI(ALL) } }),
  ],
  [
    'a body that breaks off and tells',
    {},
    () => new Response(new ReadableStream({ pull: failing })),
  ],
  ['a loginId function that tells', { loginId: failing }, failing],
  [
    'a password function that tells',
    { password: async () => await Promise.reject(telling()) },
    failing,
  ],
  ['a response function that tells', { response: failing }, () => new Response(TOKEN)],
  [
    'a header with two tokens',
    { response: (_body, { headers }) => headers.get('x-token') },
    () => new Response('', { headers: { 'x-token': `${TOKEN} ${encodeURI(ALL)}` } }),
  ],
  [
    'a response function that tells a header',
    {
      response: (_body, { headers }) => {
        throw new Error(headers.get('x-token') ?? '')
      },
    },
    () => new Response('', { headers: { 'x-token': `${TOKEN} ${encodeURI(ALL)}` } }),
  ],
  [
    'a verifier that tells',
    { verifier: { verify: async () => await Promise.reject(telling()) } },
    () => new Response(TOKEN),
  ],
  ['an expired token', {}, () => new Response(jws({ exp: 1, secret: TOKEN }))],
]

test.each(SCENES)('no secret comes out: %s', async (_name, options, answer) => {
  const service = createLoginService()
  const { clock } = service
  service.answer = answer
  const client = createClient(service, {
    authUrl: `https://auth.test/${PATH}`,
    loginId: LOGIN_ID,
    password: PASSWORD,
    ...options,
  })
  const failures = [failureOf(client.get()), failureOf(client.fetch('https://api.test'))]
  await clock.advance(12)
  failures.push(failureOf(client.get()))
  await clock.advance(12)
  expectNoSecret([...(await Promise.all(failures)), client, client.status()])
  expect(published.length).toBeGreaterThan(0)
  expectNoSecret(published)
})

test('no secret comes out: a login that succeeds', async () => {
  const service = createLoginService()
  service.answer = () => new Response(TOKEN)
  const client = createClient(service, { loginId: LOGIN_ID, password: PASSWORD })
  expect(await client.get()).toBe(TOKEN)
  expectNoSecret([client, client.status(), ...published])
  const failures = [
    await failureOf(client.fetch(`https://elsewhere.test/${PATH}?${encodeURIComponent(TOKEN)}`)),
    await failureOf(client.get({ signal: AbortSignal.abort(telling()) })),
  ]
  await client.close()
  expectNoSecret([...failures, await failureOf(client.get()), client])
})

describe('a wrong option', () => {
  test.each<[string, object]>([
    ['authUrl', { authUrl: `https://${encodeURIComponent(PASSWORD)}@auth.test` }],
    ['authUrl', { authUrl: `http://auth.test/${PATH}` }],
    ['authUrl', { authUrl: ALL }],
    ['loginId', { loginId: [LOGIN_ID] }],
    ['password', { password: { value: PASSWORD } }],
    ['origins', { origins: [`https://api.test/${PATH}`] }],
    ['response', { response: PASSWORD }],
  ])('%s is not quoted', async (_name, options) => {
    const create = async () => await Promise.resolve(createClient(createLoginService(), options))
    expectNoSecret([await failureOf(create())])
  })
})

test('what is looked for would be found', () => {
  for (const form of FORMS)
    expect(() => {
      expectNoSecret([new Error(form)])
    }).toThrow(/secret/)
})

/** In a message, a stack, a cause, any property, whether it is enumerable or not, and in JSON. */
function expectNoSecret(values: readonly unknown[]): void {
  for (const value of values) {
    const shown = inspect(value, { depth: Infinity, showHidden: true, maxStringLength: Infinity })
    const text = [shown, JSON.stringify(value), String(value), stackOf(value)].join('\n')
    // What inspect quotes it escapes as well.
    const unquoted = text.replaceAll('\\\\', '\\')
    const found = FORMS.filter((form) => text.includes(form) || unquoted.includes(form))
    if (found.length > 0) throw new Error(`a secret was found in ${found.length} forms`)
  }
}

function stackOf(value: unknown): string {
  return value instanceof Error ? String(value.stack) : ''
}

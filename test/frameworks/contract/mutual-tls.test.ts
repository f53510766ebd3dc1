import { createHash, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { createSecureServer } from 'node:http2'
import type { AddressInfo } from 'node:net'

import { mutualTls } from '@portcullis/core'
import { authenticate as authenticateHono } from '@portcullis/hono'
import { assertChallenge } from '@portcullis/testing'
import { Hono } from 'hono'
import lightMyRequest from 'light-my-request'
import { afterAll, describe, expect, test } from 'vitest'

import { serve, type Served } from '../../bound-tokens/serve.ts'
import { fetchWith } from '../../bound-tokens/tls-fetch.ts'
import { type Certificate, createCertificate } from '../../certificate.ts'
import type { AppSpec, Application } from './frameworks/framework.ts'
import { frameworks } from './frameworks/index.ts'
import { sendRaw } from './raw.ts'
import { bearer, verifier } from './tokens.ts'

// What every adapter must do with tokens that are bound to a client certificate: find it on the connection, or in the header of
// a proxy.

const [server, client, thief] = [createCertificate(), createCertificate(), createCertificate()]
afterAll(() => {
  for (const each of [server, client, thief]) each[Symbol.dispose]()
})

const digestOf = ({ cert }: Certificate) =>
  createHash('sha256').update(new X509Certificate(cert).raw)
const x5tS256 = digestOf(client).digest('base64url')
const headers = await bearer({ claims: { cnf: { 'x5t#S256': x5tS256 } } })
const unbound = await bearer()

const HEADER = 'X-Forwarded-Client-Cert'
const shown = `By=a;Hash=${digestOf(client).digest('hex')}`
const shownByThief = `By=a;Hash=${digestOf(thief).digest('hex')}`
const forwarded = (...proxies: string[]) =>
  mutualTls({ header: HEADER, format: 'xfcc', proxies: ['10.0.0.0/8', ...proxies] })

const GUARDS = {
  '/connection': mutualTls(),
  '/required': mutualTls({ required: true }),
  '/': forwarded('127.0.0.1'),
  '/stranger': forwarded(),
}

const spec: AppSpec = {
  routes: Object.entries(GUARDS).map(([path, each]) => ({
    path,
    guards: [{ verifier, options: { mutualTls: each } }],
    handle: (view) => ({ proven: view.getAuth().possession }),
  })),
}

/** What an application of any framework listens with. */
function listenerOf({ server: own }: Application): RequestListener {
  const [listener] = own.listeners('request')
  return listener as RequestListener // of that event
}

async function serveOverHttp2(listener: RequestListener): Promise<Served> {
  const own = createSecureServer({
    cert: server.cert,
    key: server.key,
    requestCert: true,
    rejectUnauthorized: false,
  })
  // Frameworks take the compatibility API for that of HTTP/1.
  own.on('request', listener as never).listen(0, '127.0.0.1')
  const sessions = new Set<Disposable & { destroy(): void }>()
  own.on('session', (session) => sessions.add(session as never))
  await once(own, 'listening')
  const { port } = own.address() as AddressInfo // it listens on a port
  return {
    url: `https://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      for (const session of sessions) session.destroy()
      own.close()
      await once(own, 'close')
    },
  }
}

const refused = { status: 401, error: 'invalid_token', reason: 'binding' } as const

// A `Request` of the Fetch standard has no connection.
describe.each(frameworks.filter(({ name }) => name !== 'Request'))(
  '$name',
  async ({ createApp, breaksWithHttp2 }) => {
    const app = await createApp(spec)
    afterAll(async () => await app[Symbol.asyncDispose]())

    test('takes the certificate of the connection, and no other, with TLS', async () => {
      await using served = await serve(() => listenerOf(app), server)
      const owner = fetchWith(server, client)
      for (const path of ['/connection', '/required']) {
        const url = served.url + path
        const accepted = await owner(url, { headers })
        expect(accepted.status).toBe(200)
        expect(await accepted.json()).toEqual({ proven: { x5tS256 } })
        for (const other of [fetchWith(server, thief), fetchWith(server)]) {
          assertChallenge(await other(url, { headers }), refused)
        }
      }
      expect((await owner(`${served.url}/connection`, { headers: unbound })).status).toBe(200)
      assertChallenge(await owner(`${served.url}/required`, { headers: unbound }), refused)
      // That of a proxy proves nothing of its clients.
      assertChallenge(await owner(served.url, { headers }), refused)
    })

    const overHttp2 = breaksWithHttp2 ? [] : ['HTTP/2']
    test.each(overHttp2)('does so over %s', async () => {
      await using served = await serveOverHttp2(listenerOf(app))
      const url = `${served.url}/connection`
      expect((await fetchWith(server, client, true)(url, { headers })).status).toBe(200)
      assertChallenge(await fetchWith(server, thief, true)(url, { headers }), refused)
      const byProxy = { headers: { ...headers, [HEADER]: shown } }
      const owner = fetchWith(server, undefined, true)
      expect((await owner(served.url, byProxy)).status).toBe(200)
      assertChallenge(await owner(`${served.url}/stranger`, byProxy), refused)
    })

    test('takes the header of a proxy that is listed, and of nobody else', async () => {
      const ask = async (path: string, value: string) =>
        await fetch(app.url + path, { headers: { ...headers, [HEADER]: value } })
      expect(await (await ask('/', shown)).json()).toEqual({ proven: { x5tS256 } })
      for (const value of [shownByThief, `${shown},${shownByThief}`, 'nonsense', '']) {
        assertChallenge(await ask('/', value), refused)
      }
      assertChallenge(await ask('/stranger', shown), refused)
      assertChallenge(await ask('/connection', shown), refused)
      const twice = [`Authorization: ${headers.authorization}`, `${HEADER}: ${shown}`]
      const answer = await sendRaw(app.port, [...twice, `${HEADER.toLowerCase()}: ${shown}`])
      expect(answer.status).toBe(401)
    })

    test('refuses requests without a connection, as 401', async () => {
      const listener = listenerOf(app)
      const dispatch = (...parts: unknown[]) => void Reflect.apply(listener, app.server, parts)
      const ask = async (url: string, remoteAddress?: string) => {
        const options = { url, headers: { ...headers, [HEADER]: shown } }
        const from = remoteAddress === undefined ? {} : { remoteAddress }
        return (await lightMyRequest(dispatch, { ...options, ...from })).statusCode
      }
      expect(await ask('/connection')).toBe(401)
      expect(await ask('/', 'nowhere')).toBe(401)
      expect(await ask('/', '::ffff:10.1.2.3')).toBe(200)
    })
  },
)

test('Hono without a connection, on any platform, refuses a bound token as 401', async () => {
  for (const options of Object.values(GUARDS)) {
    const app = new Hono().use(authenticateHono(verifier, { mutualTls: options }))
    app.get('/', (context) => context.json({}))
    const env: unknown[] = [undefined, {}, { incoming: 'text' }, { incoming: {} }]
    for (const each of env) {
      const response = await app.request('/', { headers: { ...headers, [HEADER]: shown } }, each)
      assertChallenge(response, refused)
    }
  }
})

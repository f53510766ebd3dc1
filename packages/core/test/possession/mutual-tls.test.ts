import { createHash, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, request as httpRequest } from 'node:http'
import {
  type ClientHttp2Session,
  connect as connectHttp2,
  createSecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2'
import { Agent, createServer as createTlsServer, request as httpsRequest } from 'node:https'
import type { AddressInfo, Server } from 'node:net'

import { afterAll, describe, expect, expectTypeOf, test } from 'vitest'

import { type Certificate, createCertificate } from '../../../../test/certificate.ts'
import {
  type MutualTls,
  mutualTls,
  mutualTlsMethods,
  type MutualTlsMethods,
  type MutualTlsOptions,
} from '../../src/possession/mutual-tls.ts'
import type { GuardOptions } from '../../src/request/guard-options.ts'

const server = createCertificate()
const client = createCertificate()
afterAll(() => {
  server[Symbol.dispose]()
  client[Symbol.dispose]()
})

const thumbprint = thumbprintOf(client)
const HEADER = 'x-forwarded-client-cert'
const HASH = 'ab'.repeat(32)
const FORWARDED = Buffer.from(HASH, 'hex').toString('base64url')
const envoy = (options: MutualTlsOptions = {}) =>
  mutualTlsMethods(
    mutualTls({ header: HEADER, format: 'xfcc', proxies: ['127.0.0.0/8'], ...options }),
  )

test('the compiler takes nothing for what finds certificates but what mutualTls returns', () => {
  expectTypeOf<MutualTlsMethods>().not.toExtend<MutualTls>()
  expectTypeOf<object>().not.toExtend<MutualTls>()
  expectTypeOf<{ mutualTls: MutualTlsMethods }>().not.toExtend<GuardOptions>()
  expectTypeOf<keyof MutualTls & string>().toEqualTypeOf<'required'>()
})

describe('the options', () => {
  test.each<[object, string]>([
    [
      { cert: true },
      'mutualTls: unknown option "cert", known are required, header, format, proxies',
    ],
    [{ required: 'yes' }, 'mutualTls: required must be true or false'],
    [{ header: '' }, 'mutualTls: header must be the name of a header'],
    [{ header: 'a b' }, 'mutualTls: header must be the name of a header'],
    [{ format: 'pem' }, 'mutualTls: format must be one of xfcc, escaped-pem, rfc9440'],
    [{ proxies: [] }, 'mutualTls: proxies must be a list of addresses'],
    [{ proxies: ['0.0.0.0/0'] }, 'mutualTls: proxies must not list every peer'],
    [{ header: HEADER }, 'mutualTls: header, format and proxies must be stated together'],
    [{ format: 'xfcc' }, 'must be stated together'],
    [{ proxies: ['10.0.0.1'] }, 'must be stated together'],
    [{ header: HEADER, format: 'xfcc' }, 'must be stated together'],
    [{ header: HEADER, proxies: ['10.0.0.1'] }, 'must be stated together'],
    [{ proxies: ['10.0.0.1'], format: 'xfcc' }, 'must be stated together'],
  ])('%j is a TypeError', (options, complaint) => {
    expect(() => mutualTls(options)).toThrow(TypeError)
    expect(() => mutualTls(options)).toThrow(complaint)
  })

  test('say whether a certificate is required, which it is not by default', () => {
    expect(mutualTls().required).toBe(false)
    expect(mutualTls({ required: true }).required).toBe(true)
    expect(envoy({ required: true }).required).toBe(true)
  })

  test('inherited ones do not count', () => {
    const inherited = Object.create({ required: true, header: 'x' }) as MutualTlsOptions
    expect(mutualTls(inherited).required).toBe(false)
  })

  test('what they make is frozen', () => {
    expect(Object.isFrozen(mutualTls())).toBe(true)
    expect(Object.isFrozen(envoy())).toBe(true)
  })
})

describe('the certificate of the connection', () => {
  const requested = { requestCert: true, rejectUnauthorized: false }

  test.each([['TLSv1.2'], ['TLSv1.3']] as const)(
    'counts on a new connection, a resumed one and one that is used again, over %s',
    async (maxVersion) => {
      await using app = await listening(
        createTlsServer({ ...server, ...requested }, (request, response) => {
          response.end(JSON.stringify([seen(request), isResumed(request)]))
        }),
      )
      const fresh = new Agent({ ...client, ca: server.cert, maxVersion })
      expect(JSON.parse(await get(app.port, fresh))).toEqual([thumbprint, false])
      expect(JSON.parse(await get(app.port, fresh))).toEqual([thumbprint, true])
      const kept = new Agent({ ...client, ca: server.cert, maxVersion, keepAlive: true })
      expect(JSON.parse(await get(app.port, kept))).toEqual([thumbprint, false])
      expect(JSON.parse(await get(app.port, kept))).toEqual([thumbprint, false])
      kept.destroy()
    },
  )

  test('is none where the client shows none, and where the server asks for none', async () => {
    for (const options of [requested, {}]) {
      await using app = await listening(
        createTlsServer({ ...server, ...options }, (request, response) => {
          response.end(String(seen(request)))
        }),
      )
      const given = 'requestCert' in options ? {} : client
      expect(await get(app.port, new Agent({ ...given, ca: server.cert }))).toBe('undefined')
    }
  })

  test('counts with an authority that vouches for it, too', async () => {
    await using app = await listening(
      createTlsServer({ ...server, requestCert: true, ca: client.cert }, (request, response) => {
        response.end(String(seen(request)))
      }),
    )
    expect(await get(app.port, new Agent({ ...client, ca: server.cert }))).toBe(thumbprint)
  })

  test('counts over HTTP/2, for each of several requests', async () => {
    await using app = await listening(
      createSecureServer({ ...server, ...requested }, (request, response) => {
        response.end(String(seen(request)))
      }),
    )
    const session = connectHttp2(`https://127.0.0.1:${app.port}`, { ...client, ca: server.cert })
    expect(await Promise.all([getOverHttp2(session), getOverHttp2(session)])).toEqual([
      thumbprint,
      thumbprint,
    ])
    session.close()
  })

  test('is none once the connection of an HTTP/2 request is gone', async () => {
    const listener = createSecureServer({ ...server, ...requested })
    await using app = await listening(listener)
    const session = connectHttp2(`https://127.0.0.1:${app.port}`, { ...client, ca: server.cert })
    const opened = once(listener, 'session') as Promise<[ServerHttp2Session]>
    const arrived = once(listener, 'request') as Promise<[Http2ServerRequest, Http2ServerResponse]>
    const answer = getOverHttp2(session)
    const [[request, response], [served]] = await Promise.all([arrived, opened])
    expect(seen(request)).toBe(thumbprint)
    response.end()
    await answer
    const closed = once(served, 'close')
    session.destroy()
    await closed
    expect(seen(request)).toBeUndefined()
  })

  test.each<[string, object]>([
    ['a request without TLS', { socket: { remoteAddress: '127.0.0.1' } }],
    ['a request without a connection', {}],
    ['a Request', new Request('https://api.test')],
    ['a connection that is none', { socket: 'text' }],
    ['a method that returns nothing', { socket: { getPeerX509Certificate: () => null } }],
    ['a certificate without octets', { socket: { getPeerX509Certificate: () => ({ raw: 'x' }) } }],
    [
      'a method that throws',
      {
        socket: {
          getPeerX509Certificate: () => {
            throw new Error('x')
          },
        },
      },
    ],
  ])('is none of %s', (_title, request) => {
    expect(mutualTlsMethods(mutualTls()).thumbprintOf(request)).toBeUndefined()
  })

  test('is never read from Object.prototype', () => {
    const raw = new X509Certificate(client.cert).raw
    const planted = { getPeerX509Certificate: () => ({ raw }), remoteAddress: '127.0.0.1' }
    expect(mutualTlsMethods(mutualTls()).thumbprintOf({ socket: planted })).toBe(thumbprint)
    const headers = { [HEADER]: `Hash=${HASH}` }
    Object.assign(Object.prototype, planted, { socket: planted, raw, headers }, headers)
    try {
      expect(mutualTlsMethods(mutualTls()).thumbprintOf({})).toBeUndefined()
      expect(mutualTlsMethods(mutualTls()).thumbprintOf({ socket: {} })).toBeUndefined()
      expect(envoy().thumbprintOf({ headers: {}, socket: planted })).toBeUndefined()
      expect(envoy().thumbprintOf({ socket: planted })).toBeUndefined()
      expect(envoy().thumbprintOf({ headers, socket: {} })).toBeUndefined()
      expect(envoy().thumbprintOf({ headers })).toBeUndefined()
    } finally {
      for (const name of [...Object.keys(planted), 'socket', 'raw', 'headers', HEADER]) {
        Reflect.deleteProperty(Object.prototype, name)
      }
    }
  })
})

describe('a header', () => {
  const proven = `Hash=${HASH}`

  test('counts from a peer that is listed, and from nobody else', async () => {
    await using app = await listening(
      createServer((request, response) => {
        const other = envoy({ proxies: ['10.0.0.0/8', '::1'] })
        const ours = envoy().thumbprintOf(request)
        response.end(JSON.stringify([ours ?? null, other.thumbprintOf(request) ?? null]))
      }),
    )
    const forwarded = { 'x-forwarded-for': '10.0.0.1', forwarded: 'for=10.0.0.1' }
    const answer = await getPlain(app.port, { [HEADER]: proven, ...forwarded })
    expect(JSON.parse(answer)).toEqual([FORWARDED, null])
  })

  test('sent twice proves nothing, in whatever case', async () => {
    await using app = await listening(
      createServer((request, response) => {
        response.end(String(envoy().thumbprintOf(request)))
      }),
    )
    const single = ['Host', 'api.test', 'X-Forwarded-Client-Cert', proven]
    expect(await getPlain(app.port, single)).toBe(FORWARDED)
    expect(await getPlain(app.port, [...single, 'x-forwarded-CLIENT-cert', proven])).toBe(
      'undefined',
    )
  })

  test('sent once counts, though another header has its name as its value', () => {
    const headers = { [HEADER]: proven, vary: HEADER }
    const request = {
      socket: { remoteAddress: '127.0.0.1' },
      rawHeaders: Object.entries(headers).flat(),
      headers,
    }
    expect(envoy().thumbprintOf(request)).toBe(FORWARDED)
  })

  test('the certificate of the connection never counts beside one: it is that of the proxy', async () => {
    await using app = await listening(
      createTlsServer(
        { ...server, requestCert: true, rejectUnauthorized: false },
        (request, response) => {
          const unlisted = envoy({ proxies: ['10.0.0.1'] })
          response.end(`${envoy().thumbprintOf(request)} ${unlisted.thumbprintOf(request)}`)
        },
      ),
    )
    const proxy = new Agent({ ...client, ca: server.cert })
    expect(await get(app.port, proxy)).toBe('undefined undefined')
    expect(await get(app.port, proxy, { [HEADER]: proven })).toBe(`${FORWARDED} undefined`)
  })

  test.each<[string, object, string | undefined]>([
    [
      'of a mock',
      { headers: { [HEADER]: proven }, socket: { remoteAddress: '127.0.0.1' } },
      FORWARDED,
    ],
    [
      'of an IPv4 peer of a socket for IPv6',
      { headers: { [HEADER]: proven }, socket: { remoteAddress: '::ffff:127.0.0.1' } },
      FORWARDED,
    ],
    [
      'as a list',
      { headers: { [HEADER]: [proven] }, socket: { remoteAddress: '127.0.0.1' } },
      undefined,
    ],
    [
      'of a peer without an address, such as a Unix socket',
      { headers: { [HEADER]: proven }, socket: {} },
      undefined,
    ],
    [
      'of a Request, which has no connection',
      new Request('https://api.test', { headers: { [HEADER]: proven } }),
      undefined,
    ],
    [
      'under its name in another case, which no server of node has',
      { headers: { 'X-Forwarded-Client-Cert': proven }, socket: { remoteAddress: '127.0.0.1' } },
      undefined,
    ],
    [
      'of a proxy that is behind another one, where only that one is listed',
      {
        headers: { [HEADER]: proven, 'x-forwarded-for': '127.0.0.1' },
        socket: { remoteAddress: '10.1.1.1' },
      },
      undefined,
    ],
    [
      'of a connection whose address is a list',
      { headers: { [HEADER]: proven }, socket: { remoteAddress: ['127.0.0.1'] } },
      undefined,
    ],
    ['where there are no headers', { socket: { remoteAddress: '127.0.0.1' } }, undefined],
    [
      'with nonsense in it',
      { headers: { [HEADER]: '"' }, socket: { remoteAddress: '127.0.0.1' } },
      undefined,
    ],
  ])('%s', (_title, request, expected) => {
    expect(envoy().thumbprintOf(request)).toBe(expected)
  })
})

const seen = (request: IncomingMessage | Http2ServerRequest) =>
  mutualTlsMethods(mutualTls()).thumbprintOf(request)

function isResumed({ socket }: IncomingMessage): unknown {
  return Reflect.apply(Reflect.get(socket, 'isSessionReused') as () => boolean, socket, [])
}

function thumbprintOf({ cert }: Certificate): string {
  return createHash('sha256').update(new X509Certificate(cert).raw).digest('base64url')
}

async function listening(listener: Server): Promise<AsyncDisposable & { readonly port: number }> {
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  return {
    port: (listener.address() as AddressInfo).port, // it listens on a port
    async [Symbol.asyncDispose]() {
      const closed = once(listener, 'close')
      listener.close()
      await closed
    },
  }
}

async function get(port: number, agent: Agent, headers: object = {}): Promise<string> {
  const sent = httpsRequest({ port, host: '127.0.0.1', agent, headers: { ...headers } }).end()
  return await textOf(await answerOf(sent))
}

async function getPlain(
  port: number,
  headers: Readonly<Record<string, string>> | readonly string[],
): Promise<string> {
  return await textOf(
    await answerOf(httpRequest({ port, host: '127.0.0.1', agent: false, headers }).end()),
  )
}

async function answerOf(sent: ReturnType<typeof httpRequest>): Promise<IncomingMessage> {
  const [response] = (await once(sent, 'response')) as [IncomingMessage] // which the event comes with
  return response
}

async function getOverHttp2(session: ClientHttp2Session): Promise<string> {
  return await textOf(session.request({ ':path': '/' }))
}

async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  let text = ''
  for await (const chunk of stream.setEncoding('utf8')) text += String(chunk)
  return text
}

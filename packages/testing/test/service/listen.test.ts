import { EventEmitter, once } from 'node:events'
import { get, request } from 'node:http'
import { networkInterfaces } from 'node:os'
import { text } from 'node:stream/consumers'

import { describe, expect, test } from 'vitest'

import { listen } from '../../src/service/listen.ts'

const MIB = 1024 * 1024

function hasIPv6(): boolean {
  return Object.values(networkInterfaces()).some((all) =>
    all?.some(({ family }) => family === 'IPv6'),
  )
}

/** Answers with the request, as JSON. */
async function echo(asked: Request): Promise<Response> {
  const { pathname, search } = new URL(asked.url)
  return Response.json({
    method: asked.method,
    path: `${pathname}${search}`,
    type: asked.headers.get('content-type'),
    names: asked.headers.get('x-name'),
    body: await asked.text(),
  })
}

describe('a request', () => {
  test('arrives with its method, path, headers and body', async () => {
    await using server = await listen(echo)
    const response = await fetch(`${server.url}/a%20b?c=d`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: 'größer',
    })
    expect(await response.json()).toEqual({
      method: 'POST',
      path: '/a%20b?c=d',
      type: 'text/plain',
      names: null,
      body: 'größer',
    })
  })

  test('of GET has no body', async () => {
    await using server = await listen(echo)
    const response = await fetch(`${server.url}/`)
    expect(await response.json()).toMatchObject({ method: 'GET', path: '/', body: '' })
  })

  test('of HEAD is answered without one', async () => {
    await using server = await listen(echo)
    const response = await fetch(server.url, { method: 'HEAD' })
    expect(response.status).toBe(200)
    expect(await response.text()).toBe('')
  })

  test('of TRACE arrives, which a Request could not be made of', async () => {
    await using server = await listen(echo)
    const sent = request(server.url, { method: 'TRACE', path: '/a' }).end()
    const [response] = (await once(sent, 'response')) as [NodeJS.ReadableStream]
    expect(JSON.parse(await text(response))).toMatchObject({ method: 'TRACE', path: '/a' })
  })

  test.each([
    { target: '//', path: '//' },
    { target: '//other.test/a?b', path: '//other.test/a?b' },
    { target: String.raw`/\other.test`, path: '//other.test' },
    { target: 'http://other.test/a?b', path: '/a?b' },
    { target: '*', path: '/*' },
  ])('for $target arrives with the path $path', async ({ target, path }) => {
    await using server = await listen(echo)
    const sent = request(server.url, { method: 'OPTIONS', path: target }).end()
    const [response] = (await once(sent, 'response')) as [NodeJS.ReadableStream]
    expect(JSON.parse(await text(response))).toMatchObject({ path })
  })

  test('with a repeated header arrives with all its values', async () => {
    await using server = await listen(echo)
    const sent = get(server.url, { headers: { 'x-name': ['one', 'two'] } })
    const [response] = (await once(sent, 'response')) as [NodeJS.ReadableStream]
    expect(JSON.parse(await text(response))).toMatchObject({ names: 'one, two' })
  })

  test('with a body of 1 MiB arrives', async () => {
    await using server = await listen(
      async (asked) => new Response(String((await asked.blob()).size)),
    )
    const response = await fetch(server.url, { method: 'POST', body: new Uint8Array(MIB) })
    expect(await response.text()).toBe(String(MIB))
  })

  test('with a larger body never does: its connection is ended', async () => {
    let handled = 0
    await using server = await listen(async () => {
      handled++
      return await Promise.resolve(new Response())
    })
    const sent = request(server.url, { method: 'POST' })
    sent.write(Buffer.alloc(MIB + 1))
    const [error] = (await once(sent, 'error').catch((fault: unknown) => [fault])) as [unknown]
    expect(error).toBeInstanceOf(Error)
    expect(handled).toBe(0)
  })
})

describe('an answer', () => {
  test('arrives with its status, headers and body', async () => {
    await using server = await listen(
      async () =>
        await Promise.resolve(
          new Response('short and stout', { status: 418, headers: { 'x-kind': 'teapot' } }),
        ),
    )
    const response = await fetch(server.url)
    expect(response.status).toBe(418)
    expect(response.headers.get('x-kind')).toBe('teapot')
    expect(await response.text()).toBe('short and stout')
  })

  test('may have no body', async () => {
    await using server = await listen(
      async () => await Promise.resolve(new Response(null, { status: 204 })),
    )
    const response = await fetch(server.url)
    expect(response.status).toBe(204)
    expect(await response.text()).toBe('')
  })

  test('whose body has not begun has its status and headers sent', async () => {
    await using server = await listen(
      async () => await Promise.resolve(new Response(new ReadableStream(), { status: 202 })),
    )
    expect((await fetch(server.url)).status).toBe(202)
  })

  test('may come in chunks', async () => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const part of ['one ', 'two']) controller.enqueue(new TextEncoder().encode(part))
        controller.close()
      },
    })
    await using server = await listen(async () => await Promise.resolve(new Response(body)))
    expect(await (await fetch(server.url)).text()).toBe('one two')
  })

  test.each([
    { name: 'an error', fault: new Error('broken') },
    { name: 'something else', fault: 'broken' as unknown as Error },
  ])('that fails with $name ends its own connection, and no other', async ({ fault }) => {
    await using server = await listen(async (asked) =>
      asked.url.endsWith('/broken') ? await Promise.reject(fault) : new Response('fine'),
    )
    await expect(fetch(`${server.url}/broken`)).rejects.toThrow('fetch failed')
    expect(await (await fetch(server.url)).text()).toBe('fine')
  })
})

describe('the server', () => {
  test('listens on a free port of the loopback, another for each', async () => {
    await using one = await listen(echo)
    await using two = await listen(echo)
    for (const { url } of [one, two]) expect(url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/)
    expect(one.url).not.toBe(two.url)
  })

  test('listens on the port that is asked for', async () => {
    const first = await listen(echo)
    const port = Number(new URL(first.url).port)
    await first.close()
    await using second = await listen(echo, { port })
    expect(second.url).toBe(first.url)
    expect((await fetch(second.url)).status).toBe(200)
  })

  test('fails at once if the port is taken', async () => {
    await using server = await listen(echo)
    const port = Number(new URL(server.url).port)
    await expect(listen(echo, { port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
  })

  test('once closed accepts no connection', async () => {
    const server = await listen(echo)
    await server.close()
    const failure = fetch(server.url)
    await expect(failure).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } })
  })

  test('closing ends connections, also one that waits for an answer', async () => {
    const events = new EventEmitter()
    const asked = once(events, 'asked')
    const server = await listen(async () => {
      events.emit('asked')
      return await new Promise<never>(() => {})
    })
    const outcome = fetch(server.url).then(
      () => 'answered',
      () => 'ended',
    )
    await asked
    await server.close()
    expect(await outcome).toBe('ended')
  })

  test('can be closed twice', async () => {
    const server = await listen(echo)
    await server.close()
    await expect(server.close()).resolves.toBeUndefined()
  })

  test('is closed by `await using`', async () => {
    let url: string
    {
      await using server = await listen(echo)
      url = server.url
      expect((await fetch(url)).status).toBe(200)
    }
    await expect(fetch(url)).rejects.toThrow('fetch failed')
  })

  test.each<[complaint: string, options: object]>([
    ['port must be a port from 0 to 65535', { port: 65_536 }],
    ['port must be a port from 0 to 65535', { port: '80' }],
    ['host must be a string that is not empty', { host: '' }],
    ['routes must be a function', { routes: {} }],
    ['unknown option "hosts", known are port, host, routes', { hosts: '0.0.0.0' }],
  ])('cannot be had with a wrong option: %s', async (complaint, options) => {
    await expect(listen(echo, options)).rejects.toThrow(new TypeError(`listen: ${complaint}`))
  })
})

describe('the host', () => {
  test.each([
    { host: 'localhost', url: /^http:\/\/localhost:\d+$/ },
    { host: '0.0.0.0', url: /^http:\/\/127\.0\.0\.1:\d+$/ },
  ])('can be $host, and the URL can be asked', async ({ host, url }) => {
    await using server = await listen(echo, { host })
    expect(server.url).toMatch(url)
    expect((await fetch(server.url)).status).toBe(200)
  })

  test.skipIf(!hasIPv6())('can be an address of IPv6, which the URL has in brackets', async () => {
    for (const host of ['::1', '::']) {
      await using server = await listen(echo, { host })
      expect(server.url).toMatch(/^http:\/\/\[::1\]:\d+$/)
      expect((await fetch(server.url)).status).toBe(200)
    }
  })
})

describe('routes', () => {
  test('are asked first; what they answer never comes to the handler', async () => {
    const handled: string[] = []
    const handle = async (asked: Request) => {
      handled.push(new URL(asked.url).pathname)
      return await echo(asked)
    }
    await using server = await listen(handle, {
      routes: (asked) =>
        new URL(asked.url).pathname === '/own'
          ? new Response(asked.headers.get('host'), { status: 201 })
          : undefined,
    })
    const own = await fetch(`${server.url}/own`)
    expect([own.status, await own.text()]).toEqual([201, new URL(server.url).host])
    expect((await fetch(`${server.url}/other`)).status).toBe(200)
    expect(handled).toEqual(['/other'])
  })

  test('that read a body and then decline leave it to nobody: the handler fails', async () => {
    await using server = await listen(echo, {
      async routes(asked) {
        await asked.text()
        return undefined
      },
    })
    const sent = fetch(server.url, { method: 'POST', body: 'text' })
    await expect(sent).rejects.toThrow('fetch failed')
  })

  test('that fail end their own connection, and no other', async () => {
    await using server = await listen(echo, {
      routes: async (asked) =>
        asked.url.endsWith('/broken') ? await Promise.reject(new Error('broken')) : undefined,
    })
    await expect(fetch(`${server.url}/broken`)).rejects.toThrow('fetch failed')
    expect((await fetch(server.url)).status).toBe(200)
  })

  test('are told when the client leaves, so that an endless answer ends', async () => {
    const events = new EventEmitter()
    const left = once(events, 'left')
    const routes = (_asked: Request, signal: AbortSignal) => {
      signal.addEventListener('abort', () => events.emit('left'))
      return new Response(new ReadableStream())
    }
    await using server = await listen(echo, { routes })
    const controller = new AbortController()
    const { status } = await fetch(server.url, { signal: controller.signal })
    controller.abort()
    await left
    expect(status).toBe(200)
  })
})

describe('a client that leaves', () => {
  test('is told to the handler', async () => {
    const events = new EventEmitter()
    const asked = once(events, 'asked')
    const left = once(events, 'left')
    await using server = await listen(async (_request, signal) => {
      events.emit('asked')
      await once(signal, 'abort')
      events.emit('left')
      return new Response()
    })
    const sent = get(server.url)
    sent.on('error', () => undefined)
    await asked
    sent.destroy()
    await left
    expect(sent.destroyed).toBe(true)
  })

  test('ends a body that has no end of its own', async () => {
    const events = new EventEmitter()
    const cancelled = once(events, 'cancelled')
    const body = () =>
      new ReadableStream({
        pull(controller) {
          controller.enqueue(new Uint8Array(MIB))
        },
        cancel() {
          events.emit('cancelled')
        },
      })
    await using server = await listen(async () => await Promise.resolve(new Response(body())))
    const controller = new AbortController()
    const { status } = await fetch(server.url, { signal: controller.signal })
    controller.abort()
    await cancelled
    expect(status).toBe(200)
  })
})

test('a body that breaks off arrives as far as it went', async () => {
  const parts = ['one ', 'two ']
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const part = parts.shift()
      if (part === undefined) controller.error(new Error('broken'))
      else controller.enqueue(new TextEncoder().encode(part))
    },
  })
  await using server = await listen(async () => await Promise.resolve(new Response(body)))
  const response = await fetch(server.url)
  let read = ''
  const reading = async () => {
    for await (const chunk of response.body ?? []) read += Buffer.from(chunk).toString()
  }
  await expect(reading()).rejects.toThrow('terminated')
  expect(read).toBe('one two ')
})

import { once } from 'node:events'

import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'

import type { Served } from '../../bound-tokens/serve.ts'
import { type Running, start } from '../flow/processes.ts'
import { describeWithRedis } from './describe-with-redis.ts'
import { API, type Browser, CLIENT, logIn, startProvider } from './logout-provider.ts'
import { type RedisServer, startRedis } from './redis-server.ts'
import { createStream, STREAM } from './scene.ts'

describeWithRedis('a log-out at an OpenID provider', () => {
  let server: RedisServer
  let provider: Served
  const apis: Running[] = []
  const ports: number[] = []

  beforeAll(async () => {
    server = await startRedis()
    await createStream(server)
    provider = await startProvider(async (issuer) => {
      for (let count = 0; count < 2; count++) {
        const env = { REDIS_URL: server.url, STREAM, ISSUER: issuer, AUDIENCE: API, CLIENT }
        const api = await start(new URL('logout-api.ts', import.meta.url), env)
        apis.push(api)
        ports.push(await api.ask<number>('port'))
      }
      return `http://127.0.0.1:${ports[0]}/backchannel-logout`
    })
  })
  afterAll(async () => {
    for (const api of apis) await api[Symbol.asyncDispose]()
    await provider[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
  })

  test('ends the WebSockets of its user in all processes, and those of nobody else', async () => {
    const [ada, eve] = [await logIn(provider.url, 'ada'), await logIn(provider.url, 'eve')]
    const ofAda = await Promise.all(ports.map(async (port) => await connect(port, ada)))
    const ofEve = await Promise.all(ports.map(async (port) => await connect(port, eve)))
    const closed = ofAda.map(async (socket) => {
      const [code] = (await once(socket, 'close')) as [number]
      return code
    })
    await ada.logOut()
    expect(await Promise.all(closed)).toEqual([1008, 1008])
    expect(ofEve.map(({ readyState }) => readyState)).toEqual([WebSocket.OPEN, WebSocket.OPEN])
    for (const port of ports) {
      await expect(connect(port, ada)).rejects.toThrow(/401/)
      ofEve.push(await connect(port, eve))
    }
    for (const socket of ofEve) socket.terminate()
  })
})

async function connect(port: number, { accessToken }: Browser): Promise<WebSocket> {
  const headers = { authorization: `Bearer ${accessToken}` }
  const socket = new WebSocket(`ws://127.0.0.1:${port}`, { headers })
  await once(socket, 'open')
  return socket
}

import { once } from 'node:events'

import { createTestIssuer, tokenService } from '@portcullis/testing'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'

import { AppModule, settings } from './gateway.ts'
import { NestFactory, WsAdapter } from './index.ts'

// A gateway whose sockets are opened with a token: the verifier is the one that `forRootAsync` gets.

const issuer = await createTestIssuer({ issuer: 'https://auth.test', audience: 'api' })
const ada = await issuer.bearer({ claims: { sub: 'ada' } })
const foreign = await issuer.bearer({ claims: { sub: 'eve', aud: 'another api' } })

/** What a client hears that asks at once when its socket is open, and what the socket is closed with, if it is. */
async function asked(headers: Readonly<Record<string, string>>) {
  await using service = await tokenService(issuer).listen()
  settings.authUrl = service.url
  const app = await NestFactory.create(AppModule, { logger: false, abortOnError: false })
  app.useWebSocketAdapter(new WsAdapter(app))
  await app.listen(0, '127.0.0.1')
  const socket = new WebSocket((await app.getUrl()).replace('http', 'ws'), { headers })
  try {
    await once(socket, 'open')
    socket.send(JSON.stringify({ event: 'price' }))
    return await Promise.race([
      once(socket, 'message').then(([data]) => JSON.parse(String(data)) as unknown),
      once(socket, 'close').then(([code]) => `closed with ${code}`),
    ])
  } finally {
    socket.terminate()
    await app.close()
  }
}

test('with a token for the application a message is answered, and its sender is known', async () => {
  expect(await asked(ada)).toEqual({ event: 'price', data: { for: 'ada', price: 42 } })
})

test.each([
  ['no token', {}],
  ['a token for another application', foreign],
  ['a forged token', { authorization: 'Bearer a.b.c' }],
])('with %s the socket is closed, and no message before that is answered', async (_, headers) => {
  expect(await asked(headers)).toBe('closed with 1008')
})

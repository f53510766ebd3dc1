import { once } from 'node:events'
import { createServer } from 'node:http'

import { systemClock } from '@portcullis/kit/time'

import { createTokenClient } from '../src/index.ts'
import { jws } from './login-service.ts'

// Run as a process of its own, which must end by itself: a timer that was left would keep it running for five minutes.

const login = {
  authUrl: 'http://127.0.0.1',
  loginId: 'demo',
  password: 'secret',
  origins: [],
  timeout: 300,
}
const token = jws({ exp: Date.now() / 1000 + 300 })
const refusing = async () => await Promise.resolve(new Response(null, { status: 401 }))
const answering = async () => await Promise.resolve(new Response(token))

const SCENES: Readonly<Record<string, () => Promise<unknown>>> = {
  async 'a login over real HTTP'() {
    const server = createServer((_request, response) => response.end(token)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : 0
    const client = createTokenClient({ ...login, authUrl: `http://127.0.0.1:${port}` })
    const received = await client.get()
    server.close()
    server.closeAllConnections()
    return received
  },
  async 'a login'() {
    return await createTokenClient({ ...login, fetch: answering }).get()
  },
  async 'a renewal in back-off'() {
    let offset = 0
    let isDown = false
    const client = createTokenClient({
      ...login,
      clock: { ...systemClock, now: () => systemClock.now() + offset },
      fetch: async () => {
        if (isDown) throw new Error('down')
        return await answering()
      },
    })
    await client.get()
    offset = 280
    isDown = true
    await client.get()
    while (client.status().isLoggingIn) await new Promise(setImmediate)
    return client.status()
  },
  async 'a hanging login, closed'() {
    const client = createTokenClient({ ...login, fetch: async () => await new Promise(() => {}) })
    const failure = client.get().catch((error: unknown) => error)
    await client.close()
    return await failure
  },
  async 'a login that failed'() {
    const client = createTokenClient({ ...login, fetch: refusing })
    return await client.get().catch((error: unknown) => error)
  },
}

const scene = SCENES[process.argv[2] ?? '']
console.log(JSON.stringify(await scene?.()))

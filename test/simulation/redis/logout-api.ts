import { once } from 'node:events'
import { createServer } from 'node:http'

import {
  authenticateRequest,
  createVerifier,
  discoverKeys,
  getAuth,
  refusalMessage,
  watchToken,
} from '@portcullis/core'
import { receiveLogout } from '@portcullis/events'
import { redisRevocations } from '@portcullis/redis'
import { type WebSocket, WebSocketServer } from 'ws'

import { serve } from '../flow/processes.ts'

// An API with WebSockets, which end when the provider tells of a log-out, to whichever process. REDIS_URL, STREAM, ISSUER, AUDIENCE and
// CLIENT say with what.

const { REDIS_URL = '', STREAM = '', ISSUER = '', AUDIENCE = '', CLIENT = '' } = process.env
const keys = discoverKeys(ISSUER)
const revocations = redisRevocations({ url: REDIS_URL, stream: STREAM, maxStaleness: 5 })
const verifier = createVerifier({ keys, issuer: ISSUER, audience: AUDIENCE, revocations })
await revocations.ready()

const logout = receiveLogout({
  keys,
  issuer: ISSUER,
  clientId: CLIENT,
  revocations,
  revokes: 'subject',
})

const sockets = new WebSocketServer({ noServer: true })
sockets.on('connection', (client: WebSocket, request: object) => {
  const end = watchToken(verifier, getAuth(request), () => {
    client.close(1008)
  })
  client.on('close', end)
})

const server = createServer((request, response) => {
  if (request.url === '/backchannel-logout') void logout(request, response)
  else response.writeHead(404).end()
})
server.on('upgrade', (request, socket, head) => {
  authenticateRequest(verifier, request).then(
    () => {
      sockets.handleUpgrade(request, socket, head, (client) => {
        sockets.emit('connection', client, request)
      })
    },
    (error: unknown) => socket.end(refusalMessage(error)),
  )
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const address = server.address()
serve({ port: () => (typeof address === 'object' ? address?.port : undefined) })

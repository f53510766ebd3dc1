import { createServer, type Server } from 'node:http'

import {
  authenticateRequest,
  type Clock,
  createVerifier,
  expiry,
  getAuth,
  localRevocations,
  refusalMessage,
  remoteKeys,
  type Verifier,
  watchToken,
} from '@portcullis/core'
import { type WebSocket, WebSocketServer } from 'ws'

const { AUTH_URL = 'http://127.0.0.1:4010', PORT = '3000' } = process.env

// The token is in the `Authorization` header of the upgrade. It is never read from the URL or `Sec-WebSocket-Protocol`, which
// end up in logs. Where browsers connect, with cookies, check the `Origin` header before the token.
export function createApi(verifier: Verifier, clock?: Clock): Server {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: 65_536 })

  sockets.on('connection', (client, request) => {
    const auth = getAuth(request)
    client.on(
      'close',
      watchToken(verifier, auth, () => client.close(1008), { clock }),
    )
    client.on('error', () => client.terminate()) // a frame that breaks the protocol
    client.send(JSON.stringify({ expires: expiry(auth) })) // by then it should log in and connect again
    client.on('message', () => {
      if (client.readyState !== client.OPEN) return // it may go on sending after our close frame
      for (const each of sockets.clients) each.send(`Hello from ${String(auth.claims.sub)}`)
    })
  })

  const server = createServer((_request, response) => response.writeHead(426).end())
  return server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy()) // the client may go away before the verdict
    const open = (client: WebSocket) => sockets.emit('connection', client, request)
    const refuse = (error: unknown) => socket.end(refusalMessage(error), () => socket.destroy())
    authenticateRequest(verifier, request)
      .then(() => sockets.handleUpgrade(request, socket, head, open), refuse)
      .catch((fault: unknown) => {
        console.error(fault)
        socket.destroy()
      })
  })
}

const keys = remoteKeys(`${AUTH_URL}/tokenservice/pubkey.json`)
// Closes every socket of what is revoked, at once: `await revocations.revokeBefore({ iss, sub })`, with the `iss` of the tokens.
export const revocations = localRevocations()
// The tokens of this service have neither `iss` nor `aud`
const verifier = createVerifier({ keys, issuer: null, audience: null, revocations })
export const server = createApi(verifier).listen(Number(PORT), '127.0.0.1')

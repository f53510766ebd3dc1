import type { ServerResponse } from 'node:http'

import {
  type Clock,
  createVerifier,
  expiry,
  localRevocations,
  remoteKeys,
  type RevocationWriter,
  scope,
  type Verifier,
  watchToken,
} from '@portcullis/core'
import { authenticate, authorize, getAuth } from '@portcullis/express'
import express, { type Express } from 'express'

const { AUTH_URL = 'http://127.0.0.1:4010', PORT = '3000' } = process.env

// A browser's `EventSource` cannot send a token: use `fetch` there. When the stream ends, log in and call again.
export function createApi(
  verifier: Verifier,
  revocations: RevocationWriter,
  clock?: Clock,
): Express {
  const listeners = new Set<ServerResponse>()
  const app = express().use(authenticate(verifier, { respond: 'problem' }))

  app.get('/events', (request, response) => {
    if (response.destroyed) return // the client went away before the verdict
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' })
    const auth = getAuth(request)
    response.write(`event: expires\ndata: ${expiry(auth)}\n\n`) // seconds since 1970
    listeners.add(response)
    const leave = () => {
      stop()
      listeners.delete(response) // nothing may be written after the end
      response.end()
    }
    const stop = watchToken(verifier, auth, leave, { clock })
    response.on('close', leave)
  })

  app.post('/events', authorize(scope('events:write')), (request, response) => {
    const event = `data: ${JSON.stringify({ from: getAuth(request).claims.sub })}\n\n`
    // Events for a client that does not read them would fill the memory.
    for (const listener of listeners) if (!listener.write(event)) listener.destroy()
    response.status(204).end()
  })

  app.post('/logout', async (request, response) => {
    await revocations.revoke(getAuth(request)) // ends the streams of this token
    response.status(204).end()
  })
  return app
}

const keys = remoteKeys(`${AUTH_URL}/tokenservice/pubkey.json`)
const revocations = localRevocations()
// The tokens of this service have neither `iss` nor `aud`
const verifier = createVerifier({ keys, issuer: null, audience: null, revocations })
export const server = createApi(verifier, revocations).listen(Number(PORT), '127.0.0.1')

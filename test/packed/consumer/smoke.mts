import { createServer } from 'node:http'

import { type Auth, AuthError, createVerifier, remoteKeys, type Verifier } from '@portcullis/core'
import { authenticate, getAuth } from '@portcullis/express'
import { manualClock } from '@portcullis/testing'

const verifier: Verifier = createVerifier({
  keys: remoteKeys('https://auth.test/tokenservice/pubkey.json', { clock: manualClock() }),
  issuer: null,
  audience: null,
})

createServer((request, response) => {
  authenticate(verifier)(request, response, (error) => {
    if (error instanceof AuthError) response.writeHead(error.status, error.headers).end()
    else response.end(String(getAuth(request).claims.exp))
  })
})

export const verify: (token: string) => Promise<Auth> = verifier.verify

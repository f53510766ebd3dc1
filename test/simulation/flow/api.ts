import { once } from 'node:events'

import { createVerifier, remoteKeys } from '@portcullis/core'
import { authenticate, getAuth } from '@portcullis/express'
import express from 'express'

import { serve } from './processes.ts'

const verifier = createVerifier({
  keys: remoteKeys(`${process.env['AUTH_URL']}/tokenservice/pubkey.json`),
  issuer: null,
  audience: null,
  clockTolerance: 0,
})
const app = express().set('env', 'test')
app.post('/v1/clientLocations', authenticate(verifier), express.json(), (request, response) => {
  const { header, claims } = getAuth(request)
  const location: unknown = request.body
  response.json({ kid: header['kid'], expiry: claims.exp, location })
})

const server = app.listen(0, '127.0.0.1')
await once(server, 'listening')
const address = server.address()
const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
serve({ url: () => url })

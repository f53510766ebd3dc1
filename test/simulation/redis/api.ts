import { once } from 'node:events'

import { createVerifier, dpopProofs, localKeys } from '@portcullis/core'
import { authenticate, getAuth } from '@portcullis/express'
import { redisReplays, redisRevocations } from '@portcullis/redis'
import express from 'express'

import { serve } from '../flow/processes.ts'

// A guarded API whose log-out revokes the token that it was called with, and which takes each DPoP proof once. REDIS_URL, STREAM and
// KEY say with what.

const { REDIS_URL = '', STREAM = '', KEY = '' } = process.env
const revocations = redisRevocations({ url: REDIS_URL, stream: STREAM, maxStaleness: 5 })
const verifier = createVerifier({
  keys: localKeys(JSON.parse(KEY) as object),
  issuer: null,
  audience: null,
  algorithms: ['ES256'],
  revocations,
})
const replays = redisReplays({ url: REDIS_URL, timeout: 10 })
await Promise.all([verifier.ready(), replays.ready()])

const app = express().set('env', 'test')
app.use(authenticate(verifier, { dpop: dpopProofs({ origin: 'https://api.test', replays }) }))
app.get('/', (_request, response) => {
  response.json({})
})
app.post('/logout', async (request, response) => {
  await revocations.revoke(getAuth(request))
  response.json({})
})

const server = app.listen(0, '127.0.0.1')
await once(server, 'listening')
const address = server.address()
const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
serve({ url: () => url })

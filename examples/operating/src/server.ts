import cluster from 'node:cluster'
import { once } from 'node:events'

import { createVerifier, remoteKeys } from '@portcullis/core'
import { authenticate, getAuth } from '@portcullis/express'
import { createHealth, statusOf } from '@portcullis/metrics'
import { collectMetrics } from '@portcullis/metrics/prometheus'
import { redisRevocations } from '@portcullis/redis'
import express from 'express'
import { AggregatorRegistry, register } from 'prom-client'

import { endGracefully } from './end-gracefully.ts'
import { savedKeys } from './saved-keys.ts'

const { AUTH_URL = 'http://127.0.0.1:4010', HOST = '127.0.0.1', PORT = '3000' } = process.env
// Without these two it starts with no saved keys, and nothing can be revoked.
const { KEYS_FILE, REDIS_URL } = process.env
/** What `portcullis-revocations create` has printed: with it an emptied Redis is noticed from the start. */
const identity = process.env['REVOCATIONS_IDENTITY']
/** How long requests may take that came before the end. Seconds. */
const GRACE = Number(process.env['GRACE_SECONDS'] ?? 40)

const snapshot = KEYS_FILE === undefined ? undefined : savedKeys(KEYS_FILE)
const keys = remoteKeys(`${AUTH_URL}/tokenservice/pubkey.json`, { snapshot })
const revocations =
  REDIS_URL === undefined ? undefined : redisRevocations({ url: REDIS_URL, identity })
// The tokens of this service have neither `iss` nor `aud`
const verifier = createVerifier({ keys, issuer: null, audience: null, revocations })
// #region health
const health = createHealth(verifier)
// #endregion
const sources = {
  keys: { main: keys },
  verifiers: { main: verifier },
  revocations: revocations === undefined ? {} : { main: revocations },
}
collectMetrics(register, sources)
// In a worker of cluster.ts it answers the primary; otherwise it does nothing.
void new AggregatorRegistry()

export const app = express()
app.get('/livez', (_request, response) => {
  response.sendStatus(health.live())
})
app.get('/readyz', async (_request, response) => {
  response.sendStatus(await health.ready())
})
// These two are for the inside: let no proxy show them to strangers.
app.get('/metrics', async (_request, response) => {
  response.type(register.contentType).send(await register.metrics())
})
app.get('/status', (_request, response) => {
  response.json(statusOf(sources))
})
app.post('/v1/clientLocations', authenticate(verifier), express.json(), (request, response) => {
  response.json({ savedBy: getAuth(request).claims.sub, process: process.pid })
})

export const server = app.listen(Number(PORT), HOST)
await once(server, 'listening')
const address = server.address()
if (!cluster.isWorker && typeof address === 'object') {
  console.log(`http://${HOST}:${address?.port}`)
}

// Before this, give a load balancer the time to learn that no new requests should come here: `preStop` in Kubernetes.
process.once('SIGTERM', () => {
  health.drain()
  void endGracefully(server, GRACE).then(async (cut) => {
    if (cut > 0) console.warn(`${cut} connections were cut off after ${GRACE} s`)
    await revocations?.close()
    process.exit()
  })
})

import { createVerifier, remoteKeys } from '@portcullis/core'
import { authenticate, getAuth } from '@portcullis/express'
import { createHealth, statusOf } from '@portcullis/metrics'
import { collectMetrics } from '@portcullis/metrics/prometheus'
import express from 'express'
import { AggregatorRegistry, register } from 'prom-client'

const { AUTH_URL = 'http://127.0.0.1:4010', PORT = '3000' } = process.env

const keys = remoteKeys(`${AUTH_URL}/tokenservice/pubkey.json`)
// The tokens of this service have neither `iss` nor `aud`
const verifier = createVerifier({ keys, issuer: null, audience: null })
const health = createHealth(verifier)
const sources = { keys: { main: keys }, verifiers: { main: verifier } }
collectMetrics(register, sources)
// In a worker of cluster.ts it answers the primary; otherwise it does nothing.
void new AggregatorRegistry()

const app = express()
app.get('/livez', (_request, response) => {
  response.sendStatus(health.live())
})
app.get('/readyz', (_request, response) => {
  response.sendStatus(health.ready())
})
// These two are for the inside: let no proxy show them to strangers.
app.get('/metrics', async (_request, response) => {
  response.type(register.contentType).send(await register.metrics())
})
app.get('/status', (_request, response) => {
  response.json(statusOf(sources))
})
app.post('/v1/clientLocations', authenticate(verifier), (request, response) => {
  response.json({ savedBy: getAuth(request).claims.sub, process: process.pid })
})

const server = app.listen(Number(PORT), '127.0.0.1')

process.once('SIGTERM', () => {
  health.drain()
  // What has come is answered. Give a load balancer time before this, if it looks at /readyz alone.
  server.close(() => {
    process.exit()
  })
})

import { createVerifier } from '@portcullis/core'
import { authenticate, getAuth } from '@portcullis/express'
import { collectMetrics } from '@portcullis/metrics/prometheus'
import { redisRevocations } from '@portcullis/redis'
import express from 'express'
import { AggregatorRegistry, register } from 'prom-client'

import { fastClock, fastKeys } from './fast-clock.ts'

// One of two workers behind one port, whose metrics the primary gathers.

const { KEY_URL = '', REDIS_URL = '', START = '' } = process.env
const clock = fastClock(Number(START))
const keys = fastKeys(KEY_URL, clock)
// Redis itself waits in real time, so its replica does as well.
const revocations = redisRevocations({ url: REDIS_URL, maxStaleness: 2 })
const verifier = createVerifier({ keys, issuer: null, audience: null, clock, revocations })
collectMetrics(register, { keys: { main: keys }, revocations: { redis: revocations } })
// In a worker it answers the primary.
AggregatorRegistry.setRegistries(register)
void new AggregatorRegistry()

const app = express()
app.get('/', authenticate(verifier), (request, response) => {
  response.json(getAuth(request).claims)
})
await verifier.ready()
app.listen(0, '127.0.0.1')

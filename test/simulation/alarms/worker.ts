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
const revocations = redisRevocations({ url: REDIS_URL, maxStaleness: 4 })
const verifier = createVerifier({ keys, issuer: null, audience: null, clock, revocations })
collectMetrics(register, { keys: { main: keys }, revocations: { redis: revocations } })
// In a worker it answers the primary.
AggregatorRegistry.setRegistries(register)
void new AggregatorRegistry()

const nextTry = async () => await new Promise((resolve) => void setTimeout(resolve, 50))

const app = express()
app.get('/', authenticate(verifier), (request, response) => {
  response.json(getAuth(request).claims)
})
// On a busy machine an attempt can take longer than the clock allows.
while (keys.status().freshness === 'empty' || revocations.status().state !== 'current') {
  await verifier.ready().catch(async () => await nextTry())
}
app.listen(0, '127.0.0.1')

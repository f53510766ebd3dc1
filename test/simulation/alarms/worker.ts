import { createTokenClient } from '@portcullis/client'
import { createVerifier, dpopProofs, localKeys } from '@portcullis/core'
import { receiveLogout } from '@portcullis/events'
import { authenticate, getAuth } from '@portcullis/express'
import { introspected } from '@portcullis/introspection'
import { collectMetrics } from '@portcullis/metrics/prometheus'
import { redisReplays, redisRevocations } from '@portcullis/redis'
import express, { type RequestHandler } from 'express'
import { AggregatorRegistry, register } from 'prom-client'

import { fastClock, fastKeys, SPEED } from './fast-clock.ts'
import { CLIENT, DIRECT, LOGIN, ORIGIN, type Settings } from './settings.ts'

// One of two workers behind one port, whose metrics the primary gathers. It has one of everything that alarms are about.

const settings = JSON.parse(process.env['SETTINGS'] ?? '{}') as Settings // made by story.ts
const clock = fastClock(settings.start)
const fast = { clock, timeout: SPEED }
const keys = fastKeys(settings.keyUrl, clock)
const partner = fastKeys(settings.partnerUrl, clock)
// Redis itself waits in real time, so its replica does as well, and what is verified beside it.
const revocations = redisRevocations({ url: settings.redisUrl, maxStaleness: 4 })
const replays = redisReplays({ url: settings.redisUrl })
const direct = localKeys(settings.directKey)

const rules = { issuer: null, audience: null }
const verifier = createVerifier({ keys, ...rules, clock, revocations })
const ofPartner = createVerifier({ keys: partner, ...rules, clock })
const opaque = introspected({ ...settings.introspection, ...fast })
const bound = createVerifier({ keys: direct, ...rules })
const client = createTokenClient({
  authUrl: settings.authUrl,
  ...LOGIN,
  origins: [ORIGIN],
  ...fast,
})
const logouts = receiveLogout({
  keys: direct,
  issuer: DIRECT,
  clientId: CLIENT,
  revokes: 'session',
  revocations,
})
collectMetrics(register, {
  keys: { main: keys, partner },
  revocations: { redis: revocations },
  replays: { proofs: replays },
  clients: { orders: client },
  receivers: { logouts },
  verifiers: { main: verifier, partner: ofPartner, opaque, bound },
})
// In a worker it answers the primary.
AggregatorRegistry.setRegistries(register)
void new AggregatorRegistry()

const answer: RequestHandler = (request, response) => {
  response.json(getAuth(request).claims)
}
const app = express()
app.get('/', authenticate(verifier), answer)
app.get('/partner', authenticate(ofPartner), answer)
app.get('/opaque', authenticate(opaque), answer)
app.get('/bound', authenticate(bound, { dpop: dpopProofs({ origin: ORIGIN, replays }) }), answer)
app.get('/onwards', async (_request, response) => {
  await client.get()
  response.end()
})
app.post('/logout', (request, response) => void logouts(request, response))

const nextTry = async () => await new Promise((resolve) => void setTimeout(resolve, 50))
// On a busy machine an attempt can take longer than the clock allows.
while (keys.status().freshness === 'empty' || revocations.status().state !== 'current') {
  await verifier.ready().catch(async () => await nextTry())
}
app.listen(0, '127.0.0.1')

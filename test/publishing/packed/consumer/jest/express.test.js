import { once } from 'node:events'

import { createVerifier } from '@portcullis/core'
import { authenticate } from '@portcullis/express'
import { createTestIssuer, manualClock } from '@portcullis/testing'
import express from 'express'

const issuer = await createTestIssuer({ clock: manualClock() })
const app = express().set('env', 'test')
app.use(authenticate(createVerifier(issuer.verifierOptions)))
app.get('/', (request, response) => response.json(request.auth.claims.sub))

test('lets a token in, and nobody without one', async () => {
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${server.address().port}/`
  const accepted = await fetch(url, { headers: await issuer.bearer({ claims: { sub: 'ada' } }) })
  expect(await accepted.json()).toBe('ada')
  const refused = await fetch(url)
  expect(refused.status).toBe(401)
  await refused.body.cancel()
  server.close()
  server.closeAllConnections()
})

import assert from 'node:assert/strict'
import { once } from 'node:events'

import { createVerifier, remoteKeys, scope } from '@portcullis/core'
import { authenticate, authorize, getAuth } from '@portcullis/express'
import { createTestIssuer, tokenService } from '@portcullis/testing'
import express from 'express'

const issuer = await createTestIssuer()
const service = await tokenService(issuer).listen()
const keys = remoteKeys(service.keyUrl)
const verifier = createVerifier({ keys, issuer: null, audience: null })

const app = express()
app.set('env', 'test')
app.get('/', authenticate(verifier), authorize(scope('read')), (request, response) => {
  response.json(getAuth(request).claims.sub)
})
const server = app.listen(0, '127.0.0.1')
await once(server, 'listening')
const url = `http://127.0.0.1:${server.address().port}/`

const claims = { sub: 'ada', scope: 'read' }
const accepted = await fetch(url, { headers: await issuer.bearer({ claims }) })
assert.equal(accepted.status, 200)
assert.equal(await accepted.json(), 'ada')
const refused = await fetch(url)
assert.equal(refused.status, 401)
assert.equal(refused.headers.get('www-authenticate'), 'Bearer realm="api"')
await refused.body.cancel()

server.close()
server.closeAllConnections()
await service.close()

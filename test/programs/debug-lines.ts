import { createTokenClient } from '@portcullis/client'
import { localRevocations, remoteKeys } from '@portcullis/core'
import { receiveLogout } from '@portcullis/events'
import { introspected } from '@portcullis/introspection'
import {
  createTestIssuer,
  eventTransmitter,
  introspectionService,
  tokenService,
} from '@portcullis/testing'

// A program, since NODE_DEBUG is read at start-up: everything once that works, and once that fails. No line may contain a canary.

const issuer = await createTestIssuer({ issuer: 'https://canary.test' })
const logins = { canary: { password: 'canary' } }
const service = tokenService(issuer, { logins })
const opaque = introspectionService(issuer)
const keys = remoteKeys(service.keyUrl, { fetch: service.fetch })
await keys.refresh()

const client = (password: string) =>
  createTokenClient({
    authUrl: service.authUrl,
    loginId: 'canary',
    password,
    origins: ['https://canary.test'],
    fetch: service.fetch,
  })
await client('canary').get()
await client('canary wrong')
  .get()
  .catch(() => {})

const verifier = introspected(opaque.verifierOptions)
await verifier.verify(opaque.issue({ claims: { sub: 'canary' } }))
issuer.outage(503, { endpoint: 'introspection' })
await verifier.verify('canary').catch(() => {})

const receive = receiveLogout({
  keys,
  issuer: 'https://canary.test',
  clientId: 'canary',
  revokes: 'session',
  revocations: localRevocations(),
})
const transmitter = eventTransmitter(issuer, { audience: 'canary' })
for (const token of [await transmitter.logoutToken({ sid: 'canary' }), 'canary']) {
  const body = new URLSearchParams({ logout_token: token })
  await receive.fetch(new Request('https://canary.test/logout', { method: 'POST', body }))
}

import { createTokenClient } from '@portcullis/client'
import { createOAuthClient } from '@portcullis/client/oauth'
import { discoverKeys, localRevocations, remoteKeys } from '@portcullis/core'
import { pollEvents } from '@portcullis/events'
import { introspected } from '@portcullis/introspection'
import {
  createTestIssuer,
  eventTransmitter,
  introspectionService,
  tokenService,
} from '@portcullis/testing'

// Whatever takes a `fetch`, with that of the platform, one of the user's and those of our own services. The types of a browser have
// another `Response` than those of Node. It is compiled alone: nothing answers.

const issuer = await createTestIssuer({ issuer: 'https://login.example.com' })
const service = tokenService(issuer)
const own = { clientId: 'shop', clientSecret: 'secret' }
const asked = { issuer: 'https://login.example.com', audience: null, ...own }

export const keys = [
  remoteKeys(service.keyUrl, { fetch }),
  remoteKeys(service.keyUrl, { fetch: service.fetch }),
  discoverKeys(asked.issuer, { fetch: async (url, init) => await globalThis.fetch(url, init) }),
] as const
export const verifiers = [
  introspected({ ...asked, fetch }),
  introspected({ ...asked, fetch: async (url, init) => await globalThis.fetch(url, init) }),
  introspected(introspectionService(issuer).verifierOptions),
]
const login = { authUrl: asked.issuer, loginId: 'demo', password: 'secret', origins: [] }
const tokens = createTokenClient({ ...login, fetch })
export const clients = [
  tokens,
  createTokenClient({ ...login, fetch: async (url, init) => await globalThis.fetch(url, init) }),
  createOAuthClient({ issuer: asked.issuer, ...own, origins: [], fetch }),
]
const polled = {
  endpoint: 'https://login.example.com/poll',
  keys: keys[0],
  issuer: asked.issuer,
  audience: 'shop',
  revocations: localRevocations(),
  revokes: 'subject',
} as const
export const polls = [
  pollEvents({ ...polled, fetch: tokens.fetch }),
  pollEvents({ ...polled, fetch: eventTransmitter(issuer, { audience: 'shop' }).pollFetch }),
]

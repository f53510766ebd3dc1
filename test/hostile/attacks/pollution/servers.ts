import {
  all,
  any,
  byIssuer,
  check,
  claim,
  type Clock,
  createVerifier,
  type DpopProofs,
  dpopProofs,
  type FetchResponse,
  type KeySource,
  localKeys,
  localRevocations,
  type LocalRevocations,
  mutualTls,
  remoteKeys,
  type Requirement,
  type Revocations,
  scope,
  type Verifier,
} from '@portcullis/core'
import { byForm, introspected } from '@portcullis/introspection'
import type { JWK } from 'jose'

import type {
  AppSpec,
  Guard,
  ScopeSpec,
} from '../../../frameworks/contract/frameworks/framework.ts'
import { HEADER, ISSUER, type Listening, OPAQUE, ORIGIN, PROOF_TIME } from './calls.ts'
import { serveOthers } from './others.ts'
import { TRIED } from './tried.ts'
import { VALUES } from './values.ts'

// A program: it serves all adapters, and puts on `Object.prototype` what its parent tells it.

const routes = [{ path: '/', handle: () => 'in' }]

const behind = (guard: Guard, ...requirements: Requirement[]): ScopeSpec => ({
  guards: [guard],
  routes,
  ...(requirements.length === 0 ? {} : { requirements }),
})

/** Guarded scopes beside each other, by their prefix. */
function scopesFor(good: JWK, other: JWK): AppSpec {
  const verifier = verifierOf(localKeys(good))
  const remembering = createVerifier({
    keys: localKeys(good),
    issuer: null,
    audience: null,
    clock: realTime(),
  })
  const optional = { verifier, options: { optional: true } }
  const nobody = check(({ claims }) => claims.sub === 'nobody')
  return {
    silent: true,
    routers: {
      '/read': behind({ verifier }),
      '/other': behind({ verifier: verifierOf(localKeys(other)) }),
      '/remote': behind({ verifier: verifierOf(keysOf(good)) }),
      '/tenants': behind({ verifier: tenantsOf(good) }),
      '/opaque': behind({ verifier: byForm({ jwt: verifier, opaque: opaqueOf({ iss: ISSUER }) }) }),
      '/opaque-of-nobody': behind({ verifier: opaqueOf({}) }),
      '/opaque-wrong': behind({ verifier: opaqueOf({ active: 'true', iss: ISSUER }) }),
      '/not-revoked': behind({ verifier: askingOf(good, revocationsOf('bob')) }),
      // These remember the token, and ask about it at each use.
      '/revoked': behind({ verifier: askingOf(good, revocationsOf('ada')) }),
      '/revoked-later': behind({ verifier: askingOf(good, slowly(revocationsOf('ada'))) }),
      '/revoked-of-tenant': behind({
        verifier: byIssuer({ [ISSUER]: askingOf(good, revocationsOf('ada')) }),
      }),
      '/undecided': behind({ verifier: askingOf(good, { statusOf: () => 'unknown' }) }),
      '/bound': behind({ verifier: remembering, options: { dpop: proofs(false) } }),
      '/bound-alone': behind({ verifier: remembering, options: { dpop: proofs(true) } }),
      '/stated': behind({ verifier, options: { credentials: { header: HEADER } } }),
      '/certified': behind({
        verifier: remembering,
        options: { mutualTls: mutualTls({ required: true }) },
      }),
      '/optional': behind(optional),
      '/optional-scope': behind(optional, scope('read')),
      '/scope': behind({ verifier }, scope('write')),
      '/any': behind({ verifier }, any(scope('write'), claim('role', 'admin'))),
      '/all': behind({ verifier }, all(scope('read'), scope('write'))),
      '/claim': behind({ verifier }, claim(['realm', 'role'], 'admin')),
      '/check': behind({ verifier }, nobody),
    },
  }
}

/** One proof for all rounds. */
function proofs(required: boolean): DpopProofs {
  return dpopProofs({
    origin: ORIGIN,
    required,
    clock: { ...clock, now: () => PROOF_TIME },
    replays: { remember: () => 'new' },
  })
}

/** Each round the function is called anew, since time has gone on. */
function tenantsOf(good: JWK): Verifier {
  const member = verifierOf(localKeys(good), ISSUER)
  const tenants = byIssuer(async (issuer) => (issuer === ISSUER ? member : undefined), { clock })
  return byIssuer({ [ISSUER]: tenants })
}

function verifierOf(keys: KeySource, issuer: string | null = null): Verifier {
  return createVerifier({ keys, issuer, audience: null, remember: false, clock: realTime() })
}

function askingOf(good: JWK, revocations: Revocations): Verifier {
  const keys = localKeys(good)
  return createVerifier({ keys, issuer: ISSUER, audience: null, revocations, clock: realTime() })
}

/** Those of one subject, and others beside it. */
function revocationsOf(sub: string): LocalRevocations {
  const revocations = localRevocations()
  const time = Date.now() / 1000 + 86_400
  revocations.load([
    { type: 'issued_before', iss: ISSUER, sub, time, until: 2 * time },
    { type: 'issued_before', iss: ISSUER, sid: 'other', time },
    { type: 'token', iss: ISSUER, jti: 'other', exp: time },
  ])
  return revocations
}

function slowly(revocations: LocalRevocations): Revocations {
  return { statusOf: async (...given) => await Promise.resolve(revocations.statusOf(...given)) }
}

/** The times of the tokens are real ones. */
function realTime(): Clock {
  return { ...clock, now: () => Date.now() / 1000 }
}

/** The clock of the keys: each round is so much later that the document is fetched anew. */
let now = 1_000_000
const clock: Clock = {
  now: () => now,
  monotonic: () => now,
  after(seconds, run) {
    const timer = setTimeout(run, seconds * 1000)
    return () => {
      clearTimeout(timer)
    }
  },
}

/** Keys behind a URL, without a network. */
function keysOf(jwk: JWK): KeySource {
  return remoteKeys('https://keys.test/pubkey.json', {
    clock,
    fetch: async () => await answered(JSON.stringify(jwk)),
  })
}

/** Asks an issuer that knows one token, without a network. Each round every answer is too old. */
function opaqueOf(claims: object): Verifier {
  const active = JSON.stringify({ active: true, token_type: 'Bearer', ...claims })
  return introspected({
    issuer: ISSUER,
    audience: null,
    endpoint: `${ISSUER}/introspect`,
    clientId: 'api',
    clientSecret: 'secret',
    clock,
    fetch: async (_, { body }) =>
      await answered(body?.get('token') === OPAQUE ? active : '{"active":false}'),
  })
}

async function answered(json: string): Promise<FetchResponse> {
  return await Promise.resolve({
    status: 200,
    redirected: false,
    url: '',
    headers: { get: (name) => (name === 'content-type' ? 'application/json' : null) },
    body: (async function* () {
      yield await Promise.resolve(Buffer.from(json))
    })(),
  })
}

async function start({ good, other, tellers }: Keys): Promise<readonly Listening[]> {
  const guards = [{ verifier: verifierOf(localKeys(good)) }]
  const apps = { scopes: scopesFor(good, other), whole: { silent: true, guards, routes } }
  const servers: Listening[] = [await serveOthers(good, tellers)]
  for (const { name: framework, createApp, failsUnder = [] } of TRIED) {
    for (const app of ['scopes', 'whole'] as const) {
      const { port } = await createApp(apps[app])
      servers.push({ framework, fails: failsUnder, app, port })
    }
  }
  return servers
}

interface Keys {
  readonly good: JWK
  readonly other: JWK
  readonly tellers: JWK
}

type Message = Keys | { readonly names: readonly string[]; readonly value: string }

let polluted: readonly string[] = []

process.on('message', (message: Message) => {
  for (const name of polluted) Reflect.deleteProperty(Object.prototype, name)
  polluted = []
  now += 100_000
  if (!('names' in message)) {
    void start(message).then((servers) => process.send?.(servers))
    return
  }
  const { names, value } = message
  const descriptors = names.map(() => descriptorOf(VALUES[value]?.()))
  // Before the pollution, since sending a message may not survive it.
  process.send?.('polluted')
  polluted = names
  names.forEach((name, at) => {
    // oxlint-disable-next-line eslint/no-extend-native -- that is what this process is for
    Object.defineProperty(Object.prototype, name, descriptors[at] ?? {})
  })
})

/** It inherits nothing that is polluted. */
function descriptorOf(value: unknown): PropertyDescriptor {
  return Object.assign(Object.create(null) as object, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  })
}

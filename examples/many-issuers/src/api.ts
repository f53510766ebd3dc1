import {
  byIssuer,
  type ByIssuerOptions,
  createVerifier,
  remoteKeys,
  scope,
  type Verifier,
} from '@portcullis/core'
import { authenticate, authorize, getAuth } from '@portcullis/express'
import express from 'express'

// One API for many tenants, each with an identity provider of its own. Tenants come and go while it runs.

/** A row of your table. */
export interface Tenant {
  readonly issuer: string
  readonly keyUrl: string
}

/** @param findTenant Looks an issuer up in your table. Anybody can make it look for anything. */
export function createApi(
  findTenant: (issuer: string) => Promise<Tenant | undefined>,
  options: ByIssuerOptions = {},
) {
  const verifiers = new WeakMap<Tenant, Verifier>()
  /** By issuer, then by subject: two issuers may have given the same `sub` to two people. */
  const notes = new Map<string, Map<string, string[]>>()

  function verifierOf(tenant: Tenant): Verifier {
    const { issuer, keyUrl } = tenant
    // The same verifier while the row is the same: it has the keys, and remembers tokens.
    const verifier =
      verifiers.get(tenant) ??
      createVerifier({
        keys: remoteKeys(keyUrl),
        issuer,
        audience: 'https://api.example.com',
        requiredClaims: ['sub'], // tokens without one would all be the same person
      })
    verifiers.set(tenant, verifier)
    return verifier
  }

  function notesOf({ iss, sub }: { readonly iss?: unknown; readonly sub?: unknown }): string[] {
    const ofTenant = notes.get(String(iss)) ?? new Map<string, string[]>()
    const ofSubject = ofTenant.get(String(sub)) ?? []
    notes.set(String(iss), ofTenant.set(String(sub), ofSubject))
    return ofSubject
  }

  const verifier = byIssuer(async (issuer) => {
    const tenant = await findTenant(issuer)
    return tenant && verifierOf(tenant)
  }, options)

  const app = express()
  app.use(authenticate(verifier, { respond: 'problem' }))
  app.get('/notes', authorize(scope('notes')), (request, response) => {
    response.json(notesOf(getAuth(request, verifier).claims))
  })
  app.post('/notes', authorize(scope('notes')), express.text(), (request, response) => {
    notesOf(getAuth(request, verifier).claims).push(String(request.body))
    response.sendStatus(204)
  })
  return app
}

import { createVerifier, remoteKeys } from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import * as providers from '../src/index.ts'
import { cases } from './cases.ts'

const API = 'https://api.example.com'
const TENANT = '11111111-2222-3333-4444-555555555555'

/** As callers without types write it. */
function call(name: string, options: unknown): unknown {
  const provider: unknown = Reflect.get(providers, name)
  if (typeof provider !== 'function') throw new Error(`there is no provider ${name}`)
  return Reflect.apply(provider, undefined, [options])
}

const names = Object.keys(providers).toSorted()

test('each provider is in the table of tokens', () => {
  const pages = names.map((name) =>
    name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
  )
  expect([...new Set(cases.map(({ page }) => page))].toSorted()).toEqual(pages.toSorted())
})

describe.each(names.filter((name) => name !== 'tokenServiceAt'))('%s', (name) => {
  test('an unknown option is an error that names those that there are', () => {
    expect(() => call(name, { audiance: API })).toThrow(
      new RegExp(`^${name}: unknown option "audiance", known are .*requiredClaims, keys$`),
    )
  })

  test('what is no object, and an object without options, are errors of this function', () => {
    for (const options of [undefined, null, [], 'text', {}]) {
      expect(() => call(name, options)).toThrow(new RegExp(`^${name}: `))
    }
  })
})

test('keys of the caller take the place of those of the provider, which are not asked for', async () => {
  const issuer = await createTestIssuer({
    algorithm: 'RS256',
    issuer: 'https://tenant.eu.auth0.com/',
    audience: API,
  })
  const keys = remoteKeys('https://inside.test/keys', {
    fetch: async () => await Promise.resolve(Response.json({ keys: [issuer.publicJwk] })),
  })
  const options = providers.auth0(
    { domain: 'tenant.eu.auth0.com', audience: API, keys },
    { fetch: () => expect.unreachable() },
  )
  expect(options.keys).toBe(keys)
  await createVerifier(options).verify(await issuer.token({ claims: { sub: 'ada' } }))
})

test.each<[string, object, string]>([
  ['auth0', { domain: 'tenant.eu.auth0.com', audience: API, keys: {} }, 'keys must be what'],
  [
    'keycloak',
    { realm: 'https://kc.example.com/realms/a', internalRealm: 'kc', audience: API },
    'internalRealm must be a URL',
  ],
  [
    'keycloak',
    {
      realm: 'https://kc.example.com/realms/a',
      internalRealm: 'http://kc:80/realms/a',
      audience: API,
    },
    'https',
  ],
  [
    'githubActions',
    { issuer: 'github.example.com', audience: API, repositories: ['a/b'] },
    'issuer must be a URL',
  ],
  ['auth0', { domain: 'https://tenant.eu.auth0.com', audience: API }, 'without "https://"'],
  ['auth0', { domain: 'tenant.eu.auth0.com/', audience: API }, 'without a path'],
  ['auth0', { domain: 'Tenant.eu.auth0.com', audience: API }, 'in lower case'],
  ['auth0', { domain: 'tenant.eu.auth0.com', audience: null }, 'audience must be a string'],
  ['auth0', { domain: 'tenant.eu.auth0.com', audience: [] }, 'audience must be a string'],
  ['okta', { domain: 'example.okta.com', audience: API }, 'org authorization server'],
  ['okta', { domain: 'example.okta.com', server: '', audience: API }, 'org authorization server'],
  [
    'okta',
    { domain: 'example.okta.com', server: 'a/b', audience: API },
    'org authorization server',
  ],
  ['entra', { tenant: 'common', audience: API }, 'not common or organizations'],
  ['entra', { tenant: 'example.onmicrosoft.com', audience: API }, 'no domain'],
  ['entra', { tenant: TENANT, audience: API, version: 2 }, '1.0 or 2.0, as a string'],
  ['entra', { audience: API }, 'either tenant or tenants'],
  ['entra', { tenant: TENANT, tenants: [TENANT], audience: API }, 'either tenant or tenants'],
  ['entra', { tenants: [], audience: API }, 'tenants must be a list that is not empty'],
  ['entra', { tenants: ['common'], audience: API }, 'not common or organizations'],
  ['entra', { tenants: [TENANT.replace('1', 'A')], audience: API }, 'in lower case'],
  ['entra', { tenants: 'organizations', audience: API }, 'tenants must be a list'],
  ['entra', { tenant: 'any', audience: API }, 'the id of one tenant'],
  ['entra', { tenant: TENANT, audience: API, cloud: 'germany' }, "'global', 'us' or 'china'"],
  ['entra', { tenant: TENANT, audience: API, cloud: 'toString' }, "'global', 'us' or 'china'"],
  [
    'entra',
    { tenant: TENANT, audience: API, appKeys: `${TENANT}&x=1` },
    'the Application (client) ID',
  ],
  ['entra', { tenants: 'any', audience: API, appKeys: TENANT }, 'appKeys must be for one tenant'],
  [
    'entra',
    { tenants: [TENANT, TENANT.replace('1', '2')], audience: API, appKeys: TENANT },
    'appKeys must be for one tenant',
  ],
  [
    'entra',
    { tenants: [TENANT], audience: API, rolesAssignedBy: 'any' },
    "for tenants: 'any' alone",
  ],
  ['entra', { tenants: 'any', audience: API, rolesAssignedBy: 'me' }, "'any', with tenants"],
  [
    'cognito',
    { region: 'eu-west-1', userPool: 'us-east-1_A', clients: 'a' },
    'begin with eu-west-1_',
  ],
  ['keycloak', { realm: 'https://kc.example.com/realms/a/', audience: API }, 'without a slash'],
  ['keycloak', { realm: 'http://kc.example.com/realms/a', audience: API }, 'https'],
  ['firebase', { project: '123456' }, 'the id of a project'],
  ['supabase', { url: 'abc.supabase.co' }, 'must be a URL'],
  [
    'clerk',
    { frontendApi: 'https://clerk.example.com', authorizedParties: [] },
    'must be a string',
  ],
  ['cloudflareAccess', { team: 'a.cloudflareaccess.com', audience: 'a' }, 'name of the team alone'],
  ['iap', { audience: 'shop' }, '/projects/'],
  ['iap', { audience: ['shop'] }, '/projects/'],
  ['githubActions', { audience: API, repositories: ['octo-repo'] }, 'with their owner'],
  ['githubActions', { audience: API, repositories: [] }, 'a list that is not empty'],
  ['gitlab', { audience: API, projects: ['project'] }, 'with their group'],
  ['spiffe', { trustDomain: 'spiffe://a.test', bundle: 'b', audience: API }, 'without "spiffe://"'],
  ['spiffe', { trustDomain: 'a.test/', bundle: 'b', audience: API }, 'without a path'],
  ['spiffe', { trustDomain: 'A.test', bundle: 'b', audience: API }, 'in lower case'],
  ['spiffe', { trustDomain: 'a.test:1', bundle: 'b', audience: API }, 'the name of a trust domain'],
  ['spiffe', { trustDomain: 'a'.repeat(256), bundle: 'b', audience: API }, 'trust domain'],
  ['spiffe', { trustDomain: 'a.test', audience: API }, 'bundle or keys must be stated'],
  [
    'spiffe',
    { trustDomain: 'a.test', audience: API, bundle: 'b', keys: remoteKeys(API) },
    'and not both',
  ],
  ['spiffe', { trustDomain: 'a.test', bundle: '', audience: API }, 'bundle must'],
  [
    'spiffe',
    { trustDomain: 'a.test', bundle: 'htps://a', audience: API },
    'bundle must be the path',
  ],
  ['spiffe', { trustDomain: 'a.test', bundle: 'http://a.test/b', audience: API }, 'https'],
  ['kubernetes', { issuer: API, audience: API, serviceAccounts: ['orders'] }, 'namespace:name'],
])('%s(%o) is a TypeError: %s', (name, options, complaint) => {
  expect(() => call(name, options)).toThrow(TypeError)
  expect(() => call(name, options)).toThrow(complaint)
})

test('tokenServiceAt: the URL is one without a slash at the end', () => {
  expect(() => providers.tokenServiceAt('https://auth.example.com/')).toThrow(
    'tokenServiceAt: authUrl must be a URL without a slash at the end',
  )
  expect(() => providers.tokenServiceAt('auth.example.com')).toThrow(
    'tokenServiceAt: authUrl must be',
  )
})

test('claims that the caller adds are required beside those of the provider', () => {
  const requiredClaims = { org_id: 'org_1' }
  const options = { domain: 'tenant.eu.auth0.com', audience: API, requiredClaims }
  expect(providers.auth0(options).requiredClaims).toEqual({ sub: true, org_id: 'org_1' })
})

test('a claim that the provider requires already cannot be replaced', () => {
  const options = { region: 'eu-west-1', userPool: 'eu-west-1_A', clients: 'app1' }
  expect(() =>
    providers.cognito({ ...options, requiredClaims: { token_use: ['access', 'id'] } }),
  ).toThrow('cognito: requiredClaims must not have "token_use": cognito requires it already')
})

test('options of the key source reach it', () => {
  const options = { domain: 'tenant.eu.auth0.com', audience: API }
  expect(() => providers.auth0(options, { timeout: 0 })).toThrow(/^discoverKeys: timeout/)
})

test('options that are inherited do not count', () => {
  const options: unknown = Object.create(
    { domain: 'tenant.eu.auth0.com' },
    Object.getOwnPropertyDescriptors({ audience: API }),
  )
  expect(() => call('auth0', options)).toThrow('auth0: domain must be')
})

test.each(cases)('$page: createVerifier takes the options', ({ preset }) => {
  expect(() => createVerifier(preset({}))).not.toThrow()
})
